/*
 * A distribution over valid configurations that learns: one choice after the
 * other, each among what can still be completed.
 *
 *   p(value | choices so far)  is  share(value) exp(logit(value)) / sum
 *
 * where share is that of the completions, so that with all logits 0 every valid
 * configuration is equally likely.  The logit of a value is a number of its
 * own, and one more for each choice before it (pairs).  A number with many
 * values is chosen by a bin, and uniformly inside.  Parameters that end up
 * inactive take no part in the probability.
 *
 * Learning is by the gradient of the log-probability, weighted by what each
 * episode was worth (REINFORCE; Williams, 1992), in steps of Adam (Kingma and
 * Ba, 2015).  Knows of no costs or models.  One thread at a time.
 */
#ifndef TRI_SRC_PROPOSE_POLICY_H
#define TRI_SRC_PROPOSE_POLICY_H

#include "trireme/space.h"

typedef struct tri_policy tri_policy;

/* Episodes that are held at a time. */
#define TRI_POLICY_BATCH 64

/* Borrows `space`.  [out] owned; every valid configuration is equally likely.
 * TRI_EEMPTY, TRI_ENOMEM. */
tri_status tri_policy_create(const tri_space *space, tri_policy **out);
void tri_policy_destroy(tri_policy *p);
/*
 * Draw episode `slot` of the batch.  [out] out: a valid configuration;
 * *tilt: the logarithm of its probability over that without learning (its mean
 * is the distance from uniform; with constrained floats, but for a constant).
 * TRI_ENOMEM, TRI_EEMPTY.
 */
tri_status tri_policy_draw(tri_policy *p, int slot, tri_rng *rng,
                           tri_config *out, double *tilt);
/* Make episode i < n more likely by weight[i] (less, where it is negative);
 * `rate`: what the steps are multiplied by. */
void tri_policy_learn(tri_policy *p, const double *weight, int n, double rate);

#endif

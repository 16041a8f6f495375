/*
 * The searcher of CubicML (Wen et al., 2024): a policy that makes
 * configurations choice by choice is trained by REINFORCE against the
 * predictor, not against runs, and what it then draws is proposed.  Its work
 * does not grow with the space, so that products of many parameters, of which
 * no pool holds a fair share, are searched too.
 *
 * An episode is worth what the predictor says of its configuration (the warped
 * cost, negated; a failure counts as a cost of three deviations, by its
 * probability), less a temperature times how far the policy has gone from
 * uniform there: the entropy bonus.  A moving average is the baseline.  The
 * policy stays from one question to the next.
 */
#ifndef TRI_SRC_PROPOSE_REINFORCE_H
#define TRI_SRC_PROPOSE_REINFORCE_H

#include "src/propose/think_internal.h"

typedef struct tri_reinforce tri_reinforce;

/* Borrows both.  [out] owned.  TRI_EEMPTY, TRI_ENOMEM. */
tri_status tri_reinforce_create(const tri_space *space,
                                const tri_encoding *encoding,
                                tri_reinforce **out);
void tri_reinforce_destroy(tri_reinforce *r);

/*
 * Train, draw, and choose among what was drawn as tri_acquire does.  `pool` is
 * that of the thinker: choices are added to it and taken.  With a question of
 * its own for each call (snapshot->number), the answer depends on the seed and
 * the questions so far only.  [out] out[wanted], *n: fewer where few are left,
 * or `cancel` is set.  TRI_ENOMEM.
 */
tri_status tri_reinforce_answer(tri_reinforce *r, tri_pool *pool,
                                const tri_snapshot *s,
                                const tri_belief_model *m, tri_acquisition how,
                                int wanted, uint64_t seed,
                                const tri_cancel *cancel, tri_choice *out,
                                int *n);

/* The mean distance of the policy from uniform, in nats, over the last batch:
 * 0 where it has learned nothing. */
double tri_reinforce_tilt(const tri_reinforce *r);

#endif

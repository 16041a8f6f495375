/*
 * Synthetic curves: the loss of a configuration of any space, by position of
 * its values against a best configuration that the seed draws among the valid
 * ones.  Knows nothing of runs, noise, time or the direction of the objective.
 *
 * loss(r) = floor + rise + amplitude x decay(r / max), where `rise` is 0 at
 * the best configuration and positive elsewhere and `decay` falls from 1 to 0
 * at `max`: so the least loss at `max` is `floor`, exactly, for any space.
 *
 * Pure; immutable after creation; thread-safe.
 */
#ifndef TRI_SIM_SYNTHETIC_H
#define TRI_SIM_SYNTHETIC_H

#include "trireme/space.h"

typedef struct tri_synthetic tri_synthetic;

/*
 * A curve of the form `name` ("bowl", "ridge", "crossing", "flat") over
 * `space`, borrowed.  `max`: the top resource, 0 where it is unbounded (the
 * loss then falls for ever, on the scale of 256 x `min`).  TRI_EUNKNOWN naming
 * the known forms; TRI_EEMPTY.  [out] owned.
 */
tri_status tri_synthetic_create(const tri_space *space, const char *name,
                                uint64_t seed, int64_t min, int64_t max,
                                tri_synthetic **out);
void tri_synthetic_destroy(tri_synthetic *s);
/* The loss of `c` after `resource`. */
double tri_synthetic_loss(const tri_synthetic *s, const tri_config *c,
                          int64_t resource);
/* The same where its hash (tri_space_hash) is known. */
double tri_synthetic_loss_hash(const tri_synthetic *s, const tri_config *c,
                               uint64_t hash, int64_t resource);
/* The least loss that any valid configuration reaches. */
double tri_synthetic_floor(const tri_synthetic *s);
/* The configuration that reaches it; borrowed. */
const tri_config *tri_synthetic_best(const tri_synthetic *s);

#endif

/*
 * The inline proposers: drawn by (seed, trial, attempt) alone.
 */
#ifndef TRI_SRC_PROPOSE_INLINE_H
#define TRI_SRC_PROPOSE_INLINE_H

#include "trireme/propose.h"

extern const tri_proposer_ops tri_proposer_random;
extern const tri_proposer_ops tri_proposer_quasi;

/* A uniform valid configuration of stream (seed, trial, attempt). */
tri_status tri_propose_uniform(const tri_space *space, uint64_t seed,
                               int64_t trial, int attempt, tri_config *out);

#endif

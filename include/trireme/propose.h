/*
 * Proposers: strategies that suggest configurations.
 *
 * Two kinds share one table.  An *inline* proposer (random, quasi) draws by
 * (seed, trial) alone and is called by the controller itself.  A *thinking*
 * proposer works on records in a thinker, outside the pure line, and its
 * answers come back as a `proposals` event; none is built in this version.
 *
 * Pure; no state: the same (seed, trial, attempt) gives the same
 * configuration for ever.
 */
#ifndef TRIREME_PROPOSE_H
#define TRIREME_PROPOSE_H

#include "trireme/space.h"

typedef struct tri_proposer_ops {
    const char *name;   /* as study files write it */
    const char *origin; /* column of /trials: random, quasi, model */
    /*
     * [required for inline proposers; NULL otherwise] A valid configuration
     * for `trial`; `attempt` counts from 0 and changes when an earlier answer
     * was a duplicate or did not fit the pool.  [out] out: n_params values.
     * TRI_EEMPTY.
     */
    tri_status (*draw)(const tri_space *space, uint64_t seed, int64_t trial,
                       int attempt, tri_config *out);
} tri_proposer_ops;

/* The proposer of that name ("auto" gives quasi until model-led ones are
 * built), or NULL. */
TRI_API const tri_proposer_ops *tri_proposer_find(const char *name);

#endif

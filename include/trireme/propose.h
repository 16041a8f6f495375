/*
 * Proposers: strategies that suggest configurations.
 *
 * These are the *inline* ones (random, quasi): they draw by (seed, trial) alone
 * and are called by the controller itself.  What works on records is a thinker
 * (think.h), outside the pure line; its answers come back as `proposals`
 * events.
 *
 * Pure; no state: the same (seed, trial, attempt) gives the same
 * configuration for ever.
 */
#ifndef TRIREME_PROPOSE_H
#define TRIREME_PROPOSE_H

#include "trireme/space.h"

typedef struct tri_proposer_ops {
    const char *name;   /* as study files write it */
    const char *origin; /* column of /trials: random, quasi */
    /*
     * A valid configuration for `trial`; `attempt` counts from 0 and changes
     * when an earlier answer was a duplicate or did not fit the pool.  [out]
     * out: n_params values. TRI_EEMPTY.
     */
    tri_status (*draw)(const tri_space *space, uint64_t seed, int64_t trial,
                       int attempt, tri_config *out);
} tri_proposer_ops;

/* The proposer of that name, or NULL.  For "auto" the one that the controller
 * falls back on, where a thinker leads: quasi. */
TRI_API const tri_proposer_ops *tri_proposer_find(const char *name);

#endif

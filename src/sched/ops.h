/*
 * What a scheduler is to the generic layer: an operations table.  The generic
 * layer (sched.c) checks settings and knows the ladder of resources; an
 * implementation only decides.  None of them knows ranks, configurations, time
 * or budgets.  What implementations share is in brackets.h and sync.h.
 */
#ifndef TRI_SRC_SCHED_OPS_H
#define TRI_SRC_SCHED_OPS_H

#include "trireme/sched.h"

/* min * eta^k below max, then max itself; without max as far as a 62-bit
 * resource reaches. */
#define TRI_LADDER_MOST 63

typedef struct tri_ladder {
    int64_t resource[TRI_LADDER_MOST];
    int n;       /* rungs that exist */
    int bounded; /* the last is max */
    int eta;
} tri_ladder;

/* What a kind asks of its settings. */
#define TRI_NEEDS_MAX      1u /* makes no sense without an upper bound */
#define TRI_TAKES_BRACKET  2u /* may start some rungs up */
#define TRI_TAKES_BRACKETS 4u /* loops over several; one by default */
#define TRI_LIMITS_OPEN    8u /* `brackets` in progress at most; 0: any */
#define TRI_TAKES_N        16u

typedef struct tri_sched_ops {
    tri_sched_kind kind;
    unsigned asks;
    /* [out] *state owned by the scheduler, freed by destroy. */
    tri_status (*create)(const tri_sched_settings *settings,
                         const tri_ladder *ladder, void **state);
    void (*destroy)(void *state);
    void (*peek)(void *state, int may_create, tri_job *out);
    tri_status (*take)(void *state, const tri_job *job, int64_t trial);
    tri_status (*result)(void *state, int64_t trial, int rung,
                         tri_result_kind kind, double score);
    tri_status (*drop)(void *state, int64_t trial, int rung);
    void (*park)(void *state, int64_t trial, int parked);
    int (*is_idle)(const void *state); /* nothing runs but what is parked */
    int (*rungs)(const void *state, tri_rung_view *out, int max);
    int64_t (*ranking)(const void *state, int bracket, int rung,
                       int64_t *trials, int64_t max);
    int (*was_promoted)(const void *state, int64_t trial, int rung);
    /* Optional: whether `trial`, which paused, goes on whatever else is to be
     * done; [out] *out its job.  Without: it goes on where it is next. */
    int (*goes_on)(void *state, int64_t trial, tri_job *out);
    /* Optional: whether `trial`, which has its result at `rung`, is certain
     * never to be promoted.  Without: at the top of the ladder. */
    int (*is_over)(const void *state, int64_t trial, int rung);
    /* Optional: see tri_sched_planned.  Without: 0. */
    int64_t (*planned)(const void *state, int bracket, int rung);
} tri_sched_ops;

extern const tri_sched_ops tri_sched_asha;
extern const tri_sched_ops tri_sched_asha_stop;
extern const tri_sched_ops tri_sched_asha_delayed;
extern const tri_sched_ops tri_sched_sha;
extern const tri_sched_ops tri_sched_hyperband;
extern const tri_sched_ops tri_sched_async_hyperband;
extern const tri_sched_ops tri_sched_pasha;
extern const tri_sched_ops tri_sched_none;

#endif

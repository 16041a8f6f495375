/*
 * Synchronous successive halving (Li et al., MLSys 2020, algorithm 1) in
 * bracket after bracket, as BOHB runs it in parallel: the runs of a rung go on
 * at once, and where none is left to give out a new bracket is opened.
 *
 * A bracket is filled with n configurations in its base rung.  When all that
 * entered a rung are through with it, the best floor(m/eta) of the m that
 * entered go on, fewer where fewer have a score.  Through with it is whoever
 * has a result, was dropped for good or is parked: a lost run that is tried
 * again holds its rung, a configuration that is given up does not, and its
 * place is not filled up.  Equal scores: the lower trial number is better.
 * Older brackets go before newer ones.
 *
 * Where no new configuration may be created, a bracket that is not full is
 * taken as it is.  A trial that is no longer parked once its rung is through is
 * promoted late, if it stands in the share and a place of it is left.
 *
 * O(log n) a decision, and as often as a bracket comes to rest once more.
 */
#ifndef TRI_SRC_SCHED_SYNC_H
#define TRI_SRC_SCHED_SYNC_H

#include "src/sched/brackets.h"

/* A kind of bracket: those in use are opened in turn. */
typedef struct tri_sync_plan {
    int base;
    int64_t n;      /* configurations */
    int64_t opened; /* brackets */
    int filling;    /* the bracket that is not full yet, -1 */
} tri_sync_plan;

/* What is known of a bracket beside its standings. */
typedef struct tri_sync_bracket {
    int plan;
    uint8_t queued; /* may have something to give out */
    uint8_t open;   /* has, had at last, or waits for runs */
} tri_sync_bracket;

typedef struct tri_sync {
    tri_brackets brackets;
    tri_sync_plan plans[TRI_LADDER_MOST];
    int n_plans;
    int most_open; /* 0: any number */
    int n_open;
    tri_sync_bracket *own; /* by place in the list of brackets */
    int *heap;             /* places of the queued, least first */
    int n_heap, room;
} tri_sync;

/* Without any plan, which the caller adds.  [out] *state. */
tri_status tri_sync_create(const tri_sched_settings *settings,
                           const tri_ladder *ladder, tri_sync **out);
void tri_sync_add_plan(tri_sync *s, int base, int64_t n);

/* ---- operations, see ops.h --------------------------------------------- */

void tri_sync_destroy(void *state);
void tri_sync_peek(void *state, int may_create, tri_job *out);
tri_status tri_sync_take(void *state, const tri_job *job, int64_t trial);
tri_status tri_sync_result(void *state, int64_t trial, int rung,
                           tri_result_kind kind, double score);
tri_status tri_sync_drop(void *state, int64_t trial, int rung);
void tri_sync_park(void *state, int64_t trial, int parked);
int tri_sync_is_over(const void *state, int64_t trial, int rung);
int64_t tri_sync_planned(const void *state, int base, int rung);

#endif

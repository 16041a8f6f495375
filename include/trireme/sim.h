/*
 * The simulator: the controller driven by a virtual cluster, an event heap in
 * virtual time.  Pure: same settings, same result.
 */
#ifndef TRIREME_SIM_H
#define TRIREME_SIM_H

#include "trireme/ctl.h"
#include "trireme/curve.h"

/* What becomes of a run that is dropped. */
typedef enum tri_sim_dropped {
    TRI_DROPPED_REQUEUED, /* as the product does: once more, from the last
                           * checkpoint of its trial */
    TRI_DROPPED_RESUMED,  /* it was saved the moment before: in whole units of
                           * resource it goes on from where it was */
    TRI_DROPPED_LOST      /* for good: no result, and its trial is killed */
} tri_sim_dropped;

typedef struct tri_sim_settings {
    int workers;     /* ranks of the virtual pool */
    int host_ranks;  /* of each host; 8 */
    int slow_host;   /* counted from 0: slow by `slow`, in time and in what its
                      * runs measure of speed; -1: none */
    double slow;     /* times as slow; then every speed that is measured has an
                      * interval of 1 % to either side */
    double spread;   /* S: each rank is 1 + |N(0,S)| times as slow for good, a
                      * run as slow as its slowest rank */
    double straggle; /* S: each run lasts x (1 + |N(0,S)|) */
    double drop;     /* probability a virtual time unit that a run is dropped;
                      * its ranks live on, the loss has a witness */
    tri_sim_dropped dropped;
    double node_loss; /* probability a virtual time unit that a host goes down;
                       * what runs on it is lost, and done again elsewhere */
    double node_down_s; /* how long it is down; INFINITY: for good */
    double latency_s;   /* of a message to or from rank 0 */
    double start_s;     /* to form a group, its ranks held */
    uint64_t seed;      /* of the cluster; the study's seed rules the search */
    double cost_s;      /* seconds a unit of resource, 1 by default: for whoever
                         * creates the source; tri_sim_run does not read it */
    double max_virtual_s; /* stop there; INFINITY: until the study ends */
    double checkpoint_s;  /* virtual seconds to write a checkpoint; 0 */
    int reports;          /* whether each run reports once, at its end */
    /* The study is broken off after so many events (-1: never) and opened
     * again as the next epoch: `drain` in an orderly way, `crash` with no
     * further word. */
    int64_t drain_after, crash_after;
    /* A job lasts so long (INFINITY: as long as the study): it drains before
     * its end, and the next one, which begins there, goes on as the next epoch.
     * The simulation stops with the study's status 3 where a job came to
     * nothing. */
    double walltime_s;
    int resume_workers; /* ranks of the pool from the second epoch on; 0: the
                         * same */
    /* Optional: called after each feed, for invariants, journals, histories.
     * What it returns other than TRI_OK ends the simulation. */
    tri_status (*each)(void *ctx, const tri_event *event,
                       const tri_commands *commands, tri_ctl *ctl);
    void *ctx;
    /* Optional: a thinker, asked where the study's search is led by one
     * (tri_thinker_answer stands behind it).  [out] *out: borrowed until the
     * next call.  What it returns other than TRI_OK ends the simulation. */
    tri_status (*think)(void *ctx, const struct tri_snapshot *snapshot,
                        tri_ev_proposals *out);
    void *think_ctx;
    double optimum; /* that the result is measured by, where the source's curves
                     * are final (tri_curve_top); NaN: the source's own */
    /* Results of earlier studies, for the first open event; borrowed. */
    const tri_warm_row *warm;
    int n_warm;
    double think_s; /* virtual seconds that it takes; 0: it answers before
                     * anything else happens */
} tri_sim_settings;

/* A run that measured: it finished, or failed for good as its configuration
 * will always (infeasible, nan): then `objective` is NaN. */
typedef struct tri_sim_point {
    int64_t evaluation; /* from 1 */
    double virtual_s;
    int64_t trial;
    int rung;
    double objective; /* as the study compares it */
    double best;      /* as in the result, so far, this one included; NaN: none
                       * yet.  It may be worse than the one before, where more
                       * resource was reached */
} tri_sim_point;

typedef struct tri_sim_result {
    int64_t evaluations;            /* as in the history */
    int64_t distinct;               /* configurations measured */
    double rank_seconds, virtual_s; /* rank-seconds: ranks held by runs */
    /* Of the results after the most resource that any run came to: a value
     * after less is of an unfinished curve, and may lie beyond the optimum.
     * Resource beyond where all curves are final (tri_curve_top) is no more. */
    double best;
    int64_t best_trial; /* -1: none */
    double optimum;     /* where curves are final; NaN if unknown */
    /* distinct configurations (after any resource) and rank-seconds until one
     * was measured that is within 1, 2, 5 % of the optimum where curves are
     * final; where they never are, after any resource.  -1 / NaN if never */
    int64_t evaluations_to[3];
    double rank_seconds_to[3];
    int64_t n_events;
    int64_t lost;           /* runs lost by `drop` */
    int64_t jobs;           /* openings of the study */
    int64_t repeated_steps; /* steps done again: see tri_progress */
    int64_t missing;        /* runs that failed as nothing is recorded of their
                             * configuration; among the evaluations */
    int end_status;         /* of the study; -1: stopped at max_virtual_s */
    tri_sim_point *history; /* evaluations long, owned by the result */
    int64_t n_history;
} tri_sim_result;

TRI_API void tri_sim_defaults(tri_sim_settings *settings);
/*
 * Run `study`'s text to its end.  `source` answers for the trials (see
 * curve.h).  Durations: a run from a checkpoint, or going on in place
 * with a learned objective, pays the increment; any other pays its resource in
 * full.  [out] `out`: freed with tri_sim_result_fini; `ctl` (may be NULL): the
 * controller at the end, owned by the caller.  TRI_EINVAL for settings that
 * make no cluster, TRI_EINTERNAL where the controller waits for nothing, and
 * what the controller or `each` return.
 */
TRI_API tri_status tri_sim_run(const tri_study *study, const tri_curve *source,
                               const tri_sim_settings *settings,
                               tri_sim_result *out, tri_ctl **ctl);
TRI_API void tri_sim_result_fini(tri_sim_result *result);

#endif

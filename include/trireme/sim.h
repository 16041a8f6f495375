/*
 * The simulator: the controller driven by a virtual cluster, an event heap in
 * virtual time (DESIGN sections 3 and 11).  Pure: same settings, same result.
 */
#ifndef TRIREME_SIM_H
#define TRIREME_SIM_H

#include "trireme/ctl.h"
#include "trireme/curve.h"

typedef struct tri_sim_settings {
    int workers;     /* ranks of the virtual pool */
    double straggle; /* S: each run lasts x (1 + |N(0,S)|) */
    double drop;     /* probability a virtual time unit that a run is lost */
    uint64_t seed;   /* of the cluster; the study's seed rules the search */
    double cost_s;   /* seconds a unit of resource; 1 by default */
    double max_virtual_s; /* stop there; INFINITY: until the study ends */
    /* Optional: called after each feed, for invariants, journals, histories. */
    tri_status (*each)(void *ctx, const tri_event *event,
                       const tri_commands *commands, tri_ctl *ctl);
    void *ctx;
} tri_sim_settings;

typedef struct tri_sim_point { /* one finished run */
    int64_t evaluation;
    double virtual_s;
    int64_t trial;
    int rung;
    double objective, best;
} tri_sim_point;

typedef struct tri_sim_result {
    int64_t evaluations; /* runs finished */
    int64_t distinct;    /* configurations measured */
    double rank_seconds, virtual_s;
    double best;
    int64_t best_trial;
    double optimum; /* NaN if unknown */
    /* distinct configurations and rank-seconds until one within 1, 2, 5 % of
     * the optimum was measured; -1 / NaN if never */
    int64_t evaluations_to[3];
    double rank_seconds_to[3];
    int64_t n_events;
    tri_sim_point *history; /* evaluations long, owned by the result */
    int64_t n_history;
} tri_sim_result;

TRI_API void tri_sim_defaults(tri_sim_settings *settings);
/*
 * Run `study`'s text to its end.  `source` answers for the trials.  [out]
 * `out`: freed with tri_sim_result_fini; `ctl` (may be NULL): the controller
 * at the end, owned by the caller.
 */
TRI_API tri_status tri_sim_run(const tri_study *study, const tri_curve *source,
                               const tri_sim_settings *settings,
                               tri_sim_result *out, tri_ctl **ctl);
TRI_API void tri_sim_result_fini(tri_sim_result *result);

#endif

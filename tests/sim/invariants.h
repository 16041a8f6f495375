/*
 * Invariants of scheduling, judged by the controller's views after every
 * event.  Give `check_invariants` to a simulation as its `each`, and a tracker
 * as its `ctx`.
 */
#ifndef TRI_TESTS_SIM_INVARIANTS_H
#define TRI_TESTS_SIM_INVARIANTS_H

#include "trireme/sim.h"

typedef struct tracker {
    const tri_study *study;
    int workers;
    double last_s;
    /* by run: the last state seen; by trial: the highest rung promoted out of,
     * and the run in flight */
    unsigned char *run_state;
    int64_t n_runs, search_runs;
    int *left_rung;
    int64_t *flying_run;
    int64_t n_trials;
    int64_t promotions, finals_runs, requeued,
            interrupted; /* what was seen at all */
} tracker;

void tracker_init(tracker *t, const tri_study *study, int workers);
void tracker_fini(tracker *t);
/* Asserts; returns TRI_OK. */
tri_status check_invariants(void *ctx, const tri_event *event,
                            const tri_commands *commands, tri_ctl *ctl);
/* At the end of a study: nothing in flight, no two trials of one
 * configuration, attempts within their limit, nothing left to promote. */
void check_end(tracker *t, const tri_ctl *ctl);

#endif

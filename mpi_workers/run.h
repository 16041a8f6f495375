/*
 * One run of one group, from `go` until this rank is free: opens the trial,
 * steps it, measures and reports (leader), waits for the verdict, goes on in
 * place or leaves.
 *
 * The leader's word reaches the members at each step's end and, between runs,
 * by a message of its own.
 *
 * All waits are bounded.  One for another member attends to rank 0 meanwhile:
 * once the run is over by its word, or this rank was given another run, the
 * wait lasts `timeouts.grace` and 2 s at most, and the leader names the member
 * that was silent, so that it alone is struck.  A member of the same host whose
 * process has ended is seen to at once, by whoever waits for it.  What a trial
 * of the user's own waits for inside a step cannot attend: at survival level
 * heartbeat the watchdog ends a rank that stays in it until it was struck for
 * certain.
 */
#ifndef TRI_MPI_WORKERS_RUN_H
#define TRI_MPI_WORKERS_RUN_H

#include "mpi_workers/worker.h"

/* What `assign` asked, owned and checked. */
typedef struct tri_assignment {
    int64_t run, trial, resource;
    int rung, bracket, attempt, phase;
    int n_ranks;
    int32_t *ranks;
    tri_config *config;
    tri_layout layout; /* built-in models */
    char *checkpoint;  /* name within the checkpoints' folder; NULL: none */
    int64_t checkpoint_step;
    int save;
    int until_precision;
} tri_assignment;

/* Read and check an assignment.  [out] owned; tri_assignment_fini.
 * TRI_EINFEASIBLE (the sentence says why), TRI_ENOMEM. */
tri_status tri_assignment_init(tri_assignment *a, const tri_worker *w,
                               const tri_cmd_assign *assign);
void tri_assignment_fini(tri_assignment *a);

/* Run it; collective over its ranks.  Returns when this rank is free (or is to
 * leave).  What failed was reported by the leader. */
void tri_run_execute(tri_worker *w, const tri_assignment *a);

/* The class of a failure, from a status. */
tri_reason tri_run_reason(tri_status st);

#endif

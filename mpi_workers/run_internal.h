/*
 * The state of a run, shared by run.c (control) and run_report.c (what the
 * leader tells rank 0).
 */
#ifndef TRI_MPI_WORKERS_RUN_INTERNAL_H
#define TRI_MPI_WORKERS_RUN_INTERNAL_H

#include "mpi_workers/goal.h"
#include "mpi_workers/run.h"
#include "mpi_workers/trial_kind.h"

/* Reports a second, at most (durations kept for their median: as many). */
#define TRI_REPORT_S     0.05
#define TRI_REPORT_STEPS 64

typedef struct tri_run {
    tri_worker *w;
    const tri_assignment *a;
    const tri_trial_ops *ops;
    tri_trial *trial;
    MPI_Comm comm;
    int leads;
    /* the run under way; changes with `continue` */
    int64_t number, resource;
    int rung, attempt;
    tri_goal goal;
    tri_measure *measure; /* leader */
    tri_step last;        /* the last completed step */
    uint64_t bytes, rss;
    int done;  /* leader: far enough by its own judgement */
    int ended; /* the trial ended by itself */
    int has_verdict;
    tri_cmd_verdict verdict;
    int parting;         /* the decision to leave was made */
    int superseded;      /* rank 0 has given this rank another run */
    double called_off_s; /* when a wait first knew that all this is over */
    double slowest_s;    /* step so far */
    int lost_rank;       /* told with the outcome; -1: none */
    struct {             /* since the last report (leader) */
        int seq;
        double sent_s;
        int64_t steps, tokens, samples, step;
        int n;
        double step_s[TRI_REPORT_STEPS];
    } report;
    /* of the last save */
    char checkpoint[256];
    double checkpoint_s;
    uint64_t checkpoint_bytes;
} tri_run;

/* Leader: count a completed step and report where it is time; `flush`: what is
 * left is reported now. */
void tri_run_observe(tri_run *r, const tri_step *s);
void tri_run_flush(tri_run *r);
/* Begin a run of another number: its reports count from 0. */
void tri_run_restart_reports(tri_run *r);
/* Leader: whether there is an objective by what was measured so far. */
int tri_run_is_measured(tri_run *r);
/* Leader: tell rank 0 how the run stands: an event kind, and for failures the
 * class and sentence. */
void tri_run_tell(tri_run *r, tri_event_kind event, tri_reason reason,
                  const char *sentence);

#endif

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

#define TRI_PATH_BYTES 4096

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
    char remark[160];     /* of the trial, see tri_step (leader) */
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
        int64_t steps, step;
        double tokens, samples;
        int n;
        double step_s[TRI_REPORT_STEPS];
    } report;
    /* checkpoints: where the run under way came from ("": afresh), and where
     * it is to save itself ("": nowhere) */
    char from[TRI_PATH_BYTES];
    int64_t from_step;
    int saves; /* TRI_SAVE_...: when it may be asked to */
    char save_name[256], save_to[TRI_PATH_BYTES];
    int64_t save_number; /* of whose checkpoint that is */
    int save_attempt;
    int is_told; /* rank 0 was told of it */
    /* of the last save; "": none, or it failed */
    char checkpoint[256];
    int64_t checkpoint_step;
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

/* Leader: tell rank 0 of the checkpoint of the run before this one. */
void tri_run_tell_saved(tri_run *r);

/* ---- run_checkpoint.c ---------------------------------------------------- */

/* The trial goes on from the checkpoint `name`, NULL: it starts afresh. */
void tri_run_come_from(tri_run *r, const char *name, int64_t step);
/* Collective: see that it is there, else start afresh.  Scope group only. */
tri_status tri_run_check_from(tri_run *r);
/* Whether opening failed with `st` for the checkpoint's own sake; then the
 * trial starts afresh. */
int tri_run_leave_from(tri_run *r, tri_status st);
/* A checkpoint that leaves too little to measure is not gone on from. */
void tri_run_check_rest(tri_run *r);
/* The run under way may be asked to save itself when `saves` says.  [out]
 * setup (may be NULL): for the trial to open; borrows from r. */
void tri_run_prepare(tri_run *r, int saves, tri_trial_setup *setup);
/* Collective: save, all together; a failure costs the checkpoint, not the
 * result.  `drains`: stepping was broken off.  Scope group only. */
tri_status tri_run_save(tri_run *r, int drains);
/* Collective: save the run that has ended, so that the next one in place comes
 * from there; rank 0 hears of it.  Where it is not `learned`, what is measured,
 * the next one starts afresh. */
tri_status tri_run_pass_on(tri_run *r, int learned);
/* A checkpoint far beyond what the run is judged by is none: rank 0 is not told
 * of it. */
void tri_run_weigh(tri_run *r);
/* Leader: remove what nobody was told of. */
void tri_run_drop_unsaved(tri_run *r);

#endif

/*
 * The state of a process trial, shared by process.c (its life), process_start.c
 * (starting and ending processes), process_hear.c (what they say) and
 * process_save.c (checkpoints).
 */
#ifndef TRI_MPI_WORKERS_PROCESS_INTERNAL_H
#define TRI_MPI_WORKERS_PROCESS_INTERNAL_H

#include "mpi_workers/child.h"
#include "mpi_workers/group.h"
#include "mpi_workers/metrics.h"
#include "mpi_workers/news.h"
#include "mpi_workers/process_result.h"
#include "mpi_workers/process_template.h"
#include "mpi_workers/rendezvous.h"
#include "mpi_workers/surroundings.h"
#include "mpi_workers/trial_kind.h"

#include <limits.h>

/* How long a process is listened to between two votes. */
#define TRI_SLICE_S 0.02
/* Beyond any pause that a member in order makes between two words. */
#define TRI_PATIENCE_S 60.0
/* The processes of a run start on so many ports, where each is found taken. */
#define TRI_PORTS 4

struct tri_trial {
    tri_trial_setup setup;
    tri_facts facts;
    tri_rendezvous place;
    tri_surroundings around;
    char study_dir[PATH_MAX];
    tri_child *child; /* NULL also where the leader starts all */
    tri_metrics *metrics;
    tri_news news;
    int64_t last_step; /* told to the group */
    int reporter;      /* the rank that is measured; -1: none yet */
    tri_heard heard;
    int64_t step_limit;       /* lines with a step beyond it are ignored */
    int64_t n_beyond, beyond; /* how many were; the step of the last */
    int64_t n_again;          /* lines with steps that were done before */
    int64_t saved_step; /* of the checkpoint that it says is complete; 0 */
    double rss_s;       /* when the resident size is next read */
    uint64_t bytes, rss;
    int tries;        /* ports that were tried before this one */
    int measured;     /* the group has seen a step */
    int failed;       /* a failure was told, or the run was stopped */
    int hurries;      /* its processes have had their grace already */
    tri_reason named; /* the class that its process says itself */
    char sentence[TRI_SENTENCE_BYTES];
    char remark[160]; /* see tri_step */
    tri_reason reason;
    char *tail; /* of the failing rank (leader) */
    size_t tail_bytes;
};

/* ---- process_start.c ---------------------------------------------------- */

/* Collective: agree on a port and start one process on each rank.  Status as
 * of tri_trial_ops.open; afterwards tri_process_stop. */
tri_status tri_process_start(tri_trial *t);
/* End this rank's process, what is left of it: TERM, KILL after `grace_s`. */
void tri_process_stop(tri_trial *t, double grace_s);

/* ---- process_hear.c ----------------------------------------------------- */

/* Hear this rank's process for a slice of time at most; returns whether it has
 * ended (and *end says how), as where there is none. */
int tri_process_listen(tri_trial *t, tri_child_end *end);
/* Hear it, and put what is to be told of it into this rank's vote. */
void tri_process_hear(tri_trial *t, tri_vote *vote);
/* As that, of what was heard already: all in the vote where it was the last. */
void tri_process_recall(tri_trial *t, tri_vote *vote);
/* What is wrong with the lines of this rank's process, of which none was of
 * use. */
void tri_process_say_lines(const tri_trial *t, char *buf, size_t bytes);

/* ---- process_save.c ------------------------------------------------------ */

/* Collective: end the processes of all ranks, within the grace, so that none
 * waits alone for one that does not go. */
tri_status tri_process_end(tri_trial *t);
/* Operations of the kind. */
int tri_process_saves(const tri_study *study);
tri_status tri_process_save(tri_trial *t, const char *path, int drains,
                            tri_saved *out);
tri_status tri_process_restart(tri_trial *t, const tri_trial_setup *setup);

#endif

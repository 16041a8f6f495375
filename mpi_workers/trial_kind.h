/*
 * What every kind of trial is to a worker: an operations table.
 *
 * A group of ranks opens a trial, steps it until its target, an error or a
 * stop, and closes it.  The kinds: the training engine (gpt, mlp), synthetic,
 * process.  The run loop (run.h) owns control: it talks to rank 0 and decides;
 * a kind only works.  `trireme train` uses the engine through this same table.
 *
 * Rules that make one trial's failure its own:
 * - open and step return the same status on every rank of the group, unless
 *   it is of scope group or run.  A rank in trouble inside a step keeps to the
 *   schedule, so that its peers' receives complete; its status rides on the
 *   loss reduction (or on tri_group_agree) and all leave together.
 * - The leader's `word` travels the same way: what the leader passes to step
 *   comes out of the same step on every rank.
 * - After an error of scope trial, close leaves nothing behind and the group
 *   is usable at once.
 */
#ifndef TRI_MPI_WORKERS_TRIAL_KIND_H
#define TRI_MPI_WORKERS_TRIAL_KIND_H

#include "trireme/event.h"
#include "trireme/region.h"
#include "trireme/study.h"

#include <mpi.h>
#include <stdint.h>

typedef struct tri_trial tri_trial; /* each kind has its own */

/* The leader's words.  Anything but ON: all ranks leave at this step's end. */
enum {
    TRI_WORD_ON,
    TRI_WORD_DONE, /* far enough */
    TRI_WORD_STOP, /* rank 0 said so */
    TRI_WORD_DRAIN /* rank 0 said so: the job ends */
};

/* All that a kind may know of its run.  Borrowed until close. */
typedef struct tri_trial_setup {
    const tri_study *study;
    const tri_config *config; /* NULL under `trireme train` */
    tri_layout layout;        /* built-in models */
    MPI_Comm comm;            /* the group; rank 0 is the leader */
    uint64_t quota_bytes;     /* a rank; 0: no limit */
    int64_t trial, run;
    int rung, attempt, epoch, phase; /* phase: 0 search, 1 finals */
    int64_t resource;       /* in the study's unit, for TRIREME_RESOURCE */
    int64_t target_step;    /* last step to do, warm-up included; -1: none */
    int64_t first_step;     /* steps already in the checkpoint */
    int warmup_steps;       /* extra steps by rule, before the resource */
    const char *checkpoint; /* to go on from, NULL: from scratch */
    const struct tri_process_base *base; /* processes; NULL: none was made */
    const char *save_to; /* where a checkpoint is to be written, once; there
                          * is nothing yet.  NULL: none is wanted */
    int outlives;        /* survival level heartbeat: no wait without an end */
} tri_trial_setup;

/* A checkpoint that was written. */
typedef struct tri_saved {
    int64_t step; /* steps that it has behind it */
    uint64_t bytes;
} tri_saved;

/* What one call of step did.  Everything is the whole group's, and the same on
 * every rank, but for fields marked (leader). */
typedef struct tri_step {
    int completed; /* 0: nothing yet, call again (a child still works) */
    int64_t step;  /* number of steps done so far, 1 after the first */
    double step_s; /* duration of this step by a monotonic clock (leader) */
    double tokens; /* of this step, over all ranks; 0 if not known */
    double samples;
    double loss;    /* mean over the global batch before the update; NaN */
    double own;     /* the trial's own metric, NaN if none (leader) */
    int joins;      /* step_s is a share: it came together with the step before
                     * it, and how long each took is not known (leader) */
    uint64_t bytes; /* high water of the largest rank so far */
    uint64_t rss_bytes;
    int word;           /* the leader's word, on every rank */
    int ended;          /* the trial ended by itself: no further step */
    const char *remark; /* what to say of it, should it be stopped for want of
                         * steps; NULL: nothing (leader, until close) */
} tri_step;

/* Memory of one rank by kind; the kinds' sum is what it takes in all. */
typedef struct tri_memory {
    int n;
    tri_region_kind kinds[TRI_REGION_KINDS + 1];
} tri_memory;

/* The largest rank's. */
typedef struct tri_memory_told {
    int rank;
    tri_memory predicted, actual;
} tri_memory_told;

typedef struct tri_trial_ops {
    const char *name;
    /* Collective over setup->comm.  [out] *out owned, freed by close; not
     * written on failure (and nothing is left behind).  TRI_ENOTFOUND,
     * TRI_EVERSION, TRI_EMALFORMED: of the checkpoint; the run then starts
     * afresh. */
    tri_status (*open)(const tri_trial_setup *setup, tri_trial **out);
    /* Collective.  Returns after one step, or after at most 20 ms without
     * one.  `word` is read on the leader only. */
    tri_status (*step)(tri_trial *trial, int word, tri_step *out);
    /* Optional: whether trials of this study can be saved; NULL: where there
     * is a `save`, they can. */
    int (*saves)(const tri_study *study);
    /* Optional (NULL: the kind cannot; runs start afresh).  Collective: see to
     * a complete checkpoint at `path`, which is the setup's save_to: a file or
     * a directory.  `drains`: stepping was broken off, before the last step.
     * [in,out] *out: comes with the last step and no bytes. */
    tri_status (*save)(tri_trial *trial, const char *path, int drains,
                       tri_saved *out);
    /* Optional (NULL: nothing is left).  Collective, after a save that
     * `drains`: as step, for what the trial did after the word and before it
     * ended; told until `ended`. */
    tri_status (*rest)(tri_trial *trial, tri_step *out);
    /* Optional (NULL: it is not known).  Collective, between steps: memory by
     * kind, predicted by a dry run and as it came to be.  [out] *out: the
     * leader's, of the rank that took most. */
    tri_status (*memory)(tri_trial *trial, tri_memory_told *out);
    /* Optional: the last bytes of the failing rank's standard error (leader),
     * borrowed until close. */
    const char *(*stderr_tail)(tri_trial *trial, size_t *bytes);
    /* Optional: tells the kind that it goes on as run `run` to a new target
     * after a `continue`.  Collective.  Without it a changed target needs
     * nothing. */
    void (*retarget)(tri_trial *trial, int64_t run, int64_t resource,
                     int64_t target_step);
    /* Optional, instead of retarget: for a kind that cannot go on in place and
     * starts again, from the checkpoint that `setup` names or afresh.
     * Collective; status as of open.  Where it fails, close still follows. */
    tri_status (*restart)(tri_trial *trial, const tri_trial_setup *setup);
    /* Optional (leader): the class of the failure just returned, where the
     * status says too little; TRI_REASON_NONE: go by the status. */
    tri_reason (*reason)(tri_trial *trial);
    /* Collective; never fails; NULL is allowed. */
    void (*close)(tri_trial *trial);
} tri_trial_ops;

extern const tri_trial_ops tri_trial_engine;    /* gpt, mlp */
extern const tri_trial_ops tri_trial_synthetic; /* synthetic, table */
extern const tri_trial_ops tri_trial_process;
extern const tri_trial_ops tri_trial_plugin;

/* The kind for a model; NULL if it is not built yet. */
const tri_trial_ops *tri_trial_kind(tri_model_kind model);

/* How long a step of the engine may take before it is judged to have hung: by
 * the study's timeouts, and by the slowest step so far (0: none yet). */
double tri_trial_patience(const tri_study *study, double slowest_s);

/* The folder of the study file into buf[PATH_MAX]: absolute, links resolved;
 * as it is named where it cannot be found. */
void tri_trial_study_dir(const tri_study *study, char *buf);

#endif

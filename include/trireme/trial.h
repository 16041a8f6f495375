/*
 * Trials that are a shared object of the user's own: the model kind `plugin`.
 *
 * A worker loads the library and calls five functions of fixed names; what
 * they do is the plugin's: a training, a solver, a kernel.  The plugin works
 * on a communicator of the trial's ranks and reports its steps; trireme times
 * them, compares trials, and says when to go on and when to leave.
 *
 *     mpicc -shared -fPIC -O2 mine.c -o mine.so
 *
 *     model: {kind: plugin, library: mine.so, options: {n: 1024}}
 *
 * This header is all that a plugin needs of trireme: it includes mpi.h and
 * stdint.h only, is for C (from C99) and C++, and there is nothing to link.
 * models/plugin has an example.
 *
 * WHO CALLS WHAT.  Every rank of the trial's group makes the same calls in the
 * same order, so each function is collective over setup->comm and may use
 * collectives:
 *
 *     trireme_trial_abi                 any time, and by `trireme check`
 *     trireme_trial_open                a trial begins
 *     trireme_trial_run_until           again and again, a step or a few a call
 *     trireme_trial_checkpoint          perhaps, between two of those
 *     trireme_trial_close               the trial ends
 *
 * One trial at a time is open in a process.  The library is loaded once and
 * never unloaded: its static variables outlive a trial.  `check` loads it too,
 * without MPI: constructors must not use MPI.
 *
 * THREADS.  All calls come from the one thread that may call MPI
 * (MPI_THREAD_FUNNELED).  A plugin may have threads of its own; they call
 * neither MPI nor trireme.  report and say are called from within a call of
 * trireme's, by the same thread.
 *
 * THE COMMUNICATOR is the trial's alone and is freed by trireme after close,
 * so tags, attributes and error handler are free to choose; at first it returns
 * errors (MPI_ERRORS_RETURN).  Rank 0 of it leads: what it reports counts.  A
 * plugin may duplicate and split it, and frees what it made; duplicates that it
 * forgets are counted and said in the log.  It neither frees the communicator
 * nor uses MPI_COMM_WORLD, whose other ranks are elsewhere.
 *
 * OWNERSHIP.  The setup and all that it points to are valid until close
 * returns.  What is passed to report and say is copied.
 *
 * FAILURE.  A function returns TRIREME_TRIAL_OK or one of the codes below, and
 * before that says why in a sentence (setup->say).  One failing rank ends the
 * trial on all of them, once they have returned: so a rank in trouble keeps to
 * the communication that its peers expect, or the ranks agree among themselves.
 * Where they do not, peers wait for ever; rank 0 of the job gives the run up
 * after `timeouts.progress` and does without those ranks from then on, since
 * code inside a process cannot be ended alone.  At survival level heartbeat
 * they are ended; at level resume they stay where they are until the job ends.
 *
 * A crash (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT) or a call of exit within
 * one of the calls is caught, a crash with a backtrace on standard error: the
 * rank, whose process may be damaged, is struck and does nothing more; the
 * trial is tried once more, by other ranks.  A C++ exception that gets out is a
 * crash.  One in a thread of the plugin's own ends the process.
 *
 * A plugin must not call _exit, MPI_Abort or MPI_Finalize: that ends the
 * process, and at level resume the job, which `--resume` goes on with.
 * Standard output is trireme's.
 *
 * VERSIONS.  TRIREME_TRIAL_VERSION changes only where a plugin built earlier
 * would be wrong; trireme says so at `check`.  Else structs grow at their ends:
 * each begins with its size in bytes as its maker knew it.  trireme reads no
 * more of a plugin's struct than that, and takes the rest as zero; a plugin
 * that can use a field of a later trireme compares setup->struct_bytes first.
 */
#ifndef TRIREME_TRIAL_H
#define TRIREME_TRIAL_H

#include <mpi.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TRIREME_TRIAL_VERSION 1
/* What trireme_trial_abi returns: the version, and how large a communicator's
 * handle is, which tells one family of MPI libraries from another. */
#define TRIREME_TRIAL_ABI                                                      \
    ((int32_t)(TRIREME_TRIAL_VERSION * 256 + (int)sizeof(MPI_Comm)))

/* How a call ended, and what becomes of the trial. */
enum {
    TRIREME_TRIAL_OK = 0,
    TRIREME_TRIAL_ENDED = 1, /* run_until: there is nothing further to do */
    /* The trial failed; tried once more ("bad-exit"). */
    TRIREME_TRIAL_FAILED = 2,
    /* This configuration cannot be run; final. */
    TRIREME_TRIAL_INFEASIBLE = 3,
    /* Memory of the host, or of a device, could not be had; tried once more. */
    TRIREME_TRIAL_HOST_MEMORY = 4,
    TRIREME_TRIAL_DEVICE_MEMORY = 5,
    /* It would need more than setup->memory_bytes; final. */
    TRIREME_TRIAL_OVER_QUOTA = 6,
    /* What is computed is not a number, or grows beyond bounds; final. */
    TRIREME_TRIAL_NAN = 7,
    TRIREME_TRIAL_DIVERGED = 8,
    /* A call of MPI failed: the group's state is unknown. */
    TRIREME_TRIAL_COMMUNICATION = 9
};

/* A parameter or an option. */
enum {
    TRIREME_TRIAL_INACTIVE = 0, /* a parameter whose `when` is false */
    TRIREME_TRIAL_INTEGER = 1,
    TRIREME_TRIAL_REAL = 2,
    TRIREME_TRIAL_BOOLEAN = 3, /* in `integer`: 0 or 1 */
    TRIREME_TRIAL_TEXT = 4
};

typedef struct trireme_trial_value {
    uint64_t struct_bytes;
    const char *name;
    int32_t type;
    int64_t integer;  /* of a real: towards zero; of a text: 0 */
    double real;      /* of a text: 0 */
    const char *text; /* as the study file has it; "" where inactive */
} trireme_trial_value;

typedef struct trireme_trial_setup {
    uint64_t struct_bytes;
    MPI_Comm comm;
    int64_t trial, run; /* numbers of the study */
    int32_t rung;
    int32_t attempt; /* at this rung, from 0 */
    int32_t epoch;   /* opening of the study, from 1 */
    int32_t finals;  /* 1: the last phase */
    uint64_t seed;   /* of the study: the same in every run */
    /* How far this run goes: the resource in the study's unit, and the last
     * step to do, of which the first warmup_steps are not measured; -1 where
     * the unit is seconds, or samples or tokens (counted as reported).  A trial
     * that is promoted in place goes further. */
    int64_t resource, target_step;
    int32_t warmup_steps;
    int32_t n_parameters, n_options;
    const trireme_trial_value *const *parameters; /* the configuration */
    const trireme_trial_value *const *options;    /* model.options */
    const char *study_dir;  /* folder of the study file, absolute */
    const char *checkpoint; /* to go on from; NULL: from scratch */
    int64_t first_step;     /* steps done in it; 0 */
    uint64_t memory_bytes;  /* a rank should use at most; 0: not known */
    /* A sentence, without a newline.  The last one before a failing code is
     * what the record keeps; others go to the log. */
    void (*say)(void *say_ctx, const char *sentence);
    void *say_ctx;
} trireme_trial_setup;

/* What is known after a step; what is zero was not measured. */
typedef struct trireme_trial_report {
    uint64_t struct_bytes;
    int64_t step;           /* steps done in all: 1 after the first */
    double tokens, samples; /* of one step, over all ranks */
    int32_t has_loss;       /* 1: the next field is one */
    int32_t n_metrics;
    double loss;    /* one that is not finite fails the trial as nan */
    uint64_t bytes; /* high water of this rank's memory; 0: trireme
                     * takes the resident size */
    const char *const
            *names;       /* n_metrics of the trial's own: an objective may */
    const double *values; /* be one of them */
} trireme_trial_report;

/* One that says nothing yet: trireme_trial_report r = TRIREME_TRIAL_REPORT; */
#define TRIREME_TRIAL_REPORT                                                   \
    {                                                                          \
        sizeof(trireme_trial_report), 0, 0, 0, 0, 0, 0, 0, 0, 0                \
    }

/* Returns 1 once the step that run_until was asked for is reported: leave now;
 * 0: go on. */
typedef int (*trireme_trial_report_fn)(void *ctx,
                                       const trireme_trial_report *report);

typedef struct trireme_trial trireme_trial; /* the plugin's own */

#define TRIREME_TRIAL_EXPORT __attribute__((visibility("default")))

/* ---- what a plugin defines -------------------------------------------- */

/* Returns TRIREME_TRIAL_ABI. */
TRIREME_TRIAL_EXPORT int32_t trireme_trial_abi(void);

/*
 * Begin a trial: read its configuration, allocate, go on from a checkpoint if
 * there is one.  Not measured.  [out] *out, taken back by close; not read on
 * failure, after which nothing may be left behind on this rank.
 */
TRIREME_TRIAL_EXPORT int trireme_trial_open(const trireme_trial_setup *setup,
                                            trireme_trial **out);

/*
 * Work until `step` steps are done in all, those of a checkpoint included, and
 * report at least the last one; the plugin may report each, or go a little
 * further than asked and report that.  `step` is more than was done before.
 *
 * The leader must report; what other ranks report is used for `bytes` alone.
 * A report for a step that was reported before adds its metrics to it.  Of
 * several reports in one call the last loss counts, and rates are of the whole
 * call: the call is timed, from when all ranks have begun until the last has
 * returned, so a plugin should do no more in it than its steps.
 *
 * trireme asks for one step, or for a few where they are very short: word to
 * stop reaches a trial between two calls only.
 *
 * Returns TRIREME_TRIAL_ENDED, on all ranks, where there is nothing further to
 * do; a result only where that is no sooner than the run's resource.
 */
TRIREME_TRIAL_EXPORT int trireme_trial_run_until(trireme_trial *trial,
                                                 int64_t step,
                                                 trireme_trial_report_fn report,
                                                 void *ctx);

/*
 * Optional: write what is needed to go on, all ranks together, to `path`, the
 * same on all: a file or a folder that does not exist yet.  It must be complete
 * when the last rank returns.  Asked for where the objective is learned (loss
 * or a metric of the trial's own); without it a promoted trial whose ranks were
 * given to others starts from scratch.  A failure costs the checkpoint, not the
 * result.
 */
TRIREME_TRIAL_EXPORT int trireme_trial_checkpoint(trireme_trial *trial,
                                                  const char *path);

/*
 * End a trial, after a failure too, and leave nothing behind.  `together`: 1
 * where all ranks of the trial are here, so that communicators can be freed; 0
 * where some are not (they failed to open, or are lost): free what is this
 * rank's own and wait for nobody.
 */
TRIREME_TRIAL_EXPORT void trireme_trial_close(trireme_trial *trial,
                                              int32_t together);

/* ---- for convenience --------------------------------------------------- */

static inline int trireme_trial_same_name(const char *a, const char *b)
{
    while (*a && *a == *b) {
        a++;
        b++;
    }
    return *a == *b;
}

/* The parameter of that name, or else the option; NULL where there is none, or
 * it is inactive. */
static inline const trireme_trial_value *
trireme_trial_find(const trireme_trial_setup *setup, const char *name)
{
    int32_t i;

    for (i = 0; i < setup->n_parameters + setup->n_options; i++) {
        const trireme_trial_value *v =
                i < setup->n_parameters
                        ? setup->parameters[i]
                        : setup->options[i - setup->n_parameters];

        if (trireme_trial_same_name(v->name, name)) {
            return v->type == TRIREME_TRIAL_INACTIVE ? 0 : v;
        }
    }
    return 0;
}

static inline int64_t trireme_trial_integer(const trireme_trial_setup *setup,
                                            const char *name, int64_t otherwise)
{
    const trireme_trial_value *v = trireme_trial_find(setup, name);

    return v ? v->integer : otherwise;
}

static inline double trireme_trial_real(const trireme_trial_setup *setup,
                                        const char *name, double otherwise)
{
    const trireme_trial_value *v = trireme_trial_find(setup, name);

    return v ? v->real : otherwise;
}

static inline const char *trireme_trial_text(const trireme_trial_setup *setup,
                                             const char *name,
                                             const char *otherwise)
{
    const trireme_trial_value *v = trireme_trial_find(setup, name);

    return v ? v->text : otherwise;
}

#ifdef __cplusplus
}
#endif
#endif

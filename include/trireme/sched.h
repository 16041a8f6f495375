/*
 * Schedulers: which trial runs next, and for how long.  By name:
 *
 *   asha             asynchronous successive halving, promotion type (Li et
 *                    al., MLSys 2020): the best floor(n/eta) of a rung's n
 *                    results go on, whenever ranks are free
 *   asha-stop        stopping type: a run goes on in place or ends for good
 *   asha-delayed     never more than 1/eta of a rung promoted (Hyper-Tune)
 *   sha              synchronous halving, brackets of n configurations
 *   hyperband        sha in all brackets of the ladder in turn
 *   async-hyperband  asha in all brackets of the ladder in turn
 *   pasha            asha on a ladder that grows while rankings change
 *   none             every configuration at the top rung, once
 *
 * The exact rules, their sources and where they differ from them stand at the
 * top of src/sched/NAME.c.
 *
 * A scheduler sees only trial numbers, rungs and objectives; it knows nothing
 * of ranks, configurations, time or budgets.  The controller asks `peek`, and
 * `take`s the job when it commits to it.  Scores are costs: lower is better;
 * equal scores are ordered by the lower trial number.
 *
 * Pure; one thread; O(log n) a call at any history length.
 */
#ifndef TRIREME_SCHED_H
#define TRIREME_SCHED_H

#include "trireme/study.h"

typedef struct tri_sched tri_sched;

typedef struct tri_sched_settings {
    tri_sched_kind kind;
    int64_t min, max; /* max 0: unbounded */
    int eta;
    int bracket;  /* the rung that the (first) ladder starts at */
    int brackets; /* asha and its kind: ladders in use, 1 or more; sha and
                   * hyperband: brackets in progress at most, 0: any number */
    int64_t n;    /* sha: configurations of a bracket; 0: by the ladder */
} tri_sched_settings;

typedef enum tri_job_kind {
    TRI_JOB_NONE,
    TRI_JOB_NEW,    /* a new configuration in its bracket's base rung */
    TRI_JOB_PROMOTE /* trial goes on to `rung` */
} tri_job_kind;

typedef struct tri_job {
    tri_job_kind kind;
    int64_t trial; /* promote */
    int rung;      /* the rung to run at, counted from 0 at `min` */
    int bracket;
    int64_t resource; /* absolute, of that rung */
} tri_job;

typedef enum tri_result_kind {
    TRI_RESULT_OK,     /* has a finite score */
    TRI_RESULT_COUNTED /* diverged or nan: ranked last, never promoted */
} tri_result_kind;

typedef struct tri_rung_view {
    int rung, bracket;
    int64_t resource;
    int64_t results, promoted, running;
    double cut; /* score of the worst promotable result; NaN if none */
} tri_rung_view;

/* Whether a run that has just given its result goes on in place. */
typedef enum tri_going {
    TRI_GOES_NOT,
    TRI_GOES_NEXT, /* where no other job waits for its ranks */
    TRI_GOES_ON    /* whatever waits: it does not pause */
} tri_going;

/* What a study says of its scheduler. */
TRI_API tri_sched_settings tri_sched_settings_of(const tri_study *study);
/* Create a scheduler.  TRI_EINVAL for settings that make no ladder, or that
 * the kind has no use for.  [out] owned. */
TRI_API tri_status tri_sched_create(const tri_sched_settings *settings,
                                    tri_sched **out);
TRI_API void tri_sched_destroy(tri_sched *s);

/* The resource of rung `rung` (min * eta^rung while below max, then max), or
 * 0 past the top. */
TRI_API int64_t tri_sched_resource(const tri_sched *s, int rung);
/* Number of rungs; 0 if unbounded. */
TRI_API int tri_sched_n_rungs(const tri_sched *s);

/* How many configurations are to run at `rung` of a bracket that starts at rung
 * `bracket`; 0 where that is not laid down beforehand, as of all that is
 * asynchronous. */
TRI_API int64_t tri_sched_planned(const tri_sched *s, int bracket, int rung);

/*
 * The next job, without committing to it: the same answer until something
 * changes.  `may_create`: whether a new configuration may be created; where
 * none may, sha takes a bracket that is not full as it is.
 * Always succeeds; TRI_JOB_NONE if there is nothing to do now.
 */
TRI_API void tri_sched_peek(tri_sched *s, int may_create, tri_job *out);
/* Whether `trial`, whose result has just been given, goes on to the next rung
 * at once; [out] *out: the job to take if so.  `may_create` as for peek. */
TRI_API tri_going tri_sched_goes_on(tri_sched *s, int64_t trial, int may_create,
                                    tri_job *out);
/* Whether `trial`, which has its result at `rung`, is certain never to be
 * promoted. */
TRI_API int tri_sched_is_over(const tri_sched *s, int64_t trial, int rung);
/* Commit to `job` (as just peeked, or a new one of a bracket that was given out
 * by an earlier scheduler of the same settings: its rung is the bracket's
 * number); `trial` is the number given to a new configuration (numbers grow
 * from 0, some may be left out), or that of the promoted one.  Its rung
 * then counts one running.  TRI_ENOMEM: nothing has changed. */
TRI_API tri_status tri_sched_take(tri_sched *s, const tri_job *job,
                                  int64_t trial);
/* A run of `trial` at `rung` ended with a result.  TRI_ENOTFOUND if it is not
 * running there (ignored). */
TRI_API tri_status tri_sched_result(tri_sched *s, int64_t trial, int rung,
                                    tri_result_kind kind, double score);
/* A run ended without a result and will not be tried again.  Its promotion
 * slot stays spent.  TRI_ENOTFOUND as above. */
TRI_API tri_status tri_sched_drop(tri_sched *s, int64_t trial, int rung);
/* Skip `trial` in promotions, or stop skipping it: its configuration exceeds
 * the pool.  A parked trial neither fails nor keeps a rung from closing. */
TRI_API void tri_sched_park(tri_sched *s, int64_t trial, int parked);
/* Nothing runs and, without new configurations, nothing ever will. */
TRI_API int tri_sched_is_closed(tri_sched *s);

/* Rungs with at least one result or run, ladder by ladder; returns how many
 * there are, filling at most `max`.  Brackets that start at the same rung (sha,
 * hyperband) are taken together, the cut is then that of the latest. */
TRI_API int tri_sched_rungs(const tri_sched *s, tri_rung_view *out, int max);
/* The finished trials of a rung, best first, those of all brackets that start
 * at rung `bracket` taken together, for tests and `explain`:
 * returns the number, filling at most `max`. */
TRI_API int64_t tri_sched_ranking(const tri_sched *s, int bracket, int rung,
                                  int64_t *trials, int64_t max);
/* Whether `trial` was promoted out of `rung`. */
TRI_API int tri_sched_was_promoted(const tri_sched *s, int64_t trial, int rung);

#endif

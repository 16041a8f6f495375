/*
 * The controller: a pure state machine, events in, commands out.  It reads no
 * clock, opens no file, sends no message and asks the system for no randomness.
 * MPI, the simulator and replay drive the same object; resuming a study is
 * replaying its events into a fresh one.
 *
 * The driver's page: obtain an event, tri_ctl_feed, journal the event with the
 * digest of the commands, carry the commands out.  When nothing arrives, feed
 * a clock event once tri_ctl_next_deadline has passed.
 *
 * Nothing is scheduled before the first event of an opening that is neither
 * open, edited nor pool: a driver tells the whole pool, then feeds a clock.
 * Where ranks die, it feeds their `pool` events before the `lost` of their
 * run, so that nothing new is put on them.
 *
 * One thread.  Views are borrowed until the next feed.
 */
#ifndef TRIREME_CTL_H
#define TRIREME_CTL_H

#include "trireme/event.h"
#include "trireme/sched.h"
#include "trireme/study.h"

typedef struct tri_ctl tri_ctl;

/* [out] `out`: returned owned.  TRI_ENOMEM. */
TRI_API tri_status tri_ctl_create(tri_ctl **out);
TRI_API void tri_ctl_destroy(tri_ctl *ctl);

/*
 * Feed one event.  The first must be `open`; each later `open` begins another
 * opening (epoch one higher): what was running is interrupted and requeued.
 * Where its machine class is another than that of the results so far, these
 * count no longer (a study that is done stays done, until an edit gives it more
 * to do): every trial but those that were infeasible by themselves or lacked an
 * import is measured again from its bracket's base rung, as the same trial.
 * Rows of runs stay as they are, and count in the budget of runs.  Classes left
 * are forgotten; an empty one is any.
 * [out] `out`: the commands, borrowed until the next feed.
 *
 * Stale or unknown runs (another attempt, an earlier epoch) are ignored: TRI_OK
 * and no commands.  Errors leave the state unchanged: the study's text cannot
 * be read (open), a frozen key differs (edited; the sentence names it),
 * TRI_EEMPTY (no valid configuration), TRI_EINVAL (time runs backwards, a
 * first event that is not open, another seed than the first opening's).  After
 * TRI_ENOMEM the controller is of no further use but to be destroyed.
 */
TRI_API tri_status tri_ctl_feed(tri_ctl *ctl, const tri_event *event,
                                tri_commands *out);

/* Study time at which a clock event is due; INFINITY if none. */
TRI_API double tri_ctl_next_deadline(const tri_ctl *ctl);

/* ---- thinking -------------------------------------------------------- */

/*
 * Where a search is led by a thinker (search: auto and all but random and
 * quasi) and the `open` event says that one stands ready (may_think), `think`
 * commands ask for proposals: one at a time, whenever something is known that
 * the last one did not tell.  The driver takes the snapshot before it feeds
 * anything else, and feeds the answer as a `proposals` event whenever it is
 * there; an empty one where there is none.  A new configuration waits for an
 * answer at most a second and at most a hundredth of the median run, for which
 * next_deadline stands; all else goes on.
 *
 * A snapshot, by value but for the words of configurations, which live as long
 * as the controller:
 *   records   one a trial and resource: the mean of what was measured there on
 *             this class of machines, finals included; and one a trial that
 *             failed as its configuration will (diverged, nan, oom*,
 *             infeasible, import-error, and for good bad-exit and hung).  At
 *             most 20,000: the best quarter, then the latest.
 *   pending   configurations of trials under way that have no result yet
 *   tried     hashes of all trials
 * Configurations that an edit has put outside the space are left out.
 * [out] owned: tri_snapshot_destroy.  O(trials + runs).  TRI_ENOMEM.
 */
struct tri_snapshot;
TRI_API tri_status tri_ctl_snapshot(const tri_ctl *ctl, int64_t number,
                                    int wanted, struct tri_snapshot **out);
/* Rows of earlier studies that the openings brought; returns the number. */
TRI_API int tri_ctl_warm(const tri_ctl *ctl, const tri_warm_row **out);
/* The same as a thinker takes them, by source and class; those that are not of
 * the space (after an edit) are left out.  [out] owned, *n of them.
 * TRI_ENOMEM. */
struct tri_warm_records;
TRI_API tri_status tri_ctl_warm_records(const tri_ctl *ctl,
                                        struct tri_warm_records **out, int *n);
/* Of rows that no controller has heard of yet. */
TRI_API tri_status tri_warm_records_create(const tri_study *study,
                                           const char *machine_class,
                                           const tri_warm_row *rows, int n_rows,
                                           struct tri_warm_records **out,
                                           int *n);
TRI_API void tri_warm_records_destroy(struct tri_warm_records *list, int n);

/* ---- views ----------------------------------------------------------- */

/* The study in force (after edits); NULL before the first open. */
TRI_API const tri_study *tri_ctl_study(const tri_ctl *ctl);

/* Whether a study that is done may go on: `n_ranks` of this machine class can
 * run what fewer could not, and its budget leaves room. */
TRI_API int tri_ctl_may_go_on(const tri_ctl *ctl, int n_ranks,
                              const char *machine_class);

/* The machine class of the results that count; "" while it is not known. */
TRI_API const char *tri_ctl_machine_class(const tri_ctl *ctl);

typedef enum tri_trial_state {
    TRI_TRIAL_RUNNING,  /* a run of it is under way, or waits to start */
    TRI_TRIAL_PAUSED,   /* has a result, may be promoted */
    TRI_TRIAL_PROMOTED, /* chosen for the next rung, not started */
    TRI_TRIAL_DONE,     /* nothing more to do in the search */
    TRI_TRIAL_FAILED,
    TRI_TRIAL_PARKED
} tri_trial_state;

/* "running" and so on, as in /trials; "" for another number. */
TRI_API const char *tri_trial_state_name(tri_trial_state state);

typedef struct tri_trial_view {
    int64_t trial;
    double created_s;
    const char *origin; /* baseline, start, random, quasi, model, warm */
    tri_trial_state state;
    int ranks;
    int bracket;
    int top_rung;             /* highest rung with a result, -1 */
    double objective, lo, hi; /* at top_rung; NaN */
    double predicted, predicted_lo, predicted_hi, predicted_bytes, p_feasible;
    const char *rule;
    tri_reason reason; /* failed: why */
    int suspicion;
    const tri_config *config; /* n_params values */
    const char *checkpoint;   /* the one to go on from, "" if there is none */
    int64_t checkpoint_bytes;
} tri_trial_view;

typedef enum tri_run_state {
    TRI_RUN_FORMING, /* assigned, members answering */
    TRI_RUN_RUNNING,
    TRI_RUN_LEAVING, /* verdict given, ranks not yet free */
    TRI_RUN_ENDED
} tri_run_state;

typedef enum tri_run_status { /* how it ended */
    TRI_RUN_FINISHED,
    TRI_RUN_FAILED,
    TRI_RUN_LOST,
    TRI_RUN_INTERRUPTED,
    TRI_RUN_STOPPED
} tri_run_status;

typedef enum tri_slowness { /* trireme/slow.h */
    TRI_SLOW_NOT,
    TRI_SLOW_SUSPECT, /* measured again elsewhere: no result yet */
    TRI_SLOW_FLAGGED  /* for its ranks: no result */
} tri_slowness;

typedef struct tri_run_view {
    int64_t run, trial;
    tri_phase phase;
    int bracket, rung, attempt;
    int64_t resource;
    int n_ranks;
    const int32_t *ranks;
    int epoch;
    double start_s, end_s; /* NaN while unknown */
    tri_run_state state;
    tri_run_status status; /* valid once ENDED */
    tri_reason reason;
    int oversubscribed;
    tri_slowness slow;
    double objective;       /* as compared (per rank where the study says so) */
    tri_ev_outcome outcome; /* what was measured; texts borrowed */
    int64_t reports;        /* reports seen */
    int64_t last_step;
} tri_run_view;

typedef struct tri_rank_view {
    int rank;
    const char *host;
    const char *device;
    int cores;
    int state;   /* tri_rank_state */
    int64_t run; /* the run that holds it, -1 if free */
} tri_rank_view;

TRI_API int64_t tri_ctl_n_trials(const tri_ctl *ctl);
TRI_API void tri_ctl_trial(const tri_ctl *ctl, int64_t trial,
                           tri_trial_view *out);
/* The configuration of a trial: n_params values, borrowed from the controller.
 */
TRI_API const tri_config *tri_ctl_config(const tri_ctl *ctl, int64_t trial);
/* Leave the configurations' texts out of assign commands, for a driver in the
 * same memory: printing them takes longer than all else that a run costs.  The
 * digests of such commands are others. */
TRI_API void tri_ctl_omit_texts(tri_ctl *ctl);
/* A hint, without any effect but on speed: an event of `run` is near, and
 * `next` if it is likely to be the next of all. */
TRI_API void tri_ctl_expect(const tri_ctl *ctl, int64_t run, int next);
TRI_API int64_t tri_ctl_n_runs(const tri_ctl *ctl);
TRI_API void tri_ctl_run(const tri_ctl *ctl, int64_t run, tri_run_view *out);
TRI_API int tri_ctl_n_ranks(const tri_ctl *ctl);
TRI_API void tri_ctl_rank(const tri_ctl *ctl, int i, tri_rank_view *out);
/* The hosts of a run's ranks, each once, joined by commas, into buf. */
TRI_API void tri_ctl_run_hosts(const tri_ctl *ctl, int64_t run, char *buf,
                               size_t bytes);

/* Trials and runs whose rows changed in the last feed: returns the number,
 * [out] a borrowed list of numbers, each once, ascending. */
TRI_API int tri_ctl_changed_trials(const tri_ctl *ctl, const int64_t **out);
TRI_API int tri_ctl_changed_runs(const tri_ctl *ctl, const int64_t **out);

TRI_API const tri_sched *tri_ctl_sched(const tri_ctl *ctl);

typedef enum tri_ctl_state {
    TRI_CTL_SEARCH,
    TRI_CTL_FINALS,
    TRI_CTL_DRAINING,
    TRI_CTL_ENDED
} tri_ctl_state;

typedef struct tri_progress {
    tri_ctl_state state;
    int epoch;
    double time_s;       /* of the last event */
    double deadline_s;   /* NaN: none */
    double search_end_s; /* study time at which the search stops; NaN */
    /* runs and what finished of them in the search: of any machine class */
    int64_t trials, runs, finished, failed, parked;
    int64_t results; /* finished ones that count: of this class */
    int64_t again;   /* trials that this opening measures again */
    int64_t running; /* runs in flight */
    /* Steps that runs had done beyond their trial's last checkpoint when they
     * were interrupted, lost or failed, and that their next attempt does
     * again: what walltimes and losses cost. */
    int64_t repeated_steps;
    int64_t best_trial; /* -1: none */
    double best, best_lo, best_hi;
    int ranks_total, ranks_busy;
    int ranks_struck;   /* by the controller: their group did not answer */
    int ranks_lost;     /* gone or silent, as the launcher or a group found */
    int ranks_benched;  /* slow, see trireme/slow.h */
    int64_t remeasured; /* runs of the search repeated elsewhere for that */
    int64_t failures[TRI_REASON_COUNT]; /* runs failed and lost */
    int end_status;                     /* once ENDED */
    const char *end_why;
    int ended_resumable;
    int finals_done, finals_total; /* runs */
    int64_t head;                  /* the trial that waits for room, -1 */
    double head_since_s;           /* study time; NaN */
    int64_t queued; /* trials behind it whose job has been given out */
} tri_progress;
TRI_API void tri_ctl_progress(const tri_ctl *ctl, tri_progress *out);

/* One measured configuration of the answer. */
typedef struct tri_standing {
    int64_t trial; /* -1: none */
    double objective, lo, hi;
    int ranks, repeats;
    int finals;       /* measured in the finals, else in the search */
    int64_t resource; /* of each repeat */
} tri_standing;

typedef struct tri_answer {
    int finals; /* whether it comes from finals */
    tri_standing winner, baseline;
    tri_standing challenger; /* the best in the finals beside the baseline */
    double speedup, lo, hi;  /* challenger over baseline, > 1 is better; NaN */
    int significant;         /* speedup's 95 % interval is above 1 */
} tri_answer;
/* The answer so far.  In finals: re-measured values; otherwise the best
 * result.  Where no challenger is significantly better than the baseline, the
 * baseline is the winner. */
TRI_API void tri_ctl_answer(const tri_ctl *ctl, tri_answer *out);
/* The best trials (finals first, then by their results), at most `max`;
 * returns the number.  [out] out[max]. */
TRI_API int tri_ctl_top(const tri_ctl *ctl, tri_standing *out, int max);
/* The best trials on exactly `ranks` ranks: by what they gave in the finals,
 * else in the search, but the winner of the finals first. */
TRI_API int tri_ctl_top_on(const tri_ctl *ctl, int ranks, tri_standing *out,
                           int max);
/* The first of these for each number of ranks, by that number; returns how
 * many there are, at most `max`. */
TRI_API int tri_ctl_by_ranks(const tri_ctl *ctl, tri_standing *out, int max);

#endif

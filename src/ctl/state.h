/*
 * The controller's state and what its files do for each other.  Nobody outside
 * src/ctl includes this.
 *
 * A trial is waiting (a job of it is the head, in the queue, or parked), in
 * flight, paused, done or failed.  A run is forming, running, leaving or
 * ended; while it is not ended it is live, holds its ranks and stands in the
 * heap of limits.  Rows are never removed.
 */
#ifndef TRI_SRC_CTL_STATE_H
#define TRI_SRC_CTL_STATE_H

#include "trireme/ctl.h"
#include "trireme/propose.h"

#include "src/ctl/keep.h"
#include "src/ctl/median.h"
#include "src/ctl/pack.h"

typedef enum tri_trial_place {
    TRI_PLACE_WAITING, /* a job of it has been taken and waits for ranks */
    TRI_PLACE_FLYING,
    TRI_PLACE_PAUSED,
    TRI_PLACE_DONE,
    TRI_PLACE_FAILED
} tri_trial_place;

typedef struct tri_prediction { /* what a proposal said */
    double predicted, lo, hi, bytes, p_feasible;
    const char *rule;
} tri_prediction;

typedef struct tri_trial_row {
    const tri_config *config;
    uint64_t hash;
    double created_s;
    double objective, lo, hi; /* at top_rung */
    double unit_s;            /* seconds a unit of resource, last run; NaN */
    const char *origin;
    const tri_prediction *prediction; /* NULL */
    const char *checkpoint;           /* "" */
    int64_t checkpoint_step, checkpoint_bytes;
    int64_t last_run; /* the run that gave its last result, -1 */
    uint64_t changed; /* feed in which its row last changed */
    int32_t ranks;
    int16_t bracket, rung; /* where it runs, waits or paused */
    int16_t top_rung;
    int16_t checkpoint_rung; /* the rung it was written in */
    int16_t attempt;         /* of its next or present run at `rung` */
    int16_t attempts;        /* at `rung`, those that a drain ended left out */
    int16_t cuts; /* at `rung`, runs that an end of the job cut off that no
                   * drain in order came before */
    uint8_t place, parked, suspicion, retried, reason;
    uint8_t shelved;      /* no time for its promotion in this opening */
    uint8_t held;         /* promoted, but its finished run still writes */
    uint8_t refused;      /* infeasible by what was measured, not by itself */
    int16_t checked_rung; /* at which it was last measured again; -1 */
    uint8_t is_extra;     /* its next run does not count in the budget */
    int64_t suspect;      /* the run that it is measured again for, -1 */
} tri_trial_row;

typedef struct tri_run_row {
    tri_run_view v;
    const int32_t *hosts; /* each once */
    int32_t n_hosts;
    int32_t live; /* -1: ended */
    uint64_t changed;
} tri_run_row;

/* What is known of a run only while it is not ended. */
typedef struct tri_live {
    int64_t run;
    double first_s;   /* when its first step began, as far as known */
    double slowest_s; /* step */
    double limit;     /* less the shift when it was set; INFINITY */
    double length;    /* units of resource to do */
    int heap_at;
    int at;              /* in the list of those in flight */
    uint8_t finished;    /* its result is recorded */
    uint8_t stopped;     /* a stop was sent, for `why` */
    uint8_t why;         /* tri_reason: hung, budget, drained */
    uint8_t in_place;    /* went on without forming */
    uint8_t was_forming; /* when the stop was sent */
    int contender;       /* finals */
} tri_live;

typedef struct tri_host {
    const char *name;
    double lost_s; /* when a group of it was last lost */
    int64_t lost_trial;
    uint8_t charged; /* that loss raised the trial's suspicion */
    uint8_t benched; /* ranks of it were, in this opening */
    uint8_t checked; /* a run of it was compared, or is to be */
} tri_host;

typedef struct tri_rank_row {
    int32_t rank, host, cores;
    tri_place at;
    const char *device;
    uint8_t state, struck, oversubscribed;
    uint8_t benched; /* slow: used where there are too few others */
    uint8_t flags;   /* against it */
    uint8_t marked;  /* scratch of slow.c: of the run that is compared */
    int slot;
    int64_t run; /* -1 */
} tri_rank_row;

/* The next new trial, drawn but not created. */
typedef struct tri_candidate {
    int ready;
    tri_config *config; /* n_params values, scratch */
    uint64_t hash;
    int ranks;
    const char *origin;
    const tri_prediction *prediction;
    int is_given;  /* the user's own: baseline or start */
    int64_t knows; /* news it was drawn with */
} tri_candidate;

/* The conversation with the thinker. */
typedef struct tri_thoughts {
    uint8_t may;      /* the search is led by one, and this opening has it */
    uint8_t out;      /* a question has no answer yet */
    uint8_t waits;    /* new configurations wait for it now */
    int64_t asked;    /* snapshot of the last question, counted from 1 */
    int64_t answered; /* the one that the proposals are of */
    int64_t news;     /* so often did what a snapshot tells change */
    int64_t asked_at; /* news of the last question; -1: not in this opening */
    int64_t knows;    /* news that the proposals were made with */
    int64_t needs;    /* news that ends the present wait */
    double until;     /* when it ends in any case; NaN: nothing waits */
    int64_t taken;    /* proposals that could be used, of the present ones */
} tri_thoughts;

/* Failures that are alike, in a row and up to now. */
typedef struct tri_alike {
    const char *sentence; /* of the first; NULL: there is none */
    tri_reason reason;
    int64_t runs, trials;
    int64_t begun; /* runs that had begun when the first of them failed */
} tri_alike;

typedef struct tri_contender {
    int64_t trial;
    int64_t reference; /* its first run that counts, + 1; 0: none */
    double *values;    /* one a repeat that went well */
    int *repeats;      /* which one that was */
    int n_values;
} tri_contender;

typedef struct tri_finals {
    int begun, over;
    int n, at;   /* contenders; place in the present order */
    int repeat;  /* present one */
    int repeats; /* planned */
    int retried; /* the run at `at` failed once */
    int done;    /* runs */
    int rung;
    int lowered;     /* below the top rung, for want of time */
    int64_t suspect; /* run that is repeated elsewhere, + 1; 0: none */
    int checked;     /* so many were */
    int begun_again; /* as ranks were benched */
    int64_t resource;
    tri_contender *list;
    int *order;
    double *blocks; /* scratch of the answer: n x planned repeats */
} tri_finals;

typedef struct tri_numbers {
    int64_t *list;
    size_t n, room;
} tri_numbers;

struct tri_ctl {
    tri_study *study;
    tri_study **old; /* former readings: words of old trials live there */
    size_t n_old;
    tri_attachment *attachments;
    int n_attachments;
    uint64_t seed;
    tri_sched *sched;
    const tri_proposer_ops *proposer;
    int n_params;
    tri_keep keep, scratch;

    double now, before; /* times of this event and the last */
    double open_s, max_time_s, deadline_s, drain_limit;
    double idle_s; /* study time that came to nothing: no budget's */
    /* of all runs: the longest usual step, the longest checkpoint */
    double longest_step_s, longest_save_s;
    double shift; /* by gaps of the driver's loop, added up */
    int epoch;
    int rules; /* of this opening: TRI_RULES, or less */
    tri_phase phase;
    uint8_t no_timeouts;
    uint8_t no_texts; /* of configurations, in commands */
    uint8_t idled;    /* its time passed, and nothing finished nor failed */
    uint8_t started;  /* something but open, edited and pool was fed */
    uint8_t complete; /* ended with status 0, nothing edited since */
    uint8_t draining, ended, search_stopped;
    uint8_t broken; /* memory ran out half way: of no further use */
    uint8_t pool_changed, pack_stale;
    int drain_why;

    tri_trial_row *trials;
    int64_t n_trials, trial_room;
    tri_run_row *runs;
    int64_t n_runs, run_room;
    tri_live *lives;
    int n_lives, life_room; /* used ones, also those free again */
    int *free_lives;
    int n_free_lives;
    int *flying; /* lives in flight */
    int n_flying;
    int *heap; /* lives by limit */
    int n_heap;

    tri_rank_row *ranks;
    int n_ranks, rank_room;
    int *rank_of; /* by world rank: place in ranks, -1 */
    int rank_of_room;
    int *slot_rank; /* by slot: place in ranks */
    tri_host *hosts;
    int n_hosts, host_room;
    int32_t *by_name; /* host + 1, 0: empty; host_room is half of it */
    tri_pack pack;
    int n_up, n_busy, n_struck;
    int n_benched;        /* of those up */
    double benched_since; /* when the last one was; NaN: none in this opening */
    int *slots;           /* scratch, n_ranks */
    int *kept_off;        /* the same: slots that a group is not to get */
    int32_t *elsewhere;   /* and the ranks that it would be on */
    int64_t n_repeated;   /* runs measured again for slow.h, in the search */

    uint64_t *by_hash; /* trial + 1 under bits of its hash, 0: empty */
    size_t by_hash_room;

    tri_numbers queue; /* trials; those before queue_at are gone */
    size_t queue_at;
    int64_t head; /* trial, -1 */
    double head_since;
    tri_proposal *proposals;
    int n_proposals, proposal_room, proposal_at;
    tri_keep proposal_texts;
    tri_thoughts thoughts;
    tri_candidate candidate;
    int start_at;
    uint8_t exhausted;        /* no new configuration fits */
    uint8_t deadline_blocks;  /* a job was not started for the deadline */
    uint8_t deadline_shelves; /* a promotion of this opening was not */
    uint8_t opening_blocks;   /* a job was not, or not ended, for max_time */
    uint8_t cut;              /* ... and the search has work left */
    uint8_t done_exhausted;   /* when the study was done: no other fitted ... */
    int done_ranks;           /* ... and so many ranks were up */
    int64_t n_shelved;

    int64_t repeated_steps; /* done by runs that have to do them again */
    /* finished: in the search, of any machine class; results: of this one */
    int64_t search_runs, n_finished, n_results, n_failed, n_parked;
    int64_t failures[TRI_REASON_COUNT];
    tri_alike alike;
    uint8_t given_up;          /* the last opening ended for them */
    int64_t best;              /* trial, -1 */
    int largest;               /* ranks of the largest trial */
    const char *machine_class; /* of the results that count, "": not known */
    const char *opening_class; /* of this opening; the same pointer if equal */
    int64_t n_again;           /* trials that this opening measures again */
    int64_t first_run;         /* runs before it were of another class */
    tri_warm_row *warm;        /* rows of earlier studies, of all openings */
    int n_warm;
    uint64_t checkpoint_bytes;
    tri_running_median unit_s, start_s, run_s;

    tri_finals finals;

    int end_status, end_resumable; /* of this or the last opening */
    const char *end_why;

    uint64_t feed;
    tri_command *commands;
    int n_commands, command_room;
    tri_numbers changed_trials, changed_runs;
};

/* ---- roster.c: rows and their legal transitions ---------------------- */

tri_status tri_numbers_add(tri_numbers *n, int64_t x);
tri_status tri_ctl_emit(tri_ctl *ctl, const tri_command *command);
tri_status tri_ctl_touch_trial(tri_ctl *ctl, int64_t trial);
tri_status tri_ctl_touch_run(tri_ctl *ctl, int64_t run);
/* A trial of `candidate`, waiting at `job`'s rung. */
tri_status tri_ctl_add_trial(tri_ctl *ctl, const tri_job *job);
/* The trial with this configuration, -1. */
int64_t tri_ctl_find_trial(const tri_ctl *ctl, const tri_config *config,
                           uint64_t hash);
tri_status tri_ctl_set_place(tri_ctl *ctl, int64_t trial,
                             tri_trial_place place);
/* As it was when it was created, waiting at its bracket's base rung; a job of
 * it must have been taken. */
tri_status tri_ctl_renew_trial(tri_ctl *ctl, int64_t trial);
/* Put a trial that waits into the queue, unless it is parked. */
tri_status tri_ctl_enqueue(tri_ctl *ctl, int64_t trial);
/* What is parked, or waits no longer, leaves the queue, and is not the head. */
void tri_ctl_sift_queue(tri_ctl *ctl);
/* What waits is shown otherwise once the search is over. */
tri_status tri_ctl_touch_waiting(tri_ctl *ctl);
/* A live run of `trial` on `ranks` (ascending); the ranks are then its. */
tri_status tri_ctl_add_run(tri_ctl *ctl, int64_t trial, int rung,
                           int64_t resource, const int32_t *ranks, int n_ranks,
                           int64_t *run);
/* The live run of that number and attempt, or NULL. */
static inline tri_live *tri_ctl_live(tri_ctl *ctl, int64_t run, int attempt)
{
    if (run < 0 || run >= ctl->n_runs || ctl->runs[run].live < 0 ||
        ctl->runs[run].v.attempt != attempt) {
        return NULL;
    }
    return &ctl->lives[ctl->runs[run].live];
}
/* The run is ended; its ranks are free if `release`. */
tri_status tri_ctl_end_run(tri_ctl *ctl, tri_live *live, tri_run_status status,
                           tri_reason reason, int release);

/* ---- pool.c: ranks, hosts, parking ----------------------------------- */

void tri_ctl_empty_pool(tri_ctl *ctl);
tri_status tri_ctl_feed_pool(tri_ctl *ctl, const tri_ev_pool *ev);
tri_status tri_ctl_set_parked(tri_ctl *ctl, int64_t trial, int parked);
/* Leave a promotion out until the next opening; bring all back. */
void tri_ctl_shelve(tri_ctl *ctl, int64_t trial);
void tri_ctl_unshelve_all(tri_ctl *ctl);
/* Bring packing and parking up to date with the pool. */
tri_status tri_ctl_settle_pool(tri_ctl *ctl);
tri_rank_row *tri_ctl_rank_row(const tri_ctl *ctl, int32_t rank);
void tri_ctl_free_rank(tri_ctl *ctl, int32_t rank);
void tri_ctl_lose_rank(tri_ctl *ctl, int32_t rank, tri_rank_state state);
/* It is slow: from now on used only where there are too few others. */
void tri_ctl_bench_rank(tri_ctl *ctl, int32_t rank);
/* How many ranks a group of `n` can choose among now: those benched only where
 * the others, all together, are too few. */
int tri_ctl_room(const tri_ctl *ctl, int n);
/* Whether any group can start now. */
int tri_ctl_has_room(const tri_ctl *ctl);
/* Take `n` ranks, none of the `n_avoid` in `avoid`.  [out] out[n], in the order
 * of the mesh.  0: fewer are free. */
int tri_ctl_take_ranks(tri_ctl *ctl, int n, const int32_t *avoid, int n_avoid,
                       int32_t *out);

/* ---- slow.c: slow ranks (trireme/slow.h) ------------------------------ */

/* Whether the run, which has just finished, is to be measured again; then note
 * it: its trial waits for that. */
int tri_ctl_suspects(tri_ctl *ctl, const tri_run_row *r);
void tri_ctl_suspect(tri_ctl *ctl, tri_run_row *r);
/* Judge what the trial is measured again for by `run`; -1: by nothing.  [out]
 * *counts: the run whose value is the result then. */
tri_status tri_ctl_settle_suspect(tri_ctl *ctl, int64_t trial, int64_t run,
                                  int64_t *counts);
tri_status tri_ctl_forget_suspects(tri_ctl *ctl);
/* Trials that wait to be measured again, parked ones too, are not: what is
 * suspected is their result.  [out] *n: how many. */
tri_status tri_ctl_let_suspects_stand(tri_ctl *ctl, int *n);
/* The ranks that a group of n elsewhere than `run` does not get: how many,
 * [out] *list borrowed until the next call; -1: there are too few others. */
int tri_ctl_elsewhere(tri_ctl *ctl, int64_t run, int n, const int32_t **list);
/* Whether it can start now; where there are too few others, anywhere. */
int tri_ctl_fits_elsewhere(tri_ctl *ctl, int64_t run, int n);
/* Take n ranks for a run of the trial: elsewhere, where it is measured again.
 */
tri_status tri_ctl_take_for(tri_ctl *ctl, int64_t trial, tri_phase phase, int n,
                            int32_t *ranks);
/* The same of runs of the finals. */
int tri_ctl_finals_suspects(tri_ctl *ctl, const tri_run_row *r);
void tri_ctl_finals_suspect(tri_ctl *ctl, tri_run_row *r);
tri_status tri_ctl_judge(tri_ctl *ctl, int64_t suspect, int64_t run);

/* ---- limits.c: what has to happen by when ---------------------------- */

/* `s` seconds from now, INFINITY for never. */
void tri_ctl_set_limit(tri_ctl *ctl, tri_live *live, double s);
/* How long a group may take to form. */
double tri_ctl_forming_limit(const tri_ctl *ctl);
void tri_ctl_clear_limit(tri_ctl *ctl, tri_live *live);
/* How long a running run may be silent. */
double tri_ctl_progress_limit(const tri_ctl *ctl, const tri_live *live);
tri_status tri_ctl_feed_clock(tri_ctl *ctl, const tri_ev_clock *ev);
/* Send a stop; the run is leaving. */
tri_status tri_ctl_stop_run(tri_ctl *ctl, tri_live *live, tri_reason why);

/* ---- budget.c: limits of runs, trials and time ----------------------- */

/* Whether the search may start another run now, whatever it is. */
int tri_ctl_may_search(const tri_ctl *ctl);
int tri_ctl_may_create(const tri_ctl *ctl);
/* Seconds that `length` units of trial (-1: any) take, started afresh unless
 * `in_place`; NaN: not known. */
double tri_ctl_predict(const tri_ctl *ctl, int64_t trial, double length,
                       int in_place);
/* The same, where any decision hangs on it: NaN where no time is limited and no
 * head waits. */
double tri_ctl_foresee(const tri_ctl *ctl, int64_t trial, double length,
                       int in_place);
/* Units that a run of `trial` at `resource` has to do. */
double tri_ctl_length(const tri_ctl *ctl, int64_t trial, int rung);
/* Whether a run predicted to last `s` may start. */
int tri_ctl_time_allows(tri_ctl *ctl, double s);
double tri_ctl_search_end(const tri_ctl *ctl);
/* Whether that is for --max-time rather than for the study's budget. */
int tri_ctl_opening_binds(const tri_ctl *ctl); /* INFINITY: never */
double tri_ctl_finals_end(const tri_ctl *ctl);
/* How long a drain may take. */
double tri_ctl_drain_s(const tri_ctl *ctl);
double tri_ctl_drain_start(const tri_ctl *ctl);
/* Within how many seconds a stop is answered: grace, and a little. */
double tri_ctl_answer_s(const tri_ctl *ctl);
/* Whether checkpoints of trials at `rung` are worth writing: TRI_SAVE_... */
int tri_ctl_saves(const tri_ctl *ctl, int rung);

/* ---- candidate.c: new configurations --------------------------------- */

/* Have a candidate ready; [out] *ready: 0 if there is none that fits, or none
 * before the thinker has answered: then thoughts.waits is set. */
tri_status tri_ctl_candidate(tri_ctl *ctl, int *ready);
tri_status tri_ctl_feed_proposals(tri_ctl *ctl, const tri_ev_proposals *ev);

/* ---- think.c: questions to the thinker ---------------------------------- */

/* An opening begins. */
void tri_ctl_think_open(tri_ctl *ctl, int may);
/* Whether what knows so many news is fresh enough for a new trial. */
int tri_ctl_is_fresh(const tri_ctl *ctl, int64_t knows);
/* A new configuration is wanted and no proposal is fresh: ask, if that is of
 * use, and say in thoughts.waits whether to wait for the answer. */
tri_status tri_ctl_await(tri_ctl *ctl);
/* Before and after the free ranks are given out. */
void tri_ctl_think_begin(tri_ctl *ctl);
tri_status tri_ctl_think_end(tri_ctl *ctl);
/* An answer came; [out] *use: whether its proposals are to replace ours. */
void tri_ctl_think_answered(tri_ctl *ctl, int64_t snapshot, int *use);

/* ---- warm.c: results of earlier studies -------------------------------- */

/* Those that an opening brings. */
tri_status tri_ctl_keep_warm(tri_ctl *ctl, const tri_ev_open *ev);

/* ---- schedule.c: who starts next ------------------------------------- */

/* Start what can be started of the search. */
tri_status tri_ctl_fill(tri_ctl *ctl);
tri_status tri_ctl_start(tri_ctl *ctl, int64_t trial, tri_phase phase, int rung,
                         int64_t resource, int64_t *run);
/* The job is the trial's that it returns, which waits at the job's rung. */
tri_status tri_ctl_take(tri_ctl *ctl, const tri_job *job, int64_t *trial);
/* The head's earliest start; NaN where it is not known.  `ends` is a run in
 * flight that could be over now, or NULL. */
tri_status tri_ctl_head_start(tri_ctl *ctl, const tri_live *ends, double *out);
/* Whether a job predicted to last `s` may start before the head. */
int tri_ctl_may_pass(const tri_ctl *ctl, double s, double head_start);
/* Trials that the end of the job has cut off as often as they have attempts may
 * be what ends it.  They run one at a time, and then only the one that ran is
 * blamed: those that were beside it by chance come to their results. */
int tri_ctl_is_doubted(const tri_ctl *ctl, int64_t trial);
int tri_ctl_a_doubted_runs(const tri_ctl *ctl);

/* ---- go_on.c: going on in place ----------------------------------------- */

/* The run may go on in place at its next rung: do so.  [out] *went. */
tri_status tri_ctl_go_on(tri_ctl *ctl, tri_live *live, int *went);

/* ---- phases.c: what is over ---------------------------------------------- */

/* Start what can be started, end what is over. */
tri_status tri_ctl_act(tri_ctl *ctl);

/* Whether the study's own budget leaves room for another run of the search. */
int tri_ctl_budget_is_left(const tri_ctl *ctl);
tri_status tri_ctl_drain(tri_ctl *ctl, int why);

/* ---- checkpoint.c: what trials go on from ------------------------------- */

tri_status tri_ctl_drop_checkpoint(tri_ctl *ctl, int64_t trial);
/* The trial goes on from what `r` wrote, if it wrote anything. */
tri_status tri_ctl_take_checkpoint(tri_ctl *ctl, const tri_run_row *r,
                                   const tri_ev_outcome *ev);
/* Tell of it in what is known of the run. */
void tri_ctl_note_checkpoint(const tri_ctl *ctl, tri_run_row *r,
                             const tri_ev_outcome *ev);
/* Of a run that is over: its leader would not wait for the verdict, or goes on
 * in place as another run. */
tri_status tri_ctl_late_checkpoint(tri_ctl *ctl, const tri_ev_outcome *ev);

/* ---- outcome.c: how runs end ----------------------------------------- */

tri_status tri_ctl_feed_outcome(tri_ctl *ctl, tri_event_kind kind,
                                const tri_ev_outcome *ev);
/* What the run measured is its trial's result. */
tri_status tri_ctl_record_result(tri_ctl *ctl, const tri_run_row *r);
/* What became of a run, in the controller's own words: a copy is kept. */
tri_status tri_ctl_say(tri_ctl *ctl, tri_run_row *r, const char *sentence);
/* The run did not end well: by the rule of `reason`. */
tri_status tri_ctl_fail_run(tri_ctl *ctl, tri_live *live, tri_reason reason,
                            int release);
/* The run's leader, which was struck, is silent. */
tri_status tri_ctl_lose_silent(tri_ctl *ctl, tri_live *live);
/* The trial is tried no more. */
tri_status tri_ctl_give_up(tri_ctl *ctl, int64_t trial, tri_reason reason);
/* The run ended without blame; its trial waits again. */
tri_status tri_ctl_interrupt_run(tri_ctl *ctl, tri_live *live,
                                 tri_run_status status, tri_reason reason);

/* ---- alike.c: failures that are all alike ------------------------------ */

/* A run of the search failed; before its trial is retried. */
void tri_ctl_note_alike(tri_ctl *ctl, const tri_run_view *run,
                        tri_reason reason);
void tri_ctl_forget_alike(tri_ctl *ctl);
/* Whether nothing has finished, and nothing else is to be expected. */
int tri_ctl_is_hopeless(const tri_ctl *ctl);

/* ---- finals.c, answer.c ----------------------------------------------- */

tri_status tri_ctl_finals_begin(tri_ctl *ctl);
/* Start the next run; [out] *over. */
tri_status tri_ctl_finals_next(tri_ctl *ctl, int *over);
/* The run in flight ended: with `value`, or NaN; `again`: repeat it whatever
 * came before. */
tri_status tri_ctl_finals_result(tri_ctl *ctl, const tri_live *live,
                                 double value, int again);
/* It finished: that is its value, unless it is to be repeated elsewhere. */
tri_status tri_ctl_finals_finished(tri_ctl *ctl, const tri_live *live);
void tri_ctl_finals_reset(tri_ctl *ctl);
/* Whether trial a stands before b; both have results. */
int tri_ctl_better(const tri_ctl *ctl, int64_t a, int64_t b);
int tri_ctl_has_standing(const tri_ctl *ctl, int64_t trial);
/* The best trials that fit the pool now. */
int tri_ctl_leaders(const tri_ctl *ctl, int64_t *out, int max, int fitting);
void tri_ctl_find_best(tri_ctl *ctl);

/* ---- end.c: leave, and why --------------------------------------------- */

tri_status tri_ctl_end(tri_ctl *ctl, int status, int resumable,
                       const char *why);
/* The study is done. */
tri_status tri_ctl_end_done(tri_ctl *ctl);
/* Nothing finished that counts. */
tri_status tri_ctl_end_empty(tri_ctl *ctl);
/* All failed alike. */
tri_status tri_ctl_end_hopeless(tri_ctl *ctl);

/* ---- open.c ------------------------------------------------------------ */

tri_status tri_ctl_make_scheduler(const tri_study *study, tri_sched **out);
tri_status tri_ctl_feed_open(tri_ctl *ctl, const tri_ev_open *ev);
tri_status tri_ctl_feed_edited(tri_ctl *ctl, const tri_ev_edited *ev);

/* ---- class.c: results of other machines -------------------------------- */

/* The opening is of class `name`; "" or NULL: of any. */
tri_status tri_ctl_open_class(tri_ctl *ctl, const char *name);
/* Results of another class than the opening's count no longer, unless the
 * study is done: then it is for an edit to begin again. */
tri_status tri_ctl_settle_class(tri_ctl *ctl);

#endif

/*
 * The run loop of a group's rank.
 */
#include "mpi_workers/run.h"

#include "mpi_workers/p2p.h"
#include "mpi_workers/pause.h"
#include "mpi_workers/run_internal.h"
#include "mpi_workers/wait.h"
#include "mpi_workers/watchdog.h"
#include "trireme/log.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How long the leader waits for the verdict at a rung's end. */
#define VERDICT_S 1.0
/* Beyond any pause that a leader in order makes between two words. */
#define PATIENCE_S 60.0
/* Beyond the grace, to a member that was told to leave; rank 0 waits five. */
#define ANSWER_S 2.0
/* A wait's own end, beyond what rank 0 lets a step take: it is the last of
 * those who give up. */
#define BEYOND_S 10.0

tri_reason tri_run_reason(tri_status st)
{
    switch (st) {
    case TRI_EOOM:
        return TRI_REASON_OOM;
    case TRI_ENAN:
        return TRI_REASON_NAN;
    case TRI_EDIVERGED:
        return TRI_REASON_DIVERGED;
    case TRI_EINFEASIBLE:
    case TRI_EDATA:
    case TRI_EINVAL:
    case TRI_ETYPE:
    case TRI_ERANGE:
    case TRI_EUNBUILT:
        return TRI_REASON_INFEASIBLE;
    case TRI_ENOMEM:
        return TRI_REASON_OOM_HOST;
    case TRI_ETIMEOUT:
        return TRI_REASON_HUNG;
    case TRI_EPEER:
    case TRI_ECOMM:
        return TRI_REASON_RENDEZVOUS;
    default:
        return TRI_REASON_BAD_EXIT;
    }
}

/* ---- the leader and rank 0 --------------------------------------------- */

/* Look for a verdict on this run; what is for later is put aside. */
static void poll_control(tri_run *r)
{
    tri_message m;

    tri_worker_tend(r->w);
    while (tri_worker_receive(r->w, &m)) {
        const tri_command *c = &m.u.command;
        const tri_cmd_verdict *v = &c->u.verdict;

        if (r->leads && c->kind == TRI_CMD_VERDICT && v->run == r->number &&
            v->attempt == r->attempt) {
            r->verdict = *v;
            r->has_verdict = 1;
        } else {
            r->superseded = r->superseded || c->kind == TRI_CMD_ASSIGN;
            tri_channel_keep(r->w->channel);
        }
    }
}

static int is_called_off(const tri_run *r)
{
    return r->w->leaving || r->parting || r->superseded ||
           (r->has_verdict && r->verdict.verdict != TRI_VERDICT_CONTINUE);
}

/* While this rank waits for another member: whether to wait no longer. */
static int attend(void *ctx)
{
    tri_run *r = ctx;
    double now = tri_now();

    poll_control(r);
    if (r->w->dying) {
        return 1;
    }
    if (!is_called_off(r)) {
        return 0;
    }
    if (r->called_off_s <= 0) {
        r->called_off_s = now;
    }
    return now - r->called_off_s > r->w->study->timeouts.grace_s + ANSWER_S;
}

/* Leader: whether a goal that is counted is reached.  A rate needs steps after
 * the warm-up of this process, whatever was done before. */
static int is_counted_out(const tri_run *r)
{
    return tri_goal_reached(&r->goal, r->measure) &&
           (r->w->study->objective.learned ||
            tri_measure_steps(r->measure) > 0);
}

/* Whether the leader has measured enough, or long enough. */
static int is_far_enough(tri_run *r)
{
    const tri_study *study = r->w->study;

    if (is_counted_out(r)) {
        return 1;
    }
    return r->a->until_precision && !study->objective.learned &&
           r->ops != &tri_trial_synthetic &&
           tri_measure_is_precise(r->measure, study->objective.metric,
                                  study->measure.precision,
                                  study->measure.min_steps);
}

static int leaders_word(tri_run *r)
{
    if (r->w->leaving) {
        return TRI_WORD_DRAIN;
    }
    if (r->has_verdict && r->verdict.verdict != TRI_VERDICT_CONTINUE) {
        return r->verdict.drain ? TRI_WORD_DRAIN : TRI_WORD_STOP;
    }
    r->done = r->done || is_far_enough(r);
    return r->done ? TRI_WORD_DONE : TRI_WORD_ON;
}

/* ---- stepping ---------------------------------------------------------- */

static void note_step(tri_run *r, const tri_step *s)
{
    r->bytes = s->bytes > r->bytes ? s->bytes : r->bytes;
    r->rss = s->rss_bytes > r->rss ? s->rss_bytes : r->rss;
    r->ended = s->ended;
    snprintf(r->remark, sizeof r->remark, "%s", s->remark ? s->remark : "");
    if (!s->completed) {
        if (r->leads && !isnan(s->own)) {
            tri_measure_note_own(r->measure, s->own);
        }
        return;
    }
    if (r->leads) {
        tri_run_observe(r, s);
    }
    r->slowest_s = s->step_s > r->slowest_s ? s->step_s : r->slowest_s;
    r->last = *s;
    r->last.remark = NULL; /* not kept */
}

/* By when rank 0 has found that the run makes no progress, and its leader has
 * had the time to say so. */
static double judged_by(const tri_run *r)
{
    return tri_trial_patience(r->w->study, r->slowest_s);
}

/* How long a call into the trial may take at level heartbeat: by then rank 0
 * has struck this rank for certain.  At level resume a rank that ends takes
 * the job along, so it may stay. */
static double longest_call(const tri_run *r)
{
    return r->w->outlives ? judged_by(r) + tri_worker_lease_s : INFINITY;
}

/* The engine's ranks wait for each other inside a step: longer than rank 0
 * lets them, and less than the watchdog. */
static void limit_waits(const tri_run *r)
{
    if (r->ops == &tri_trial_engine) {
        tri_wait_limit(judged_by(r) + BEYOND_S);
    }
}

static tri_status step_once(tri_run *r, tri_step *s)
{
    double before = tri_watchdog_begin(longest_call(r));
    tri_status st;

    limit_waits(r);
    st = r->ops->step(r->trial, r->leads ? leaders_word(r) : 0, s);
    tri_watchdog_end(before);
    return st;
}

static int at_goal(const tri_run *r)
{
    return r->goal.step >= 0 && r->last.step >= r->goal.step;
}

/* Step until the goal, the trial's own end or a word; *word: the leader's. */
static tri_status step_on(tri_run *r, int *word)
{
    tri_step s;

    *word = TRI_WORD_ON;
    while (!at_goal(r) && !r->ended && *word == TRI_WORD_ON) {
        poll_control(r);
        if (r->w->dying) {
            return TRI_OK;
        }
        TRI_TRY(step_once(r, &s));
        note_step(r, &s);
        *word = s.word;
    }
    return TRI_OK;
}

/* ---- between runs ------------------------------------------------------ */

/* What the leader tells its members where stepping ended. */
typedef struct decision {
    int32_t goes_on;
    int32_t save; /* now; where it goes on, what the next run is to save */
    int64_t next_run, resource;
    int32_t next_rung, drain;
} decision;

/* The leader waits for rank 0's verdict, within bounds. */
static void await_verdict(tri_run *r)
{
    double end = tri_now() + VERDICT_S;
    tri_pause pause = {0};

    while (!r->has_verdict && !r->w->leaving && !r->w->dying) {
        poll_control(r);
        if (!r->has_verdict && tri_now() > end) {
            return;
        }
        if (!r->has_verdict) {
            tri_bell_pause(r->w->world.bell, &pause);
        }
    }
}

/* From here on the run is another one. */
static void renumber(tri_run *r, const decision *d)
{
    r->number = d->next_run;
    r->rung = d->next_rung;
    r->attempt = 0;
    r->resource = d->resource;
}

static decision decide(tri_run *r)
{
    const tri_cmd_verdict *v = &r->verdict;
    decision d = {0};

    if (!r->has_verdict) { /* late: free the ranks by ourselves */
        d.save = r->saves == TRI_SAVE_RELEASE && !r->w->leaving;
        d.drain = r->w->leaving;
        r->parting = 1;
        return d;
    }
    d.goes_on = v->verdict == TRI_VERDICT_CONTINUE;
    d.save = v->save || (v->drain && r->saves);
    d.drain = v->drain;
    d.next_run = v->next_run;
    d.next_rung = v->next_rung;
    d.resource = v->resource;
    r->has_verdict = 0;
    r->parting = !d.goes_on;
    if (d.goes_on) { /* a verdict on the next run may come at once */
        renumber(r, &d);
    }
    return d;
}

static tri_status share_decision(tri_run *r, decision *d)
{
    int n;

    if (!r->leads) {
        return tri_p2p_receive(r->comm, 0, TRI_TAG_WORD, d, (int)sizeof *d,
                               PATIENCE_S);
    }
    MPI_Comm_size(r->comm, &n);
    for (int i = 1; i < n; i++) {
        TRI_TRY(tri_p2p_send(r->comm, i, TRI_TAG_WORD, d, (int)sizeof *d,
                             PATIENCE_S));
    }
    return TRI_OK;
}

/* Start the trial again, by what it is to do now. */
static tri_status start_again(tri_run *r, const decision *d)
{
    tri_trial_setup setup;

    tri_run_prepare(r, d->save, &setup);
    r->last.step = setup.first_step;
    if (r->leads) {
        tri_measure_reset(r->measure, setup.first_step);
    }
    return r->ops->restart(r->trial, &setup);
}

static tri_status go_on(tri_run *r, const decision *d)
{
    if (r->ops->restart) {
        TRI_TRY(tri_run_pass_on(r, r->w->study->objective.learned));
    }
    renumber(r, d);
    r->done = r->ended = 0;
    r->checkpoint[0] = 0;
    tri_run_restart_reports(r);
    TRI_TRY(tri_goal_set(r->w->study, &r->a->layout, r->resource, &r->goal));
    if (r->ops->restart) {
        tri_run_check_rest(r);
        return start_again(r, d);
    }
    tri_run_prepare(r, d->save, NULL);
    if (!r->ops->save || /* it starts afresh */
        (r->ops == &tri_trial_engine && !r->w->study->objective.learned)) {
        r->last.step = 0;
        if (r->leads) {
            tri_measure_reset(r->measure, 0);
        }
    }
    if (r->ops->retarget) {
        r->ops->retarget(r->trial, r->number, r->resource, r->goal.step);
    }
    return TRI_OK;
}

/* ---- a run ------------------------------------------------------------- */

/* Open the trial from where it comes from. */
static tri_status open_from(tri_run *r)
{
    tri_trial_setup setup;
    double before;
    tri_status st;

    tri_run_prepare(r, r->a->save, &setup);
    if (r->leads) {
        tri_measure_reset(r->measure, setup.first_step);
    }
    r->last.step = setup.first_step;
    before = tri_watchdog_begin(longest_call(r));
    limit_waits(r);
    st = r->ops->open(&setup, &r->trial);
    tri_watchdog_end(before);
    return st;
}

static tri_status open_trial(tri_run *r)
{
    const tri_assignment *a = r->a;
    tri_status st;

    TRI_TRY(tri_goal_set(r->w->study, &a->layout, a->resource, &r->goal));
    tri_run_come_from(r, a->checkpoint, a->checkpoint_step);
    TRI_TRY(tri_run_check_from(r));
    tri_run_check_rest(r);
    if (r->leads) {
        TRI_TRY(tri_measure_create(r->goal.warmup, &r->measure));
    }
    st = open_from(r);
    if (tri_run_leave_from(r, st)) {
        st = open_from(r);
    }
    return st;
}

/* Leader: tell the result and await the verdict, or tell that there is none;
 * returns whether there is. */
static int tell_result(tri_run *r)
{
    char why[200];

    if (tri_run_is_measured(r)) {
        tri_run_tell(r, TRI_EV_FINISHED, TRI_REASON_NONE, "");
        await_verdict(r);
        return 1;
    }
    snprintf(why, sizeof why,
             "%.60s was not measured: after the warm-up (%d lines with a step, "
             "1 where the trial ends early) none had what it needs",
             r->w->study->objective.name, r->goal.warmup);
    r->parting = 1;
    tri_run_tell(r, TRI_EV_FAILED, TRI_REASON_BAD_EXIT, why);
    return 0;
}

static int is_broken_off(int word)
{
    return word == TRI_WORD_DRAIN || word == TRI_WORD_STOP;
}

/* Leader: whether a run that was broken off has done all that it was to do. */
static int is_complete(tri_run *r)
{
    return (at_goal(r) || is_counted_out(r)) && tri_run_is_measured(r);
}

/* The trial was drained, and did more before it had saved itself: as far as the
 * run's goal that is measured, too. */
static tri_status take_rest(tri_run *r)
{
    tri_step s = {0};

    while (!at_goal(r) && !s.ended) {
        TRI_TRY(r->ops->rest(r->trial, &s));
        if (!r->leads || !is_counted_out(r)) {
            note_step(r, &s);
        }
    }
    return TRI_OK;
}

/* Save, where that was decided, and tell rank 0 how the run is left. */
static tri_status part(tri_run *r, const decision *d, int word, int told)
{
    tri_status st = TRI_OK;
    tri_event_kind how = d->drain ? TRI_EV_INTERRUPTED : TRI_EV_PAUSED;

    if (d->save) {
        TRI_TRY(tri_run_save(r, is_broken_off(word)));
    }
    if (d->save && is_broken_off(word) && r->ops->rest) {
        st = take_rest(r);
    }
    if (st != TRI_OK) { /* nothing goes on from what it saved */
        r->checkpoint[0] = 0;
        r->is_told = 0;
        return st;
    }
    tri_run_weigh(r);
    if (!r->leads || r->w->dying || told) {
        return TRI_OK;
    }
    if (is_broken_off(word) && is_complete(r)) {
        tri_run_flush(r);
        tri_run_tell(r, TRI_EV_FINISHED, TRI_REASON_NONE, "");
        return TRI_OK;
    }
    tri_run_tell(r, how, d->drain ? TRI_REASON_DRAINED : TRI_REASON_NONE,
                 r->remark);
    return TRI_OK;
}

/* Run, and go on in place as long as rank 0 says so. */
static tri_status run_through(tri_run *r)
{
    decision d;
    int word;
    int told = 0; /* that it failed */

    for (;;) {
        TRI_TRY(step_on(r, &word));
        if (r->w->dying) {
            return TRI_OK;
        }
        if (r->leads) {
            tri_run_flush(r);
            told = (word == TRI_WORD_ON || word == TRI_WORD_DONE) &&
                   !tell_result(r);
            d = told ? (decision){0} : decide(r);
        }
        TRI_TRY(share_decision(r, &d));
        if (!d.goes_on) {
            break;
        }
        TRI_TRY(go_on(r, &d));
    }
    return part(r, &d, word, told);
}

/* Whether it is the group's trouble, not the trial's, although it is not known
 * whose: rank 0 has heard who is silent. */
static int is_of_group(const tri_run *r, tri_status st)
{
    return r->ops == &tri_trial_engine &&
           (st == TRI_ETIMEOUT || st == TRI_EPEER);
}

static void tell_failure(tri_run *r, tri_status st)
{
    tri_reason reason = TRI_REASON_NONE;
    char sentence[TRI_ERROR_BYTES];

    snprintf(sentence, sizeof sentence, "%s", tri_error_last()->sentence);
    r->lost_rank =
            st == TRI_ETIMEOUT || st == TRI_EPEER ? tri_wait_silent() : -1;
    if (r->lost_rank >= 0 || is_of_group(r, st)) {
        tri_run_flush(r);
        tri_run_tell(r, TRI_EV_LOST, TRI_REASON_RANK_LOST, sentence);
        return;
    }
    if (r->trial && r->ops->reason) {
        reason = r->ops->reason(r->trial);
    }
    if (reason == TRI_REASON_NONE) {
        reason = tri_run_reason(st);
    }
    tri_run_flush(r);
    /* by whom is not known: a loss, which raises the trial's suspicion */
    tri_run_tell(r, reason == TRI_REASON_KILLED ? TRI_EV_LOST : TRI_EV_FAILED,
                 reason, sentence);
}

/* A member whose leader is gone says so in its place, and one that has seen
 * the process of another end says it too: who is first is heard. */
static void tell_silence(tri_run *r, tri_status st)
{
    char sentence[TRI_ERROR_BYTES];

    r->lost_rank = tri_wait_silent();
    if (r->lost_rank < 0 || r->lost_rank == r->w->world.rank ||
        !(st == TRI_EPEER ||
          (st == TRI_ETIMEOUT && r->lost_rank == r->a->ranks[0]))) {
        return;
    }
    snprintf(sentence, sizeof sentence, "%s", tri_error_last()->sentence);
    tri_run_tell(r, TRI_EV_LOST, TRI_REASON_RANK_LOST, sentence);
}

/* Forming's key: no other forming has it. */
static uint64_t key_of(const tri_assignment *a)
{
    return (uint64_t)a->run * 16 + (uint64_t)(a->attempt & 15);
}

/* Freeing communicators is collective by MPI's word; a broken group's is left
 * as it is. */
static void close_trial(tri_run *r, int broken)
{
    double before = tri_watchdog_begin(longest_call(r));

    r->ops->close(r->trial);
    if (r->comm != MPI_COMM_NULL) {
        tri_groups_leave(r->w->groups, r->comm, broken);
    }
    tri_watchdog_end(before);
}

void tri_run_execute(tri_worker *w, const tri_assignment *a)
{
    tri_run r;
    tri_status st;

    memset(&r, 0, sizeof r);
    r.w = w;
    r.a = a;
    r.ops = tri_trial_kind(w->study->model.kind);
    r.number = a->run;
    r.attempt = a->attempt;
    r.rung = a->rung;
    r.resource = a->resource;
    r.leads = a->ranks[0] == w->world.rank;
    r.comm = MPI_COMM_NULL;
    r.lost_rank = -1;
    tri_wait_attend(attend, &r);
    st = tri_groups_enter(
            w->groups, a->ranks, a->n_ranks, key_of(a),
            w->study->timeouts.startup_s + w->study->timeouts.grace_s, &r.comm);
    if (st == TRI_OK) {
        st = open_trial(&r);
    }
    if (st == TRI_OK) {
        st = run_through(&r);
    }
    tri_worker_tend(w); /* a signal, or no lease, may be what is behind it */
    if (st != TRI_OK && !w->dying) {
        (r.leads ? tell_failure : tell_silence)(&r, st);
    }
    if (!w->dying) {
        close_trial(&r, tri_status_scope(st) >= TRI_SCOPE_GROUP);
        tri_run_drop_unsaved(&r);
    }
    tri_wait_attend(NULL, NULL);
    tri_measure_destroy(r.measure);
}

/*
 * Who starts next, and where it fits.  What was lost goes before what
 * the scheduler gives out.  A job that does not fit becomes the head: at most
 * one, its slot spent.  While it waits, only jobs start that fit now and are
 * predicted to end before the head's earliest start (EASY backfill; Lifka,
 * 1995); without predictions, none once the head has waited twice the median
 * run.
 */
#include "src/ctl/state.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define LOOK_AHEAD 64 /* waiting jobs that are looked at in one decision */

static const char *config_text(tri_ctl *ctl, const tri_config *config)
{
    const tri_space *space = ctl->study->space;
    char none[1];
    size_t n = tri_space_print(space, config, none, sizeof none);
    char *text = tri_keep_bytes(&ctl->scratch, n + 1);

    if (text) {
        tri_space_print(space, config, text, n + 1);
    }
    return text;
}

/* The checkpoint that a run goes on from: a promoted run of a throughput
 * starts afresh and pays its rung in full. */
static const char *checkpoint_for(const tri_ctl *ctl, const tri_trial_row *t,
                                  int rung)
{
    return ctl->phase == TRI_PHASE_SEARCH && (ctl->study->objective.learned ||
                                              t->checkpoint_rung == rung)
                   ? t->checkpoint
                   : "";
}

static tri_status assign(tri_ctl *ctl, int64_t run)
{
    const tri_run_view *v = &ctl->runs[run].v;
    const tri_trial_row *t = &ctl->trials[v->trial];
    const char *text = ctl->no_texts ? "" : config_text(ctl, t->config);
    tri_command c = {
            .kind = TRI_CMD_ASSIGN,
            .u.assign = {.run = run,
                         .trial = v->trial,
                         .rung = v->rung,
                         .bracket = v->bracket,
                         .attempt = v->attempt,
                         .phase = v->phase,
                         .epoch = v->epoch,
                         .ranks = v->ranks,
                         .n_ranks = v->n_ranks,
                         .resource = v->resource,
                         .config = text,
                         .config_hash = t->hash,
                         .checkpoint = checkpoint_for(ctl, t, v->rung),
                         .checkpoint_step = t->checkpoint_step,
                         .save = (uint8_t)tri_ctl_saves(ctl, v->rung),
                         .until_precision = !ctl->study->objective.learned}};

    if (!text) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a configuration's text");
    }
    if (!*c.u.assign.checkpoint) {
        c.u.assign.checkpoint_step = 0;
    }
    return tri_ctl_emit(ctl, &c);
}

tri_status tri_ctl_start(tri_ctl *ctl, int64_t trial, tri_phase phase, int rung,
                         int64_t resource, int64_t *run)
{
    int n = ctl->trials[trial].ranks;
    int32_t *ranks = tri_keep_bytes(&ctl->keep, (size_t)n * sizeof *ranks);
    tri_live *live;

    if (!ranks) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a run");
    }
    TRI_TRY(tri_ctl_take_for(ctl, trial, phase, n, ranks));
    TRI_TRY(tri_ctl_add_run(ctl, trial, rung, resource, ranks, n, run));
    live = tri_ctl_live(ctl, *run, ctl->runs[*run].v.attempt);
    live->first_s = ctl->now;
    live->length = phase == TRI_PHASE_SEARCH ? tri_ctl_length(ctl, trial, rung)
                                             : (double)resource;
    tri_ctl_set_limit(ctl, live, tri_ctl_forming_limit(ctl));
    if (phase == TRI_PHASE_SEARCH) {
        ctl->search_runs += !ctl->trials[trial].is_extra;
        ctl->trials[trial].is_extra = 0;
        TRI_TRY(tri_ctl_set_place(ctl, trial, TRI_PLACE_FLYING));
    }
    TRI_TRY(tri_ctl_touch_trial(ctl, trial));
    return assign(ctl, *run);
}

/* ---- the head and what may pass it --------------------------------------- */

typedef struct ending {
    double s;
    int ranks;
} ending;

static int by_time(const void *a, const void *b)
{
    const ending *x = a, *y = b;

    return (x->s > y->s) - (x->s < y->s);
}

static ending predicted_ending(const tri_ctl *ctl, const tri_live *live)
{
    const tri_run_view *v = &ctl->runs[live->run].v;
    double s = v->start_s +
               tri_ctl_predict(ctl, v->trial, live->length, live->in_place);

    if (v->state == TRI_RUN_LEAVING || s < ctl->now) {
        s = ctl->now;
    }
    return (ending){s, v->n_ranks};
}

/* The head's earliest start; NaN where it is not known.  `ends` is a run in
 * flight that could be over now, or NULL. */
static tri_status shadow(tri_ctl *ctl, const tri_live *ends, double *out)
{
    size_t n = (size_t)ctl->n_flying;
    ending *list = tri_keep_bytes(&ctl->scratch, (n + 1) * sizeof *list);
    int need = ctl->trials[ctl->head].ranks;
    int have = tri_ctl_room(ctl, need);

    if (!list) {
        return TRI_FAIL(TRI_ENOMEM, "no memory to look ahead");
    }
    *out = NAN;
    for (size_t i = 0; i < n; i++) {
        const tri_live *live = &ctl->lives[ctl->flying[i]];

        list[i] = predicted_ending(ctl, live);
        if (live == ends) {
            list[i].s = ctl->now;
        }
        if (isnan(list[i].s)) {
            return TRI_OK;
        }
    }
    qsort(list, n, sizeof *list, by_time);
    for (size_t i = 0; i < n && have < need; i++) {
        have += list[i].ranks;
        *out = list[i].s;
    }
    return TRI_OK;
}

static int may_pass(const tri_ctl *ctl, double s, double head_start)
{
    double median = tri_running_median_value(&ctl->run_s);

    if (isnan(s) || isnan(head_start)) {
        return isnan(median) || ctl->now - ctl->head_since <= 2 * median;
    }
    return ctl->now + s <= head_start;
}

/* ---- jobs ---------------------------------------------------------------- */

/* How long the job that `trial` waits with is predicted to run. */
static double waiting_s(const tri_ctl *ctl, int64_t trial)
{
    return tri_ctl_predict(
            ctl, trial, tri_ctl_length(ctl, trial, ctl->trials[trial].rung), 0);
}

/* The scheduler's next job; [out] *ranks and *s that it needs. */
static tri_status next_job(tri_ctl *ctl, tri_job *job, int *ranks, double *s)
{
    tri_sched_peek(ctl->sched, tri_ctl_may_create(ctl), job);
    *ranks = 0;
    if (job->kind == TRI_JOB_NEW) {
        int ready;

        TRI_TRY(tri_ctl_candidate(ctl, &ready));
        if (ctl->thoughts.waits) {
            job->kind = TRI_JOB_NONE;
        } else if (!ready) { /* without, sha may go on with what it has */
            tri_sched_peek(ctl->sched, 0, job);
        }
        *ranks = ctl->candidate.ranks;
        *s = tri_ctl_predict(ctl, -1, (double)job->resource, 0);
    }
    if (job->kind == TRI_JOB_PROMOTE) {
        *ranks = ctl->trials[job->trial].ranks;
        *s = tri_ctl_predict(ctl, job->trial,
                             tri_ctl_length(ctl, job->trial, job->rung), 0);
    }
    return TRI_OK;
}

static tri_status take(tri_ctl *ctl, const tri_job *job, int64_t *trial)
{
    tri_trial_row *t;

    if (job->kind == TRI_JOB_NEW) {
        *trial = ctl->n_trials;
        return tri_ctl_add_trial(ctl, job);
    }
    TRI_TRY(tri_sched_take(ctl->sched, job, job->trial));
    t = &ctl->trials[job->trial];
    t->rung = (int16_t)job->rung;
    t->attempt = t->attempts = t->cuts = 0;
    *trial = job->trial;
    return tri_ctl_set_place(ctl, job->trial, TRI_PLACE_WAITING);
}

static tri_status start_waiting(tri_ctl *ctl, int64_t trial)
{
    int rung = ctl->trials[trial].rung;
    int64_t run;

    return tri_ctl_start(ctl, trial, TRI_PHASE_SEARCH, rung,
                         tri_sched_resource(ctl->sched, rung), &run);
}

static int fits(const tri_ctl *ctl, int ranks)
{
    return ranks <= tri_ctl_room(ctl, ranks);
}

static int trial_fits(tri_ctl *ctl, int64_t trial)
{
    const tri_trial_row *t = &ctl->trials[trial];

    return t->suspect < 0 ? fits(ctl, t->ranks)
                          : tri_ctl_fits_elsewhere(ctl, t->suspect, t->ranks);
}

/* Trials that the end of the job has cut off as often as they have attempts may
 * be what ends it.  They run one at a time, and then only the one that ran is
 * blamed: those that were beside it by chance come to their results. */
static int is_doubted(const tri_ctl *ctl, int64_t trial)
{
    return ctl->trials[trial].cuts >= ctl->study->failures.max_attempts;
}

static int a_doubted_runs(const tri_ctl *ctl)
{
    for (int i = 0; i < ctl->n_flying; i++) {
        const tri_live *live = &ctl->lives[ctl->flying[i]];

        if (is_doubted(ctl, ctl->runs[live->run].v.trial)) {
            return 1;
        }
    }
    return 0;
}

static int may_run_beside(const tri_ctl *ctl, int64_t trial)
{
    int comes_next = ctl->head >= 0 && is_doubted(ctl, ctl->head);

    return !is_doubted(ctl, trial) || !(comes_next || a_doubted_runs(ctl));
}

static void unqueue(tri_ctl *ctl, size_t at)
{
    int64_t *list = ctl->queue.list;

    for (; at > ctl->queue_at; at--) {
        list[at] = list[at - 1];
    }
    ctl->queue_at++;
}

/* Whether the run that earned this promotion still writes its checkpoint:
 * then the job waits for it, out of the queue, until that run has ended. */
static int hold(tri_ctl *ctl, int64_t trial)
{
    tri_trial_row *t = &ctl->trials[trial];

    t->held = t->last_run >= 0 && ctl->runs[t->last_run].live >= 0;
    return t->held;
}

static tri_status start_or_wait(tri_ctl *ctl, int64_t trial)
{
    if (hold(ctl, trial)) {
        return TRI_OK;
    }
    if (trial_fits(ctl, trial)) {
        return start_waiting(ctl, trial);
    }
    assert(ctl->head < 0);
    ctl->head = trial;
    ctl->head_since = ctl->now;
    return TRI_OK;
}

/* The first waiting job that there is time for. */
static tri_status start_queued(tri_ctl *ctl, int *went)
{
    for (size_t i = ctl->queue_at;
         i < ctl->queue.n && i < ctl->queue_at + LOOK_AHEAD; i++) {
        int64_t trial = ctl->queue.list[i];

        if (tri_ctl_time_allows(ctl, waiting_s(ctl, trial)) &&
            may_run_beside(ctl, trial)) {
            unqueue(ctl, i);
            *went = 1;
            return start_or_wait(ctl, trial);
        }
    }
    return TRI_OK;
}

/* With no head: the next job starts or becomes the head. */
static tri_status start_next(tri_ctl *ctl, int *went)
{
    tri_job job;
    int ranks;
    double s = NAN;
    int64_t trial;

    TRI_TRY(start_queued(ctl, went));
    if (*went) {
        return TRI_OK;
    }
    TRI_TRY(next_job(ctl, &job, &ranks, &s));
    if (job.kind == TRI_JOB_NONE) {
        return TRI_OK;
    }
    if (!tri_ctl_time_allows(ctl, s)) {
        *went = job.kind == TRI_JOB_PROMOTE;
        if (*went) { /* something shorter may fit */
            tri_ctl_shelve(ctl, job.trial);
        }
        return TRI_OK;
    }
    *went = 1;
    TRI_TRY(take(ctl, &job, &trial));
    if (ranks > ctl->n_up) { /* a baseline larger than the pool */
        return tri_ctl_set_parked(ctl, trial, 1);
    }
    return start_or_wait(ctl, trial);
}

static tri_status start_head(tri_ctl *ctl, int *went)
{
    int64_t trial = ctl->head;

    if (!tri_ctl_time_allows(ctl, waiting_s(ctl, trial))) {
        ctl->head = -1;
        *went = 1;
        return tri_ctl_enqueue(ctl, trial);
    }
    if (trial_fits(ctl, trial)) {
        ctl->head = -1;
        *went = 1;
        return start_waiting(ctl, trial);
    }
    return TRI_OK;
}

static int may_slip_in(tri_ctl *ctl, int ranks, double s, double head_start)
{
    return fits(ctl, ranks) && tri_ctl_time_allows(ctl, s) &&
           may_pass(ctl, s, head_start);
}

/* Start one job that does not delay the head. */
static tri_status backfill(tri_ctl *ctl, double head_start, int *went)
{
    tri_job job;
    int ranks;
    double s = NAN;
    int64_t trial;

    for (size_t i = ctl->queue_at;
         i < ctl->queue.n && i < ctl->queue_at + LOOK_AHEAD; i++) {
        trial = ctl->queue.list[i];
        if (may_slip_in(ctl, ctl->trials[trial].ranks, waiting_s(ctl, trial),
                        head_start) &&
            trial_fits(ctl, trial) && may_run_beside(ctl, trial)) {
            unqueue(ctl, i);
            *went = 1;
            return start_waiting(ctl, trial);
        }
    }
    TRI_TRY(next_job(ctl, &job, &ranks, &s));
    if (job.kind == TRI_JOB_NONE || !may_slip_in(ctl, ranks, s, head_start)) {
        return TRI_OK;
    }
    *went = 1;
    TRI_TRY(take(ctl, &job, &trial));
    return hold(ctl, trial) ? TRI_OK : start_waiting(ctl, trial);
}

static tri_status give_out(tri_ctl *ctl)
{
    double head_start;
    int went = 1;

    ctl->deadline_blocks = ctl->deadline_shelves;
    while (went && tri_ctl_has_room(ctl) && tri_ctl_may_search(ctl)) {
        went = 0;
        TRI_TRY(ctl->head >= 0 ? start_head(ctl, &went)
                               : start_next(ctl, &went));
    }
    if (ctl->head < 0 || !tri_ctl_has_room(ctl)) {
        return TRI_OK;
    }
    TRI_TRY(shadow(ctl, NULL, &head_start));
    for (went = 1; went && tri_ctl_has_room(ctl) && tri_ctl_may_search(ctl);) {
        went = 0;
        TRI_TRY(backfill(ctl, head_start, &went));
    }
    return TRI_OK;
}

static tri_status fill(tri_ctl *ctl)
{
    tri_ctl_think_begin(ctl);
    TRI_TRY(give_out(ctl));
    return tri_ctl_think_end(ctl);
}

/* ---- going on in place --------------------------------------------------- */

static int all_up(const tri_ctl *ctl, const tri_run_view *v)
{
    for (int i = 0; i < v->n_ranks; i++) {
        const tri_rank_row *r = tri_ctl_rank_row(ctl, v->ranks[i]);

        if (!r || r->state != TRI_RANK_UP) {
            return 0;
        }
    }
    return 1;
}

static tri_status may_go_on(tri_ctl *ctl, const tri_live *live, tri_job *job,
                            int *may)
{
    const tri_run_view *v = &ctl->runs[live->run].v;
    tri_going going = tri_sched_goes_on(ctl->sched, v->trial,
                                        tri_ctl_may_create(ctl), job);
    double s = tri_ctl_predict(ctl, v->trial,
                               (double)(job->resource - v->resource), 1);
    double head_start;

    *may = going != TRI_GOES_NOT && !live->stopped && tri_ctl_may_search(ctl) &&
           (going == TRI_GOES_ON || ctl->queue.n == ctl->queue_at) &&
           all_up(ctl, v) && tri_ctl_time_allows(ctl, s);
    if (*may && going == TRI_GOES_NEXT && ctl->head >= 0) {
        TRI_TRY(shadow(ctl, live, &head_start));
        *may = may_pass(ctl, s, head_start);
    }
    return TRI_OK;
}

/* A process cannot go on in place: it ends, saves itself where it can, and
 * another one starts. */
static double first_limit(const tri_ctl *ctl, const tri_live *live)
{
    return ctl->study->model.kind == TRI_MODEL_PROCESS
                   ? ctl->study->timeouts.startup_s + tri_ctl_answer_s(ctl)
                   : tri_ctl_progress_limit(ctl, live);
}

tri_status tri_ctl_go_on(tri_ctl *ctl, tri_live *live, int *went)
{
    int64_t old = live->run, run, trial;
    tri_run_view v = ctl->runs[old].v;
    double slowest = live->slowest_s;
    tri_command c = {.kind = TRI_CMD_VERDICT};
    tri_job job;

    TRI_TRY(may_go_on(ctl, live, &job, went));
    if (!*went) {
        return TRI_OK;
    }
    TRI_TRY(take(ctl, &job, &trial));
    TRI_TRY(tri_ctl_add_run(ctl, trial, job.rung, job.resource, v.ranks,
                            v.n_ranks, &run));
    TRI_TRY(tri_ctl_end_run(ctl, tri_ctl_live(ctl, old, v.attempt),
                            TRI_RUN_FINISHED, TRI_REASON_NONE, 0));
    ctl->search_runs++;
    ctl->runs[run].v.state = TRI_RUN_RUNNING;
    live = tri_ctl_live(ctl, run, 0);
    live->in_place = 1;
    live->first_s = ctl->now;
    live->slowest_s = slowest;
    live->length = (double)(job.resource - v.resource);
    tri_ctl_set_limit(ctl, live, first_limit(ctl, live));
    TRI_TRY(tri_ctl_set_place(ctl, trial, TRI_PLACE_FLYING));
    c.u.verdict =
            (tri_cmd_verdict){.run = old,
                              .attempt = v.attempt,
                              .verdict = TRI_VERDICT_CONTINUE,
                              .save = (uint8_t)tri_ctl_saves(ctl, job.rung),
                              .next_run = run,
                              .next_rung = job.rung,
                              .resource = job.resource,
                              .rank = v.ranks[0]};
    return tri_ctl_emit(ctl, &c);
}

/* ---- phases ---- */

/* The job ends while this runs, by nobody's wish that is known: that may be the
 * doing of what runs, such as a rank that ends itself.  A study must end, so
 * there is a limit to it, of twice as many as attempts. */
static tri_status note_cut(tri_ctl *ctl, tri_run_row *r, int *is_last)
{
    tri_trial_row *t = &ctl->trials[r->v.trial];
    char why[120];

    *is_last = ++t->cuts >= 2 * ctl->study->failures.max_attempts;
    if (!*is_last) {
        return TRI_OK;
    }
    snprintf(why, sizeof why,
             "the job ended while it ran, %d times: twice "
             "failures.max_attempts",
             t->cuts);
    return tri_ctl_say(ctl, r, why);
}

/* There is no time for an answer.  `blames`: 0 nobody, 1 what runs, 2 what runs
 * and is doubted. */
static tri_status end_now(tri_ctl *ctl, tri_live *live, int blames)
{
    tri_run_row *r = &ctl->runs[live->run];
    int is_last = 0;

    if (live->finished) {
        return tri_ctl_end_run(ctl, live, TRI_RUN_FINISHED, TRI_REASON_NONE, 1);
    }
    if (r->v.phase == TRI_PHASE_SEARCH &&
        (blames == 1 || (blames == 2 && is_doubted(ctl, r->v.trial)))) {
        TRI_TRY(note_cut(ctl, r, &is_last));
    }
    return is_last ? tri_ctl_fail_run(ctl, live, TRI_REASON_KILLED, 1)
                   : tri_ctl_interrupt_run(ctl, live, TRI_RUN_INTERRUPTED,
                                           TRI_REASON_DRAINED);
}

tri_status tri_ctl_drain(tri_ctl *ctl, int why)
{
    /* after a drain in order the end of the job is no surprise */
    int blames = ctl->draining ? 0 : 1 + a_doubted_runs(ctl);

    if (ctl->ended || (ctl->draining && why != TRI_DRAIN_NOW)) {
        return TRI_OK;
    }
    ctl->draining = 1;
    ctl->drain_why = why;
    ctl->drain_limit =
            why == TRI_DRAIN_NOW ? ctl->now : ctl->now + tri_ctl_drain_s(ctl);
    for (int i = ctl->n_flying - 1; i >= 0; i--) {
        tri_live *live = &ctl->lives[ctl->flying[i]];

        if (why == TRI_DRAIN_NOW) {
            TRI_TRY(end_now(ctl, live, blames));
        } else if (ctl->runs[live->run].v.state != TRI_RUN_LEAVING) {
            TRI_TRY(tri_ctl_stop_run(ctl, live, TRI_REASON_DRAINED));
        }
    }
    return TRI_OK;
}

/* No rank is left: what ran is lost, without blame. */
static tri_status lose_all(tri_ctl *ctl)
{
    while (ctl->n_flying) {
        tri_live *live = &ctl->lives[ctl->flying[0]];

        TRI_TRY(tri_ctl_interrupt_run(ctl, live, TRI_RUN_LOST,
                                      TRI_REASON_RANK_LOST));
    }
    return tri_ctl_end(ctl, 3, 1, "no rank of the pool is left");
}

static tri_status act_finals(tri_ctl *ctl)
{
    int over;

    TRI_TRY(tri_ctl_finals_next(ctl, &over));
    return over ? tri_ctl_end_done(ctl) : TRI_OK;
}

/* Whether more time would have been used. */
static int work_is_left(const tri_ctl *ctl)
{
    int64_t runs = ctl->study->budget.runs;
    tri_job job;

    if (runs != TRI_UNLIMITED && ctl->search_runs >= runs) {
        return 0;
    }
    tri_sched_peek(ctl->sched, tri_ctl_may_create(ctl), &job);
    return ctl->n_shelved || ctl->head >= 0 || ctl->queue_at < ctl->queue.n ||
           job.kind != TRI_JOB_NONE;
}

static tri_status end_search(tri_ctl *ctl)
{
    ctl->cut = ctl->opening_blocks && work_is_left(ctl);
    if (tri_ctl_is_hopeless(ctl)) {
        return tri_ctl_end_hopeless(ctl);
    }
    if (ctl->deadline_blocks) {
        return tri_ctl_end(ctl, 3, 1,
                           "what is left would not end before the deadline");
    }
    if (!ctl->n_results && ctl->cut) {
        return tri_ctl_end(ctl, 0, 1,
                           "stopped for --max-time before any run finished");
    }
    if (!ctl->n_results) {
        return tri_ctl_end_empty(ctl);
    }
    TRI_TRY(tri_ctl_finals_begin(ctl));
    return act_finals(ctl);
}

/* Where nothing can start, what is suspected stands: a result for which other
 * jobs may have been waiting. */
static tri_status act_search(tri_ctl *ctl)
{
    int n = 0;

    TRI_TRY(fill(ctl));
    if (!ctl->n_flying && !ctl->thoughts.waits && !ctl->deadline_blocks) {
        TRI_TRY(tri_ctl_let_suspects_stand(ctl, &n));
    }
    if (n) {
        TRI_TRY(fill(ctl));
    }
    return ctl->n_flying || ctl->thoughts.waits ? TRI_OK : end_search(ctl);
}

static const char *drain_sentence(int why)
{
    switch (why) {
    case TRI_DRAIN_DEADLINE:
        return "drained for the deadline of the job";
    case TRI_DRAIN_USER:
        return "drained at the user's wish";
    default:
        return "drained for a signal";
    }
}

tri_status tri_ctl_act(tri_ctl *ctl)
{
    if (ctl->ended || !ctl->started) {
        return TRI_OK;
    }
    TRI_TRY(tri_ctl_settle_pool(ctl));
    if (ctl->draining) {
        return ctl->n_flying
                       ? TRI_OK
                       : tri_ctl_end(ctl, 3, 1, drain_sentence(ctl->drain_why));
    }
    if (ctl->complete) {
        return tri_ctl_end(ctl, 0, 0, "done already");
    }
    if (!ctl->n_up) {
        return lose_all(ctl);
    }
    if (ctl->phase == TRI_PHASE_SEARCH) {
        return act_search(ctl);
    }
    return ctl->n_flying ? TRI_OK : act_finals(ctl);
}

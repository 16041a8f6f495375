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

tri_status tri_ctl_head_start(tri_ctl *ctl, const tri_live *ends, double *out)
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

int tri_ctl_may_pass(const tri_ctl *ctl, double s, double head_start)
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
    return tri_ctl_foresee(
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
        *s = tri_ctl_foresee(ctl, -1, (double)job->resource, 0);
    }
    if (job->kind == TRI_JOB_PROMOTE) {
        *ranks = ctl->trials[job->trial].ranks;
        *s = tri_ctl_foresee(ctl, job->trial,
                             tri_ctl_length(ctl, job->trial, job->rung), 0);
    }
    return TRI_OK;
}

tri_status tri_ctl_take(tri_ctl *ctl, const tri_job *job, int64_t *trial)
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

int tri_ctl_is_doubted(const tri_ctl *ctl, int64_t trial)
{
    return ctl->trials[trial].cuts >= ctl->study->failures.max_attempts;
}

int tri_ctl_a_doubted_runs(const tri_ctl *ctl)
{
    for (int i = 0; i < ctl->n_flying; i++) {
        const tri_live *live = &ctl->lives[ctl->flying[i]];

        if (tri_ctl_is_doubted(ctl, ctl->runs[live->run].v.trial)) {
            return 1;
        }
    }
    return 0;
}

static int may_run_beside(const tri_ctl *ctl, int64_t trial)
{
    int comes_next = ctl->head >= 0 && tri_ctl_is_doubted(ctl, ctl->head);

    return !tri_ctl_is_doubted(ctl, trial) ||
           !(comes_next || tri_ctl_a_doubted_runs(ctl));
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
    TRI_TRY(tri_ctl_take(ctl, &job, &trial));
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
           tri_ctl_may_pass(ctl, s, head_start);
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
    TRI_TRY(tri_ctl_take(ctl, &job, &trial));
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
    TRI_TRY(tri_ctl_head_start(ctl, NULL, &head_start));
    for (went = 1; went && tri_ctl_has_room(ctl) && tri_ctl_may_search(ctl);) {
        went = 0;
        TRI_TRY(backfill(ctl, head_start, &went));
    }
    return TRI_OK;
}

tri_status tri_ctl_fill(tri_ctl *ctl)
{
    tri_ctl_think_begin(ctl);
    TRI_TRY(give_out(ctl));
    return tri_ctl_think_end(ctl);
}

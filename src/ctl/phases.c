/*
 * From the search to the finals and to the end: what is over, and what a drain
 * does with what runs.
 */
#include "src/ctl/state.h"

#include <stdio.h>
#include <string.h>

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
        (blames == 1 || (blames == 2 && tri_ctl_is_doubted(ctl, r->v.trial)))) {
        TRI_TRY(note_cut(ctl, r, &is_last));
    }
    return is_last ? tri_ctl_fail_run(ctl, live, TRI_REASON_KILLED, 1)
                   : tri_ctl_interrupt_run(ctl, live, TRI_RUN_INTERRUPTED,
                                           TRI_REASON_DRAINED);
}

tri_status tri_ctl_drain(tri_ctl *ctl, int why)
{
    /* after a drain in order the end of the job is no surprise */
    int blames = ctl->draining ? 0 : 1 + tri_ctl_a_doubted_runs(ctl);

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

int tri_ctl_may_go_on(const tri_ctl *ctl, int n_ranks,
                      const char *machine_class)
{
    int lo, hi;

    if (!ctl->complete || n_ranks <= ctl->done_ranks ||
        strcmp(machine_class, ctl->machine_class) != 0 ||
        !tri_ctl_budget_is_left(ctl)) {
        return 0;
    }
    tri_space_rank_range(ctl->study->space, &lo, &hi);
    if (ctl->done_exhausted && hi > ctl->done_ranks &&
        (ctl->study->budget.trials == TRI_UNLIMITED ||
         ctl->n_trials < ctl->study->budget.trials)) {
        return 1;
    }
    for (int64_t i = 0; i < ctl->n_trials; i++) {
        const tri_trial_row *t = &ctl->trials[i];

        if (t->ranks > ctl->done_ranks && t->ranks <= n_ranks &&
            t->place < TRI_PLACE_DONE) {
            return 1;
        }
    }
    return 0;
}

/* The pool is settled: what fits is parked no more, and may be due. */
static void go_on_if_more_fits(tri_ctl *ctl)
{
    if (ctl->rules < 4 || ctl->opening_class != ctl->machine_class) {
        return;
    }
    if (tri_ctl_may_go_on(ctl, ctl->n_up, ctl->opening_class) &&
        work_is_left(ctl)) {
        ctl->complete = 0;
        ctl->phase = TRI_PHASE_SEARCH;
        tri_ctl_finals_reset(ctl);
    } else if (ctl->n_up > ctl->done_ranks) { /* nor will it with as many */
        ctl->done_ranks = ctl->n_up;
    }
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

    TRI_TRY(tri_ctl_fill(ctl));
    if (!ctl->n_flying && !ctl->thoughts.waits && !ctl->deadline_blocks) {
        TRI_TRY(tri_ctl_let_suspects_stand(ctl, &n));
    }
    if (n) {
        TRI_TRY(tri_ctl_fill(ctl));
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
        go_on_if_more_fits(ctl);
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

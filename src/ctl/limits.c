/*
 * Limits: what has to happen by when.  A heap of the runs in flight by the
 * time at which each has been silent for too long; it is looked at in clock
 * events only, which the driver feeds when its inbox is empty.  A gap of the
 * driver's own loop shifts every limit of a run, and the study's time; neither
 * --max-time nor the deadline, which are the clock's.
 */
#include "src/ctl/state.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

#define PROGRESS_LEAST_S 30.0
#define PROGRESS_STEPS   5.0
#define GAP_S            1.0

static double key(const tri_ctl *ctl, int i)
{
    return ctl->lives[ctl->heap[i]].limit;
}

static void put(tri_ctl *ctl, int i, int live)
{
    ctl->heap[i] = live;
    ctl->lives[live].heap_at = i;
}

static void rise(tri_ctl *ctl, int i)
{
    int live = ctl->heap[i];

    while (i && ctl->lives[live].limit < key(ctl, (i - 1) / 2)) {
        put(ctl, i, ctl->heap[(i - 1) / 2]);
        i = (i - 1) / 2;
    }
    put(ctl, i, live);
}

static void sink(tri_ctl *ctl, int i)
{
    int live = ctl->heap[i];

    for (;;) {
        int child = 2 * i + 1;

        if (child >= ctl->n_heap) {
            break;
        }
        child += child + 1 < ctl->n_heap &&
                 key(ctl, child + 1) < key(ctl, child);
        if (ctl->lives[live].limit <= key(ctl, child)) {
            break;
        }
        put(ctl, i, ctl->heap[child]);
        i = child;
    }
    put(ctl, i, live);
}

void tri_ctl_clear_limit(tri_ctl *ctl, tri_live *live)
{
    int i = live->heap_at;
    int last;

    if (i < 0) {
        return;
    }
    live->heap_at = -1;
    last = ctl->heap[--ctl->n_heap];
    if (i < ctl->n_heap) {
        put(ctl, i, last);
        rise(ctl, i);
        sink(ctl, ctl->lives[last].heap_at);
    }
}

void tri_ctl_set_limit(tri_ctl *ctl, tri_live *live, double s)
{
    if (ctl->no_timeouts || !(s < INFINITY)) {
        tri_ctl_clear_limit(ctl, live);
        return;
    }
    live->limit = ctl->now + s - ctl->shift;
    if (live->heap_at < 0) {
        put(ctl, ctl->n_heap++, (int)(live - ctl->lives));
    }
    rise(ctl, live->heap_at);
    sink(ctl, live->heap_at);
}

double tri_ctl_progress_limit(const tri_ctl *ctl, const tri_live *live)
{
    double s = PROGRESS_STEPS * live->slowest_s;

    if (ctl->study->timeouts.progress_s > 0) {
        return ctl->study->timeouts.progress_s;
    }
    return s > PROGRESS_LEAST_S ? s : PROGRESS_LEAST_S;
}

/* Ranks with processes may have to see the ones before end, within the grace.
 */
double tri_ctl_forming_limit(const tri_ctl *ctl)
{
    return ctl->study->timeouts.startup_s +
           (ctl->study->model.kind == TRI_MODEL_PROCESS ? tri_ctl_answer_s(ctl)
                                                        : 0);
}

/* How long a run may take to answer a stop: it does so at its next step
 * boundary, for which it keeps what its limit leaves it. */
static double stop_limit(const tri_ctl *ctl, const tri_live *live)
{
    double left = live->limit + ctl->shift - ctl->now;

    return tri_ctl_answer_s(ctl) + (left > 0 && left < INFINITY ? left : 0);
}

/* Of --max-time: the next opening goes on from where this one was stopped. */
static uint8_t saves_itself(const tri_ctl *ctl, const tri_run_row *r,
                            tri_reason why)
{
    return why == TRI_REASON_BUDGET && tri_ctl_opening_binds(ctl) &&
           tri_ctl_saves(ctl, r->v.rung) != TRI_SAVE_NOTHING;
}

tri_status tri_ctl_stop_run(tri_ctl *ctl, tri_live *live, tri_reason why)
{
    tri_run_row *r = &ctl->runs[live->run];
    tri_command c = {.kind = TRI_CMD_VERDICT,
                     .u.verdict = {.run = r->v.run,
                                   .attempt = r->v.attempt,
                                   .verdict = TRI_VERDICT_STOP,
                                   .next_run = -1,
                                   .next_rung = -1,
                                   .rank = r->v.ranks[0],
                                   .save = saves_itself(ctl, r, why),
                                   .drain = why == TRI_REASON_DRAINED}};

    live->was_forming = r->v.state == TRI_RUN_FORMING;
    r->v.state = TRI_RUN_LEAVING;
    live->stopped = 1;
    live->why = (uint8_t)why;
    tri_ctl_set_limit(ctl, live, stop_limit(ctl, live));
    return tri_ctl_emit(ctl, &c);
}

/* The first `n` ranks of a group that does not answer are never trusted
 * again. */
static tri_status strike(tri_ctl *ctl, const tri_run_row *r, int n)
{
    for (int i = 0; i < n; i++) {
        tri_rank_row *rank = tri_ctl_rank_row(ctl, r->v.ranks[i]);
        tri_command c = {.kind = TRI_CMD_STRIKE,
                         .u.strike = {.rank = r->v.ranks[i]}};

        if (!rank || rank->struck) {
            continue;
        }
        tri_ctl_lose_rank(ctl, rank->rank, TRI_RANK_BENCHED);
        rank->struck = 1;
        ctl->n_struck++;
        TRI_TRY(tri_ctl_emit(ctl, &c));
    }
    return TRI_OK;
}

/* Which limit passed, before the run is stopped for it. */
static tri_status say_hung(tri_ctl *ctl, const tri_live *live)
{
    tri_run_row *r = &ctl->runs[live->run];
    const int is_auto = !(ctl->study->timeouts.progress_s > 0);
    char why[160];

    if (r->v.state == TRI_RUN_FORMING) {
        snprintf(why, sizeof why,
                 "its ranks did not come together in %.6g s "
                 "(timeouts.startup%s)",
                 tri_ctl_forming_limit(ctl),
                 ctl->study->model.kind == TRI_MODEL_PROCESS ? " and grace"
                                                             : "");
    } else if (r->v.reports == 0 &&
               (!live->in_place ||
                ctl->study->model.kind == TRI_MODEL_PROCESS)) {
        snprintf(why, sizeof why,
                 "nothing was reported in %.6g s (timeouts.startup)",
                 ctl->study->timeouts.startup_s);
    } else {
        snprintf(why, sizeof why,
                 "no step beyond %lld in %.6g s (timeouts.progress%s)",
                 (long long)r->v.last_step, tri_ctl_progress_limit(ctl, live),
                 is_auto ? ": auto" : "");
    }
    return tri_ctl_say(ctl, r, why);
}

/* Whether what runs on its ranks cannot keep them from answering: a group that
 * forms does not run yet, and processes are not the ranks themselves.  Then it
 * was the leader that did not answer; members have nothing to answer, and show
 * by their beats whether they are there. */
static int is_free_to_answer(const tri_ctl *ctl, const tri_live *live)
{
    return live->was_forming || ctl->study->model.kind == TRI_MODEL_PROCESS;
}

/* No trial is to blame. */
static tri_status lose_leader(tri_ctl *ctl, tri_live *live)
{
    tri_run_row *r = &ctl->runs[live->run];
    char why[100];

    snprintf(why, sizeof why, "rank %d, its leader, did not answer",
             (int)r->v.ranks[0]);
    TRI_TRY(tri_ctl_say(ctl, r, why));
    return tri_ctl_lose_silent(ctl, live);
}

static tri_status expire(tri_ctl *ctl, tri_live *live)
{
    tri_run_row *r = &ctl->runs[live->run];

    if (r->v.state != TRI_RUN_LEAVING) {
        TRI_TRY(say_hung(ctl, live));
        return tri_ctl_stop_run(ctl, live, TRI_REASON_HUNG);
    }
    TRI_TRY(strike(ctl, r, is_free_to_answer(ctl, live) ? 1 : r->v.n_ranks));
    if (live->finished) { /* its result stands */
        return tri_ctl_end_run(ctl, live, TRI_RUN_FINISHED, TRI_REASON_NONE, 1);
    }
    if (live->why == TRI_REASON_HUNG) {
        return is_free_to_answer(ctl, live)
                       ? lose_leader(ctl, live)
                       : tri_ctl_fail_run(ctl, live, TRI_REASON_HUNG, 1);
    }
    return tri_ctl_interrupt_run(ctl, live,
                                 live->why == TRI_REASON_BUDGET
                                         ? TRI_RUN_STOPPED
                                         : TRI_RUN_INTERRUPTED,
                                 (tri_reason)live->why);
}

/* The search's time is over: what runs is stopped. */
static tri_status stop_search(tri_ctl *ctl)
{
    ctl->search_stopped = 1;
    ctl->opening_blocks |= (uint8_t)tri_ctl_opening_binds(ctl);
    for (int i = 0; i < ctl->n_flying; i++) {
        tri_live *live = &ctl->lives[ctl->flying[i]];

        if (ctl->runs[live->run].v.state != TRI_RUN_LEAVING) {
            TRI_TRY(tri_ctl_stop_run(ctl, live, TRI_REASON_BUDGET));
        }
    }
    return TRI_OK;
}

/* Nobody answered the drain in time: what runs is interrupted as it is. */
static tri_status end_drain(tri_ctl *ctl)
{
    while (ctl->n_flying) {
        tri_live *live = &ctl->lives[ctl->flying[0]];

        if (live->finished) {
            TRI_TRY(tri_ctl_end_run(ctl, live, TRI_RUN_FINISHED,
                                    TRI_REASON_NONE, 1));
        } else {
            TRI_TRY(tri_ctl_interrupt_run(ctl, live, TRI_RUN_INTERRUPTED,
                                          TRI_REASON_DRAINED));
        }
    }
    return TRI_OK;
}

tri_status tri_ctl_feed_clock(tri_ctl *ctl, const tri_ev_clock *ev)
{
    if (ev->gap_s > GAP_S) {
        ctl->shift += ev->gap_s;
        ctl->drain_limit += ev->gap_s;
        ctl->idle_s += ctl->rules >= 4 ? ev->gap_s : 0;
    }
    while (ctl->n_heap && key(ctl, 0) + ctl->shift <= ctl->now) {
        TRI_TRY(expire(ctl, &ctl->lives[ctl->heap[0]]));
    }
    if (!ctl->draining && ctl->now >= tri_ctl_drain_start(ctl)) {
        return tri_ctl_drain(ctl, TRI_DRAIN_DEADLINE);
    }
    if (ctl->draining) {
        return ctl->now >= ctl->drain_limit ? end_drain(ctl) : TRI_OK;
    }
    if (ctl->phase == TRI_PHASE_SEARCH && !ctl->search_stopped &&
        ctl->now >= tri_ctl_search_end(ctl)) {
        return stop_search(ctl);
    }
    return TRI_OK;
}

static void earlier(double *t, double other)
{
    *t = other < *t ? other : *t;
}

double tri_ctl_next_deadline(const tri_ctl *ctl)
{
    double t = INFINITY;

    if (!ctl->started || ctl->ended) {
        return t;
    }
    if (ctl->n_heap) {
        earlier(&t, key(ctl, 0) + ctl->shift);
    }
    if (ctl->draining) {
        earlier(&t, ctl->drain_limit);
        return t;
    }
    earlier(&t, tri_ctl_drain_start(ctl));
    if (ctl->thoughts.waits) {
        earlier(&t, ctl->thoughts.until);
    }
    if (ctl->phase == TRI_PHASE_SEARCH && !ctl->search_stopped) {
        earlier(&t, tri_ctl_search_end(ctl));
    }
    return t;
}

/*
 * The controller's page: an event is checked, handed to its part, and what
 * follows from it is decided.  Everything that takes longer to say stands in
 * the files beside it.
 */
#include "src/ctl/state.h"

#include <math.h>
#include <stdlib.h>

#define LINE_BYTES 64 /* of a cache */

tri_status tri_ctl_create(tri_ctl **out)
{
    tri_ctl *ctl = calloc(1, sizeof *ctl);

    if (!ctl) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a controller");
    }
    ctl->head = -1;
    ctl->best = -1;
    ctl->max_time_s = ctl->deadline_s = NAN;
    ctl->thoughts.until = NAN;
    ctl->end_why = "";
    ctl->machine_class = ctl->opening_class = "";
    *out = ctl;
    return TRI_OK;
}

void tri_ctl_omit_texts(tri_ctl *ctl)
{
    ctl->no_texts = 1;
}

/* Rows of a run that began long ago have left the caches: they are fetched
 * while something else is decided. */
void tri_ctl_expect(const tri_ctl *ctl, int64_t run, int next)
{
    const tri_run_row *r;

    if (run < 0 || run >= ctl->n_runs) {
        return;
    }
    r = &ctl->runs[run];
    if (!next) {
        for (size_t at = 0; at < sizeof *r; at += LINE_BYTES) {
            __builtin_prefetch((const char *)r + at);
        }
        return;
    }
    for (size_t at = 0; at < sizeof *ctl->trials; at += LINE_BYTES) {
        __builtin_prefetch((const char *)&ctl->trials[r->v.trial] + at);
    }
    if (r->live >= 0) {
        const tri_rank_row *rank = tri_ctl_rank_row(ctl, r->v.ranks[0]);

        __builtin_prefetch(&ctl->lives[r->live]);
        __builtin_prefetch(rank);
    }
}

static void free_lists(tri_ctl *ctl)
{
    free(ctl->trials);
    free(ctl->runs);
    free(ctl->lives);
    free(ctl->free_lives);
    free(ctl->flying);
    free(ctl->heap);
    free(ctl->ranks);
    free(ctl->rank_of);
    free(ctl->slot_rank);
    free(ctl->slots);
    free(ctl->hosts);
    free(ctl->by_name);
    free(ctl->kept_off);
    free(ctl->elsewhere);
    free(ctl->by_hash);
    free(ctl->queue.list);
    free(ctl->proposals);
    free(ctl->warm);
    free(ctl->commands);
    free(ctl->changed_trials.list);
    free(ctl->changed_runs.list);
}

void tri_ctl_destroy(tri_ctl *ctl)
{
    if (!ctl) {
        return;
    }
    tri_ctl_finals_reset(ctl);
    tri_pack_fini(&ctl->pack);
    tri_running_median_fini(&ctl->unit_s);
    tri_running_median_fini(&ctl->start_s);
    tri_running_median_fini(&ctl->run_s);
    free_lists(ctl);
    tri_keep_fini(&ctl->keep);
    tri_keep_fini(&ctl->scratch);
    tri_keep_fini(&ctl->proposal_texts);
    tri_sched_destroy(ctl->sched);
    tri_study_destroy(ctl->study);
    for (size_t i = 0; i < ctl->n_old; i++) {
        tri_study_destroy(ctl->old[i]);
    }
    free(ctl->old);
    free(ctl);
}

/* ---- events of runs ---- */

static tri_status feed_formed(tri_ctl *ctl, const tri_ev_formed *ev)
{
    tri_live *live = tri_ctl_live(ctl, ev->run, ev->attempt);
    tri_run_view *v = &ctl->runs[ev->run].v;
    tri_command c = {.kind = TRI_CMD_GO,
                     .u.go = {.run = v->run,
                              .attempt = v->attempt,
                              .ranks = v->ranks,
                              .n_ranks = v->n_ranks}};

    if (v->state != TRI_RUN_FORMING) {
        return TRI_OK;
    }
    v->state = TRI_RUN_RUNNING;
    live->first_s = ctl->now;
    if (ctl->study->model.kind == TRI_MODEL_PROCESS) {
        tri_ctl_set_limit(ctl, live, ctl->study->timeouts.startup_s);
    } /* else forming was a part of starting */
    return tri_ctl_emit(ctl, &c);
}

static tri_status feed_report(tri_ctl *ctl, const tri_ev_report *ev)
{
    tri_live *live = tri_ctl_live(ctl, ev->run, ev->attempt);
    tri_run_view *v = &ctl->runs[ev->run].v;
    double began = ctl->now - (isnan(ev->step_s) ? 0 : ev->step_s);

    if (!v->reports && !live->in_place && began > live->first_s) {
        live->first_s = began;
    }
    v->reports++;
    v->last_step = ev->step;
    if (ev->step_s > live->slowest_s) {
        live->slowest_s = ev->step_s;
    }
    if (v->state == TRI_RUN_RUNNING) {
        tri_ctl_set_limit(ctl, live, tri_ctl_progress_limit(ctl, live));
    }
    return TRI_OK;
}

/* The run that an event is about; [out] whether it is about one. */
static int names_run(const tri_event *e, int64_t *run, int32_t *attempt)
{
    switch (e->kind) {
    case TRI_EV_FORMED:
        *run = e->u.formed.run;
        *attempt = e->u.formed.attempt;
        return 1;
    case TRI_EV_REPORT:
        *run = e->u.report.run;
        *attempt = e->u.report.attempt;
        return 1;
    case TRI_EV_FINISHED:
    case TRI_EV_PAUSED:
    case TRI_EV_FAILED:
    case TRI_EV_LOST:
    case TRI_EV_INTERRUPTED:
        *run = e->u.outcome.run;
        *attempt = e->u.outcome.attempt;
        return 1;
    default:
        return 0;
    }
}

/* ---- feeding ---- */

static tri_status dispatch(tri_ctl *ctl, const tri_event *e)
{
    switch (e->kind) {
    case TRI_EV_OPEN:
        return tri_ctl_feed_open(ctl, &e->u.open);
    case TRI_EV_POOL:
        return tri_ctl_feed_pool(ctl, &e->u.pool);
    case TRI_EV_PROPOSALS:
        return tri_ctl_feed_proposals(ctl, &e->u.proposals);
    case TRI_EV_FORMED:
        return feed_formed(ctl, &e->u.formed);
    case TRI_EV_REPORT:
        return feed_report(ctl, &e->u.report);
    case TRI_EV_CLOCK:
        return tri_ctl_feed_clock(ctl, &e->u.clock);
    case TRI_EV_EDITED:
        return tri_ctl_feed_edited(ctl, &e->u.edited);
    case TRI_EV_DRAIN:
        return tri_ctl_drain(ctl, e->u.drain.why);
    default:
        return tri_ctl_feed_outcome(ctl, e->kind, &e->u.outcome);
    }
}

static tri_status check(const tri_ctl *ctl, const tri_event *e)
{
    if (ctl->broken) {
        return TRI_FAIL(TRI_EINTERNAL, "the controller ran out of memory");
    }
    if (e->kind <= TRI_EV_NONE || e->kind >= TRI_EV_COUNT) {
        return TRI_FAIL(TRI_EINVAL, "no event of kind %d", (int)e->kind);
    }
    if (!ctl->study && e->kind != TRI_EV_OPEN) {
        return TRI_FAIL(TRI_EINVAL, "the first event must be open, not %s",
                        tri_event_name(e->kind));
    }
    if (!(e->time_s >= ctl->now && e->time_s < INFINITY)) {
        return TRI_FAIL(TRI_EINVAL, "time runs from %.9g to %.9g", ctl->now,
                        e->time_s);
    }
    return TRI_OK;
}

/* Whether nothing follows from the event: it is about a run that is over, or
 * the opening has ended. */
static int is_stale(tri_ctl *ctl, const tri_event *e)
{
    int64_t run;
    int32_t attempt;

    if (ctl->ended && e->kind != TRI_EV_OPEN) {
        return 1;
    }
    return e->kind != TRI_EV_PAUSED && names_run(e, &run, &attempt) &&
           !tri_ctl_live(ctl, run, attempt);
}

static tri_status step(tri_ctl *ctl, const tri_event *e)
{
    if (is_stale(ctl, e)) {
        return TRI_OK;
    }
    TRI_TRY(dispatch(ctl, e));
    ctl->started |= e->kind != TRI_EV_OPEN && e->kind != TRI_EV_EDITED &&
                    e->kind != TRI_EV_POOL;
    return tri_ctl_act(ctl);
}

static int by_number(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static void sort(tri_numbers *n)
{
    if (n->n < 2) {
        return;
    }
    if (n->n == 2 && n->list[0] > n->list[1]) {
        int64_t first = n->list[1];

        n->list[1] = n->list[0];
        n->list[0] = first;
    } else if (n->n > 2) {
        qsort(n->list, n->n, sizeof *n->list, by_number);
    }
}

tri_status tri_ctl_feed(tri_ctl *ctl, const tri_event *event, tri_commands *out)
{
    tri_status st;

    TRI_TRY(check(ctl, event));
    ctl->feed++;
    ctl->n_commands = 0;
    ctl->changed_trials.n = ctl->changed_runs.n = 0;
    tri_keep_reset(&ctl->scratch);
    ctl->before = ctl->now;
    ctl->now = event->time_s;
    st = step(ctl, event);
    if (st != TRI_OK) {
        ctl->broken = st == TRI_ENOMEM || tri_status_scope(st) == TRI_SCOPE_RUN;
        ctl->now = ctl->before;
        ctl->n_commands = 0;
        return st;
    }
    sort(&ctl->changed_trials);
    sort(&ctl->changed_runs);
    *out = (tri_commands){ctl->commands, ctl->n_commands};
    return TRI_OK;
}

/*
 * Synchronous halving: brackets that have come to rest wait in a heap, the
 * oldest first, until they are asked what follows.
 */
#include "src/sched/sync.h"

#include <assert.h>
#include <stdlib.h>

static int64_t share_of_members(const tri_brackets *b,
                                const tri_bracket *bracket, int k,
                                int may_create)
{
    (void)may_create;
    return bracket->rungs[k].members / b->ladder->eta;
}

tri_status tri_sync_create(const tri_sched_settings *settings,
                           const tri_ladder *ladder, tri_sync **out)
{
    void *state;

    TRI_TRY(tri_brackets_create(sizeof(tri_sync), ladder, share_of_members, 0,
                                0, &state));
    *out = state;
    (*out)->most_open = settings->brackets;
    return TRI_OK;
}

void tri_sync_add_plan(tri_sync *s, int base, int64_t n)
{
    s->plans[s->n_plans++] =
            (tri_sync_plan){.base = base, .n = n, .filling = -1};
}

void tri_sync_destroy(void *state)
{
    tri_sync *s = state;

    free(s->own);
    free(s->heap);
    tri_brackets_destroy(s);
}

/* ---- the heap of those at rest ------------------------------------------- */

static void push(tri_sync *s, int place)
{
    int at = s->n_heap++;

    assert(at < s->room);
    for (; at && s->heap[(at - 1) / 2] > place; at = (at - 1) / 2) {
        s->heap[at] = s->heap[(at - 1) / 2];
    }
    s->heap[at] = place;
}

static void pop(tri_sync *s)
{
    int moved = s->heap[--s->n_heap];
    int at = 0;

    for (int child; (child = 2 * at + 1) < s->n_heap; at = child) {
        child += child + 1 < s->n_heap && s->heap[child + 1] < s->heap[child];
        if (s->heap[child] > moved) {
            break;
        }
        s->heap[at] = s->heap[child];
    }
    s->heap[at] = moved;
}

/* Something has changed in the bracket. */
static void touch(tri_sync *s, int place)
{
    tri_sync_bracket *own = &s->own[place];

    if (!own->queued) {
        own->queued = 1;
        push(s, place);
    }
    s->n_open += !own->open;
    own->open = 1;
}

/* ---- what follows -------------------------------------------------------- */

static int is_full(const tri_sync *s, int place)
{
    const tri_bracket *bracket = &s->brackets.list[place];

    return bracket->rungs[bracket->base].members >=
           s->plans[s->own[place].plan].n;
}

/* The promotion that is due in a bracket; returns whether there is one. */
static int next_promotion(tri_sync *s, int place, int may_create, tri_job *out)
{
    tri_brackets *b = &s->brackets;
    tri_bracket *bracket = &b->list[place];

    if (may_create && !is_full(s, place)) {
        return 0;
    }
    for (int k = bracket->base; k <= bracket->top && k < b->last; k++) {
        int64_t share = b->share(b, bracket, k, may_create);
        uint32_t node;

        if (bracket->rungs[k].active) {
            return 0;
        }
        node = tri_brackets_best(b, bracket, k, share);
        if (node && bracket->rungs[k].promoted < share) {
            *out = tri_brackets_promotion(b, bracket, k, node);
            return 1;
        }
    }
    return 0;
}

/* The bracket at the top of the heap has nothing to give out for now. */
static void put_aside(tri_sync *s)
{
    int place = s->heap[0];
    tri_sync_bracket *own = &s->own[place];

    pop(s);
    own->queued = 0;
    if (!s->brackets.list[place].active && is_full(s, place)) {
        own->open = 0;
        s->n_open--;
    }
}

/* Those that are not full are taken as they are. */
static int next_of_filling(tri_sync *s, tri_job *out)
{
    for (int i = 0; i < s->n_plans; i++) {
        if (s->plans[i].filling >= 0 &&
            next_promotion(s, s->plans[i].filling, 0, out)) {
            return 1;
        }
    }
    return 0;
}

/* The plan of the next new configuration: that of the oldest bracket that is
 * not full, else the next in turn; NULL where no bracket may be opened. */
static const tri_sync_plan *next_plan(const tri_sync *s)
{
    const tri_sync_plan *fill = NULL, *open = &s->plans[0];

    for (int i = 0; i < s->n_plans; i++) {
        const tri_sync_plan *p = &s->plans[i];

        if (p->filling >= 0 && (!fill || p->filling < fill->filling)) {
            fill = p;
        }
        open = p->opened < open->opened ? p : open;
    }
    if (fill) {
        return fill;
    }
    return s->most_open && s->n_open >= s->most_open ? NULL : open;
}

void tri_sync_peek(void *state, int may_create, tri_job *out)
{
    tri_sync *s = state;
    const tri_sync_plan *plan;

    while (s->n_heap) {
        if (next_promotion(s, s->heap[0], may_create, out)) {
            return;
        }
        put_aside(s);
    }
    *out = tri_brackets_nothing();
    if (!may_create) {
        next_of_filling(s, out);
        return;
    }
    plan = next_plan(s);
    if (plan) {
        *out = (tri_job){.kind = TRI_JOB_NEW,
                         .trial = -1,
                         .rung = plan->base,
                         .bracket = plan->base,
                         .resource = s->brackets.ladder->resource[plan->base]};
    }
}

/* ---- events -------------------------------------------------------------- */

static tri_status make_room(tri_sync *s)
{
    int room = s->room ? 2 * s->room : 4;
    tri_sync_bracket *own;
    int *heap;

    if (s->brackets.n < s->room) {
        return TRI_OK;
    }
    own = realloc(s->own, (size_t)room * sizeof *own);
    s->own = own ? own : s->own;
    heap = realloc(s->heap, (size_t)room * sizeof *heap);
    s->heap = heap ? heap : s->heap;
    if (!own || !heap) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for %d brackets", room);
    }
    s->room = room;
    return TRI_OK;
}

static tri_status open_bracket(tri_sync *s, tri_sync_plan *plan)
{
    TRI_TRY(make_room(s));
    TRI_TRY(tri_brackets_add(&s->brackets, plan->base));
    plan->filling = s->brackets.n - 1;
    plan->opened++;
    s->own[plan->filling] =
            (tri_sync_bracket){.plan = (int)(plan - s->plans), .open = 1};
    s->n_open++;
    return TRI_OK;
}

static tri_status take_new(tri_sync *s, const tri_job *job, int64_t trial)
{
    tri_sync_plan *plan = &s->plans[job->bracket - s->plans[0].base];

    if (plan->filling < 0) {
        TRI_TRY(open_bracket(s, plan));
    }
    tri_brackets_enter(&s->brackets, plan->filling, job, trial);
    if (is_full(s, plan->filling)) {
        plan->filling = -1;
    }
    return TRI_OK;
}

tri_status tri_sync_take(void *state, const tri_job *job, int64_t trial)
{
    tri_sync *s = state;

    TRI_TRY(tri_brackets_reserve(&s->brackets, trial));
    if (job->kind == TRI_JOB_NEW) {
        return take_new(s, job, trial);
    }
    tri_brackets_enter(&s->brackets, tri_brackets_of(&s->brackets, trial), job,
                       trial);
    return TRI_OK;
}

tri_status tri_sync_result(void *state, int64_t trial, int rung,
                           tri_result_kind kind, double score)
{
    tri_sync *s = state;

    TRI_TRY(tri_brackets_result(state, trial, rung, kind, score));
    touch(s, tri_brackets_of(&s->brackets, trial));
    return TRI_OK;
}

tri_status tri_sync_drop(void *state, int64_t trial, int rung)
{
    tri_sync *s = state;

    TRI_TRY(tri_brackets_drop(state, trial, rung));
    touch(s, tri_brackets_of(&s->brackets, trial));
    return TRI_OK;
}

void tri_sync_park(void *state, int64_t trial, int parked)
{
    tri_sync *s = state;

    tri_brackets_park(state, trial, parked);
    if (trial >= 0 && trial < s->brackets.n_entries &&
        s->brackets.entries[trial].state != TRI_ENTRY_UNKNOWN) {
        touch(s, tri_brackets_of(&s->brackets, trial));
    }
}

int64_t tri_sync_planned(const void *state, int base, int rung)
{
    const tri_sync *s = state;
    int64_t n = 0;

    for (int i = 0; i < s->n_plans; i++) {
        n = s->plans[i].base == base ? s->plans[i].n : n;
    }
    for (int k = base; k < rung; k++) {
        n /= s->brackets.ladder->eta;
    }
    return rung >= base && rung < s->brackets.ladder->n ? n : 0;
}

/* Once as many as will ever go on stand before it: its place only grows. */
int tri_sync_is_over(const void *state, int64_t trial, int rung)
{
    const tri_sync *s = state;
    const tri_entry *e = &s->brackets.entries[trial];
    const tri_bracket *bracket = &s->brackets.list[e->bracket];

    if (e->state != TRI_ENTRY_PAUSED || e->rung != rung) {
        return e->state == TRI_ENTRY_OUT;
    }
    return tri_standings_place(&s->brackets.nodes, bracket->rungs[rung].root,
                               e->node) >=
           tri_sync_planned(state, bracket->base, rung + 1);
}

/*
 * Trials at the rungs of brackets: entering, results, drops, parking, and the
 * views of where all of them stand.  Knows no rule of who goes on.
 */
#include "src/sched/brackets.h"

#include "src/base/grow.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

static tri_status add_all(tri_brackets *b, int base, int n)
{
    if (base + n > b->ladder->n) {
        return TRI_FAIL(TRI_EINVAL,
                        "scheduler: bracket %d with %d brackets needs %d "
                        "rungs, the ladder has %d",
                        base, n, base + n, b->ladder->n);
    }
    for (int i = 0; i < n; i++) {
        TRI_TRY(tri_brackets_add(b, base + i));
    }
    return TRI_OK;
}

tri_status tri_brackets_create(size_t bytes, const tri_ladder *ladder,
                               tri_share share, int base, int n, void **state)
{
    tri_brackets *b = calloc(1, bytes);
    tri_status st;

    if (!b) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a scheduler");
    }
    b->ladder = ladder;
    b->share = share;
    b->last = ladder->n - 1;
    st = add_all(b, base, n);
    if (st != TRI_OK) {
        tri_brackets_destroy(b);
        return st;
    }
    *state = b;
    return TRI_OK;
}

void tri_brackets_destroy(void *state)
{
    tri_brackets *b = state;

    if (!b) {
        return;
    }
    for (int i = 0; i < b->n; i++) {
        free(b->list[i].rungs);
    }
    free(b->list);
    free(b->entries);
    tri_nodes_fini(&b->nodes);
    free(b);
}

tri_status tri_brackets_add(tri_brackets *b, int base)
{
    tri_rung *rungs = calloc((size_t)b->ladder->n, sizeof *rungs);

    if (rungs && b->n == b->room) {
        int room = b->room ? 2 * b->room : 4;
        tri_bracket *grown = realloc(b->list, (size_t)room * sizeof *grown);

        if (grown) {
            b->list = grown;
            b->room = room;
        }
    }
    if (!rungs || b->n == b->room) {
        free(rungs);
        return TRI_FAIL(TRI_ENOMEM, "no memory for a bracket");
    }
    b->list[b->n++] =
            (tri_bracket){.rungs = rungs, .base = base, .top = base - 1};
    return TRI_OK;
}

/* ---- jobs ---------------------------------------------------------------- */

int64_t tri_share_of_results(const tri_brackets *b, const tri_bracket *bracket,
                             int k, int may_create)
{
    (void)may_create;
    return bracket->rungs[k].results / b->ladder->eta;
}

uint32_t tri_brackets_best(tri_brackets *b, tri_bracket *bracket, int k,
                           int64_t share)
{
    tri_rung *r = &bracket->rungs[k];
    uint32_t place = 0;

    if (r->stale || r->share != share) {
        r->best = tri_standings_best(&b->nodes, r->root, &place);
        if ((int64_t)place >= share) {
            r->best = TRI_NODE_NONE;
        }
        r->share = share;
        r->stale = 0;
    }
    return r->best;
}

tri_job tri_brackets_promotion(const tri_brackets *b,
                               const tri_bracket *bracket, int k, uint32_t node)
{
    return (tri_job){.kind = TRI_JOB_PROMOTE,
                     .trial = b->nodes.node[node].trial,
                     .rung = k + 1,
                     .bracket = bracket->base,
                     .resource = b->ladder->resource[k + 1]};
}

/* Whether there was none when it was last looked for, and nothing changed: a
 * share of results is then what it was. */
static int is_barren(const tri_bracket *bracket, int k, tri_share share)
{
    const tri_rung *r = &bracket->rungs[k];

    return share == tri_share_of_results && !r->stale &&
           r->best == TRI_NODE_NONE;
}

int tri_brackets_scan(tri_brackets *b, tri_share share, int may_create,
                      tri_job *out)
{
    int top = -1;

    for (int i = 0; i < b->n; i++) {
        top = b->list[i].top > top ? b->list[i].top : top;
    }
    for (int k = top < b->last - 1 ? top : b->last - 1; k >= 0; k--) {
        for (int i = 0; i < b->n; i++) {
            tri_bracket *bracket = &b->list[i];
            uint32_t node;

            if (k < bracket->base || k > bracket->top ||
                is_barren(bracket, k, share)) {
                continue;
            }
            node = tri_brackets_best(b, bracket, k,
                                     share(b, bracket, k, may_create));
            if (node) {
                *out = tri_brackets_promotion(b, bracket, k, node);
                return 1;
            }
        }
    }
    return 0;
}

tri_job tri_brackets_new(const tri_brackets *b, const tri_bracket *bracket)
{
    return (tri_job){.kind = TRI_JOB_NEW,
                     .trial = -1,
                     .rung = bracket->base,
                     .bracket = bracket->base,
                     .resource = b->ladder->resource[bracket->base]};
}

tri_job tri_brackets_nothing(void)
{
    return (tri_job){.kind = TRI_JOB_NONE, .trial = -1};
}

tri_job tri_brackets_new_by_share(const tri_brackets *b, int may_create)
{
    const tri_bracket *least = &b->list[0];

    for (int i = 1; i < b->n; i++) {
        least = b->list[i].spent < least->spent ? &b->list[i] : least;
    }
    return may_create ? tri_brackets_new(b, least) : tri_brackets_nothing();
}

/* ---- entering ------------------------------------------------------------ */

tri_status tri_brackets_reserve(tri_brackets *b, int64_t trial)
{
    int64_t room = b->entry_room ? b->entry_room : 64;
    tri_entry *grown;

    TRI_TRY(tri_nodes_reserve(&b->nodes, (uint32_t)b->unresolved + 1));
    while (room <= trial) {
        room *= 2;
    }
    if (room > b->entry_room) {
        grown = tri_rows_grow(b->entries, (size_t)b->n_entries * sizeof *grown,
                              (size_t)room * sizeof *grown);
        if (!grown) {
            return TRI_FAIL(TRI_ENOMEM, "no memory for %lld trials",
                            (long long)room);
        }
        b->entries = grown;
        b->entry_room = room;
    }
    while (b->n_entries <= trial) {
        b->entries[b->n_entries++] = (tri_entry){0};
    }
    return TRI_OK;
}

void tri_brackets_enter(tri_brackets *b, int place, const tri_job *job,
                        int64_t trial)
{
    tri_bracket *bracket = &b->list[place];
    tri_rung *r = &bracket->rungs[job->rung];
    tri_entry *e = &b->entries[trial];

    if (job->kind == TRI_JOB_PROMOTE) {
        tri_rung *from = &bracket->rungs[job->rung - 1];

        assert(e->state == TRI_ENTRY_PAUSED && e->rung == job->rung - 1);
        tri_standings_set_eligible(&b->nodes, from->root, e->node, 0);
        from->promoted++;
        from->stale = 1;
    } else {
        assert(e->state == TRI_ENTRY_UNKNOWN);
        e->bracket = place;
        e->node = TRI_NODE_NONE;
    }
    e->rung = (int16_t)job->rung;
    e->state = TRI_ENTRY_RUNNING;
    r->members++;
    r->running++;
    r->active += !e->parked;
    bracket->active += !e->parked;
    b->active += !e->parked;
    b->unresolved++;
    bracket->top = job->rung > bracket->top ? job->rung : bracket->top;
    bracket->spent += (double)job->resource;
}

tri_status tri_brackets_take(void *state, const tri_job *job, int64_t trial)
{
    tri_brackets *b = state;

    TRI_TRY(tri_brackets_reserve(b, trial));
    tri_brackets_enter(b, job->bracket - b->list[0].base, job, trial);
    return TRI_OK;
}

/* ---- leaving ------------------------------------------------------------- */

/* The entry of a trial that runs at rung k, or NULL. */
static tri_entry *running(tri_brackets *b, int64_t trial, int k)
{
    tri_entry *e;

    if (trial < 0 || trial >= b->n_entries) {
        return NULL;
    }
    e = &b->entries[trial];
    return e->state == TRI_ENTRY_RUNNING && e->rung == k ? e : NULL;
}

static tri_rung *rung_of(tri_brackets *b, const tri_entry *e)
{
    return &b->list[e->bracket].rungs[e->rung];
}

static void add_active(tri_brackets *b, const tri_entry *e, int n)
{
    rung_of(b, e)->active += n;
    b->list[e->bracket].active += n;
    b->active += n;
}

static void leave_rung(tri_brackets *b, const tri_entry *e)
{
    rung_of(b, e)->running--;
    add_active(b, e, -!e->parked);
    b->unresolved--;
}

static tri_status not_running(int64_t trial, int k)
{
    return TRI_FAIL(TRI_ENOTFOUND, "trial %lld does not run at rung %d",
                    (long long)trial, k);
}

tri_status tri_brackets_result(void *state, int64_t trial, int k,
                               tri_result_kind kind, double score)
{
    tri_brackets *b = state;
    tri_entry *e = running(b, trial, k);
    int counted = kind == TRI_RESULT_COUNTED;
    uint32_t below;
    tri_rung *r;

    if (!e) {
        return not_running(trial, k);
    }
    leave_rung(b, e);
    r = rung_of(b, e);
    below = e->node;
    e->state = counted ? TRI_ENTRY_OUT : TRI_ENTRY_PAUSED;
    e->node = tri_standings_insert(&b->nodes, &r->root, trial, score, counted,
                                   !counted && !e->parked);
    b->nodes.node[e->node].below = below;
    r->results++;
    r->stale = 1;
    return TRI_OK;
}

tri_status tri_brackets_drop(void *state, int64_t trial, int k)
{
    tri_brackets *b = state;
    tri_entry *e = running(b, trial, k);

    if (!e) {
        return not_running(trial, k);
    }
    leave_rung(b, e);
    e->state = TRI_ENTRY_OUT;
    return TRI_OK;
}

void tri_brackets_park(void *state, int64_t trial, int parked)
{
    tri_brackets *b = state;
    tri_entry *e;

    if (trial < 0 || trial >= b->n_entries ||
        b->entries[trial].parked == (parked != 0)) {
        return;
    }
    e = &b->entries[trial];
    e->parked = parked != 0;
    if (e->state == TRI_ENTRY_RUNNING) {
        add_active(b, e, parked ? -1 : 1);
    } else if (e->state == TRI_ENTRY_PAUSED) {
        tri_rung *r = rung_of(b, e);

        tri_standings_set_eligible(&b->nodes, r->root, e->node, !parked);
        r->stale = 1;
    }
}

int tri_brackets_is_idle(const void *state)
{
    return !((const tri_brackets *)state)->active;
}

/* ---- views --------------------------------------------------------------- */

/* The score of the worst result that may be promoted. */
static double cut_of(const tri_brackets *b, const tri_bracket *bracket, int k)
{
    const tri_rung *r = &bracket->rungs[k];
    int64_t share = k < b->last ? b->share(b, bracket, k, 1) : 0;
    const tri_node *n;

    share = share < r->results ? share : r->results;
    while (share > 0) {
        n = &b->nodes.node[tri_standings_at(&b->nodes, r->root,
                                            (uint32_t)share - 1)];
        if (!n->last) {
            return n->score;
        }
        share--;
    }
    return NAN;
}

/* All brackets that share a base, taken together. */
static tri_rung_view view_of(const tri_brackets *b, int base, int k)
{
    tri_rung_view v = {.rung = k,
                       .bracket = base,
                       .resource = b->ladder->resource[k],
                       .cut = NAN};

    for (int i = 0; i < b->n; i++) {
        const tri_bracket *bracket = &b->list[i];
        const tri_rung *r = &bracket->rungs[k];

        if (bracket->base != base || k > bracket->top) {
            continue;
        }
        v.results += r->results;
        v.promoted += r->promoted;
        v.running += r->running;
        if (r->results) { /* where several do, that of the latest */
            v.cut = cut_of(b, bracket, k);
        }
    }
    return v;
}

static int top_of(const tri_brackets *b, int base)
{
    int top = -1;

    for (int i = 0; i < b->n; i++) {
        const tri_bracket *bracket = &b->list[i];

        top = bracket->base == base && bracket->top > top ? bracket->top : top;
    }
    return top;
}

int tri_brackets_rungs(const void *state, tri_rung_view *out, int max)
{
    const tri_brackets *b = state;
    int n = 0;

    for (int base = 0; base < b->ladder->n; base++) {
        for (int k = base, top = top_of(b, base); k <= top; k++) {
            tri_rung_view v = view_of(b, base, k);

            if (!v.results && !v.running) {
                continue;
            }
            if (n < max) {
                out[n] = v;
            }
            n++;
        }
    }
    return n;
}

static int by_standing(const void *x, const void *y)
{
    const tri_node *a = *(tri_node *const *)x, *b = *(tri_node *const *)y;

    return tri_node_before(b, a) - tri_node_before(a, b);
}

/* The finished trials of one rung, behind `n` that are there already. */
static int64_t list_finished(const tri_brackets *b, const tri_rung *r,
                             const tri_node **out, int64_t n)
{
    for (int64_t i = 0; i < r->results; i++) {
        const tri_node *node = &b->nodes.node[tri_standings_at(
                &b->nodes, r->root, (uint32_t)i)];

        if (node->last) {
            break;
        }
        if (out) {
            out[n] = node;
        }
        n++;
    }
    return n;
}

static int64_t list_all(const tri_brackets *b, int base, int k,
                        const tri_node **out)
{
    int64_t n = 0;

    for (int i = 0; i < b->n; i++) {
        if (b->list[i].base == base && k >= base && k <= b->list[i].top) {
            n = list_finished(b, &b->list[i].rungs[k], out, n);
        }
    }
    return n;
}

int64_t tri_brackets_ranking(const void *state, int base, int k,
                             int64_t *trials, int64_t max)
{
    const tri_brackets *b = state;
    int64_t n = list_all(b, base, k, NULL);
    const tri_node **nodes;

    if (!max || !n) {
        return n;
    }
    nodes = malloc((size_t)n * sizeof *nodes);
    if (!nodes) {
        return 0;
    }
    list_all(b, base, k, nodes);
    qsort(nodes, (size_t)n, sizeof *nodes, by_standing);
    for (int64_t i = 0; i < n && i < max; i++) {
        trials[i] = nodes[i]->trial;
    }
    free(nodes);
    return n;
}

int tri_brackets_was_promoted(const void *state, int64_t trial, int k)
{
    const tri_brackets *b = state;
    const tri_entry *e;

    if (trial < 0 || trial >= b->n_entries) {
        return 0;
    }
    e = &b->entries[trial];
    return e->state != TRI_ENTRY_UNKNOWN && k >= b->list[e->bracket].base &&
           k < e->rung;
}

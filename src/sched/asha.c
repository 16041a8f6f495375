/*
 * Asynchronous successive halving, promotion type (Li et al., MLSys 2020,
 * algorithm 2).  Rungs are looked at from the top down; in a
 * rung the best floor(n/eta) of its n results may be promoted, promoted ones
 * counted.  Results that are counted only (diverged) rank last and are never
 * promoted.  With several brackets a new configuration goes to the ladder on
 * which the least resource was spent so far.
 *
 * Knows nothing of ranks, configurations, time or budgets.
 */
#include "src/sched/ops.h"
#include "src/sched/standings.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

typedef enum entry_state {
    ENTRY_UNKNOWN,
    ENTRY_RUNNING, /* at `rung` */
    ENTRY_PAUSED,  /* has its result at `rung` */
    ENTRY_OUT      /* dropped */
} entry_state;

/* What is known of a trial. */
typedef struct entry {
    uint32_t node; /* its result at the rung where it paused */
    int16_t rung;
    int16_t bracket;
    uint8_t state;
    uint8_t parked;
} entry;

typedef struct rung {
    uint32_t root;
    uint32_t best; /* what is promoted next; valid unless stale */
    uint8_t stale;
    int64_t results, promoted, running;
} rung;

typedef struct bracket {
    rung rungs[TRI_LADDER_MOST]; /* by number; below the base unused */
    int top;                     /* highest rung ever run at, or base - 1 */
    int base;
    double spent; /* resource of the runs given out */
} bracket;

typedef struct asha {
    const tri_ladder *ladder;
    tri_nodes nodes;
    entry *entries; /* by trial */
    int64_t n_entries, room;
    int64_t active;     /* running and not parked */
    int64_t unresolved; /* running: each will need a node */
    int n_brackets;
    bracket brackets[];
} asha;

static tri_status asha_create_at(int base, int n_brackets,
                                 const tri_ladder *ladder, asha **out)
{
    asha *a = calloc(1, sizeof *a + (size_t)n_brackets * sizeof(bracket));

    if (!a) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a scheduler");
    }
    a->ladder = ladder;
    a->n_brackets = n_brackets;
    for (int i = 0; i < n_brackets; i++) {
        a->brackets[i].base = base + i;
        a->brackets[i].top = base + i - 1;
    }
    *out = a;
    return TRI_OK;
}

static tri_status asha_create(const tri_sched_settings *settings,
                              const tri_ladder *ladder, void **state)
{
    asha *a;

    if (settings->bracket + settings->brackets > ladder->n) {
        return TRI_FAIL(TRI_EINVAL,
                        "scheduler: bracket %d with %d brackets needs %d "
                        "rungs, the ladder has %d",
                        settings->bracket, settings->brackets,
                        settings->bracket + settings->brackets, ladder->n);
    }
    TRI_TRY(asha_create_at(settings->bracket, settings->brackets, ladder, &a));
    *state = a;
    return TRI_OK;
}

/* Every configuration runs at once for as long as it ever will. */
static tri_status none_create(const tri_sched_settings *settings,
                              const tri_ladder *ladder, void **state)
{
    asha *a;

    TRI_TRY(asha_create_at(ladder->bounded ? ladder->n - 1 : 0, 1, ladder, &a));
    *state = a;
    return TRI_OK;
}

static void asha_destroy(void *state)
{
    asha *a = state;

    tri_nodes_fini(&a->nodes);
    free(a->entries);
    free(a);
}

static bracket *bracket_of(asha *a, const entry *e)
{
    return &a->brackets[e->bracket - a->brackets[0].base];
}

/* The result that is promoted next out of rung k of b. */
static uint32_t promotable(asha *a, bracket *b, int k)
{
    rung *r = &b->rungs[k];
    uint32_t place = 0;

    if (r->stale) {
        r->best = tri_standings_best(&a->nodes, r->root, &place);
        if (place >= (uint64_t)(r->results / a->ladder->eta)) {
            r->best = TRI_NODE_NONE;
        }
        r->stale = 0;
    }
    return r->best;
}

static int find_promotion(asha *a, tri_job *out)
{
    int top = -1;

    for (int i = 0; i < a->n_brackets; i++) {
        top = a->brackets[i].top > top ? a->brackets[i].top : top;
    }
    for (int k = top < a->ladder->n - 2 ? top : a->ladder->n - 2; k >= 0; k--) {
        for (int i = 0; i < a->n_brackets; i++) {
            bracket *b = &a->brackets[i];
            uint32_t node;

            if (k < b->base || k > b->top || !(node = promotable(a, b, k))) {
                continue;
            }
            *out = (tri_job){.kind = TRI_JOB_PROMOTE,
                             .trial = a->nodes.node[node].trial,
                             .rung = k + 1,
                             .bracket = b->base,
                             .resource = a->ladder->resource[k + 1]};
            return 1;
        }
    }
    return 0;
}

static void asha_peek(void *state, int may_create, tri_job *out)
{
    asha *a = state;
    bracket *b = &a->brackets[0];

    if (find_promotion(a, out)) {
        return;
    }
    *out = (tri_job){.kind = TRI_JOB_NONE, .trial = -1};
    if (!may_create) {
        return;
    }
    for (int i = 1; i < a->n_brackets; i++) {
        if (a->brackets[i].spent < b->spent) {
            b = &a->brackets[i];
        }
    }
    out->kind = TRI_JOB_NEW;
    out->rung = out->bracket = b->base;
    out->resource = a->ladder->resource[b->base];
}

/* none promotes nothing. */
static void none_peek(void *state, int may_create, tri_job *out)
{
    asha *a = state;
    int base = a->brackets[0].base;

    *out = (tri_job){.kind = TRI_JOB_NONE, .trial = -1};
    if (may_create) {
        *out = (tri_job){.kind = TRI_JOB_NEW,
                         .trial = -1,
                         .rung = base,
                         .bracket = base,
                         .resource = a->ladder->resource[base]};
    }
}

static tri_status make_room(asha *a, int64_t trial)
{
    int64_t room = a->room ? a->room : 64;
    entry *grown;

    while (room <= trial) {
        room *= 2;
    }
    if (room > a->room) {
        grown = realloc(a->entries, (size_t)room * sizeof *grown);
        if (!grown) {
            return TRI_FAIL(TRI_ENOMEM, "no memory for %lld trials",
                            (long long)room);
        }
        a->entries = grown;
        a->room = room;
    }
    while (a->n_entries <= trial) {
        a->entries[a->n_entries++] = (entry){0};
    }
    return TRI_OK;
}

static tri_status asha_take(void *state, const tri_job *job, int64_t trial)
{
    asha *a = state;
    bracket *b = &a->brackets[job->bracket - a->brackets[0].base];
    entry *e;

    TRI_TRY(make_room(a, trial));
    TRI_TRY(tri_nodes_reserve(&a->nodes, (uint32_t)a->unresolved + 1));
    e = &a->entries[trial];
    if (job->kind == TRI_JOB_PROMOTE) {
        rung *from = &b->rungs[job->rung - 1];

        assert(e->state == ENTRY_PAUSED && e->rung == job->rung - 1);
        tri_standings_set_eligible(&a->nodes, from->root, e->node, 0);
        from->promoted++;
        from->stale = 1;
    } else {
        assert(e->state == ENTRY_UNKNOWN);
        e->bracket = (int16_t)job->bracket;
    }
    e->rung = (int16_t)job->rung;
    e->state = ENTRY_RUNNING;
    e->node = TRI_NODE_NONE;
    b->rungs[job->rung].running++;
    b->top = job->rung > b->top ? job->rung : b->top;
    b->spent += (double)job->resource;
    a->active += !e->parked;
    a->unresolved++;
    return TRI_OK;
}

/* The entry of a trial that runs at rung k, or NULL. */
static entry *running(asha *a, int64_t trial, int k)
{
    entry *e;

    if (trial < 0 || trial >= a->n_entries) {
        return NULL;
    }
    e = &a->entries[trial];
    return e->state == ENTRY_RUNNING && e->rung == k ? e : NULL;
}

static void leave_rung(asha *a, entry *e)
{
    bracket_of(a, e)->rungs[e->rung].running--;
    a->active -= !e->parked;
    a->unresolved--;
}

static tri_status not_running(int64_t trial, int k)
{
    return TRI_FAIL(TRI_ENOTFOUND, "trial %lld does not run at rung %d",
                    (long long)trial, k);
}

static tri_status asha_result(void *state, int64_t trial, int k,
                              tri_result_kind kind, double score)
{
    asha *a = state;
    entry *e = running(a, trial, k);
    int counted = kind == TRI_RESULT_COUNTED;
    rung *r;

    if (!e) {
        return not_running(trial, k);
    }
    leave_rung(a, e);
    r = &bracket_of(a, e)->rungs[k];
    e->state = counted ? ENTRY_OUT : ENTRY_PAUSED;
    e->node = tri_standings_insert(&a->nodes, &r->root, trial, score, counted);
    tri_standings_set_eligible(&a->nodes, r->root, e->node,
                               !counted && !e->parked);
    r->results++;
    r->stale = 1;
    return TRI_OK;
}

static tri_status asha_drop(void *state, int64_t trial, int k)
{
    asha *a = state;
    entry *e = running(a, trial, k);

    if (!e) {
        return not_running(trial, k);
    }
    leave_rung(a, e);
    e->state = ENTRY_OUT;
    return TRI_OK;
}

static void asha_park(void *state, int64_t trial, int parked)
{
    asha *a = state;
    entry *e;

    if (trial < 0 || trial >= a->n_entries ||
        a->entries[trial].parked == (parked != 0)) {
        return;
    }
    e = &a->entries[trial];
    e->parked = parked != 0;
    if (e->state == ENTRY_RUNNING) {
        a->active += parked ? -1 : 1;
    } else if (e->state == ENTRY_PAUSED) {
        rung *r = &bracket_of(a, e)->rungs[e->rung];

        tri_standings_set_eligible(&a->nodes, r->root, e->node, !parked);
        r->stale = 1;
    }
}

static int asha_is_closed(void *state)
{
    asha *a = state;
    tri_job job;

    return !a->active && !find_promotion(a, &job);
}

static int none_is_closed(void *state)
{
    return !((asha *)state)->active;
}

/* The score of the worst result that may be promoted. */
static double cut_of(const asha *a, const rung *r, int k)
{
    int64_t share = r->results / a->ladder->eta;
    uint32_t node = TRI_NODE_NONE;

    if (k < a->ladder->n - 1 && share) {
        node = tri_standings_at(&a->nodes, r->root, (uint32_t)share - 1);
    }
    while (node && a->nodes.node[node].last && share > 1) {
        share--;
        node = tri_standings_at(&a->nodes, r->root, (uint32_t)share - 1);
    }
    return node && !a->nodes.node[node].last ? a->nodes.node[node].score : NAN;
}

static int asha_rungs(const void *state, tri_rung_view *out, int max)
{
    const asha *a = state;
    int n = 0;

    for (int i = 0; i < a->n_brackets; i++) {
        const bracket *b = &a->brackets[i];

        for (int k = b->base; k <= b->top; k++) {
            const rung *r = &b->rungs[k];

            if (!r->results && !r->running) {
                continue;
            }
            if (n < max) {
                out[n] = (tri_rung_view){.rung = k,
                                         .bracket = b->base,
                                         .resource = a->ladder->resource[k],
                                         .results = r->results,
                                         .promoted = r->promoted,
                                         .running = r->running,
                                         .cut = cut_of(a, r, k)};
            }
            n++;
        }
    }
    return n;
}

static int64_t asha_ranking(const void *state, int number, int k,
                            int64_t *trials, int64_t max)
{
    const asha *a = state;
    int i = number - a->brackets[0].base;
    uint32_t root;
    int64_t n = 0;

    if (i < 0 || i >= a->n_brackets || k < 0 || k >= a->ladder->n) {
        return 0;
    }
    root = a->brackets[i].rungs[k].root;
    for (;; n++) {
        uint32_t at = tri_standings_at(&a->nodes, root, (uint32_t)n);

        if (!at || a->nodes.node[at].last) {
            return n;
        }
        if (n < max) {
            trials[n] = a->nodes.node[at].trial;
        }
    }
}

static int asha_was_promoted(const void *state, int64_t trial, int k)
{
    const asha *a = state;
    const entry *e;

    if (trial < 0 || trial >= a->n_entries) {
        return 0;
    }
    e = &a->entries[trial];
    return e->state != ENTRY_UNKNOWN && k >= e->bracket && k < e->rung;
}

const tri_sched_ops tri_sched_asha = {.kind = TRI_SCHED_ASHA,
                                      .create = asha_create,
                                      .destroy = asha_destroy,
                                      .peek = asha_peek,
                                      .take = asha_take,
                                      .result = asha_result,
                                      .drop = asha_drop,
                                      .park = asha_park,
                                      .is_closed = asha_is_closed,
                                      .rungs = asha_rungs,
                                      .ranking = asha_ranking,
                                      .was_promoted = asha_was_promoted};

const tri_sched_ops tri_sched_none = {.kind = TRI_SCHED_NONE,
                                      .create = none_create,
                                      .destroy = asha_destroy,
                                      .peek = none_peek,
                                      .take = asha_take,
                                      .result = asha_result,
                                      .drop = asha_drop,
                                      .park = asha_park,
                                      .is_closed = none_is_closed,
                                      .rungs = asha_rungs,
                                      .ranking = asha_ranking,
                                      .was_promoted = asha_was_promoted};

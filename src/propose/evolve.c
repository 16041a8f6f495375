/*
 * Regularised evolution over the records.
 */
#include "src/propose/evolve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Children that are drawn for one place before it goes to a random one. */
#define TRIES 64
/* Of more values, steps are drawn rather than values. */
#define LISTED 256
/* Halvings of a float's range that a step may be small by. */
#define HALVINGS 8

/* ---- mutation ----------------------------------------------------------- */

static void take_any(tri_walk *w, tri_rng *rng)
{
    if (tri_rng_unit(rng) < tri_walk_inactive(w)) {
        tri_walk_take(w, TRI_WALK_INACTIVE);
    } else if (tri_walk_n(w) < 0) {
        tri_walk_take_real(w, tri_rng_unit(rng));
    } else {
        tri_walk_take(w, tri_walk_pick(w, 0, tri_walk_n(w), tri_rng_unit(rng)));
    }
}

/* As the parent, where that is possible. */
static void keep(tri_walk *w, const tri_config *parent, tri_rng *rng)
{
    double place = 0;
    int64_t k = tri_walk_find(w, parent[tri_walk_param(w)], &place);

    if (k < TRI_WALK_INACTIVE) {
        take_any(w, rng);
    } else if (k >= 0 && tri_walk_n(w) < 0) {
        tri_walk_take_real(w, place);
    } else {
        tri_walk_take(w, k);
    }
}

/* A step of a float, its size drawn by its logarithm, turned back at the ends
 * of the range. */
static double step_real(double place, tri_rng *rng)
{
    double size = 0.5;
    int halvings = (int)tri_rng_below(rng, HALVINGS + 1);

    while (halvings-- > 0) {
        size /= 2;
    }
    place += size * (2 * tri_rng_unit(rng) - 1);
    place = fabs(place);
    return place > 1 ? 2 - place : place;
}

/* The same of an index in [0, n), -1 where it leads nowhere. */
static int64_t step_index(const tri_walk *w, int64_t from, tri_rng *rng)
{
    int64_t n = tri_walk_n(w);
    int64_t size = 1;

    while (size < n / 2 && tri_rng_below(rng, 4) != 0) {
        size *= 2;
    }
    size = 1 + (int64_t)tri_rng_below(rng, (uint64_t)size);
    from += tri_rng_below(rng, 2) ? size : -size;
    return from >= 0 && from < n && tri_walk_share(w, from, from + 1) > 0 ? from
                                                                          : -1;
}

/* Another index than `from` (inactive counts as a value), each that is
 * possible equally likely; -2 if there is none. */
static int64_t other_listed(const tri_walk *w, int64_t from, tri_rng *rng)
{
    int64_t found = -2;
    uint64_t seen = 0;

    for (int64_t k = TRI_WALK_INACTIVE; k < tri_walk_n(w); k++) {
        double share = k == TRI_WALK_INACTIVE ? tri_walk_inactive(w)
                                              : tri_walk_share(w, k, k + 1);

        if (k != from && share > 0 && tri_rng_below(rng, ++seen) == 0) {
            found = k;
        }
    }
    return found;
}

static int64_t other_index(const tri_walk *w, int64_t from, tri_rng *rng)
{
    int64_t k = -1;

    if (tri_walk_n(w) <= LISTED) {
        return other_listed(w, from, rng);
    }
    for (int i = 0; i < TRIES && k < 0; i++) {
        k = step_index(w, from, rng);
    }
    if (k < 0 && tri_walk_inactive(w) < 1) {
        k = tri_walk_pick(w, 0, tri_walk_n(w), tri_rng_unit(rng));
    }
    return k < 0 || k == from ? -2 : k;
}

/* 0 where there is nothing else. */
static int change(tri_walk *w, const tri_config *parent, tri_rng *rng)
{
    double place = 0;
    int64_t k = tri_walk_find(w, parent[tri_walk_param(w)], &place);

    if (tri_walk_n(w) < 0) {
        tri_walk_take_real(w, step_real(place, rng));
        return 1;
    }
    k = other_index(w, k, rng);
    if (k < TRI_WALK_INACTIVE) {
        return 0;
    }
    tri_walk_take(w, k);
    return 1;
}

/* Whether there is another choice than the parent's. */
static int has_other(const tri_walk *w, const tri_config *parent)
{
    double place = 0;
    int64_t k = tri_walk_find(w, parent[tri_walk_param(w)], &place);

    if (k < TRI_WALK_INACTIVE) {
        return 0;
    }
    if (tri_walk_n(w) < 0) {
        return k >= 0;
    }
    return (k < 0 ? tri_walk_inactive(w) : tri_walk_share(w, k, k + 1)) < 1;
}

/* A parameter that has, each equally likely; -1 if there is none. */
static int draw_param(tri_walk *w, const tri_config *parent, tri_rng *rng)
{
    int found = -1;
    uint64_t seen = 0;

    tri_walk_begin(w);
    while (tri_walk_param(w) >= 0) {
        if (has_other(w, parent) && tri_rng_below(rng, ++seen) == 0) {
            found = tri_walk_param(w);
        }
        keep(w, parent, rng);
    }
    return found;
}

tri_status tri_evolve_mutate(tri_walk *w, const tri_space *space,
                             const tri_config *parent, tri_rng *rng,
                             tri_config *out)
{
    for (int i = 0; i < TRIES; i++) {
        int target = draw_param(w, parent, rng);
        int is_changed = 0;

        tri_walk_begin(w);
        while (tri_walk_param(w) < target) {
            keep(w, parent, rng);
        }
        if (target >= 0) {
            is_changed = change(w, parent, rng);
        }
        while (is_changed && tri_walk_param(w) >= 0) {
            keep(w, parent, rng);
        }
        if (is_changed && tri_walk_end(w, out) == TRI_OK &&
            !tri_space_equal(space, parent, out)) {
            return TRI_OK;
        }
        tri_error_clear();
    }
    return TRI_FAIL(TRI_ENOTFOUND, "no neighbour was found");
}

/* ---- the population ------------------------------------------------------ */

typedef struct member { /* a trial: its records are [from, to) of the order */
    int from, to;
} member;

typedef struct tribe {
    const tri_record **order; /* by trial, then resource */
    member *members;          /* the oldest first */
    int n;
    double sign;
} tribe;

static int by_trial(const void *a, const void *b)
{
    const tri_record *p = *(const tri_record *const *)a;
    const tri_record *q = *(const tri_record *const *)b;

    if (p->trial != q->trial) {
        return p->trial < q->trial ? -1 : 1;
    }
    return (p->resource > q->resource) - (p->resource < q->resource);
}

static int may_be_parent(const tri_record *const *r, int n)
{
    for (int i = 0; i < n; i++) {
        if (r[i]->failed || !isfinite(r[i]->objective)) {
            return 0;
        }
    }
    return n > 0;
}

static void tribe_fini(tribe *t)
{
    free((void *)t->order);
    free(t->members);
}

static tri_status tribe_init(tribe *t, const tri_snapshot *s, int maximize)
{
    size_t room = (size_t)s->n_records + 1;
    int to;

    *t = (tribe){.sign = maximize ? -1 : 1};
    t->order = malloc(room * sizeof *t->order);
    t->members = malloc(room * sizeof *t->members);
    if (!t->order || !t->members) {
        tribe_fini(t);
        return TRI_FAIL(TRI_ENOMEM, "no memory for a population");
    }
    for (int i = 0; i < s->n_records; i++) {
        t->order[i] = &s->records[i];
    }
    if (s->n_records > 0) {
        qsort((void *)t->order, (size_t)s->n_records, sizeof *t->order,
              by_trial);
    }
    for (int from = 0; from < s->n_records; from = to) {
        for (to = from + 1;
             to < s->n_records && t->order[to]->trial == t->order[from]->trial;
             to++) {
        }
        if (may_be_parent(t->order + from, to - from)) {
            t->members[t->n++] = (member){from, to};
        }
    }
    return TRI_OK;
}

/* Whether a is better than b: at the largest resource that both have a result
 * for, else by who came further. */
static int is_better(const tribe *t, const member *a, const member *b)
{
    int i = a->to - 1;
    int k = b->to - 1;

    while (i >= a->from && k >= b->from) {
        const tri_record *p = t->order[i];
        const tri_record *q = t->order[k];

        if (p->resource == q->resource) {
            return t->sign * p->objective < t->sign * q->objective;
        }
        i -= p->resource > q->resource;
        k -= p->resource < q->resource;
    }
    return t->order[a->to - 1]->resource > t->order[b->to - 1]->resource;
}

static const tri_config *draw_parent(const tribe *t, tri_rng *rng)
{
    int alive = t->n < TRI_EVOLVE_POPULATION ? t->n : TRI_EVOLVE_POPULATION;
    const member *best = NULL;

    for (int i = 0; i < TRI_EVOLVE_TOURNAMENT; i++) {
        const member *m = &t->members[t->n - 1 -
                                      (int)tri_rng_below(rng, (uint64_t)alive)];

        if (!best || is_better(t, m, best)) {
            best = m;
        }
    }
    return t->order[best->from]->config;
}

/* ---- answers ------------------------------------------------------------ */

/* *at: a child's place, that of the likeliest to run where all are too likely
 * to fail, -1 where all that were drawn are taken. */
static tri_status breed(const tribe *t, tri_pool *pool, const tri_snapshot *s,
                        const tri_caution *c, tri_walk *w, tri_rng *rng,
                        tri_config *child, int64_t *at)
{
    double least = INFINITY;

    *at = -1;
    for (int i = 0; i < TRIES && least > c->risk; i++) {
        const tri_config *parent = draw_parent(t, rng);
        int64_t place = -1;
        double fails;

        if (tri_evolve_mutate(w, pool->space, parent, rng, child) == TRI_OK) {
            TRI_TRY(tri_pool_add(pool, s, child, &place));
        }
        if (place >= 0) {
            TRI_TRY(tri_caution_of(c, pool, place, &fails));
            *at = fails < least ? place : *at;
            least = fmin(least, fails);
        }
    }
    tri_error_clear();
    return TRI_OK;
}

static tri_status breed_all(const tribe *t, tri_pool *pool,
                            const tri_snapshot *s, const tri_caution *c,
                            uint64_t seed, int wanted, int64_t *at, int *n)
{
    tri_config *child = calloc((size_t)pool->n_params + 1, sizeof *child);
    tri_walk *w = NULL;
    tri_status st = child ? tri_walk_create(pool->space, &w)
                          : TRI_FAIL(TRI_ENOMEM, "no memory for a child");

    for (int i = 0; st == TRI_OK && i < wanted; i++) {
        tri_rng rng = tri_rng_stream(
                seed, (uint64_t)s->number << 16 | (uint64_t)i, TRI_RNG_EVOLVE);
        int64_t place;

        st = breed(t, pool, s, c, w, &rng, child, &place);
        if (st == TRI_OK && place >= 0) {
            pool->taken[place] = 1;
            at[(*n)++] = place;
        }
    }
    tri_walk_destroy(w);
    free(child);
    return st;
}

tri_status tri_evolve(tri_pool *pool, const tri_snapshot *s, int maximize,
                      const tri_caution *c, uint64_t seed, int wanted,
                      int64_t *at, int *n_children, int *n)
{
    tri_rng rng = tri_rng_stream(seed, (uint64_t)s->number << 16 | 0xffff,
                                 TRI_RNG_EVOLVE);
    tribe t;
    int found = 0;
    tri_status st;

    TRI_TRY(tribe_init(&t, s, maximize));
    st = t.n < TRI_EVOLVE_FIRST
                 ? TRI_OK
                 : breed_all(&t, pool, s, c, seed, wanted, at, &found);
    tribe_fini(&t);
    TRI_TRY(st);
    *n_children = found;
    while (found < wanted) {
        int64_t place;

        TRI_TRY(tri_caution_random(c, pool, &rng, &place));
        if (place < 0) {
            break;
        }
        pool->taken[place] = 1;
        at[found++] = place;
    }
    *n = found;
    return TRI_OK;
}

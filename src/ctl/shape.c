/*
 * Shapes and what it costs to take ranks of them.
 */
#include "src/ctl/shape.h"

#include <stdlib.h>
#include <string.h>

#define HASHED 1024

void tri_shapes_fini(tri_shapes *s)
{
    for (int i = 0; i < s->n; i++) {
        free(s->list[i].parts);
        free(s->list[i].cost);
    }
    free(s->list);
    free(s->hashed);
    *s = (tri_shapes){0};
}

static int add(tri_shapes *s, int level, int n_free)
{
    if (s->n == s->room) {
        int room = s->room ? 2 * s->room : 64;
        tri_shape *grown = realloc(s->list, (size_t)room * sizeof *grown);

        if (!grown) {
            return -1;
        }
        s->list = grown;
        s->room = room;
    }
    s->list[s->n] = (tri_shape){.level = level,
                                .n_free = n_free,
                                .next_hashed = -1,
                                .first = -1,
                                .prev = -1,
                                .next = -1};
    return s->n++;
}

tri_status tri_shapes_init(tri_shapes *s, int n_levels, const tri_part *unit,
                           int most)
{
    *s = (tri_shapes){.n_levels = n_levels};
    memcpy(s->unit, unit, (size_t)n_levels * sizeof *unit);
    s->hashed = malloc(HASHED * sizeof *s->hashed);
    if (!s->hashed) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for shapes");
    }
    s->n_hashed = HASHED;
    memset(s->hashed, -1, HASHED * sizeof *s->hashed);
    for (int i = 0; n_levels == 1 && i <= most; i++) {
        if (add(s, 0, i) < 0) { /* the number of the shape is what is free */
            tri_shapes_fini(s);
            return TRI_FAIL(TRI_ENOMEM, "no memory for shapes");
        }
    }
    return TRI_OK;
}

/* ---- finding ----------------------------------------------------------- */

static unsigned hash(int level, const int *parts, int n)
{
    uint64_t h = 1469598103934665603u ^ (unsigned)level;

    for (int i = 0; i < n; i++) {
        h = (h ^ (unsigned)parts[i]) * 1099511628211u;
    }
    return (unsigned)(h ^ h >> 32);
}

/* Few, and mostly in order. */
static void sort(int *parts, int n)
{
    for (int i = 1; i < n; i++) {
        int x = parts[i], k = i;

        for (; k > 0 && parts[k - 1] > x; k--) {
            parts[k] = parts[k - 1];
        }
        parts[k] = x;
    }
}

int tri_shapes_find(tri_shapes *s, int level, int *parts, int n_parts,
                    int n_free)
{
    size_t bytes = (size_t)n_parts * sizeof *parts;
    int *chain, made;

    sort(parts, n_parts);
    chain = &s->hashed[hash(level, parts, n_parts) % (unsigned)s->n_hashed];
    for (int i = *chain; i >= 0; i = s->list[i].next_hashed) {
        const tri_shape *shape = &s->list[i];

        if (shape->level == level && shape->n_parts == n_parts &&
            memcmp(shape->parts, parts, bytes) == 0) {
            return i;
        }
    }
    made = add(s, level, n_free);
    if (made < 0) {
        return -1;
    }
    s->list[made].parts = malloc(bytes);
    if (!s->list[made].parts) {
        s->n--;
        return -1;
    }
    memcpy(s->list[made].parts, parts, bytes);
    s->list[made].n_parts = n_parts;
    s->list[made].next_hashed = *chain;
    *chain = made;
    return made;
}

/* ---- costs ------------------------------------------------------------- */

/* What comes to the costs of the parts, where m of n_free are taken.  Hosts
 * are not counted: whoever compares takes equally many. */
static tri_cost own_cost(const tri_shapes *s, int level, int n_free, int m)
{
    tri_part unit = s->unit[level];
    uint64_t touched = unit == TRI_PART_HOST
                               ? 0
                               : (uint64_t)1 << 21 * (TRI_PART_CACHE - unit);

    return (tri_cost){touched, (uint64_t)(n_free - m)
                                       << 16 * (TRI_PART_CACHE - unit)};
}

/* best[0..m] over the parts so far becomes that with one more, of which at most
 * `most` are taken; from[] (may be NULL): how many of it. */
static void add_part(tri_cost *best, int m, const tri_cost *part, int most,
                     int *from)
{
    for (int x = m; x >= 0; x--) {
        tri_cost least = best[x];
        int taken = 0;

        for (int a = 1; a <= most && a <= x; a++) {
            tri_cost c = best[x - a];

            if (c.touched == UINT64_MAX) {
                continue;
            }
            c = tri_cost_add(c, part[a]);
            if (least.touched == UINT64_MAX || tri_cost_less(c, least)) {
                least = c;
                taken = a;
            }
        }
        best[x] = least;
        if (from) {
            from[x] = taken;
        }
    }
}

static void begin(tri_cost *best, int m)
{
    best[0] = (tri_cost){0, 0};
    for (int x = 1; x <= m; x++) {
        best[x] = (tri_cost){UINT64_MAX, 0};
    }
}

static tri_status weigh(tri_shapes *s, int shape);

/* The costs of a part, 0 to what is free of it. */
static tri_status part_costs(tri_shapes *s, int level, int shape,
                             tri_cost *scratch, const tri_cost **out)
{
    if (level < s->n_levels - 1) {
        TRI_TRY(weigh(s, shape));
        *out = s->list[shape].cost;
        return TRI_OK;
    }
    for (int m = 1; m <= shape; m++) {
        scratch[m] = own_cost(s, level, shape, m);
    }
    *out = scratch;
    return TRI_OK;
}

/* The costs of what has these parts; `best` and `scratch` have n + 1. */
static tri_status weigh_parts(tri_shapes *s, int level, const int *parts,
                              int n_parts, int n, tri_cost *best,
                              tri_cost *scratch, int *from)
{
    begin(best, n);
    for (int i = 0; i < n_parts; i++) {
        int most = tri_shapes_free(s, level + 1, parts[i]);
        const tri_cost *part;

        TRI_TRY(part_costs(s, level + 1, parts[i], scratch, &part));
        add_part(best, n, part, most,
                 from ? from + (size_t)i * (size_t)(n + 1) : NULL);
    }
    return TRI_OK;
}

static tri_status weigh(tri_shapes *s, int shape)
{
    tri_shape *x = &s->list[shape];
    size_t n = (size_t)x->n_free + 1;
    tri_cost *best, *scratch;
    tri_status st;

    if (x->cost) {
        return TRI_OK;
    }
    best = malloc(n * sizeof *best);
    scratch = malloc(n * sizeof *scratch);
    if (!best || !scratch) {
        free(best);
        free(scratch);
        return TRI_FAIL(TRI_ENOMEM, "no memory for the costs of a shape");
    }
    st = x->parts ? weigh_parts(s, x->level, x->parts, x->n_parts, x->n_free,
                                best, scratch, NULL)
                  : TRI_OK;
    free(scratch);
    if (st != TRI_OK) {
        free(best);
        return st;
    }
    for (int m = 0; m <= x->n_free; m++) {
        tri_cost own = own_cost(s, x->level, x->n_free, m);

        best[m] = m == 0     ? (tri_cost){0, 0}
                  : x->parts ? tri_cost_add(best[m], own)
                             : own;
    }
    x->cost = best;
    return TRI_OK;
}

tri_status tri_shapes_cost(tri_shapes *s, int level, int shape, int m,
                           tri_cost *out)
{
    if (level == s->n_levels - 1) {
        *out = own_cost(s, level, shape, m);
        return TRI_OK;
    }
    TRI_TRY(weigh(s, shape));
    *out = s->list[shape].cost[m];
    return TRI_OK;
}

tri_status tri_shapes_share(tri_shapes *s, int level, const int *parts,
                            int n_parts, int m, int *out)
{
    size_t n = (size_t)m + 1;
    int widest = m;
    tri_cost *best, *scratch;
    int *from;
    tri_status st;

    for (int i = 0; i < n_parts; i++) {
        int has = tri_shapes_free(s, level + 1, parts[i]);

        widest = has > widest ? has : widest;
    }
    best = calloc(n, sizeof *best);
    scratch = calloc((size_t)widest + 1, sizeof *scratch);
    from = calloc(n * (size_t)n_parts, sizeof *from);
    st = best && scratch && from
                 ? weigh_parts(s, level, parts, n_parts, m, best, scratch, from)
                 : TRI_FAIL(TRI_ENOMEM, "no memory to share out a group");
    for (int i = n_parts - 1; st == TRI_OK && i >= 0; i--) {
        out[i] = from[(size_t)i * n + (size_t)m];
        m -= out[i];
    }
    free(best);
    free(scratch);
    free(from);
    return st;
}

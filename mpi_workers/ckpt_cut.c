/*
 * Runs, boxes and checksums of parts of tensors.
 */
#include "mpi_workers/ckpt_cut.h"

#include <string.h>

tri_cut tri_cut_of(const tri_tensor *t, int64_t from, int64_t n)
{
    tri_cut c = {.n_dims = t->n_dims,
                 .split = t->split,
                 .first = t->first,
                 .len = t->len,
                 .from = from,
                 .n = n};

    memcpy(c.shape, t->shape, sizeof c.shape);
    return c;
}

static int64_t product(const int64_t *shape, int from, int to)
{
    int64_t n = 1;

    for (int i = from; i < to; i++) {
        n *= shape[i];
    }
    return n;
}

int64_t tri_cut_whole(const tri_cut *c)
{
    return product(c->shape, 0, c->n_dims);
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

void tri_cut_runs(const tri_cut *c, int64_t global, int64_t n,
                  tri_cut_run_fn *fn, void *ctx)
{
    int split = c->split >= 0;
    int64_t inner = product(c->shape, c->split + 1, c->n_dims);
    int64_t row = split ? c->shape[c->split] * inner : inner; /* of the whole */
    int64_t here = split ? c->len * inner : inner;
    int64_t skip = split ? c->first * inner : 0;

    if (here == 0 || row == 0) {
        return;
    }
    for (int64_t o = global / row; o * row < global + n; o++) {
        int64_t ahead = o * row + skip - o * here; /* global less local */
        int64_t lo = most(most(o * here, c->from), global - ahead);
        int64_t hi = least(least((o + 1) * here, c->from + c->n),
                           global + n - ahead);

        if (hi > lo) {
            fn(ctx, lo, lo + ahead, hi - lo);
        }
    }
}

/* ---- boxes --------------------------------------------------------------- */

typedef struct walk {
    const int64_t *shape;
    int n_dims;
    tri_cut_box_fn *fn;
    void *ctx;
    int64_t start[TRI_TENSOR_DIMS], count[TRI_TENSOR_DIMS];
    int64_t at;
} walk;

/* The box of [a, b) of dimension `d`, and of all of those behind it. */
static int give(walk *w, int d, int64_t a, int64_t b)
{
    int64_t n = (b - a) * product(w->shape, d + 1, w->n_dims);
    int result;

    w->start[d] = a;
    w->count[d] = b - a;
    for (int i = d + 1; i < w->n_dims; i++) {
        w->start[i] = 0;
        w->count[i] = w->shape[i];
    }
    result = w->fn(w->ctx, w->start, w->count, w->at, n);
    w->at += n;
    return result;
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as there are dimensions */
static int walk_range(walk *w, int d, int64_t from, int64_t to)
{
    int64_t inner = product(w->shape, d + 1, w->n_dims);
    int64_t a = from / inner;
    int64_t b = to / inner;
    int result = 0;

    w->count[d] = 1;
    if (a == b) {
        w->start[d] = a;
        return walk_range(w, d + 1, from % inner, to % inner);
    }
    if (from % inner) {
        w->start[d] = a++;
        result = walk_range(w, d + 1, from % inner, inner);
    }
    if (!result && b > a) {
        result = give(w, d, a, b);
    }
    if (!result && to % inner) {
        w->start[d] = b;
        w->count[d] = 1;
        result = walk_range(w, d + 1, 0, to % inner);
    }
    return result;
}

int tri_cut_boxes(const int64_t *shape, int n_dims, int64_t from, int64_t n,
                  tri_cut_box_fn *fn, void *ctx)
{
    walk w = {.shape = shape, .n_dims = n_dims, .fn = fn, .ctx = ctx};

    return n > 0 ? walk_range(&w, 0, from, from + n) : 0;
}

/* From indices here to those of the whole. */
typedef struct shift {
    const tri_cut *cut;
    tri_cut_box_fn *fn;
    void *ctx;
} shift;

static int give_shifted(void *ctx, const int64_t *start, const int64_t *count,
                        int64_t at, int64_t n)
{
    const shift *s = ctx;
    int64_t moved[TRI_TENSOR_DIMS];

    memcpy(moved, start, sizeof moved);
    if (s->cut->split >= 0) {
        moved[s->cut->split] += s->cut->first;
    }
    return s->fn(s->ctx, moved, count, at, n);
}

int tri_cut_own_boxes(const tri_cut *c, tri_cut_box_fn *fn, void *ctx)
{
    shift s = {.cut = c, .fn = fn, .ctx = ctx};
    int64_t shape[TRI_TENSOR_DIMS];

    memcpy(shape, c->shape, sizeof shape);
    if (c->split >= 0) {
        shape[c->split] = c->len;
    }
    return tri_cut_boxes(shape, c->n_dims, c->from, c->n, give_shifted, &s);
}

/* ---- checksums ----------------------------------------------------------- */

typedef struct summing {
    const tri_real *x; /* of local element `from` */
    int64_t from;
    uint64_t sum;
} summing;

static uint64_t bits_of(tri_real x)
{
#ifdef TRI_REAL_DOUBLE
    uint64_t bits;
#else
    uint32_t bits;
#endif
    _Static_assert(sizeof bits == sizeof x, "bits of an element");
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static void add_run(void *ctx, int64_t local, int64_t global, int64_t n)
{
    summing *s = ctx;

    for (int64_t i = 0; i < n; i++) {
        uint64_t place = (uint64_t)(global + i) + 1;
        uint64_t h = bits_of(s->x[local - s->from + i]) +
                     UINT64_C(0x9E3779B97F4A7C15) * place;

        h = (h ^ h >> 32) * UINT64_C(0xD6E8FEB86659FD93);
        s->sum += h ^ h >> 32;
    }
}

uint64_t tri_cut_sum(const tri_cut *c, const tri_real *x)
{
    summing s = {.x = x, .from = c->from};

    tri_cut_runs(c, 0, tri_cut_whole(c), add_run, &s);
    return s.sum;
}

/*
 * The parameter table: offsets, initial values, norms.  It knows how tensors
 * are split but not why, and nothing of the networks that they belong to.
 */
#include "models/ops/ops.h"

#include "trireme/rng.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

static int n_alive;

static int64_t round_up(int64_t n)
{
    return (n + TRI_TENSOR_ALIGN - 1) / TRI_TENSOR_ALIGN * TRI_TENSOR_ALIGN;
}

static tri_status grow(tri_tensors *table)
{
    int room = table->room ? 2 * table->room : 32;
    tri_tensor *at = realloc(table->at, (size_t)room * sizeof *at);

    if (!at) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for %d tensors", room);
    }
    table->at = at;
    table->room = room;
    return TRI_OK;
}

tri_status tri_tensors_add(tri_tensors *table, const tri_tensor *t)
{
    tri_tensor *here;
    int d;

    assert(t->n_dims >= 1 && t->n_dims <= TRI_TENSOR_DIMS);
    assert(t->split < t->n_dims);
    assert(table->n == 0 || table->at[table->n - 1].unit <= t->unit);
    if (table->n == table->room) {
        TRI_TRY(grow(table));
    }
    here = &table->at[table->n++];
    *here = *t;
    here->count = 1;
    for (d = 0; d < t->n_dims; d++) {
        here->count *= d == t->split ? t->len : t->shape[d];
    }
    if (t->split < 0) {
        here->first = 0;
        here->len = 0;
    }
    here->offset = table->count;
    table->count += round_up(here->count + here->spare);
    return TRI_OK;
}

void tri_tensors_fini(tri_tensors *table)
{
    free(table->at);
    *table = (tri_tensors){0};
}

int tri_tensors_units(const tri_tensors *table)
{
    return table->n ? table->at[table->n - 1].unit + 1 : 0;
}

void tri_tensors_unit(const tri_tensors *table, int unit, int64_t *first,
                      int64_t *count)
{
    int k = 0;

    while (k < table->n && table->at[k].unit < unit) {
        k++;
    }
    *first = k < table->n ? table->at[k].offset : table->count;
    while (k < table->n && table->at[k].unit == unit) {
        k++;
    }
    *count = (k < table->n ? table->at[k].offset : table->count) - *first;
}

/* Row-major over (outer, split, inner): the local index has `len` in the
 * middle where the global one has shape[split]. */
int64_t tri_tensor_global(const tri_tensor *t, int64_t i)
{
    int64_t inner = 1, block;
    int d;

    if (t->split < 0) {
        return i;
    }
    for (d = t->split + 1; d < t->n_dims; d++) {
        inner *= t->shape[d];
    }
    block = i / inner;
    return ((block / t->len) * t->shape[t->split] + t->first + block % t->len) *
                   inner +
           i % inner;
}

/* The sum of the four 16-bit parts of a draw, less its mean, over its
 * deviation sqrt(4 (2^32 - 1) / 12). */
static double bell(uint64_t draw)
{
    int64_t sum = (int64_t)(draw & 0xffff) + (int64_t)(draw >> 16 & 0xffff) +
                  (int64_t)(draw >> 32 & 0xffff) + (int64_t)(draw >> 48);

    return (double)(sum - 2 * 0xffff) / sqrt(4294967295.0 / 3);
}

int64_t tri_tensor_within(const tri_tensor *t, int64_t first, int64_t count,
                          int64_t *from)
{
    int64_t end = first + count - t->offset;

    *from = first > t->offset ? first - t->offset : 0;
    end = end < t->count ? end : t->count;
    return end > *from ? end - *from : 0;
}

/* Elements [from, from + n) of `t` into `x`. */
static void init_normal(const tri_tensor *t, uint64_t seed, int64_t from,
                        int64_t n, tri_real *x)
{
    tri_rng rng = tri_rng_stream(seed, t->id, TRI_RNG_INIT);

    for (int64_t i = 0; i < n; i++) {
        uint64_t at = (uint64_t)tri_tensor_global(t, from + i);

        x[i] = (tri_real)(t->std * bell(tri_rng_at(&rng, at)));
    }
}

void tri_tensors_init_part(const tri_tensors *table, uint64_t seed,
                           int64_t first, int64_t count, tri_real *params)
{
    for (int k = 0; k < table->n; k++) {
        const tri_tensor *t = &table->at[k];
        int64_t from, n = tri_tensor_within(t, first, count, &from);
        tri_real *x = params + (t->offset + from - first);

        if (n == 0) {
            continue;
        }
        if (t->init == TRI_INIT_NORMAL) {
            init_normal(t, seed, from, n, x);
            continue;
        }
        for (int64_t i = 0; i < n; i++) {
            x[i] = t->init == TRI_INIT_ONE ? (tri_real)1 : (tri_real)0;
        }
    }
}

void tri_tensors_init(const tri_tensors *table, uint64_t seed, tri_real *params)
{
    tri_tensors_init_part(table, seed, 0, table->count, params);
}

double tri_tensors_sumsq_part(const tri_tensors *table, int64_t first,
                              int64_t count, const tri_real *grads,
                              unsigned skip)
{
    double total = 0;

    for (int k = 0; k < table->n; k++) {
        const tri_tensor *t = &table->at[k];
        int64_t from, n = tri_tensor_within(t, first, count, &from);

        if (n > 0 && !(t->flags & skip)) {
            total += tri_sumsq(grads + (t->offset + from - first), n);
        }
    }
    return total;
}

double tri_tensors_sumsq(const tri_tensors *table, const tri_real *grads,
                         unsigned skip)
{
    return tri_tensors_sumsq_part(table, 0, table->count, grads, skip);
}

int tri_models_alive(void)
{
    return n_alive;
}

void tri_models_count(int change)
{
    n_alive += change;
    assert(n_alive >= 0);
}

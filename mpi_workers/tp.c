/*
 * Split products by local products and sums.
 */
#include "mpi_workers/tp.h"

#include "models/ops/ops.h"

static void column(void *ctx, const tri_linear *l, int64_t rows,
                   const tri_real *x, tri_real *y)
{
    (void)ctx;
    tri_linear_forward(l, rows, x, y);
}

static void column_back(void *ctx, const tri_linear *l, int64_t rows,
                        const tri_real *x, const tri_real *dy, tri_real *dx)
{
    const tri_tp *tp = ctx;

    tri_linear_backward(l, rows, x, dy, dx);
    tri_coll_sum(tp->coll, dx, rows * l->in);
}

static void row(void *ctx, const tri_linear *l, int64_t rows, const tri_real *x,
                tri_real *y)
{
    const tri_tp *tp = ctx;
    tri_linear partial = *l;

    partial.b = NULL;
    tri_linear_forward(&partial, rows, x, y);
    tri_coll_sum(tp->coll, y, rows * l->out);
    if (l->b) {
        tri_bias_add(l->b, rows, l->out, y);
    }
}

static void row_back(void *ctx, const tri_linear *l, int64_t rows,
                     const tri_real *x, const tri_real *dy, tri_real *dx)
{
    (void)ctx;
    tri_linear_backward(l, rows, x, dy, dx);
}

static void sum(void *ctx, int64_t n, tri_real *x)
{
    const tri_tp *tp = ctx;

    tri_coll_sum(tp->coll, x, n);
}

static void scatter(void *ctx, int64_t n, tri_real *x)
{
    const tri_tp *tp = ctx;

    tri_coll_reduce_scatter(tp->coll, x, n);
}

static void gather(void *ctx, int64_t n, tri_real *x)
{
    const tri_tp *tp = ctx;

    tri_coll_gather(tp->coll, x, n);
}

void tri_tp_products(tri_tp *tp, tri_products *out)
{
    if (tp->by_rows) {
        tri_sp_products(out);
    } else {
        *out = (tri_products){.column = column,
                              .row = row,
                              .column_back = column_back,
                              .row_back = row_back};
    }
    out->ctx = tp;
    out->parts = tp->parts;
    out->part = tp->part;
    out->by_rows = tp->by_rows;
    out->sum = sum;
    out->scatter = scatter;
    out->gather = gather;
}

tri_status tri_tp_alloc(tri_tp *tp, int64_t share, tri_region *region)
{
    uint64_t bytes = (uint64_t)share * (uint64_t)tp->parts * sizeof(tri_real);
    void *p = NULL;

    if (tp->by_rows) {
        TRI_TRY(tri_region_alloc(region, bytes, "messages", &p));
        tp->work = p;
    }
    return TRI_OK;
}

/* Tensors that lie one after the other are one sum. */
void tri_tp_reduce(tri_coll *coll, const tri_tensors *table, int64_t first,
                   int64_t count, tri_real *grads)
{
    int k = 0, n = table->n;

    while (k < n && table->at[k].offset < first) {
        k++;
    }
    while (n > k && table->at[n - 1].offset >= first + count) {
        n--;
    }
    while (k < n) {
        int64_t from = table->at[k].offset, to = from;

        while (k < n && (table->at[k].flags & TRI_TENSOR_TP_PART)) {
            to = table->at[k].offset + table->at[k].count;
            k++;
        }
        if (to > from) {
            tri_coll_sum(coll, grads + (from - first), to - from);
        } else {
            k++;
        }
    }
}

/*
 * Split products by rows: what tp.c has whole is here a share of the rows,
 * gathered and scattered around the local products.  The bias of a row product
 * is added to the share; its gradient is of the gathered rows, so whole.
 */
#include "mpi_workers/tp.h"

#include "models/ops/ops.h"

#include <string.h>

/* This rank's share of `n` elements in the workspace. */
static tri_real *share(const tri_tp *tp, int64_t n)
{
    return tp->work + n / tp->parts * tp->part;
}

static const tri_real *gathered(const tri_tp *tp, const tri_real *x, int64_t n)
{
    memcpy(share(tp, n), x, (size_t)(n / tp->parts) * sizeof *x);
    tri_coll_gather(tp->coll, tp->work, n);
    return tp->work;
}

static void scattered(const tri_tp *tp, tri_real *x, int64_t n)
{
    tri_coll_reduce_scatter(tp->coll, tp->work, n);
    memcpy(x, share(tp, n), (size_t)(n / tp->parts) * sizeof *x);
}

static void column(void *ctx, const tri_linear *l, int64_t rows,
                   const tri_real *x, tri_real *y)
{
    tri_linear_forward(l, rows, gathered(ctx, x, rows * l->in), y);
}

static void column_back(void *ctx, const tri_linear *l, int64_t rows,
                        const tri_real *x, const tri_real *dy, tri_real *dx)
{
    const tri_tp *tp = ctx;
    const tri_real *all = gathered(tp, x, rows * l->in);

    tri_linear_backward(l, rows, all, dy, tp->work);
    scattered(tp, dx, rows * l->in);
}

static void row(void *ctx, const tri_linear *l, int64_t rows, const tri_real *x,
                tri_real *y)
{
    const tri_tp *tp = ctx;
    tri_linear partial = *l;

    partial.b = NULL;
    tri_linear_forward(&partial, rows, x, tp->work);
    scattered(tp, y, rows * l->out);
    if (l->b) {
        tri_bias_add(l->b, rows / tp->parts, l->out, y);
    }
}

static void row_back(void *ctx, const tri_linear *l, int64_t rows,
                     const tri_real *x, const tri_real *dy, tri_real *dx)
{
    tri_linear_backward(l, rows, x, gathered(ctx, dy, rows * l->out), dx);
}

void tri_sp_products(tri_products *out)
{
    *out = (tri_products){.column = column,
                          .row = row,
                          .column_back = column_back,
                          .row_back = row_back};
}

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
    tri_linear_backward(l, rows, x, dy, dx);
    tri_coll_sum(ctx, dx, rows * l->in);
}

static void row(void *ctx, const tri_linear *l, int64_t rows, const tri_real *x,
                tri_real *y)
{
    tri_linear partial = *l;

    partial.b = NULL;
    tri_linear_forward(&partial, rows, x, y);
    tri_coll_sum(ctx, y, rows * l->out);
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

void tri_tp_products(tri_coll *coll, int parts, int part, tri_products *out)
{
    *out = (tri_products){.ctx = coll,
                          .parts = parts,
                          .part = part,
                          .column = column,
                          .row = row,
                          .column_back = column_back,
                          .row_back = row_back};
}

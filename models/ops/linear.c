/*
 * Linear layers on one rank, and the products of an axis of one rank.
 */
#include "models/ops/ops.h"

TRI_KERNEL(void, tri_bias_add,
           (const tri_real *restrict b, int64_t rows, int64_t n,
            tri_real *restrict y),
           (b, rows, n, y))
{
    int64_t r, i;

    for (r = 0; r < rows; r++) {
        for (i = 0; i < n; i++) {
            y[r * n + i] += b[i];
        }
    }
}

TRI_KERNEL(void, tri_vector_add,
           (const tri_real *restrict x, int64_t n, tri_real *restrict y),
           (x, n, y))
{
    int64_t i;

    for (i = 0; i < n; i++) {
        y[i] += x[i];
    }
}

TRI_KERNEL(static void, sumsq, (const tri_real *x, int64_t n, double *out),
           (x, n, out))
{
    double sum = 0;
    int64_t i;

    for (i = 0; i < n; i++) {
        sum += (double)x[i] * (double)x[i];
    }
    *out = sum;
}

double tri_sumsq(const tri_real *x, int64_t n)
{
    double sum = 0;

    sumsq(x, n, &sum);
    return sum;
}

TRI_KERNEL(static void, column_sums,
           (const tri_real *restrict dy, int64_t rows, int64_t n,
            tri_real *restrict db),
           (dy, rows, n, db))
{
    int64_t r, i;

    for (r = 0; r < rows; r++) {
        for (i = 0; i < n; i++) {
            db[i] += dy[r * n + i];
        }
    }
}

void tri_linear_forward(const tri_linear *l, int64_t rows, const tri_real *x,
                        tri_real *y)
{
    tri_gemm(0, 1, rows, l->out, l->in, 1, x, l->in, l->w, l->in, 0, y, l->out);
    if (l->b) {
        tri_bias_add(l->b, rows, l->out, y);
    }
}

void tri_linear_backward(const tri_linear *l, int64_t rows, const tri_real *x,
                         const tri_real *dy, tri_real *dx)
{
    tri_gemm(1, 0, l->out, l->in, rows, 1, dy, l->out, x, l->in, 1, l->dw,
             l->in);
    if (l->db) {
        column_sums(dy, rows, l->out, l->db);
    }
    if (dx) {
        tri_gemm(0, 0, rows, l->in, l->out, 1, dy, l->out, l->w, l->in, 0, dx,
                 l->in);
    }
}

static void forward(void *ctx, const tri_linear *l, int64_t rows,
                    const tri_real *x, tri_real *y)
{
    (void)ctx;
    tri_linear_forward(l, rows, x, y);
}

static void backward(void *ctx, const tri_linear *l, int64_t rows,
                     const tri_real *x, const tri_real *dy, tri_real *dx)
{
    (void)ctx;
    tri_linear_backward(l, rows, x, dy, dx);
}

/* Of one part. */
static void nothing(void *ctx, int64_t n, tri_real *x)
{
    (void)ctx;
    (void)n;
    (void)x;
}

const tri_products *tri_products_serial(void)
{
    static const tri_products serial = {.parts = 1,
                                        .part = 0,
                                        .column = forward,
                                        .row = forward,
                                        .column_back = backward,
                                        .row_back = backward,
                                        .sum = nothing,
                                        .scatter = nothing,
                                        .gather = nothing};

    return &serial;
}

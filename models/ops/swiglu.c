/*
 * SwiGLU (Shazeer 2020): y = g sigmoid(g) u, of rows that hold the gates g
 * first and then the values u.
 */
#include "models/ops/ops.h"

#include "models/ops/vmath.h"

#define ONE ((tri_real)1)

TRI_KERNEL(static void, forward_row,
           (int64_t f, const tri_real *restrict g, const tri_real *restrict u,
            tri_real *restrict y),
           (f, g, u, y))
{
    int64_t i;

    for (i = 0; i < f; i++) {
        y[i] = g[i] / (ONE + tri_vexp(-g[i])) * u[i];
    }
}

void tri_swiglu_forward(int64_t rows, int64_t f, const tri_real *x, tri_real *y)
{
    int64_t r;

    for (r = 0; r < rows; r++) {
        forward_row(f, x + r * 2 * f, x + r * 2 * f + f, y + r * f);
    }
}

/* With s = sigmoid(g): d(g s) = s (1 + g (1 - s)). */
TRI_KERNEL(static void, backward_row,
           (int64_t f, const tri_real *restrict g, const tri_real *restrict u,
            const tri_real *restrict dy, tri_real *restrict dg,
            tri_real *restrict du),
           (f, g, u, dy, dg, du))
{
    int64_t i;

    for (i = 0; i < f; i++) {
        tri_real s = ONE / (ONE + tri_vexp(-g[i]));

        du[i] = dy[i] * g[i] * s;
        dg[i] = dy[i] * u[i] * s * (ONE + g[i] * (ONE - s));
    }
}

void tri_swiglu_backward(int64_t rows, int64_t f, const tri_real *x,
                         const tri_real *dy, tri_real *dx)
{
    int64_t r;

    for (r = 0; r < rows; r++) {
        backward_row(f, x + r * 2 * f, x + r * 2 * f + f, dy + r * f,
                     dx + r * 2 * f, dx + r * 2 * f + f);
    }
}

/*
 * GELU, tanh form: x/2 (1 + tanh(u)) with u = sqrt(2/pi) (x + 0.044715 x^3),
 * which is x sigmoid(2u).
 */
#include "models/ops/ops.h"

#include "models/ops/vmath.h"

#define TWO_ROOT ((tri_real)1.5957691216057307118) /* 2 sqrt(2/pi) */
#define CUBE     ((tri_real)0.044715)
#define ONE      ((tri_real)1)

TRI_KERNEL(void, tri_gelu_forward,
           (int64_t n, const tri_real *restrict x, tri_real *restrict y),
           (n, x, y))
{
    int64_t i;

    for (i = 0; i < n; i++) {
        tri_real u = TWO_ROOT * x[i] * (ONE + CUBE * x[i] * x[i]);

        y[i] = x[i] / (ONE + tri_vexp(-u));
    }
}

TRI_KERNEL(void, tri_gelu_backward,
           (int64_t n, const tri_real *x, const tri_real *dy, tri_real *dx),
           (n, x, dy, dx))
{
    int64_t i;

    TRI_IVDEP
    for (i = 0; i < n; i++) {
        tri_real u = TWO_ROOT * x[i] * (ONE + CUBE * x[i] * x[i]);
        tri_real du = TWO_ROOT * (ONE + 3 * CUBE * x[i] * x[i]);
        tri_real s = ONE / (ONE + tri_vexp(-u));

        dx[i] = dy[i] * (s + x[i] * s * (ONE - s) * du);
    }
}

/*
 * Layer normalisation (Ba, Kiros and Hinton 2016), and the same without mean
 * and bias (RMSNorm, Zhang and Sennrich 2019).
 */
#include "models/ops/ops.h"

#include <math.h>

#define EPS ((tri_real)1e-5)

TRI_KERNEL(void, tri_norm_forward,
           (int64_t rows, int64_t h, const tri_real *restrict x,
            const tri_real *restrict g, const tri_real *restrict b,
            tri_real *restrict y, tri_real *restrict mean,
            tri_real *restrict rstd),
           (rows, h, x, g, b, y, mean, rstd))
{
    int64_t r, i;

    for (r = 0; r < rows; r++) {
        const tri_real *xr = x + r * h;
        tri_real *yr = y + r * h;
        tri_real m = 0, v = 0, s;

        for (i = 0; i < h; i++) {
            m += xr[i];
        }
        m /= (tri_real)h;
        for (i = 0; i < h; i++) {
            v += (xr[i] - m) * (xr[i] - m);
        }
        s = (tri_real)1 / (tri_real)sqrt((double)(v / (tri_real)h + EPS));
        for (i = 0; i < h; i++) {
            yr[i] = (xr[i] - m) * s * g[i] + b[i];
        }
        mean[r] = m;
        rstd[r] = s;
    }
}

/* With n = (x - mean) rstd and a = dy g: dx = rstd (a - mean(a) - n mean(a
 * n)), means over the row. */
TRI_KERNEL(void, tri_norm_backward,
           (int64_t rows, int64_t h, const tri_real *restrict x,
            const tri_real *restrict g, const tri_real *restrict mean,
            const tri_real *restrict rstd, const tri_real *restrict dy,
            tri_real *restrict dx, tri_real *restrict dg,
            tri_real *restrict db),
           (rows, h, x, g, mean, rstd, dy, dx, dg, db))
{
    int64_t r, i;

    for (r = 0; r < rows; r++) {
        const tri_real *xr = x + r * h, *dyr = dy + r * h;
        tri_real *dxr = dx + r * h;
        tri_real m = mean[r], s = rstd[r], ma = 0, man = 0;

        for (i = 0; i < h; i++) {
            tri_real n = (xr[i] - m) * s, a = dyr[i] * g[i];

            ma += a;
            man += a * n;
            dg[i] += dyr[i] * n;
            db[i] += dyr[i];
        }
        ma /= (tri_real)h;
        man /= (tri_real)h;
        for (i = 0; i < h; i++) {
            tri_real n = (xr[i] - m) * s;

            dxr[i] += s * (dyr[i] * g[i] - ma - n * man);
        }
    }
}

TRI_KERNEL(void, tri_rms_forward,
           (int64_t rows, int64_t h, const tri_real *restrict x,
            const tri_real *restrict g, tri_real *restrict y,
            tri_real *restrict rstd),
           (rows, h, x, g, y, rstd))
{
    int64_t r, i;

    for (r = 0; r < rows; r++) {
        const tri_real *xr = x + r * h;
        tri_real *yr = y + r * h;
        tri_real v = 0, s;

        for (i = 0; i < h; i++) {
            v += xr[i] * xr[i];
        }
        s = (tri_real)1 / (tri_real)sqrt((double)(v / (tri_real)h + EPS));
        for (i = 0; i < h; i++) {
            yr[i] = xr[i] * s * g[i];
        }
        rstd[r] = s;
    }
}

/* As above without the mean: dx = rstd (a - n mean(a n)). */
TRI_KERNEL(void, tri_rms_backward,
           (int64_t rows, int64_t h, const tri_real *restrict x,
            const tri_real *restrict g, const tri_real *restrict rstd,
            const tri_real *restrict dy, tri_real *restrict dx,
            tri_real *restrict dg),
           (rows, h, x, g, rstd, dy, dx, dg))
{
    int64_t r, i;

    for (r = 0; r < rows; r++) {
        const tri_real *xr = x + r * h, *dyr = dy + r * h;
        tri_real *dxr = dx + r * h;
        tri_real s = rstd[r], man = 0;

        for (i = 0; i < h; i++) {
            tri_real n = xr[i] * s;

            man += dyr[i] * g[i] * n;
            dg[i] += dyr[i] * n;
        }
        man /= (tri_real)h;
        for (i = 0; i < h; i++) {
            dxr[i] += s * (dyr[i] * g[i] - xr[i] * s * man);
        }
    }
}

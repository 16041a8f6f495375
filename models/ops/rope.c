/*
 * Rotary positions (Su et al. 2021): element i of a head and element i + s/2
 * are turned, as a point of the plane, by position x 10000^(-2i/s).  The
 * product of two turned heads depends on the distance of their positions.
 */
#include "models/ops/ops.h"

#include <math.h>

#define BASE 10000.0

void tri_rope_table(int64_t T, int64_t s, tri_real *table)
{
    int64_t t, i, half = s / 2;

    for (t = 0; t < T; t++) {
        for (i = 0; i < half; i++) {
            double angle = (double)t * pow(BASE, -2 * (double)i / (double)s);

            table[t * s + i] = (tri_real)cos(angle);
            table[t * s + half + i] = (tri_real)sin(angle);
        }
    }
}

TRI_KERNEL(static void, turn,
           (int64_t half, const tri_real *restrict c,
            const tri_real *restrict s, tri_real sign, tri_real *restrict x,
            tri_real *restrict y),
           (half, c, s, sign, x, y))
{
    int64_t i;

    for (i = 0; i < half; i++) {
        tri_real a = x[i], b = y[i], w = sign * s[i];

        x[i] = a * c[i] - b * w;
        y[i] = a * w + b * c[i];
    }
}

void tri_rope(int64_t rows, int64_t T, int64_t heads, int64_t s, int64_t ld,
              const tri_real *table, int back, tri_real *x)
{
    int64_t r, h, half = s / 2;
    tri_real sign = (tri_real)(back ? -1 : 1);

    for (r = 0; r < rows; r++) {
        const tri_real *at = table + r % T * s;

        for (h = 0; h < heads; h++) {
            tri_real *head = x + r * ld + h * s;

            turn(half, at, at + half, sign, head, head + half);
        }
    }
}

/*
 * Spread configurations, before there is anything to learn from: each is the
 * one of some random candidates that is farthest from all others (greedy
 * maximin; Johnson, Moore and Ylvisaker, 1990).
 */
#include "src/propose/think_internal.h"

#include <math.h>

static double nearest(const tri_pool *p, int64_t at, const double *x, int n)
{
    const float *row = p->x + (size_t)at * (size_t)p->width;
    double least = INFINITY;

    for (int i = 0; i < n; i++) {
        double square = 0;

        for (int k = 0; k < p->width; k++) {
            double d = row[k] - x[(size_t)i * (size_t)p->width + (size_t)k];

            square += d * d;
        }
        least = fmin(least, square);
    }
    return least;
}

int64_t tri_design_next(const tri_pool *p, const double *x, int n, int tries,
                        tri_rng *rng)
{
    int64_t best = tri_pool_random(p, rng);
    double far = -1;

    for (int i = 0; i < tries && n > 0; i++) {
        int64_t at = tri_pool_random(p, rng);
        double d = at < 0 ? -1 : nearest(p, at, x, n);

        if (d > far) {
            far = d;
            best = at;
        }
    }
    return best;
}

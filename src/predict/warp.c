/*
 * Power transformations of costs (Box and Cox, JRSS B 1964; Yeo and Johnson,
 * Biometrika 2000).
 */
#include "trireme/predict.h"

#include <float.h>
#include <math.h>

/* The powers that are compared, and the prior on them. */
#define LAMBDA_LEAST (-1.0)
#define LAMBDA_STEP  0.125
#define LAMBDA_STEPS 17
#define PRIOR_MEAN   0.5
#define PRIOR_SD     0.5
/* What is a number on any scale: u and 1 / u, with some room to their ends. */
#define LARGE 1e300
/* A relative variance that rounding makes. */
#define SAME 1e-24

/* Of u > 0. */
static double box_cox(double u, double lambda)
{
    return fabs(lambda) < 1e-9 ? log(u) : (pow(u, lambda) - 1) / lambda;
}

static double box_cox_inverse(double t, double lambda)
{
    double base = lambda * t + 1;

    if (fabs(lambda) < 1e-9) {
        return exp(fmin(t, 700.0));
    }
    if (base <= 0) { /* beyond the end of the range */
        return lambda > 0 ? 0 : INFINITY;
    }
    return pow(base, 1 / lambda);
}

/* On the scale of `w`, before its power. */
static double placed(const tri_warp *w, double cost)
{
    double u = (cost - w->shift) / w->scale;

    return isfinite(u) ? u : cost / w->scale - w->shift / w->scale;
}

/* Of placed costs of one sign: one of the other is worse or better than all. */
static double size_of(const tri_warp *w, double u)
{
    return fmin(fmax(u * w->sign, DBL_MIN), DBL_MAX);
}

/* On the scale of `w`, before standardising; the power is w->lambda. */
static double raw(const tri_warp *w, double cost)
{
    double u = placed(w, cost);

    if (!w->powers) {
        u = size_of(w, u);
        return w->sign * box_cox(u, w->lambda);
    }
    return u >= 0 ? box_cox(u + 1, w->lambda) : -box_cox(1 - u, 2 - w->lambda);
}

double tri_warp_apply(const tri_warp *w, double cost)
{
    return w->sd > 0 ? (raw(w, cost) - w->mean) / w->sd : 0;
}

double tri_warp_invert(const tri_warp *w, double value)
{
    double t = w->mean + w->sd * value;
    double u;

    if (!w->powers) {
        u = w->sign * box_cox_inverse(w->sign * t, w->lambda);
    } else if (t >= 0) {
        u = box_cox_inverse(t, w->lambda) - 1;
    } else {
        u = 1 - box_cox_inverse(-t, 2 - w->lambda);
    }
    return w->shift + w->scale * u;
}

static void moments(const tri_warp *w, const double *cost, int n, double *mean,
                    double *variance)
{
    double sum = 0;
    double squares = 0;

    for (int i = 0; i < n; i++) {
        sum += raw(w, cost[i]);
    }
    *mean = sum / n;
    for (int i = 0; i < n; i++) {
        double d = raw(w, cost[i]) - *mean;

        squares += d * d;
    }
    *variance = squares / n;
}

/* Log of the derivative of the power at `cost`, less its part that no power
 * changes. */
static double log_slope(const tri_warp *w, double cost)
{
    double u = placed(w, cost);

    if (!w->powers) {
        return (w->lambda - 1) * log(size_of(w, u));
    }
    return u >= 0 ? (w->lambda - 1) * log1p(u) : (1 - w->lambda) * log1p(-u);
}

static double likelihood(const tri_warp *w, const double *cost, int n)
{
    double mean, variance;
    double z = (w->lambda - PRIOR_MEAN) / PRIOR_SD;
    double sum = -0.5 * z * z;

    moments(w, cost, n, &mean, &variance);
    if (!(variance > 0) || !isfinite(variance)) {
        return -INFINITY;
    }
    for (int i = 0; i < n; i++) {
        sum += log_slope(w, cost[i]);
    }
    return sum - 0.5 * n * log(variance);
}

/* What one is, of costs of one sign: their geometric mean, as far as neither
 * end is beyond all numbers then. */
static double middle(const double *cost, int n)
{
    double logs = 0;
    double least = INFINITY;
    double most = 0;

    for (int i = 0; i < n; i++) {
        logs += log(fabs(cost[i])) / n;
        least = fmin(least, fabs(cost[i]));
        most = fmax(most, fabs(cost[i]));
    }
    return fmax(fmin(exp(logs), least * LARGE), most / LARGE);
}

static double spread_of(const double *cost, int n, double mean)
{
    double spread = 0;

    for (int i = 0; i < n; i++) {
        spread += fabs(cost[i] - mean) / n;
    }
    if (isfinite(spread)) {
        return spread;
    }
    spread = 0; /* a difference is beyond all numbers, a share of it is not */
    for (int i = 0; i < n; i++) {
        spread += fabs(cost[i] / n - mean / n);
    }
    return spread;
}

/* Where zero is, and what one is. */
static void place(tri_warp *w, const double *cost, int n)
{
    double sum = 0;
    double spread;
    int above = 0;
    int below = 0;

    for (int i = 0; i < n; i++) {
        above += cost[i] > 0;
        below += cost[i] < 0;
        sum += cost[i] / n;
    }
    w->powers = above != n && below != n;
    if (!w->powers) {
        w->sign = above ? 1 : -1;
        w->scale = middle(cost, n);
        return;
    }
    spread = spread_of(cost, n, sum);
    w->sign = 1;
    w->shift = sum;
    w->scale = spread > 0 ? spread : 1;
}

void tri_warp_fit(tri_warp *w, const double *cost, int n)
{
    double best = -INFINITY;
    double lambda = 1;
    double variance;

    *w = (tri_warp){.sign = 1, .scale = 1, .lambda = 1};
    place(w, cost, n);
    for (int i = 0; i < LAMBDA_STEPS; i++) {
        double score;

        w->lambda = LAMBDA_LEAST + LAMBDA_STEP * i;
        score = likelihood(w, cost, n);
        if (score > best) {
            best = score;
            lambda = w->lambda;
        }
    }
    w->lambda = lambda;
    moments(w, cost, n, &w->mean, &variance);
    w->sd = isfinite(variance) && variance > SAME * (1 + w->mean * w->mean)
                    ? sqrt(variance)
                    : 0;
}

/*
 * Projected L-BFGS.
 */
#include "src/predict/lbfgs.h"

#include <math.h>
#include <string.h>

#define PAIRS  8
#define ARMIJO 1e-4
#define ENOUGH                                                                 \
    1e-6 /* of the projected gradient, and of a relative decrease              \
          */
#define HALVING 20

typedef struct state {
    int n, pairs, at;
    double s[PAIRS][TRI_LBFGS_MOST], y[PAIRS][TRI_LBFGS_MOST], rho[PAIRS];
    double x[TRI_LBFGS_MOST], g[TRI_LBFGS_MOST];
    double next[TRI_LBFGS_MOST], next_g[TRI_LBFGS_MOST];
    double step[TRI_LBFGS_MOST];
} state;

static double dot(const double *a, const double *b, int n)
{
    double sum = 0;

    for (int i = 0; i < n; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

static double within(double x, double lo, double hi)
{
    return x < lo ? lo : x > hi ? hi : x;
}

static int is_held(const state *s, const double *lo, const double *hi, int i)
{
    return (s->x[i] <= lo[i] && s->g[i] > 0) ||
           (s->x[i] >= hi[i] && s->g[i] < 0);
}

/* The two-loop recursion over the free variables. */
static void direction(state *s, const double *lo, const double *hi)
{
    double alpha[PAIRS];
    double *q = s->step;

    for (int i = 0; i < s->n; i++) {
        q[i] = is_held(s, lo, hi, i) ? 0 : -s->g[i];
    }
    for (int k = 0; k < s->pairs; k++) {
        int j = (s->at - 1 - k + PAIRS) % PAIRS;

        alpha[j] = s->rho[j] * dot(s->s[j], q, s->n);
        for (int i = 0; i < s->n; i++) {
            q[i] -= alpha[j] * s->y[j][i];
        }
    }
    if (s->pairs > 0) {
        int j = (s->at - 1 + PAIRS) % PAIRS;
        double scale = 1 / (s->rho[j] * dot(s->y[j], s->y[j], s->n));

        for (int i = 0; i < s->n; i++) {
            q[i] *= scale;
        }
    }
    for (int k = s->pairs - 1; k >= 0; k--) {
        int j = (s->at - 1 - k + PAIRS) % PAIRS;
        double beta = s->rho[j] * dot(s->y[j], q, s->n);

        for (int i = 0; i < s->n; i++) {
            q[i] += (alpha[j] - beta) * s->s[j][i];
        }
    }
    for (int i = 0; i < s->n; i++) {
        q[i] = is_held(s, lo, hi, i) ? 0 : q[i];
    }
    if (dot(q, s->g, s->n) >= 0) { /* no descent: forget the past */
        s->pairs = 0;
        for (int i = 0; i < s->n; i++) {
            q[i] = is_held(s, lo, hi, i) ? 0 : -s->g[i];
        }
    }
}

static void remember(state *s)
{
    double *ds = s->s[s->at];
    double *dy = s->y[s->at];
    double product;

    for (int i = 0; i < s->n; i++) {
        ds[i] = s->next[i] - s->x[i];
        dy[i] = s->next_g[i] - s->g[i];
    }
    product = dot(ds, dy, s->n);
    if (product > 1e-10 * dot(dy, dy, s->n)) {
        s->rho[s->at] = 1 / product;
        s->at = (s->at + 1) % PAIRS;
        s->pairs += s->pairs < PAIRS;
    }
}

static double projected_gradient(const state *s, const double *lo,
                                 const double *hi)
{
    double most = 0;

    for (int i = 0; i < s->n; i++) {
        double to = within(s->x[i] - s->g[i], lo[i], hi[i]);

        most = fmax(most, fabs(to - s->x[i]));
    }
    return most;
}

/* Step along the direction, projected, until the value falls enough; 0 where
 * it does not. */
static int search(state *s, tri_objective_fn f, void *ctx, const double *lo,
                  const double *hi, double *value, int *left)
{
    double length = sqrt(dot(s->step, s->step, s->n));
    double t = s->pairs == 0 && length > 1 ? 1 / length : 1;

    for (int k = 0; k<HALVING && * left> 0; k++, t *= 0.5) {
        double slope = 0;
        double v;

        for (int i = 0; i < s->n; i++) {
            s->next[i] = within(s->x[i] + t * s->step[i], lo[i], hi[i]);
            slope += s->g[i] * (s->next[i] - s->x[i]);
        }
        v = f(ctx, s->next, s->next_g);
        --*left;
        if (isfinite(v) && v <= *value + ARMIJO * slope) {
            *value = v;
            return 1;
        }
    }
    return 0;
}

double tri_lbfgs(tri_objective_fn f, void *ctx, int n, const double *lo,
                 const double *hi, int evaluations, double *x)
{
    state s;
    int left = evaluations - 1;
    double value, before;

    s.n = n;
    s.pairs = s.at = 0;
    for (int i = 0; i < n; i++) {
        s.x[i] = within(x[i], lo[i], hi[i]);
    }
    value = f(ctx, s.x, s.g);
    while (left > 0 && isfinite(value) &&
           projected_gradient(&s, lo, hi) > ENOUGH) {
        direction(&s, lo, hi);
        before = value;
        if (!search(&s, f, ctx, lo, hi, &value, &left)) {
            if (s.pairs == 0) {
                break;
            }
            s.pairs = 0;
            continue;
        }
        remember(&s);
        memcpy(s.x, s.next, (size_t)n * sizeof *s.x);
        memcpy(s.g, s.next_g, (size_t)n * sizeof *s.g);
        if (before - value < ENOUGH * (1 + fabs(value))) {
            break;
        }
    }
    memcpy(x, s.x, (size_t)n * sizeof *x);
    return value;
}

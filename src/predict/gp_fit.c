/*
 * The marginal likelihood of a Gaussian process and its gradient (Rasmussen
 * and Williams, Gaussian Processes for Machine Learning, 2006, equations 5.8
 * and 5.9), with priors that keep few samples from over-fitting.
 */
#include "src/predict/gp_kernel.h"
#include "src/predict/lapack.h"
#include "src/predict/lbfgs.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* On the diagonal, for the factorisation's sake. */
#define JITTER 1e-8
/* Calls of the likelihood from each start. */
#define FRESH_CALLS 60
#define WARM_CALLS  25

/* Priors are normal: of logarithms.  A length of 1.6 ranges of an axis, longer
 * where there are many (as distances grow with the root of their number;
 * Hvarfner et al., ICML 2024). */
#define LENGTH_MEAN   0.5
#define LENGTH_SD     0.6
#define LEVELS_MORE   1.0 /* levels mean nothing until data say so */
#define PRODUCTS_MORE 1.5
#define AXES_OF_PRIOR 7.0
#define NOISE_MEAN    (-3.0)

typedef struct fit {
    const tri_gp_form *form;
    const double *y;
    double mean[TRI_LBFGS_MOST], sd[TRI_LBFGS_MOST];
    tri_gp_points points;
    double *k;     /* n x n: covariance, then its factor, then its inverse */
    double *m;     /* n x n: the Matern part */
    double *c;     /* n x n: weights of the gradient by lengths */
    double *alpha; /* n */
    double *sums;  /* n */
    double *gx;    /* n x width */
} fit;

/* What an axis means until data say more. */
static double length_prior(const tri_axis *axis, double many)
{
    switch (axis->kind) {
    case TRI_AXIS_LEVELS:
        return LENGTH_MEAN + many + LEVELS_MORE;
    case TRI_AXIS_PRODUCT:
        return LENGTH_MEAN + many + PRODUCTS_MORE;
    default:
        return LENGTH_MEAN + many;
    }
}

void tri_gp_prior(const tri_gp_form *form, double *theta)
{
    double numbers = 0;
    double many;

    for (int g = 0; g < form->n_axes; g++) {
        numbers +=
                tri_encoding_axis(form->encoding, g)->kind == TRI_AXIS_NUMBER;
    }
    many = 0.5 * log(fmax(numbers / AXES_OF_PRIOR, 1));
    for (int g = 0; g < form->n_axes; g++) {
        theta[g] = length_prior(tri_encoding_axis(form->encoding, g), many);
    }
    theta[tri_gp_at(form, TRI_GP_F)] = 0;
    theta[tri_gp_at(form, TRI_GP_N)] = NOISE_MEAN;
    if (form->has_resource) {
        theta[tri_gp_at(form, TRI_GP_R)] = -1;
        theta[tri_gp_at(form, TRI_GP_B)] = -0.5;
        theta[tri_gp_at(form, TRI_GP_DECAY)] = -1;
    }
    if (form->has_linear) {
        theta[tri_gp_at(form, TRI_GP_L)] = 0.7;
    }
}

static void bounds(const tri_gp_form *form, double *lo, double *hi)
{
    int noise = tri_gp_at(form, TRI_GP_N);

    for (int i = 0; i < form->n; i++) {
        lo[i] = i < form->n_axes ? -3.5 : -5;
        hi[i] = i < form->n_axes ? 3.5 : 3;
    }
    lo[noise] = -7;
    hi[noise] = 0;
}

/* ---- value and gradient ------------------------------------------------- */

/* Fill k (with noise) and m, and along's share of both. */
static double along_of(const fit *f, double decay, int i, int j)
{
    const double *s = f->points.share;

    return decay / (s[i] + s[j] + decay);
}

static void build(fit *f, const double *theta)
{
    const tri_gp_form *form = f->form;
    int n = f->points.n;
    double noise = exp(2 * theta[tri_gp_at(form, TRI_GP_N)]) + JITTER;

    tri_gp_scale(form, theta, &f->points);
    tri_gp_cross(form, theta, &f->points, &f->points, f->k, n);
    for (int i = 0; i < n; i++) {
        f->k[(size_t)i * (size_t)n + (size_t)i] += noise;
    }
}

/* k becomes the factor, then the inverse; alpha = k^-1 y.  Returns minus the
 * log likelihood but for its constant, or infinity. */
static double solve(fit *f)
{
    int n = f->points.n;
    double value = 0;

    if (!tri_cholesky(f->k, n, n)) {
        return INFINITY;
    }
    memcpy(f->alpha, f->y, (size_t)n * sizeof *f->alpha);
    cblas_dtrsv(CblasRowMajor, CblasLower, CblasNoTrans, CblasNonUnit, n, f->k,
                n, f->alpha, 1);
    for (int i = 0; i < n; i++) {
        value += 0.5 * f->alpha[i] * f->alpha[i] +
                 log(f->k[(size_t)i * (size_t)n + (size_t)i]);
    }
    cblas_dtrsv(CblasRowMajor, CblasLower, CblasTrans, CblasNonUnit, n, f->k, n,
                f->alpha, 1);
    return tri_cholesky_invert(f->k, n, n) ? value : INFINITY;
}

/* alpha alpha' - k^-1 of a pair, whose lower triangle is there. */
static double weight(const fit *f, int i, int j)
{
    size_t n = (size_t)f->points.n;

    return f->alpha[i] * f->alpha[j] - f->k[(size_t)i * n + (size_t)j];
}

typedef struct sums { /* of the lower triangle, both halves counted */
    double f, r, b, decay, l, noise;
} sums;

/* One row of the gradient's sums; c gets the weights of squared distances. */
static void add_row(fit *f, const double *theta, int i, sums *s)
{
    const tri_gp_form *form = f->form;
    size_t n = (size_t)f->points.n;
    double ff = exp(2 * theta[tri_gp_at(form, TRI_GP_F)]);
    double rr = 0;
    double bb = 0;
    double decay = 1;

    if (form->has_resource) {
        rr = exp(2 * theta[tri_gp_at(form, TRI_GP_R)]);
        bb = exp(2 * theta[tri_gp_at(form, TRI_GP_B)]);
        decay = exp(theta[tri_gp_at(form, TRI_GP_DECAY)]);
    }
    for (int j = 0; j <= i; j++) {
        size_t at = (size_t)i * n + (size_t)j;
        double w = weight(f, i, j) * (i == j ? 1 : 2);
        double u = f->m[at]; /* the distance, times the root of five */
        double e = exp(-u);
        double matern = (1 + u + u * u / 3) * e;
        double along = form->has_resource ? along_of(f, decay, i, j) : 0;

        s->f += w * ff * matern;
        s->r += w * rr * along * matern;
        s->b += w * bb * along;
        s->decay += w * (rr * matern + bb) * along * (1 - along);
        f->c[at] =
                weight(f, i, j) * (ff + rr * along) * (5.0 / 3) * (1 + u) * e;
    }
    s->noise += weight(f, i, i);
}

/* Distances from the scaled rows, lower triangle into m. */
static void distances(fit *f)
{
    int n = f->points.n;
    int d = f->form->width;

    if (d > 0) {
        cblas_dsyrk(CblasRowMajor, CblasLower, CblasNoTrans, n, d, -2,
                    f->points.scaled, d, 0, f->m, n);
    } else {
        memset(f->m, 0, (size_t)n * (size_t)n * sizeof *f->m);
    }
    for (int i = 0; i < n; i++) {
        double *row = f->m + (size_t)i * (size_t)n;

        for (int j = 0; j <= i; j++) {
            double square = f->points.square[i] + f->points.square[j] + row[j];

            row[j] = i == j ? 0 : sqrt(5 * fmax(square, 0));
        }
    }
}

/* Of the length scales: with C the symmetric weights and z a scaled column,
 * the sum of C_ij (z_i - z_j)^2 is 2 (sum_i s_i z_i^2 - z' C z). */
static void length_gradient(fit *f, double *g)
{
    int n = f->points.n;
    int d = f->form->width;
    const double *z = f->points.scaled;

    if (d == 0) {
        return;
    }
    cblas_dsymm(CblasRowMajor, CblasLeft, CblasLower, n, d, 1, f->c, n, z, d, 0,
                f->gx, d);
    memset(f->sums, 0, (size_t)n * sizeof *f->sums);
    for (int i = 0; i < n; i++) {
        const double *row = f->c + (size_t)i * (size_t)n;

        for (int j = 0; j < i; j++) {
            f->sums[i] += row[j];
            f->sums[j] += row[j];
        }
        f->sums[i] += row[i];
    }
    for (int a = 0; a < f->form->n_axes; a++) {
        const tri_axis *axis = tri_encoding_axis(f->form->encoding, a);
        double sum = 0;

        for (int i = 0; i < n; i++) {
            for (int k = axis->first; k < axis->first + axis->width; k++) {
                double v = z[i * d + k];

                sum += f->sums[i] * v * v - v * f->gx[i * d + k];
            }
        }
        g[a] = -0.5 * 2 * sum;
    }
}

static double linear_sum(const fit *f)
{
    int n = f->points.n;
    int d = f->form->width;
    const double *x = f->points.x;
    double sum = 0;

    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++) {
            double product = 0;

            for (int k = 0; k < d; k++) {
                product += (x[i * d + k] - 0.5) * (x[j * d + k] - 0.5);
            }
            sum += weight(f, i, j) * (i == j ? 1 : 2) * product;
        }
    }
    return sum;
}

/* A standard deviation's logarithm counts twice in its square. */
static void part_gradient(const tri_gp_form *form, tri_gp_part part, double sum,
                          double *g)
{
    int at = tri_gp_at(form, part);

    if (at >= 0) {
        g[at] = part == TRI_GP_DECAY ? -0.5 * sum : -sum;
    }
}

static void gradient(fit *f, const double *theta, double *g)
{
    const tri_gp_form *form = f->form;
    double noise = exp(2 * theta[tri_gp_at(form, TRI_GP_N)]);
    sums s = {0};

    distances(f);
    for (int i = 0; i < f->points.n; i++) {
        add_row(f, theta, i, &s);
    }
    length_gradient(f, g);
    if (form->has_linear) {
        s.l = linear_sum(f) * exp(2 * theta[tri_gp_at(form, TRI_GP_L)]);
    }
    part_gradient(form, TRI_GP_F, s.f, g);
    part_gradient(form, TRI_GP_N, s.noise * noise, g);
    part_gradient(form, TRI_GP_R, s.r, g);
    part_gradient(form, TRI_GP_B, s.b, g);
    part_gradient(form, TRI_GP_DECAY, s.decay, g);
    part_gradient(form, TRI_GP_L, s.l, g);
}

static double objective(void *ctx, const double *theta, double *g)
{
    fit *f = ctx;
    double value;

    build(f, theta);
    value = solve(f);
    if (!isfinite(value)) {
        memset(g, 0, (size_t)f->form->n * sizeof *g);
        return INFINITY;
    }
    gradient(f, theta, g);
    for (int i = 0; i < f->form->n; i++) {
        double z = (theta[i] - f->mean[i]) / f->sd[i];

        value += 0.5 * z * z;
        g[i] += z / f->sd[i];
    }
    return value;
}

/* ---- learning --------------------------------------------------------------
 */

static int alloc(fit *f, int n)
{
    size_t rows = (size_t)n;
    size_t d = (size_t)f->form->width;
    double *all = malloc((3 * rows * rows + 2 * rows * d + 3 * rows + 1) *
                         sizeof *all);

    if (!all) {
        return 0;
    }
    f->k = all;
    f->m = f->k + rows * rows;
    f->c = f->m + rows * rows;
    f->gx = f->c + rows * rows;
    f->points.scaled = f->gx + rows * d;
    f->points.square = f->points.scaled + rows * d;
    f->alpha = f->points.square + rows;
    f->sums = f->alpha + rows;
    return 1;
}

static void priors(fit *f)
{
    tri_gp_prior(f->form, f->mean);
    for (int i = 0; i < f->form->n; i++) {
        f->sd[i] = i < f->form->n_axes ? LENGTH_SD : 1;
    }
    if (f->form->has_linear) { /* labels: no free scale */
        f->sd[tri_gp_at(f->form, TRI_GP_F)] = 0.5;
        f->sd[tri_gp_at(f->form, TRI_GP_N)] = 0.5;
        f->sd[tri_gp_at(f->form, TRI_GP_L)] = 0.5;
        f->mean[tri_gp_at(f->form, TRI_GP_N)] = -2.3;
    }
}

double tri_gp_density(const tri_gp_form *form, int n, const double *x,
                      const double *share, const double *y, const double *theta,
                      double *gradient_out)
{
    fit f = {.form = form, .y = y};
    double value = INFINITY;

    if (form->n <= TRI_LBFGS_MOST && alloc(&f, n)) {
        f.points.n = n;
        f.points.x = x;
        f.points.share = share;
        priors(&f);
        value = objective(&f, theta, gradient_out);
        free(f.k);
    }
    return value;
}

tri_status tri_gp_learn(const tri_gp_form *form, int n, const double *x,
                        const double *share, const double *y, int fresh,
                        double *theta)
{
    double lo[TRI_LBFGS_MOST], hi[TRI_LBFGS_MOST], other[TRI_LBFGS_MOST];
    fit f = {.form = form, .y = y};
    double value, best;

    if (form->n > TRI_LBFGS_MOST || !alloc(&f, n)) {
        return TRI_FAIL(TRI_ENOMEM, "no memory to learn from %d samples", n);
    }
    f.points.n = n;
    f.points.x = x;
    f.points.share = share;
    priors(&f);
    bounds(form, lo, hi);
    best = tri_lbfgs(objective, &f, form->n, lo, hi,
                     fresh ? FRESH_CALLS : WARM_CALLS, theta);
    if (fresh) {
        memcpy(other, f.mean, (size_t)form->n * sizeof *other);
        value = tri_lbfgs(objective, &f, form->n, lo, hi, FRESH_CALLS, other);
        if (value < best || !isfinite(best)) {
            memcpy(theta, other, (size_t)form->n * sizeof *other);
        }
    }
    free(f.k);
    return TRI_OK;
}

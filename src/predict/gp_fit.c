/*
 * The marginal likelihood of a Gaussian process and its gradient (Rasmussen
 * and Williams, Gaussian Processes for Machine Learning, 2006, equations 5.8
 * and 5.9), with priors that keep few samples from over-fitting.
 */
#include "src/predict/clones.h"
#include "src/predict/gp_kernel.h"
#include "src/predict/lapack.h"
#include "src/predict/lbfgs.h"
#include "src/predict/matern.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* On the diagonal, for the factorisation's sake. */
#define JITTER 1e-8
/* Priors are normal: of logarithms.  A length of 1.6 ranges of an axis, longer
 * where there are many (as distances grow with the root of their number;
 * Hvarfner et al., ICML 2024). */
#define LENGTH_MEAN   0.5
#define LENGTH_SD     0.6
#define LEVELS_MORE   1.0 /* levels mean nothing until data say so */
#define PRODUCTS_MORE 1.5
#define AXES_OF_PRIOR 7.0
/* Deviations from where on a length costs little: by a few samples something
 * only seems not to matter, so that all but the last fortieth of the prior is
 * normal then, and the middle of it always.  Many: twenty for each of ten
 * axes. */
#define TAIL_OF_FEW  2.0
#define TAIL_OF_MANY 1.0
#define MANY         200
#define NOISE_MEAN   (-3.0)

typedef struct fit {
    const tri_gp_form *form;
    const double *y;
    double mean[TRI_LBFGS_MOST], sd[TRI_LBFGS_MOST];
    tri_gp_points points;
    const tri_cancel *cancel;
    /* n x n each, of which the lower triangle: */
    double *k;     /* the covariance, then its factor, then its inverse */
    double *m;     /* the Matern part */
    double *c;     /* its slopes, then weights of the gradient by lengths */
    double *alpha; /* n */
    double *sums;  /* n */
    double *ones;  /* n */
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
}

static void bounds(const tri_gp_form *form, double *lo, double *hi)
{
    int noise = tri_gp_at(form, TRI_GP_N);

    for (int i = 0; i < form->n; i++) {
        lo[i] = i < form->n_axes ? -3.5 : -5;
        hi[i] = i < form->n_axes ? 7 : 3;
    }
    lo[noise] = -7;
    hi[noise] = 0;
}

/* ---- value and gradient ------------------------------------------------- */

static double along_of(const fit *f, double decay, int i, int j)
{
    const double *s = f->points.share;

    return decay / (s[i] + s[j] + decay);
}

typedef struct parts { /* of the covariance, unlogged */
    double f, r, b, decay;
} parts;

static parts parts_of(const tri_gp_form *form, const double *theta)
{
    parts p = {.f = exp(2 * theta[tri_gp_at(form, TRI_GP_F)]), .decay = 1};

    if (form->has_resource) {
        p.r = exp(2 * theta[tri_gp_at(form, TRI_GP_R)]);
        p.b = exp(2 * theta[tri_gp_at(form, TRI_GP_B)]);
        p.decay = exp(theta[tri_gp_at(form, TRI_GP_DECAY)]);
    }
    return p;
}

/* Row i of the covariance, up to the diagonal, from its Matern part. */
TRI_CLONES static void build_row(const fit *f, parts p, int i)
{
    size_t from = (size_t)i * (size_t)f->points.n;
    const double *restrict matern = f->m + from;
    const double *restrict share = f->points.share;
    double *restrict k = f->k + from;

    for (int j = 0; j <= i; j++) {
        k[j] = p.f * matern[j];
    }
    for (int j = 0; j <= i && f->form->has_resource; j++) {
        double along = p.decay / (share[i] + share[j] + p.decay);

        k[j] += along * (p.r * matern[j] + p.b);
    }
}

/* k with noise, m, and slopes in c. */
static void build(fit *f, const double *theta)
{
    const tri_gp_form *form = f->form;
    int n = f->points.n;
    int d = form->width;
    double noise = exp(2 * theta[tri_gp_at(form, TRI_GP_N)]) + JITTER;
    parts p = parts_of(form, theta);

    tri_gp_scale(form, theta, &f->points);
    if (d > 0) {
        cblas_dsyrk(CblasRowMajor, CblasLower, CblasNoTrans, n, d, -2,
                    f->points.scaled, d, 0, f->m, n);
    } else {
        memset(f->m, 0, (size_t)n * (size_t)n * sizeof *f->m);
    }
    for (int i = 0; i < n; i++) {
        size_t from = (size_t)i * (size_t)n;
        double square = f->points.square[i];

        tri_matern_slopes(i, square, f->points.square, f->m + from,
                          f->c + from);
        f->m[from + (size_t)i] = 1; /* not what rounding makes of it */
        f->c[from + (size_t)i] = 5.0 / 3;
        build_row(f, p, i);
        f->k[from + (size_t)i] += noise;
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

typedef struct sums { /* of the lower triangle, both halves counted */
    double f, r, b, decay, noise;
} sums;

/* Sums of row i over j < i, by weights alpha alpha' - k^-1; c gets the weights
 * of squared distances. */
TRI_CLONES static void add_along(const fit *f, parts p, int i, sums *s)
{
    size_t from = (size_t)i * (size_t)f->points.n;
    const double *restrict inverse = f->k + from;
    const double *restrict matern = f->m + from;
    const double *restrict alpha = f->alpha;
    const double *restrict share = f->points.share;
    double *restrict c = f->c + from;
    double r = 0;
    double b = 0;
    double decay = 0;

    for (int j = 0; j < i; j++) {
        double w = 2 * (alpha[i] * alpha[j] - inverse[j]);
        double along = p.decay / (share[i] + share[j] + p.decay);

        r += w * along * matern[j];
        b += w * along;
        decay += w * (p.r * matern[j] + p.b) * along * (1 - along);
        c[j] *= (p.f + p.r * along) / p.f;
    }
    s->r += p.r * r;
    s->b += p.b * b;
    s->decay += decay;
}

TRI_CLONES static double add_row(const fit *f, double ff, int i)
{
    size_t from = (size_t)i * (size_t)f->points.n;
    const double *restrict inverse = f->k + from;
    const double *restrict matern = f->m + from;
    const double *restrict alpha = f->alpha;
    double *restrict c = f->c + from;
    double sum = 0;

    for (int j = 0; j < i; j++) {
        double w = alpha[i] * alpha[j] - inverse[j];

        sum += w * matern[j];
        c[j] *= w * ff;
    }
    return sum;
}

static void add_all(const fit *f, parts p, sums *s)
{
    for (int i = 0; i < f->points.n; i++) {
        size_t ii = (size_t)i * (size_t)f->points.n + (size_t)i;
        double own = f->alpha[i] * f->alpha[i] - f->k[ii];

        s->noise += own;
        s->f += p.f * (2 * add_row(f, p.f, i) + own);
        f->c[ii] = 0; /* of a point with itself there is no distance */
        if (f->form->has_resource) {
            double along = along_of(f, p.decay, i, i);

            add_along(f, p, i, s);
            s->r += p.r * along * own;
            s->b += p.b * along * own;
            s->decay += (p.r + p.b) * along * (1 - along) * own;
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
    cblas_dsymv(CblasRowMajor, CblasLower, n, 1, f->c, n, f->ones, 1, 0,
                f->sums, 1);
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

    add_all(f, parts_of(form, theta), &s);
    length_gradient(f, g);
    part_gradient(form, TRI_GP_F, s.f, g);
    part_gradient(form, TRI_GP_N, s.noise * noise, g);
    part_gradient(form, TRI_GP_R, s.r, g);
    part_gradient(form, TRI_GP_B, s.b, g);
    part_gradient(form, TRI_GP_DECAY, s.decay, g);
}

/* Minus the logarithm of the prior, z deviations from its mean, and its slope.
 * A length may be very long at little cost: what does not matter at all must
 * not be held to matter a little, which with many columns adds up. */
static double surprise(double z, double tail, double *slope)
{
    if (z > tail) {
        *slope = tail * tail / z;
        return tail * tail * (0.5 + log(z / tail));
    }
    *slope = z;
    return 0.5 * z * z;
}

static double objective(void *ctx, const double *theta, double *g)
{
    fit *f = ctx;
    double tail = f->points.n < MANY ? TAIL_OF_FEW : TAIL_OF_MANY;
    double value;

    value = INFINITY;
    if (!tri_is_cancelled(f->cancel)) {
        build(f, theta);
        value = solve(f);
    }
    if (!isfinite(value)) {
        memset(g, 0, (size_t)f->form->n * sizeof *g);
        return INFINITY;
    }
    gradient(f, theta, g);
    for (int i = 0; i < f->form->n; i++) {
        double z = (theta[i] - f->mean[i]) / f->sd[i];
        double slope;

        value += surprise(z, i < f->form->n_axes ? tail : INFINITY, &slope);
        g[i] += slope / f->sd[i];
    }
    return value;
}

/* ---- learning ----------------------------------------------------------- */

static void priors(fit *f)
{
    tri_gp_prior(f->form, f->mean);
    for (int i = 0; i < f->form->n; i++) {
        f->sd[i] = i < f->form->n_axes ? LENGTH_SD : 1;
    }
}

static int alloc(fit *f)
{
    size_t rows = (size_t)f->points.n;
    size_t d = (size_t)f->form->width;
    double *all = malloc((3 * rows * rows + 2 * rows * d + 4 * rows + 1) *
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
    f->ones = f->sums + rows;
    for (size_t i = 0; i < rows; i++) {
        f->ones[i] = 1;
    }
    return 1;
}

double tri_gp_density(const tri_gp_form *form, int n, const double *x,
                      const double *share, const double *y, const double *theta,
                      double *gradient_out)
{
    fit f = {.form = form, .y = y, .points = {.n = n, .x = x, .share = share}};
    double value = INFINITY;

    if (form->n <= TRI_LBFGS_MOST && alloc(&f)) {
        priors(&f);
        value = objective(&f, theta, gradient_out);
        free(f.k);
    }
    return value;
}

tri_status tri_gp_learn(const tri_gp_form *form, int n, const double *x,
                        const double *share, const double *y, int calls,
                        int fresh, const tri_cancel *cancel, double *theta)
{
    double lo[TRI_LBFGS_MOST], hi[TRI_LBFGS_MOST], other[TRI_LBFGS_MOST];
    fit f = {.form = form,
             .y = y,
             .cancel = cancel,
             .points = {.n = n, .x = x, .share = share}};
    double value, best;

    if (form->n > TRI_LBFGS_MOST || !alloc(&f)) {
        return TRI_FAIL(TRI_ENOMEM, "no memory to learn from %d samples", n);
    }
    priors(&f);
    bounds(form, lo, hi);
    best = tri_lbfgs(objective, &f, form->n, lo, hi, calls, theta);
    if (fresh) {
        memcpy(other, f.mean, (size_t)form->n * sizeof *other);
        value = tri_lbfgs(objective, &f, form->n, lo, hi, calls, other);
        if (value < best || !isfinite(best)) {
            memcpy(theta, other, (size_t)form->n * sizeof *other);
        }
    }
    free(f.k);
    return TRI_OK;
}

/*
 * Laplace's approximation: f, the most probable values of the process at the
 * rows, and about them a normal belief with the curvature there.
 */
#include "src/predict/classify.h"

#include "src/predict/gp_kernel.h"
#include "src/predict/lapack.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Standard deviations, in units of the logistic curve: of the constant, of a
 * slope from one end of an axis to the other, of what departs from the plane.
 */
#define CONSTANT 1.0
/* From 5 % to 95 %: one axis alone may decide, as the size of a batch does. */
#define SLOPE 6.0
/* From an even chance to 12 or 88 %: less than an axis, so that what a plane
 * can explain, which reaches beyond what was tried, is explained by it. */
#define DEPARTURE 2.0
/* Newton's steps, and what they change when it is done. */
#define STEPS   24
#define SETTLED 1e-5
#define HALVES  8
/* Rows that are learned from. */
#define ROWS_MOST 400
#define BLOCK     64 /* predicted together */

struct tri_classifier {
    tri_gp_form form;
    double *theta;
    unsigned char *in_plane; /* width */
    int n;
    double *x;               /* n x width */
    double *scaled, *square; /* as the kernel sees them, */
    double *flat;            /* and as the plane does */
    double *f;               /* n: most probable values */
    double *a;               /* n: f = K a */
    double *slope;           /* n: of the log likelihood at f */
    double *root;            /* n: of its curvature */
    double *l;               /* n x n: factor of I + root K root */
};

void tri_classifier_destroy(tri_classifier *c)
{
    if (c) {
        free(c->theta);
        free(c->in_plane);
        free(c->x);
        free(c);
    }
}

/* ---- covariance --------------------------------------------------------- */

static int is_number(const tri_encoding *e, const char *name)
{
    for (int i = 0; i < tri_encoding_n_axes(e); i++) {
        const tri_axis *a = tri_encoding_axis(e, i);

        if (a->kind == TRI_AXIS_NUMBER && strcmp(a->name, name) == 0) {
            return 1;
        }
    }
    return 0;
}

/* A number's levels and products say what the number says already. */
static void mark_plane(tri_classifier *c, const tri_encoding *e)
{
    for (int i = 0; i < tri_encoding_n_axes(e); i++) {
        const tri_axis *a = tri_encoding_axis(e, i);
        int in = a->kind != TRI_AXIS_PRODUCT &&
                 (a->kind != TRI_AXIS_LEVELS || !is_number(e, a->name));

        memset(c->in_plane + a->first, in, (size_t)a->width);
    }
}

/* Rows as the plane sees them: their products are its covariances. */
static void flatten(const tri_classifier *c, const double *x, int n,
                    double *flat)
{
    for (int i = 0; i < n * c->form.width; i++) {
        flat[i] = c->in_plane[i % c->form.width] ? SLOPE * (x[i] - 0.5) : 0;
    }
}

static tri_gp_points rows_of(const tri_classifier *c)
{
    return (tri_gp_points){
            .n = c->n, .x = c->x, .scaled = c->scaled, .square = c->square};
}

/* k[p.n][n]: of scaled points with the rows.  `flat`: scratch, as p->x. */
static void cross(const tri_classifier *c, const tri_gp_points *p, double *flat,
                  double *k)
{
    tri_gp_points rows = rows_of(c);
    int w = c->form.width;

    tri_gp_cross(&c->form, c->theta, p, &rows, k, c->n);
    for (int i = 0; i < p->n * c->n; i++) {
        k[i] += CONSTANT * CONSTANT;
    }
    if (w > 0 && p->n > 0) {
        flatten(c, p->x, p->n, flat);
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, p->n, c->n, w, 1,
                    flat, w, c->flat, w, 1, k, c->n);
    }
}

/* ---- the most probable values ------------------------------------------- */

static double logistic(double v)
{
    return 1 / (1 + exp(-v));
}

/* log(1 / (1 + exp(-v))) */
static double log_logistic(double v)
{
    return v > 0 ? -log1p(exp(-v)) : v - log1p(exp(v));
}

typedef struct newton {
    const double *k;     /* n x n */
    const double *label; /* +1 ran, -1 failed */
    double *b, *v;       /* n */
} newton;

/* f = K a; the log of its density, but for a constant. */
static double density(tri_classifier *c, const newton *w)
{
    double sum = 0;

    cblas_dgemv(CblasRowMajor, CblasNoTrans, c->n, c->n, 1, w->k, c->n, c->a, 1,
                0, c->f, 1);
    for (int i = 0; i < c->n; i++) {
        sum += log_logistic(w->label[i] * c->f[i]) - 0.5 * c->a[i] * c->f[i];
    }
    return sum;
}

/* Slope and curvature at f, and the factor that goes with them. */
static int expand(tri_classifier *c, const newton *w)
{
    size_t n = (size_t)c->n;

    for (size_t i = 0; i < n; i++) {
        double p = logistic(c->f[i]);

        c->slope[i] = (w->label[i] > 0) - p;
        c->root[i] = sqrt(p * (1 - p));
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            c->l[i * n + j] = c->root[i] * w->k[i * n + j] * c->root[j];
        }
        c->l[i * n + i] += 1;
    }
    return tri_cholesky(c->l, c->n, c->n);
}

/* v = l^-1 v, and l^-T too where `both`. */
static void solve(const tri_classifier *c, double *v, int both)
{
    cblas_dtrsv(CblasRowMajor, CblasLower, CblasNoTrans, CblasNonUnit, c->n,
                c->l, c->n, v, 1);
    if (both) {
        cblas_dtrsv(CblasRowMajor, CblasLower, CblasTrans, CblasNonUnit, c->n,
                    c->l, c->n, v, 1);
    }
}

/* Newton's a: b - root (I + root K root)^-1 root K b, b = curvature f + slope
 * (Rasmussen and Williams, algorithm 3.1). */
static void propose(const tri_classifier *c, const newton *w)
{
    for (int i = 0; i < c->n; i++) {
        w->b[i] = c->root[i] * c->root[i] * c->f[i] + c->slope[i];
    }
    cblas_dgemv(CblasRowMajor, CblasNoTrans, c->n, c->n, 1, w->k, c->n, w->b, 1,
                0, w->v, 1);
    for (int i = 0; i < c->n; i++) {
        w->v[i] *= c->root[i];
    }
    solve(c, w->v, 1);
    for (int i = 0; i < c->n; i++) {
        w->b[i] -= c->root[i] * w->v[i];
    }
}

/* Go to a = b, or towards it, so that the density grows.  Returns by how
 * much. */
static double move(tri_classifier *c, const newton *w, double before)
{
    double gain = -INFINITY;
    double share = 1;

    memcpy(w->v, c->a, (size_t)c->n * sizeof *c->a);
    for (int h = 0; h < HALVES && !(gain >= 0); h++, share /= 2) {
        for (int i = 0; i < c->n; i++) {
            c->a[i] = w->v[i] + share * (w->b[i] - w->v[i]);
        }
        gain = density(c, w) - before;
    }
    if (!(gain >= 0)) {
        memcpy(c->a, w->v, (size_t)c->n * sizeof *c->a);
        gain = density(c, w) - before;
    }
    return gain;
}

static tri_status find(tri_classifier *c, const newton *w,
                       const tri_cancel *cancel)
{
    double at;

    memset(c->a, 0, (size_t)c->n * sizeof *c->a);
    at = density(c, w);
    for (int i = 0; i < STEPS && !tri_is_cancelled(cancel); i++) {
        double gain;

        if (!expand(c, w)) {
            return TRI_FAIL(TRI_EINTERNAL, "failures: no factor of %d rows",
                            c->n);
        }
        propose(c, w);
        gain = move(c, w, at);
        at += gain;
        if (!(gain > SETTLED)) {
            break;
        }
    }
    return expand(c, w) ? TRI_OK
                        : TRI_FAIL(TRI_EINTERNAL,
                                   "failures: no factor of %d rows", c->n);
}

/* ---- fit ---------------------------------------------------------------- */

/* The place of row i of `of`.  Of more rows than are learned from, this study's
 * own last: the last half, and as many of the others, evenly. */
static int row_at(int i, int of, const tri_labels *l)
{
    int half = of / 2;
    int others = l->n - l->n_own;
    int at;

    if (of == l->n) {
        return i;
    }
    at = i >= of - half ? l->n - (of - i)
                        : (int)((int64_t)i * (l->n - half) / (of - half));
    return at < others ? l->n_own + at : at - others;
}

static int alloc(tri_classifier *c)
{
    size_t n = (size_t)c->n;
    size_t w = (size_t)c->form.width;

    c->x = malloc((3 * n * w + 5 * n + n * n + 1) * sizeof *c->x);
    if (!c->x) {
        return 0;
    }
    c->scaled = c->x + n * w;
    c->flat = c->scaled + n * w;
    c->square = c->flat + n * w;
    c->f = c->square + n;
    c->a = c->f + n;
    c->slope = c->a + n;
    c->root = c->slope + n;
    c->l = c->root + n;
    return 1;
}

static tri_status fit(tri_classifier *c, const tri_labels *l)
{
    size_t rows = (size_t)c->n;
    size_t width = (size_t)c->form.width;
    double *k = malloc((rows * rows + 3 * rows + rows * width + 1) * sizeof *k);
    double *label = k ? k + rows * rows : NULL;
    newton w = {.k = k, .label = label};
    double *flat_too;
    tri_gp_points p;
    tri_status st;

    if (!k) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a model of failures");
    }
    w.b = label + rows;
    w.v = w.b + rows;
    flat_too = w.v + rows;
    for (int i = 0; i < c->n; i++) {
        int at = row_at(i, c->n, l);

        memcpy(c->x + (size_t)i * width, l->x + (size_t)at * width,
               width * sizeof *c->x);
        label[i] = l->failed[at] ? -1 : 1;
    }
    p = rows_of(c);
    tri_gp_scale(&c->form, c->theta, &p);
    flatten(c, c->x, c->n, c->flat);
    cross(c, &p, flat_too, k);
    st = find(c, &w, l->cancel);
    free(k);
    return st;
}

tri_status tri_classifier_fit(const tri_encoding *e, const tri_labels *l,
                              tri_classifier **out)
{
    tri_classifier *c = calloc(1, sizeof *c);
    tri_status st;

    if (!c) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a model of failures");
    }
    tri_gp_form_init(&c->form, e, 0);
    c->n = l->n < ROWS_MOST ? l->n : ROWS_MOST;
    c->theta = malloc((size_t)c->form.n * sizeof *c->theta);
    c->in_plane = calloc((size_t)c->form.width + 1, 1);
    if (!c->theta || !c->in_plane || !alloc(c)) {
        tri_classifier_destroy(c);
        return TRI_FAIL(TRI_ENOMEM, "no memory for a model of failures");
    }
    tri_gp_prior(&c->form, c->theta);
    c->theta[tri_gp_at(&c->form, TRI_GP_F)] = log(DEPARTURE);
    mark_plane(c, e);
    st = fit(c, l);
    if (st != TRI_OK) {
        tri_classifier_destroy(c);
        return st;
    }
    *out = c;
    return TRI_OK;
}

/* ---- use ---------------------------------------------------------------- */

/* Of points to predict: as the plane sees them, and room for them. */
static double *flat_of(const tri_gp_block *b)
{
    return b->more;
}

static int block_init(tri_gp_block *b, const tri_classifier *c)
{
    return tri_gp_block_init(b, &c->form, BLOCK, c->n, 2 * c->form.width);
}

/* [out] b->k, and means of the process. */
static void look_at(const tri_classifier *c, tri_gp_block *b, const double *x,
                    int n, double *mean)
{
    b->p.n = n;
    b->p.x = x;
    tri_gp_scale(&c->form, c->theta, &b->p);
    cross(c, &b->p, flat_of(b), b->k);
    cblas_dgemv(CblasRowMajor, CblasNoTrans, n, c->n, 1, b->k, c->n, c->slope,
                1, 0, mean, 1);
}

/* Probability under a normal belief (MacKay, 1992). */
static double averaged(double mean, double variance)
{
    return logistic(mean / sqrt(1 + M_PI / 8 * fmax(variance, 0)));
}

static void predict_block(const tri_classifier *c, tri_gp_block *b,
                          const double *x, int n, double *p)
{
    double mean[BLOCK];
    int w = c->form.width;

    look_at(c, b, x, n, mean);
    for (int i = 0; i < n * c->n; i++) {
        b->k[i] *= c->root[i % c->n];
    }
    cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit,
                n, c->n, 1, c->l, c->n, b->k, c->n);
    for (int i = 0; i < n; i++) {
        const double *flat = flat_of(b) + (size_t)i * (size_t)w;
        const double *row = b->k + (size_t)i * (size_t)c->n;

        p[i] = averaged(mean[i], CONSTANT * CONSTANT + DEPARTURE * DEPARTURE +
                                         cblas_ddot(w, flat, 1, flat, 1) -
                                         cblas_ddot(c->n, row, 1, row, 1));
    }
}

void tri_classifier_predict(const tri_classifier *c, const double *x, int m,
                            double *p)
{
    tri_gp_block b;
    int is_ready = block_init(&b, c);

    for (int i = 0; i < m && is_ready; i += BLOCK) {
        predict_block(c, &b, x + (size_t)i * (size_t)c->form.width,
                      m - i < BLOCK ? m - i : BLOCK, p + i);
    }
    for (int i = 0; i < m && !is_ready; i++) {
        p[i] = 0.5; /* no memory: nothing is known */
    }
    if (is_ready) {
        tri_gp_block_fini(&b);
    }
}

/* Where the mean is not doubted the probability is farthest from a half. */
void tri_classifier_screen(const tri_classifier *c, const float *x, int m,
                           float *p)
{
    tri_gp_block b;
    double mean[BLOCK];
    size_t w = (size_t)c->form.width;
    int is_ready = block_init(&b, c);

    for (int i = 0; i < m && is_ready; i += BLOCK) {
        double *rows = flat_of(&b) + BLOCK * w;
        int n = m - i < BLOCK ? m - i : BLOCK;

        for (size_t k = 0; k < (size_t)n * w; k++) {
            rows[k] = (double)x[(size_t)i * w + k];
        }
        look_at(c, &b, rows, n, mean);
        for (int k = 0; k < n; k++) {
            p[i + k] = mean[k] < 0 ? 0.5F : (float)logistic(mean[k]) + 1e-6F;
        }
    }
    for (int i = 0; i < m && !is_ready; i++) {
        p[i] = 1;
    }
    if (is_ready) {
        tri_gp_block_fini(&b);
    }
}

tri_status tri_classifier_slopes(const tri_classifier *c, double *mean,
                                 double *sd)
{
    double s2 = SLOPE * SLOPE;
    double *column = malloc(((size_t)c->n + 1) * sizeof *column);

    if (!column) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a model of failures");
    }
    for (int k = 0; k < c->form.width; k++) {
        mean[k] = sd[k] = 0;
        for (int i = 0; c->in_plane[k] && i < c->n; i++) {
            double v =
                    c->x[(size_t)i * (size_t)c->form.width + (size_t)k] - 0.5;

            mean[k] += s2 * v * c->slope[i];
            column[i] = c->root[i] * v;
        }
        if (c->in_plane[k]) {
            solve(c, column, 0);
            sd[k] = sqrt(fmax(
                    s2 - s2 * s2 * cblas_ddot(c->n, column, 1, column, 1), 0));
        }
    }
    free(column);
    return TRI_OK;
}

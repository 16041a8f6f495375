/*
 * A Gaussian process over configurations and resources: the predictor.
 *
 * Hyper-parameters are learned from at most COARSE_MOST samples, then from at
 * most FINE_MOST; the belief is that given at most KEEP_MOST (a subset of data:
 * the best, and of the rest an even spread in their order; gp_subset.c).  One
 * more sample is a row more of the inverse of the Cholesky factor: with the
 * inverse predictions are products, which are faster than solutions.
 */
#include "src/predict/gp.h"
#include "src/predict/lapack.h"
#include "src/predict/samples.h"

#include <cblas.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Samples that are learned from, coarsely and finely, and believed in. */
#define COARSE_MOST 300
#define FINE_MOST   1000
#define KEEP_MOST   2000
/* Of many so many teach what changes lengths that were learned before: each
 * likelihood is an eighth of the work of FINE_MOST. */
#define LATER_MOST 500
/* Likelihoods from each start, by all from there on, with a model before of
 * few samples, and of many. */
#define COARSE_CALLS 60
#define FINE_CALLS   30
#define WARM_CALLS   25
#define LATER_CALLS  6
#define JITTER       1e-8
#define TRIES        9
/* Rows that are predicted at a time. */
#define BLOCK 256

void tri_gp_destroy(tri_model *m)
{
    if (m) {
        free(m->theta);
        free(m->x);
        free(m->share);
        free(m->y);
        free(m->scaled);
        free(m->square);
        free(m->inverse);
        free(m->w);
        free(m->alpha);
        free(m->spare);
        free(m);
    }
}

/* Grow an array of rows; 0 where there is no memory. */
static int grow(double **array, int rows, int width)
{
    double *grown =
            realloc(*array, ((size_t)rows * (size_t)width + 1) * sizeof *grown);

    if (grown) {
        *array = grown;
    }
    return grown != NULL;
}

/* Rows of the factor are as long as there is room: they move. */
static int grow_factor(tri_model *m, int room)
{
    double *l = calloc((size_t)room * (size_t)room + 1, sizeof *l);

    if (!l) {
        return 0;
    }
    for (int i = 0; i < m->n; i++) {
        memcpy(l + (size_t)i * (size_t)room,
               m->inverse + (size_t)i * (size_t)m->room,
               (size_t)(i + 1) * sizeof *l);
    }
    free(m->inverse);
    m->inverse = l;
    return 1;
}

static tri_status reserve(tri_model *m, int n)
{
    int room = n + n / 4 + 16;
    int d = m->form.width;

    if (n <= m->room) {
        return TRI_OK;
    }
    if (!grow(&m->x, room, d) || !grow(&m->share, room, 1) ||
        !grow(&m->y, room, 1) || !grow(&m->scaled, room, d) ||
        !grow(&m->square, room, 1) || !grow(&m->w, room, 1) ||
        !grow(&m->alpha, room, 1) || !grow(&m->spare, room, 1) ||
        !grow_factor(m, room)) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a model of %d samples", n);
    }
    m->room = room;
    return TRI_OK;
}

tri_gp_points tri_gp_rows(const tri_model *m, int from, int n)
{
    size_t d = (size_t)m->form.width;

    return (tri_gp_points){.n = n,
                           .x = m->x + (size_t)from * d,
                           .share = m->share + from,
                           .scaled = m->scaled + (size_t)from * d,
                           .square = m->square + from};
}

static double noise_of(const tri_model *m)
{
    return exp(2 * m->theta[tri_gp_at(&m->form, TRI_GP_N)]) + JITTER;
}

/* Rows of the triangle at a time: its upper part is zero. */
#define STRIP 64

/* out = l^-1 x, or its transpose's product; out is not x. */
static void times(const tri_model *m, int n, int transposed, const double *x,
                  double *out)
{
    memset(out, 0, (size_t)n * sizeof *out);
    for (int i = 0; i < n; i += STRIP) {
        int rows = n - i < STRIP ? n - i : STRIP;
        const double *strip = m->inverse + (size_t)i * (size_t)m->room;

        cblas_dgemv(CblasRowMajor, transposed ? CblasTrans : CblasNoTrans, rows,
                    i + rows, 1, strip, m->room, transposed ? x + i : x, 1, 1,
                    transposed ? out : out + i, 1);
    }
}

/* w and alpha of the values that are there. */
static void set_alpha(tri_model *m)
{
    times(m, m->n, 0, m->y, m->w);
    times(m, m->n, 1, m->w, m->alpha);
}

static void clear_upper(tri_model *m)
{
    for (int i = 0; i < m->n; i++) {
        memset(m->inverse + (size_t)i * (size_t)m->room + i + 1, 0,
               (size_t)(m->room - i - 1) * sizeof *m->inverse);
    }
}

static tri_status factor(tri_model *m)
{
    tri_gp_points p = tri_gp_rows(m, 0, m->n);
    double noise = noise_of(m);

    tri_gp_scale(&m->form, m->theta, &p);
    double more = 0; /* on the diagonal, until there is a factor */

    for (int tries = 0; tries < TRIES; tries++) {
        tri_gp_cross(&m->form, m->theta, &p, &p, m->inverse, m->room);
        for (int i = 0; i < m->n; i++) {
            m->inverse[(size_t)i * (size_t)m->room + (size_t)i] += noise + more;
        }
        if (tri_cholesky(m->inverse, m->n, m->room) &&
            tri_triangle_invert(m->inverse, m->n, m->room)) {
            clear_upper(m);
            set_alpha(m);
            return TRI_OK;
        }
        more = more > 0 ? 10 * more : JITTER;
    }
    return TRI_FAIL(TRI_EINTERNAL, "a covariance of %d samples is singular",
                    m->n);
}

/* ---- fit ----------------------------------------------------------------- */

/* Hold at most `most` of the samples. */
static void take(tri_model *m, const tri_samples *s, tri_gp_choice *c, int most)
{
    size_t d = (size_t)m->form.width;
    int n = tri_gp_choose(c, s->y, s->n, most);
    const int *which = c->which;

    m->n = n;
    m->mean = 0;
    for (int i = 0; i < n; i++) {
        m->mean += s->y[which[i]] / n;
    }
    for (int i = 0; i < n; i++) {
        memcpy(m->x + (size_t)i * d, s->x + (size_t)which[i] * d,
               d * sizeof *m->x);
        m->share[i] = m->form.has_resource && s->resource
                              ? s->resource[which[i]] / m->top
                              : 1;
        m->y[i] = s->y[which[i]] - m->mean;
    }
}

/* Learn from the samples that m holds now, by so many likelihoods. */
static tri_status learn_now(tri_model *m, const tri_samples *s, int calls,
                            int fresh)
{
    return tri_gp_learn(&m->form, m->n, m->x,
                        m->form.has_resource ? m->share : NULL, m->y, calls,
                        fresh, s->cancel, m->theta);
}

/* Without a start, from two by few samples; then by more of them. */
static tri_status learn(tri_model *m, const tri_samples *s,
                        const tri_model *before, tri_gp_choice *c)
{
    int fresh = !before || before->form.n != m->form.n;
    int calls = FINE_CALLS;

    tri_gp_prior(&m->form, m->theta);
    for (int g = 0; g < m->form.n_axes && s->rough; g++) {
        m->theta[g] = 0; /* a length of one range */
    }
    if (s->rough) {
        return TRI_OK;
    }
    if (!fresh) {
        memcpy(m->theta, before->theta, (size_t)m->form.n * sizeof *m->theta);
        if (s->keep) {
            return TRI_OK;
        }
        calls = s->n > COARSE_MOST ? LATER_CALLS : WARM_CALLS;
    } else {
        take(m, s, c, COARSE_MOST);
        TRI_TRY(learn_now(m, s, COARSE_CALLS, 1));
    }
    if (!fresh || s->n > COARSE_MOST) {
        take(m, s, c, fresh ? FINE_MOST : LATER_MOST);
        TRI_TRY(learn_now(m, s, calls, 0));
    }
    return TRI_OK;
}

static tri_status fit_into(tri_model *m, const tri_samples *s,
                           const tri_model *before, tri_gp_choice *c)
{
    TRI_TRY(reserve(m, s->n < KEEP_MOST ? s->n : KEEP_MOST));
    TRI_TRY(learn(m, s, before, c));
    take(m, s, c, KEEP_MOST);
    return factor(m);
}

tri_status tri_gp_fit(const tri_encoding *e, const tri_samples *s,
                      const tri_model *before, tri_model **out)
{
    tri_model *m = calloc(1, sizeof *m);
    tri_gp_choice c;
    int has_room = tri_gp_choice_init(&c, s->n);
    tri_status st = TRI_OK;

    if (s->n < 1) {
        st = TRI_FAIL(TRI_EINVAL, "a model needs a sample");
    } else if (!m || !has_room) {
        st = TRI_FAIL(TRI_ENOMEM, "no memory for a model");
    }
    if (st == TRI_OK) {
        tri_gp_form_init(&m->form, e, tri_resources_differ(s));
        for (int i = 0; i < s->n && s->resource; i++) {
            m->top = fmax(m->top, s->resource[i]);
        }
        m->theta = malloc((size_t)m->form.n * sizeof *m->theta);
        st = m->theta ? fit_into(m, s, before, &c)
                      : TRI_FAIL(TRI_ENOMEM, "no memory for a model");
    }
    tri_gp_choice_fini(&c);
    if (st != TRI_OK) {
        tri_gp_destroy(m);
        return st;
    }
    *out = m;
    return TRI_OK;
}

static tri_status gp_fit(const tri_encoding *e, const tri_samples *s,
                         uint64_t seed, const tri_model *before,
                         tri_model **out)
{
    (void)seed;
    return tri_gp_fit(e, s, before, out);
}

/* ---- use ----------------------------------------------------------------- */

static void predict_block(const tri_model *m, tri_gp_block *b, double *mean,
                          double *sd)
{
    tri_gp_points mine = tri_gp_rows(m, 0, m->n);
    double *variance = b->more + BLOCK;

    tri_gp_scale(&m->form, m->theta, &b->p);
    tri_gp_cross(&m->form, m->theta, &b->p, &mine, b->k, m->n);
    for (int i = 0; i < b->p.n; i++) {
        mean[i] = m->mean + cblas_ddot(m->n, b->k + (size_t)i * (size_t)m->n, 1,
                                       m->alpha, 1);
    }
    if (!sd) {
        return;
    }
    tri_gp_variances(&m->form, m->theta, &b->p, variance);
    cblas_dtrmm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit,
                b->p.n, m->n, 1, m->inverse, m->room, b->k, m->n);
    for (int i = 0; i < b->p.n; i++) {
        const double *v = b->k + (size_t)i * (size_t)m->n;
        double left = variance[i] - cblas_ddot(m->n, v, 1, v, 1);

        sd[i] = sqrt(fmax(left, 1e-12));
    }
}

void tri_gp_predict(const tri_model *m, const double *x, int n, double resource,
                    double *mean, double *sd)
{
    double share = m->form.has_resource ? resource / m->top : 1;
    tri_gp_block b;

    if (!tri_gp_block_init(&b, &m->form, BLOCK, m->n, 2)) {
        for (int i = 0; i < n; i++) {
            mean[i] = m->mean;
            if (sd) {
                sd[i] = 1;
            }
        }
        return;
    }
    for (int i = 0; i < BLOCK; i++) {
        b.more[i] = share;
    }
    b.p.share = b.more;
    for (int i = 0; i < n; i += BLOCK) {
        b.p.n = n - i < BLOCK ? n - i : BLOCK;
        b.p.x = x + (size_t)i * (size_t)m->form.width;
        predict_block(m, &b, mean + i, sd ? sd + i : NULL);
    }
    tri_gp_block_fini(&b);
}

/* One row more of l is (l^-1 k)', d with d^2 what is left of its variance: of
 * the inverse (-(l^-1 k)' l^-1, 1) / d. */
static void add_row(tri_model *m, double own, double *row)
{
    int n = m->n;
    double *v = m->spare;
    double left, by;

    times(m, n, 0, row, v);
    left = own + noise_of(m) - cblas_ddot(n, v, 1, v, 1);
    by = 1 / sqrt(fmax(left, noise_of(m)));
    m->w[n] = (m->y[n] - cblas_ddot(n, v, 1, m->w, 1)) * by;
    times(m, n, 1, v, row);
    cblas_dscal(n, -by, row, 1);
    row[n] = by;
    memset(row + n + 1, 0, (size_t)(m->room - n - 1) * sizeof *row);
    m->alpha[n] = 0;
    cblas_daxpy(n + 1, m->w[n], row, 1, m->alpha, 1);
    m->n++;
}

static tri_status gp_add(tri_model *m, const double *x, double y,
                         double resource)
{
    size_t d = (size_t)m->form.width;
    double *row;
    double own;
    tri_gp_points one, mine;

    TRI_TRY(reserve(m, m->n + 1));
    memcpy(m->x + (size_t)m->n * d, x, d * sizeof *x);
    m->share[m->n] = m->form.has_resource ? resource / m->top : 1;
    m->y[m->n] = y - m->mean;
    one = tri_gp_rows(m, m->n, 1);
    mine = tri_gp_rows(m, 0, m->n);
    tri_gp_scale(&m->form, m->theta, &one);
    row = m->inverse + (size_t)m->n * (size_t)m->room;
    tri_gp_cross(&m->form, m->theta, &one, &mine, row, m->room);
    tri_gp_variances(&m->form, m->theta, &one, &own);
    add_row(m, own, row);
    return TRI_OK;
}

/* Whether the samples begin with the model's rows. */
static int begins_alike(const tri_model *m, const tri_samples *s)
{
    size_t d = (size_t)m->form.width;

    if (s->n < m->n || s->n > KEEP_MOST ||
        tri_resources_differ(s) != m->form.has_resource) {
        return 0;
    }
    for (int i = 0; i < s->n && m->form.has_resource; i++) {
        if (s->resource[i] > m->top ||
            (i < m->n && s->resource[i] / m->top != m->share[i])) {
            return 0;
        }
    }
    return memcmp(m->x, s->x, (size_t)m->n * d * sizeof *s->x) == 0;
}

static tri_status gp_update(tri_model *m, const tri_samples *s)
{
    int from = m->n;

    if (!begins_alike(m, s)) {
        return TRI_ENOTFOUND;
    }
    TRI_TRY(reserve(m, s->n));
    for (int i = from; i < s->n; i++) {
        TRI_TRY(gp_add(m, s->x + (size_t)i * (size_t)m->form.width, s->y[i],
                       s->resource ? s->resource[i] : 1));
    }
    m->mean = 0;
    for (int i = 0; i < s->n; i++) {
        m->mean += s->y[i] / s->n;
    }
    for (int i = 0; i < s->n; i++) {
        m->y[i] = s->y[i] - m->mean;
    }
    set_alpha(m);
    return TRI_OK;
}

static void gp_truncate(tri_model *m, int n)
{
    while (n < m->n) { /* each added w times its row of l^-1 to alpha */
        m->n--;
        cblas_daxpy(m->n, -m->w[m->n],
                    m->inverse + (size_t)m->n * (size_t)m->room, 1, m->alpha,
                    1);
    }
}

static int gp_size(const tri_model *m)
{
    return m->n;
}

static void gp_describe(const tri_model *m, char *buf, size_t bytes)
{
    size_t at = 0;

    buf[0] = 0;
    for (int g = 0; g < m->form.n_axes && at < bytes; g++) {
        const tri_axis *axis = tri_encoding_axis(m->form.encoding, g);
        static const char *const kinds[] = {"", "#", "*", "?"};

        at += (size_t)snprintf(buf + at, bytes - at, "ls.%s%s%s=%.3g ",
                               axis->name, kinds[axis->kind],
                               axis->with ? axis->with : "", exp(m->theta[g]));
    }
    if (at < bytes) {
        snprintf(buf + at, bytes - at, "sd=%.3g noise=%.3g n=%d",
                 exp(m->theta[tri_gp_at(&m->form, TRI_GP_F)]),
                 exp(m->theta[tri_gp_at(&m->form, TRI_GP_N)]), m->n);
    }
}

const tri_predictor_ops tri_predictor_gp = {
        .name = "gp",
        .fit = gp_fit,
        .update = gp_update,
        .predict = tri_gp_predict,
        .screen = tri_gp_screen,
        .add = gp_add,
        .truncate = gp_truncate,
        .size = gp_size,
        .draw = tri_gp_draw,
        .draws = tri_gp_draws,
        .describe = gp_describe,
        .destroy = tri_gp_destroy,
};

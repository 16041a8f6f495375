/*
 * A Gaussian process about a linear trend.
 *
 * Away from all samples a Gaussian process comes back to its mean; here that is
 * a plane over the columns of numbers and products, which are logarithms of
 * what is positive, so that a power of the number of ranks is a slope.  The
 * slopes are those of ridge regression, the ridge chosen by leaving out (in
 * closed form), so that what does not carry over to samples that were left out
 * has no slope.
 */
#include "src/predict/lapack.h"
#include "trireme/predict.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Ridges that are compared, as shares of a column's squares. */
#define RIDGES 8
/* Of the squares of n left-out samples chance explains a share of about one
 * over the root of n: slopes must explain twice that. */
#define CHANCE 2.0

struct tri_model {
    const tri_encoding *e;
    int width;
    double *slope;  /* width; 0 for columns that are no numbers */
    double *centre; /* width */
    double level;   /* where all columns are at their centre */
    tri_model *rest;
};

/* ---- the plane ---------------------------------------------------------- */

typedef struct plane {
    int n, d;
    int *column;   /* d columns that vary */
    double *z;     /* n x d, centred and of deviation one */
    double *scale; /* d */
    double *y;     /* n, centred */
    double *gram;  /* d x d */
    double *a;     /* d x d: its factor with a ridge */
    double *b, *solved;
} plane;

static void plane_fini(plane *p)
{
    free(p->column);
    free(p->z);
}

static int is_number(const tri_encoding *e, int column)
{
    for (int g = 0; g < tri_encoding_n_axes(e); g++) {
        const tri_axis *axis = tri_encoding_axis(e, g);

        if (column >= axis->first && column < axis->first + axis->width) {
            return axis->kind == TRI_AXIS_NUMBER ||
                   axis->kind == TRI_AXIS_PRODUCT;
        }
    }
    return 0;
}

static double deviation(const tri_samples *s, int column, double *mean)
{
    double sum = 0;

    *mean = 0;
    for (int i = 0; i < s->n; i++) {
        *mean += s->x[(size_t)i * (size_t)s->width + (size_t)column] / s->n;
    }
    for (int i = 0; i < s->n; i++) {
        double v = s->x[(size_t)i * (size_t)s->width + (size_t)column] - *mean;

        sum += v * v / s->n;
    }
    return sqrt(sum);
}

static tri_status plane_init(plane *p, const tri_encoding *e,
                             const tri_samples *s, double *centre)
{
    size_t n = (size_t)s->n, w = (size_t)s->width;

    *p = (plane){.n = s->n};
    p->column = malloc((w + 1) * sizeof *p->column);
    p->z = calloc(n * w + n + 2 * w * w + 3 * w + 1, sizeof *p->z);
    if (!p->column || !p->z) {
        plane_fini(p);
        return TRI_FAIL(TRI_ENOMEM, "no memory for a trend");
    }
    p->scale = p->z + n * w;
    p->y = p->scale + w;
    p->gram = p->y + n;
    p->a = p->gram + w * w;
    p->b = p->a + w * w;
    p->solved = p->b + w;
    for (int c = 0; c < s->width; c++) {
        double sd = deviation(s, c, &centre[c]);

        if (sd > 1e-9 && is_number(e, c)) {
            p->scale[p->d] = sd;
            p->column[p->d++] = c;
        }
    }
    for (int i = 0; i < s->n; i++) {
        for (int k = 0; k < p->d; k++) {
            int c = p->column[k];

            p->z[(size_t)i * (size_t)p->d + (size_t)k] =
                    (s->x[(size_t)i * w + (size_t)c] - centre[c]) / p->scale[k];
        }
    }
    return TRI_OK;
}

/* solved = (gram + ridge n)^-1 z'y; 0 where that is singular. */
static int solve(plane *p, double ridge)
{
    int d = p->d;

    memcpy(p->a, p->gram, (size_t)d * (size_t)d * sizeof *p->a);
    for (int k = 0; k < d; k++) {
        p->a[(size_t)k * (size_t)d + (size_t)k] += ridge * p->n;
    }
    if (!tri_cholesky(p->a, d, d)) {
        return 0;
    }
    memcpy(p->solved, p->b, (size_t)d * sizeof *p->b);
    cblas_dtrsv(CblasRowMajor, CblasLower, CblasNoTrans, CblasNonUnit, d, p->a,
                d, p->solved, 1);
    cblas_dtrsv(CblasRowMajor, CblasLower, CblasTrans, CblasNonUnit, d, p->a, d,
                p->solved, 1);
    return 1;
}

/* The squared error of each sample by the plane of the others, summed: the
 * residual over one less the sample's leverage. */
static double left_out(const plane *p, double *v)
{
    int d = p->d;
    double sum = 0;

    for (int i = 0; i < p->n; i++) {
        const double *z = p->z + (size_t)i * (size_t)d;
        double leverage, error;

        memcpy(v, z, (size_t)d * sizeof *v);
        cblas_dtrsv(CblasRowMajor, CblasLower, CblasNoTrans, CblasNonUnit, d,
                    p->a, d, v, 1);
        leverage = cblas_ddot(d, v, 1, v, 1) + 1.0 / p->n;
        error = (p->y[i] - cblas_ddot(d, z, 1, p->solved, 1)) /
                fmax(1 - leverage, 1e-3);
        sum += error * error;
    }
    return sum;
}

/* The ridge that predicts left-out samples best; [out] slope. */
static void learn_slopes(plane *p, double *slope, double *scratch)
{
    double least = 0;
    double flat;

    for (int i = 0; i < p->n; i++) {
        least += p->y[i] * p->y[i];
    }
    flat = (double)p->n / (p->n > 1 ? p->n - 1 : 1);
    least *= flat * flat * fmax(1 - CHANCE / sqrt((double)p->n), 0.1);
    for (int r = 0; r < RIDGES; r++) {
        double error;

        if (!solve(p, pow(10, 1 - r))) {
            continue;
        }
        error = left_out(p, scratch);
        if (error < least) {
            least = error;
            for (int k = 0; k < p->d; k++) {
                slope[p->column[k]] = p->solved[k] / p->scale[k];
            }
        }
    }
}

static tri_status learn_plane(tri_model *m, const tri_samples *s)
{
    double *scratch = malloc(((size_t)s->width + 1) * sizeof *scratch);
    plane p;

    if (!scratch || plane_init(&p, m->e, s, m->centre) != TRI_OK) {
        free(scratch);
        return TRI_FAIL(TRI_ENOMEM, "no memory for a trend");
    }
    for (int i = 0; i < s->n; i++) {
        m->level += s->y[i] / s->n;
    }
    for (int i = 0; i < s->n; i++) {
        p.y[i] = s->y[i] - m->level;
    }
    if (p.d > 0 && s->n > 2) {
        cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, p.d, p.n, 1, p.z,
                    p.d, 0, p.gram, p.d);
        cblas_dgemv(CblasRowMajor, CblasTrans, p.n, p.d, 1, p.z, p.d, p.y, 1, 0,
                    p.b, 1);
        learn_slopes(&p, m->slope, scratch);
    }
    plane_fini(&p);
    free(scratch);
    return TRI_OK;
}

static double plane_at(const tri_model *m, const double *x)
{
    double sum = m->level;

    for (int c = 0; c < m->width; c++) {
        sum += m->slope[c] * (x[c] - m->centre[c]);
    }
    return sum;
}

/* ---- the model ---------------------------------------------------------- */

static void destroy(tri_model *m)
{
    if (m) {
        if (m->rest) {
            tri_predictor_gp.destroy(m->rest);
        }
        free(m->slope);
        free(m);
    }
}

static tri_status fit_rest(tri_model *m, const tri_samples *s, uint64_t seed,
                           const tri_model *before)
{
    double *y = malloc(((size_t)s->n + 1) * sizeof *y);
    tri_samples rest = *s;
    tri_status st;

    if (!y) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a trend");
    }
    for (int i = 0; i < s->n; i++) {
        y[i] = s->y[i] - plane_at(m, s->x + (size_t)i * (size_t)s->width);
    }
    rest.y = y;
    st = tri_predictor_gp.fit(m->e, &rest, seed, before ? before->rest : NULL,
                              &m->rest);
    free(y);
    return st;
}

static tri_status fit(const tri_encoding *e, const tri_samples *s,
                      uint64_t seed, const tri_model *before, tri_model **out)
{
    tri_model *m = calloc(1, sizeof *m);
    tri_status st;

    if (s->n < 1) {
        free(m);
        return TRI_FAIL(TRI_EINVAL, "a model needs a sample");
    }
    if (m) {
        m->e = e;
        m->width = s->width;
        m->slope = calloc(2 * (size_t)s->width + 1, sizeof *m->slope);
    }
    if (!m || !m->slope) {
        destroy(m);
        return TRI_FAIL(TRI_ENOMEM, "no memory for a trend");
    }
    m->centre = m->slope + s->width;
    st = learn_plane(m, s);
    if (st == TRI_OK) {
        st = fit_rest(m, s, seed, before);
    }
    if (st != TRI_OK) {
        destroy(m);
        return st;
    }
    *out = m;
    return TRI_OK;
}

static void predict(const tri_model *m, const double *x, int n, double resource,
                    double *mean, double *sd)
{
    tri_predictor_gp.predict(m->rest, x, n, resource, mean, sd);
    for (int i = 0; i < n; i++) {
        mean[i] += plane_at(m, x + (size_t)i * (size_t)m->width);
    }
}

static void screen(const tri_model *m, const float *x, int n, double resource,
                   float *mean, float *sd)
{
    tri_predictor_gp.screen(m->rest, x, n, resource, mean, sd);
    for (int i = 0; i < n; i++) {
        double sum = m->level;

        for (int c = 0; c < m->width; c++) {
            sum += m->slope[c] *
                   ((double)x[(size_t)i * (size_t)m->width + (size_t)c] -
                    m->centre[c]);
        }
        mean[i] += (float)(sum - 1e-6 * (1 + fabs(sum))); /* a bound */
    }
}

static int size(const tri_model *m)
{
    return tri_predictor_gp.size(m->rest);
}

static void describe(const tri_model *m, char *buf, size_t bytes)
{
    tri_predictor_gp.describe(m->rest, buf, bytes);
}

const tri_predictor_ops tri_predictor_trend = {.name = "trend",
                                               .fit = fit,
                                               .predict = predict,
                                               .screen = screen,
                                               .size = size,
                                               .describe = describe,
                                               .destroy = destroy};

/*
 * The probability that a configuration runs: labels, peaks, and dominance.
 */
#include "src/predict/gp.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Labels are no values: their spread about the process. */
#define LABEL_VARIANCE 0.1
/* Peaks that make a model of memory. */
#define PEAKS_LEAST 5
/* A direction counts where its weight is so many deviations from none. */
#define CERTAIN 2.0

struct tri_feasibility {
    int width;
    int n_failed, n_ran;
    tri_model *labels; /* NULL where all ran, or all failed */
    tri_model *peaks;  /* of logarithms; NULL */
    double log_limit;
    signed char *worse; /* per column: +1, -1: towards failure, for certain */
    double *failed;     /* n_failed x width */
};

void tri_feasibility_destroy(tri_feasibility *f)
{
    if (f) {
        tri_gp_destroy(f->labels);
        tri_gp_destroy(f->peaks);
        free(f->worse);
        free(f->failed);
        free(f);
    }
}

/* ---- dominance ------------------------------------------------------------
 */

/* The linear part's weights, given the data: mean l^2 X' k^-1 y, covariance
 * l^2 I - l^4 X' k^-1 X, of which the diagonal (Rasmussen and Williams,
 * 2006, section 2.1). */
static tri_status find_worse(tri_feasibility *f)
{
    const tri_model *m = f->labels;
    double l2 = exp(2 * m->theta[tri_gp_at(&m->form, TRI_GP_L)]);
    double *column = malloc(((size_t)m->n + 1) * sizeof *column);

    if (!column) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a model of failures");
    }
    for (int k = 0; k < f->width; k++) {
        double mean = 0;
        double left;

        for (int i = 0; i < m->n; i++) {
            column[i] = m->x[i * f->width + k] - 0.5;
            mean += l2 * column[i] * m->alpha[i];
        }
        cblas_dtrmv(CblasRowMajor, CblasLower, CblasNoTrans, CblasNonUnit, m->n,
                    m->inverse, m->room, column, 1);
        left = l2 - l2 * l2 * cblas_ddot(m->n, column, 1, column, 1);
        if (fabs(mean) > CERTAIN * sqrt(fmax(left, 1e-12))) {
            f->worse[k] = mean < 0 ? 1 : -1; /* labels: -1 failed */
        }
    }
    free(column);
    return TRI_OK;
}

/* Whether x is a failed one but for steps in directions that are worse. */
static int is_dominated(const tri_feasibility *f, const double *x)
{
    for (int i = 0; i < f->n_failed; i++) {
        const double *b = f->failed + (size_t)i * (size_t)f->width;
        int k = 0;

        while (k < f->width &&
               (fabs(x[k] - b[k]) < 1e-9 || f->worse[k] * (x[k] - b[k]) > 0)) {
            k++;
        }
        if (k == f->width) {
            return 1;
        }
    }
    return 0;
}

/* ---- fit -------------------------------------------------------------------
 */

static tri_status fit_labels(tri_feasibility *f, const tri_encoding *e, int n,
                             const double *x, const unsigned char *failed)
{
    double *y = malloc(((size_t)n + 1) * sizeof *y);
    tri_samples s = {.n = n, .width = f->width, .x = x, .y = y};
    tri_status st;

    if (!y) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a model of failures");
    }
    for (int i = 0; i < n; i++) {
        y[i] = failed[i] ? -1 : 1;
    }
    st = tri_gp_fit(e, &s, 1, NULL, &f->labels);
    free(y);
    return st == TRI_OK ? find_worse(f) : st;
}

static tri_status fit_peaks(tri_feasibility *f, const tri_encoding *e, int n,
                            const double *x, const double *peak)
{
    double *rows = malloc(((size_t)n * (size_t)f->width + (size_t)n + 1) *
                          sizeof *rows);
    double *y = rows ? rows + (size_t)n * (size_t)f->width : NULL;
    tri_samples s = {.width = f->width, .x = rows, .y = y};
    tri_status st = TRI_OK;

    if (!rows) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a model of memory");
    }
    for (int i = 0; i < n; i++) {
        if (peak[i] > 0) {
            memcpy(rows + (size_t)s.n * (size_t)f->width,
                   x + (size_t)i * (size_t)f->width,
                   (size_t)f->width * sizeof *rows);
            y[s.n++] = log(peak[i]);
        }
    }
    if (s.n >= PEAKS_LEAST) {
        st = tri_gp_fit(e, &s, 0, NULL, &f->peaks);
    }
    free(rows);
    return st;
}

static tri_status fit_all(tri_feasibility *f, const tri_encoding *e, int n,
                          const double *x, const unsigned char *failed,
                          const double *peak)
{
    f->worse = calloc((size_t)f->width + 1, sizeof *f->worse);
    f->failed = malloc(((size_t)n * (size_t)f->width + 1) * sizeof *f->failed);
    if (!f->worse || !f->failed) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a model of failures");
    }
    for (int i = 0; i < n; i++) {
        if (failed[i]) {
            memcpy(f->failed + (size_t)f->n_failed * (size_t)f->width,
                   x + (size_t)i * (size_t)f->width,
                   (size_t)f->width * sizeof *f->failed);
            f->n_failed++;
        } else {
            f->n_ran++;
        }
    }
    if (f->n_failed > 0 && f->n_ran > 0) {
        TRI_TRY(fit_labels(f, e, n, x, failed));
    }
    return peak ? fit_peaks(f, e, n, x, peak) : TRI_OK;
}

tri_status tri_feasibility_fit(const tri_encoding *e, int n, const double *x,
                               const unsigned char *failed, const double *peak,
                               double limit, uint64_t seed,
                               tri_feasibility **out)
{
    tri_feasibility *f = calloc(1, sizeof *f);
    tri_status st;

    (void)seed;
    if (!f) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a model of failures");
    }
    f->width = tri_encoding_width(e);
    f->log_limit = limit > 0 ? log(limit) : INFINITY;
    st = fit_all(f, e, n, x, failed, peak);
    if (st != TRI_OK) {
        tri_feasibility_destroy(f);
        return st;
    }
    *out = f;
    return TRI_OK;
}

/* ---- use --------------------------------------------------------------------
 */

static double normal(double z)
{
    return 0.5 * erfc(-z / sqrt(2.0));
}

static void from_labels(const tri_feasibility *f, const double *x, int m,
                        double *mean, double *sd, double *p)
{
    tri_gp_predict(f->labels, x, m, 1, mean, sd);
    for (int i = 0; i < m; i++) {
        p[i] = is_dominated(f, x + (size_t)i * (size_t)f->width)
                       ? 0
                       : normal(mean[i] / sqrt(sd[i] * sd[i] + LABEL_VARIANCE));
    }
}

static void from_peaks(const tri_feasibility *f, const double *x, int m,
                       double *mean, double *sd, double *p, double *bytes)
{
    double noise =
            exp(2 * f->peaks->theta[tri_gp_at(&f->peaks->form, TRI_GP_N)]);

    tri_gp_predict(f->peaks, x, m, 1, mean, sd);
    for (int i = 0; i < m; i++) {
        double room = f->log_limit - mean[i];

        if (bytes) {
            bytes[i] = exp(mean[i]);
        }
        if (isfinite(room)) {
            p[i] = fmin(p[i], normal(room / sqrt(sd[i] * sd[i] + noise)));
        }
    }
}

void tri_feasibility_predict(const tri_feasibility *f, const double *x, int m,
                             double *p, double *bytes)
{
    double *mean = malloc(2 * ((size_t)m + 1) * sizeof *mean);

    for (int i = 0; i < m; i++) {
        p[i] = f->n_failed > 0 && f->n_ran == 0 ? 0.5 : 1;
        if (bytes) {
            bytes[i] = NAN;
        }
    }
    if (mean && f->labels) {
        from_labels(f, x, m, mean, mean + m, p);
    }
    if (mean && f->peaks) {
        from_peaks(f, x, m, mean, mean + m, p, bytes);
    }
    free(mean);
}

/*
 * The probability that a configuration runs: labels, peaks, and dominance.
 */
#include "src/predict/classify.h"
#include "src/predict/gp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Peaks that make a model of memory. */
#define PEAKS_LEAST 5
/* Peaks from which on the model of them is learned anew when they have grown by
 * a tenth; between, its hyper-parameters stay. */
#define LEARN_EACH   40
#define LEARN_GROWTH 1.1
/* A direction counts where its slope is so many deviations from none: one
 * direction in forty is wrong by chance alone at two. */
#define CERTAIN 3.0

typedef enum step { /* what a column means to dominance */
    STEP_DERIVED,   /* nothing: another column says it */
    STEP_SAME,      /* that both are the same */
    STEP_WORSE      /* that both are the same, or one is worse */
} step;

struct tri_feasibility {
    int width;
    int n_failed;
    tri_classifier *labels; /* NULL where none failed */
    tri_model *peaks;       /* of logarithms; NULL */
    int learned_n;          /* peaks when its hyper-parameters were learned */
    double log_limit;
    unsigned char *step;
    signed char *worse; /* per column: +1, -1: towards failure, for certain */
    double *failed;     /* n_failed x width */
};

void tri_feasibility_destroy(tri_feasibility *f)
{
    if (f) {
        tri_classifier_destroy(f->labels);
        tri_gp_destroy(f->peaks);
        free(f->step);
        free(f->worse);
        free(f->failed);
        free(f);
    }
}

/* ---- dominance ---------------------------------------------------------- */

/* A step from one word to another has no direction; products and levels of
 * numbers follow the numbers. */
static void find_steps(tri_feasibility *f, const tri_encoding *e,
                       const double *sd)
{
    for (int i = 0; i < tri_encoding_n_axes(e); i++) {
        const tri_axis *a = tri_encoding_axis(e, i);

        for (int k = a->first; k < a->first + a->width; k++) {
            f->step[k] = sd[k] <= 0                   ? STEP_DERIVED
                         : a->kind == TRI_AXIS_NUMBER ? STEP_WORSE
                                                      : STEP_SAME;
        }
    }
}

static tri_status find_worse(tri_feasibility *f, const tri_encoding *e)
{
    double *mean = malloc((2 * (size_t)f->width + 1) * sizeof *mean);
    double *sd = mean ? mean + f->width : NULL;
    tri_status st;

    if (!mean) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a model of failures");
    }
    st = tri_classifier_slopes(f->labels, mean, sd);
    if (st == TRI_OK) {
        find_steps(f, e, sd);
    }
    for (int k = 0; st == TRI_OK && k < f->width; k++) {
        if (f->step[k] == STEP_WORSE && fabs(mean[k]) > CERTAIN * sd[k]) {
            f->worse[k] = mean[k] < 0 ? 1 : -1;
        }
    }
    free(mean);
    return st;
}

static int is_worse(const tri_feasibility *f, int k, double by)
{
    return f->step[k] == STEP_DERIVED || fabs(by) < 1e-9 ||
           f->worse[k] * by > 0;
}

/* Whether x is a failed one but for steps in directions that are worse. */
static int is_dominated(const tri_feasibility *f, const double *x)
{
    for (int i = 0; i < f->n_failed; i++) {
        const double *b = f->failed + (size_t)i * (size_t)f->width;
        int k = 0;

        while (k < f->width && is_worse(f, k, x[k] - b[k])) {
            k++;
        }
        if (k == f->width) {
            return 1;
        }
    }
    return 0;
}

/* ---- fit ---------------------------------------------------------------- */

static tri_status fit_peaks(tri_feasibility *f, const tri_encoding *e,
                            const tri_labels *l, const tri_feasibility *before)
{
    size_t w = (size_t)f->width;
    double *rows = malloc(((size_t)l->n * (w + 1) + 1) * sizeof *rows);
    double *y = rows ? rows + (size_t)l->n * w : NULL;
    tri_samples s = {.width = f->width, .x = rows, .y = y, .cancel = l->cancel};
    tri_status st = TRI_OK;

    if (!rows) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a model of memory");
    }
    for (int i = 0; i < l->n; i++) {
        if (l->peak[i] > 0) {
            memcpy(rows + (size_t)s.n * w, l->x + (size_t)i * w,
                   w * sizeof *rows);
            y[s.n++] = log(l->peak[i]);
        }
    }
    if (s.n >= PEAKS_LEAST) {
        s.keep = before && before->peaks && s.n >= LEARN_EACH &&
                 s.n < LEARN_GROWTH * before->learned_n;
        f->learned_n = s.keep ? before->learned_n : s.n;
        st = tri_gp_fit(e, &s, before ? before->peaks : NULL, &f->peaks);
    }
    free(rows);
    return st;
}

static tri_status fit_all(tri_feasibility *f, const tri_encoding *e,
                          const tri_labels *l, const tri_feasibility *before)
{
    size_t w = (size_t)f->width;

    f->step = calloc((size_t)f->width + 1, sizeof *f->step);
    f->worse = calloc((size_t)f->width + 1, sizeof *f->worse);
    f->failed = malloc(((size_t)l->n * w + 1) * sizeof *f->failed);
    if (!f->step || !f->worse || !f->failed) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a model of failures");
    }
    for (int i = 0; i < l->n; i++) {
        if (l->failed[i]) {
            memcpy(f->failed + (size_t)f->n_failed++ * w, l->x + (size_t)i * w,
                   w * sizeof *f->failed);
        }
    }
    if (f->n_failed > 0) {
        TRI_TRY(tri_classifier_fit(e, l, &f->labels));
        TRI_TRY(find_worse(f, e));
    }
    return l->peak ? fit_peaks(f, e, l, before) : TRI_OK;
}

tri_status tri_feasibility_fit(const tri_encoding *e, const tri_labels *l,
                               const tri_feasibility *before,
                               tri_feasibility **out)
{
    tri_feasibility *f = calloc(1, sizeof *f);
    tri_status st;

    if (!f) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a model of failures");
    }
    f->width = tri_encoding_width(e);
    f->log_limit = l->limit > 0 ? log(l->limit) : INFINITY;
    st = fit_all(f, e, l, before);
    if (st != TRI_OK) {
        tri_feasibility_destroy(f);
        return st;
    }
    *out = f;
    return TRI_OK;
}

/* ---- use ---------------------------------------------------------------- */

static double normal(double z)
{
    return 0.5 * erfc(-z / sqrt(2.0));
}

static void from_labels(const tri_feasibility *f, const double *x, int m,
                        double *p)
{
    tri_classifier_predict(f->labels, x, m, p);
    for (int i = 0; i < m; i++) {
        if (is_dominated(f, x + (size_t)i * (size_t)f->width)) {
            p[i] = 0;
        }
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
        p[i] = 1;
        if (bytes) {
            bytes[i] = NAN;
        }
    }
    if (f->labels) {
        from_labels(f, x, m, p);
    }
    if (mean && f->peaks) {
        from_peaks(f, x, m, mean, mean + m, p, bytes);
    }
    free(mean);
}

void tri_feasibility_screen(const tri_feasibility *f, const float *x, int m,
                            float *p)
{
    if (f->labels) {
        tri_classifier_screen(f->labels, x, m, p);
    }
    for (int i = 0; i < m && !f->labels; i++) {
        p[i] = 1;
    }
}

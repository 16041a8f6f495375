/*
 * How much less sure a model is than it says.
 *
 * Hyper-parameters that are the likeliest, a scale made of the same values and
 * a trend from elsewhere: a belief knows nothing of how uncertain these are.
 * So results are predicted as if they were not known, and what is told is as
 * wide as 95 % of these errors ask for; twice, and the wider counts:
 *
 *   left out   configurations by turns, from all the others
 *   forward    the later ones from those before them, by what could be learned
 *              then: what was chosen because much was expected of it is not
 *              like the rest, and what surprised is not known beforehand
 *
 * The quantile counts one more than there are, as in conformal prediction
 * (Vovk, Gammerman and Shafer, Algorithmic Learning in a Random World, 2005),
 * and for few it is widened by Student's over the normal one.  What is chosen
 * goes by the belief as it is: there too wide is as wrong as too narrow.
 */
#include "src/propose/thinker.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Configurations are left out in so many parts. */
#define FOLDS 5
/* Steps that the second half of the results is foretold in. */
#define STEPS 3
/* Rows that it is tried with, spread over all. */
#define MOST 120
/* Fewer results teach nothing. */
#define LEAST 2
/* Up to so many each result is reason to try again, then growth by this. */
#define EACH   8
#define GROWTH 1.2
/* No deviation is less than this part of the errors' own. */
#define FLOOR 0.1
/* Deviations of a normal belief in which 95 % are. */
#define NORMAL 1.96
/* The 97.5 % of Student's distribution over the normal one's, by the degrees of
 * freedom (Fisher's expansion). */
#define FEW_A 1.21
#define FEW_B 1.45

typedef struct trial {
    int n, width;
    double *x, *y, *resource;
    double *x_rest, *y_rest, *resource_rest;
    double *error, *sd, *ratio;
    int *first; /* row of the same configuration */
    int n_configs;
    int *config; /* number of the configuration, in order */
    unsigned char *known, *asked;
} trial;

static void trial_fini(trial *v)
{
    free(v->x);
    free(v->first);
    free(v->known);
}

/* Which rows, at whatever resources, are of one configuration. */
static void find_configurations(trial *v)
{
    size_t w = (size_t)v->width;

    for (int i = 0; i < v->n; i++) {
        int k = 0;

        while (k < i && memcmp(v->x + (size_t)k * w, v->x + (size_t)i * w,
                               w * sizeof *v->x) != 0) {
            k++;
        }
        v->first[i] = k;
        v->config[i] = k < i ? v->config[k] : v->n_configs++;
    }
}

static tri_status trial_init(trial *v, const tri_knowledge *k)
{
    size_t w = (size_t)k->width;
    int n = k->n < MOST ? k->n : MOST;

    *v = (trial){.n = n, .width = k->width};
    v->x = malloc(((size_t)n * (2 * w + 7) + 1) * sizeof *v->x);
    v->first = malloc((2 * (size_t)n + 1) * sizeof *v->first);
    v->known = malloc(2 * (size_t)n + 1);
    if (!v->x || !v->first || !v->known) {
        trial_fini(v);
        return TRI_FAIL(TRI_ENOMEM, "no memory to try a model");
    }
    v->x_rest = v->x + (size_t)n * w;
    v->y = v->x_rest + (size_t)n * w;
    v->resource = v->y + n;
    v->y_rest = v->resource + n;
    v->resource_rest = v->y_rest + n;
    v->error = v->resource_rest + n;
    v->sd = v->error + n;
    v->ratio = v->sd + n;
    v->config = v->first + n;
    v->asked = v->known + n;
    for (int i = 0; i < n; i++) {
        size_t from = (size_t)((int64_t)i * k->n / n);

        memcpy(v->x + (size_t)i * w, k->x + from * w, w * sizeof *v->x);
        v->y[i] = k->y[from];
        v->resource[i] = k->resource[from];
    }
    find_configurations(v);
    return TRI_OK;
}

static tri_samples known_of(const trial *v, const tri_cancel *cancel)
{
    size_t w = (size_t)v->width;
    tri_samples s = {.width = v->width,
                     .x = v->x_rest,
                     .y = v->y_rest,
                     .resource = v->resource_rest,
                     .cancel = cancel};

    for (int i = 0; i < v->n; i++) {
        if (v->known[i]) {
            memcpy(v->x_rest + (size_t)s.n * w, v->x + (size_t)i * w,
                   w * sizeof *v->x);
            v->y_rest[s.n] = v->y[i];
            v->resource_rest[s.n++] = v->resource[i];
        }
    }
    return s;
}

/* Predict the rows asked for from those known, by the model's hyper-parameters
 * or `anew`, by such as these teach: *n more errors. */
static tri_status foretell(const tri_thinker *t, const trial *v, int anew,
                           int *n)
{
    tri_samples s = known_of(v, t->cancel);
    tri_model *m;

    if (s.n < 1) {
        return TRI_OK;
    }
    s.keep = !anew;
    TRI_TRY(tri_thinker_fit(t, &s, t->model, &m));
    for (int i = 0; i < v->n; i++) {
        double mean;

        if (v->asked[i]) {
            t->of->predict(m, v->x + (size_t)i * (size_t)v->width, 1,
                           v->resource[i], &mean, &v->sd[*n]);
            v->error[(*n)++] = fabs(mean - v->y[i]);
        }
    }
    t->of->destroy(m);
    return TRI_OK;
}

static tri_status leave_out(const tri_thinker *t, const trial *v, int *n)
{
    int folds = v->n_configs < FOLDS ? v->n_configs : FOLDS;

    *n = 0;
    for (int fold = 0; fold < folds; fold++) {
        for (int i = 0; i < v->n; i++) {
            v->asked[i] = v->config[i] % folds == fold;
            v->known[i] = !v->asked[i];
        }
        TRI_TRY(foretell(t, v, 0, n));
    }
    return TRI_OK;
}

/* Of the second half those that are of another configuration. */
static tri_status go_forward(const tri_thinker *t, const trial *v, int *n)
{
    int from = v->n / 2 > LEAST ? v->n / 2 : LEAST;

    *n = 0;
    for (int step = 0; step < STEPS && from < v->n; step++) {
        int to = from + (v->n - from) / (STEPS - step);

        for (int i = 0; i < v->n; i++) {
            v->known[i] = i < from;
            v->asked[i] = i >= from && i < to && v->first[i] >= from;
        }
        if (to > from) {
            TRI_TRY(foretell(t, v, 1, n));
        }
        from = to;
    }
    return TRI_OK;
}

/* ---- what the errors say ---- */

static double floor_of(const trial *v, int n)
{
    double squares = 0;

    for (int i = 0; i < n; i++) {
        squares += v->error[i] * v->error[i];
    }
    return FLOOR * sqrt(squares / n);
}

static int by_size(const void *a, const void *b)
{
    double p = *(const double *)a, q = *(const double *)b;

    return (p > q) - (p < q);
}

/* So many deviations cover 95 % of n errors; 0 of none. */
static double covering(const trial *v, int n, double floor)
{
    int at = (int)ceil(0.95 * (n + 1));

    for (int i = 0; i < n; i++) {
        double sd = hypot(v->sd[i], floor);

        v->ratio[i] = sd > 0 ? v->error[i] / sd : 0;
    }
    qsort(v->ratio, (size_t)n, sizeof *v->ratio, by_size);
    return n > 0 ? v->ratio[at <= n ? at - 1 : n - 1] : 0;
}

static double few(int n, int n_fitted)
{
    double f = n > n_fitted + 1 ? n - n_fitted : 1;

    return 1 + FEW_A / f + FEW_B / (f * f);
}

static tri_status calibrate(const tri_thinker *t, const trial *v,
                            tri_calibration *c)
{
    double floor, left_out;
    int n, n_forward;

    TRI_TRY(leave_out(t, v, &n));
    if (n < LEAST) {
        return TRI_OK;
    }
    floor = floor_of(v, n);
    left_out = covering(v, n, floor);
    TRI_TRY(go_forward(t, v, &n_forward));
    if (!tri_is_cancelled(t->cancel)) { /* else some are poorer than they are */
        double most = fmax(left_out, covering(v, n_forward, floor));

        *c = (tri_calibration){few(n, 1 + tri_transfer_is_used(t->transfer)) *
                                       fmax(1, most / NORMAL),
                               floor};
    }
    return TRI_OK;
}

tri_status tri_thinker_calibrate(tri_thinker *t)
{
    tri_status st;
    trial v;

    if (t->known.n > EACH && t->known.n < GROWTH * t->calibrated_n) {
        return TRI_OK;
    }
    t->calibrated_n = t->known.n;
    TRI_TRY(trial_init(&v, &t->known));
    st = calibrate(t, &v, &t->calibration);
    trial_fini(&v);
    return st;
}

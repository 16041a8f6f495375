/*
 * How far each source is to be trusted: by this study's own results.
 */
#include "src/propose/transfer_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Own results that the trial is made with, and its folds. */
#define MOST  120
#define FOLDS 5
/* Results before which there is no cross-validation. */
#define VALIDATED 5
/* Until so many each result is reason to ask again, being a good part of all;
 * then growth by this, so that the number of trials, which are of several
 * models each, is that of the results' logarithm. */
#define EACH   12
#define GROWTH 1.2
/* How many results of its own the trust in a weight of one is worth: as one
 * that is a deviation off, since that is all that is known before the first. */
#define TRUST 1.0
/* With and without must differ by this much: a weight was fitted too, which by
 * chance explains one part in n of the squares of n results, and the trial
 * begins to matter with some thirty. */
#define BETTER 0.97
/* Peaks that differ by more are those of another model: allocators and versions
 * of libraries change some of a peak, twice the layers or columns most of it.
 */
#define PEAKS_ALIKE 1.25

typedef struct trial {
    const tri_encoding *e;
    int n, width;
    double *x, *y, *resource;
    double *trend; /* what the sources taken so far say, weighted */
    double *said;  /* what the one in question says */
    double *rest, *a, *b;
    int *fold;
    double *without; /* room for all folds but one */
    const tri_cancel *cancel;
} trial;

static void trial_fini(trial *t)
{
    free(t->x);
    free(t->fold);
}

/* Each configuration, at whatever resources, is in one fold. */
static void deal(trial *t)
{
    size_t bytes = (size_t)t->width * sizeof *t->x;
    int next = 0;

    for (int i = 0; i < t->n; i++) {
        int k = 0;

        while (k < i &&
               memcmp(t->x + (size_t)k * (size_t)t->width,
                      t->x + (size_t)i * (size_t)t->width, bytes) != 0) {
            k++;
        }
        t->fold[i] = k < i ? t->fold[k] : next++ % FOLDS;
    }
}

static tri_status trial_init(trial *t, const tri_encoding *e,
                             const tri_knowledge *own)
{
    int n = own->n < MOST ? own->n : MOST;
    size_t w = (size_t)own->width;

    *t = (trial){.e = e, .n = n, .width = own->width};
    t->x = calloc((size_t)n * (2 * w + 9) + 1, sizeof *t->x);
    t->fold = calloc((size_t)n + 1, sizeof *t->fold);
    if (!t->x || !t->fold) {
        trial_fini(t);
        return TRI_FAIL(TRI_ENOMEM, "no memory to weigh earlier results");
    }
    t->y = t->x + (size_t)n * w;
    t->resource = t->y + n;
    t->trend = t->resource + n;
    t->said = t->trend + n;
    t->rest = t->said + n;
    t->a = t->rest + n;
    t->b = t->a + n;
    t->without = t->b + n;
    for (int i = 0; i < n; i++) {
        int from = (int)((int64_t)i * own->n / n);

        memcpy(t->x + (size_t)i * w, own->x + (size_t)from * w,
               w * sizeof *t->x);
        t->y[i] = own->y[from];
        t->resource[i] = own->resource[from];
    }
    deal(t);
    return TRI_OK;
}

/* Of results at one resource only the differences count. */
static void centre(const trial *t, const double *from, double *to)
{
    for (int i = 0; i < t->n; i++) {
        double sum = 0;
        int n = 0;

        for (int k = 0; k < t->n; k++) {
            if (t->resource[k] == t->resource[i]) {
                sum += from[k];
                n++;
            }
        }
        to[i] = from[i] - sum / n;
    }
}

static void listen(const trial *t, const tri_source *s)
{
    memset(t->said, 0, (size_t)t->n * sizeof *t->said);
    for (int i = 0; i < t->n; i++) {
        tri_source_add(s, 1, t->x + (size_t)i * (size_t)t->width, 1, t->width,
                       t->resource[i], &t->said[i]);
    }
}

static double agreement(const trial *t, const tri_source *s)
{
    listen(t, s);
    centre(t, t->said, t->a);
    centre(t, t->y, t->b);
    return tri_kendall_tau(t->a, t->b, t->n);
}

/* Of least squares, drawn towards `expected`. */
static double weight_of(const trial *t, double expected)
{
    double products = TRUST * expected;
    double squares = TRUST;

    for (int i = 0; i < t->n; i++) {
        t->rest[i] = t->y[i] - t->trend[i];
    }
    centre(t, t->said, t->a);
    centre(t, t->rest, t->b);
    for (int i = 0; i < t->n; i++) {
        products += t->a[i] * t->b[i];
        squares += t->a[i] * t->a[i];
    }
    return fmax(0, products / squares);
}

/* ---- with or without ---------------------------------------------------- */

/* t->rest predicted from the other folds; *error grows by the squares. */
static tri_status try_fold(const trial *t, int fold, uint64_t seed,
                           double *error)
{
    size_t w = (size_t)t->width;
    const tri_samples all = {.n = t->n,
                             .width = t->width,
                             .x = t->x,
                             .y = t->rest,
                             .resource = t->resource,
                             .cancel = t->cancel};
    tri_samples s = tri_samples_without(&all, t->fold, fold, t->without);
    tri_model *m;

    if (s.n == 0 || s.n == t->n) {
        return TRI_OK;
    }
    TRI_TRY(tri_predictor_gp.fit(t->e, &s, seed, NULL, &m));
    for (int i = 0; i < t->n; i++) {
        double mean;

        if (t->fold[i] == fold) {
            tri_predictor_gp.predict(m, t->x + (size_t)i * w, 1, t->resource[i],
                                     &mean, NULL);
            *error += (t->rest[i] - mean) * (t->rest[i] - mean);
        }
    }
    tri_predictor_gp.destroy(m);
    return TRI_OK;
}

/* The error of what is left once the trend and `weight` times what is said are
 * taken away. */
static tri_status validate(const trial *t, double weight, uint64_t seed,
                           double *error)
{
    *error = 0;
    for (int i = 0; i < t->n; i++) {
        t->rest[i] = t->y[i] - t->trend[i] - weight * t->said[i];
    }
    for (int fold = 0; fold < FOLDS; fold++) {
        TRI_TRY(try_fold(t, fold, seed, error));
    }
    return TRI_OK;
}

/* ---- one source after the other ----------------------------------------- */

/* [out] s->weight, or why not. */
static tri_status try_source(trial *t, tri_source *s, int is_first,
                             double *without, uint64_t seed)
{
    double weight, with;

    listen(t, s);
    weight = weight_of(t, is_first ? 1 : 0);
    s->why = !(s->tau > 0) ? "it does not order what was measured here"
             : !(weight > 0)
                     ? "what was measured here is predicted as well without it"
                     : NULL;
    if (s->why) {
        return TRI_OK;
    }
    if (t->n >= VALIDATED) {
        if (isnan(*without)) {
            TRI_TRY(validate(t, 0, seed, without));
        }
        TRI_TRY(validate(t, weight, seed, &with));
        if (!(with < BETTER * *without)) {
            s->why = "what was measured here is predicted as well without it";
            return TRI_OK;
        }
        *without = with;
    }
    s->weight = weight;
    for (int i = 0; i < t->n; i++) {
        t->trend[i] += weight * t->said[i];
    }
    return TRI_OK;
}

/* The one that agrees best of those that were not yet tried; -1. */
static int best_left(const tri_transfer *t, const unsigned char *tried)
{
    int best = -1;

    for (int i = 0; i < t->n; i++) {
        if (!tried[i] && t->sources[i].model &&
            (best < 0 || t->sources[i].tau > t->sources[best].tau)) {
            best = i;
        }
    }
    return best;
}

static tri_status weigh_values(tri_transfer *t, trial *of, uint64_t seed)
{
    unsigned char *tried = calloc((size_t)t->n + 1, 1);
    double without = NAN;
    int used = 0;
    tri_status st = TRI_OK;

    if (!tried) {
        return TRI_FAIL(TRI_ENOMEM, "no memory to weigh earlier results");
    }
    for (int i = 0; i < t->n; i++) {
        t->sources[i].weight = 0;
        if (t->sources[i].model) {
            t->sources[i].tau = agreement(of, &t->sources[i]);
        }
    }
    for (int i = best_left(t, tried);
         st == TRI_OK && i >= 0 && !tri_is_cancelled(of->cancel);
         i = best_left(t, tried)) {
        tried[i] = 1;
        st = try_source(of, &t->sources[i], used == 0, &without, seed);
        used += t->sources[i].weight > 0;
    }
    free(tried);
    return st;
}

/* ---- failures and peaks ------------------------------------------------- */

static int by_size(const void *a, const void *b)
{
    double p = *(const double *)a, q = *(const double *)b;

    return (p > q) - (p < q);
}

/* Whether a source foretells who fails here no worse than their share does,
 * and the peaks of those who ran. */
static tri_status weigh_labels(tri_source *s, const tri_knowledge *own)
{
    int n = own->n_labels;
    double *p = malloc((3 * (size_t)n + 1) * sizeof *p);
    double *bytes, *ratio;
    double share = (own->n_failed + 1.0) / (n + 2.0);
    double loss = 0, loss_of_share = 0;
    int peaks = 0;

    if (!p) {
        return TRI_FAIL(TRI_ENOMEM, "no memory to weigh earlier failures");
    }
    bytes = p + n;
    ratio = bytes + n;
    tri_feasibility_predict(s->feasible, own->label_x, n, p, bytes);
    for (int i = 0; i < n; i++) {
        double runs = fmin(fmax(p[i], 0.02), 0.98);

        loss -= log(own->failed[i] ? 1 - runs : runs);
        loss_of_share -= log(own->failed[i] ? share : 1 - share);
        if (own->peak[i] > 0 && bytes[i] > 0) {
            ratio[peaks++] = fabs(log(bytes[i] / own->peak[i]));
        }
    }
    qsort(ratio, (size_t)peaks, sizeof *ratio, by_size);
    s->labels = !(loss > loss_of_share + log(2.0));
    s->peaks = s->labels && (peaks == 0 || ratio[peaks / 2] < log(PEAKS_ALIKE));
    free(p);
    return TRI_OK;
}

static int is_due(const tri_transfer *t, int n)
{
    return n != t->weighed_n && (n <= EACH || n >= GROWTH * t->weighed_n);
}

tri_status tri_transfer_weigh(tri_transfer *t, const tri_knowledge *own,
                              uint64_t seed, const tri_cancel *cancel)
{
    trial of;
    tri_status st;

    for (int i = 0; i < t->n && own->n_labels > 0; i++) {
        if (t->sources[i].feasible) {
            TRI_TRY(weigh_labels(&t->sources[i], own));
        }
    }
    if (own->n < TRI_TRANSFER_FIRST || !is_due(t, own->n)) {
        return TRI_OK;
    }
    TRI_TRY(trial_init(&of, t->encoding, own));
    of.cancel = cancel;
    st = weigh_values(t, &of, seed);
    trial_fini(&of);
    t->weighed_n = tri_is_cancelled(cancel) ? 0 : own->n;
    return st;
}

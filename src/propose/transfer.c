/*
 * Sources, their weights, and what they say.
 */
#include "src/base/ranked.h"
#include "src/propose/transfer_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Results that a source's model is learned from, spread over their order: its
 * shape is what counts, and every candidate asks it. */
#define LEARNED_MOST 400
/* Candidates that are looked at for one that is tried on a source's word. */
#define LOOKED_AT 8
/* Earlier ones for which more are looked at. */
#define BEFORE_MOST 64
/* Of what a source gives even odds nothing is tried on its word: it saw another
 * machine or model. */
#define LIKELY 0.6
#define BLOCK  64

/* ---- life ---------------------------------------------------------------- */

void tri_transfer_destroy(tri_transfer *t)
{
    if (!t) {
        return;
    }
    for (int i = 0; i < t->n; i++) {
        if (t->sources[i].model) {
            tri_predictor_trend.destroy(t->sources[i].model);
        }
        tri_feasibility_destroy(t->sources[i].feasible);
    }
    free(t->sources);
    free(t);
}

/* Keep an even spread in the order of values. */
static tri_status thin_out(tri_knowledge *k)
{
    size_t w = (size_t)k->width;
    tri_ranked *list = calloc((size_t)k->n, sizeof *list);
    unsigned char *keep = calloc((size_t)k->n, 1);
    int n = 0;

    if (!list || !keep) {
        free(list);
        free(keep);
        return TRI_FAIL(TRI_ENOMEM, "no memory for earlier results");
    }
    tri_rank(k->y, k->n, list);
    for (int i = 0; i < LEARNED_MOST; i++) {
        keep[list[(int64_t)i * k->n / LEARNED_MOST].at] = 1;
    }
    for (int i = 0; i < k->n; i++) {
        if (keep[i]) {
            memmove(k->x + (size_t)n * w, k->x + (size_t)i * w,
                    w * sizeof *k->x);
            k->y[n] = k->y[i];
            k->resource[n++] = k->resource[i];
        }
    }
    k->n = n;
    free(list);
    free(keep);
    return TRI_OK;
}

static tri_status learn_values(tri_source *s, const tri_encoding *e,
                               tri_knowledge *k, uint64_t seed,
                               const tri_cancel *cancel)
{
    tri_samples samples = {.width = k->width,
                           .x = k->x,
                           .y = k->y,
                           .resource = k->resource,
                           .cancel = cancel};
    tri_status st;

    s->why = k->n < TRI_TRANSFER_FIRST ? "too few of its results are of use"
             : !(k->warp.sd > 0)       ? "all its results are equal"
                                       : NULL;
    if (s->why) {
        return TRI_OK;
    }
    for (int i = 0; i < k->n; i++) {
        s->top = fmax(s->top, k->resource[i]);
    }
    if (k->n > LEARNED_MOST) {
        TRI_TRY(thin_out(k));
    }
    samples.n = k->n;
    st = tri_predictor_trend.fit(e, &samples, seed, NULL, &s->model);
    if (st != TRI_OK && st != TRI_ENOMEM) {
        tri_error_clear();
        s->model = NULL;
        s->why = "no model can be made of its results";
        return TRI_OK;
    }
    return st;
}

static int has_peaks(const tri_knowledge *k)
{
    for (int i = 0; i < k->n_labels; i++) {
        if (k->peak[i] > 0) {
            return 1;
        }
    }
    return 0;
}

static tri_status source_init(tri_source *s, const tri_encoding *e,
                              const tri_study *study,
                              const tri_warm_records *warm, uint64_t seed,
                              const tri_cancel *cancel)
{
    const tri_snapshot all = {.n_records = warm->n, .records = warm->records};
    tri_knowledge k;
    tri_status st;

    *s = (tri_source){
            .name = warm->source, .tau = NAN, .labels = 1, .peaks = 1};
    TRI_TRY(tri_knowledge_init(&k, e, &all, 0, study->objective.maximize));
    s->n = k.n;
    s->n_labels = k.n_labels;
    st = learn_values(s, e, &k, seed, cancel);
    if (st == TRI_OK && (k.n_failed > 0 || has_peaks(&k))) {
        const tri_labels labels = {.n = k.n_labels,
                                   .n_own = k.n_own,
                                   .x = k.label_x,
                                   .failed = k.failed,
                                   .peak = k.peak,
                                   .cancel = cancel};

        st = tri_feasibility_fit(e, &labels, NULL, &s->feasible);
    }
    tri_knowledge_fini(&k);
    return st;
}

/* Until they are tried, all are trusted alike. */
static void trust_all(tri_transfer *t)
{
    int n = 0;

    for (int i = 0; i < t->n; i++) {
        n += t->sources[i].model != NULL;
    }
    for (int i = 0; i < t->n; i++) {
        t->sources[i].weight = t->sources[i].model ? 1.0 / n : 0;
    }
}

tri_status tri_transfer_create(const tri_encoding *e, const tri_study *study,
                               const tri_warm_records *warm, int n_warm,
                               uint64_t seed, const tri_cancel *cancel,
                               tri_transfer **out)
{
    tri_transfer *t = calloc(1, sizeof *t);
    tri_status st = TRI_OK;

    if (t) {
        t->sources = calloc((size_t)n_warm + 1, sizeof *t->sources);
    }
    if (!t || !t->sources) {
        free(t);
        return TRI_FAIL(TRI_ENOMEM, "no memory for earlier results");
    }
    t->encoding = e;
    t->width = tri_encoding_width(e);
    t->weighed_n = -1;
    for (int i = 0; st == TRI_OK && i < n_warm; i++) {
        t->n = i + 1;
        st = source_init(&t->sources[i], e, study, &warm[i], seed, cancel);
    }
    if (st != TRI_OK) {
        tri_transfer_destroy(t);
        return st;
    }
    trust_all(t);
    *out = t;
    return TRI_OK;
}

/* ---- what they say ------------------------------------------------------ */

int tri_transfer_is_used(const tri_transfer *t)
{
    for (int i = 0; t && i < t->n; i++) {
        if (t->sources[i].weight > 0) {
            return 1;
        }
    }
    return 0;
}

int tri_transfer_labels(const tri_transfer *t, int i)
{
    return t->sources[i].labels;
}

int tri_transfer_peaks(const tri_transfer *t, int i)
{
    return t->sources[i].peaks;
}

void tri_source_add(const tri_source *s, double weight, const double *x, int n,
                    int width, double resource, double *out)
{
    double mean[BLOCK];

    for (int i = 0; i < n; i += BLOCK) {
        int m = n - i < BLOCK ? n - i : BLOCK;

        tri_predictor_trend.predict(s->model, x + (size_t)i * (size_t)width, m,
                                    fmin(resource, s->top), mean, NULL);
        for (int k = 0; k < m; k++) {
            out[i + k] += weight * mean[k];
        }
    }
}

void tri_source_add_few(const tri_source *s, double weight, const float *x,
                        int n, int width, double resource, float *out)
{
    float mean[BLOCK * 16], sd[BLOCK * 16];

    for (int i = 0; i < n; i += BLOCK * 16) {
        int m = n - i < BLOCK * 16 ? n - i : BLOCK * 16;

        tri_predictor_trend.screen(s->model, x + (size_t)i * (size_t)width, m,
                                   fmin(resource, s->top), mean, sd);
        for (int k = 0; k < m; k++) {
            out[i + k] += (float)weight * mean[k];
        }
    }
}

void tri_transfer_screen(const tri_transfer *t, const float *x, int n,
                         double resource, float *mean)
{
    memset(mean, 0, (size_t)n * sizeof *mean);
    for (int i = 0; i < t->n; i++) {
        if (t->sources[i].weight > 0) {
            tri_source_add_few(&t->sources[i], t->sources[i].weight, x, n,
                               t->width, resource, mean);
        }
    }
}

/* ---- the best by their word ---------------------------------------------- */

/* The least probability to run that a source in use gives. */
static double chance(const tri_transfer *t, const double *x)
{
    double least = 1;

    for (int i = 0; i < t->n; i++) {
        double p;

        if (t->sources[i].labels && t->sources[i].feasible) {
            tri_feasibility_predict(t->sources[i].feasible, x, 1, &p, NULL);
            least = fmin(least, p);
        }
    }
    return least;
}

/* The places of the `most` lowest that are free, lowest first; the number. */
static int lowest(const tri_pool *pool, const float *mean, int most,
                  int64_t *at)
{
    int n = 0;

    for (int64_t i = 0; i < pool->n; i++) {
        int k;

        if (pool->taken[i] || (n == most && !(mean[i] < mean[at[n - 1]]))) {
            continue;
        }
        for (k = n < most ? n++ : n - 1; k > 0 && mean[i] < mean[at[k - 1]];
             k--) {
            at[k] = at[k - 1];
        }
        at[k] = i;
    }
    return n;
}

/* The square of the distance to the nearest of rows y[n][width]. */
static double nearest(const double *x, const double *y, int n, int width)
{
    double least = INFINITY;

    for (int k = 0; k < n; k++, y += width) {
        double sum = 0;

        for (int i = 0; i < width; i++) {
            sum += (x[i] - y[i]) * (x[i] - y[i]);
        }
        least = fmin(least, sum);
    }
    return least;
}

/* The next one: the best; then, of so many more with each one before it, the
 * one that differs most from all rows y[n_y][width]. */
static int64_t next(const tri_pool *pool, int64_t *list, int n, int before,
                    const double *y, int n_y, double *x)
{
    double most = -1;
    int64_t found = -1;
    int from = -1;

    for (int i = 0; i < n && i < LOOKED_AT * (before + 1); i++) {
        double least = -1;

        if (list[i] >= 0) {
            tri_pool_row(pool, list[i], x);
            least = before > 0 ? nearest(x, y, n_y, pool->width) : 0;
        }
        if (least > most) {
            most = least;
            found = list[i];
            from = i;
        }
    }
    if (from >= 0) {
        list[from] = -1;
    }
    return found;
}

/* What a source saw fail is left out, unless nothing else is there. */
static void leave_failures_out(const tri_transfer *t, const tri_pool *pool,
                               int64_t *list, int *n, double *x)
{
    int kept = 0;

    for (int i = 0; i < *n; i++) {
        tri_pool_row(pool, list[i], x);
        if (chance(t, x) >= LIKELY) {
            list[kept++] = list[i];
        }
    }
    *n = kept > 0 ? kept : *n;
}

/* Choose from list[n], lowest first, what differs from what is known. */
static tri_status choose(const tri_pool *pool, int64_t *list, int n,
                         const tri_knowledge *known, int before, int wanted,
                         double *x, int64_t *at, int *chosen)
{
    size_t w = (size_t)pool->width;
    int n_y = known->n_points;
    double *y = malloc(((size_t)(n_y + wanted) * w + 1) * sizeof *y);

    if (!y) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for earlier results");
    }
    if (n_y > 0) {
        memcpy(y, known->point_x, (size_t)n_y * w * sizeof *y);
    }
    while (*chosen < wanted) {
        int64_t one = next(pool, list, n, before++, y, n_y, x);

        if (one < 0) {
            break;
        }
        tri_pool_row(pool, one, y + (size_t)n_y++ * w);
        at[(*chosen)++] = one;
    }
    free(y);
    return TRI_OK;
}

tri_status tri_transfer_best(const tri_transfer *t, const tri_pool *pool,
                             double resource, const tri_knowledge *known,
                             int64_t before, int wanted, int64_t *at, int *n)
{
    int earlier = before < BEFORE_MOST ? (int)before : BEFORE_MOST;
    int most = LOOKED_AT * (earlier + wanted + 1);
    float *mean = malloc(((size_t)pool->n + 1) * sizeof *mean);
    int64_t *list = malloc((size_t)most * sizeof *list);
    double *x = malloc(((size_t)pool->width + 1) * sizeof *x);
    tri_status st = TRI_OK;
    int found;

    *n = 0;
    if (!mean || !list || !x) {
        st = TRI_FAIL(TRI_ENOMEM, "no memory for earlier results");
    } else if (tri_transfer_is_used(t)) {
        tri_transfer_screen(t, pool->x, (int)pool->n, resource, mean);
        found = lowest(pool, mean, most, list);
        leave_failures_out(t, pool, list, &found, x);
        st = choose(pool, list, found, known, earlier, wanted, x, at, n);
    }
    free(mean);
    free(list);
    free(x);
    return st;
}

/* ---- telling ------------------------------------------------------------ */

/* What the clause for it says, but for its numbers. */
static int state_of(const tri_transfer *t, const tri_source *s)
{
    if (!(s->weight > 0)) {
        return 1;
    }
    return t->weighed_n < 0 ? 2 : 3 + !s->labels + 2 * !s->peaks;
}

int tri_transfer_has_changed(tri_transfer *t)
{
    int has = 0;

    for (int i = 0; i < t->n; i++) {
        int state = state_of(t, &t->sources[i]);

        has |= state != t->sources[i].told;
        t->sources[i].told = state;
    }
    return has;
}

/* A clause; its length, as snprintf. */
static int describe_one(const tri_transfer *t, int i, char *buf, size_t bytes)
{
    const tri_source *s = &t->sources[i];
    const char *before = i > 0 ? "; " : "";
    char tau[48] = "";

    if (!isnan(s->tau)) {
        snprintf(tau, sizeof tau, " (tau %.2f)", s->tau);
    }
    if (!(s->weight > 0)) {
        return snprintf(buf, bytes, "%s%s: not used%s: %s", before, s->name,
                        tau, s->why);
    }
    if (t->weighed_n < 0) {
        return snprintf(buf, bytes,
                        "%s%s: %d results trusted until there are %d of its "
                        "own",
                        before, s->name, s->n, TRI_TRANSFER_FIRST);
    }
    return snprintf(buf, bytes, "%s%s: used%s, what it says times %.2f%s%s",
                    before, s->name, tau, s->weight,
                    s->labels ? "" : ", not its failures",
                    s->peaks ? "" : ", not its memory peaks");
}

void tri_transfer_describe(const tri_transfer *t, char *buf, size_t bytes)
{
    size_t used = 0;

    buf[0] = 0;
    for (int i = 0; i < t->n && used + 1 < bytes; i++) {
        int n = describe_one(t, i, buf + used, bytes - used);

        used += n > 0 ? (size_t)n : 0;
    }
}

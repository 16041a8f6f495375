/*
 * Records as rows of numbers.
 */
#include "src/propose/think_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of a warped value, for a slope. */
#define STEP 1e-4

typedef struct counts {
    int values, labels, points;
} counts;

static int is_value(const tri_record *r)
{
    return !r->failed && isfinite(r->objective);
}

static void count(const tri_record *r, int n, counts *c)
{
    for (int i = 0; i < n; i++) {
        c->values += is_value(&r[i]);
    }
    c->labels += n;
    c->points += n;
}

static int alloc(tri_knowledge *k, const counts *c)
{
    size_t w = (size_t)k->width;
    size_t v = (size_t)c->values + 1;
    size_t l = (size_t)c->labels + 1;

    k->x = calloc(1, (v * (w + 2) + l * (w + 1) + ((size_t)c->points + 1) * w +
                      1) * sizeof *k->x);
    k->failed = calloc(l, 1);
    if (!k->x || !k->failed) {
        return 0;
    }
    k->y = k->x + v * w;
    k->resource = k->y + v;
    k->label_x = k->resource + v;
    k->peak = k->label_x + l * w;
    k->point_x = k->peak + l;
    return 1;
}

/* ---- one configuration, one row ------------------------------------------ */

/* Records come trial by trial or not: rows of one trial are found from the
 * end, where they usually are. */
#define LOOK_BACK 64

static int same_row(const double *a, const double *b, int width)
{
    return memcmp(a, b, (size_t)width * sizeof *a) == 0;
}

/* Whether it is the lowest at its resource so far. */
static int is_best_there(tri_knowledge *k, double resource, double cost)
{
    int i = 0;

    while (i < k->n_rungs && k->rung[i] != resource) {
        i++;
    }
    if (i == TRI_KNOWLEDGE_RUNGS) {
        return cost < k->best;
    }
    if (i == k->n_rungs) {
        k->n_rungs++;
        k->rung[i] = resource;
        k->rung_best[i] = cost;
        return 1;
    }
    if (cost < k->rung_best[i]) {
        k->rung_best[i] = cost;
        return 1;
    }
    return 0;
}

static void add_value(tri_knowledge *k, const tri_record *r, const double *x,
                      double cost)
{
    memcpy(k->x + (size_t)k->n * (size_t)k->width, x,
           (size_t)k->width * sizeof *x);
    k->y[k->n] = cost;
    k->resource[k->n] = (double)r->resource;
    if (is_best_there(k, (double)r->resource, cost)) {
        k->n_best = k->n;
    }
    k->best = fmin(k->best, cost); /* NaN before the first */
    k->n++;
}

/* Whether it ran at any resource is what counts, and the largest peak. */
static void add_label(tri_knowledge *k, const tri_record *r, const double *x)
{
    int from = k->n_labels > LOOK_BACK ? k->n_labels - LOOK_BACK : 0;
    int at = k->n_labels - 1;

    while (at >= from &&
           !same_row(k->label_x + (size_t)at * (size_t)k->width, x, k->width)) {
        at--;
    }
    if (at < from) {
        at = k->n_labels++;
        memcpy(k->label_x + (size_t)at * (size_t)k->width, x,
               (size_t)k->width * sizeof *x);
        k->failed[at] = 1;
        k->peak[at] = NAN;
    }
    k->failed[at] &= r->failed != 0;
    if (!(r->peak_bytes <= k->peak[at]) && r->peak_bytes > 0) {
        k->peak[at] = r->peak_bytes;
    }
}

static void add_point(tri_knowledge *k, const double *x)
{
    memcpy(k->point_x + (size_t)k->n_points++ * (size_t)k->width, x,
           (size_t)k->width * sizeof *x);
}

/* Whether one of the first `n` labels is of this configuration. */
static int is_labelled(const tri_knowledge *k, int n, const double *x)
{
    for (int i = 0; i < n; i++) {
        if (same_row(k->label_x + (size_t)i * (size_t)k->width, x, k->width)) {
            return 1;
        }
    }
    return 0;
}

static void add_records(tri_knowledge *k, const tri_encoding *e,
                        const tri_record *r, int n, int maximize, double *x)
{
    for (int i = 0; i < n; i++) {
        tri_encode(e, r[i].config, x);
        if (is_value(&r[i])) {
            add_value(k, &r[i], x, maximize ? -r[i].objective : r[i].objective);
        }
        add_label(k, &r[i], x);
        add_point(k, x);
    }
}

/* To a scale on which a normal belief fits. */
static tri_status warp_all(tri_knowledge *k)
{
    if (k->n > 0) {
        tri_warp_fit(&k->warp, k->y, k->n);
    }
    if (k->n_rungs > 1) {
        return tri_scores_init(&k->scores, k->y, k->n);
    }
    for (int i = 0; i < k->n; i++) {
        k->y[i] = tri_warp_apply(&k->warp, k->y[i]);
    }
    return TRI_OK;
}

/* Positive costs below all that are known: a power comes to zero at a finite
 * value and stays there; an exponential in its place goes on. */
static double below_all(const tri_knowledge *k, double value)
{
    double end = tri_warp_apply(&k->warp, k->best);
    double slope = (k->best - tri_warp_invert(&k->warp, end - STEP)) / STEP;

    return k->best * exp(slope * (value - end) / k->best);
}

double tri_knowledge_cost(const tri_knowledge *k, double value)
{
    double cost;

    if (k->scores.n > 0) {
        return tri_scores_invert(&k->scores, value);
    }
    cost = tri_warp_invert(&k->warp, value);
    return cost < k->best && k->best > 0 && !k->warp.powers
                   ? below_all(k, value)
                   : cost;
}

static void count_failed(tri_knowledge *k)
{
    k->n_failed = 0;
    for (int i = 0; i < k->n_labels; i++) {
        k->n_failed += k->failed[i];
    }
}

tri_status tri_knowledge_init(tri_knowledge *k, const tri_encoding *e,
                              const tri_snapshot *s, int more_labels,
                              int maximize)
{
    counts c = {.points = s->n_pending, .labels = more_labels};
    double *x = malloc(((size_t)tri_encoding_width(e) + 1) * sizeof *x);
    tri_status st;

    memset(k, 0, sizeof *k);
    k->width = tri_encoding_width(e);
    k->best = NAN;
    k->n_best = -1;
    count(s->records, s->n_records, &c);
    if (!x || !alloc(k, &c)) {
        free(x);
        tri_knowledge_fini(k);
        return TRI_FAIL(TRI_ENOMEM, "no memory to think of %d records",
                        s->n_records);
    }
    add_records(k, e, s->records, s->n_records, maximize, x);
    for (int i = 0; i < s->n_pending; i++) {
        tri_encode(e, s->pending[i], x);
        add_point(k, x);
    }
    free(x);
    st = warp_all(k);
    if (st != TRI_OK) {
        tri_knowledge_fini(k);
        return st;
    }
    count_failed(k);
    k->n_own = k->n_labels;
    return TRI_OK;
}

tri_status tri_knowledge_add_labels(tri_knowledge *k, const tri_encoding *e,
                                    const tri_warm_records *warm, int peaks)
{
    double *x = malloc(((size_t)k->width + 1) * sizeof *x);

    if (!x) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for earlier results");
    }
    for (int i = 0; i < warm->n && k->n_own < TRI_KNOWLEDGE_OWN; i++) {
        tri_record r = warm->records[i];

        tri_encode(e, r.config, x);
        r.peak_bytes = peaks ? r.peak_bytes : NAN;
        if (!is_labelled(k, k->n_own, x)) {
            add_label(k, &r, x);
        }
    }
    count_failed(k);
    free(x);
    return TRI_OK;
}

void tri_knowledge_fini(tri_knowledge *k)
{
    free(k->x);
    free(k->failed);
    tri_scores_fini(&k->scores);
    memset(k, 0, sizeof *k);
}

/*
 * Which parameters matter, and which pairs act together: a functional analysis
 * of variance over a model of the study's own results (Hutter, Hoos and
 * Leyton-Brown, ICML 2014).
 *
 * A search looks where it is good, so its results alone would say of a
 * parameter mostly how the search went.  So a tree ensemble is learned from
 * them; configurations are drawn evenly from the valid space, predicted at the
 * highest resource reached, and put in order (places, not values, so that
 * twelve decades or one outlier do no harm).  Of the variance of places, the
 * part that a parameter's values account for is its share; a pair's share is
 * what both together account for beyond the sum of the two.  Shares are
 * estimated without the bias of small cells (omega squared, Hays).
 */
#include "src/report/importance.h"

#include "trireme/predict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_RECORDS 12
#define SEED          1

/* ---- what was measured -------------------------------------------------- */

typedef struct records {
    int n, width;
    double *x, *y, *resource;
} records;

static void records_fini(records *r)
{
    free(r->x);
    free(r->y);
    free(r->resource);
}

static int alloc_records(records *r, const tri_encoding *e)
{
    r->width = tri_encoding_width(e);
    r->x = calloc((size_t)MOST_RECORDS * ((size_t)r->width + 1), sizeof *r->x);
    r->y = calloc(MOST_RECORDS, sizeof *r->y);
    r->resource = calloc(MOST_RECORDS, sizeof *r->resource);
    return r->x && r->y && r->resource ? 0 : -1;
}

static int is_measured(const tri_report_part *p, int64_t trial,
                       tri_trial_view *v)
{
    tri_ctl_trial(p->ctl, trial, v);
    return isfinite(v->objective) && v->top_rung >= 0;
}

/* An even choice of the trials with results, each at its highest rung. */
static int64_t take(const tri_report_part *p, const tri_encoding *e, records *r)
{
    int sign = p->study->objective.maximize ? -1 : 1;
    int64_t all = 0;
    int64_t seen = 0;
    tri_trial_view v;

    for (int64_t i = 0; i < tri_ctl_n_trials(p->ctl); i++) {
        all += is_measured(p, i, &v);
    }
    for (int64_t i = 0; i < tri_ctl_n_trials(p->ctl); i++) {
        if (!is_measured(p, i, &v)) {
            continue;
        }
        /* as many as there is room for, evenly spaced */
        if (all <= MOST_RECORDS || seen * MOST_RECORDS / all == r->n) {
            tri_encode(e, v.config, r->x + (size_t)r->n * (size_t)r->width);
            r->y[r->n] = sign * v.objective;
            r->resource[r->n++] = (double)tri_sched_resource(
                    tri_ctl_sched(p->ctl), v.top_rung);
        }
        seen++;
    }
    return all;
}

static double highest(const records *r)
{
    double most = 0;

    for (int i = 0; i < r->n; i++) {
        most = r->resource[i] > most ? r->resource[i] : most;
    }
    return most;
}

/* ---- the model ---------------------------------------------------------- */

static void warp_all(records *r)
{
    tri_warp warp;

    tri_warp_fit(&warp, r->y, r->n);
    for (int i = 0; i < r->n; i++) {
        r->y[i] = tri_warp_apply(&warp, r->y[i]);
    }
}

/* Kendall's tau of what a model of four fifths says of the last fifth. */
static tri_status judge(const tri_encoding *e, const records *r, double *tau)
{
    records kept = {.n = 0, .width = r->width};
    double said[MOST_RECORDS];
    double was[MOST_RECORDS];
    tri_model *model = NULL;
    tri_status st = TRI_OK;
    int n = 0;

    if (alloc_records(&kept, e) != 0) {
        records_fini(&kept);
        return TRI_FAIL(TRI_ENOMEM, "no memory for importance");
    }
    for (int i = 0; i < r->n; i++) {
        if (i % 5 != 4) {
            memcpy(kept.x + (size_t)kept.n * (size_t)r->width,
                   r->x + (size_t)i * (size_t)r->width,
                   (size_t)r->width * sizeof *r->x);
            kept.y[kept.n] = r->y[i];
            kept.resource[kept.n++] = r->resource[i];
        }
    }
    st = tri_report_fit(e, kept.x, kept.y, kept.resource, kept.n, &model);
    for (int i = 4; st == TRI_OK && i < r->n; i += 5) {
        tri_predictor_trees.predict(model, r->x + (size_t)i * (size_t)r->width,
                                    1, r->resource[i], &said[n], NULL);
        was[n++] = r->y[i];
    }
    *tau = n > 1 ? tri_kendall_tau(said, was, n) : NAN;
    if (model) {
        tri_predictor_trees.destroy(model);
    }
    records_fini(&kept);
    return st;
}

tri_status tri_report_fit(const tri_encoding *e, const double *x,
                          const double *y, const double *resource, int n,
                          tri_model **out)
{
    const tri_samples s = {.n = n,
                           .width = tri_encoding_width(e),
                           .x = x,
                           .y = y,
                           .resource = resource};

    return tri_predictor_trees.fit(e, &s, SEED, NULL, out);
}

/* ---- the whole ---------------------------------------------------------- */

static json_t *told(const tri_report_part *p, const tri_encoding *e, records *r,
                    int64_t all)
{
    double resource = highest(r);
    tri_model *model = NULL;
    double tau = NAN;
    json_t *o = NULL;

    warp_all(r);
    if (judge(e, r, &tau) == TRI_OK &&
        tri_report_fit(e, r->x, r->y, r->resource, r->n, &model) == TRI_OK) {
        o = tri_report_shares(p, e, model, resource);
    }
    if (model) {
        tri_predictor_trees.destroy(model);
    }
    if (!o) {
        tri_error_clear();
        return tri_report_because(p, "importance",
                                  "No model could be learned: %s",
                                  "there was no memory for it.");
    }
    json_object_set_new(o, "records", json_integer(r->n));
    json_object_set_new(o, "measured", json_integer(all));
    json_object_set_new(o, "tau", tri_report_real(tau));
    json_object_set_new(o, "resource", tri_report_real(resource));
    return o;
}

json_t *tri_report_importance(const tri_report_part *p)
{
    tri_encoding *e = NULL;
    records r = {0};
    json_t *o = NULL;
    int64_t all;

    if (tri_encoding_create(p->study->space, &e) != TRI_OK ||
        alloc_records(&r, e) != 0) {
        tri_error_clear();
        o = tri_report_because(p, "importance", "There was no memory for it.");
    } else if ((all = take(p, e, &r)) < LEAST_RECORDS) {
        o = tri_report_because(p, "importance",
                               "It takes results of at least %d "
                               "configurations to tell; this study has %d.",
                               LEAST_RECORDS, (int)all);
    } else if (r.width == 0) {
        o = tri_report_because(p, "importance",
                               "Nothing varies in this study's space.");
    } else {
        o = told(p, e, &r, all);
    }
    records_fini(&r);
    tri_encoding_destroy(e);
    return o;
}

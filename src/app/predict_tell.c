/*
 * Predictions, as JSON and for people.
 */
#include "src/app/predict.h"

#include <inttypes.h>
#include <math.h>

/* ---- JSON ------------------------------------------------------------ */

static json_t *measured_json(const tri_predict_row *r)
{
    json_t *o = json_object();

    if (r->trial < 0) {
        json_decref(o);
        return json_null();
    }
    json_object_set_new(o, "trial", json_integer(r->trial));
    json_object_set_new(o, "objective", tri_app_json_real(r->measured));
    json_object_set_new(o, "lo", tri_app_json_real(r->lo));
    json_object_set_new(o, "hi", tri_app_json_real(r->hi));
    json_object_set_new(o, "resource",
                        r->measured_resource
                                ? json_integer(r->measured_resource)
                                : json_null());
    json_object_set_new(o, "bytes", tri_app_json_real(r->peak));
    json_object_set_new(o, "failed",
                        r->reason == TRI_REASON_NONE
                                ? json_null()
                                : json_string(tri_reason_name(r->reason)));
    return o;
}

static json_t *row_json(const tri_predict *a, const tri_predict_row *r)
{
    json_t *o = json_object();
    json_t *warnings = json_array();

    for (int i = 0; i < r->n_warnings; i++) {
        json_array_append_new(warnings, tri_app_json_text(r->warnings[i]));
    }
    json_object_set_new(o, "configuration",
                        tri_app_json_config(a->study->space, r->config));
    json_object_set_new(o, "ranks", json_integer(r->ranks));
    json_object_set_new(o, "predicted", tri_app_json_real(r->belief.predicted));
    json_object_set_new(o, "lo", tri_app_json_real(r->belief.lo));
    json_object_set_new(o, "hi", tri_app_json_real(r->belief.hi));
    json_object_set_new(o, "bytes", tri_app_json_real(r->belief.bytes));
    json_object_set_new(o, "bytes_lo", tri_app_json_real(r->bytes_lo));
    json_object_set_new(o, "bytes_hi", tri_app_json_real(r->bytes_hi));
    json_object_set_new(o, "p_feasible",
                        tri_app_json_real(r->belief.p_feasible));
    json_object_set_new(o, "sd", tri_app_json_real(r->belief.sd));
    json_object_set_new(o, "measured", measured_json(r));
    json_object_set_new(o, "warnings", warnings);
    return o;
}

void tri_predict_json(const tri_predict *a)
{
    const tri_ev_proposals *p = &a->believer.next;
    json_t *o = json_object();
    json_t *rows = json_array();
    json_t *coverage = json_object();

    for (int i = 0; i < a->n; i++) {
        json_array_append_new(rows, row_json(a, &a->rows[i]));
    }
    json_object_set_new(coverage, "predictions", json_integer(a->past.n));
    json_object_set_new(coverage, "inside", json_integer(a->past.inside));
    json_object_set_new(o, "objective", json_string(a->study->objective.name));
    json_object_set_new(o, "resource", json_integer(a->resource));
    json_object_set_new(o, "predictor", tri_app_json_text(p->model));
    json_object_set_new(o, "hyper", tri_app_json_text(p->hyper));
    json_object_set_new(o, "records", json_integer(p->n_records));
    json_object_set_new(o, "coverage", coverage);
    json_object_set_new(o, "predictions", rows);
    tri_app_json_print(o);
}

/* ---- for people ------------------------------------------------------ */

static void print_measured(const tri_predict *a, const tri_predict_row *r)
{
    char value[160];
    char bytes[32];

    if (r->trial < 0) {
        puts("measured  never");
        return;
    }
    if (r->reason != TRI_REASON_NONE) {
        printf("measured  trial %" PRId64 " failed: %s\n", r->trial,
               tri_reason_name(r->reason));
        return;
    }
    if (isnan(r->measured)) {
        printf("measured  trial %" PRId64 ", no result yet\n", r->trial);
        return;
    }
    printf("measured  %s after %" PRId64 " %s (trial %" PRId64 ")%s",
           tri_app_objective(a->study, r->measured, r->lo, r->hi, value,
                             sizeof value),
           r->measured_resource, tri_unit_name(a->study->resource.unit),
           r->trial,
           r->n_measured > 1 ? ", the median of its runs, finals included"
                             : "");
    if (!isnan(r->peak)) {
        printf(", %s a rank", tri_app_bytes(r->peak, bytes, sizeof bytes));
    }
    putchar('\n');
}

static void print_memory(const tri_predict_row *r)
{
    char text[32], lo[32], hi[32];

    if (isnan(r->belief.bytes)) {
        return;
    }
    printf("memory    %s a rank",
           tri_app_bytes(r->belief.bytes, text, sizeof text));
    if (!isnan(r->bytes_lo)) {
        printf(" [%s, %s]", tri_app_bytes(r->bytes_lo, lo, sizeof lo),
               tri_app_bytes(r->bytes_hi, hi, sizeof hi));
    }
    putchar('\n');
}

static void print_row(const tri_predict *a, const tri_predict_row *r)
{
    const tri_belief *b = &r->belief;
    char text[2048];

    tri_space_print(a->study->space, r->config, text, sizeof text);
    printf("\n%s on %d rank%s\n", text, r->ranks, r->ranks == 1 ? "" : "s");
    if (!isnan(b->predicted)) {
        printf("expected  %s\n",
               tri_app_objective(a->study, b->predicted, b->lo, b->hi, text,
                                 sizeof text));
    }
    print_memory(r);
    if (!isnan(b->p_feasible)) {
        printf("runs      with probability %.2f\n", b->p_feasible);
    }
    print_measured(a, r);
    for (int i = 0; i < r->n_warnings; i++) {
        printf("warning   %s\n", r->warnings[i]);
    }
}

void tri_predict_print(const tri_predict *a)
{
    const tri_ev_proposals *p = &a->believer.next;

    if (tri_believer_has_model(&a->believer)) {
        printf("model     %s, of %" PRId64 " results; after %" PRId64 " %s, "
               "95 %% intervals without noise\n",
               p->model, p->n_records, a->resource,
               tri_unit_name(a->study->resource.unit));
    } else {
        printf("model     none: %s\n", p->hyper);
    }
    if (a->past.n > 0) {
        printf("so far    of %" PRId64 " predictions made before their runs, "
               "%" PRId64 " results were inside\n",
               a->past.n, a->past.inside);
    }
    for (int i = 0; i < a->n; i++) {
        print_row(a, &a->rows[i]);
    }
}

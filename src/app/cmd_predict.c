/*
 * trireme predict: what a study's model expects of any configuration, with
 * what was measured of it and a warning outside the data.  Folds the record;
 * never writes.
 */
#include "src/app/predict.h"

#include "src/report/report.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_SETS 1000
/* Of the spread of all results: a model that says less than this knows next to
 * nothing there. */
#define VAGUE 0.8
/* Predictions made before their runs that memory needs for an interval. */
#define LEAST_PEAKS 5

typedef struct predict_options {
    tri_app_common common;
    const char *sets[MOST_SETS];
    int n_sets;
    int64_t resource; /* 0: the top one */
} predict_options;

enum {
    KEY_SET = 0x2001,
    KEY_RESOURCE
};

static const struct argp_option options[] = {
        {"set", KEY_SET, "ASSIGNMENTS", 0,
         "The configuration, 'dp=2,tp=4'; may be repeated", 0},
        {"resource", KEY_RESOURCE, "R", 0,
         "After so much resource; without it at the top rung", 0},
        {0}};

static error_t add_set(predict_options *o, const char *arg)
{
    if (o->n_sets == MOST_SETS) {
        TRI_FAIL(TRI_EINVAL, "--set is given more than %d times", MOST_SETS);
        return EINVAL;
    }
    o->sets[o->n_sets++] = arg;
    return 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    predict_options *o = state->input;

    switch (key) {
    case KEY_SET:
        return add_set(o, arg);
    case KEY_RESOURCE:
        return tri_app_int("resource", arg, 1, INT64_MAX, &o->resource);
    default:
        return tri_app_parse_other(key, arg, state);
    }
}

static const struct argp argp = {
        options,
        parse,
        "FILE.h5",
        "What the model of a study expects of configurations, measured or "
        "not: objective and memory with 95 % intervals.",
        tri_app_common_child,
        NULL,
        NULL};

/* ---- what is known ------------------------------------------------------ */

/* The largest peak of each trial's runs, NaN where it is not known. */
static tri_status find_peaks(tri_predict *a)
{
    const tri_ctl *ctl = a->story->ctl;
    int64_t n = tri_ctl_n_trials(ctl);

    a->peaks = calloc((size_t)n + 1, sizeof *a->peaks);
    if (!a->peaks) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for predictions");
    }
    for (int64_t i = 0; i < n; i++) {
        a->peaks[i] = NAN;
    }
    for (int64_t i = 0; i < tri_ctl_n_runs(ctl); i++) {
        tri_run_view r;
        double peak;

        tri_ctl_run(ctl, i, &r);
        peak = (double)r.outcome.peak_bytes;
        if (r.state == TRI_RUN_ENDED && peak > 0 &&
            !(peak <= a->peaks[r.trial])) {
            a->peaks[r.trial] = peak;
        }
    }
    return TRI_OK;
}

static void add_peak(tri_predict_past *p, double ratio)
{
    double x = log(ratio);
    double before = p->mean;

    p->n_peaks++;
    p->mean += (x - before) / (double)p->n_peaks;
    p->variance += (x - before) * (x - p->mean);
}

static void look_at_past(tri_predict *a)
{
    const tri_ctl *ctl = a->story->ctl;
    tri_report_covered covered = tri_report_coverage(ctl);

    a->past = (tri_predict_past){.n = covered.same, .inside = covered.inside};
    for (int64_t i = 0; i < tri_ctl_n_trials(ctl); i++) {
        tri_trial_view v;
        double peak;

        tri_ctl_trial(ctl, i, &v);
        peak = v.predicted_bytes > 0 ? a->peaks[i] : NAN;
        if (peak > 0) {
            add_peak(&a->past, peak / v.predicted_bytes);
        }
    }
}

/* What memory may be, by how far off former predictions were. */
static void memory_interval(const tri_predict *a, tri_predict_row *r)
{
    const tri_predict_past *p = &a->past;
    double sd;

    r->bytes_lo = r->bytes_hi = NAN;
    if (p->n_peaks < LEAST_PEAKS || !(r->belief.bytes > 0)) {
        return;
    }
    sd = sqrt(p->variance / (double)(p->n_peaks - 1));
    r->bytes_lo =
            fmin(r->belief.bytes * exp(p->mean - 1.96 * sd), r->belief.bytes);
    r->bytes_hi =
            fmax(r->belief.bytes * exp(p->mean + 1.96 * sd), r->belief.bytes);
}

static int count_runs(const tri_ctl *ctl, const tri_predict_row *r)
{
    int n = 0;

    for (int64_t i = 0; i < tri_ctl_n_runs(ctl); i++) {
        tri_run_view v;

        tri_ctl_run(ctl, i, &v);
        n += v.trial == r->trial && v.resource == r->measured_resource &&
             v.state == TRI_RUN_ENDED && v.status == TRI_RUN_FINISHED;
    }
    return n;
}

/* The result of this configuration: at the resource that is asked for, else at
 * the largest. */
static void find_measured(const tri_predict *a, tri_predict_row *r)
{
    const tri_snapshot *s = a->believer.snapshot;
    tri_trial_view v;

    r->trial = -1;
    r->measured = r->lo = r->hi = r->peak = NAN;
    for (int64_t i = 0; i < tri_ctl_n_trials(a->story->ctl); i++) {
        if (tri_space_equal(a->study->space, r->config,
                            tri_ctl_config(a->story->ctl, i))) {
            r->trial = i;
        }
    }
    if (r->trial < 0) {
        return;
    }
    tri_ctl_trial(a->story->ctl, r->trial, &v);
    r->reason = v.state == TRI_TRIAL_FAILED ? v.reason : TRI_REASON_NONE;
    r->peak = a->peaks[r->trial];
    for (int i = 0; i < s->n_records; i++) {
        const tri_record *k = &s->records[i];

        if (k->trial == r->trial && !k->failed && !isnan(k->objective) &&
            r->measured_resource != a->resource &&
            (k->resource == a->resource ||
             k->resource > r->measured_resource)) {
            r->measured = k->objective;
            r->measured_resource = k->resource;
        }
    }
    r->n_measured = count_runs(a->story->ctl, r);
    if (r->measured == v.objective) { /* one run, not the mean of several */
        r->lo = v.lo;
        r->hi = v.hi;
    }
}

/* ---- warnings -------------------------------------------------------- */

static char *next_warning(tri_predict_row *r)
{
    return r->n_warnings < TRI_PREDICT_WARNINGS
                   ? r->warnings[r->n_warnings++]
                   : r->warnings[TRI_PREDICT_WARNINGS - 1];
}

/* Numbers beyond what has a result, and values that have none. */
static void warn_of_value(const tri_predict *a, tri_predict_row *r,
                          const tri_param *p)
{
    const tri_snapshot *s = a->believer.snapshot;
    tri_value v = r->config[p->column];
    double lo = INFINITY;
    double hi = -INFINITY;
    int known = 0;
    char value[64], from[32], to[32];

    for (int i = 0; i < s->n_records; i++) {
        tri_value w = s->records[i].config[p->column];

        if (s->records[i].failed || isnan(s->records[i].objective)) {
            continue;
        }
        known |= tri_value_equal(v, w);
        if (tri_value_is_number(w)) {
            lo = fmin(lo, tri_value_number(w));
            hi = fmax(hi, tri_value_number(w));
        }
    }
    if (known || v.type == TRI_INACTIVE ||
        (tri_value_is_number(v) && tri_value_number(v) >= lo &&
         tri_value_number(v) <= hi)) {
        return;
    }
    tri_value_print(v, value, sizeof value);
    if (tri_value_is_number(v) && lo <= hi) {
        snprintf(next_warning(r), TRI_PREDICT_WARNING_BYTES,
                 "%.60s=%s is outside the data: results have %s to %s", p->name,
                 value, tri_app_number(lo, from, sizeof from),
                 tri_app_number(hi, to, sizeof to));
    } else {
        snprintf(next_warning(r), TRI_PREDICT_WARNING_BYTES,
                 "%.60s=%s is outside the data: no result has it", p->name,
                 value);
    }
}

static void warn_of_resource(const tri_predict *a, tri_predict_row *r)
{
    const tri_snapshot *s = a->believer.snapshot;
    int64_t most = 0;

    for (int i = 0; i < s->n_records; i++) {
        most = s->records[i].resource > most && !s->records[i].failed
                       ? s->records[i].resource
                       : most;
    }
    if (most > 0 && a->resource > most) {
        snprintf(next_warning(r), TRI_PREDICT_WARNING_BYTES,
                 "%" PRId64 " %s is outside the data: results have at most "
                 "%" PRId64,
                 a->resource, tri_unit_name(a->study->resource.unit), most);
    }
}

static void warn(const tri_predict *a, tri_predict_row *r)
{
    if (!tri_believer_has_model(&a->believer)) {
        return;
    }
    for (int i = 0; i < tri_space_n_params(a->study->space); i++) {
        warn_of_value(a, r, tri_space_param(a->study->space, i));
    }
    warn_of_resource(a, r);
    if (r->belief.sd >= VAGUE) {
        snprintf(next_warning(r), TRI_PREDICT_WARNING_BYTES,
                 "far from the data: the model's deviation there is %.2f of "
                 "that of all results",
                 r->belief.sd);
    }
    if (r->belief.p_feasible < 0.5) {
        snprintf(next_warning(r), TRI_PREDICT_WARNING_BYTES,
                 "it would probably fail: it runs with probability %.2f",
                 r->belief.p_feasible);
    }
}

/* ---- asking ---------------------------------------------------------- */

static tri_status refuse(const tri_study *study, const tri_why *why)
{
    tri_status st = TRI_FAIL(TRI_EINVAL, "refused by '%s'%s%s", why->rule,
                             why->values[0] ? ": " : "", why->values);

    /* it is the line's rule, not a place in it */
    tri_error_place(study->path, why->line, 0);
    return st;
}

static tri_status read_set(const tri_study *study, const char *text,
                           tri_config *c)
{
    tri_why why = {0};

    TRI_TRY(tri_space_why(study->space, text, &why));
    if (!why.valid) {
        return refuse(study, &why);
    }
    return tri_space_parse(study->space, text, c);
}

static tri_status ask(tri_predict *a, const char *set)
{
    tri_predict_row *r = &a->rows[a->n++];

    r->config = calloc((size_t)tri_space_n_params(a->study->space) + 1,
                       sizeof *r->config);
    if (!r->config) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a configuration");
    }
    TRI_TRY(read_set(a->study, set, r->config));
    TRI_TRY(tri_space_ranks(a->study->space, r->config, &r->ranks));
    TRI_TRY(tri_believer_believe(&a->believer, r->config, a->resource,
                                 &r->belief));
    memory_interval(a, r);
    find_measured(a, r);
    warn(a, r);
    return TRI_OK;
}

/* All that is wrong with the assignments, before anything is learned. */
static tri_status check_sets(const predict_options *o, const tri_study *study)
{
    tri_config *c =
            calloc((size_t)tri_space_n_params(study->space) + 1, sizeof *c);
    tri_status st =
            c ? TRI_OK : TRI_FAIL(TRI_ENOMEM, "no memory for a configuration");

    for (int i = 0; st == TRI_OK && i < o->n_sets; i++) {
        st = read_set(study, o->sets[i], c);
    }
    free(c);
    return st;
}

static tri_status ask_all(const predict_options *o, tri_predict *a)
{
    a->rows = calloc((size_t)o->n_sets, sizeof *a->rows);
    if (!a->rows) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for predictions");
    }
    TRI_TRY(tri_believer_init(&a->believer, a->story, 1));
    a->resource = o->resource ? o->resource : a->believer.snapshot->resource;
    TRI_TRY(find_peaks(a));
    look_at_past(a);
    for (int i = 0; i < o->n_sets; i++) {
        TRI_TRY(ask(a, o->sets[i]));
    }
    return TRI_OK;
}

static tri_status predict(const predict_options *o)
{
    tri_story story;
    tri_predict a = {.story = &story};
    tri_status st;

    if (o->n_sets == 0) {
        return TRI_FAIL(TRI_EINVAL, "--set ASSIGNMENTS is missing");
    }
    TRI_TRY(tri_story_read(o->common.file, -1, &story));
    a.study = tri_ctl_study(story.ctl);
    st = check_sets(o, a.study);
    if (st == TRI_OK) {
        st = ask_all(o, &a);
    }
    if (st == TRI_OK && o->common.json) {
        tri_predict_json(&a);
    } else if (st == TRI_OK) {
        tri_predict_print(&a);
    }
    for (int i = 0; i < a.n; i++) {
        free(a.rows[i].config);
    }
    free(a.rows);
    free(a.peaks);
    tri_believer_fini(&a.believer);
    tri_story_fini(&story);
    return st;
}

int tri_app_predict(int argc, char **argv)
{
    predict_options o = {.n_sets = 0};
    int status = tri_app_parse(&argp, argc, argv, &o.common, "FILE.h5");

    if (status >= 0) {
        return status;
    }
    return predict(&o) == TRI_OK ? TRI_EXIT_DONE : tri_app_fail();
}

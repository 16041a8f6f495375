/*
 * Parameters and trials, column by column; how well predictions were.
 */
#include "src/report/part.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- parameters ---------------------------------------------------------- */

static const char *kind_of(const tri_param *param)
{
    const tri_domain *d = &param->domain;

    if (d->kind == TRI_DOMAIN_FLOAT) {
        return "real";
    }
    if (d->kind == TRI_DOMAIN_INT || d->n_values == 0) {
        return "int";
    }
    for (int i = 0; i < d->n_values; i++) {
        if (d->values[i].type == TRI_WORD || d->values[i].type == TRI_BOOL) {
            return "word";
        }
    }
    return d->values[0].type == TRI_REAL ? "real" : "int";
}

static json_t *levels_of(const tri_param *param)
{
    json_t *a = json_array();
    char text[256];

    for (int i = 0; i < param->domain.n_values; i++) {
        const tri_value v = param->domain.values[i];

        tri_value_print(v, text, sizeof text);
        json_array_append_new(
                a, tri_report_string(v.type == TRI_WORD ? v.u.word : text));
    }
    return a;
}

static int is_word(const tri_param *param)
{
    return strcmp(kind_of(param), "word") == 0;
}

/* Numbers over two decades, and powers, read better by their logarithms. */
static int is_log(const tri_param *param)
{
    const tri_domain *d = &param->domain;

    return d->log || d->log2;
}

json_t *tri_report_params(const tri_report_part *p)
{
    json_t *a = json_array();

    for (int i = 0; i < tri_space_n_params(p->study->space); i++) {
        const tri_param *param = tri_space_param(p->study->space, i);
        json_t *o = json_object();

        json_object_set_new(o, "name", tri_report_string(param->name));
        json_object_set_new(o, "kind", json_string(kind_of(param)));
        json_object_set_new(o, "log", json_boolean(is_log(param)));
        json_object_set_new(
                o, "constant",
                json_boolean(param->domain.kind == TRI_DOMAIN_CONST));
        if (is_word(param)) {
            json_object_set_new(o, "levels", levels_of(param));
        }
        json_array_append_new(a, o);
    }
    return a;
}

/* ---- which trials are shown --------------------------------------------- */

typedef struct choice {
    const tri_report_part *p;
    int64_t *list; /* ascending */
    double *bytes; /* by trial: the largest peak of its runs; NaN */
    int64_t n;
} choice;

static const tri_report_part *sorted_part; /* for qsort's comparison */

/* By the rung reached, then by the objective, then the latest first. */
static int by_merit(const void *a, const void *b)
{
    int64_t i = *(const int64_t *)a;
    int64_t k = *(const int64_t *)b;
    tri_trial_view x;
    tri_trial_view y;

    tri_ctl_trial(sorted_part->ctl, i, &x);
    tri_ctl_trial(sorted_part->ctl, k, &y);
    if (x.top_rung != y.top_rung) {
        return x.top_rung < y.top_rung ? 1 : -1;
    }
    if (tri_report_better(sorted_part->study, x.objective, y.objective)) {
        return -1;
    }
    if (tri_report_better(sorted_part->study, y.objective, x.objective)) {
        return 1;
    }
    return i < k ? 1 : -1;
}

static int by_number(const void *a, const void *b)
{
    int64_t i = *(const int64_t *)a;
    int64_t k = *(const int64_t *)b;

    return (i > k) - (i < k);
}

static void choose(choice *c)
{
    c->n = tri_ctl_n_trials(c->p->ctl);
    for (int64_t i = 0; i < c->n; i++) {
        c->list[i] = i;
    }
    if (c->n > TRI_REPORT_ROWS) {
        sorted_part = c->p;
        qsort(c->list, (size_t)c->n, sizeof *c->list, by_merit);
        c->n = TRI_REPORT_ROWS;
        qsort(c->list, (size_t)c->n, sizeof *c->list, by_number);
    }
}

static void find_peaks(choice *c)
{
    for (int64_t i = 0; i < tri_ctl_n_trials(c->p->ctl); i++) {
        c->bytes[i] = NAN;
    }
    for (int64_t i = 0; i < tri_ctl_n_runs(c->p->ctl); i++) {
        tri_run_view run;

        tri_ctl_run(c->p->ctl, i, &run);
        if (run.state == TRI_RUN_ENDED && run.outcome.peak_bytes > 0 &&
            !(c->bytes[run.trial] >= (double)run.outcome.peak_bytes)) {
            c->bytes[run.trial] = (double)run.outcome.peak_bytes;
        }
    }
}

/* ---- columns ------------------------------------------------------------ */

typedef json_t *(*cell_fn)(const choice *c, const tri_trial_view *v);

static json_t *cell_state(const choice *c, const tri_trial_view *v)
{
    (void)c;
    return json_integer(v->state);
}

static json_t *cell_ranks(const choice *c, const tri_trial_view *v)
{
    (void)c;
    return json_integer(v->ranks);
}

static json_t *cell_rung(const choice *c, const tri_trial_view *v)
{
    (void)c;
    return v->top_rung >= 0 ? json_integer(v->top_rung) : json_null();
}

static json_t *cell_objective(const choice *c, const tri_trial_view *v)
{
    (void)c;
    return tri_report_real(v->objective);
}

static json_t *cell_lo(const choice *c, const tri_trial_view *v)
{
    (void)c;
    return tri_report_real(v->lo);
}

static json_t *cell_hi(const choice *c, const tri_trial_view *v)
{
    (void)c;
    return tri_report_real(v->hi);
}

static json_t *cell_predicted(const choice *c, const tri_trial_view *v)
{
    (void)c;
    return tri_report_real(v->predicted);
}

static json_t *cell_predicted_lo(const choice *c, const tri_trial_view *v)
{
    (void)c;
    return tri_report_real(v->predicted_lo);
}

static json_t *cell_predicted_hi(const choice *c, const tri_trial_view *v)
{
    (void)c;
    return tri_report_real(v->predicted_hi);
}

/* Memory in MiB: four figures of it are enough. */
static json_t *cell_mib(const choice *c, const tri_trial_view *v)
{
    return tri_report_real(c->bytes[v->trial] / 1048576);
}

static json_t *cell_predicted_mib(const choice *c, const tri_trial_view *v)
{
    (void)c;
    return tri_report_real(v->predicted_bytes / 1048576);
}

static json_t *cell_reason(const choice *c, const tri_trial_view *v)
{
    (void)c;
    return v->state == TRI_TRIAL_FAILED
                   ? json_string(tri_reason_name(v->reason))
                   : json_null();
}

static const struct {
    const char *name;
    cell_fn cell;
} columns[] = {{"state", cell_state},
               {"ranks", cell_ranks},
               {"rung", cell_rung},
               {"objective", cell_objective},
               {"lo", cell_lo},
               {"hi", cell_hi},
               {"predicted", cell_predicted},
               {"predicted_lo", cell_predicted_lo},
               {"predicted_hi", cell_predicted_hi},
               {"mib", cell_mib},
               {"predicted_mib", cell_predicted_mib},
               {"reason", cell_reason}};

static json_t *column(const choice *c, cell_fn cell)
{
    json_t *a = json_array();
    int any = 0;

    for (int64_t i = 0; i < c->n; i++) {
        tri_trial_view v;
        json_t *value;

        tri_ctl_trial(c->p->ctl, c->list[i], &v);
        value = cell(c, &v);
        any |= !json_is_null(value);
        json_array_append_new(a, value);
    }
    if (any) {
        return a;
    }
    json_decref(a);
    return NULL;
}

/* Where they come from, by place in `names`. */
static json_t *origins(const choice *c, json_t *names)
{
    const char *known[16];
    json_t *a = json_array();
    size_t n = 0;

    for (int64_t i = 0; i < c->n; i++) {
        tri_trial_view v;
        size_t k = 0;

        tri_ctl_trial(c->p->ctl, c->list[i], &v);
        while (k < n && strcmp(known[k], v.origin) != 0) {
            k++;
        }
        if (k == n && n < sizeof known / sizeof *known) {
            known[n++] = v.origin;
            json_array_append_new(names, tri_report_string(v.origin));
        }
        json_array_append_new(a, json_integer((json_int_t)k));
    }
    return a;
}

static json_t *value_json(const tri_param *param, tri_value v)
{
    if (v.type == TRI_INACTIVE) {
        return json_null();
    }
    if (!is_word(param)) {
        return v.type == TRI_REAL ? tri_report_real(v.u.d)
                                  : json_integer(v.u.i);
    }
    for (int i = 0; i < param->domain.n_values; i++) {
        if (tri_value_equal(param->domain.values[i], v)) {
            return json_integer(i);
        }
    }
    return json_null();
}

static json_t *param_columns(const choice *c)
{
    const tri_space *space = c->p->study->space;
    json_t *a = json_array();

    for (int k = 0; k < tri_space_n_params(space); k++) {
        const tri_param *param = tri_space_param(space, k);
        json_t *list = json_array();

        for (int64_t i = 0; param->domain.kind != TRI_DOMAIN_CONST && i < c->n;
             i++) {
            const tri_config *config = tri_ctl_config(c->p->ctl, c->list[i]);

            json_array_append_new(list,
                                  value_json(param, config[param->column]));
        }
        json_array_append_new(a, list);
    }
    return a;
}

static json_t *numbers(const choice *c)
{
    json_t *a = json_array();

    for (int64_t i = 0; i < c->n; i++) {
        json_array_append_new(a, json_integer(c->list[i]));
    }
    return a;
}

json_t *tri_report_trials(const tri_report_part *p)
{
    size_t n = (size_t)tri_ctl_n_trials(p->ctl);
    choice c = {.p = p,
                .list = calloc(n + 1, sizeof *c.list),
                .bytes = calloc(n + 1, sizeof *c.bytes)};
    json_t *o = json_object();
    json_t *states = json_array();
    json_t *names = json_array();
    json_t *list = json_object();

    if (c.list && c.bytes) {
        choose(&c);
        find_peaks(&c);
    }
    json_object_set_new(list, "trial", numbers(&c));
    json_object_set_new(list, "origin", origins(&c, names));
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        json_t *one = column(&c, columns[i].cell);

        if (one) {
            json_object_set_new(list, columns[i].name, one);
        }
    }
    for (int i = 0; i <= TRI_TRIAL_PARKED; i++) {
        json_array_append_new(
                states, json_string(tri_trial_state_name((tri_trial_state)i)));
    }
    json_object_set_new(list, "params", param_columns(&c));
    json_object_set_new(o, "total", json_integer((json_int_t)n));
    json_object_set_new(o, "shown", json_integer(c.n));
    json_object_set_new(o, "states", states);
    json_object_set_new(o, "origins", names);
    json_object_set_new(o, "columns", list);
    free(c.list);
    free(c.bytes);
    return o;
}

/* ---- predicted against measured ----------------------------------------- */

static int is_at_top(const tri_ctl *ctl, const tri_trial_view *v)
{
    int n = tri_sched_n_rungs(tri_ctl_sched(ctl));

    return !tri_ctl_study(ctl)->objective.learned ||
           (n > 0 && v->top_rung == n - 1);
}

tri_report_covered tri_report_coverage(const tri_ctl *ctl)
{
    tri_report_covered c = {0, 0, 0};

    for (int64_t i = 0; i < tri_ctl_n_trials(ctl); i++) {
        tri_trial_view v;

        tri_ctl_trial(ctl, i, &v);
        if (!isfinite(v.predicted) || !isfinite(v.objective)) {
            continue;
        }
        if (!is_at_top(ctl, &v)) {
            c.other++;
            continue;
        }
        c.same++;
        c.inside +=
                v.objective >= v.predicted_lo && v.objective <= v.predicted_hi;
    }
    return c;
}

json_t *tri_report_calibration(const tri_report_part *p)
{
    tri_report_covered c = tri_report_coverage(p->ctl);
    json_t *o;

    if (c.same + c.other == 0) {
        return tri_report_because(
                p, "calibration",
                "No trial has both a prediction and a result: configurations "
                "were drawn without a model (search: %s), or too few were "
                "measured to learn one.",
                p->study->search.proposer);
    }
    o = json_object();
    json_object_set_new(o, "same", json_integer(c.same));
    json_object_set_new(o, "inside", json_integer(c.inside));
    json_object_set_new(o, "other", json_integer(c.other));
    return o;
}

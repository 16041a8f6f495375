/*
 * Recorded results for a simulation: a CSV, or what the runs of a study file
 * measured.  Knows the files; what the results are good for is the
 * simulator's.
 */
#include "src/app/app.h"
#include "src/app/what_if.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- study files ------------------------------------------------------ */

typedef struct source {
    const char *path;
    const tri_ctl *ctl;
    const tri_study *study; /* of the file */
} source;

/* The closest name of a parameter there. */
static tri_status no_parameter(const source *from, const char *name)
{
    const tri_space *space = from->study->space;
    int n = tri_space_n_params(space);
    const char **names = calloc((size_t)n + 1, sizeof *names);
    const char *near;

    for (int i = 0; names && i < n; i++) {
        names[i] = tri_space_param(space, i)->name;
    }
    near = names ? tri_closest(name, names, n) : NULL;
    free(names);
    return TRI_FAIL(TRI_EUNKNOWN, "%.200s has no parameter \"%.60s\"%s%.60s%s",
                    from->path, name, near ? "; did you mean \"" : "",
                    near ? near : "", near ? "\"?" : "");
}

/* Print "name=value" of what the file's configuration has for the parameter;
 * nothing for a constant that the file does not know.  [out] the length
 * needed. */
static tri_status print_value(const source *from, const tri_config *config,
                              const tri_param *p, char *buf, size_t bytes,
                              size_t *needed)
{
    tri_value value;
    tri_status st =
            tri_space_lookup(from->study->space, config, p->name, &value);

    *needed = 0;
    if (st == TRI_ENOTFOUND) {
        tri_error_clear();
        return p->domain.kind == TRI_DOMAIN_CONST ? TRI_OK
                                                  : no_parameter(from, p->name);
    }
    TRI_TRY(st);
    *needed = (size_t)snprintf(buf, bytes, "%s=", p->name);
    if (*needed < bytes) {
        *needed += tri_value_print(value, buf + *needed, bytes - *needed);
    }
    return TRI_OK;
}

/* A trial's configuration, as assignments in the space of the results. */
static tri_status print_trial(const source *from, int64_t trial,
                              const tri_space *space, char *text, size_t bytes)
{
    tri_trial_view view;
    size_t n = 0;

    tri_ctl_trial(from->ctl, trial, &view);
    text[0] = '\0';
    for (int i = 0; i < tri_space_n_params(space); i++) {
        size_t more;

        TRI_TRY(print_value(from, view.config, tri_space_param(space, i),
                            text + n, bytes - n, &more));
        n += more;
        if (n + 2 > bytes) {
            return TRI_FAIL(TRI_ERANGE,
                            "%.200s: trial %lld has too long values",
                            from->path, (long long)trial);
        }
        strcpy(text + n++, " ");
    }
    return TRI_OK;
}

/* What the run measured of the objective, of all ranks. */
static double measured(const tri_study *study, const tri_ev_outcome *o)
{
    switch (study->objective.metric) {
    case TRI_METRIC_TOKENS_PER_S:
        return o->tokens_per_s;
    case TRI_METRIC_SAMPLES_PER_S:
        return o->samples_per_s;
    case TRI_METRIC_STEP_S:
        return o->step_s;
    case TRI_METRIC_LOSS:
        return o->loss;
    case TRI_METRIC_OWN:
        return o->objective;
    }
    return NAN;
}

static int is_same_failure(const tri_run_view *run, const tri_trial_view *trial)
{
    return run->status == TRI_RUN_FAILED && trial->state == TRI_TRIAL_FAILED &&
           run->reason == trial->reason;
}

int tri_app_recorded_point(const tri_ctl *ctl, const tri_study *study,
                           int64_t i, tri_recorded_point *out)
{
    tri_run_view run;
    tri_trial_view trial;

    tri_ctl_run(ctl, i, &run);
    tri_ctl_trial(ctl, run.trial, &trial);
    *out = (tri_recorded_point){run.trial, run.resource, NAN, 0, 0};
    if (run.state != TRI_RUN_ENDED) {
        return 0;
    }
    if (run.status == TRI_RUN_FINISHED) {
        out->objective = measured(study, &run.outcome);
        return 1;
    }
    /* a diverged run is a result that is not a number */
    out->failed = tri_reason_rule_of(run.reason) != TRI_RULE_COUNTED;
    return is_same_failure(&run, &trial);
}

static tri_status add_run(const source *from, int64_t i, tri_recorded *out)
{
    tri_recorded_point p;
    char text[8192];
    int used;

    if (!tri_app_recorded_point(from->ctl, out->study, i, &p)) {
        return TRI_OK;
    }
    TRI_TRY(print_trial(from, p.row, out->study->space, text, sizeof text));
    TRI_TRY(tri_recorded_add_row(out, text, &used));
    return used ? tri_recorded_add(out, p.resource, p.objective, p.failed)
                : TRI_OK;
}

/* Results that would be compared with others than themselves. */
static tri_status check_same(const source *from, const tri_study *study)
{
    const tri_study *old = from->study;

    if (study->objective.metric == TRI_METRIC_OWN &&
        strcmp(old->objective.name, study->objective.name) != 0) {
        return TRI_FAIL(TRI_EOTHER,
                        "%.200s recorded \"%.60s\", and the study's objective "
                        "is \"%.60s\"",
                        from->path, old->objective.name, study->objective.name);
    }
    if (old->resource.unit != study->resource.unit) {
        return TRI_FAIL(TRI_EOTHER,
                        "%.200s counts its resource in %s, and the study in %s",
                        from->path, tri_unit_name(old->resource.unit),
                        tri_unit_name(study->resource.unit));
    }
    return TRI_OK;
}

static tri_status check_measured(const source *from, const tri_recorded *r)
{
    int64_t finished = 0;

    for (int64_t i = 0; i < r->n_points; i++) {
        if (!isnan(r->points[i].objective)) {
            return TRI_OK;
        }
        finished += !r->points[i].failed;
    }
    if (finished == 0) {
        return TRI_OK; /* all failed, and say so */
    }
    return TRI_FAIL(TRI_EOTHER, "no run in %.200s measured \"%.60s\"",
                    from->path, r->study->objective.name);
}

static tri_status add_runs(const source *from, tri_recorded *out)
{
    TRI_TRY(check_same(from, out->study));
    for (int64_t i = 0; i < tri_ctl_n_runs(from->ctl); i++) {
        TRI_TRY(add_run(from, i, out));
    }
    TRI_TRY(tri_recorded_not_empty(out, from->path));
    return check_measured(from, out);
}

static tri_status read_study_file(const char *path, tri_recorded *out)
{
    tri_ctl *ctl = NULL;
    source from = {.path = path};
    tri_status st;

    TRI_TRY(tri_app_fold(path, &ctl, NULL));
    from.ctl = ctl;
    from.study = tri_ctl_study(ctl);
    st = add_runs(&from, out);
    tri_ctl_destroy(ctl);
    return st;
}

/* ---- either ----------------------------------------------------------- */

static tri_status read_csv(const char *path, tri_recorded *out)
{
    char *text = NULL;
    size_t bytes = 0;
    tri_status st;

    TRI_TRY(tri_app_read(NULL, path, &text, &bytes));
    st = tri_recorded_read(out, text, bytes, path);
    free(text);
    return st;
}

static int is_study_file(const char *path)
{
    size_t n = strlen(path);

    return n > 3 && strcmp(path + n - 3, ".h5") == 0;
}

tri_status tri_app_recorded(const char *path, const tri_study *study,
                            tri_recorded *out)
{
    tri_recorded list;
    tri_status st;

    tri_recorded_init(&list, study);
    st = is_study_file(path) ? read_study_file(path, &list)
                             : read_csv(path, &list);
    if (st != TRI_OK) {
        tri_recorded_fini(&list);
        return st;
    }
    *out = list;
    return TRI_OK;
}

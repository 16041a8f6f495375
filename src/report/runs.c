/*
 * Results of the search in the order of their ends, how the best changed, the
 * rungs, and the trials that climbed them.
 */
#include "src/report/part.h"

#include <math.h>
#include <stdlib.h>

#define RUNGS   256
#define LADDERS 60

/* ---- results, in the order of their ends -------------------------------- */

typedef json_t *(*result_fn)(const tri_run_view *run);

static json_t *result_time(const tri_run_view *run)
{
    return tri_report_real(run->end_s);
}

static json_t *result_objective(const tri_run_view *run)
{
    return tri_report_real(run->objective);
}

static json_t *result_rung(const tri_run_view *run)
{
    return json_integer(run->rung);
}

static json_t *result_trial(const tri_run_view *run)
{
    return json_integer(run->trial);
}

/* Whether row i of n is one of an even choice of at most TRI_REPORT_ROWS. */
static int is_chosen(int64_t i, int64_t n)
{
    return n <= TRI_REPORT_ROWS || i == 0 ||
           i * TRI_REPORT_ROWS / n != (i - 1) * TRI_REPORT_ROWS / n;
}

static int64_t count_results(const tri_report_part *p)
{
    int64_t n = 0;

    for (int64_t i = 0; i < p->source->ledger->n_ended; i++) {
        tri_run_view run;

        tri_ctl_run(p->ctl, p->source->ledger->ended[i], &run);
        n += tri_report_is_result(&run);
    }
    return n;
}

static json_t *result_column(const tri_report_part *p, result_fn cell)
{
    const tri_ledger *ledger = p->source->ledger;
    double best = NAN;
    json_t *a = json_array();

    for (int64_t i = 0; i < ledger->n_ended; i++) {
        tri_run_view run;

        tri_ctl_run(p->ctl, ledger->ended[i], &run);
        if (!tri_report_is_result(&run)) {
            continue;
        }
        if (tri_report_better(p->study, run.objective, best)) {
            best = run.objective;
        } else if (!is_chosen(i, ledger->n_ended)) {
            continue;
        }
        json_array_append_new(a, cell(&run));
    }
    return a;
}

json_t *tri_report_results(const tri_report_part *p)
{
    int64_t n = count_results(p);
    json_t *o;
    json_t *times;

    if (n == 0) {
        return tri_report_because(p, "results",
                                  "No run of the search has finished, so there "
                                  "is no result to show.");
    }
    o = json_object();
    times = result_column(p, result_time);
    json_object_set_new(o, "total", json_integer(n));
    json_object_set_new(o, "shown",
                        json_integer((json_int_t)json_array_size(times)));
    json_object_set_new(o, "time_s", times);
    json_object_set_new(o, "objective", result_column(p, result_objective));
    json_object_set_new(o, "rung", result_column(p, result_rung));
    json_object_set_new(o, "trial", result_column(p, result_trial));
    return o;
}

/* ---- the best so far ---------------------------------------------------- */

/* A higher rung counts for more where the objective is learned: the loss after
 * ten steps says little of that after a thousand. */
static int is_new_best(const tri_report_part *p, const tri_run_view *run,
                       double best, int rung)
{
    if (p->study->objective.learned && run->rung != rung) {
        return run->rung > rung;
    }
    return tri_report_better(p->study, run->objective, best);
}

json_t *tri_report_best(const tri_report_part *p)
{
    const tri_ledger *ledger = p->source->ledger;
    double best = NAN;
    double hours = 0;
    int rung = -1;
    json_t *a = json_array();

    for (int64_t i = 0; i < ledger->n_ended; i++) {
        tri_run_view run;
        json_t *point;

        tri_ctl_run(p->ctl, ledger->ended[i], &run);
        if (run.phase == TRI_PHASE_SEARCH) {
            hours += tri_report_rank_seconds(&run) / 3600;
        }
        if (!tri_report_is_result(&run) || !is_new_best(p, &run, best, rung)) {
            continue;
        }
        best = run.objective;
        rung = run.rung;
        point = json_array();
        json_array_append_new(point, tri_report_real(run.end_s));
        json_array_append_new(point, tri_report_real(hours));
        json_array_append_new(point, tri_report_real(best));
        json_array_append_new(point, json_integer(run.trial));
        json_array_append_new(point, json_integer(rung));
        json_array_append_new(a, point);
    }
    return a;
}

/* ---- rungs -------------------------------------------------------------- */

/* What the runs of a rung came to, beside what the scheduler counts. */
typedef struct tally {
    int64_t failed, running, n;
    double best, worst, median;
} tally;

static int is_of(const tri_run_view *run, const tri_rung_view *rung)
{
    return run->phase == TRI_PHASE_SEARCH && run->bracket == rung->bracket &&
           run->rung == rung->rung;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return (x > y) - (x < y);
}

static void take_run(const tri_run_view *run, double *values, tally *t)
{
    if (run->state != TRI_RUN_ENDED) {
        t->running++;
    } else if (run->status == TRI_RUN_FAILED) {
        t->failed++;
    } else if (tri_report_is_result(run)) {
        values[t->n++] = run->objective;
    }
}

/* `values` has room for all runs. */
static tally tally_of(const tri_report_part *p, const tri_rung_view *rung,
                      double *values)
{
    tally t = {0, 0, 0, NAN, NAN, NAN};

    for (int64_t i = 0; i < tri_ctl_n_runs(p->ctl); i++) {
        tri_run_view run;

        tri_ctl_run(p->ctl, i, &run);
        if (is_of(&run, rung)) {
            take_run(&run, values, &t);
        }
    }
    if (t.n > 0) {
        int up = p->study->objective.maximize;

        qsort(values, (size_t)t.n, sizeof *values, by_value);
        t.best = values[up ? t.n - 1 : 0];
        t.worst = values[up ? 0 : t.n - 1];
        t.median = (values[(t.n - 1) / 2] + values[t.n / 2]) / 2;
    }
    return t;
}

static json_t *rung_json(const tri_rung_view *rung, const tally *t)
{
    json_t *o = json_object();

    json_object_set_new(o, "bracket", json_integer(rung->bracket));
    json_object_set_new(o, "rung", json_integer(rung->rung));
    json_object_set_new(o, "resource", json_integer(rung->resource));
    json_object_set_new(o, "results", json_integer(rung->results));
    json_object_set_new(o, "promoted", json_integer(rung->promoted));
    json_object_set_new(o, "failed", json_integer(t->failed));
    json_object_set_new(o, "running", json_integer(t->running));
    json_object_set_new(o, "best", tri_report_real(t->best));
    json_object_set_new(o, "median", tri_report_real(t->median));
    json_object_set_new(o, "worst", tri_report_real(t->worst));
    return o;
}

json_t *tri_report_rungs(const tri_report_part *p)
{
    tri_rung_view rungs[RUNGS];
    int n = tri_sched_rungs(tri_ctl_sched(p->ctl), rungs, RUNGS);
    size_t room = (size_t)tri_ctl_n_runs(p->ctl) + 1;
    double *values = calloc(room, sizeof *values);
    json_t *a = json_array();

    for (int i = 0; values && i < n && i < RUNGS; i++) {
        tally t = tally_of(p, &rungs[i], values);

        json_array_append_new(a, rung_json(&rungs[i], &t));
    }
    free(values);
    if (json_array_size(a) == 0) {
        json_decref(a);
        return tri_report_because(p, "rungs",
                                  "No run has given a result at any rung, and "
                                  "none is under way.");
    }
    return a;
}

/* ---- trials that climbed ------------------------------------------------ */

typedef struct climber {
    int64_t trial;
    int rung;
    double objective;
} climber;

static const tri_study *sorted_study; /* for qsort's comparison */

static int by_height(const void *a, const void *b)
{
    const climber *x = a;
    const climber *y = b;

    if (x->rung != y->rung) {
        return x->rung < y->rung ? 1 : -1;
    }
    if (tri_report_better(sorted_study, x->objective, y->objective)) {
        return -1;
    }
    if (tri_report_better(sorted_study, y->objective, x->objective)) {
        return 1;
    }
    return (x->trial > y->trial) - (x->trial < y->trial);
}

static void add_point(json_t *points, const tri_run_view *run)
{
    json_t *point = json_array();

    json_array_append_new(point, json_integer(run->resource));
    json_array_append_new(point, tri_report_real(run->objective));
    json_array_append_new(points, point);
}

/* [out] points[trial] of the n climbers, the others NULL. */
static json_t *climb(const tri_report_part *p, const climber *list, int64_t n,
                     json_t **points)
{
    const tri_ledger *ledger = p->source->ledger;
    json_t *a = json_array();

    for (int64_t i = 0; i < n; i++) {
        points[list[i].trial] = json_array();
    }
    for (int64_t i = 0; i < ledger->n_ended; i++) {
        tri_run_view run;

        tri_ctl_run(p->ctl, ledger->ended[i], &run);
        if (tri_report_is_result(&run) && points[run.trial]) {
            add_point(points[run.trial], &run);
        }
    }
    for (int64_t i = 0; i < n; i++) {
        json_t *o = json_object();

        json_object_set_new(o, "trial", json_integer(list[i].trial));
        json_object_set_new(o, "points", points[list[i].trial]);
        json_array_append_new(a, o);
    }
    return a;
}

json_t *tri_report_ladders(const tri_report_part *p)
{
    size_t room = (size_t)tri_ctl_n_trials(p->ctl) + 1;
    climber *list = calloc(room, sizeof *list);
    json_t **points = calloc(room, sizeof *points);
    json_t *a = json_null();
    int64_t n = 0;

    for (int64_t i = 0; list && i < tri_ctl_n_trials(p->ctl); i++) {
        tri_trial_view v;

        tri_ctl_trial(p->ctl, i, &v);
        if (v.top_rung > v.bracket && isfinite(v.objective)) {
            list[n++] = (climber){i, v.top_rung, v.objective};
        }
    }
    if (points && n > 0) {
        sorted_study = p->study;
        qsort(list, (size_t)n, sizeof *list, by_height);
        a = climb(p, list, n < LADDERS ? n : LADDERS, points);
    } else {
        tri_report_because(p, "ladders",
                           "No trial has been promoted to a second rung.");
    }
    free(points);
    free(list);
    return a;
}

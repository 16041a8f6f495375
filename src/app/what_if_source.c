/*
 * What answers for the trials of a what-if: what the record measured, with the
 * time that it took; or the table, or the synthetic curves, that the record
 * holds.
 */
#include "src/app/what_if.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The resource from which a run went on. */
static int64_t went_on_from(const tri_what_if_source *s,
                            const tri_run_view *run)
{
    const tri_sched *sched = tri_ctl_sched(s->ctl);

    return s->study->objective.learned && run->rung > run->bracket &&
                           run->phase == TRI_PHASE_SEARCH
                   ? tri_sched_resource(sched, run->rung - 1)
                   : 0;
}

static tri_status add_run(const tri_what_if_source *s, int64_t i,
                          tri_recorded *to)
{
    tri_recorded_point p;
    tri_run_view run;
    char *text = NULL;
    tri_status st;
    int used = 0;

    if (!tri_what_if_point(s, i, &p)) {
        return TRI_OK;
    }
    st = tri_what_if_assignments(s, p.row, &text);
    if (st == TRI_OK) {
        st = tri_recorded_add_row(to, text, &used);
    }
    free(text);
    if (st != TRI_OK || !used) {
        return st;
    }
    TRI_TRY(tri_recorded_add(to, p.resource, p.objective, p.failed));
    tri_ctl_run(s->ctl, i, &run);
    if (run.end_s > run.start_s) {
        tri_recorded_took(to,
                          (run.end_s - run.start_s) /
                                  (double)(p.resource - went_on_from(s, &run)));
    }
    return TRI_OK;
}

/* What is known of each configuration, by its number in the space, and the
 * most resource that anything is known after. */
static tri_status find_tops(tri_what_if_source *s, const tri_study *study,
                            const tri_recorded *r)
{
    int64_t n = tri_space_count(study->space);
    int64_t at;

    if (s->top_resource) {
        return TRI_OK;
    }
    s->top_resource = calloc((size_t)n + 1, sizeof *s->top_resource);
    if (!s->top_resource) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for the record's results");
    }
    for (int64_t i = 0; i < r->n_points; i++) {
        const tri_recorded_point *p = &r->points[i];

        TRI_TRY(tri_space_index(study->space, r->configs + p->row * r->n_params,
                                &at));
        if (p->failed) { /* it would fail at any */
            s->top_resource[at] = INT64_MAX;
        } else if (p->resource > s->top_resource[at]) {
            s->top_resource[at] = p->resource;
        }
        if (isfinite(p->objective) && p->resource > s->top) {
            s->top = p->resource;
        }
    }
    return TRI_OK;
}

static int is_better(const tri_study *study, double v, double than)
{
    return !isnan(v) &&
           (isnan(than) || (study->objective.maximize ? v > than : v < than));
}

/* The best of the configurations that were measured to the top: what was
 * measured less far is a point of an unfinished curve. */
static tri_status find_best(tri_what_if_source *s, const tri_what_if_run *run)
{
    const tri_study *study = run->study;
    tri_config *c =
            calloc((size_t)tri_space_n_params(study->space) + 1, sizeof *c);
    tri_status st = c ? TRI_OK : TRI_FAIL(TRI_ENOMEM, "no memory");

    for (int64_t i = 0; st == TRI_OK && i < tri_space_count(study->space);
         i++) {
        tri_measured m;
        double v;
        int ranks;

        if (s->top_resource[i] < s->top) {
            continue;
        }
        TRI_TRY_GOTO(st, tri_space_at(study->space, i, c), done);
        TRI_TRY_GOTO(st, tri_space_ranks(study->space, c, &ranks), done);
        tri_curve_measured(study, tri_curve_value(run->curve, c, s->top), &m);
        v = tri_study_objective(study, &m, ranks);
        s->best = is_better(study, v, s->best) ? v : s->best;
    }
done:
    free(c);
    return st;
}

static tri_status make_curve(tri_what_if_source *s, tri_what_if_run *run)
{
    tri_recorded r;
    tri_status st = TRI_OK;

    if (s->whole) {
        TRI_TRY(tri_curve_create(run->study, 1, &run->curve));
        if (isnan(s->best)) {
            s->best = tri_curve_optimum(run->curve);
            s->top = tri_curve_top(run->curve);
        }
        return TRI_OK;
    }
    tri_recorded_init(&r, run->study);
    for (int64_t i = 0; st == TRI_OK && i < tri_ctl_n_runs(s->ctl); i++) {
        st = add_run(s, i, &r);
    }
    if (st == TRI_OK) {
        st = find_tops(s, run->study, &r);
    }
    if (st == TRI_OK) {
        st = tri_curve_create_recorded(run->study, &r, 1, &run->curve);
    }
    tri_recorded_fini(&r);
    TRI_TRY(st);
    if (isnan(s->best)) {
        TRI_TRY(find_best(s, run));
    }
    return isnan(s->best)
                   ? TRI_FAIL(TRI_EEMPTY, "nothing to compare: no run of the "
                                          "record has a result")
                   : TRI_OK;
}

tri_status tri_what_if_run_init(tri_what_if_source *source,
                                const tri_what_if_settings *s,
                                tri_what_if_run *out)
{
    tri_status st;
    int lo, hi;

    *out = (tri_what_if_run){NULL, NULL};
    TRI_TRY(tri_what_if_study(source, s, &out->study));
    tri_space_rank_range(out->study->space, &lo, &hi);
    st = lo > s->workers
                 ? TRI_FAIL(TRI_EINVAL,
                            "--with: workers=%" PRId64
                            " is too few: the smallest configuration needs %d "
                            "ranks",
                            s->workers, lo)
                 : make_curve(source, out);
    if (st != TRI_OK) {
        tri_what_if_run_fini(out);
    }
    return st;
}

void tri_what_if_run_fini(tri_what_if_run *r)
{
    tri_curve_destroy(r->curve);
    tri_study_destroy(r->study);
    *r = (tri_what_if_run){NULL, NULL};
}

tri_status tri_what_if_source_init(const tri_ctl *ctl, tri_what_if_source *out)
{
    const tri_study *study = tri_ctl_study(ctl);
    tri_status st;

    *out = (tri_what_if_source){.ctl = ctl,
                                .study = study,
                                .n_trials = tri_ctl_n_trials(ctl),
                                .best = NAN};
    if (study->model.kind == TRI_MODEL_TABLE ||
        study->model.kind == TRI_MODEL_SYNTHETIC) {
        out->whole = 1;
        out->n = tri_space_count(study->space);
        return TRI_OK;
    }
    st = tri_what_if_table(out);
    if (st != TRI_OK) {
        tri_what_if_source_fini(out);
    }
    return st;
}

void tri_what_if_source_fini(tri_what_if_source *s)
{
    free(s->csv);
    free(s->top_resource);
    s->csv = NULL;
    s->top_resource = NULL;
}

/*
 * The data of a report, put together; the study, its state and its cost.
 */
#include "src/report/part.h"

#include <math.h>

/* More of a study's text is not shown. */
#define TEXT_BYTES 65536

static json_t *objective(const tri_report_part *p)
{
    const tri_study *study = p->study;
    json_t *o = json_object();

    json_object_set_new(o, "name", tri_report_string(study->objective.name));
    json_object_set_new(o, "unit", tri_report_string(p->source->unit));
    json_object_set_new(o, "maximize", json_boolean(study->objective.maximize));
    json_object_set_new(o, "learned", json_boolean(study->objective.learned));
    json_object_set_new(o, "per_rank", json_boolean(study->objective.per_rank));
    return o;
}

static json_t *study_of(const tri_report_part *p)
{
    const tri_study *study = p->study;
    const char *text = study->text ? study->text : "";
    json_t *o = json_object();
    json_t *resource = json_object();
    size_t n = 0;

    while (n < TEXT_BYTES && text[n]) {
        n++;
    }
    json_object_set_new(resource, "unit",
                        json_string(tri_unit_name(study->resource.unit)));
    json_object_set_new(resource, "min", json_integer(study->resource.min));
    json_object_set_new(resource, "max", json_integer(study->resource.max));
    json_object_set_new(resource, "eta", json_integer(study->resource.eta));
    json_object_set_new(o, "name", tri_report_string(study->name));
    json_object_set_new(o, "objective", objective(p));
    json_object_set_new(o, "resource", resource);
    json_object_set_new(o, "scheduler",
                        json_string(tri_sched_name(study->scheduler.kind)));
    json_object_set_new(o, "search", tri_report_string(study->search.proposer));
    json_object_set_new(o, "model",
                        json_string(tri_model_name(study->model.kind)));
    json_object_set_new(o, "text", tri_report_text(text, n));
    return o;
}

/* Finished runs, and those of them with more ranks than cores on a host. */
static void add_oversubscribed(json_t *o, const tri_report_part *p)
{
    int64_t of = 0;
    int64_t over = 0;

    for (int64_t i = 0; i < tri_ctl_n_runs(p->ctl); i++) {
        tri_run_view r;

        tri_ctl_run(p->ctl, i, &r);
        if (r.state == TRI_RUN_ENDED && r.status == TRI_RUN_FINISHED) {
            of++;
            over += r.oversubscribed != 0;
        }
    }
    json_object_set_new(o, "measured", json_integer(of));
    json_object_set_new(o, "oversubscribed", json_integer(over));
}

static json_t *state_of(const tri_report_part *p)
{
    json_t *o = json_object();
    tri_progress s;

    tri_ctl_progress(p->ctl, &s);
    json_object_set_new(o, "state", tri_report_string(p->source->state));
    json_object_set_new(o, "why",
                        s.state == TRI_CTL_ENDED && s.end_why && *s.end_why
                                ? tri_report_string(s.end_why)
                                : json_null());
    json_object_set_new(o, "openings", json_integer(s.epoch));
    json_object_set_new(o, "time_s", tri_report_real(s.time_s));
    json_object_set_new(o, "trials", json_integer(tri_ctl_n_trials(p->ctl)));
    json_object_set_new(o, "runs", json_integer(tri_ctl_n_runs(p->ctl)));
    json_object_set_new(o, "finished", json_integer(s.finished));
    json_object_set_new(o, "failed", json_integer(s.failed));
    json_object_set_new(o, "parked", json_integer(s.parked));
    json_object_set_new(o, "ranks", json_integer(s.ranks_total));
    json_object_set_new(o, "struck", json_integer(s.ranks_struck));
    add_oversubscribed(o, p);
    return o;
}

/* Rank-hours. */
static json_t *cost_of(const tri_report_part *p)
{
    double search = 0;
    double finals = 0;
    double wasted = 0;
    json_t *o = json_object();
    tri_progress s;

    tri_ctl_progress(p->ctl, &s);
    for (int64_t i = 0; i < tri_ctl_n_runs(p->ctl); i++) {
        tri_run_view run;

        tri_ctl_run(p->ctl, i, &run);
        if (run.state == TRI_RUN_ENDED && run.status != TRI_RUN_FINISHED &&
            run.status != TRI_RUN_STOPPED) {
            wasted += tri_report_rank_seconds(&run) / 3600;
        } else if (run.phase == TRI_PHASE_FINALS) {
            finals += tri_report_rank_seconds(&run) / 3600;
        } else {
            search += tri_report_rank_seconds(&run) / 3600;
        }
    }
    json_object_set_new(o, "search", tri_report_real(search));
    json_object_set_new(o, "finals", tri_report_real(finals));
    json_object_set_new(o, "wasted", tri_report_real(wasted));
    json_object_set_new(o, "total", tri_report_real(search + finals + wasted));
    return o;
}

static json_t *memory_of(const tri_report_part *p)
{
    double limit = p->source->limit_bytes > 0 ? p->source->limit_bytes
                                              : (double)p->study->memory_bytes;
    json_t *o = json_object();

    json_object_set_new(o, "limit",
                        limit > 0 ? tri_report_count(limit) : json_null());
    for (int64_t i = 0; i < tri_ctl_n_runs(p->ctl); i++) {
        tri_run_view run;

        tri_ctl_run(p->ctl, i, &run);
        if (run.state == TRI_RUN_ENDED && run.outcome.peak_bytes > 0) {
            return o;
        }
    }
    json_decref(o);
    return tri_report_because(p, "memory",
                              "No run of this study reported its memory.");
}

tri_status tri_report_data(const tri_report_source *source, json_t **out)
{
    const tri_report_part part = {.source = source,
                                  .ctl = source->ctl,
                                  .study = tri_ctl_study(source->ctl),
                                  .why = json_object()};
    const tri_report_part *p = &part;
    json_t *o = json_object();

    if (!o || !p->why) {
        json_decref(o);
        json_decref(p->why);
        return TRI_FAIL(TRI_ENOMEM, "no memory for a report");
    }
    json_object_set_new(o, "format", json_integer(1));
    json_object_set_new(o, "program", json_string("trireme " TRI_VERSION));
    json_object_set_new(o, "library", tri_report_string(tri_report_library()));
    json_object_set_new(o, "file", tri_report_string(source->file));
    json_object_set_new(o, "made", tri_report_string(source->made));
    json_object_set_new(o, "study", study_of(p));
    json_object_set_new(o, "state", state_of(p));
    json_object_set_new(o, "cost", cost_of(p));
    json_object_set_new(o, "answer", tri_report_answer(p));
    json_object_set_new(o, "top", tri_report_top(p));
    json_object_set_new(o, "params", tri_report_params(p));
    json_object_set_new(o, "trials", tri_report_trials(p));
    json_object_set_new(o, "results", tri_report_results(p));
    json_object_set_new(o, "best", tri_report_best(p));
    json_object_set_new(o, "rungs", tri_report_rungs(p));
    json_object_set_new(o, "ladders", tri_report_ladders(p));
    json_object_set_new(o, "importance", tri_report_importance(p));
    json_object_set_new(o, "calibration", tri_report_calibration(p));
    json_object_set_new(o, "memory", memory_of(p));
    json_object_set_new(o, "timeline", tri_report_timeline(p));
    json_object_set_new(o, "failures", tri_report_failures(p));
    json_object_set_new(o, "finals", tri_report_finals(p));
    json_object_set_new(o, "facts", tri_report_facts(p));
    json_object_set_new(o, "why", p->why);
    *out = o;
    return TRI_OK;
}

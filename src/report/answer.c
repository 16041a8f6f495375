/*
 * The answer: winner against baseline, the best, the finals with their
 * repeats.
 */
#include "src/report/part.h"

#include <math.h>
#include <stdlib.h>

#define TOP 20

static json_t *standing(const tri_report_part *p, const tri_standing *s)
{
    tri_trial_view v;
    json_t *o;

    if (s->trial < 0) {
        return json_null();
    }
    tri_ctl_trial(p->ctl, s->trial, &v);
    o = json_object();
    json_object_set_new(o, "trial", json_integer(s->trial));
    json_object_set_new(o, "objective", tri_report_real(s->objective));
    json_object_set_new(o, "lo", tri_report_real(s->lo));
    json_object_set_new(o, "hi", tri_report_real(s->hi));
    json_object_set_new(o, "ranks", json_integer(s->ranks));
    json_object_set_new(o, "repeats", json_integer(s->repeats));
    json_object_set_new(o, "finals", json_boolean(s->finals));
    json_object_set_new(o, "resource", json_integer(s->resource));
    json_object_set_new(o, "origin", tri_report_string(v.origin));
    json_object_set_new(o, "rung", json_integer(v.top_rung));
    json_object_set_new(o, "configuration",
                        tri_report_configuration(p->ctl, s->trial));
    return o;
}

static json_t *speedup(const tri_report_part *p, const tri_answer *a)
{
    json_t *o;

    if (!a->finals) {
        return tri_report_because(
                p, "speedup",
                p->study->finals.top > 0
                        ? "There are no finals (yet): nothing was measured "
                          "again beside the baseline."
                        : "The study asks for no finals, so nothing was "
                          "measured again beside a baseline.");
    }
    if (a->baseline.trial < 0) {
        return tri_report_because(p, "speedup",
                                  p->study->has_baseline
                                          ? "The baseline was not measured in "
                                            "the finals."
                                          : "The study names no baseline to "
                                            "compare with.");
    }
    if (a->challenger.trial < 0 || !isfinite(a->speedup)) {
        return tri_report_because(p, "speedup",
                                  "Nothing but the baseline was measured in "
                                  "the finals.");
    }
    o = json_object();
    json_object_set_new(o, "value", tri_report_real(a->speedup));
    json_object_set_new(o, "lo", tri_report_real(a->lo));
    json_object_set_new(o, "hi", tri_report_real(a->hi));
    json_object_set_new(o, "significant", json_boolean(a->significant));
    return o;
}

json_t *tri_report_answer(const tri_report_part *p)
{
    json_t *o = json_object();
    tri_answer a;

    tri_ctl_answer(p->ctl, &a);
    if (a.winner.trial < 0) {
        tri_report_because(p, "answer",
                           "No configuration has been measured to its first "
                           "rung, so there is no answer.");
    }
    json_object_set_new(o, "finals", json_boolean(a.finals));
    json_object_set_new(o, "winner", standing(p, &a.winner));
    json_object_set_new(o, "baseline",
                        a.finals ? standing(p, &a.baseline) : json_null());
    json_object_set_new(o, "challenger",
                        a.finals ? standing(p, &a.challenger) : json_null());
    json_object_set_new(o, "speedup", speedup(p, &a));
    return o;
}

json_t *tri_report_top(const tri_report_part *p)
{
    tri_standing list[TOP];
    json_t *a = json_array();
    int n = tri_ctl_top(p->ctl, list, TOP);

    for (int i = 0; i < n; i++) {
        json_array_append_new(a, standing(p, &list[i]));
    }
    return a;
}

/* ---- finals -------------------------------------------------------------- */

static json_t *repeats_of(const tri_report_part *p, int64_t trial)
{
    json_t *a = json_array();

    for (int64_t i = 0; i < tri_ctl_n_runs(p->ctl); i++) {
        tri_run_view run;

        tri_ctl_run(p->ctl, i, &run);
        if (run.trial == trial && run.phase == TRI_PHASE_FINALS &&
            run.state == TRI_RUN_ENDED && run.status == TRI_RUN_FINISHED &&
            isfinite(run.objective)) {
            json_array_append_new(a, tri_report_real(run.objective));
        }
    }
    return a;
}

static json_t *finalist(const tri_report_part *p, const tri_standing *s,
                        const tri_answer *answer)
{
    json_t *o = standing(p, s);

    json_object_set_new(o, "repeats", repeats_of(p, s->trial));
    json_object_set_new(o, "baseline",
                        json_boolean(s->trial == answer->baseline.trial));
    json_object_set_new(o, "winner",
                        json_boolean(s->trial == answer->winner.trial));
    return o;
}

json_t *tri_report_finals(const tri_report_part *p)
{
    tri_standing list[TOP];
    json_t *a = json_array();
    int n = tri_ctl_top(p->ctl, list, TOP);
    tri_progress progress;
    tri_answer answer;

    tri_ctl_answer(p->ctl, &answer);
    for (int i = 0; answer.finals && i < n; i++) {
        if (list[i].finals) {
            json_array_append_new(a, finalist(p, &list[i], &answer));
        }
    }
    if (json_array_size(a) > 0) {
        return a;
    }
    json_decref(a);
    tri_ctl_progress(p->ctl, &progress);
    return tri_report_because(
            p, "finals", "%s",
            p->study->finals.top <= 0 ? "The study asks for no finals."
            : progress.state == TRI_CTL_ENDED
                    ? "The study ended without results of finals."
                    : "No finals were held yet: they come once the search "
                      "has ended.");
}

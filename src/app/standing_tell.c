/*
 * How a study stands, as JSON and for people.
 */
#include "src/app/standing.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- JSON ------------------------------------------------------------ */

static json_t *best_json(const tri_app_standing *s)
{
    tri_standing best;
    int finals = tri_app_standing_best(s, &best);
    tri_trial_view v;
    json_t *o;

    if (best.trial < 0) {
        return json_null();
    }
    tri_ctl_trial(s->ctl, best.trial, &v);
    o = json_object();
    json_object_set_new(o, "trial", json_integer(best.trial));
    json_object_set_new(o, "objective", tri_app_json_real(best.objective));
    json_object_set_new(o, "lo", tri_app_json_real(best.lo));
    json_object_set_new(o, "hi", tri_app_json_real(best.hi));
    json_object_set_new(o, "from", json_string(finals ? "finals" : "search"));
    json_object_set_new(
            o, "configuration",
            tri_app_json_config(tri_ctl_study(s->ctl)->space, v.config));
    return o;
}

static json_t *rungs_json(const tri_app_standing *s)
{
    tri_rung_view rungs[TRI_APP_RUNGS];
    int n = tri_app_standing_rungs(s, rungs, TRI_APP_RUNGS);
    json_t *a = json_array();

    for (int i = 0; i < n; i++) {
        json_t *o = json_object();

        json_object_set_new(o, "bracket", json_integer(rungs[i].bracket));
        json_object_set_new(o, "rung", json_integer(rungs[i].rung));
        json_object_set_new(o, "resource", json_integer(rungs[i].resource));
        json_object_set_new(o, "results", json_integer(rungs[i].results));
        json_object_set_new(o, "promoted", json_integer(rungs[i].promoted));
        json_object_set_new(o, "running", json_integer(rungs[i].running));
        json_array_append_new(a, o);
    }
    return a;
}

json_t *tri_app_standing_json(const tri_app_standing *s)
{
    const tri_progress *p = &s->progress;
    json_t *o = json_object();
    json_t *ranks = json_object();

    json_object_set_new(ranks, "total", json_integer(p->ranks_total));
    json_object_set_new(ranks, "busy", json_integer(p->ranks_busy));
    json_object_set_new(ranks, "struck", json_integer(p->ranks_struck));
    json_object_set_new(ranks, "lost", json_integer(p->ranks_lost));
    json_object_set_new(ranks, "benched", json_integer(p->ranks_benched));
    json_object_set_new(o, "study",
                        tri_app_json_text(tri_ctl_study(s->ctl)->name));
    json_object_set_new(o, "state", json_string(tri_app_standing_state(s)));
    json_object_set_new(o, "epoch", json_integer(s->epoch));
    json_object_set_new(o, "age_s", tri_app_json_real(s->age_s));
    json_object_set_new(o, "time_s", tri_app_json_real(p->time_s));
    json_object_set_new(o, "trials", json_integer(p->trials));
    json_object_set_new(o, "runs", json_integer(p->runs));
    json_object_set_new(o, "finished",
                        json_integer(s->tally->ended[TRI_RUN_FINISHED]));
    json_object_set_new(o, "running", json_integer(p->running));
    json_object_set_new(o, "failed", json_integer(p->failed));
    json_object_set_new(o, "parked", json_integer(p->parked));
    json_object_set_new(o, "oversubscribed",
                        json_integer(tri_app_oversubscribed(s->ctl)));
    json_object_set_new(o, "repeated_steps", json_integer(p->repeated_steps));
    json_object_set_new(o, "search",
                        tri_app_searched_json(s->searched, s->ctl));
    json_object_set_new(o, "best", best_json(s));
    json_object_set_new(o, "rungs", rungs_json(s));
    json_object_set_new(o, "ranks", ranks);
    json_object_set_new(o, "failures", tri_app_failures_json(p));
    json_object_set_new(
            o, "deadline_s",
            tri_app_json_real(p->state == TRI_CTL_ENDED ? NAN : p->deadline_s));
    json_object_set_new(o, "fault",
                        s->fault[0] ? tri_app_json_text(s->fault)
                                    : json_null());
    json_object_set_new(o, "why",
                        p->state == TRI_CTL_ENDED
                                ? tri_app_json_text(p->end_why)
                                : json_null());
    json_object_set_new(o, "as_of", json_null());
    return o;
}

/* ---- for people ------------------------------------------------------ */

static void print_rungs(const tri_app_standing *s, FILE *out)
{
    tri_rung_view rungs[TRI_APP_RUNGS];
    int n = tri_app_standing_rungs(s, rungs, TRI_APP_RUNGS);
    tri_app_table *t = tri_app_table_create("rrrrrr");
    static const char *const heads[] = {"bracket", "rung",     "resource",
                                        "results", "promoted", "running"};

    for (int i = 0; t && i < 6; i++) {
        tri_app_table_cell(t, heads[i]);
    }
    for (int i = 0; t && i < n; i++) {
        tri_app_table_int(t, rungs[i].bracket);
        tri_app_table_int(t, rungs[i].rung);
        tri_app_table_int(t, rungs[i].resource);
        tri_app_table_int(t, rungs[i].results);
        tri_app_table_int(t, rungs[i].promoted);
        tri_app_table_int(t, rungs[i].running);
    }
    if (t && n > 0) {
        tri_app_table_print(t, out);
    }
    tri_app_table_destroy(t);
}

static void print_best(const tri_app_standing *s, FILE *out)
{
    tri_standing best;
    int finals = tri_app_standing_best(s, &best);
    char value[160];
    char config[1024];

    if (best.trial < 0) {
        fputs("best      none yet\n", out);
        return;
    }
    tri_app_objective(tri_ctl_study(s->ctl), best.objective, best.lo, best.hi,
                      value, sizeof value);
    fprintf(out, "best      trial %" PRId64 ": %s (%s)\n          %s\n",
            best.trial, value,
            finals ? "winner of the finals" : "best result of the search",
            tri_app_config_brief(s->ctl, best.trial, config, sizeof config));
}

void tri_app_standing_head(const tri_app_head *h, FILE *out)
{
    char age[32];
    char time[32];

    fprintf(out, "study     %s: %s, opening %d\n", h->study, h->state,
            h->epoch);
    if (h->why && h->why[0]) {
        fprintf(out, "end       %s\n", h->why);
    }
    if (h->fault && h->fault[0]) {
        fprintf(out, "fault     %s; tune --resume goes on\n", h->fault);
    }
    fprintf(out, "time      %s of study time, last change %s ago\n",
            tri_app_duration(h->time_s, time, sizeof time),
            tri_app_duration(h->age_s, age, sizeof age));
}

static void print_runs(const tri_app_standing *s, FILE *out)
{
    const tri_progress *p = &s->progress;
    const int64_t *ended = s->tally->ended;

    fprintf(out,
            "trials    %" PRId64 ", %" PRId64 " failed, %" PRId64 " parked\n",
            p->trials, p->failed, p->parked);
    fprintf(out,
            "runs      %" PRId64 ": %" PRId64 " finished, %" PRId64
            " failed, %" PRId64 " lost or interrupted, %" PRId64
            " stopped, %" PRId64 " running\n",
            p->runs, ended[TRI_RUN_FINISHED], ended[TRI_RUN_FAILED],
            ended[TRI_RUN_LOST] + ended[TRI_RUN_INTERRUPTED],
            ended[TRI_RUN_STOPPED], p->running);
    if (p->repeated_steps > 0) {
        fprintf(out,
                "waste     %" PRId64 " steps done again after interruptions "
                "and losses\n",
                p->repeated_steps);
    }
}

void tri_app_standing_rest(const tri_app_standing *s, FILE *out)
{
    const tri_progress *p = &s->progress;
    char search[800];

    fprintf(out, "search    %s\n",
            tri_app_searched_text(s->searched, s->ctl, search, sizeof search));
    print_runs(s, out);
    fprintf(out, "ranks     %d busy of %d, %d struck, %d lost", p->ranks_busy,
            p->ranks_total, p->ranks_struck, p->ranks_lost);
    if (p->ranks_benched > 0) {
        fprintf(out, ", %d slow and benched", p->ranks_benched);
    }
    fprintf(out, "\n");
    tri_app_oversubscribed_print(s->ctl, out);
    print_best(s, out);
    print_rungs(s, out);
}

void tri_app_standing_print(const tri_app_standing *s, FILE *out)
{
    const tri_progress *p = &s->progress;
    tri_app_head head = {
            .study = tri_ctl_study(s->ctl)->name,
            .state = tri_app_standing_state(s),
            .epoch = s->epoch,
            .why = p->state == TRI_CTL_ENDED ? p->end_why : NULL,
            .fault = s->fault,
            .time_s = p->time_s,
            .age_s = s->age_s,
    };

    tri_app_standing_head(&head, out);
    tri_app_standing_rest(s, out);
    tri_app_failures_print(s->ctl, out);
}

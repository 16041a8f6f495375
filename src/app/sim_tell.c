/*
 * What a simulation found, for people and as JSON.
 */
#include "src/app/sim_tell.h"

#include "src/app/app.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static json_t *point_json(const tri_sim_point *p)
{
    json_t *a = json_array();

    json_array_append_new(a, json_integer(p->evaluation));
    json_array_append_new(a, tri_app_json_real(p->virtual_s));
    json_array_append_new(a, json_integer(p->trial));
    json_array_append_new(a, json_integer(p->rung));
    json_array_append_new(a, tri_app_json_real(p->objective));
    json_array_append_new(a, tri_app_json_real(p->best));
    return a;
}

static const char *const shares[] = {"1%", "2%", "5%"};

static void add_optimum(json_t *o, const tri_sim_result *r)
{
    json_t *evaluations = json_object();
    json_t *rank_seconds = json_object();

    for (int i = 0; i < 3; i++) {
        json_object_set_new(evaluations, shares[i],
                            r->evaluations_to[i] < 0
                                    ? json_null()
                                    : json_integer(r->evaluations_to[i]));
        json_object_set_new(rank_seconds, shares[i],
                            tri_app_json_real(r->rank_seconds_to[i]));
    }
    json_object_set_new(o, "optimum", tri_app_json_real(r->optimum));
    json_object_set_new(o, "evaluations_to", evaluations);
    json_object_set_new(o, "rank_seconds_to", rank_seconds);
}

static json_t *best_configuration(const tri_sim_result *r, const tri_ctl *ctl)
{
    tri_trial_view v;

    if (r->best_trial < 0) {
        return json_null();
    }
    tri_ctl_trial(ctl, r->best_trial, &v);
    return tri_app_json_config(tri_ctl_study(ctl)->space, v.config);
}

/* Runs flagged for slow ranks. */
static int64_t n_flagged(const tri_ctl *ctl)
{
    int64_t n = 0;

    for (int64_t i = 0; i < tri_ctl_n_runs(ctl); i++) {
        tri_run_view v;

        tri_ctl_run(ctl, i, &v);
        n += v.slow == TRI_SLOW_FLAGGED;
    }
    return n;
}

static void add_slow(json_t *o, const tri_ctl *ctl)
{
    json_t *slow = json_object();
    tri_progress p;

    tri_ctl_progress(ctl, &p);
    json_object_set_new(slow, "remeasured", json_integer(p.remeasured));
    json_object_set_new(slow, "flagged", json_integer(n_flagged(ctl)));
    json_object_set_new(slow, "benched", json_integer(p.ranks_benched));
    json_object_set_new(o, "slow", slow);
}

/* What it was searched by, and what ended it. */
static void add_search(json_t *o, const tri_app_searched *searched,
                       const tri_ctl *ctl)
{
    json_t *search = tri_app_searched_json(searched, ctl);
    const tri_app_ending end = tri_app_ending_of(ctl);
    static const char *const keys[] = {"predictor", "tau", "rules"};

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        json_object_set(o, keys[i], json_object_get(search, keys[i]));
    }
    json_decref(search);
    json_object_set_new(o, "ended_by",
                        end.by[0] ? json_string(end.by) : json_null());
    json_object_set_new(o, "finals", json_integer(end.finals));
    json_object_set_new(o, "finals_s", tri_app_json_real(end.finals_s));
}

static void print_json(const tri_app_sim_told *t)
{
    const tri_sim_result *r = t->result;
    const tri_ctl *ctl = t->ctl;
    json_t *o = json_object();
    json_t *history = json_array();

    for (int64_t i = 0; i < r->n_history; i++) {
        json_array_append_new(history, point_json(&r->history[i]));
    }
    json_object_set_new(o, "best", tri_app_json_real(r->best));
    json_object_set_new(o, "best_trial",
                        r->best_trial < 0 ? json_null()
                                          : json_integer(r->best_trial));
    json_object_set_new(o, "configuration", best_configuration(r, ctl));
    json_object_set_new(o, "evaluations", json_integer(r->evaluations));
    json_object_set_new(o, "distinct", json_integer(r->distinct));
    json_object_set_new(o, "rank_seconds", tri_app_json_real(r->rank_seconds));
    json_object_set_new(o, "virtual_s", tri_app_json_real(r->virtual_s));
    json_object_set_new(o, "jobs", json_integer(r->jobs));
    json_object_set_new(o, "repeated_steps", json_integer(r->repeated_steps));
    add_search(o, t->searched, ctl);
    add_optimum(o, r);
    if (t->recorded) {
        json_object_set_new(o, "missing", json_integer(r->missing));
    }
    if (t->slow) {
        add_slow(o, ctl);
    }
    json_object_set_new(o, "history", history);
    tri_app_json_print(o);
}

static void print_slow(const tri_ctl *ctl)
{
    tri_progress p;

    tri_ctl_progress(ctl, &p);
    printf("slow ranks    %" PRId64 " runs measured again, %" PRId64
           " flagged, %d ranks benched\n",
           p.remeasured, n_flagged(ctl), p.ranks_benched);
}

static void print_search(const tri_app_searched *searched, const tri_ctl *ctl)
{
    const tri_app_ending end = tri_app_ending_of(ctl);
    char text[800];

    printf("search        %s\n",
           tri_app_searched_text(searched, ctl, text, sizeof text));
    if (end.by[0]) {
        printf("ended by      %s%s; ",
               strcmp(end.by, "space") == 0 ? "" : "budget.",
               strcmp(end.by, "space") == 0 ? "nothing left to try" : end.by);
        if (end.finals > 0) {
            printf("the time includes %s of finals (%" PRId64 " runs)\n",
                   tri_app_duration(end.finals_s, text, sizeof text),
                   end.finals);
        } else {
            puts("no finals");
        }
    }
}

static void print_text(const tri_app_sim_told *t)
{
    const tri_sim_result *r = t->result;
    const tri_ctl *ctl = t->ctl;
    char a[32];
    char b[32];
    char config[1024];

    printf("best          %s\n", tri_app_number(r->best, a, sizeof a));
    if (r->best_trial >= 0) {
        printf("configuration %s (trial %" PRId64 ")\n",
               tri_app_config_text(ctl, r->best_trial, config, sizeof config),
               r->best_trial);
    }
    printf("evaluations   %" PRId64 " runs, %" PRId64 " configurations\n",
           r->evaluations, r->distinct);
    printf("virtual time  %s, %s rank-seconds\n",
           tri_app_duration(r->virtual_s, a, sizeof a),
           tri_app_number(r->rank_seconds, b, sizeof b));
    print_search(t->searched, ctl);
    if (t->limited) {
        printf("jobs          %" PRId64 "\n", r->jobs);
    }
    if (r->repeated_steps > 0) {
        printf("waste         %" PRId64 " units of resource done again\n",
               r->repeated_steps);
    }
    if (t->slow) {
        print_slow(ctl);
    }
    if (isnan(r->optimum)) {
        return;
    }
    printf("optimum       %s\n", tri_app_number(r->optimum, a, sizeof a));
    for (int i = 0; i < 3; i++) {
        if (r->evaluations_to[i] >= 0) {
            printf("within %s     after %" PRId64
                   " configurations, %s rank-seconds\n",
                   shares[i], r->evaluations_to[i],
                   tri_app_number(r->rank_seconds_to[i], a, sizeof a));
        }
    }
}

void tri_app_sim_tell(const tri_app_sim_told *t, int json)
{
    if (json) {
        print_json(t);
    } else {
        print_text(t);
    }
}

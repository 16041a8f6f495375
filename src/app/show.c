/*
 * What check shows of a study: its counts, its rules, the plan of its search.
 */
#include "src/app/app.h"

#include "trireme/sched.h"
#include "trireme/space.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define MAX_RUNGS 64

/* ---- the plan -------------------------------------------------------- */

/* Resources of the ladder; returns how many rungs, 0 if unbounded. */
static int ladder(const tri_study *study, int64_t *resources)
{
    const tri_sched_settings settings = {
            .kind = TRI_SCHED_NONE, /* the ladder is the same for all */
            .min = study->resource.min,
            .max = study->resource.max,
            .eta = study->resource.eta,
            .brackets = 1};
    tri_sched *sched = NULL;
    int n;

    if (tri_sched_create(&settings, &sched) != TRI_OK) {
        tri_error_clear();
        return 0;
    }
    n = tri_sched_n_rungs(sched);
    n = n > MAX_RUNGS ? MAX_RUNGS : n;
    for (int i = 0; i < n; i++) {
        resources[i] = tri_sched_resource(sched, i);
    }
    tri_sched_destroy(sched);
    return n;
}

/* The study's own scheduler, or NULL; destroyed by the caller. */
static tri_sched *own_scheduler(const tri_study *study)
{
    tri_sched_settings settings = tri_sched_settings_of(study);
    tri_sched *sched = NULL;

    if (tri_sched_create(&settings, &sched) != TRI_OK) {
        tri_error_clear();
        return NULL;
    }
    return sched;
}

/* [{bracket, configurations: at its rungs}], of those that are laid down. */
static json_t *brackets_json(const tri_study *study)
{
    tri_sched *sched = own_scheduler(study);
    json_t *list = json_array();

    for (int b = 0; sched && b < MAX_RUNGS; b++) {
        json_t *o, *counts;

        if (!tri_sched_planned(sched, b, b)) {
            continue;
        }
        o = json_object();
        counts = json_array();
        for (int k = b; tri_sched_planned(sched, b, k); k++) {
            json_array_append_new(counts,
                                  json_integer(tri_sched_planned(sched, b, k)));
        }
        json_object_set_new(o, "bracket", json_integer(b));
        json_object_set_new(o, "configurations", counts);
        json_array_append_new(list, o);
    }
    tri_sched_destroy(sched);
    return list;
}

static void print_brackets(const tri_study *study)
{
    tri_sched *sched = own_scheduler(study);

    for (int b = 0; sched && b < MAX_RUNGS; b++) {
        for (int k = b; tri_sched_planned(sched, b, k); k++) {
            printf(k > b ? ", %" PRId64 " to %" PRId64
                         : "bracket   %" PRId64 " configurations to %" PRId64,
                   tri_sched_planned(sched, b, k),
                   tri_sched_resource(sched, k));
        }
        if (tri_sched_planned(sched, b, b)) {
            printf("\n");
        }
    }
    tri_sched_destroy(sched);
}

static json_t *limit_json(int64_t v)
{
    return v == TRI_UNLIMITED ? json_null() : json_integer(v);
}

/* Whether configurations are drawn, so that no predictor is asked. */
static int draws(const tri_study *study)
{
    return strcmp(study->search.proposer, "random") == 0 ||
           strcmp(study->search.proposer, "quasi") == 0;
}

static json_t *plan_json(const tri_study *study)
{
    int64_t resources[MAX_RUNGS];
    int n = ladder(study, resources);
    json_t *o = json_object();
    json_t *rungs = json_array();
    json_t *budget = json_object();

    for (int i = 0; i < n; i++) {
        json_array_append_new(rungs, json_integer(resources[i]));
    }
    json_object_set_new(o, "unit",
                        json_string(tri_unit_name(study->resource.unit)));
    json_object_set_new(o, "rungs", rungs);
    json_object_set_new(o, "brackets", brackets_json(study));
    json_object_set_new(o, "eta", json_integer(study->resource.eta));
    json_object_set_new(o, "scheduler",
                        json_string(tri_sched_name(study->scheduler.kind)));
    json_object_set_new(o, "search", tri_app_json_text(study->search.proposer));
    if (!draws(study)) {
        json_object_set_new(o, "predictor",
                            tri_app_json_text(study->search.predictor));
        json_object_set_new(o, "acquisition",
                            tri_app_json_text(study->search.acquisition));
    }
    json_object_set_new(budget, "trials", limit_json(study->budget.trials));
    json_object_set_new(budget, "runs", limit_json(study->budget.runs));
    json_object_set_new(budget, "time_s",
                        study->budget.time_s == TRI_UNLIMITED
                                ? json_null()
                                : tri_app_json_real(study->budget.time_s));
    json_object_set_new(o, "budget", budget);
    json_object_set_new(o, "finals", json_integer(study->finals.top));
    return o;
}

static void print_limit(const char *name, int64_t v)
{
    if (v == TRI_UNLIMITED) {
        printf("any number of %s, ", name);
    } else {
        printf("%" PRId64 " %s, ", v, name);
    }
}

static void print_plan(const tri_study *study)
{
    int64_t resources[MAX_RUNGS];
    int n = ladder(study, resources);
    char buf[32];

    printf("search    %s", study->search.proposer);
    if (!draws(study)) {
        printf(" (predictor %s, acquisition %s, %.3g %% at random)",
               study->search.predictor, study->search.acquisition,
               100 * study->search.random_share);
    }
    printf(", %s, eta %d\n", tri_sched_name(study->scheduler.kind),
           study->resource.eta);
    printf("rungs    ");
    for (int i = 0; i < n; i++) {
        printf(" %" PRId64, resources[i]);
    }
    if (n == 0) {
        printf(" from %" PRId64 ", unbounded", study->resource.min);
    }
    printf(" %s\n", tri_unit_name(study->resource.unit));
    print_brackets(study);
    printf("budget    ");
    print_limit("trials", study->budget.trials);
    print_limit("runs", study->budget.runs);
    printf("%s\n",
           study->budget.time_s == TRI_UNLIMITED
                   ? "any time"
                   : tri_app_duration(study->budget.time_s, buf, sizeof buf));
    if (study->finals.top > 0) {
        printf("finals    best %d%s, %d repeats\n", study->finals.top,
               study->has_baseline ? " and the baseline" : "",
               study->finals.repeats);
    }
}

/* ---- notes ----------------------------------------------------------- */

/* What this host has to say of a study, into buf; 0 where there is no more. */
static int next_note(const tri_study *study, int *at, char *buf, size_t bytes)
{
    static int (*const parts[])(const tri_study *, char *, size_t) = {
            tri_app_command_note, tri_app_checkpoints_note};

    while (*at < (int)(sizeof parts / sizeof *parts)) {
        if (parts[(*at)++](study, buf, bytes)) {
            return 1;
        }
    }
    return 0;
}

/* ---- results --------------------------------------------------------- */

static json_t *rules_json(const tri_space *space)
{
    json_t *a = json_array();

    for (int i = 0; i < tri_space_n_rules(space); i++) {
        double refused = tri_space_rule_refused(space, i);
        json_t *o = json_object();

        json_object_set_new(o, "rule",
                            tri_app_json_text(tri_space_rule(space, i)));
        json_object_set_new(o, "refused", tri_app_json_count(refused));
        json_object_set_new(o, "line",
                            json_integer(tri_space_rule_line(space, i)));
        json_array_append_new(a, o);
    }
    return a;
}

json_t *tri_app_study_json(const tri_study *study)
{
    const tri_space *space = study->space;
    json_t *o = json_object();
    json_t *ranks = json_object();
    json_t *notes = json_array();
    char note[1024];
    int at = 0;
    int lo;
    int hi;

    tri_space_rank_range(space, &lo, &hi);
    json_object_set_new(ranks, "min", json_integer(lo));
    json_object_set_new(ranks, "max", json_integer(hi));
    for (int i = 0; i < study->n_notes; i++) {
        json_array_append_new(notes, tri_app_json_text(study->notes[i]));
    }
    while (next_note(study, &at, note, sizeof note)) {
        json_array_append_new(notes, tri_app_json_text(note));
    }
    json_object_set_new(o, "study", tri_app_json_text(study->name));
    json_object_set_new(o, "model",
                        json_string(tri_model_name(study->model.kind)));
    json_object_set_new(o, "valid",
                        tri_app_json_count((double)tri_space_count(space)));
    json_object_set_new(o, "raw", tri_app_json_count(tri_space_raw(space)));
    json_object_set_new(o, "rules", rules_json(space));
    json_object_set_new(o, "ranks", ranks);
    json_object_set_new(o, "plan", plan_json(study));
    json_object_set_new(o, "notes", notes);
    return o;
}

static void rule_row(tri_app_table *t, const tri_space *space, int rule)
{
    double refused = tri_space_rule_refused(space, rule);
    char line[24] = "model";

    if (tri_space_rule_line(space, rule) > 0) {
        snprintf(line, sizeof line, "%d", tri_space_rule_line(space, rule));
    }
    if (refused < 0) {
        tri_app_table_cell(t, "not counted");
    } else {
        tri_app_table_number(t, refused);
    }
    tri_app_table_cell(t, line);
    tri_app_table_cell(t, tri_space_rule(space, rule));
}

/* The study's own rules, and those of the model that refuse something. */
static void print_rules(const tri_space *space)
{
    tri_app_table *t = tri_app_table_create("rll");
    int n = tri_space_n_rules(space);
    int silent = 0;

    if (!t || n == 0) {
        tri_app_table_destroy(t);
        return;
    }
    tri_app_table_cell(t, "refused");
    tri_app_table_cell(t, "line");
    tri_app_table_cell(t, "rule");
    for (int i = 0; i < n; i++) {
        if (tri_space_rule_line(space, i) > 0 ||
            tri_space_rule_refused(space, i) != 0) {
            rule_row(t, space, i);
        } else {
            silent++;
        }
    }
    if (silent < n) {
        tri_app_table_print(t, stdout);
    }
    if (silent > 0) {
        printf("%d rule%s of the model refuse%s nothing\n", silent,
               silent == 1 ? "" : "s", silent == 1 ? "s" : "");
    }
    tri_app_table_destroy(t);
}

void tri_app_study_print(const tri_study *study)
{
    char note[1024];
    int at = 0;
    const tri_space *space = study->space;
    char raw[32];
    int lo;
    int hi;

    tri_space_rank_range(space, &lo, &hi);
    printf("study     %s (%s)\n", study->name,
           tri_model_name(study->model.kind));
    if (tri_space_count(space) < 0) {
        printf("valid     %s\n", isinf(tri_space_raw(space))
                                         ? "infinitely many (continuous "
                                           "parameters)"
                                         : "more than can be numbered");
    } else if (isinf(tri_space_raw(space))) {
        printf("valid     0 (continuous parameters)\n");
    } else {
        printf("valid     %" PRId64 " of %s points\n", tri_space_count(space),
               tri_app_number(tri_space_raw(space), raw, sizeof raw));
    }
    if (lo == hi) {
        printf("ranks     %d a configuration\n", lo);
    } else {
        printf("ranks     %d to %d a configuration\n", lo, hi);
    }
    print_plan(study);
    for (int i = 0; i < study->n_notes; i++) {
        printf("note      %s\n", study->notes[i]);
    }
    while (next_note(study, &at, note, sizeof note)) {
        printf("note      %s\n", note);
    }
    print_rules(space);
}

/*
 * trireme check: what a study file says, whether it can be searched, and what
 * a search would do.  Needs no MPI and starts none.
 */
#include "src/app/app.h"

#include "trireme/rng.h"
#include "trireme/sched.h"
#include "trireme/space.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Up to so many configurations are counted one by one for --ranks; of larger
 * sets so many samples are drawn. */
#define MAX_COUNTED  2000000
#define N_SAMPLES    100000
#define DEFAULT_LIST 10
#define MAX_RUNGS    64

typedef struct check_options {
    tri_app_common common;
    int64_t ranks; /* 0: not asked */
    const char *why;
    int64_t list; /* 0: not asked */
} check_options;

enum {
    KEY_RANKS = 0x2001,
    KEY_WHY,
    KEY_LIST
};

static const struct argp_option options[] = {
        {"ranks", KEY_RANKS, "N", 0,
         "How many valid configurations fit in N worker ranks", 0},
        {"why", KEY_WHY, "ASSIGNMENTS", 0, "Why 'dp=2,tp=3' is valid or is not",
         0},
        {"list", KEY_LIST, "K", OPTION_ARG_OPTIONAL,
         "The first K valid configurations (10)", 0},
        {0}};

static int is_number(const char *text)
{
    for (const char *p = text; *p; p++) {
        if (!isdigit((unsigned char)*p)) {
            return 0;
        }
    }
    return *text != '\0';
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    check_options *o = state->input;

    switch (key) {
    case KEY_RANKS:
        return tri_app_int("ranks", arg, 1, INT32_MAX, &o->ranks);
    case KEY_WHY:
        o->why = arg;
        return 0;
    case KEY_LIST:
        o->list = DEFAULT_LIST;
        return arg ? tri_app_int("list", arg, 1, INT32_MAX, &o->list) : 0;
    case ARGP_KEY_ARG:
        if (o->list && is_number(arg)) { /* "--list 5" */
            return tri_app_int("list", arg, 1, INT32_MAX, &o->list);
        }
        return tri_app_parse_other(key, arg, state);
    default:
        return tri_app_parse_other(key, arg, state);
    }
}

static const struct argp argp = {
        options,
        parse,
        "STUDY.yaml",
        "Validate a study file, count its configurations and show the plan.",
        tri_app_common_child,
        NULL,
        NULL};

/* ---- --ranks --------------------------------------------------------- */

typedef struct fitting {
    double n;
    int exact;
} fitting;

static int fits(const tri_space *space, const tri_config *c, int64_t limit)
{
    int ranks = 0;

    return tri_space_ranks(space, c, &ranks) == TRI_OK && ranks <= limit;
}

static tri_status count_one_by_one(const tri_space *space, int64_t limit,
                                   tri_config *c, fitting *out)
{
    int64_t n = 0;

    for (int64_t i = 0; i < tri_space_count(space); i++) {
        TRI_TRY(tri_space_at(space, i, c));
        n += fits(space, c, limit);
    }
    out->n = (double)n;
    out->exact = 1;
    return TRI_OK;
}

static tri_status count_by_samples(const tri_space *space, int64_t limit,
                                   tri_config *c, fitting *out)
{
    tri_rng rng = tri_rng_stream(0, 0, TRI_RNG_RANDOM);
    int64_t count = tri_space_count(space);
    int n = 0;

    for (int i = 0; i < N_SAMPLES; i++) {
        TRI_TRY(tri_space_sample(space, &rng, c));
        n += fits(space, c, limit);
    }
    out->n = count < 0 ? (n ? INFINITY : 0)
                       : floor((double)n / N_SAMPLES * (double)count);
    out->exact = 0;
    return TRI_OK;
}

/* How many valid configurations need at most `limit` ranks. */
static tri_status count_fitting(const tri_space *space, int64_t limit,
                                fitting *out)
{
    int64_t count = tri_space_count(space);
    tri_config *c;
    tri_status st;
    int lo;
    int hi;

    tri_space_rank_range(space, &lo, &hi);
    if (limit >= hi || limit < lo) {
        double all = count < 0 ? INFINITY : (double)count;

        *out = (fitting){limit >= hi ? all : 0, 1};
        return TRI_OK;
    }
    c = calloc((size_t)tri_space_n_params(space) + 1, sizeof *c);
    if (!c) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a configuration");
    }
    st = count >= 0 && count <= MAX_COUNTED
                 ? count_one_by_one(space, limit, c, out)
                 : count_by_samples(space, limit, c, out);
    free(c);
    return st;
}

static tri_status judge_fitting(const tri_study *study, int64_t limit,
                                fitting *out)
{
    int lo;
    int hi;

    TRI_TRY(count_fitting(study->space, limit, out));
    if (out->n > 0) {
        return TRI_OK;
    }
    tri_space_rank_range(study->space, &lo, &hi);
    return TRI_FAIL(TRI_EEMPTY,
                    "no valid configuration fits in %" PRId64
                    " ranks; the smallest needs %d",
                    limit, lo);
}

/* ---- --list ---------------------------------------------------------- */

typedef void (*each_fn)(const tri_space *space, const tri_config *c, void *ctx);

static tri_status each_listed(const tri_study *study, int64_t max, each_fn each,
                              void *ctx)
{
    const tri_space *space = study->space;
    int64_t count = tri_space_count(space);
    tri_rng rng = tri_rng_stream(study->seed, 0, TRI_RNG_RANDOM);
    tri_config *c = calloc((size_t)tri_space_n_params(space) + 1, sizeof *c);
    tri_status st = TRI_OK;

    if (!c) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a configuration");
    }
    for (int64_t i = 0; i < max && (count < 0 || i < count); i++) {
        st = count < 0 ? tri_space_sample(space, &rng, c)
                       : tri_space_at(space, i, c);
        if (st != TRI_OK) {
            break;
        }
        each(space, c, ctx);
    }
    free(c);
    return st;
}

static void append_json(const tri_space *space, const tri_config *c, void *ctx)
{
    json_array_append_new(ctx, tri_app_json_config(space, c));
}

static void print_line(const tri_space *space, const tri_config *c, void *ctx)
{
    char buf[2048];

    tri_space_print(space, c, buf, sizeof buf);
    fprintf(ctx, "%s\n", buf);
}

/* ---- the plan -------------------------------------------------------- */

/* Resources of the ladder; returns how many rungs, 0 if unbounded. */
static int ladder(const tri_study *study, int64_t *resources)
{
    const tri_sched_settings settings = {
            study->scheduler.kind,    study->resource.min,
            study->resource.max,      study->resource.eta,
            study->scheduler.bracket, study->scheduler.brackets};
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

static json_t *limit_json(int64_t v)
{
    return v == TRI_UNLIMITED ? json_null() : json_integer(v);
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
    json_object_set_new(o, "eta", json_integer(study->resource.eta));
    json_object_set_new(o, "scheduler",
                        json_string(tri_sched_name(study->scheduler.kind)));
    json_object_set_new(o, "search", tri_app_json_text(study->search.proposer));
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

    printf("search    %s, %s, eta %d\n", study->search.proposer,
           tri_sched_name(study->scheduler.kind), study->resource.eta);
    printf("rungs    ");
    for (int i = 0; i < n; i++) {
        printf(" %" PRId64, resources[i]);
    }
    if (n == 0) {
        printf(" from %" PRId64 ", unbounded", study->resource.min);
    }
    printf(" %s\nbudget    ", tri_unit_name(study->resource.unit));
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

/* ---- results --------------------------------------------------------- */

static json_t *rules_json(const tri_space *space)
{
    json_t *a = json_array();

    for (int i = 0; i < tri_space_n_rules(space); i++) {
        double refused = tri_space_rule_refused(space, i);
        json_t *o = json_object();

        json_object_set_new(o, "rule",
                            tri_app_json_text(tri_space_rule(space, i)));
        json_object_set_new(o, "refused",
                            refused < 0 ? json_null()
                            : refused < 9.0e15
                                    ? json_integer((json_int_t)refused)
                                    : tri_app_json_real(refused));
        json_object_set_new(o, "line",
                            json_integer(tri_space_rule_line(space, i)));
        json_array_append_new(a, o);
    }
    return a;
}

static json_t *count_json(double v)
{
    if (isfinite(v) && v >= 0 && v < 9.0e15) {
        return json_integer((json_int_t)v);
    }
    return tri_app_json_real(v < 0 ? NAN : v);
}

static json_t *study_json(const tri_study *study)
{
    const tri_space *space = study->space;
    json_t *o = json_object();
    json_t *ranks = json_object();
    json_t *notes = json_array();
    int lo;
    int hi;

    tri_space_rank_range(space, &lo, &hi);
    json_object_set_new(ranks, "min", json_integer(lo));
    json_object_set_new(ranks, "max", json_integer(hi));
    for (int i = 0; i < study->n_notes; i++) {
        json_array_append_new(notes, tri_app_json_text(study->notes[i]));
    }
    json_object_set_new(o, "study", tri_app_json_text(study->name));
    json_object_set_new(o, "model",
                        json_string(tri_model_name(study->model.kind)));
    json_object_set_new(o, "valid", count_json((double)tri_space_count(space)));
    json_object_set_new(o, "raw", count_json(tri_space_raw(space)));
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
    tri_app_table_number(t, refused < 0 ? NAN : refused);
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

static void print_study(const tri_study *study)
{
    const tri_space *space = study->space;
    char raw[32];
    int lo;
    int hi;

    tri_space_rank_range(space, &lo, &hi);
    printf("study     %s (%s)\n", study->name,
           tri_model_name(study->model.kind));
    if (tri_space_count(space) < 0) {
        printf("valid     any number of configurations\n");
    } else {
        printf("valid     %" PRId64 " of %s points\n", tri_space_count(space),
               tri_app_number(tri_space_raw(space), raw, sizeof raw));
    }
    printf("ranks     %d to %d a configuration\n", lo, hi);
    print_plan(study);
    for (int i = 0; i < study->n_notes; i++) {
        printf("note      %s\n", study->notes[i]);
    }
    print_rules(space);
}

/* ---- the three questions --------------------------------------------- */

static int answer_why(const tri_study *study, const check_options *o)
{
    tri_why why = {0};

    if (tri_space_why(study->space, o->why, &why) != TRI_OK) {
        return tri_app_fail();
    }
    if (o->common.json) {
        json_t *j = json_object();

        json_object_set_new(j, "valid", json_boolean(why.valid));
        json_object_set_new(j, "rule", tri_app_json_text(why.rule));
        json_object_set_new(j, "line",
                            why.rule ? json_integer(why.line) : json_null());
        json_object_set_new(j, "values", tri_app_json_text(why.values));
        tri_app_json_print(j);
    } else if (why.valid) {
        puts("valid");
    } else if (why.line > 0) {
        printf("%s:%d: refused by '%s': %s\n", study->path, why.line, why.rule,
               why.values);
    } else {
        printf("refused by '%s': %s\n", why.rule, why.values);
    }
    return TRI_EXIT_DONE;
}

static tri_status judge(const tri_study *study, const check_options *o,
                        fitting *fit)
{
    TRI_TRY(tri_app_study_not_empty(study));
    TRI_TRY(tri_app_study_ready(study));
    if (o->ranks > 0) {
        TRI_TRY(judge_fitting(study, o->ranks, fit));
    }
    return TRI_OK;
}

/* The keys of the last error, beside the list `errors`. */
static void add_error(json_t *o)
{
    json_t *e = tri_app_error_json();
    json_t *list = json_array();

    json_array_append(list, e);
    json_object_set_new(o, "errors", list);
    json_object_update(o, e);
    json_decref(e);
}

static void add_fitting(json_t *o, int64_t ranks, const fitting *fit)
{
    json_t *f = json_object();

    json_object_set_new(f, "ranks", json_integer(ranks));
    json_object_set_new(f, "valid", count_json(fit->n));
    json_object_set_new(f, "exact", json_boolean(fit->exact));
    json_object_set_new(o, "fits", f);
}

static int answer_json(const tri_study *study, const check_options *o)
{
    json_t *j = study_json(study);
    fitting fit = {0, 0};
    tri_status st = judge(study, o, &fit);

    if (o->ranks > 0 && (st == TRI_OK || st == TRI_EEMPTY)) {
        add_fitting(j, o->ranks, &fit);
    }
    if (st == TRI_OK && o->list > 0) {
        json_t *list = json_array();

        st = each_listed(study, o->list, append_json, list);
        json_object_set_new(j, "list", list);
    }
    if (st != TRI_OK) {
        add_error(j);
    } else {
        json_object_set_new(j, "errors", json_array());
    }
    tri_app_json_print(j);
    return tri_app_exit_of(st);
}

static int answer_text(const tri_study *study, const check_options *o)
{
    fitting fit = {0, 0};
    char n[32];

    if (o->list == 0) {
        print_study(study);
    }
    if (judge(study, o, &fit) != TRI_OK) {
        fflush(stdout);
        return tri_app_fail();
    }
    if (o->ranks > 0) {
        printf("fits      %s%s configurations in %" PRId64 " ranks\n",
               fit.exact ? "" : "about ", tri_app_number(fit.n, n, sizeof n),
               o->ranks);
    }
    if (o->list > 0 &&
        each_listed(study, o->list, print_line, stdout) != TRI_OK) {
        return tri_app_fail();
    }
    return TRI_EXIT_DONE;
}

/* A file that is no study: the same shape, nothing known. */
static int answer_bad_file(const check_options *o)
{
    tri_status st = tri_error_last()->code;
    json_t *j;
    json_t *ranks;

    if (!o->common.json || o->why) {
        return tri_app_fail();
    }
    j = json_object();
    ranks = json_object();
    json_object_set_new(j, "valid", json_null());
    json_object_set_new(j, "raw", json_null());
    json_object_set_new(j, "rules", json_array());
    json_object_set_new(ranks, "min", json_null());
    json_object_set_new(ranks, "max", json_null());
    json_object_set_new(j, "ranks", ranks);
    add_error(j);
    tri_app_json_print(j);
    return tri_app_exit_of(st);
}

int tri_app_check(int argc, char **argv)
{
    check_options o = {.ranks = 0};
    tri_study *study = NULL;
    int status = tri_app_parse(&argp, argc, argv, &o.common, "STUDY.yaml");

    if (status >= 0) {
        return status;
    }
    if (tri_app_study(o.common.file, &study) != TRI_OK) {
        return answer_bad_file(&o);
    }
    if (o.why) {
        status = answer_why(study, &o);
    } else if (o.common.json) {
        status = answer_json(study, &o);
    } else {
        status = answer_text(study, &o);
    }
    tri_study_destroy(study);
    return status;
}

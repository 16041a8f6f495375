/*
 * trireme check: what a study file says, whether it can be searched, and what
 * a search would do.  Needs no MPI and starts none.
 */
#include "src/app/app.h"

#include "trireme/rng.h"
#include "trireme/space.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Samples for --ranks where the set cannot be counted. */
#define N_SAMPLES    100000
#define DEFAULT_LIST 10
#define MAX_RUNGS    64

typedef struct check_options {
    tri_app_common common;
    int64_t ranks; /* 0: not asked */
    const char *why;
    int64_t list; /* 0: not asked */
    const char *table;
} check_options;

enum {
    KEY_RANKS = 0x2001,
    KEY_WHY,
    KEY_LIST,
    KEY_TABLE
};

static const struct argp_option options[] = {
        {"ranks", KEY_RANKS, "N", 0,
         "How many valid configurations fit in N worker ranks", 0},
        {"why", KEY_WHY, "ASSIGNMENTS", 0, "Why 'dp=2,tp=3' is valid or is not",
         0},
        {"list", KEY_LIST, "K", OPTION_ARG_OPTIONAL,
         "The first K valid configurations (10)", 0},
        TRI_APP_TABLE_OPTION(KEY_TABLE),
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
    case KEY_TABLE:
        o->table = arg;
        return 0;
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
    int64_t n = tri_space_count_within(space, (int)limit);
    tri_config *c;
    tri_status st;
    int lo;
    int hi;

    tri_space_rank_range(space, &lo, &hi);
    if (n >= 0 || limit >= hi) {
        *out = (fitting){n < 0 ? INFINITY : (double)n, 1};
        return TRI_OK;
    }
    c = calloc((size_t)tri_space_n_params(space) + 1, sizeof *c);
    if (!c) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a configuration");
    }
    st = count_by_samples(space, limit, c, out);
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
    json_object_set_new(f, "valid", tri_app_json_count(fit->n));
    json_object_set_new(f, "exact", json_boolean(fit->exact));
    json_object_set_new(o, "fits", f);
}

static int answer_json(const tri_study *study, const check_options *o)
{
    json_t *j = tri_app_study_json(study);
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
    return tri_status_exit(st);
}

static int answer_text(const tri_study *study, const check_options *o)
{
    fitting fit = {0, 0};
    char n[32];

    if (o->list == 0) {
        tri_app_study_print(study);
    }
    if (judge(study, o, &fit) != TRI_OK) {
        fflush(stdout);
        return tri_app_fail();
    }
    if (o->ranks > 0) {
        printf("fits      %s%s configurations in %" PRId64 " ranks\n",
               fit.exact || isinf(fit.n) ? "" : "about ",
               isinf(fit.n) ? "infinitely many"
                            : tri_app_number(fit.n, n, sizeof n),
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
    return tri_status_exit(st);
}

int tri_app_check(int argc, char **argv)
{
    check_options o = {.ranks = 0};
    tri_study *study = NULL;
    int status = tri_app_parse(&argp, argc, argv, &o.common, "STUDY.yaml");

    if (status >= 0) {
        return status;
    }
    if (tri_app_study_with(o.common.file, o.table, NULL, &study) != TRI_OK) {
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

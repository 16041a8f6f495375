/*
 * Simulations of what if, several seeds of each, and how they compare: distinct
 * configurations and rank-seconds until one is within a share of the best.
 */
#include "src/app/what_if.h"

#include "src/app/story.h"
#include "src/app/thinker.h"

#include "trireme/sim.h"
#include "trireme/stats.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SHARES TRI_WHAT_IF_SHARES

static const char *const names[SHARES] = {"1%", "2%", "5%"};

typedef tri_what_if_way way;

typedef struct comparison {
    const tri_what_if *asked;
    tri_story story;
    tri_what_if_source source;
    way ways[TRI_WHAT_IF_MOST + 2]; /* as it went, as recorded, with ... */
    int n;
} comparison;

/* ---- simulating ------------------------------------------------------------
 */

static tri_status simulate(const tri_what_if_source *s, way *w,
                           const tri_what_if_run *run, int k)
{
    tri_app_thinker thinker = {.study = run->study, .quiet = 1};
    tri_sim_settings set;
    tri_sim_result result = {0};
    tri_ctl *ctl = NULL;
    tri_status st;

    tri_sim_defaults(&set);
    set.workers = (int)w->set.workers;
    set.optimum = s->best;
    set.seed = thinker.seed = run->study->seed = w->set.seed + (uint64_t)k;
    if (tri_app_may_think(run->study)) {
        set.think = tri_app_think;
        set.think_ctx = &thinker;
    }
    st = tri_sim_run(run->study, run->curve, &set, &result, &ctl);
    tri_app_thinker_fini(&thinker);
    TRI_TRY(st);
    st = tri_what_if_way_add(s, w, ctl);
    tri_sim_result_fini(&result);
    tri_ctl_destroy(ctl);
    return st;
}

static tri_status try_way(comparison *c, way *w)
{
    tri_what_if_run run;
    tri_status st = TRI_OK;

    TRI_TRY(tri_what_if_way_init(w, c->asked->repeats));
    TRI_TRY(tri_what_if_run_init(&c->source, &w->set, &run));
    for (int k = 0; st == TRI_OK && k < c->asked->repeats; k++) {
        st = simulate(&c->source, w, &run, k);
    }
    tri_what_if_run_fini(&run);
    return st;
}

/* ---- as it went ------------------------------------------------------ */

/* Seconds of a table or synthetic curves are nobody's: they are as long as the
 * study says. */
static void forget_seconds(way *w)
{
    for (int i = 0; i < SHARES; i++) {
        w->rank_s[i][0] = NAN;
    }
    w->all_rank_s[0] = w->virtual_s[0] = NAN;
}

static tri_status as_it_went(comparison *c, way *w)
{
    TRI_TRY(tri_what_if_way_init(w, 1));
    TRI_TRY(tri_what_if_way_add(&c->source, w, c->story.ctl));
    if (c->source.whole) {
        forget_seconds(w);
    }
    return TRI_OK;
}

/* ---- comparing ------------------------------------------------------- */

static int by_number(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Infinite where the half never came to an end: the upper middle one. */
static double median(const double *x, int n)
{
    double sorted[1000];

    for (int i = 0; i < n; i++) {
        if (isnan(x[i])) {
            return NAN;
        }
    }
    memcpy(sorted, x, (size_t)n * sizeof *x);
    qsort(sorted, (size_t)n, sizeof *sorted, by_number);
    if (n == 0) {
        return NAN;
    }
    return n % 2 || isinf(sorted[n / 2])
                   ? sorted[n / 2]
                   : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

static int reached(const way *w, int share)
{
    int n = 0;

    for (int k = 0; k < w->n; k++) {
        n += isfinite(w->evaluations[share][k]);
    }
    return n;
}

/* Seeds of which this way came there with fewer rank-seconds. */
static int fewer(const way *w, const way *base, int share)
{
    int n = 0;

    for (int k = 0; k < w->n && k < base->n; k++) {
        n += w->rank_s[share][k] < base->rank_s[share][k];
    }
    return n;
}

static json_t *numbers_json(double *const *x, int n)
{
    json_t *o = json_object();

    for (int i = 0; i < SHARES; i++) {
        json_object_set_new(o, names[i], tri_app_json_real(median(x[i], n)));
    }
    return o;
}

static json_t *way_json(const comparison *c, const way *w)
{
    json_t *o = json_object();
    json_t *came = json_object();
    json_t *better = json_object();

    for (int i = 0; i < SHARES; i++) {
        json_object_set_new(came, names[i], json_integer(reached(w, i)));
        json_object_set_new(better, names[i],
                            json_integer(fewer(w, &c->ways[1], i)));
    }
    json_object_set_new(o, "name", tri_app_json_text(w->name));
    json_object_set_new(o, "settings",
                        w == c->ways ? json_null()
                                     : tri_what_if_settings_json(&w->set));
    json_object_set_new(o, "repeats", json_integer(w->n));
    json_object_set_new(o, "evaluations_to",
                        numbers_json(w->evaluations, w->n));
    json_object_set_new(o, "rank_seconds_to", numbers_json(w->rank_s, w->n));
    json_object_set_new(o, "reached", came);
    json_object_set_new(o, "fewer",
                        w < c->ways + 2 ? json_null() : json_incref(better));
    json_decref(better);
    json_object_set_new(o, "runs", tri_app_json_real(median(w->runs, w->n)));
    json_object_set_new(o, "rank_seconds",
                        tri_app_json_real(median(w->all_rank_s, w->n)));
    json_object_set_new(o, "virtual_s",
                        tri_app_json_real(median(w->virtual_s, w->n)));
    json_object_set_new(o, "best", tri_app_json_real(median(w->best, w->n)));
    json_object_set_new(o, "best_resource",
                        tri_app_json_real(median(w->best_at, w->n)));
    json_object_set_new(
            o, "stood_in",
            w->all_runs ? json_real((double)w->stood_in / (double)w->all_runs)
                        : json_null());
    return o;
}

static const char *source_name(const comparison *c)
{
    return !c->source.whole                                 ? "record"
           : c->source.study->model.kind == TRI_MODEL_TABLE ? "table"
                                                            : "synthetic";
}

static void print_json(const comparison *c)
{
    const tri_what_if_source *s = &c->source;
    int64_t valid = tri_space_count(s->study->space);
    json_t *o = json_object();
    json_t *source = json_object();
    json_t *list = json_array();

    json_object_set_new(source, "kind", json_string(source_name(c)));
    json_object_set_new(source, "configurations",
                        s->n < 0 ? json_null() : json_integer(s->n));
    json_object_set_new(source, "to_the_top",
                        s->whole ? json_null() : json_integer(s->to_top));
    json_object_set_new(source, "valid",
                        valid < 0 ? json_null() : json_integer(valid));
    for (int i = 0; i < c->n; i++) {
        json_array_append_new(list, way_json(c, &c->ways[i]));
    }
    json_object_set_new(o, "objective", json_string(s->study->objective.name));
    json_object_set_new(o, "best", tri_app_json_real(s->best));
    json_object_set_new(o, "source", source);
    json_object_set_new(o, "repeats", json_integer(c->asked->repeats));
    json_object_set_new(o, "comparison", list);
    tri_app_json_print(o);
}

/* ---- for people ------------------------------------------------------ */

static void print_source(const comparison *c)
{
    const tri_what_if_source *s = &c->source;
    int64_t valid = tri_space_count(s->study->space);
    char all[32];

    if (s->whole) {
        printf("source    the record's own %s, which answers for every "
               "configuration; a search ends after %" PRId64
               " trials, as many as were recorded\n",
               s->study->model.kind == TRI_MODEL_TABLE ? "table"
                                                       : "synthetic curves",
               s->n_trials);
        return;
    }
    snprintf(all, sizeof all, "%" PRId64, valid);
    printf("source    the %" PRId64 " configurations that were measured, of "
           "%s valid ones: nothing else can be tried\n",
           s->n, valid < 0 ? "infinitely many" : all);
    if (s->study->resource.max) {
        printf("          %" PRId64 " of them were measured up to %" PRId64
               " %s; of a longer run than was measured the longest that was "
               "stands in\n",
               s->to_top, s->study->resource.max,
               tri_unit_name(s->study->resource.unit));
    }
}

static void cell_number(tri_app_table *t, double v)
{
    if (isinf(v)) {
        tri_app_table_cell(t, "never");
    } else {
        tri_app_table_number(t, v);
    }
}

static void print_table(const comparison *c)
{
    static const char *const heads[] = {
            "settings", "to 1 %", "rank-s", "to 2 %", "rank-s",  "to 5 %",
            "rank-s",   "best",   "runs",   "rank-s", "seconds", "stood in"};
    tri_app_table *t = tri_app_table_create("lrrrrrrrrrrr");
    char text[32];

    for (int i = 0; t && i < 12; i++) {
        tri_app_table_cell(t, heads[i]);
    }
    for (int i = 0; t && i < c->n; i++) {
        const way *w = &c->ways[i];

        tri_app_table_cell(t, w->name);
        for (int k = 0; k < SHARES; k++) {
            cell_number(t, median(w->evaluations[k], w->n));
            cell_number(t, median(w->rank_s[k], w->n));
        }
        tri_app_table_number(t, median(w->best, w->n));
        tri_app_table_number(t, median(w->runs, w->n));
        tri_app_table_number(t, median(w->all_rank_s, w->n));
        tri_app_table_number(t, median(w->virtual_s, w->n));
        snprintf(text, sizeof text, "%.0f %%",
                 100.0 * (double)w->stood_in /
                         (double)(w->all_runs + !w->all_runs));
        tri_app_table_cell(t, w->all_runs ? text : "-");
    }
    if (t) {
        tri_app_table_print(t, stdout);
    }
    tri_app_table_destroy(t);
}

/* Seeds with which this way found a better one than as recorded; [out] of how
 * many: those whose bests are after the same resource.  After less, a best is a
 * point of an unfinished curve, and compares with none at its end. */
static int better(const comparison *c, const way *w, int *of)
{
    const way *base = &c->ways[1];
    int n = 0;

    *of = 0;
    for (int k = 0; k < w->n && k < base->n; k++) {
        if (w->best_at[k] == base->best_at[k]) {
            ++*of;
            n += c->source.study->objective.maximize
                         ? w->best[k] > base->best[k]
                         : w->best[k] < base->best[k];
        }
    }
    return n;
}

/* Where there is no share that both came to. */
static void print_bests(const comparison *c, const way *w)
{
    int of;
    int n = better(c, w, &of);

    printf("%s: not both come within 5%% with half of the seeds; ", w->name);
    if (of > 0) {
        printf("its best is better than as recorded with %d of %d%s", n, of,
               of < w->n ? ", and " : "\n");
    }
    if (of < w->n) {
        printf("the bests are after unlike %s with %d, which does not compare"
               "\n",
               tri_unit_name(c->source.study->resource.unit), w->n - of);
    }
}

/* How a way compares at the first share that both came to. */
static void print_verdict(const comparison *c, const way *w)
{
    const way *base = &c->ways[1];
    char ratio[32];

    for (int i = 0; i < SHARES; i++) {
        double a = median(base->rank_s[i], base->n);
        double b = median(w->rank_s[i], w->n);
        int more = b > a;

        if (isfinite(a) && isfinite(b) && a > 0 && b > 0) {
            if (fabs(b / a - 1) < 0.005) {
                printf("%s: as many rank-seconds to within %s as recorded\n",
                       w->name, names[i]);
                return;
            }
            printf("%s: %s times %s rank-seconds to within %s than as "
                   "recorded; fewer with %d of %d seeds\n",
                   w->name,
                   tri_app_number(more ? b / a : a / b, ratio, sizeof ratio),
                   more ? "more" : "fewer", names[i], fewer(w, base, i), w->n);
            return;
        }
    }
    print_bests(c, w);
}

static void print_text(const comparison *c)
{
    const tri_what_if_source *s = &c->source;
    char value[160];
    char amount[40];

    print_source(c);
    tri_app_objective(s->study, s->best, NAN, NAN, value, sizeof value);
    if (s->whole) {
        printf("best      %s\n", value);
    } else {
        printf("best      %s after %s, of what the search measured: finals "
               "are left out\n",
               value, tri_app_amount(s->study, s->top, amount, sizeof amount));
    }
    printf("each      median of %d seed%s: configurations measured until one "
           "is within so much of the best, rank-seconds till then; all of "
           "it\n\n",
           c->asked->repeats, c->asked->repeats == 1 ? "" : "s");
    print_table(c);
    putchar('\n');
    for (int i = 2; i < c->n; i++) {
        print_verdict(c, &c->ways[i]);
    }
}

/* ---- the whole ------------------------------------------------------- */

static tri_status prepare(comparison *c)
{
    way *w = c->ways;

    snprintf(w[0].name, sizeof w[0].name, "as it went");
    snprintf(w[1].name, sizeof w[1].name, "as recorded");
    tri_what_if_recorded(c->story.ctl, c->story.seed, &w[1].set);
    c->n = 2;
    for (int i = 0; i < c->asked->n; i++) {
        way *x = &w[c->n++];

        x->with = c->asked->with[i];
        x->set = w[1].set;
        snprintf(x->name, sizeof x->name, "%s", x->with);
        TRI_TRY(tri_what_if_parse(x->with, &x->set));
    }
    return TRI_OK;
}

/* Settings are read before anything is simulated. */
static tri_status check(comparison *c)
{
    for (int i = 2; i < c->n; i++) {
        tri_what_if_run run;

        TRI_TRY(tri_what_if_run_init(&c->source, &c->ways[i].set, &run));
        tri_what_if_run_fini(&run);
    }
    return TRI_OK;
}

static tri_status compare(comparison *c)
{
    TRI_TRY(prepare(c));
    TRI_TRY(tri_what_if_source_init(c->story.ctl, &c->source));
    TRI_TRY(check(c));
    for (int i = 1; i < c->n; i++) {
        TRI_TRY(try_way(c, &c->ways[i]));
    }
    TRI_TRY(as_it_went(c, &c->ways[0]));
    if (c->asked->json) {
        print_json(c);
    } else {
        print_text(c);
    }
    return TRI_OK;
}

tri_status tri_app_what_if(const tri_what_if *asked)
{
    comparison c = {.asked = asked};
    tri_status st;

    TRI_TRY(tri_story_read(asked->file, -1, &c.story));
    st = compare(&c);
    for (int i = 0; i < c.n; i++) {
        free(c.ways[i].numbers);
    }
    tri_what_if_source_fini(&c.source);
    tri_story_fini(&c.story);
    return st;
}

/*
 * The answer of a study, as JSON and for people: the best configurations and
 * the finals against the baseline.  Shared by tune and best; reads a controller
 * and nothing else.
 */
#include "src/app/app.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_TOP      1000
#define CONFIG_BYTES 1024

char *tri_app_config_text(const tri_ctl *ctl, int64_t trial, char *buf,
                          size_t bytes)
{
    tri_trial_view v;

    tri_ctl_trial(ctl, trial, &v);
    tri_space_print(tri_ctl_study(ctl)->space, v.config, buf, bytes);
    return buf;
}

/* Copy one "name=value" word, a long number with six figures; returns its
 * length. */
static size_t copy_word(const char *word, size_t n, char *to, size_t bytes)
{
    const char *value = memchr(word, '=', n);
    size_t head = value ? (size_t)(value - word) + 1 : 0;
    char *end;
    double v = head ? strtod(word + head, &end) : 0;

    if (head && n - head > 8 && end == word + n && isfinite(v) &&
        strcspn(word + head, ".e") < n - head) {
        return (size_t)snprintf(to, bytes, "%.*s%.6g", (int)head, word, v);
    }
    return (size_t)snprintf(to, bytes, "%.*s", (int)n, word);
}

char *tri_app_config_brief(const tri_ctl *ctl, int64_t trial, char *buf,
                           size_t bytes)
{
    char exact[CONFIG_BYTES];
    const char *at = tri_app_config_text(ctl, trial, exact, sizeof exact);
    size_t used = 0;

    buf[0] = '\0';
    while (*at && used + 2 < bytes) {
        size_t n = strcspn(at, " ");

        used += copy_word(at, n, buf + used, bytes - used);
        at += n;
        if (*at && used + 2 < bytes) {
            buf[used++] = *at++;
            buf[used] = '\0';
        }
    }
    return buf;
}

/* ---- more ranks than cores ------------------------------------------- */

static int64_t count_finished(const tri_ctl *ctl, int only_over)
{
    int64_t n = 0;

    for (int64_t i = 0; i < tri_ctl_n_runs(ctl); i++) {
        tri_run_view r;

        tri_ctl_run(ctl, i, &r);
        n += r.state == TRI_RUN_ENDED && r.status == TRI_RUN_FINISHED &&
             (r.oversubscribed || !only_over);
    }
    return n;
}

int64_t tri_app_oversubscribed(const tri_ctl *ctl)
{
    return count_finished(ctl, 1);
}

void tri_app_oversubscribed_print(const tri_ctl *ctl, FILE *out)
{
    int64_t n = tri_app_oversubscribed(ctl);

    if (n > 0) {
        fprintf(out,
                "cores     %" PRId64 " of %" PRId64
                " finished runs had more ranks than cores on a host: their "
                "times say little\n",
                n, count_finished(ctl, 0));
    }
}

/* ---- JSON ------------------------------------------------------------ */

json_t *tri_app_standing_one_json(const tri_ctl *ctl, const tri_standing *s)
{
    const tri_study *study = tri_ctl_study(ctl);
    tri_trial_view v;
    json_t *o;

    if (s->trial < 0) {
        return json_null();
    }
    tri_ctl_trial(ctl, s->trial, &v);
    o = json_object();
    json_object_set_new(o, "trial", json_integer(s->trial));
    json_object_set_new(o, "configuration",
                        tri_app_json_config(study->space, v.config));
    json_object_set_new(o, "objective", tri_app_json_real(s->objective));
    json_object_set_new(o, "lo", tri_app_json_real(s->lo));
    json_object_set_new(o, "hi", tri_app_json_real(s->hi));
    json_object_set_new(o, "ranks", json_integer(s->ranks));
    json_object_set_new(o, "repeats", json_integer(s->repeats));
    json_object_set_new(o, "origin", tri_app_json_text(v.origin));
    json_object_set_new(o, "rung",
                        s->finals ? json_null() : json_integer(v.top_rung));
    json_object_set_new(o, "resource", json_integer(s->resource));
    if (s->ranks > 0 && (study->objective.metric == TRI_METRIC_TOKENS_PER_S ||
                         study->objective.metric == TRI_METRIC_SAMPLES_PER_S)) {
        double per_rank = study->objective.per_rank ? s->objective
                                                    : s->objective / s->ranks;

        json_object_set_new(o, "per_rank", tri_app_json_real(per_rank));
        json_object_set_new(o, "total", tri_app_json_real(per_rank * s->ranks));
    }
    return o;
}

/* On any number of ranks, or on one. */
static int top_of(const tri_ctl *ctl, int ranks, tri_standing *out, int max)
{
    return ranks ? tri_ctl_top_on(ctl, ranks, out, max)
                 : tri_ctl_top(ctl, out, max);
}

json_t *tri_app_top_json(const tri_ctl *ctl, int ranks, int top)
{
    tri_standing *list;
    json_t *a = json_array();
    int n;

    top = top > MAX_TOP ? MAX_TOP : top;
    list = calloc((size_t)top + 1, sizeof *list);
    n = list ? top_of(ctl, ranks, list, top) : 0;
    for (int i = 0; i < n; i++) {
        json_array_append_new(a, tri_app_standing_one_json(ctl, &list[i]));
    }
    free(list);
    return a;
}

json_t *tri_app_answer_json(const tri_ctl *ctl, int top)
{
    json_t *o = json_object();
    json_t *speedup = json_null();
    tri_answer a;

    tri_ctl_answer(ctl, &a);
    json_object_set_new(o, "winner", tri_app_standing_one_json(ctl, &a.winner));
    json_object_set_new(o, "baseline",
                        a.finals ? tri_app_standing_one_json(ctl, &a.baseline)
                                 : json_null());
    if (a.finals && a.baseline.trial >= 0) {
        speedup = json_object();
        json_object_set_new(speedup, "value", tri_app_json_real(a.speedup));
        json_object_set_new(speedup, "lo", tri_app_json_real(a.lo));
        json_object_set_new(speedup, "hi", tri_app_json_real(a.hi));
        json_object_set_new(speedup, "significant",
                            json_boolean(a.significant));
    }
    json_object_set_new(o, "speedup", speedup);
    json_object_set_new(o, "challenger",
                        a.finals ? tri_app_standing_one_json(ctl, &a.challenger)
                                 : json_null());
    json_object_set_new(o, "top", tri_app_top_json(ctl, 0, top));
    json_object_set_new(o, "front", tri_app_front_json(ctl));
    json_object_set_new(o, "objective",
                        json_string(tri_ctl_study(ctl)->objective.name));
    json_object_set_new(o, "finals", json_boolean(a.finals));
    json_object_set_new(o, "oversubscribed",
                        json_integer(tri_app_oversubscribed(ctl)));
    return o;
}

/* ---- for people ------------------------------------------------------ */

/* "3 x 64 steps" in the finals, "16 steps" in the search. */
static char *measured(const tri_study *study, const tri_standing *s, char *buf,
                      size_t bytes)
{
    char amount[40];

    tri_app_amount(study, s->resource, amount, sizeof amount);
    if (s->finals) {
        snprintf(buf, bytes, "%d x %s", s->repeats, amount);
    } else {
        snprintf(buf, bytes, "%s", amount);
    }
    return buf;
}

void tri_app_top_print(const tri_ctl *ctl, int ranks, int top, FILE *out)
{
    const tri_study *study = tri_ctl_study(ctl);
    tri_app_table *t = tri_app_table_create("rrlrrl");
    tri_standing *list;
    char buf[CONFIG_BYTES];
    int n;

    top = top > MAX_TOP ? MAX_TOP : top;
    list = calloc((size_t)top + 1, sizeof *list);
    if (!t || !list) {
        free(list);
        tri_app_table_destroy(t);
        return;
    }
    n = top_of(ctl, ranks, list, top);
    tri_app_table_cell(t, "trial");
    tri_app_table_cell(t, tri_app_objective_unit(study));
    tri_app_table_cell(t, "95 %");
    tri_app_table_cell(t, "measured");
    tri_app_table_cell(t, "ranks");
    tri_app_table_cell(t, "configuration");
    for (int i = 0; i < n; i++) {
        tri_app_table_int(t, list[i].trial);
        tri_app_table_number(t, list[i].objective);
        tri_app_table_cell(
                t, tri_app_interval(list[i].lo, list[i].hi, buf, sizeof buf));
        tri_app_table_cell(t, measured(study, &list[i], buf, sizeof buf));
        tri_app_table_int(t, list[i].ranks);
        tri_app_table_cell(
                t, tri_app_config_brief(ctl, list[i].trial, buf, sizeof buf));
    }
    if (n > 0) {
        tri_app_table_print(t, out);
    } else {
        fputs("no configuration has been measured\n", out);
    }
    free(list);
    tri_app_table_destroy(t);
}

static void print_standing(const tri_ctl *ctl, const char *who,
                           const tri_standing *s, FILE *out)
{
    char config[CONFIG_BYTES];
    char value[160];

    tri_app_objective(tri_ctl_study(ctl), s->objective, s->lo, s->hi, value,
                      sizeof value);
    fprintf(out, "%-9s trial %" PRId64 ": %s on %d rank%s, %s\n", who, s->trial,
            value, s->ranks, s->ranks == 1 ? "" : "s",
            tri_app_config_text(ctl, s->trial, config, sizeof config));
}

/* "1.164", "84.31", "1.2e+28": a ratio to be read, not to be counted on. */
static char *ratio(double v, char *buf, size_t bytes)
{
    snprintf(buf, bytes, v < 1e4 ? "%.4g" : v < 1e6 ? "%.0f" : "%.2g", v);
    return buf;
}

/* How the challenger compares, in words that are right for both directions:
 * "1.35 times the baseline", "2.1 times lower than the baseline". */
static char *comparison(const tri_ctl *ctl, const tri_answer *a, char *buf,
                        size_t bytes)
{
    int lower = !tri_ctl_study(ctl)->objective.maximize;
    int worse = lower && a->speedup < 1;
    char interval[80];
    char times[40];

    tri_app_interval(worse ? 1 / a->hi : a->lo, worse ? 1 / a->lo : a->hi,
                     interval, sizeof interval);
    snprintf(buf, bytes, "%s times %sthe baseline %s",
             ratio(worse ? 1 / a->speedup : a->speedup, times, sizeof times),
             !lower  ? ""
             : worse ? "higher than "
                     : "lower than ",
             interval);
    return buf;
}

static void print_verdict(const tri_ctl *ctl, const tri_answer *a, FILE *out)
{
    char text[240];

    if (a->baseline.trial < 0) {
        fprintf(out, "verdict   %s\n",
                tri_app_baseline_fate(ctl, text, sizeof text));
    } else if (a->significant && a->winner.trial != a->baseline.trial) {
        fprintf(out, "verdict   %s (95 %%)\n",
                comparison(ctl, a, text, sizeof text));
    } else if (a->challenger.trial >= 0) {
        fprintf(out,
                "verdict   no significant difference: the baseline stands "
                "(best challenger, trial %" PRId64 ": %s)\n",
                a->challenger.trial, comparison(ctl, a, text, sizeof text));
    } else {
        fputs("verdict   the baseline stands: nothing else was measured in "
              "the finals\n",
              out);
    }
}

void tri_app_answer_print(const tri_ctl *ctl, int top, FILE *out)
{
    char fate[160];
    tri_answer a;

    tri_app_top_print(ctl, 0, top, out);
    tri_ctl_answer(ctl, &a);
    if (!a.finals) {
        if (a.winner.trial >= 0) {
            fputs("\nno finals: results of the search, not re-measured\n", out);
            print_standing(ctl, "best", &a.winner, out);
        }
        if (tri_app_baseline_failed(ctl)) {
            fprintf(out, "%s\n", tri_app_baseline_fate(ctl, fate, sizeof fate));
        }
        tri_app_oversubscribed_print(ctl, out);
        return;
    }
    fputs("\nfinals\n", out);
    print_standing(ctl, "winner", &a.winner, out);
    if (a.baseline.trial >= 0) {
        print_standing(ctl, "baseline", &a.baseline, out);
    }
    print_verdict(ctl, &a, out);
    tri_app_oversubscribed_print(ctl, out);
}

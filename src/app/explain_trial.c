/*
 * One trial: why it was proposed, what its rungs decided, what it cost and why
 * it stopped, as JSON and for people.
 */
#include "src/app/explain.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_BYTES  1200
#define MOST_FINALS 1000

/* What the runs of a trial add up to. */
typedef struct cost {
    int64_t runs, search, finals, repeated; /* repeated: attempts beyond the
                                             * first at their rungs */
    int64_t lost;
    double rank_s, search_rank_s;
    tri_run_view last; /* the last one; valid where there are runs */
    tri_run_view failed;
    int has_failed;
} cost;

typedef struct about {
    const tri_story *story;
    const tri_ctl *ctl;
    const tri_study *study;
    tri_trial_view v;
    tri_progress progress;
    cost cost;
    tri_answer answer;
    tri_standing finals; /* trial -1: it was not in the finals */
} about;

/* ---- what is known --------------------------------------------------- */

/* Rank-seconds of a run so far. */
static double rank_seconds(const about *a, const tri_run_view *r)
{
    double end = isnan(r->end_s) ? a->progress.time_s : r->end_s;

    return isnan(r->start_s) ? 0 : (end - r->start_s) * r->n_ranks;
}

static void add_run(about *a, const tri_run_view *r)
{
    cost *c = &a->cost;
    double s = rank_seconds(a, r);

    c->runs++;
    c->search += r->phase == TRI_PHASE_SEARCH;
    c->finals += r->phase == TRI_PHASE_FINALS;
    c->repeated += r->attempt > 0 && r->phase == TRI_PHASE_SEARCH;
    c->rank_s += s;
    c->search_rank_s += r->phase == TRI_PHASE_SEARCH ? s : 0;
    c->last = *r;
    if (r->state != TRI_RUN_ENDED) {
        return;
    }
    c->lost += r->status == TRI_RUN_LOST || r->status == TRI_RUN_INTERRUPTED;
    if (r->status == TRI_RUN_FAILED || r->status == TRI_RUN_LOST) {
        c->failed = *r;
        c->has_failed = 1;
    }
}

static void find_finals(about *a)
{
    tri_standing *list = calloc(MOST_FINALS, sizeof *list);
    int n = list ? tri_ctl_top(a->ctl, list, MOST_FINALS) : 0;

    a->finals.trial = -1;
    for (int i = 0; i < n; i++) {
        if (list[i].finals && list[i].trial == a->v.trial) {
            a->finals = list[i];
        }
    }
    free(list);
}

static void learn(about *a, const tri_story *story)
{
    *a = (about){.story = story,
                 .ctl = story->ctl,
                 .study = tri_ctl_study(story->ctl)};
    tri_ctl_trial(a->ctl, story->trial, &a->v);
    tri_ctl_progress(a->ctl, &a->progress);
    tri_ctl_answer(a->ctl, &a->answer);
    for (int64_t i = 0; i < tri_ctl_n_runs(a->ctl); i++) {
        tri_run_view r;

        tri_ctl_run(a->ctl, i, &r);
        if (r.trial == story->trial) {
            add_run(a, &r);
        }
    }
    find_finals(a);
}

/* ---- sentences ---------------------------------------------------------- */

/* Why it was tried. */
static const char *why_tried(const about *a)
{
    static const char *const words[][2] = {
            {"baseline", "it is the study's baseline, always the first trial"},
            {"start", "the study lists it under start"},
            {"random", "drawn at random by the seed and its number"},
            {"quasi", "drawn evenly spread by the seed and its number; no "
                      "proposal stood ready, or the search asks for none"},
    };

    if (a->v.rule[0]) {
        return tri_explain_rule(a->v.rule);
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(words[i][0], a->v.origin) == 0) {
            return words[i][1];
        }
    }
    return a->v.origin;
}

/* "place 3 of 17". */
static char *place_text(const tri_place_in_rung *p, char *buf, size_t bytes)
{
    snprintf(buf, bytes, "place %" PRId64 " of %" PRId64, p->place, p->results);
    return buf;
}

/* The cut at n results: "the best 4 of 17 may go on". */
static char *cut_text(const about *a, const tri_rung_story *r, int64_t n,
                      char *buf, size_t bytes)
{
    int64_t cut = tri_explain_cut(a->study, n);
    int64_t planned =
            tri_sched_planned(tri_ctl_sched(a->ctl), r->bracket, r->rung + 1);

    if (cut > 0) {
        snprintf(buf, bytes, "the best %" PRId64 " of %" PRId64 " may go on",
                 cut, n);
    } else if (cut == 0) {
        snprintf(buf, bytes, "none of %" PRId64 " may go on", n);
    } else if (planned > 0) {
        snprintf(buf, bytes, "the best %" PRId64 " of each bracket go on",
                 planned);
    } else {
        snprintf(buf, bytes, "how many go on is the rule of %s",
                 tri_sched_name(a->study->scheduler.kind));
    }
    return buf;
}

/* What became of it at a rung. */
static char *decision(const about *a, const tri_rung_story *r, char *buf,
                      size_t bytes)
{
    const tri_sched *sched = tri_ctl_sched(a->ctl);
    int top = tri_sched_n_rungs(sched);
    char place[64];
    char cut[80];
    char time[32];

    if (r->promoted) {
        snprintf(buf, bytes, "promoted at %s as %s; %s",
                 tri_app_duration(r->promoted_s, time, sizeof time),
                 place_text(&r->at_promotion, place, sizeof place),
                 cut_text(a, r, r->at_promotion.results, cut, sizeof cut));
    } else if (top > 0 && r->rung == top - 1) {
        snprintf(buf, bytes, "the top rung: nothing further to reach");
    } else {
        snprintf(buf, bytes, "not promoted: %s now; %s",
                 place_text(&r->now, place, sizeof place),
                 cut_text(a, r, r->now.results, cut, sizeof cut));
    }
    return buf;
}

/* Whether more may come. */
static const char *outlook(const about *a)
{
    if (a->progress.state == TRI_CTL_ENDED && a->progress.ended_resumable) {
        return "; the job ended, and tune --resume goes on";
    }
    return a->progress.state == TRI_CTL_ENDED ||
                           a->progress.state == TRI_CTL_FINALS
                   ? ", and the search is over"
                   : "; it may still be, as results come in";
}

static void stopped_at_rung(const about *a, char *buf, size_t bytes)
{
    const tri_story *s = a->story;
    const tri_rung_story *r = s->n_rungs > 0 ? &s->rungs[s->n_rungs - 1] : NULL;
    int ended = a->progress.state == TRI_CTL_ENDED;
    char what[400], amount[40];

    if (!r) {
        snprintf(buf, bytes, "it has no result%s%s", ended ? ": " : "",
                 ended ? a->progress.end_why : "");
        return;
    }
    decision(a, r, what, sizeof what);
    if (r->promoted) {
        snprintf(buf, bytes, "%s, and %s before it ran there%s%s", what,
                 ended ? "the study ended" : "the search was over",
                 ended ? ": " : "", ended ? a->progress.end_why : "");
    } else {
        snprintf(buf, bytes, "at rung %d (%s) it is %s%s", r->rung,
                 tri_app_amount(a->study, r->resource, amount, sizeof amount),
                 what, outlook(a));
    }
}

static void stopped_by_failure(const about *a, char *buf, size_t bytes)
{
    const tri_run_view *f = &a->cost.failed;
    const char *sentence = a->cost.has_failed && f->outcome.sentence
                                   ? f->outcome.sentence
                                   : "";

    snprintf(buf, bytes, "it failed as %s: %s%s%s%s",
             tri_reason_name(a->v.reason), tri_explain_reason(a->v.reason),
             *sentence ? " (" : "", sentence, *sentence ? ")" : "");
}

static void still_going(const about *a, char *buf, size_t bytes)
{
    const tri_run_view *r = &a->cost.last;

    if (a->progress.state == TRI_CTL_ENDED) {
        snprintf(buf, bytes, "the study ended before its next run: %s",
                 a->progress.end_why);
    } else if (a->cost.runs > 0 && r->state != TRI_RUN_ENDED) {
        snprintf(buf, bytes,
                 "it has not: run %" PRId64 " of it is under way at rung %d",
                 r->run, r->rung);
    } else {
        snprintf(buf, bytes, "it has not: it waits for %d free rank%s",
                 a->v.ranks, a->v.ranks == 1 ? "" : "s");
    }
}

static char *why_stopped(const about *a, char *buf, size_t bytes)
{
    int top = tri_sched_n_rungs(tri_ctl_sched(a->ctl));

    switch (a->v.state) {
    case TRI_TRIAL_FAILED:
        stopped_by_failure(a, buf, bytes);
        break;
    case TRI_TRIAL_PARKED:
        snprintf(buf, bytes,
                 "it is parked: it needs %d ranks, and the pool has %d",
                 a->v.ranks,
                 a->progress.ranks_total - a->progress.ranks_struck -
                         a->progress.ranks_lost);
        break;
    case TRI_TRIAL_RUNNING:
    case TRI_TRIAL_PROMOTED:
        still_going(a, buf, bytes);
        break;
    default:
        if (top > 0 && a->v.top_rung == top - 1) {
            snprintf(buf, bytes, "it reached the top rung");
        } else {
            stopped_at_rung(a, buf, bytes);
        }
    }
    return buf;
}

/* Its part in the finals. */
static const char *part_of(const about *a)
{
    int over = a->progress.state == TRI_CTL_ENDED;

    if (over && a->answer.winner.trial == a->v.trial) {
        return "the winner";
    }
    return a->answer.baseline.trial == a->v.trial     ? "the baseline"
           : a->answer.challenger.trial == a->v.trial ? "the best challenger"
                                                      : "a finalist";
}

/* Whether it ran as long as its prediction is for: to the top rung. */
static int is_at_top(const about *a)
{
    int top = tri_sched_n_rungs(tri_ctl_sched(a->ctl));

    return top > 0 && a->v.top_rung == top - 1;
}

/* How the result compares with what was predicted of it; at a lower rung that
 * would be two different things. */
static char *surprise(const about *a, char *buf, size_t bytes)
{
    const char *side = a->v.objective >= a->v.predicted_lo &&
                                       a->v.objective <= a->v.predicted_hi
                               ? "inside"
                               : "outside";
    double off = a->v.objective - a->v.predicted;

    buf[0] = '\0';
    if (isnan(off) || !is_at_top(a)) {
        return buf;
    }
    if (a->v.predicted != 0 && fabs(off / a->v.predicted) < 10) {
        snprintf(buf, bytes, "%.1f %% %s than predicted, %s its interval",
                 100 * fabs(off / a->v.predicted), off < 0 ? "lower" : "higher",
                 side);
    } else {
        snprintf(buf, bytes, "%s the predicted interval", side);
    }
    return buf;
}

/* ---- JSON --------------------------------------------------------------- */

static json_t *proposal_json(const about *a)
{
    const tri_answer_story *f = &a->story->from;
    json_t *o = json_object();

    if (!a->v.rule[0]) {
        json_decref(o);
        return json_null();
    }
    json_object_set_new(o, "rule", tri_app_json_text(a->v.rule));
    json_object_set_new(o, "predicted", tri_app_json_real(a->v.predicted));
    json_object_set_new(o, "lo", tri_app_json_real(a->v.predicted_lo));
    json_object_set_new(o, "hi", tri_app_json_real(a->v.predicted_hi));
    json_object_set_new(o, "bytes", tri_app_json_real(a->v.predicted_bytes));
    json_object_set_new(o, "p_feasible", tri_app_json_real(a->v.p_feasible));
    if (f->event >= 0) {
        json_object_set_new(o, "event", json_integer(f->event));
        json_object_set_new(o, "snapshot", json_integer(f->snapshot));
        json_object_set_new(o, "predictor", tri_app_json_text(f->model));
        json_object_set_new(o, "hyper", tri_app_json_text(f->hyper));
        json_object_set_new(o, "records", json_integer(f->n_records));
        json_object_set_new(o, "tau", tri_app_json_real(f->tau));
    }
    return o;
}

static json_t *place_json(const about *a, const tri_place_in_rung *p)
{
    int64_t cut = tri_explain_cut(a->study, p->results);
    json_t *o = json_object();

    json_object_set_new(o, "place",
                        p->place ? json_integer(p->place) : json_null());
    json_object_set_new(o, "results", json_integer(p->results));
    json_object_set_new(o, "cut", cut < 0 ? json_null() : json_integer(cut));
    return o;
}

static json_t *rung_json(const about *a, const tri_rung_story *r)
{
    json_t *o = json_object();
    char text[400];

    json_object_set_new(o, "bracket", json_integer(r->bracket));
    json_object_set_new(o, "rung", json_integer(r->rung));
    json_object_set_new(o, "resource", json_integer(r->resource));
    json_object_set_new(o, "result_s", tri_app_json_real(r->result_s));
    json_object_set_new(o, "objective", tri_app_json_real(r->objective));
    json_object_set_new(o, "lo", tri_app_json_real(r->lo));
    json_object_set_new(o, "hi", tri_app_json_real(r->hi));
    json_object_set_new(o, "then", place_json(a, &r->then));
    json_object_set_new(o, "now", place_json(a, &r->now));
    json_object_set_new(o, "promoted", json_boolean(r->promoted));
    json_object_set_new(o, "promoted_s", tri_app_json_real(r->promoted_s));
    json_object_set_new(o, "at_promotion",
                        r->promoted ? place_json(a, &r->at_promotion)
                                    : json_null());
    json_object_set_new(o, "decision",
                        tri_app_json_text(decision(a, r, text, sizeof text)));
    return o;
}

static json_t *cost_json(const about *a)
{
    json_t *o = json_object();

    json_object_set_new(o, "rank_seconds", tri_app_json_real(a->cost.rank_s));
    json_object_set_new(o, "search_rank_seconds",
                        tri_app_json_real(a->cost.search_rank_s));
    json_object_set_new(o, "runs", json_integer(a->cost.runs));
    json_object_set_new(o, "search_runs", json_integer(a->cost.search));
    json_object_set_new(o, "finals_runs", json_integer(a->cost.finals));
    json_object_set_new(o, "repeated", json_integer(a->cost.repeated));
    json_object_set_new(o, "lost", json_integer(a->cost.lost));
    return o;
}

static json_t *finals_json(const about *a)
{
    json_t *o = json_object();

    if (a->finals.trial < 0) {
        json_decref(o);
        return json_null();
    }
    json_object_set_new(o, "objective", tri_app_json_real(a->finals.objective));
    json_object_set_new(o, "lo", tri_app_json_real(a->finals.lo));
    json_object_set_new(o, "hi", tri_app_json_real(a->finals.hi));
    json_object_set_new(o, "repeats", json_integer(a->finals.repeats));
    json_object_set_new(o, "resource", json_integer(a->finals.resource));
    json_object_set_new(o, "part", json_string(part_of(a)));
    return o;
}

static void print_json(const about *a)
{
    const tri_trial_view *v = &a->v;
    json_t *o = json_object();
    json_t *rungs = json_array();
    char text[TEXT_BYTES];

    for (int i = 0; i < a->story->n_rungs; i++) {
        json_array_append_new(rungs, rung_json(a, &a->story->rungs[i]));
    }
    json_object_set_new(o, "trial", json_integer(v->trial));
    json_object_set_new(o, "configuration",
                        tri_app_json_config(a->study->space, v->config));
    json_object_set_new(o, "ranks", json_integer(v->ranks));
    json_object_set_new(o, "state",
                        json_string(tri_trial_state_name(v->state)));
    json_object_set_new(o, "origin", tri_app_json_text(v->origin));
    json_object_set_new(o, "created_s", tri_app_json_real(v->created_s));
    json_object_set_new(o, "why", tri_app_json_text(why_tried(a)));
    json_object_set_new(o, "proposal", proposal_json(a));
    json_object_set_new(o, "objective", tri_app_json_real(v->objective));
    json_object_set_new(o, "rungs", rungs);
    json_object_set_new(o, "cost", cost_json(a));
    json_object_set_new(o, "reason",
                        v->state == TRI_TRIAL_FAILED
                                ? json_string(tri_reason_name(v->reason))
                                : json_null());
    json_object_set_new(o, "stopped",
                        tri_app_json_text(why_stopped(a, text, sizeof text)));
    json_object_set_new(o, "finals", finals_json(a));
    tri_app_json_print(o);
}

/* ---- for people --------------------------------------------------------- */

static void print_prediction(const about *a)
{
    const tri_answer_story *f = &a->story->from;
    char value[160];
    char bytes[32];

    if (!isnan(a->v.predicted)) {
        printf("predicted %s (95 %%) at the top rung",
               tri_app_objective(a->study, a->v.predicted, a->v.predicted_lo,
                                 a->v.predicted_hi, value, sizeof value));
        if (!isnan(a->v.predicted_bytes)) {
            printf(", %s a rank",
                   tri_app_bytes(a->v.predicted_bytes, bytes, sizeof bytes));
        }
        if (!isnan(a->v.p_feasible)) {
            printf(", runs with probability %.2f", a->v.p_feasible);
        }
        putchar('\n');
    }
    if (f->event < 0) {
        return;
    }
    printf("model     %s, of %" PRId64 " results",
           strcmp(f->model, "none") == 0 ? "none yet" : f->model, f->n_records);
    if (!isnan(f->tau)) {
        printf(", tau %.2f", f->tau);
    }
    printf(" (answer %" PRId64 ", event %" PRId64 ")%s%s\n", f->snapshot,
           f->event, f->hyper[0] ? "\n          " : "", f->hyper);
}

static void print_rungs(const about *a)
{
    static const char *const heads[] = {"rung", "resource", "result",
                                        "95 %", "then",     "decision"};
    tri_app_table *t = tri_app_table_create("rrrlll");
    char text[400];

    if (!t || a->story->n_rungs == 0) {
        tri_app_table_destroy(t);
        return;
    }
    for (int i = 0; i < 6; i++) {
        tri_app_table_cell(t, heads[i]);
    }
    for (int i = 0; i < a->story->n_rungs; i++) {
        const tri_rung_story *r = &a->story->rungs[i];

        tri_app_table_int(t, r->rung);
        tri_app_table_int(t, r->resource);
        tri_app_table_number(t, r->objective);
        tri_app_table_cell(t,
                           tri_app_interval(r->lo, r->hi, text, sizeof text));
        tri_app_table_cell(t, place_text(&r->then, text, sizeof text));
        tri_app_table_cell(t, decision(a, r, text, sizeof text));
    }
    tri_app_table_print(t, stdout);
    tri_app_table_destroy(t);
}

static void print_cost(const about *a)
{
    const cost *c = &a->cost;
    char s[32];

    printf("cost      %s rank-seconds: %" PRId64 " run%s on %d rank%s",
           tri_app_number(c->rank_s, s, sizeof s), c->runs,
           c->runs == 1 ? "" : "s", a->v.ranks, a->v.ranks == 1 ? "" : "s");
    if (c->finals > 0) {
        printf(", %" PRId64 " of them in the finals", c->finals);
    }
    if (c->repeated > 0) {
        printf(", %" PRId64 " further attempt%s", c->repeated,
               c->repeated == 1 ? "" : "s");
    }
    if (c->lost > 0) {
        printf(", %" PRId64 " lost or interrupted", c->lost);
    }
    putchar('\n');
}

static void print_finals(const about *a)
{
    char value[160], amount[40];

    if (a->finals.trial < 0) {
        return;
    }
    printf("finals    %s: %s, the mean of %d repeat%s of %s\n", part_of(a),
           tri_app_objective(a->study, a->finals.objective, a->finals.lo,
                             a->finals.hi, value, sizeof value),
           a->finals.repeats, a->finals.repeats == 1 ? "" : "s",
           tri_app_amount(a->study, a->finals.resource, amount, sizeof amount));
}

static void print_text(const about *a)
{
    char text[TEXT_BYTES];
    char time[32];

    printf("trial     %" PRId64 ": %s\n          %d rank%s, %s\n", a->v.trial,
           tri_app_config_text(a->ctl, a->v.trial, text, sizeof text),
           a->v.ranks, a->v.ranks == 1 ? "" : "s",
           a->progress.state == TRI_CTL_ENDED && a->v.state == TRI_TRIAL_PAUSED
                   ? "stayed at its rung"
                   : tri_trial_state_name(a->v.state));
    printf("proposed  at %s, origin %s%s%s: %s\n",
           tri_app_duration(a->v.created_s, time, sizeof time), a->v.origin,
           a->v.rule[0] ? ", rule " : "", a->v.rule, why_tried(a));
    print_prediction(a);
    if (!isnan(a->v.objective)) {
        tri_app_objective(a->study, a->v.objective, a->v.lo, a->v.hi, text,
                          sizeof text);
        printf("measured  %s in the search", text);
        if (!is_at_top(a)) {
            printf(", at rung %d", a->v.top_rung);
        }
        surprise(a, text, sizeof text);
        printf("%s%s\n", text[0] ? ": " : "", text);
    }
    print_rungs(a);
    print_cost(a);
    printf("stopped   %s\n", why_stopped(a, text, sizeof text));
    print_finals(a);
}

void tri_explain_trial(const tri_story *story, int json)
{
    about a;

    learn(&a, story);
    if (json) {
        print_json(&a);
    } else {
        print_text(&a);
    }
}

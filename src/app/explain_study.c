/*
 * A study: what it would run next and why, by which model; where promotions
 * stand; what tells most; what failed.
 */
#include "src/app/explain.h"

#include "trireme/propose.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_RUNGS  256
#define TEXT_BYTES 1200
#define MOST_DRAWS 8

/* A configuration that would be tried next. */
typedef struct next_one {
    json_t *config; /* owned */
    char text[1024];
    const char *rule;
    double predicted, lo, hi, bytes, p_feasible;
} next_one;

typedef struct about {
    const tri_story *story;
    const tri_study *study;
    tri_progress progress;
    tri_believer believer;
    int thinks;     /* the search is led by a thinker, */
    int has_model;  /* and there is one to be asked of */
    char news[700]; /* what it has to say of how it thinks */
    tri_job job;
    int may_create;
    next_one *next;
    int n_next;
} about;

/* ---- configurations ----------------------------------------------------- */

static tri_status add_next(about *a, const tri_config *c, const char *rule,
                           const tri_proposal *p)
{
    next_one *n = &a->next[a->n_next];

    *n = (next_one){.rule = rule,
                    .predicted = p ? p->predicted : NAN,
                    .lo = p ? p->lo : NAN,
                    .hi = p ? p->hi : NAN,
                    .bytes = p ? p->predicted_bytes : NAN,
                    .p_feasible = p ? p->p_feasible : NAN};
    tri_space_print(a->study->space, c, n->text, sizeof n->text);
    n->config = tri_app_json_config(a->study->space, c);
    a->n_next++;
    return TRI_OK;
}

/* What the thinker answers. */
static tri_status proposed(about *a, tri_config *c, int top)
{
    const tri_ev_proposals *p = &a->believer.next;

    for (int i = 0; i < p->n_list && i < top; i++) {
        TRI_TRY(tri_space_parse(a->study->space, p->list[i].config, c));
        TRI_TRY(add_next(a, c, p->list[i].rule, &p->list[i]));
    }
    return TRI_OK;
}

static int is_tried(const about *a, const tri_config *c)
{
    uint64_t hash = tri_space_hash(a->study->space, c);

    for (int64_t i = 0; i < a->believer.snapshot->n_tried; i++) {
        if (a->believer.snapshot->tried[i] == hash) {
            return 1;
        }
    }
    return 0;
}

/* What the controller draws by itself. */
static tri_status drawn(about *a, tri_config *c, int top)
{
    const tri_proposer_ops *ops = tri_proposer_find(a->study->search.proposer);
    int64_t first = tri_ctl_n_trials(a->story->ctl);

    for (int i = 0; ops && i < top; i++) {
        int k = 0;

        do {
            TRI_TRY(ops->draw(a->study->space, a->story->seed, first + i, k,
                              c));
        } while (is_tried(a, c) && ++k < MOST_DRAWS);
        if (k < MOST_DRAWS) {
            TRI_TRY(add_next(a, c, ops->origin, NULL));
        }
    }
    return TRI_OK;
}

static tri_status find_next(about *a, int top)
{
    tri_config *c =
            calloc((size_t)tri_space_n_params(a->study->space) + 1, sizeof *c);
    tri_status st;

    a->next = calloc((size_t)top + 1, sizeof *a->next);
    if (!c || !a->next) {
        free(c);
        return TRI_FAIL(TRI_ENOMEM, "no memory for configurations");
    }
    st = a->thinks ? proposed(a, c, top) : drawn(a, c, top);
    free(c);
    return st;
}

/* ---- learning -------------------------------------------------------- */

static tri_status learn(about *a, const tri_story *story, int top)
{
    const char *news;

    *a = (about){.story = story, .study = tri_ctl_study(story->ctl)};
    tri_ctl_progress(story->ctl, &a->progress);
    a->thinks = tri_believer_leads(a->study);
    a->may_create = (a->study->budget.trials == TRI_UNLIMITED ||
                     a->progress.trials < a->study->budget.trials) &&
                    a->progress.state == TRI_CTL_SEARCH;
    TRI_TRY(tri_believer_init(&a->believer, story, top));
    a->has_model = tri_believer_has_model(&a->believer);
    news = tri_believer_news(&a->believer);
    snprintf(a->news, sizeof a->news, "%s", news ? news : "");
    /* looking does not commit; this controller is ours alone */
    tri_sched_peek((tri_sched *)tri_ctl_sched(story->ctl), a->may_create,
                   &a->job);
    return find_next(a, top);
}

static void forget(about *a)
{
    for (int i = 0; i < a->n_next; i++) {
        json_decref(a->next[i].config);
    }
    free(a->next);
    tri_believer_fini(&a->believer);
}

/* ---- sentences ------------------------------------------------------- */

static char *ended_text(const about *a, char *buf, size_t bytes)
{
    const char *then = "";

    switch (a->progress.state) {
    case TRI_CTL_ENDED:
        then = a->progress.ended_resumable ? "; tune --resume goes on" : "";
        snprintf(buf, bytes, "nothing, the study has ended: %s%s",
                 a->progress.end_why, then);
        break;
    case TRI_CTL_FINALS:
        snprintf(buf, bytes, "finals: done are %d of %d runs",
                 a->progress.finals_done, a->progress.finals_total);
        break;
    default:
        snprintf(buf, bytes, "nothing new: the job drains");
    }
    return buf;
}

/* What it does as soon as ranks are free. */
static char *next_text(const about *a, char *buf, size_t bytes)
{
    const tri_job *j = &a->job;
    char amount[40];

    if (a->progress.state != TRI_CTL_SEARCH) {
        return ended_text(a, buf, bytes);
    }
    tri_app_amount(a->study, j->resource, amount, sizeof amount);
    switch (j->kind) {
    case TRI_JOB_PROMOTE:
        snprintf(buf, bytes,
                 "trial %" PRId64 " goes on to rung %d (%s): it is the best "
                 "of rung %d that is within the cut and not yet promoted",
                 j->trial, j->rung, amount, j->rung - 1);
        break;
    case TRI_JOB_NEW:
        snprintf(buf, bytes,
                 "a new configuration at rung %d (%s): no rung has results to "
                 "promote",
                 j->rung, amount);
        break;
    default:
        snprintf(buf, bytes,
                 "nothing to start: no rung has results to promote%s",
                 a->may_create ? "" : ", and no configuration may be added");
    }
    return buf;
}

/* Which predictor, and why. */
static char *model_text(const about *a, char *buf, size_t bytes)
{
    const tri_ev_proposals *p = &a->believer.next;
    const char *asked = a->study->search.predictor;

    if (!a->has_model) {
        snprintf(buf, bytes, "none: %s", p->hyper);
    } else if (strcmp(asked, "auto") != 0) {
        snprintf(buf, bytes, "%s, as the study says; of %" PRId64 " results",
                 p->model, p->n_records);
    } else if (isnan(p->tau)) {
        snprintf(buf, bytes,
                 "%s, of %" PRId64 " results: too few to choose by "
                 "cross-validation, so it is the first choice",
                 p->model, p->n_records);
    } else {
        snprintf(buf, bytes,
                 "%s, of %" PRId64 " results: it ranks results that it was "
                 "not given best (tau %.2f)",
                 p->model, p->n_records, p->tau);
    }
    return buf;
}

/* The first of a rung's best that has not gone on; -1. */
static int64_t next_of(const tri_ctl *ctl, const tri_rung_view *r, int64_t cut)
{
    const tri_sched *sched = tri_ctl_sched(ctl);
    int64_t *list = malloc(((size_t)(cut > 0 ? cut : 0) + 1) * sizeof *list);
    int64_t found = -1;
    int64_t n = 0;

    if (list && cut > 0) {
        n = tri_sched_ranking(sched, r->bracket, r->rung, list, cut);
    }
    for (int64_t i = 0; i < cut && i < n && found < 0; i++) {
        found = tri_sched_was_promoted(sched, list[i], r->rung) ? -1 : list[i];
    }
    free(list);
    return found;
}

/* The result that a new one must better to be within the cut, NaN. */
static double limit_of(const about *a, const tri_rung_view *r)
{
    return a->study->objective.maximize ? -r->cut : r->cut;
}

static int list_rungs(const about *a, tri_rung_view *rungs)
{
    int n = tri_sched_rungs(tri_ctl_sched(a->story->ctl), rungs, MAX_RUNGS);

    return n < MAX_RUNGS ? n : MAX_RUNGS;
}

static int is_top(const about *a, const tri_rung_view *r)
{
    return r->rung == tri_sched_n_rungs(tri_ctl_sched(a->story->ctl)) - 1;
}

/* ---- JSON ------------------------------------------------------------ */

static json_t *next_json(const about *a)
{
    json_t *list = json_array();

    for (int i = 0; i < a->n_next; i++) {
        const next_one *n = &a->next[i];
        json_t *o = json_object();

        json_object_set(o, "configuration", n->config);
        json_object_set_new(o, "rule", tri_app_json_text(n->rule));
        json_object_set_new(o, "why",
                            tri_app_json_text(tri_explain_rule(n->rule)));
        json_object_set_new(o, "predicted", tri_app_json_real(n->predicted));
        json_object_set_new(o, "lo", tri_app_json_real(n->lo));
        json_object_set_new(o, "hi", tri_app_json_real(n->hi));
        json_object_set_new(o, "bytes", tri_app_json_real(n->bytes));
        json_object_set_new(o, "p_feasible", tri_app_json_real(n->p_feasible));
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *rungs_json(const about *a)
{
    tri_rung_view rungs[MAX_RUNGS];
    json_t *list = json_array();
    int n = list_rungs(a, rungs);

    for (int i = 0; i < n; i++) {
        const tri_rung_view *r = &rungs[i];
        int64_t cut = is_top(a, r) ? 0 : tri_explain_cut(a->study, r->results);
        int64_t next = next_of(a->story->ctl, r, cut);
        json_t *o = json_object();

        json_object_set_new(o, "bracket", json_integer(r->bracket));
        json_object_set_new(o, "rung", json_integer(r->rung));
        json_object_set_new(o, "resource", json_integer(r->resource));
        json_object_set_new(o, "results", json_integer(r->results));
        json_object_set_new(o, "may_go_on",
                            cut < 0 ? json_null() : json_integer(cut));
        json_object_set_new(o, "promoted", json_integer(r->promoted));
        json_object_set_new(o, "cut", tri_app_json_real(limit_of(a, r)));
        json_object_set_new(o, "next",
                            next < 0 ? json_null() : json_integer(next));
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *model_json(const about *a)
{
    const tri_ev_proposals *p = &a->believer.next;
    json_t *o = json_object();
    char text[TEXT_BYTES];

    json_object_set_new(o, "predictor", tri_app_json_text(p->model));
    json_object_set_new(o, "why",
                        tri_app_json_text(model_text(a, text, sizeof text)));
    json_object_set_new(o, "hyper", tri_app_json_text(p->hyper));
    json_object_set_new(o, "records", json_integer(p->n_records));
    json_object_set_new(o, "tau", tri_app_json_real(p->tau));
    json_object_set_new(o, "news",
                        a->news[0] ? tri_app_json_text(a->news) : json_null());
    return o;
}

static tri_status print_json(about *a)
{
    json_t *effects = NULL;
    json_t *o;
    char text[TEXT_BYTES];

    if (a->has_model) {
        TRI_TRY(tri_explain_effects_json(a->story, &a->believer, &effects));
    }
    o = json_object();
    json_object_set_new(o, "study", tri_app_json_text(a->study->name));
    json_object_set_new(o, "next",
                        tri_app_json_text(next_text(a, text, sizeof text)));
    json_object_set_new(o, "configurations", next_json(a));
    json_object_set_new(o, "proposer",
                        tri_app_json_text(a->study->search.proposer));
    json_object_set_new(o, "model", model_json(a));
    json_object_set_new(o, "resource",
                        json_integer(a->believer.snapshot->resource));
    json_object_set_new(o, "rungs", rungs_json(a));
    json_object_set_new(o, "effects", effects ? effects : json_array());
    json_object_set_new(o, "failures",
                        tri_explain_failures_json(a->story->ctl));
    tri_app_json_print(o);
    return TRI_OK;
}

/* ---- for people ------------------------------------------------------ */

static void print_one(const about *a, const next_one *n, int number)
{
    char value[160];
    char bytes[32];

    printf("  %d  %s\n     ", number, n->text);
    if (!isnan(n->predicted)) {
        printf("%s, ", tri_app_objective(a->study, n->predicted, n->lo, n->hi,
                                         value, sizeof value));
    }
    if (!isnan(n->bytes)) {
        printf("%s a rank, ", tri_app_bytes(n->bytes, bytes, sizeof bytes));
    }
    if (!isnan(n->p_feasible)) {
        printf("runs with probability %.2f, ", n->p_feasible);
    }
    printf("by %s\n", n->rule);
}

static void print_next(const about *a)
{
    const char *last = "";
    const char *then = a->progress.state == TRI_CTL_SEARCH && a->may_create
                               ? "new configurations, in this order"
                               : "what it would try if it went on";

    if (a->n_next == 0) {
        puts("new       no configuration is left to try");
        return;
    }
    printf("\n%s\n", then);
    for (int i = 0; i < a->n_next; i++) {
        print_one(a, &a->next[i], i + 1);
    }
    for (int i = 0; i < a->n_next; i++) {
        if (strcmp(a->next[i].rule, last) != 0 &&
            strcmp(tri_explain_rule(a->next[i].rule), a->next[i].rule) != 0) {
            printf("  %s: %s\n", a->next[i].rule,
                   tri_explain_rule(a->next[i].rule));
        }
        last = a->next[i].rule;
    }
}

static void print_rungs(const about *a)
{
    static const char *const heads[] = {"bracket", "rung",       "resource",
                                        "results", "within cut", "promoted",
                                        "cut at",  "next"};
    tri_rung_view rungs[MAX_RUNGS];
    tri_app_table *t = tri_app_table_create("rrrrrrrr");
    int n = list_rungs(a, rungs);

    for (int i = 0; t && i < 8; i++) {
        tri_app_table_cell(t, heads[i]);
    }
    for (int i = 0; t && i < n; i++) {
        const tri_rung_view *r = &rungs[i];
        int64_t cut = is_top(a, r) ? 0 : tri_explain_cut(a->study, r->results);
        int64_t next = a->progress.state == TRI_CTL_SEARCH
                               ? next_of(a->story->ctl, r, cut)
                               : -1;

        tri_app_table_int(t, r->bracket);
        tri_app_table_int(t, r->rung);
        tri_app_table_int(t, r->resource);
        tri_app_table_int(t, r->results);
        tri_app_table_number(t, is_top(a, r) || cut < 0 ? NAN : (double)cut);
        tri_app_table_int(t, r->promoted);
        tri_app_table_number(t, limit_of(a, r));
        tri_app_table_number(t, next < 0 ? NAN : (double)next);
    }
    if (t && n > 0) {
        puts("\npromotions");
        tri_app_table_print(t, stdout);
    }
    tri_app_table_destroy(t);
}

static tri_status print_text(about *a)
{
    const char *proposer = a->study->search.proposer;
    char text[TEXT_BYTES];

    printf("study     %s\n", a->study->name);
    printf("next      %s\n", next_text(a, text, sizeof text));
    printf("search    %s%s\n", proposer,
           a->thinks ? ""
                     : ": configurations are drawn by seed and number, the "
                       "model below is not asked");
    printf("model     %s\n", model_text(a, text, sizeof text));
    if (a->has_model) {
        printf("          %s\n", a->believer.next.hyper);
    }
    if (a->news[0]) {
        printf("          %s\n", a->news);
    }
    tri_app_oversubscribed_print(a->story->ctl, stdout);
    print_next(a);
    print_rungs(a);
    if (a->has_model) {
        TRI_TRY(tri_explain_effects(a->story, &a->believer, stdout));
    }
    tri_explain_failures(a->story->ctl, stdout);
    return TRI_OK;
}

tri_status tri_explain_study(const tri_story *story, int top, int json)
{
    about a;
    tri_status st = learn(&a, story, top);

    if (st == TRI_OK) {
        st = json ? print_json(&a) : print_text(&a);
    }
    forget(&a);
    return st;
}

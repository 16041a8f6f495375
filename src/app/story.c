/*
 * Folding a record with open eyes.
 */
#include "src/app/story.h"

#include "src/app/app.h"

#include "trireme/wire.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifdef TRI_HAVE_SEARCH
#include <cblas.h>
#endif

#define MAX_RUNGS 256

/* ---- rungs ----------------------------------------------------------- */

/* Results of a rung; those that are no numbers count too, ranked last. */
static int64_t count_results(const tri_sched *sched, int bracket, int rung)
{
    tri_rung_view rungs[MAX_RUNGS];
    int n = tri_sched_rungs(sched, rungs, MAX_RUNGS);

    for (int i = 0; i < n && i < MAX_RUNGS; i++) {
        if (rungs[i].bracket == bracket && rungs[i].rung == rung) {
            return rungs[i].results;
        }
    }
    return 0;
}

static tri_place_in_rung place_of(const tri_ctl *ctl, int64_t trial,
                                  int bracket, int rung)
{
    const tri_sched *sched = tri_ctl_sched(ctl);
    int64_t n = tri_sched_ranking(sched, bracket, rung, NULL, 0);
    int64_t *list = malloc(((size_t)n + 1) * sizeof *list);
    tri_place_in_rung p = {0, count_results(sched, bracket, rung)};

    n = list ? tri_sched_ranking(sched, bracket, rung, list, n) : 0;
    for (int64_t i = 0; i < n && p.place == 0; i++) {
        p.place = list[i] == trial ? i + 1 : 0;
    }
    free(list);
    return p;
}

/* The entry of a rung: measured again, it is the same one. */
static tri_rung_story *rung_of(tri_story *s, int bracket, int rung)
{
    for (int i = 0; i < s->n_rungs; i++) {
        if (s->rungs[i].rung == rung && s->rungs[i].bracket == bracket) {
            return &s->rungs[i];
        }
    }
    if (s->n_rungs == TRI_STORY_RUNGS) {
        return NULL;
    }
    return &s->rungs[s->n_rungs++];
}

static void note_result(tri_story *s, const tri_event *event,
                        const tri_ctl *ctl)
{
    tri_rung_story *r;
    tri_run_view v;

    if (event->u.outcome.run < 0 ||
        event->u.outcome.run >= tri_ctl_n_runs(ctl)) {
        return;
    }
    tri_ctl_run(ctl, event->u.outcome.run, &v);
    if (v.trial != s->trial || v.phase != TRI_PHASE_SEARCH ||
        isnan(v.objective)) {
        return;
    }
    r = rung_of(s, v.bracket, v.rung);
    if (r) {
        *r = (tri_rung_story){.bracket = v.bracket,
                              .rung = v.rung,
                              .resource = v.resource,
                              .result_s = event->time_s,
                              .objective = v.objective,
                              .lo = v.outcome.lo,
                              .hi = v.outcome.hi,
                              .promoted_s = NAN};
        r->then = place_of(ctl, s->trial, v.bracket, v.rung);
    }
}

static void note_promotion(tri_story *s, const tri_event *event,
                           const tri_ctl *ctl)
{
    tri_rung_story *r = s->n_rungs > 0 ? &s->rungs[s->n_rungs - 1] : NULL;

    if (r && !r->promoted &&
        tri_sched_was_promoted(tri_ctl_sched(ctl), s->trial, r->rung)) {
        r->promoted = 1;
        r->promoted_s = event->time_s;
        r->at_promotion = place_of(ctl, s->trial, r->bracket, r->rung);
    }
}

/* ---- answers --------------------------------------------------------- */

static void note_answer(tri_answer_story *a, const tri_event *event,
                        int64_t seq)
{
    const tri_ev_proposals *p = &event->u.proposals;

    *a = (tri_answer_story){.event = seq,
                            .snapshot = p->snapshot,
                            .n_records = p->n_records,
                            .time_s = event->time_s,
                            .tau = p->tau};
    snprintf(a->model, sizeof a->model, "%s", p->model);
    snprintf(a->hyper, sizeof a->hyper, "%s", p->hyper);
}

static tri_status each(void *ctx, const tri_event *event,
                       const tri_commands *commands, const tri_entry *entry,
                       tri_ctl *ctl)
{
    tri_story *s = ctx;

    for (int i = 0; i < commands->n; i++) {
        if (commands->list[i].kind == TRI_CMD_THINK) {
            s->asked = commands->list[i].u.think.snapshot;
        }
    }
    if (event->kind == TRI_EV_OPEN) {
        s->seed = event->u.open.seed;
    } else if (event->kind == TRI_EV_PROPOSALS) {
        note_answer(&s->last, event, entry->seq);
    }
    if (s->trial < 0 || s->trial >= tri_ctl_n_trials(ctl)) {
        return TRI_OK;
    }
    if (event->kind == TRI_EV_FINISHED || event->kind == TRI_EV_PAUSED) {
        note_result(s, event, ctl);
    }
    note_promotion(s, event, ctl);
    return TRI_OK;
}

/* What the trial was made of: the last answer before it that names it. */
static void find_proposal(tri_story *s, const tri_event *event, int64_t seq,
                          const char *config)
{
    const tri_ev_proposals *p = &event->u.proposals;

    for (int i = 0; i < p->n_list; i++) {
        if (strcmp(p->list[i].config, config) == 0) {
            note_answer(&s->from, event, seq);
            s->from.proposal = p->list[i];
            s->from.proposal.config = NULL;
            s->from.proposal.rule = NULL;
        }
    }
}

static tri_status find_origin(tri_story *s, const tri_history *h)
{
    tri_trial_view v;
    tri_arena *arena;
    tri_event event;
    tri_status st = TRI_OK;
    char config[8192];

    TRI_TRY(tri_arena_create(&arena));
    tri_ctl_trial(s->ctl, s->trial, &v);
    tri_space_print(tri_ctl_study(s->ctl)->space, v.config, config,
                    sizeof config);
    for (int64_t i = 0; st == TRI_OK && i < tri_history_n(h); i++) {
        tri_entry e;

        tri_history_entry(h, i, &e);
        st = tri_event_unpack(e.packed, e.bytes, arena, &event);
        if (st != TRI_OK || event.time_s > v.created_s) {
            break;
        }
        if (event.kind == TRI_EV_PROPOSALS) {
            find_proposal(s, &event, e.seq, config);
        }
    }
    tri_arena_destroy(arena);
    return st;
}

/* ---- the whole ------------------------------------------------------- */

static tri_status no_trial(const char *path, const tri_story *s)
{
    int64_t n = tri_ctl_n_trials(s->ctl);
    tri_status st = n == 0 ? TRI_FAIL(TRI_ENOTFOUND, "there is no trial yet")
                           : TRI_FAIL(TRI_ENOTFOUND,
                                      "there is no trial %" PRId64
                                      "; the last one is %" PRId64,
                                      s->trial, n - 1);

    tri_error_place(path, 0, 0);
    return st;
}

static tri_status look_back(tri_story *s, const tri_history *h,
                            const char *path)
{
    tri_trial_view v;

    if (s->trial < 0) {
        return TRI_OK;
    }
    if (s->trial >= tri_ctl_n_trials(s->ctl)) {
        return no_trial(path, s);
    }
    for (int i = 0; i < s->n_rungs; i++) {
        tri_rung_story *r = &s->rungs[i];

        r->now = place_of(s->ctl, s->trial, r->bracket, r->rung);
    }
    tri_ctl_trial(s->ctl, s->trial, &v);
    return v.rule[0] ? find_origin(s, h) : TRI_OK;
}

tri_status tri_story_read(const char *path, int64_t trial, tri_story *out)
{
    tri_history *history = NULL;
    tri_story s = {.trial = trial, .last.event = -1, .from.event = -1};
    tri_status st;

    TRI_TRY(tri_app_history(path, &history));
    st = tri_history_replay_each(history, each, &s, &s.ctl, NULL);
    if (st == TRI_OK) {
        st = look_back(&s, history, path);
    }
    tri_history_destroy(history);
    if (st != TRI_OK) {
        tri_story_fini(&s);
        return st;
    }
    *out = s;
    return TRI_OK;
}

void tri_story_fini(tri_story *s)
{
    tri_ctl_destroy(s->ctl);
    s->ctl = NULL;
}

/* ---- a thinker ------------------------------------------------------- */

#ifdef TRI_HAVE_SEARCH

static tri_status think(tri_believer *b, const tri_story *story)
{
    tri_warm_records *warm;
    tri_status st;
    int n;

    if (!getenv("OPENBLAS_NUM_THREADS")) { /* as tune has it */
        openblas_set_num_threads(1);
    }
    TRI_TRY(tri_ctl_warm_records(story->ctl, &warm, &n));
    st = tri_thinker_create(tri_ctl_study(story->ctl), story->seed, warm, n,
                            &b->thinker);
    tri_warm_records_destroy(warm, n);
    TRI_TRY(st);
    return tri_thinker_answer(b->thinker, b->snapshot, NULL, &b->next);
}

tri_status tri_believer_believe(tri_believer *b, const tri_config *c,
                                int64_t resource, tri_belief *out)
{
    return tri_thinker_believe(b->thinker, c, resource, out);
}

const char *tri_believer_news(const tri_believer *b)
{
    return tri_thinker_news(b->thinker);
}

int tri_believer_leads(const tri_study *study)
{
    return tri_study_thinks(study);
}

static void forget(tri_believer *b)
{
    tri_thinker_destroy(b->thinker);
}

#else

static tri_status think(tri_believer *b, const tri_story *story)
{
    (void)story;
    b->next.model = "none";
    b->next.hyper = "this trireme was built without BLAS";
    b->next.tau = NAN;
    return TRI_OK;
}

tri_status tri_believer_believe(tri_believer *b, const tri_config *c,
                                int64_t resource, tri_belief *out)
{
    (void)b;
    (void)c;
    (void)resource;
    *out = (tri_belief){NAN, NAN, NAN, NAN, NAN, NAN};
    return TRI_OK;
}

const char *tri_believer_news(const tri_believer *b)
{
    (void)b;
    return NULL;
}

int tri_believer_leads(const tri_study *study)
{
    (void)study;
    return 0;
}

static void forget(tri_believer *b)
{
    (void)b;
}

#endif

int tri_believer_has_model(const tri_believer *b)
{
    return b->next.model && strcmp(b->next.model, "none") != 0;
}

tri_status tri_believer_init(tri_believer *b, const tri_story *story,
                             int wanted)
{
    tri_status st;

    *b = (tri_believer){NULL, NULL, {0}};
    TRI_TRY(tri_ctl_snapshot(story->ctl, story->asked + 1, wanted,
                             &b->snapshot));
    st = think(b, story);
    if (st != TRI_OK) {
        tri_believer_fini(b);
    }
    return st;
}

void tri_believer_fini(tri_believer *b)
{
    forget(b);
    tri_snapshot_destroy(b->snapshot);
    *b = (tri_believer){NULL, NULL, {0}};
}

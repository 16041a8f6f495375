/*
 * The world's model of ranks and runs, and the rules that hold after every
 * event.
 */
#include "tests/ctl/world.h"

#include "trireme/wire.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const host_names[] = {"h0", "h1", "h2", "h3", "h4",
                                         "h5", "h6", "h7", "h8", "h9"};

void world_init(world *w, const char *study)
{
    *w = (world){.text = study,
                 .seed = 1,
                 .machine_class = "",
                 .counts = "",
                 .best = -1,
                 .peak_bytes = 100,
                 .max_time_s = NAN,
                 .deadline_s = NAN};
    assert_int_equal(tri_ctl_create(&w->ctl), TRI_OK);
    for (int i = 0; i <= WORLD_RANKS; i++) {
        w->holder[i] = -1;
    }
}

void world_fini(world *w)
{
    tri_ctl_destroy(w->ctl);
    free(w->runs);
    free(w->story);
    free(w->digests);
    for (int i = 0; i < w->n_kept; i++) {
        free(w->kept[i]);
    }
    free(w->kept);
}

wrun *world_find(world *w, int64_t run)
{
    for (int i = 0; i < w->n_runs; i++) {
        if (w->runs[i].run == run) {
            return &w->runs[i];
        }
    }
    return NULL;
}

static void forget(world *w, wrun *r)
{
    for (int i = 0; i < r->n_ranks; i++) {
        if (w->holder[r->ranks[i]] == r->run) {
            w->holder[r->ranks[i]] = -1;
        }
    }
    memmove(r, r + 1, (size_t)(w->runs + w->n_runs - (r + 1)) * sizeof *r);
    w->n_runs--;
}

static wrun *add(world *w)
{
    if (w->n_runs == w->room) {
        w->room = w->room ? 2 * w->room : 16;
        w->runs = realloc(w->runs, (size_t)w->room * sizeof *w->runs);
        assert_non_null(w->runs);
    }
    return &w->runs[w->n_runs++];
}

static void check_not_failed(const world *w, int64_t trial)
{
    for (int i = 0; i < w->n_failed_trials; i++) {
        assert_true(w->failed_trials[i] != trial);
    }
}

static void on_assign(world *w, const tri_cmd_assign *c)
{
    wrun *r = add(w);
    tri_trial_view t;

    tri_ctl_trial(w->ctl, c->trial, &t);
    *r = (wrun){.run = c->run,
                .trial = c->trial,
                .resource = c->resource,
                .attempt = c->attempt,
                .rung = c->rung,
                .phase = c->phase,
                .n_ranks = c->n_ranks,
                .save = c->save};
    assert_int_equal(c->epoch, w->epoch);
    assert_int_equal(c->n_ranks, t.ranks);
    assert_int_equal(c->resource,
                     tri_sched_resource(tri_ctl_sched(w->ctl), c->rung));
    for (int i = 0; i < c->n_ranks; i++) {
        int32_t rank = c->ranks[i];

        assert_in_range(rank, 1, WORLD_RANKS);
        assert_true(i == 0 || rank > c->ranks[i - 1]);
        assert_true(w->up[rank]);
        assert_int_equal(w->holder[rank], -1); /* never used twice */
        w->holder[rank] = c->run;
        r->ranks[i] = rank;
    }
    if (c->phase == TRI_PHASE_SEARCH) {
        check_not_failed(w, c->trial);
        w->searched++;
        w->most_attempt =
                c->attempt > w->most_attempt ? c->attempt : w->most_attempt;
    } else {
        assert_int_equal(w->n_runs, 1); /* alone on the pool */
    }
}

static void on_verdict(world *w, const tri_cmd_verdict *c)
{
    wrun *r = world_find(w, c->run);

    assert_non_null(r);
    assert_int_equal(r->attempt, c->attempt);
    assert_int_equal(r->ranks[0], c->rank);
    if (c->verdict == TRI_VERDICT_CONTINUE) {
        check_not_failed(w, r->trial);
        for (int i = 0; i < r->n_ranks; i++) {
            w->holder[r->ranks[i]] = c->next_run;
        }
        assert_int_equal(c->next_rung, r->rung + 1);
        r->run = c->next_run;
        r->rung = c->next_rung;
        r->resource = c->resource;
        r->attempt = 0;
        r->state = WRUN_RUNNING;
        w->searched++;
    } else if (c->verdict == TRI_VERDICT_STOP) {
        r->state = WRUN_STOPPING;
        r->drain = c->drain;
    } else if (c->save) {
        r->state = WRUN_SAVING;
    } else {
        forget(w, r);
    }
}

static void on_strike(world *w, int32_t rank)
{
    w->up[rank] = 0;
    for (int i = 0; i < w->n_runs; i++) {
        if (w->runs[i].run == w->holder[rank]) {
            forget(w, &w->runs[i]);
            return;
        }
    }
}

static void on_command(world *w, const tri_command *c)
{
    assert_int_equal(w->ended, 0); /* end is the last */
    switch (c->kind) {
    case TRI_CMD_ASSIGN:
        on_assign(w, &c->u.assign);
        break;
    case TRI_CMD_GO:
        assert_non_null(world_find(w, c->u.go.run));
        world_find(w, c->u.go.run)->state = WRUN_RUNNING;
        break;
    case TRI_CMD_VERDICT:
        on_verdict(w, &c->u.verdict);
        break;
    case TRI_CMD_THINK:
        assert_true(w->thinks);
        assert_int_equal(w->question, 0); /* one at a time */
        assert_true(c->u.think.snapshot > w->asked);
        assert_in_range(c->u.think.wanted, 1, 64);
        w->question = w->asked = c->u.think.snapshot;
        w->wanted = c->u.think.wanted;
        break;
    case TRI_CMD_STRIKE:
        on_strike(w, c->u.strike.rank);
        break;
    case TRI_CMD_LEAVE:
        w->leaves++;
        while (w->n_runs) { /* those that never answered */
            forget(w, w->runs);
        }
        break;
    case TRI_CMD_END:
        assert_int_equal(w->leaves, 1);
        w->ended = 1;
        w->status = c->u.end.status;
        w->resumable = c->u.end.resumable;
        snprintf(w->why, sizeof w->why, "%s", c->u.end.why);
        break;
    default:
        break;
    }
}

/* ---- machine classes ---------------------------------------------------- */

static int is_done(const world *w)
{
    return w->ended && w->status == 0 && !w->resumable;
}

/* Whether the trial may never be tried again, on whatever machine: it said so
 * itself, or lacked an import. */
static int fails_anywhere(const world *w, int64_t trial)
{
    for (int64_t i = tri_ctl_n_runs(w->ctl) - 1; i >= 0; i--) {
        tri_run_view v;

        tri_ctl_run(w->ctl, i, &v);
        if (v.trial == trial && v.phase == TRI_PHASE_SEARCH) {
            return v.outcome.reason == TRI_REASON_INFEASIBLE ||
                   v.outcome.reason == TRI_REASON_IMPORT_ERROR;
        }
    }
    return 0;
}

/* This opening goes on with the study: if its class is another, results count
 * from here on. */
static void change_class(world *w)
{
    int n = 0;

    if (w->status == 2 && w->resumable) { /* it had given up */
        w->n_failed_trials = 0;
    }
    if (!w->machine_class || !*w->machine_class ||
        strcmp(w->machine_class, w->counts) == 0) {
        return;
    }
    if (*w->counts) {
        for (int i = 0; i < w->n_failed_trials; i++) {
            if (fails_anywhere(w, w->failed_trials[i])) {
                w->failed_trials[n++] = w->failed_trials[i];
            }
        }
        w->n_failed_trials = n;
        w->counts_from = w->epoch;
    }
    w->counts = w->machine_class;
}

/* The best is one of this class. */
static void check_best(world *w)
{
    tri_progress p;
    int found = 0;

    tri_ctl_progress(w->ctl, &p);
    assert_int_equal(p.best_trial >= 0 && p.results == 0, 0);
    if (p.best_trial < 0 ||
        (p.best_trial == w->best && w->counts_from == w->best_from)) {
        return;
    }
    w->best = p.best_trial;
    w->best_from = w->counts_from;
    for (int64_t i = 0; i < p.runs && !found; i++) {
        tri_run_view v;

        tri_ctl_run(w->ctl, i, &v);
        found = v.trial == p.best_trial && v.phase == TRI_PHASE_SEARCH &&
                v.epoch >= w->counts_from && v.objective == p.best;
    }
    assert_true(found);
}

/* What the views say must be what the commands said. */
static void check_views(world *w)
{
    const tri_study *s = tri_ctl_study(w->ctl);
    tri_progress p;
    int busy = 0;

    tri_ctl_progress(w->ctl, &p);
    assert_true(s->budget.runs == TRI_UNLIMITED ||
                w->searched - p.remeasured <= s->budget.runs);
    assert_true(s->budget.trials == TRI_UNLIMITED ||
                p.trials <= s->budget.trials);
    assert_int_equal(p.running, w->n_runs);
    for (int i = 0; i < tri_ctl_n_ranks(w->ctl); i++) {
        tri_rank_view v;

        tri_ctl_rank(w->ctl, i, &v);
        assert_int_equal(v.run, w->holder[v.rank]);
        busy += v.run >= 0;
    }
    assert_int_equal(p.ranks_busy, busy);
    assert_int_equal(p.state == TRI_CTL_ENDED, w->ended);
}

static void note_failed(world *w)
{
    const int64_t *list;
    int n = tri_ctl_changed_trials(w->ctl, &list);

    for (int i = 0; i < n; i++) {
        tri_trial_view t;

        assert_true(i == 0 || list[i] > list[i - 1]);
        tri_ctl_trial(w->ctl, list[i], &t);
        if (t.state == TRI_TRIAL_FAILED && w->n_failed_trials < 4096) {
            w->failed_trials[w->n_failed_trials++] = list[i];
        }
    }
}

static void tell(world *w, const tri_event *e)
{
    if (w->n_story == w->story_room) {
        w->story_room = w->story_room ? 2 * w->story_room : 256;
        w->story = realloc(w->story, (size_t)w->story_room * sizeof *w->story);
        w->digests =
                realloc(w->digests, (size_t)w->story_room * sizeof *w->digests);
        assert_non_null(w->story);
        assert_non_null(w->digests);
    }
    w->story[w->n_story] = *e;
    w->digests[w->n_story++] = tri_commands_digest(&w->last);
}

void world_feed(world *w, const tri_event *event)
{
    tri_event e = *event;
    tri_status st;

    e.time_s = w->now;
    st = tri_ctl_feed(w->ctl, &e, &w->last);
    if (st != TRI_OK) {
        fail_msg("%s: %s", tri_event_name(e.kind), tri_error_last()->sentence);
    }
    tell(w, &e);
    for (int i = 0; i < w->last.n; i++) {
        on_command(w, &w->last.list[i]);
    }
    note_failed(w);
    check_views(w);
    check_best(w);
}

void world_retell(const world *w)
{
    tri_ctl *ctl;

    assert_int_equal(tri_ctl_create(&ctl), TRI_OK);
    for (int i = 0; i < w->n_story; i++) {
        tri_commands commands;

        assert_int_equal(tri_ctl_feed(ctl, &w->story[i], &commands), TRI_OK);
        assert_int_equal(tri_commands_digest(&commands), w->digests[i]);
    }
    tri_ctl_destroy(ctl);
}

/* ---- events -------------------------------------------------------------- */

void world_open(world *w)
{
    tri_event e = {.kind = TRI_EV_OPEN,
                   .u.open = {.study_text = {w->text, strlen(w->text)},
                              .study_path = "study.yaml",
                              .seed = w->seed,
                              .build = "test",
                              .epoch = ++w->epoch,
                              .max_time_s = w->max_time_s,
                              .deadline_s = w->deadline_s,
                              .deadline_source = "",
                              .level = "resume",
                              .pml = "",
                              .machine_class = w->machine_class,
                              .command_line = "",
                              .may_think = (uint8_t)w->thinks,
                              .rules = TRI_RULES,
                              .warm = w->warm,
                              .n_warm = w->n_warm,
                              .no_timeouts = (uint8_t)w->may_be_quiet}};

    if (!is_done(w)) {
        change_class(w);
    }
    w->ended = w->leaves = 0;
    w->question = 0;
    w->n_runs = 0;
    for (int i = 0; i <= WORLD_RANKS; i++) {
        w->holder[i] = -1;
        w->up[i] = 0;
    }
    world_feed(w, &e);
}

void world_edit(world *w, const char *study)
{
    tri_event e = {.kind = TRI_EV_EDITED,
                   .u.edited = {.study_text = {study, strlen(study)}}};

    change_class(w);
    world_feed(w, &e);
}

static void pool(world *w, int rank, int state, int host)
{
    tri_event e = {.kind = TRI_EV_POOL,
                   .u.pool = {.rank = rank,
                              .state = state,
                              .host = host_names[host],
                              .cores = 1,
                              .device = ""}};

    w->up[rank] = state == TRI_RANK_UP;
    world_feed(w, &e);
}

void world_pool(world *w, int n, int per_host)
{
    for (int i = 1; i <= n; i++) {
        pool(w, i, TRI_RANK_UP, (i - 1) / per_host);
    }
}

void world_rank(world *w, int rank, int state)
{
    pool(w, rank, state, 0); /* hosts are told once */
}

void world_clock(world *w, double gap_s)
{
    tri_event e = {.kind = TRI_EV_CLOCK, .u.clock = {.gap_s = gap_s}};

    world_feed(w, &e);
}

void world_begin(world *w, int n, int per_host)
{
    world_open(w);
    world_pool(w, n, per_host);
    world_clock(w, 0);
}

void world_formed(world *w, int64_t run)
{
    tri_event e = {.kind = TRI_EV_FORMED,
                   .u.formed = {run, world_find(w, run)->attempt}};

    world_feed(w, &e);
}

void world_report(world *w, int64_t run, double step_s)
{
    tri_event e = {.kind = TRI_EV_REPORT,
                   .u.report = {.run = run,
                                .attempt = world_find(w, run)->attempt,
                                .step = 1,
                                .step_s = step_s,
                                .loss = NAN}};

    world_feed(w, &e);
}

static tri_event outcome(world *w, tri_event_kind kind, int64_t run)
{
    return (tri_event){.kind = kind,
                       .u.outcome = {.run = run,
                                     .attempt = world_find(w, run)->attempt,
                                     .sentence = "",
                                     .lost_rank = -1,
                                     .objective = NAN,
                                     .lo = NAN,
                                     .hi = NAN,
                                     .loss = NAN,
                                     .tokens_per_s = NAN,
                                     .samples_per_s = NAN,
                                     .step_s = NAN,
                                     .peak_bytes = w->peak_bytes,
                                     .rss_bytes = -1,
                                     .checkpoint_s = NAN,
                                     .checkpoint_bytes = -1,
                                     .checkpoint = ""}};
}

void world_finished(world *w, int64_t run, double value)
{
    tri_event e = outcome(w, TRI_EV_FINISHED, run);
    wrun *r = world_find(w, run);

    e.u.outcome.loss = value;
    e.u.outcome.tokens_per_s = value;
    if (w->interval > 0) {
        e.u.outcome.lo = value * (1 - w->interval);
        e.u.outcome.hi = value * (1 + w->interval);
    }
    if (r->state == WRUN_STOPPING) {
        forget(w, r);
    }
    world_feed(w, &e);
}

/* The run has gone, whatever is said of it. */
static void gone(world *w, const tri_event *e, int64_t run)
{
    forget(w, world_find(w, run));
    world_feed(w, e);
}

void world_feed_gone(world *w, const tri_event *e, int64_t run)
{
    gone(w, e, run);
}

void world_failed(world *w, int64_t run, tri_reason reason)
{
    tri_event e = outcome(w, TRI_EV_FAILED, run);

    e.u.outcome.reason = reason;
    e.u.outcome.sentence = w->sentence ? w->sentence : "";
    gone(w, &e, run);
}

void world_lost(world *w, int64_t run, tri_reason reason, int rank, int witness)
{
    tri_event e = outcome(w, TRI_EV_LOST, run);

    e.u.outcome.reason = reason;
    e.u.outcome.lost_rank = rank;
    e.u.outcome.witness = (uint8_t)witness;
    if (rank > 0) {
        w->up[rank] = 0;
    }
    gone(w, &e, run);
}

void world_paused(world *w, int64_t run, const char *checkpoint)
{
    tri_event e = outcome(w, TRI_EV_PAUSED, run);

    e.u.outcome.checkpoint = checkpoint;
    e.u.outcome.checkpoint_step = world_find(w, run)->resource;
    gone(w, &e, run);
}

void world_interrupted(world *w, int64_t run, const char *checkpoint)
{
    tri_event e = outcome(w, TRI_EV_INTERRUPTED, run);

    e.u.outcome.checkpoint = checkpoint;
    e.u.outcome.checkpoint_step = 1;
    gone(w, &e, run);
}

void world_drain(world *w, int why)
{
    tri_event e = {.kind = TRI_EV_DRAIN, .u.drain = {.why = why}};

    if (why == TRI_DRAIN_NOW) {
        while (w->n_runs) {
            forget(w, w->runs);
        }
    }
    world_feed(w, &e);
}

static void *keep(world *w, size_t bytes)
{
    void *p = calloc(1, bytes + 1);

    w->kept = realloc(w->kept, ((size_t)w->n_kept + 1) * sizeof *w->kept);
    assert_non_null(p);
    assert_non_null(w->kept);
    w->kept[w->n_kept++] = p;
    return p;
}

static const char *keep_text(world *w, const char *text)
{
    return strcpy(keep(w, strlen(text)), text);
}

void world_proposals(world *w, int64_t snapshot, const tri_proposal *list,
                     int n)
{
    tri_proposal *copy = keep(w, (size_t)n * sizeof *copy);
    tri_event e = {.kind = TRI_EV_PROPOSALS,
                   .u.proposals = {.snapshot = snapshot,
                                   .model = "gp",
                                   .hyper = "",
                                   .tau = NAN,
                                   .fit_s = 0.01,
                                   .list = copy,
                                   .n_list = n}};

    for (int i = 0; i < n; i++) {
        copy[i] = list[i];
        copy[i].config = keep_text(w, list[i].config);
        copy[i].rule = keep_text(w, list[i].rule);
    }
    w->question = snapshot == w->question ? 0 : w->question;
    world_feed(w, &e);
}

void world_run(world *w, int64_t run, double value)
{
    world_formed(w, run);
    world_report(w, run, 0.1);
    world_finished(w, run, value);
}

/* ---- commands ---- */

const tri_command *world_command(const world *w, tri_command_kind kind, int n)
{
    for (int i = 0; i < w->last.n; i++) {
        if (w->last.list[i].kind == kind && n-- == 0) {
            return &w->last.list[i];
        }
    }
    return NULL;
}

int world_count(const world *w, tri_command_kind kind)
{
    int n = 0;

    while (world_command(w, kind, n)) {
        n++;
    }
    return n;
}

/*
 * The tiny driver; see the header.  Fails by abort: what goes wrong here is
 * the test's own fault or the controller's.
 */
#include "tests/store/tiny.h"

#include "src/store/record.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define QUEUE 4096

#define STUDY(b_choices, extra)                                                \
    "study: tiny\n"                                                            \
    "seed: 5\n"                                                                \
    "model: {kind: synthetic}\n"                                               \
    "space:\n"                                                                 \
    "  a: {int: [1, 8]}\n"                                                     \
    "  b: {choice: [" b_choices "]}\n"                                         \
    "  c: {float: [0.5, 2.0]}\n"                                               \
    "  d: {choice: [1, 2.5]}\n"                                                \
    "  e: {choice: [one, two], when: a > 3}\n"                                 \
    "  f: {int: [1, 4], when: a > 4}\n"                                        \
    "  g: {choice: [true, false]}\n"                                           \
    "  k: 64\n"                                                                \
    "ranks: if(a > 4, 2, 1)\n"                                                 \
    "objective: {minimize: loss}\n"                                            \
    "resource: {unit: steps, min: 2, max: 8, eta: 2}\n"                        \
    "search: quasi\n"                                                          \
    "budget: {trials: 12}\n"                                                   \
    "finals: none\n" extra

const char tiny_study[] = STUDY("x, y, z", "");
const char tiny_study_edited[] = STUDY("x, y, z, quite-long", "");

typedef struct world {
    const tiny_settings *set;
    tri_record *record;
    tri_ctl *ctl;
    double now;
    tri_event queue[QUEUE];
    int head, tail;
    tiny_result result;
    int ended, drained;
} world;

static void must(int holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "tiny driver: %s: %s\n", what,
                tri_error_last()->sentence);
        abort();
    }
}

void tiny_defaults(tiny_settings *settings, const char *path)
{
    memset(settings, 0, sizeof *settings);
    settings->path = path;
    settings->drain_after = settings->crash_after = -1;
    settings->stop_after = settings->abandon_after = -1;
    settings->sync_every = 10;
}

/* ---- the world -------------------------------------------------------- */

static void push(world *w, const tri_event *event)
{
    must(w->tail < QUEUE, "queue");
    w->queue[w->tail++] = *event;
}

/* What was to come of a run does not come any more. */
static void forget(world *w, int64_t run)
{
    int i, kept = w->head;

    for (i = w->head; i < w->tail; ++i) {
        const tri_event *e = &w->queue[i];
        int64_t of = e->kind == TRI_EV_REPORT   ? e->u.report.run
                     : e->kind == TRI_EV_FORMED ? e->u.formed.run
                                                : e->u.outcome.run;

        if (of != run) {
            w->queue[kept++] = *e;
        }
    }
    w->tail = kept;
}

static tri_event outcome(tri_event_kind kind, const tri_run_view *run)
{
    tri_event e;
    tri_ev_outcome *o = &e.u.outcome;

    memset(&e, 0, sizeof e);
    e.kind = kind;
    o->run = run->run;
    o->attempt = run->attempt;
    o->sentence = "";
    o->lost_rank = -1;
    o->steps_done = run->resource;
    o->objective = o->lo = o->hi = o->loss = NAN;
    o->tokens_per_s = o->samples_per_s = o->step_s = o->checkpoint_s = NAN;
    o->peak_bytes = o->rss_bytes = o->checkpoint_bytes = -1;
    o->checkpoint = "";
    o->checkpoint_step = -1;
    return e;
}

static void push_report(world *w, const tri_run_view *run, int seq)
{
    tri_event e;

    memset(&e, 0, sizeof e);
    e.kind = TRI_EV_REPORT;
    e.u.report.run = run->run;
    e.u.report.attempt = run->attempt;
    e.u.report.seq = seq;
    e.u.report.step = seq + 1;
    e.u.report.step_s = 0.25;
    e.u.report.tokens = 64;
    e.u.report.loss = 3;
    push(w, &e);
}

/* The run works, and ends as its trial's number says. */
static void work(world *w, int64_t number)
{
    tri_run_view run;
    tri_event e;

    tri_ctl_run(w->ctl, number, &run);
    push_report(w, &run, 0);
    push_report(w, &run, 1);
    if (run.trial % 5 == 4) {
        e = outcome(TRI_EV_FAILED, &run);
        e.u.outcome.reason = TRI_REASON_NAN;
        e.u.outcome.sentence = "the loss is not a number";
        e.u.outcome.stderr_tail = (tri_blob){"nan at step 1\n", 14};
    } else {
        e = outcome(TRI_EV_FINISHED, &run);
        e.u.outcome.loss = 1 + (double)(run.trial * 37 % 50) / 50 +
                           1 / (double)run.resource;
        e.u.outcome.step_s = 0.25;
        e.u.outcome.peak_bytes = 1000 + run.trial;
    }
    push(w, &e);
}

static void answer_verdict(world *w, const tri_cmd_verdict *c)
{
    tri_run_view run;
    tri_event e;

    forget(w, c->run);
    if (c->verdict == TRI_VERDICT_CONTINUE) {
        work(w, c->next_run);
        return;
    }
    tri_ctl_run(w->ctl, c->run, &run);
    e = outcome(c->verdict == TRI_VERDICT_STOP ? TRI_EV_INTERRUPTED
                                               : TRI_EV_PAUSED,
                &run);
    if (c->verdict == TRI_VERDICT_STOP) {
        e.u.outcome.reason = TRI_REASON_DRAINED;
    }
    if (c->save) {
        e.u.outcome.checkpoint = "kept";
        e.u.outcome.checkpoint_step = run.resource;
    }
    push(w, &e);
}

static void carry_out(world *w, const tri_command *c)
{
    tri_event e;

    memset(&e, 0, sizeof e);
    if (c->kind == TRI_CMD_ASSIGN) {
        e.kind = TRI_EV_FORMED;
        e.u.formed = (tri_ev_formed){c->u.assign.run, c->u.assign.attempt};
        push(w, &e);
    } else if (c->kind == TRI_CMD_GO) {
        work(w, c->u.go.run);
    } else if (c->kind == TRI_CMD_VERDICT) {
        answer_verdict(w, &c->u.verdict);
    } else if (c->kind == TRI_CMD_END) {
        w->ended = 1;
        w->result.end_status = c->u.end.status;
    }
}

/* ---- the driver's page ------------------------------------------------ */

static tri_status feed(world *w, tri_event *event)
{
    tri_commands commands = {NULL, 0};
    int i;

    w->now += 0.01;
    if (w->set->pause_ms > 0) {
        struct timespec t = {0, w->set->pause_ms * 1000000L};

        nanosleep(&t, NULL);
    }
    event->time_s = w->now;
    must(tri_ctl_feed(w->ctl, event, &commands) == TRI_OK, "feed");
    TRI_TRY(tri_record_event(w->record, event, &commands, w->ctl));
    w->result.events += 1;
    if (w->set->returned) {
        *w->set->returned = w->record->journal->seq;
    }
    if (w->result.events % w->set->sync_every == 0) {
        TRI_TRY(tri_record_sync(w->record, 1));
    }
    if (w->result.events == w->set->stop_after) {
        raise(SIGSTOP);
    }
    for (i = 0; i < commands.n; ++i) {
        carry_out(w, &commands.list[i]);
    }
    return TRI_OK;
}

static tri_status feed_open(world *w)
{
    const char *study = w->set->study ? w->set->study : tiny_study;
    tri_event e;

    memset(&e, 0, sizeof e);
    e.kind = TRI_EV_OPEN;
    e.u.open.study_text = (tri_blob){study, strlen(study)};
    e.u.open.study_path = "tiny.yaml";
    e.u.open.seed = 5;
    e.u.open.build = "test";
    e.u.open.epoch = w->result.epoch;
    e.u.open.started_s = 1.7e9;
    e.u.open.max_time_s = e.u.open.deadline_s = NAN;
    e.u.open.deadline_source = e.u.open.pml = "";
    e.u.open.level = "resume";
    e.u.open.machine_class = "test";
    e.u.open.command_line = "tiny --test";
    e.u.open.no_timeouts = 1;
    return feed(w, &e);
}

static tri_status feed_edited(world *w)
{
    tri_event e;

    memset(&e, 0, sizeof e);
    e.kind = TRI_EV_EDITED;
    e.u.edited.study_text = (tri_blob){w->set->study, strlen(w->set->study)};
    return feed(w, &e);
}

static tri_status feed_clock(world *w)
{
    tri_event e;

    memset(&e, 0, sizeof e);
    e.kind = TRI_EV_CLOCK;
    return feed(w, &e);
}

/* Nobody asked for them: they are journalled, no more. */
static tri_status feed_proposals(world *w)
{
    tri_event e;

    memset(&e, 0, sizeof e);
    e.kind = TRI_EV_PROPOSALS;
    e.u.proposals.model = "trees";
    e.u.proposals.hyper = "depth 3";
    e.u.proposals.n_records = 7;
    e.u.proposals.tau = 0.5;
    TRI_TRY(feed(w, &e));
    return feed_clock(w);
}

static tri_status feed_pool(world *w)
{
    int rank;

    for (rank = 1; rank <= TINY_RANKS; ++rank) {
        tri_event e;

        memset(&e, 0, sizeof e);
        e.kind = TRI_EV_POOL;
        e.u.pool = (tri_ev_pool){.rank = rank,
                                 .state = TRI_RANK_UP,
                                 .host = rank < 3 ? "h1" : "h2",
                                 .cores = 2,
                                 .device = "cpu",
                                 .package = 1,
                                 .core = rank,
                                 .binding = "applied",
                                 .cpus = "3"};
        TRI_TRY(feed(w, &e));
    }
    return TRI_OK;
}

static tri_status feed_drain(world *w)
{
    tri_event e;

    memset(&e, 0, sizeof e);
    e.kind = TRI_EV_DRAIN;
    e.u.drain.why = TRI_DRAIN_SIGNAL;
    w->drained = 1;
    return feed(w, &e);
}

static tri_status feed_next(world *w)
{
    tri_event e;

    if (w->head < w->tail) {
        e = w->queue[w->head++];
        return feed(w, &e);
    }
    if (tri_ctl_next_deadline(w->ctl) > w->now) {
        w->now = tri_ctl_next_deadline(w->ctl);
    }
    must(isfinite(w->now), "the controller waits for nothing");
    return feed_clock(w);
}

static int is_done(const tri_ctl *ctl)
{
    tri_progress p;

    if (!tri_ctl_study(ctl)) {
        return 0;
    }
    tri_ctl_progress(ctl, &p);
    return p.state == TRI_CTL_ENDED && p.end_status == 0;
}

static int is_abandoned(const world *w)
{
    return w->set->abandon_after >= 0 &&
           w->result.events >= w->set->abandon_after;
}

static tri_status drive(world *w)
{
    const tiny_settings *set = w->set;
    int is_new = !tri_ctl_study(w->ctl);

    TRI_TRY(feed_open(w));
    if (is_abandoned(w)) {
        return TRI_OK;
    }
    if (!is_new && set->study) {
        TRI_TRY(feed_edited(w));
    }
    TRI_TRY(feed_pool(w));
    if (!is_abandoned(w)) {
        TRI_TRY(feed_proposals(w));
    }
    while (!w->ended && !is_abandoned(w)) {
        if (set->crash_after >= 0 && w->result.events >= set->crash_after) {
            return TRI_OK;
        }
        if (set->drain_after >= 0 && !w->drained &&
            w->result.events >= set->drain_after) {
            TRI_TRY(feed_drain(w));
        } else {
            TRI_TRY(feed_next(w));
        }
    }
    return TRI_OK;
}

static void start_clock(world *w)
{
    tri_progress p;

    if (tri_ctl_study(w->ctl)) {
        tri_ctl_progress(w->ctl, &p);
        w->now = p.time_s;
    }
}

tiny_result tiny_drive(const tiny_settings *settings)
{
    const tri_record_facts facts = {"test",   "no MPI",      "",
                                    "resume", "h1,h2",       "<topology/>",
                                    "test",   "tiny --test", settings->summary};
    world *w = calloc(1, sizeof *w);
    tri_record_end end = {4, "", 1};
    tiny_result result;
    tri_status st;

    must(w != NULL, "memory");
    w->set = settings;
    w->result.end_status = -1;
    w->result.status = tri_record_open(settings->path, settings->resume, &facts,
                                       &w->record, &w->ctl, &w->result.epoch);
    if (w->result.status == TRI_OK) {
        start_clock(w);
        if (is_done(w->ctl)) {
            w->result.end_status = 0;
        } else {
            w->result.status = drive(w);
        }
        end.status = w->result.status == TRI_OK && w->result.end_status >= 0
                             ? w->result.end_status
                             : 4;
        end.reason = w->result.status == TRI_OK ? "it \"ended\"" : "failed";
        st = settings->abandon_after >= 0
                     ? tri_record_abandon(w->record, w->ctl, &end)
                     : tri_record_close(w->record, w->ctl, &end,
                                        settings->hurry);
        w->result.status = w->result.status ? w->result.status : st;
        tri_ctl_destroy(w->ctl);
    }
    result = w->result;
    free(w);
    return result;
}

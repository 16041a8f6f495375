/*
 * Runs on the virtual cluster: how long they last, what becomes of them, and
 * what commands do to them.  Knows nothing of why the controller gave them.
 */
#include "src/sim/cluster.h"

#include "trireme/num.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* A leader that hears no verdict releases its ranks after this. */
#define VERDICT_WAIT_S 1.0

/* ---- what goes in ---------------------------------------------------- */

static tri_status carry_out(tri_cluster *m, const tri_commands *commands);

tri_status tri_cluster_feed(tri_cluster *m, tri_event *event)
{
    tri_commands commands = {NULL, 0};

    event->time_s = m->now_s;
    TRI_TRY(tri_ctl_feed(m->ctl, event, &commands));
    m->score.result.n_events++;
    m->clocks = event->kind == TRI_EV_CLOCK ? m->clocks + 1 : 0;
    if (m->set->each != NULL) {
        TRI_TRY(m->set->each(m->set->ctx, event, &commands, m->ctl));
    }
    TRI_TRY(carry_out(m, &commands));
    return tri_cluster_answer_at_once(m);
}

static tri_ev_outcome blank_outcome(const tri_slot *s)
{
    return (tri_ev_outcome){.run = s->run,
                            .attempt = s->attempt,
                            .sentence = "",
                            .lost_rank = -1,
                            .steps_done = s->from,
                            .objective = NAN,
                            .lo = NAN,
                            .hi = NAN,
                            .loss = NAN,
                            .tokens_per_s = NAN,
                            .samples_per_s = NAN,
                            .step_s = NAN,
                            .peak_bytes = -1,
                            .rss_bytes = -1,
                            .checkpoint_s = NAN,
                            .checkpoint_bytes = -1,
                            .checkpoint = "",
                            .checkpoint_step = -1,
                            .stderr_tail = {"", 0}};
}

static void measure(const tri_study *study, double value, tri_ev_outcome *o)
{
    tri_measured m;

    tri_curve_measured(study, value, &m);
    o->objective = m.own;
    o->loss = m.loss;
    o->tokens_per_s = m.tokens_per_s;
    o->samples_per_s = m.samples_per_s;
    o->step_s = m.step_s;
}

/* Slow ranks are slow in what they measure of speed, too.  With one such host
 * every speed has an interval, so that it can be found. */
#define INTERVAL 0.01

static void slow_down(const tri_cluster *m, const tri_slot *s,
                      tri_ev_outcome *o)
{
    double times = tri_cluster_slowness(m, s->ranks, s->n_ranks);
    double speed;

    o->tokens_per_s /= times;
    o->samples_per_s /= times;
    o->step_s *= times;
    speed = !isnan(o->tokens_per_s)    ? o->tokens_per_s
            : !isnan(o->samples_per_s) ? o->samples_per_s
                                       : o->step_s;
    if (speed > 0) { /* what a synthetic curve makes of it may not be */
        o->lo = (1 - INTERVAL) * speed;
        o->hi = (1 + INTERVAL) * speed;
    }
}

/* The digits of x >= 0 to `at`; returns where they end. */
static char *put_number(char *at, int64_t x)
{
    char digits[20];
    int n = 0;

    do {
        digits[n++] = (char)('0' + x % 10);
        x /= 10;
    } while (x > 0);
    while (n > 0) {
        *at++ = digits[--n];
    }
    return at;
}

/* `name` has room for t, r and two numbers. */
static void note_checkpoint(const tri_slot *s, double cost_s, char *name,
                            tri_ev_outcome *o)
{
    char *at = name;

    if (!s->save) {
        return;
    }
    *at++ = 't';
    at = put_number(at, s->trial);
    *at++ = '.';
    *at++ = 'r';
    at = put_number(at, s->reached);
    *at = '\0';
    o->checkpoint = name;
    o->checkpoint_step = s->reached;
    o->checkpoint_s = cost_s;
    o->checkpoint_bytes = 0;
}

/* ---- time ------------------------------------------------------------ */

static tri_status happen(tri_cluster *m, double time_s, tri_happening kind,
                         int slot)
{
    int later = kind == TRI_HAPPENS_END || kind == TRI_HAPPENS_LOSS;
    tri_heap_entry e = {.time_s = time_s,
                        .later = (int16_t)later,
                        .kind = (int16_t)kind,
                        .slot = slot,
                        .stamp = m->slots.list[slot].stamp,
                        .about = (int32_t)m->slots.list[slot].run};

    /* an answer takes as long as the one before */
    return later ? tri_heap_push(&m->heap, e) : tri_heap_append(&m->heap, e);
}

/* So few runs in flight are in the caches anyway. */
#define FEW 64

void tri_cluster_look_ahead(const tri_cluster *m)
{
    const tri_heap_entry *e = m->heap.entries;

    if (m->slots.n < FEW) {
        return;
    }
    for (size_t i = 0; i < 3 && i < m->heap.n; i++) {
        if (e[i].slot >= 0 && e[i].slot < m->slots.n) {
            __builtin_prefetch(&m->slots.list[e[i].slot]);
            __builtin_prefetch(&m->slots.list[e[i].slot].end);
        }
        tri_ctl_expect(m->ctl, e[i].about, i == 0);
    }
}

/* Time until a run is dropped: geometric with `drop` a unit, on real time. */
static double survival(const tri_cluster *m, uint64_t key)
{
    tri_rng rng;

    if (!(m->set->drop > 0)) {
        return INFINITY;
    }
    rng = tri_rng_stream(m->set->seed, key, TRI_RNG_DROP);
    return tri_log(1 - tri_rng_unit(&rng)) / tri_log(1 - m->set->drop);
}

static double straggling(const tri_cluster *m, uint64_t key)
{
    tri_rng rng;

    if (!(m->set->straggle > 0)) {
        return 1;
    }
    rng = tri_rng_stream(m->set->seed, key, TRI_RNG_STRAGGLE);
    return 1 + m->set->straggle * fabs(tri_rng_normal(&rng));
}

/* Of the slowest of its ranks. */
static double pace(const tri_cluster *m, const tri_slot *s)
{
    double slowest = 1;

    for (int i = 0; m->pace != NULL && i < s->n_ranks; i++) {
        double p = m->pace[s->ranks[i]];

        slowest = p > slowest ? p : slowest;
    }
    return slowest;
}

/* The slot's run begins to work when the word reaches it; rank 0 hears of its
 * end as much later. */
static tri_status start(tri_cluster *m, int slot)
{
    tri_slot *s = &m->slots.list[slot];
    uint64_t key = (uint64_t)s->run | (uint64_t)s->attempt << 48;
    double latency = m->set->latency_s;
    double survives;

    tri_curve_at_hash(m->source, s->config, s->hash, s->run, s->from, s->to,
                      &s->end);
    s->lasts_s = s->end.duration_s * straggling(m, key) * pace(m, s) *
                 tri_cluster_slowness(m, s->ranks, s->n_ranks);
    survives = survival(m, key);
    s->state = TRI_SLOT_RUNNING;
    s->start_s = m->now_s + latency;
    if (survives < s->lasts_s) {
        return happen(m, s->start_s + survives + latency, TRI_HAPPENS_LOSS,
                      slot);
    }
    return happen(m, s->start_s + s->lasts_s + latency, TRI_HAPPENS_END, slot);
}

static void leave(tri_cluster *m, int slot)
{
    m->score.busy -= m->slots.list[slot].n_ranks;
    tri_slots_give(&m->slots, slot);
}

/* ---- what happens to runs -------------------------------------------- */

static tri_status report(tri_cluster *m, const tri_slot *s)
{
    tri_event e = {.kind = TRI_EV_REPORT};

    e.u.report = (tri_ev_report){.run = s->run,
                                 .attempt = s->attempt,
                                 .step = s->to,
                                 .step_s = NAN,
                                 .loss = s->end.objective,
                                 .bytes = -1};
    return tri_cluster_feed(m, &e);
}

static tri_status formed(tri_cluster *m, int slot)
{
    const tri_slot *s = &m->slots.list[slot];
    tri_event e = {.kind = TRI_EV_FORMED};

    e.u.formed = (tri_ev_formed){s->run, s->attempt};
    return tri_cluster_feed(m, &e);
}

static tri_reason failure_of(const tri_curve_point *end)
{
    if (end->final_failure) {
        return TRI_REASON_INFEASIBLE;
    }
    return end->failed ? TRI_REASON_BAD_EXIT : TRI_REASON_NAN;
}

static const char *sentence_of(const tri_curve_point *end)
{
    if (end->missing) {
        return "nothing is recorded of this configuration";
    }
    if (end->final_failure) {
        return "the recorded run failed";
    }
    return end->failed ? "an injected failure" : "not a number";
}

static tri_status fail_run(tri_cluster *m, int slot)
{
    const tri_slot *s = &m->slots.list[slot];
    tri_event e = {.kind = TRI_EV_FAILED};

    e.u.outcome = blank_outcome(s);
    e.u.outcome.reason = failure_of(&s->end);
    e.u.outcome.sentence = sentence_of(&s->end);
    m->score.result.missing += s->end.missing;
    if (s->end.final_failure || !s->end.failed) {
        TRI_TRY(tri_score_add(&m->score, s->trial, s->rung, s->to, NAN));
    }
    leave(m, slot);
    return tri_cluster_feed(m, &e);
}

static tri_status finish_run(tri_cluster *m, int slot)
{
    tri_slot *s = &m->slots.list[slot];
    uint32_t stamp = s->stamp;
    tri_event e = {.kind = TRI_EV_FINISHED};
    tri_measured measured;

    if (m->set->reports) {
        TRI_TRY(report(m, s));
    }
    s = &m->slots.list[slot];
    e.u.outcome = blank_outcome(s);
    e.u.outcome.steps_done = s->to;
    /* of memory nothing is known: it was enough */
    e.u.outcome.peak_bytes = e.u.outcome.rss_bytes = 0;
    measure(m->study, s->end.objective, &e.u.outcome);
    if (m->set->slow_host >= 0) {
        slow_down(m, s, &e.u.outcome);
    }
    tri_curve_measured(m->study, s->end.objective, &measured);
    TRI_TRY(tri_score_add(
            &m->score, s->trial, s->rung, s->to,
            tri_study_objective(m->study, &measured, s->n_ranks)));
    s->state = TRI_SLOT_WAITING;
    TRI_TRY(tri_cluster_feed(m, &e));
    s = &m->slots.list[slot];
    if (s->stamp == stamp && s->state == TRI_SLOT_WAITING) {
        s->save = 0;
        s->reached = s->to;
        return happen(m, m->now_s + VERDICT_WAIT_S, TRI_HAPPENS_PAUSE, slot);
    }
    return TRI_OK;
}

static tri_status end_of_work(tri_cluster *m, int slot)
{
    const tri_curve_point *end = &m->slots.list[slot].end;

    if (end->failed || isnan(end->objective)) {
        return fail_run(m, slot);
    }
    return finish_run(m, slot);
}

/* How far a run is that was stopped in the midst of it. */
static int64_t reached(const tri_cluster *m, const tri_slot *s)
{
    double share = s->lasts_s > 0 ? (m->now_s - s->start_s) / s->lasts_s : 0;
    int64_t step;

    share = share > 0 ? share : 0; /* the go is still on its way */
    step = s->from + (int64_t)((double)(s->to - s->from) * share);
    return step < s->to ? step : s->to - 1;
}

tri_status tri_cluster_lose(tri_cluster *m, int slot, tri_reason reason)
{
    tri_slot *s = &m->slots.list[slot];
    tri_event e = {.kind = TRI_EV_LOST};
    char name[64];

    e.u.outcome = blank_outcome(s);
    e.u.outcome.reason = reason;
    e.u.outcome.sentence = "dropped by the virtual cluster";
    e.u.outcome.witness = 1;
    m->score.result.lost++;
    if (reason == TRI_REASON_RANK_LOST &&
        m->set->dropped == TRI_DROPPED_RESUMED) {
        e.kind = TRI_EV_INTERRUPTED;
        e.u.outcome.reason = TRI_REASON_DRAINED;
        s->save = 1;
        s->reached = e.u.outcome.steps_done = reached(m, s);
        note_checkpoint(s, 0, name, &e.u.outcome);
    } else if (reason == TRI_REASON_RANK_LOST &&
               m->set->dropped == TRI_DROPPED_LOST) {
        e.kind = TRI_EV_FAILED;
        e.u.outcome.reason = TRI_REASON_KILLED;
    } else if (s->state == TRI_SLOT_RUNNING) {
        e.u.outcome.steps_done = reached(m, s);
    }
    leave(m, slot);
    return tri_cluster_feed(m, &e);
}

static tri_status pause(tri_cluster *m, int slot)
{
    const tri_slot *s = &m->slots.list[slot];
    tri_event e = {.kind = TRI_EV_PAUSED};
    char name[64];

    e.u.outcome = blank_outcome(s);
    e.u.outcome.steps_done = s->reached;
    note_checkpoint(s, m->set->checkpoint_s, name, &e.u.outcome);
    leave(m, slot);
    return tri_cluster_feed(m, &e);
}

static tri_status interrupt(tri_cluster *m, int slot)
{
    const tri_slot *s = &m->slots.list[slot];
    tri_event e = {.kind = TRI_EV_INTERRUPTED};
    char name[64];

    e.u.outcome = blank_outcome(s);
    e.u.outcome.reason = TRI_REASON_DRAINED;
    e.u.outcome.steps_done = s->reached;
    note_checkpoint(s, m->set->checkpoint_s, name, &e.u.outcome);
    m->kept += s->save && s->reached > s->from;
    leave(m, slot);
    return tri_cluster_feed(m, &e);
}

tri_status tri_cluster_fire(tri_cluster *m, const tri_heap_entry *e)
{
    if (e->kind == TRI_HAPPENS_NODE_DOWN || e->kind == TRI_HAPPENS_NODE_UP) {
        return tri_cluster_fire_node(m, e);
    }
    if (e->kind == TRI_HAPPENS_ANSWER) {
        return tri_cluster_fire_answer(m, e);
    }
    if (m->slots.list[e->slot].stamp != e->stamp) {
        return TRI_OK;
    }
    switch ((tri_happening)e->kind) {
    case TRI_HAPPENS_FORMED:
        return formed(m, e->slot);
    case TRI_HAPPENS_END:
        return end_of_work(m, e->slot);
    case TRI_HAPPENS_LOSS:
        return tri_cluster_lose(m, e->slot, TRI_REASON_RANK_LOST);
    case TRI_HAPPENS_PAUSE:
        return pause(m, e->slot);
    case TRI_HAPPENS_INTERRUPT:
        return interrupt(m, e->slot);
    default:
        break;
    }
    return TRI_OK;
}

/* ---- what comes out -------------------------------------------------- */

static tri_status assign(tri_cluster *m, const tri_cmd_assign *c)
{
    int slot;
    tri_slot *s;

    TRI_TRY(tri_slots_take(&m->slots, c->run, &slot));
    s = &m->slots.list[slot];
    s->trial = c->trial;
    s->rung = c->rung;
    s->attempt = c->attempt;
    s->n_ranks = c->n_ranks;
    s->ranks = c->ranks;
    s->from = c->checkpoint[0] != '\0' ? c->checkpoint_step : 0;
    s->to = c->resource;
    s->save = c->save;
    s->config = tri_ctl_config(m->ctl, c->trial);
    s->hash = c->config_hash;
    m->score.busy += s->n_ranks;
    return happen(m, m->now_s + m->set->start_s + 2 * m->set->latency_s,
                  TRI_HAPPENS_FORMED, slot);
}

static tri_status go(tri_cluster *m, const tri_cmd_go *c)
{
    int slot = tri_slots_find(&m->slots, c->run);

    if (slot < 0 || m->slots.list[slot].state != TRI_SLOT_FORMING) {
        return TRI_FAIL(TRI_EINTERNAL, "go for run %lld, which is not forming",
                        (long long)c->run);
    }
    return start(m, slot);
}

static tri_status go_on(tri_cluster *m, int slot, const tri_cmd_verdict *c)
{
    tri_slot *s = &m->slots.list[slot];
    tri_run_view view;

    tri_ctl_run(m->ctl, c->next_run, &view);
    s->from = m->study->objective.learned ? s->to : 0;
    s->to = c->resource;
    s->rung = c->next_rung;
    s->attempt = view.attempt;
    TRI_TRY(tri_slots_rename(&m->slots, slot, c->next_run));
    return start(m, slot);
}

/* Until rank 0 hears that the slot's run has left. */
static double leaving_s(const tri_cluster *m, const tri_slot *s)
{
    return 2 * m->set->latency_s + (s->save ? m->set->checkpoint_s : 0);
}

static tri_status verdict(tri_cluster *m, const tri_cmd_verdict *c)
{
    int slot = tri_slots_find(&m->slots, c->run);
    tri_slot *s;

    if (slot < 0) {
        return TRI_OK; /* it ended before it heard */
    }
    s = &m->slots.list[slot];
    s->stamp++;
    if (c->verdict == TRI_VERDICT_CONTINUE) {
        return go_on(m, slot, c);
    }
    /* a drain leaves time for the checkpoint that its policy wants */
    s->save = c->save || (c->drain && s->save && s->state == TRI_SLOT_RUNNING);
    s->reached = s->state == TRI_SLOT_RUNNING   ? reached(m, s)
                 : s->state == TRI_SLOT_WAITING ? s->to
                                                : s->from;
    s->state = TRI_SLOT_LEAVING;
    if (c->verdict == TRI_VERDICT_STOP) {
        return happen(m, m->now_s + leaving_s(m, s), TRI_HAPPENS_INTERRUPT,
                      slot);
    }
    if (c->save) {
        return happen(m, m->now_s + leaving_s(m, s), TRI_HAPPENS_PAUSE, slot);
    }
    leave(m, slot); /* with nothing to answer */
    return TRI_OK;
}

static tri_status carry_out_one(tri_cluster *m, const tri_command *c)
{
    switch (c->kind) {
    case TRI_CMD_ASSIGN:
        return assign(m, &c->u.assign);
    case TRI_CMD_GO:
        return go(m, &c->u.go);
    case TRI_CMD_VERDICT:
        return verdict(m, &c->u.verdict);
    case TRI_CMD_THINK:
        return tri_cluster_ask(m, &c->u.think);
    case TRI_CMD_END:
        tri_cluster_forget_question(m);
        m->ended = 1;
        m->end_status = c->u.end.status;
        m->resumable = c->u.end.resumable;
        return TRI_OK;
    default: /* checkpoints cost nothing; no rank is ever struck for good */
        return TRI_OK;
    }
}

static tri_status carry_out(tri_cluster *m, const tri_commands *commands)
{
    for (int i = 0; i < commands->n; i++) {
        TRI_TRY(carry_out_one(m, &commands->list[i]));
    }
    return TRI_OK;
}

void tri_cluster_clear(tri_cluster *m)
{
    tri_slots_clear(&m->slots);
    tri_cluster_forget_question(m);
    m->score.busy = 0;
}

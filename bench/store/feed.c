/*
 * The made world; see the header.
 */
#include "bench/store/feed.h"

#include "src/base/grain.h"
#include "trireme/rng.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SEED        7
#define STEP_S      0.5
#define STEP_TOKENS 65536

static const char study_format[] =
        "study: bench\n"
        "seed: 7\n"
        "model: {kind: synthetic}\n"
        "space:\n"
        "  dp: {int: [1, 64], log2: true}\n"
        "  micro_batch: {int: [1, 4096]}\n"
        "  lr: {float: [0.0001, 1], log: true}\n"
        "  schedule: {choice: [gpipe, 1f1b, interleaved]}\n"
        "objective: {minimize: loss}\n"
        "resource: {unit: steps, min: %d, max: %d, eta: 4}\n"
        "search: random\n"
        "budget: {trials: 1000000000}\n"
        "finals: none\n";

typedef struct working { /* a run that reports */
    int64_t run;
    int32_t attempt;
    int reports;
    double pace; /* of its configuration */
} working;

struct bench_feed {
    tri_ctl *ctl;
    int groups, reports;
    char study[1024];
    working *active;
    int n_active, turn;
    tri_event *queue; /* what is due before anything else */
    int head, tail, room;
    tri_event event;
    tri_rng rng;
    int64_t now_ns, n_reports;
    int n_begun; /* of the events that an opening begins with */
};

void bench_must(tri_status st)
{
    if (st != TRI_OK) {
        fprintf(stderr, "bench_store: %s\n", tri_error_last()->sentence);
        exit(1);
    }
}

double bench_seconds(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *room_for(size_t n, size_t each)
{
    void *p = calloc(n, each);

    if (!p) {
        bench_must(TRI_FAIL(TRI_ENOMEM, "no memory for a benchmark"));
    }
    return p;
}

bench_feed *bench_feed_create(tri_ctl *ctl, int groups, int reports)
{
    bench_feed *f = room_for(1, sizeof *f);

    f->ctl = ctl;
    f->groups = groups;
    f->reports = reports;
    f->room = 4 * groups + 16;
    f->active = room_for((size_t)groups + 1, sizeof *f->active);
    f->queue = room_for((size_t)f->room, sizeof *f->queue);
    f->rng = tri_rng_stream(SEED, 0, 0);
    snprintf(f->study, sizeof f->study, study_format, reports, 64 * reports);
    return f;
}

void bench_feed_destroy(bench_feed *f)
{
    if (f) {
        free(f->active);
        free(f->queue);
        free(f);
    }
}

int64_t bench_feed_reports(const bench_feed *f)
{
    return f->n_reports;
}

/* ---- events ------------------------------------------------------------ */

static double noise(bench_feed *f)
{
    return 2 * tri_rng_unit(&f->rng) - 1;
}

static void begin_open(bench_feed *f, tri_ev_open *open)
{
    open->study_text = (tri_blob){f->study, strlen(f->study)};
    open->study_path = open->build = open->deadline_source = "";
    open->level = "resume";
    open->pml = open->machine_class = open->command_line = "";
    open->seed = SEED;
    open->epoch = 1;
    open->started_s = 1.7e9;
    open->max_time_s = open->deadline_s = NAN;
    open->no_timeouts = 1;
}

/* Open, the pool, a clock; returns 0 once that is over. */
static int begin(bench_feed *f)
{
    int rank = f->n_begun++;

    if (rank > f->groups + 1) {
        return 0;
    }
    if (rank == 0) {
        f->event.kind = TRI_EV_OPEN;
        begin_open(f, &f->event.u.open);
    } else if (rank <= f->groups) {
        f->event.kind = TRI_EV_POOL;
        f->event.u.pool = (tri_ev_pool){.rank = rank,
                                        .state = TRI_RANK_UP,
                                        .host = "n1",
                                        .cores = 1,
                                        .device = "",
                                        .binding = "",
                                        .cpus = ""};
    } else {
        f->event.kind = TRI_EV_CLOCK;
    }
    return 1;
}

static void report(bench_feed *f, working *w)
{
    tri_ev_report *r = &f->event.u.report;
    float loss = (float)(2 + w->pace + 0.01 * noise(f)); /* as engines have */

    f->event.kind = TRI_EV_REPORT;
    r->run = w->run;
    r->attempt = w->attempt;
    r->seq = w->reports;
    r->step = 1 + w->reports;
    r->step_s =
            tri_grain(STEP_S * (1 + w->pace + 0.02 * noise(f)), TRI_GRAIN_STEP);
    r->tokens = STEP_TOKENS;
    r->samples = STEP_TOKENS / 2048;
    r->loss = loss;
    r->bytes = (int64_t)3 << 29;
    w->reports += 1;
    f->n_reports += 1;
}

static void outcome(tri_event *e, tri_event_kind kind, const tri_run_view *run)
{
    tri_ev_outcome *o = &e->u.outcome;

    memset(e, 0, sizeof *e);
    e->kind = kind;
    o->run = run->run;
    o->attempt = run->attempt;
    o->sentence = o->checkpoint = "";
    o->lost_rank = -1;
    o->steps_done = run->resource;
    o->objective = o->lo = o->hi = o->checkpoint_s = NAN;
    o->loss = 1 + 1 / (double)(1 + run->trial % 1000);
    o->tokens_per_s = STEP_TOKENS / STEP_S;
    o->samples_per_s = o->tokens_per_s / 2048;
    o->step_s = STEP_S;
    o->peak_bytes = o->rss_bytes = (int64_t)3 << 29;
    o->checkpoint_bytes = o->checkpoint_step = -1;
}

static void end(bench_feed *f, int i)
{
    tri_run_view run;

    tri_ctl_run(f->ctl, f->active[i].run, &run);
    outcome(&f->event, TRI_EV_FINISHED, &run);
    f->active[i] = f->active[--f->n_active];
}

/* ---- commands ---------------------------------------------------------- */

static tri_event *due(bench_feed *f)
{
    if (f->head == f->tail) {
        f->head = f->tail = 0;
    }
    if (f->tail == f->room) {
        bench_must(TRI_FAIL(TRI_EINTERNAL, "a queue of events is full"));
    }
    return memset(&f->queue[f->tail++], 0, sizeof f->event);
}

static void go(bench_feed *f, int64_t run, int32_t attempt)
{
    f->active[f->n_active++] = (working){run, attempt, 0, noise(f) / 4};
}

static void carry_out(bench_feed *f, const tri_command *c)
{
    tri_run_view run;
    tri_event *e;

    if (c->kind == TRI_CMD_ASSIGN) {
        e = due(f);
        e->kind = TRI_EV_FORMED;
        e->u.formed = (tri_ev_formed){c->u.assign.run, c->u.assign.attempt};
    } else if (c->kind == TRI_CMD_GO) {
        go(f, c->u.go.run, c->u.go.attempt);
    } else if (c->kind == TRI_CMD_VERDICT &&
               c->u.verdict.verdict == TRI_VERDICT_CONTINUE) {
        go(f, c->u.verdict.next_run, 0);
    } else if (c->kind == TRI_CMD_VERDICT) {
        tri_ctl_run(f->ctl, c->u.verdict.run, &run);
        outcome(due(f), TRI_EV_PAUSED, &run);
    }
}

/* The next report, or end, of the group whose turn it is. */
static void work(bench_feed *f)
{
    int i;

    if (f->n_active == 0) {
        bench_must(TRI_FAIL(TRI_EINTERNAL, "nobody has anything to do"));
    }
    i = f->turn++ % f->n_active;
    if (f->active[i].reports < f->reports) {
        report(f, &f->active[i]);
    } else {
        end(f, i);
    }
}

void bench_feed_next(bench_feed *f, const tri_event **event,
                     tri_commands *commands)
{
    double step_ns = 1e9 * STEP_S / f->groups;
    int i;

    memset(&f->event, 0, sizeof f->event);
    f->now_ns += 1 + (int64_t)(step_ns * (1 + 0.9 * noise(f)));
    if (!begin(f)) {
        if (f->head < f->tail) {
            f->event = f->queue[f->head++];
        } else {
            work(f);
        }
    }
    f->event.time_s = tri_grain(1e-9 * (double)f->now_ns, TRI_GRAIN_EVENT);
    bench_must(tri_ctl_feed(f->ctl, &f->event, commands));
    for (i = 0; i < commands->n; ++i) {
        carry_out(f, &commands->list[i]);
    }
    *event = &f->event;
}

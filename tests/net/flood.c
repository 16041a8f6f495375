/*
 * A flood of reports: one leader tells of twenty thousand steps at once, while
 * the other's short runs go on: the flood does not end before the other says
 * that so many of its runs have.  Rank 0 handles few messages between two of
 * its other duties, a verdict leaves with the message that it answers, and all
 * of the flood is on record.  Workers are played by hand.
 *
 * How few: rank 0 stands still until the whole flood has been sent and, after
 * it, the result of the other's first run.  When it goes on, the flood lies
 * before that result; it handles MOST messages at most until it has answered.
 *
 *   flood [REPORTS]        (also bench_flood: the last line is one of JSON)
 */
#include "tests/net/harness.h"

#include "mpi_workers/channel.h"
#include "mpi_workers/pause.h"
#include "mpi_workers/world.h"
#include "tests/tri_cmocka.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define FLOOD  20000 /* reports, unless told */
#define TRIALS 40
#define BESIDE (TRIALS / 4)
/* Then it becomes a brook, so many reports a millisecond, for so long at most.
 */
#define BROOK   16
#define BROOK_S 60.0
#define TAG     7
/* Messages handled before a verdict leaves: one pass of rank 0's loop. */
#define MOST 64

static const char study[] = "study: flood\nseed: 2\n"
                            "model: {kind: synthetic}\n"
                            "space: {x: {int: [0, 1000]}}\nranks: 1\n"
                            "objective: {minimize: loss}\n"
                            "resource: {unit: steps, min: 1, max: 1}\n"
                            "search: random\n"
                            "budget: {trials: 40}\nfinals: none\n";

static tri_world world;
static tri_channel *channel;
static int rank;
static int n_flood = FLOOD;

/* ---- a worker ------------------------------------------------------------ */

static void tell(const tri_message *m)
{
    if (tri_channel_send(channel, 0, m) != TRI_OK) {
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    tri_channel_reap(channel);
}

static void say_hello(const tri_event *heard)
{
    const tri_blob *text = &heard->u.open.study_text;
    tri_message m;

    memset(&m, 0, sizeof m);
    m.kind = TRI_MSG_HELLO;
    m.u.hello = (tri_msg_hello){.rank = rank,
                                .host = "by-hand",
                                .cores = 1,
                                .host_cores = 1,
                                .pid = 1,
                                .device = "",
                                .trouble = "",
                                .remark = "",
                                .study_hash =
                                        tri_rng_hash(text->data, text->bytes)};
    tell(&m);
}

static void answer(const tri_cmd_assign *a)
{
    tri_message m;

    memset(&m, 0, sizeof m);
    m.kind = TRI_MSG_READY;
    m.u.ready = (tri_msg_ready){
            .rank = rank, .run = a->run, .attempt = a->attempt, .sentence = ""};
    tell(&m);
}

static void report(int64_t run, int attempt, int seq)
{
    tri_message m;

    memset(&m, 0, sizeof m);
    m.kind = TRI_MSG_REPORT;
    m.u.report = (tri_ev_report){.run = run,
                                 .attempt = attempt,
                                 .seq = seq,
                                 .step = seq + 1,
                                 .step_s = 1e-3,
                                 .loss = 1,
                                 .bytes = -1};
    tell(&m);
}

static void finish(int64_t run, int attempt)
{
    tri_message m;
    tri_ev_outcome *o = &m.u.outcome.outcome;

    memset(&m, 0, sizeof m);
    m.kind = TRI_MSG_OUTCOME;
    m.u.outcome.event = TRI_EV_FINISHED;
    *o = (tri_ev_outcome){.run = run,
                          .attempt = attempt,
                          .sentence = "",
                          .lost_rank = -1,
                          .objective = 1,
                          .lo = NAN,
                          .hi = NAN,
                          .loss = 1,
                          .tokens_per_s = NAN,
                          .samples_per_s = NAN,
                          .step_s = 1e-3,
                          .steps_done = 1,
                          .peak_bytes = -1,
                          .rss_bytes = -1,
                          .checkpoint = "",
                          .checkpoint_step = -1,
                          .checkpoint_s = NAN,
                          .checkpoint_bytes = -1};
    tell(&m);
}

/* Whether rank 2 has said that its runs have ended; else pause. */
static int is_told(double since_s)
{
    int told = 0;

    MPI_Iprobe(2, TAG, world.peers, &told, MPI_STATUS_IGNORE);
    if (told) {
        MPI_Recv(NULL, 0, MPI_BYTE, 2, TAG, world.peers, MPI_STATUS_IGNORE);
    } else if (tri_now() > since_s + BROOK_S) {
        fprintf(stderr, "flood: rank 2 is not served\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    } else {
        tri_sleep(1e-3);
    }
    return told;
}

/* What rank 1 or 2 was to send is sent: to rank `to`, which waits for it.  The
 * world is nobody else's. */
static void say_sent(int to)
{
    MPI_Send(NULL, 0, MPI_BYTE, to, TAG, MPI_COMM_WORLD);
}

static void await_sent(int from)
{
    MPI_Recv(NULL, 0, MPI_BYTE, from, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Rank 1's first run. */
static void flood(const tri_cmd_go *go)
{
    int n = 0;
    double start_s;

    while (n < n_flood) {
        report(go->run, go->attempt, n++);
    }
    say_sent(2);
    start_s = tri_now();
    while (!is_told(start_s)) {
        for (int i = 0; i < BROOK; i++) {
            report(go->run, go->attempt, n++);
        }
    }
}

/* Rank 2: so many of its runs have ended on rank 0 when the next one begins. */
static void count(void)
{
    static int n;

    if (n++ == BESIDE) {
        MPI_Send(NULL, 0, MPI_BYTE, 1, TAG, world.peers);
    }
}

/* The only report of a run, or a flood; and its end. */
static void work_on(const tri_cmd_go *go)
{
    static int has_run;

    if (rank == 2) {
        count();
    }
    if (rank == 1 && !has_run) {
        flood(go);
    } else if (!has_run) {
        await_sent(1);
    } else {
        report(go->run, go->attempt, 0);
    }
    finish(go->run, go->attempt);
    if (rank == 2 && !has_run) {
        say_sent(0);
    }
    has_run = 1;
}

/* Obey until told to leave. */
static void obey(void)
{
    double beat_s = 0;

    for (;;) {
        tri_message m;
        int from;

        if (tri_now() > beat_s) {
            memset(&m, 0, sizeof m);
            m.kind = TRI_MSG_BEAT;
            tell(&m);
            beat_s = tri_now() + 1;
        }
        if (!tri_channel_receive(channel, &m, &from)) {
            tri_sleep(1e-4);
            continue;
        }
        if (m.kind != TRI_MSG_COMMAND) {
            continue;
        }
        if (m.u.command.kind == TRI_CMD_LEAVE) {
            return;
        }
        if (m.u.command.kind == TRI_CMD_ASSIGN) {
            answer(&m.u.command.u.assign);
        } else if (m.u.command.kind == TRI_CMD_GO) {
            work_on(&m.u.command.u.go);
        }
    }
}

static void work(void)
{
    tri_arena *arena = NULL;
    tri_event heard;

    memset(&heard, 0, sizeof heard);
    if (tri_world_open(&world) != TRI_OK ||
        tri_arena_create(&arena) != TRI_OK ||
        tri_world_announce(&world, NULL, arena, &heard) != TRI_OK ||
        tri_channel_create(world.control, &channel) != TRI_OK) {
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    tri_channel_set_epoch(channel, (uint32_t)heard.u.open.epoch);
    tri_channel_set_bell(channel, world.bell);
    say_hello(&heard);
    obey();
    tri_channel_flush(channel, 30);
    tri_channel_destroy(channel);
    tri_world_close(&world, 1);
    tri_arena_destroy(arena);
}

/* ---- rank 0 ------------------------------------------------------------- */

static double cpu_s(void)
{
    struct rusage u;

    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

/* How many runs of rank 2 were over when the flood was, by the record. */
static int n_beside(const tri_ctl *ctl)
{
    tri_run_view flooded = {.end_s = -1};
    tri_run_view v;
    int n = 0;

    for (int64_t i = 0; i < tri_ctl_n_runs(ctl); i++) {
        tri_ctl_run(ctl, i, &v);
        if (v.reports >= n_flood) {
            flooded = v;
        }
    }
    assert_true(flooded.end_s >= 0);
    for (int64_t i = 0; i < tri_ctl_n_runs(ctl); i++) {
        tri_ctl_run(ctl, i, &v);
        n += v.ranks[0] == 2 && v.end_s <= flooded.end_s;
    }
    return n;
}

typedef struct watch {
    int64_t before, after; /* reports of the flood until rank 0 stood still,
                            * and until it had answered; -1 */
} watch;

/* Rank 0, once a pass: stand still when both run, and see when rank 2's first
 * run is over. */
static void look(void *ctx, const tri_ctl *ctl)
{
    watch *w = ctx;
    tri_run_view v;
    tri_run_view flooded = {.state = TRI_RUN_FORMING};
    tri_run_view other = {.state = TRI_RUN_FORMING};

    for (int64_t i = tri_ctl_n_runs(ctl) - 1; i >= 0 && w->after < 0; i--) {
        tri_ctl_run(ctl, i, &v);
        if (v.ranks[0] == 1) {
            flooded = v;
        } else {
            other = v;
        }
    }
    if (w->before < 0 && flooded.state == TRI_RUN_RUNNING &&
        other.state == TRI_RUN_RUNNING) {
        await_sent(2);
        w->before = flooded.reports;
    } else if (w->before >= 0 && w->after < 0 &&
               other.state != TRI_RUN_RUNNING) {
        w->after = flooded.reports;
    }
}

static void the_others_go_on(void)
{
    double cpu = cpu_s();
    watch w = {-1, -1};
    tri_tuned t = tri_case_tune(study, tri_case_file(), 0, look, &w);
    tri_progress p;

    cpu = cpu_s() - cpu;
    assert_int_equal(t.st, TRI_OK);
    assert_int_equal(t.end.status, 0);
    tri_ctl_progress(t.ctl, &p);
    assert_int_equal(p.finished, TRIALS);
    assert_true(w.before >= 0 && w.after >= w.before);
    assert_true(n_flood - w.before > 2 * MOST); /* else it was no flood */
    assert_true(w.after - w.before <= MOST);
    print_message("{\"reports\": %d, \"handled_before_verdict\": %d, "
                  "\"runs_beside\": %d, \"head_cpu_s\": %.7f}\n",
                  n_flood, (int)(w.after - w.before), n_beside(t.ctl),
                  cpu / n_flood);
    assert_true(n_beside(t.ctl) >= BESIDE);
    tri_tuned_fini(&t);
    tri_case_verify(tri_case_file(), n_flood);
}

int main(int argc, char **argv)
{
    static const tri_case cases[] = {{"the_others_go_on", 1, the_others_go_on}};
    int provided;

    n_flood = argc > 1 ? atoi(argv[1]) : FLOOD;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        return tri_cases_run(argc, argv, cases, 1);
    }
    work();
    MPI_Finalize();
    return 0;
}

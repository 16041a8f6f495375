/*
 * A worker against a rank 0 that is played by hand: what it answers to orders
 * that are wrong, late, early or missing.
 */
#include "mpi_workers/channel.h"
#include "mpi_workers/pause.h"
#include "mpi_workers/world.h"
#include "tests/tri_cmocka.h"
#include "trireme/net.h"

#include <math.h>
#include <string.h>

#define EPOCH 7

static const char text[] = "study: by-hand\nseed: 5\n"
                           "model: {kind: synthetic, cost: 0.01}\n"
                           "space: {x: {int: [0, 9]}}\n"
                           "objective: {minimize: loss}\n"
                           "resource: {unit: steps, min: 2, max: 8, eta: 2}\n";

static tri_world world;
static tri_channel *channel;
static tri_study *study;
static const int32_t both[] = {1, 2};

static void open_by_hand(void)
{
    tri_event event;

    memset(&event, 0, sizeof event);
    event.kind = TRI_EV_OPEN;
    event.u.open = (tri_ev_open){.study_text = {text, strlen(text)},
                                 .study_path = "by-hand.yaml",
                                 .seed = 5,
                                 .build = "test",
                                 .epoch = EPOCH,
                                 .max_time_s = NAN,
                                 .deadline_s = NAN,
                                 .deadline_source = "",
                                 .level = "",
                                 .pml = "",
                                 .machine_class = "",
                                 .command_line = ""};
    assert_int_equal(tri_study_parse(text, strlen(text), "by-hand.yaml", NULL,
                                     NULL, &study),
                     TRI_OK);
    assert_int_equal(tri_world_open(&world), TRI_OK);
    assert_int_equal(tri_channel_create(world.control, &channel), TRI_OK);
    tri_channel_set_epoch(channel, EPOCH);
    assert_int_equal(tri_world_announce(&world, &event, NULL, NULL), TRI_OK);
}

/* The next message of `kind`, whatever else comes; a minute at most. */
static tri_message await(tri_message_kind kind, int *from)
{
    double end = tri_now() + 60;
    tri_message m;

    memset(&m, 0, sizeof m);
    while (tri_now() < end) {
        if (!tri_channel_receive(channel, &m, from)) {
            tri_sleep(1e-3);
        } else if (m.kind == kind) {
            return m;
        }
    }
    print_error("no %s within a minute\n", tri_message_name(kind));
    assert_true(0);
    return m;
}

static void order(int to, const tri_command *command)
{
    tri_message m;

    memset(&m, 0, sizeof m);
    m.kind = TRI_MSG_COMMAND;
    m.u.command = *command;
    assert_int_equal(tri_channel_send(channel, to, &m), TRI_OK);
}

static uint64_t hash_of(const char *config)
{
    tri_config c[4];

    assert_int_equal(tri_space_parse(study->space, config, c), TRI_OK);
    return tri_space_hash(study->space, c);
}

static tri_command assign(int64_t run, const char *config, uint64_t hash)
{
    tri_command c;

    memset(&c, 0, sizeof c);
    c.kind = TRI_CMD_ASSIGN;
    c.u.assign = (tri_cmd_assign){.run = run,
                                  .epoch = EPOCH,
                                  .ranks = both,
                                  .n_ranks = 2,
                                  .resource = 2,
                                  .config = config,
                                  .config_hash = hash,
                                  .checkpoint = ""};
    return c;
}

static void assign_both(int64_t run)
{
    tri_command c = assign(run, "x=3", hash_of("x=3"));

    for (int rank = 1; rank <= 2; rank++) {
        order(rank, &c);
    }
    for (int i = 0; i < 2; i++) {
        int from;
        tri_message m = await(TRI_MSG_READY, &from);

        assert_int_equal(m.u.ready.rank, from);
        assert_int_equal(m.u.ready.run, run);
        assert_int_equal(m.u.ready.status, TRI_OK);
    }
}

static void go_both(int64_t run)
{
    tri_command c;

    memset(&c, 0, sizeof c);
    c.kind = TRI_CMD_GO;
    c.u.go = (tri_cmd_go){run, 0, both, 2};
    order(1, &c);
    order(2, &c);
}

static void verdict(tri_verdict what, int64_t run, int64_t next_run,
                    int64_t resource)
{
    tri_command c;

    memset(&c, 0, sizeof c);
    c.kind = TRI_CMD_VERDICT;
    c.u.verdict = (tri_cmd_verdict){.run = run,
                                    .verdict = what,
                                    .next_run = next_run,
                                    .next_rung = 1,
                                    .resource = resource,
                                    .rank = 1};
    order(1, &c);
}

static tri_ev_outcome expect(tri_event_kind event, int64_t run)
{
    int from;
    tri_message m = await(TRI_MSG_OUTCOME, &from);

    assert_int_equal(from, 1); /* leaders only */
    assert_int_equal(m.u.outcome.event, event);
    assert_int_equal(m.u.outcome.outcome.run, run);
    return m.u.outcome.outcome;
}

static void all_say_hello(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        int from;
        tri_message m = await(TRI_MSG_HELLO, &from);

        assert_int_equal(m.u.hello.rank, from);
        assert_true(m.u.hello.pid > 0 && m.u.hello.cores > 0);
        assert_true(m.u.hello.study_hash == tri_rng_hash(text, strlen(text)));
    }
}

static void wrong_assignments(void **state)
{
    static const int32_t others[] = {2};
    tri_command c = assign(1, "x=3", hash_of("x=4"));
    tri_message m;
    int from;

    (void)state;
    order(1, &c); /* read otherwise than rank 0 says */
    m = await(TRI_MSG_READY, &from);
    assert_int_equal(m.u.ready.status, TRI_EINFEASIBLE);
    assert_non_null(strstr(m.u.ready.sentence, "x=3"));
    c = assign(2, "y=3", 0);
    order(1, &c); /* no such parameter */
    m = await(TRI_MSG_READY, &from);
    assert_int_not_equal(m.u.ready.status, TRI_OK);
    c = assign(3, "x=3", hash_of("x=3"));
    c.u.assign.ranks = others;
    c.u.assign.n_ranks = 1;
    order(1, &c); /* for another rank */
    m = await(TRI_MSG_READY, &from);
    assert_int_equal(m.u.ready.run, 3);
    assert_int_equal(m.u.ready.status, TRI_EINVAL);
}

/* A whole run: reports, finished, continue, finished, release, paused. */
static void a_run_that_goes_on(void **state)
{
    tri_ev_outcome o;
    tri_message m;
    int from;

    (void)state;
    assign_both(10);
    go_both(10);
    m = await(TRI_MSG_REPORT, &from);
    assert_int_equal(from, 1);
    assert_int_equal(m.u.report.run, 10);
    assert_int_equal(m.u.report.seq, 0);
    o = expect(TRI_EV_FINISHED, 10);
    assert_int_equal(o.steps_done, 2);
    assert_true(isfinite(o.loss));
    verdict(TRI_VERDICT_CONTINUE, 10, 11, 8);
    m = await(TRI_MSG_REPORT, &from);
    assert_int_equal(m.u.report.run, 11);
    assert_int_equal(m.u.report.seq, 0);
    o = expect(TRI_EV_FINISHED, 11);
    assert_int_equal(o.steps_done, 8);
    verdict(TRI_VERDICT_RELEASE, 11, -1, 0);
    expect(TRI_EV_PAUSED, 11);
}

/* Rank 0 says nothing: the leader frees its group by itself; a continue that
 * comes then is too late and told so. */
static void a_late_verdict(void **state)
{
    tri_ev_outcome o;

    (void)state;
    assign_both(20);
    go_both(20);
    expect(TRI_EV_FINISHED, 20);
    expect(TRI_EV_PAUSED, 20);
    verdict(TRI_VERDICT_CONTINUE, 20, 21, 8);
    o = expect(TRI_EV_LOST, 21);
    assert_int_equal(o.reason, TRI_REASON_LATE_VERDICT);
}

static void a_stop_before_go(void **state)
{
    (void)state;
    assign_both(30);
    verdict(TRI_VERDICT_STOP, 30, -1, 0);
    expect(TRI_EV_PAUSED, 30);
    go_both(31); /* was never assigned: ignored */
    assign_both(32);
    go_both(32);
    expect(TRI_EV_FINISHED, 32);
    verdict(TRI_VERDICT_RELEASE, 32, -1, 0);
    expect(TRI_EV_PAUSED, 32);
}

static void assign_and_go_alone(int64_t run, uint64_t hash)
{
    static const int32_t alone[] = {1};
    tri_command c = assign(run, "x=3", hash);

    c.u.assign.ranks = alone;
    c.u.assign.n_ranks = 1;
    order(1, &c);
    memset(&c, 0, sizeof c);
    c.kind = TRI_CMD_GO;
    c.u.go = (tri_cmd_go){run, 0, alone, 1};
    order(1, &c);
}

/* A rank alone is not waited for: what it refused it does not begin either, and
 * it answers in any case. */
static void go_with_the_assignment(void **state)
{
    tri_message m;
    int from;

    (void)state;
    assign_and_go_alone(35, hash_of("x=4"));
    m = await(TRI_MSG_READY, &from);
    assert_int_equal(m.u.ready.run, 35);
    assert_int_equal(m.u.ready.status, TRI_EINFEASIBLE);
    assign_and_go_alone(36, hash_of("x=3"));
    m = await(TRI_MSG_READY, &from);
    assert_int_equal(m.u.ready.run, 36);
    assert_int_equal(m.u.ready.status, TRI_OK);
    expect(TRI_EV_FINISHED, 36);
    verdict(TRI_VERDICT_RELEASE, 36, -1, 0);
    expect(TRI_EV_PAUSED, 36);
}

static void a_stop_in_the_midst(void **state)
{
    tri_command c = assign(40, "x=3", hash_of("x=3"));
    tri_ev_outcome o;
    int from;

    (void)state;
    c.u.assign.resource = 100000; /* a quarter of an hour */
    order(1, &c);
    order(2, &c);
    await(TRI_MSG_READY, &from);
    await(TRI_MSG_READY, &from);
    go_both(40);
    await(TRI_MSG_REPORT, &from);
    memset(&c, 0, sizeof c);
    c.kind = TRI_CMD_VERDICT;
    c.u.verdict = (tri_cmd_verdict){.run = 40,
                                    .verdict = TRI_VERDICT_STOP,
                                    .next_run = -1,
                                    .rank = 1,
                                    .drain = 1};
    order(1, &c);
    o = expect(TRI_EV_INTERRUPTED, 40);
    assert_int_equal(o.reason, TRI_REASON_DRAINED);
    assert_in_range(o.steps_done, 1, 99999);
}

static void beats_and_leave(void **state)
{
    tri_command leave;
    int from;

    (void)state;
    await(TRI_MSG_BEAT, &from);
    memset(&leave, 0, sizeof leave);
    leave.kind = TRI_CMD_LEAVE;
    order(1, &leave);
    order(2, &leave);
    assert_int_equal(tri_channel_flush(channel, 60), 0);
    assert_int_equal(tri_channel_refused(channel), 0);
}

static int lead(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(all_say_hello),
            cmocka_unit_test(wrong_assignments),
            cmocka_unit_test(a_run_that_goes_on),
            cmocka_unit_test(a_late_verdict),
            cmocka_unit_test(a_stop_before_go),
            cmocka_unit_test(go_with_the_assignment),
            cmocka_unit_test(a_stop_in_the_midst),
            cmocka_unit_test(beats_and_leave),
    };
    int failed;

    open_by_hand();
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    tri_channel_destroy(channel);
    tri_world_close(&world, !failed);
    tri_study_destroy(study);
    return failed;
}

int main(int argc, char **argv)
{
    int provided;
    int must_exit = 0;
    int rank;
    int failed;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    failed = rank == 0 ? lead() : tri_worker_main(&must_exit) || must_exit;
    if (failed) {
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Finalize();
    return failed;
}

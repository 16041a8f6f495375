/*
 * What the virtual cluster's machines do to a search, in exact numbers: the way
 * of a message, the cost of a group, ranks that are slower than others, runs
 * that are dropped in three ways, hosts that go down.
 */
#include "tests/sim/fixture.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char format[] = "study: machines\n"
                             "model: {kind: synthetic}\n"
                             "space:\n"
                             "  x: {float: [0, 1]}\n"
                             "  y: {float: [0, 1]}\n"
                             "ranks: %d\n"
                             "objective: {maximize: tokens_per_s, "
                             "compare: total}\n"
                             "search: random\n"
                             "scheduler: %s\n"
                             "resource: {unit: steps, min: 3, max: 9, eta: 3}\n"
                             "failures: {max_attempts: 1000}\n"
                             "budget: {trials: %d}\n"
                             "finals: none\n";

static tri_sim_settings cluster(int workers)
{
    tri_sim_settings set;

    tri_sim_defaults(&set);
    set.workers = workers;
    set.seed = 3;
    return set;
}

static void run(const char *scheduler, int ranks, int trials,
                const tri_sim_settings *set, tri_sim_result *out)
{
    char yaml[1024];

    snprintf(yaml, sizeof yaml, format, ranks, scheduler, trials);
    simulate_text(yaml, set, out);
}

static void messages_and_groups_take_time(void **state)
{
    tri_sim_settings set = cluster(1);
    tri_sim_result r;

    (void)state;
    set.latency_s = 0.25;
    set.start_s = 2;
    run("none", 1, 2, &set, &r);
    /* assign and its answer, the group, go, nine units, and the result */
    assert_true(r.virtual_s == 2 * (2 + 4 * 0.25 + 9));
    assert_true(r.rank_seconds == r.virtual_s);
    tri_sim_result_fini(&r);
    run("asha-stop", 1, 1, &set, &r);
    /* two messages and nine more units for going on in place */
    assert_true(r.virtual_s == 2 + 4 * 0.25 + 3 + 2 * 0.25 + 9);
    tri_sim_result_fini(&r);
}

static void a_run_is_as_slow_as_its_slowest_rank(void **state)
{
    tri_sim_settings set = cluster(4);
    tri_sim_result one, four, again;

    (void)state;
    set.spread = 0.5;
    run("none", 4, 1, &set, &four);
    run("none", 1, 4, &set, &one);
    run("none", 4, 2, &set, &again);
    assert_true(four.virtual_s > 9);
    assert_true(one.virtual_s == four.virtual_s); /* the slowest of four */
    assert_true(one.history[0].virtual_s < one.virtual_s);
    /* for good (twice the time, but for a last bit of the sum) */
    assert_true(fabs(again.virtual_s - 2 * four.virtual_s) < 1e-9);
    tri_sim_result_fini(&one);
    tri_sim_result_fini(&four);
    tri_sim_result_fini(&again);
}

static void dropped_runs(void **state)
{
    tri_sim_settings set = cluster(4);
    tri_sim_result requeued, resumed, lost;

    (void)state;
    set.drop = 0.1;
    run("none", 1, 40, &set, &requeued);
    set.dropped = TRI_DROPPED_RESUMED;
    run("none", 1, 40, &set, &resumed);
    set.dropped = TRI_DROPPED_LOST;
    run("none", 1, 40, &set, &lost);
    assert_int_equal(requeued.distinct, 40);
    assert_int_equal(resumed.distinct, 40);
    /* of nine units each one is survived by nine in ten */
    assert_in_range(lost.distinct, 9, 24);
    assert_int_equal(lost.distinct + lost.lost, 40);
    assert_true(resumed.rank_seconds < 0.85 * requeued.rank_seconds);
    assert_true(resumed.rank_seconds >= 40 * 9);
    tri_sim_result_fini(&requeued);
    tri_sim_result_fini(&resumed);
    tri_sim_result_fini(&lost);
}

static void hosts_go_down_and_come_back(void **state)
{
    tri_sim_settings set = cluster(24); /* three hosts */
    tri_sim_result none, some;

    (void)state;
    run("asha", 2, 60, &set, &none);
    set.node_loss = 0.01;
    set.node_down_s = 20;
    run("asha", 2, 60, &set, &some);
    assert_int_equal(some.end_status, 0);
    assert_int_equal(some.distinct, 60);
    assert_true(some.lost > 0);
    assert_true(some.virtual_s > none.virtual_s);
    tri_sim_result_fini(&none);
    tri_sim_result_fini(&some);
}

static void all_hosts_go_down(void **state)
{
    tri_sim_settings set = cluster(16);
    tri_sim_result r;

    (void)state;
    set.node_loss = 0.05;
    run("asha", 1, 500, &set, &r);
    assert_int_equal(r.end_status, 3); /* no rank is left */
    tri_sim_result_fini(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(messages_and_groups_take_time),
            cmocka_unit_test(a_run_is_as_slow_as_its_slowest_rank),
            cmocka_unit_test(dropped_runs),
            cmocka_unit_test(hosts_go_down_and_come_back),
            cmocka_unit_test(all_hosts_go_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

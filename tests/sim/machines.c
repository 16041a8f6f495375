/*
 * What the virtual cluster's machines do to a search, in exact numbers: the way
 * of a message, the cost of a group, ranks that are slower than others, runs
 * that are dropped in three ways, hosts that go down.
 */
#include "tests/sim/fixture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
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

/* ---- a slow host -------------------------------------------------------- */

static const char table_study[] =
        "study: slow\nmodel: {kind: table, file: t.csv, parameters: [n, x], "
        "objective: tokens_per_s}\nspace: table\nranks: n\n"
        "objective: {maximize: tokens_per_s, compare: total}\n"
        "search: random\nresource: {unit: steps, min: 1, max: 64, eta: 4}\n"
        "budget: {trials: 300}\nfinals: {top: 3, repeats: 3}\n";

static char *make_table(void)
{
    char *csv = calloc(1, 1 << 16);
    size_t at;

    assert_non_null(csv);
    at = (size_t)snprintf(csv, 1 << 16, "n,x,tokens_per_s\n");
    for (int n = 1; n <= 4; n *= 2) {
        for (int x = 0; x < 120; x++) {
            at += (size_t)snprintf(csv + at, (1 << 16) - at, "%d,%d,%d\n", n, x,
                                   100 * n + x * 37 % 120);
        }
    }
    return csv;
}

/* Runs that were flagged, all of the slow host; *benched: ranks, of it too. */
static int play_slow(const tri_study *study, const tri_sim_settings *set,
                     int *benched)
{
    tri_sim_result r;
    tri_ctl *ctl;
    int flagged = 0;

    simulate(study, set, &r, &ctl);
    assert_int_equal(r.end_status, 0);
    for (int64_t i = 0; i < tri_ctl_n_runs(ctl); i++) {
        tri_run_view v;
        int is_on = 0;

        tri_ctl_run(ctl, i, &v);
        for (int k = 0; k < v.n_ranks; k++) {
            is_on |= (v.ranks[k] - 1) / set->host_ranks == set->slow_host;
        }
        flagged += v.slow == TRI_SLOW_FLAGGED;
        assert_true(is_on || v.slow == TRI_SLOW_NOT);
    }
    *benched = 0;
    for (int i = 0; i < tri_ctl_n_ranks(ctl); i++) {
        tri_rank_view v;

        tri_ctl_rank(ctl, i, &v);
        *benched += v.state == TRI_RANK_BENCHED;
    }
    tri_ctl_destroy(ctl);
    tri_sim_result_fini(&r);
    return flagged;
}

static void a_slow_host_is_found(void **state)
{
    tri_sim_settings set = cluster(24);
    char *csv = make_table();
    tri_study *study = read_table_study(table_study, csv);
    int benched;

    (void)state;
    set.host_ranks = 4;
    for (set.slow_host = 0; set.slow_host < 6; set.slow_host++) {
        set.slow = 1.3;
        assert_true(play_slow(study, &set, &benched) >= 2);
        assert_in_range(benched, 1, 8);
        set.slow = 1.08; /* less than a tenth */
        assert_int_equal(play_slow(study, &set, &benched), 0);
        assert_int_equal(benched, 0);
    }
    tri_study_destroy(study);
    free(csv);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(messages_and_groups_take_time),
            cmocka_unit_test(a_run_is_as_slow_as_its_slowest_rank),
            cmocka_unit_test(dropped_runs),
            cmocka_unit_test(hosts_go_down_and_come_back),
            cmocka_unit_test(all_hosts_go_down),
            cmocka_unit_test(a_slow_host_is_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

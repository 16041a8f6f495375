/*
 * Exact times of the paper (Li et al., MLSys 2020, section 3.3): with enough
 * workers and unit times the first configuration is at R after the sum of all
 * rungs from scratch, and after R where runs go on from where they were.
 */
#include "tests/sim/fixture.h"

#include <stdio.h>

/* A throughput starts afresh at every rung, a loss goes on. */
#define SCRATCH "{maximize: tokens_per_s}"
#define RESUME  "{minimize: loss}"

static double time_to_top(const char *objective, int eta, int max, int workers,
                          int top_rung)
{
    tri_sim_settings set;
    tri_sim_result r;
    char yaml[1024];
    double first;

    snprintf(yaml, sizeof yaml,
             "study: paper\n"
             "model: {kind: synthetic}\n"
             "space:\n"
             "  x: {float: [0, 1]}\n"
             "  y: {float: [0, 1]}\n"
             "ranks: 1\n"
             "objective: %s\n"
             "search: random\n"
             "resource: {unit: steps, min: 1, max: %d, eta: %d}\n"
             "budget: {trials: %d}\n"
             "finals: none\n",
             objective, max, eta, workers);
    tri_sim_defaults(&set);
    set.workers = workers;
    simulate_text(yaml, &set, &r);
    first = first_at(&r, top_rung, NULL);
    assert_int_equal(r.end_status, 0);
    assert_int_equal(r.distinct, workers);
    tri_sim_result_fini(&r);
    return first;
}

static void nine_workers(void **state)
{
    (void)state;
    assert_true(time_to_top(SCRATCH, 3, 9, 9, 2) == 13);
    assert_true(time_to_top(RESUME, 3, 9, 9, 2) == 9);
}

static void two_hundred_and_fifty_six_workers(void **state)
{
    (void)state;
    assert_true(time_to_top(SCRATCH, 4, 256, 256, 4) == 341);
    assert_true(time_to_top(RESUME, 4, 256, 256, 4) == 256);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(nine_workers),
            cmocka_unit_test(two_hundred_and_fifty_six_workers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Warm-up, rates, precision and bounded memory of a run's measurement; and
 * how far a run goes.
 */
#include "mpi_workers/measure.h"

#include "mpi_workers/goal.h"
#include "tests/tri_cmocka.h"
#include "trireme/rng.h"

#include <math.h>
#include <string.h>

#define SEED 41u

static tri_measure *fresh(void)
{
    tri_measure *m;

    assert_int_equal(tri_measure_create(3, &m), TRI_OK);
    return m;
}

static void add(tri_measure *m, double step_s, double loss)
{
    tri_measure_add(m, &(tri_observation){.n = 1,
                                          .step_s = step_s,
                                          .tokens = 100,
                                          .samples = 10,
                                          .loss = loss,
                                          .own = NAN});
}

static void warmup_does_not_count(void **state)
{
    tri_measure *m = fresh();
    tri_measurement out;

    (void)state;
    for (int i = 0; i < 13; i++) {
        add(m, i < 3 ? 5.0 : 0.5, i < 12 ? 3.0 : 1.0);
    }
    tri_measure_result(m, 0, &out);
    assert_int_equal(out.warmup_steps, 3);
    assert_int_equal(out.measured_steps, 10);
    assert_true(out.step_s.value == 0.5 && out.step_s.lo == 0.5);
    assert_true(out.tokens_per_s.value == 200);
    assert_true(out.samples_per_s.value == 20);
    assert_true(out.loss == 1.0); /* the last tenth of ten */
    assert_true(isnan(out.own));
    assert_int_equal(tri_measure_steps(m), 10);
    assert_true(tri_measure_seconds(m) == 5.0);
    assert_true(tri_measure_tokens(m) == 1000);
    assert_true(tri_measure_samples(m) == 100);
    tri_measure_destroy(m);
}

static void no_interval_below_five(void **state)
{
    tri_measure *m = fresh();
    tri_measurement out;

    (void)state;
    for (int i = 0; i < 7; i++) {
        add(m, 0.5, 1);
    }
    tri_measure_result(m, 0, &out);
    assert_true(out.tokens_per_s.value == 200);
    assert_true(isnan(out.tokens_per_s.lo));
    tri_measure_destroy(m);
}

/* A trial that ends by itself before its warm-up is over. */
static void early_end_counts_all_but_one(void **state)
{
    tri_measure *m = fresh();
    tri_measurement out;

    (void)state;
    add(m, 9, 1);
    add(m, 0.5, 1);
    add(m, 0.5, 1);
    tri_measure_result(m, 1, &out);
    assert_int_equal(out.warmup_steps, 1);
    assert_true(out.step_s.value == 0.5);
    tri_measure_destroy(m);
}

static void nan_loss_stays_nan(void **state)
{
    tri_measure *m = fresh();
    tri_measurement out;

    (void)state;
    for (int i = 0; i < 10; i++) {
        add(m, 0.5, i == 9 ? NAN : 1);
    }
    tri_measure_result(m, 0, &out);
    assert_true(isnan(out.loss));
    tri_measure_destroy(m);
}

/* Long runs are thinned: the median and the exact sums stay right. */
static void long_runs_are_thinned(void **state)
{
    tri_rng rng = tri_rng_stream(SEED, 1, TRI_RNG_TEST);
    tri_measure *m = fresh();
    tri_measurement out;
    double sum = 0;
    int n = 100000;

    (void)state;
    for (int i = 0; i < n; i++) {
        double step_s = 1 + 0.1 * tri_rng_normal(&rng);

        sum += i < 3 ? 0 : step_s;
        add(m, step_s, 1);
    }
    tri_measure_result(m, 0, &out);
    assert_true(fabs(out.step_s.value - 1) < 0.01);
    assert_true(out.step_s.lo < out.step_s.value);
    assert_true(fabs(tri_measure_seconds(m) - sum) < 1e-6 * sum);
    assert_int_equal(tri_measure_steps(m), n - 3);
    tri_measure_destroy(m);
}

static void precision_ends_a_run(void **state)
{
    tri_rng rng = tri_rng_stream(SEED, 2, TRI_RNG_TEST);
    tri_measure *m = fresh();
    int at = 0;

    (void)state;
    for (int i = 1; i <= 2000 && !at; i++) {
        add(m, 1 + 0.05 * tri_rng_normal(&rng), 1);
        if (tri_measure_is_precise(m, TRI_METRIC_TOKENS_PER_S, 0.01, 5)) {
            at = i;
        }
    }
    /* half a 95 % interval of a median is about 2.5 sigma / sqrt(n): n = 156 */
    assert_in_range(at, 60, 600);
    tri_measure_reset(m);
    for (int i = 0; i < 7; i++) {
        add(m, 1, 1);
        assert_false(
                tri_measure_is_precise(m, TRI_METRIC_TOKENS_PER_S, 0.01, 5));
    }
    add(m, 1, 1);
    assert_true(tri_measure_is_precise(m, TRI_METRIC_TOKENS_PER_S, 0.01, 5));
    tri_measure_destroy(m);
}

static void goals_round_up(void **state)
{
    tri_study study;
    tri_layout layout;
    tri_goal goal;

    (void)state;
    memset(&study, 0, sizeof study);
    memset(&layout, 0, sizeof layout);
    study.model.kind = TRI_MODEL_GPT;
    study.model.u.gpt.sequence = 64;
    layout.global_batch = 24;
    study.resource.unit = TRI_UNIT_STEPS;
    assert_int_equal(tri_goal_set(&study, &layout, 16, &goal), TRI_OK);
    assert_int_equal(goal.step, 19);
    study.resource.unit = TRI_UNIT_SAMPLES;
    assert_int_equal(tri_goal_set(&study, &layout, 49, &goal), TRI_OK);
    assert_int_equal(goal.step, 3 + 3);
    study.resource.unit = TRI_UNIT_TOKENS;
    assert_int_equal(tri_goal_set(&study, &layout, 24 * 64, &goal), TRI_OK);
    assert_int_equal(goal.step, 1 + 3);
    study.resource.unit = TRI_UNIT_EPOCHS;
    assert_int_equal(tri_goal_set(&study, &layout, 1, &goal), TRI_EINFEASIBLE);
    study.model.kind = TRI_MODEL_SYNTHETIC;
    assert_int_equal(tri_goal_set(&study, &layout, 9, &goal), TRI_OK);
    assert_int_equal(goal.step, 9);
    assert_int_equal(goal.warmup, 0);
}

static void counted_goals(void **state)
{
    tri_measure *m = fresh();
    tri_study study;
    tri_layout layout;
    tri_goal goal;

    (void)state;
    memset(&study, 0, sizeof study);
    memset(&layout, 0, sizeof layout);
    study.model.kind = TRI_MODEL_PROCESS;
    study.resource.unit = TRI_UNIT_SAMPLES;
    assert_int_equal(tri_goal_set(&study, &layout, 25, &goal), TRI_OK);
    assert_int_equal(goal.step, -1);
    for (int i = 0; i < 5; i++) {
        add(m, 0.5, 1);
        assert_false(tri_goal_reached(&goal, m));
    }
    add(m, 0.5, 1); /* three steps of ten samples past the warm-up */
    assert_true(tri_goal_reached(&goal, m));
    study.resource.unit = TRI_UNIT_SECONDS;
    assert_int_equal(tri_goal_set(&study, &layout, 2, &goal), TRI_OK);
    assert_false(tri_goal_reached(&goal, m));
    add(m, 0.5, 1);
    assert_true(tri_goal_reached(&goal, m));
    tri_measure_destroy(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(warmup_does_not_count),
            cmocka_unit_test(no_interval_below_five),
            cmocka_unit_test(early_end_counts_all_but_one),
            cmocka_unit_test(nan_loss_stays_nan),
            cmocka_unit_test(long_runs_are_thinned),
            cmocka_unit_test(precision_ends_a_run),
            cmocka_unit_test(goals_round_up),
            cmocka_unit_test(counted_goals),
    };

    print_message("seed %u\n", SEED);
    return cmocka_run_group_tests(tests, NULL, NULL);
}

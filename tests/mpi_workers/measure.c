/*
 * Warm-up, rates, what is learned, precision and bounded memory of a run's
 * measurement; and how far a run goes.
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

/* ---- what is learned ---------------------------------------------------- */

static tri_measurement result(tri_measure *m)
{
    tri_measurement out;

    tri_measure_result(m, 0, &out);
    return out;
}

/* The same losses at whatever pace: the same result. */
static void learned_is_free_of_timing(void **state)
{
    tri_rng rng = tri_rng_stream(SEED, 3, TRI_RNG_TEST);
    int64_t shortest = 1000;
    int64_t longest = 0;

    (void)state;
    for (int round = 0; round < 200; round++) {
        int slow = (int)tri_rng_below(&rng, 160);
        tri_measure *m = fresh();
        tri_measurement out;

        for (int i = 1; i <= 323; i++) {
            add(m, (i <= slow ? 5 : 1) + 0.01 * tri_rng_normal(&rng), 1000 - i);
        }
        out = result(m);
        shortest = out.warmup_steps < shortest ? out.warmup_steps : shortest;
        longest = out.warmup_steps > longest ? out.warmup_steps : longest;
        assert_true(out.loss == 1000 - (323 + 292) / 2.0); /* the last 32 */
        tri_measure_destroy(m);
    }
    assert_int_equal(shortest, 3);
    assert_in_range(longest, 100, 160); /* the case is not an empty one */
}

/* Rounded up, and of one step at least; the resource is without warm-up. */
static void the_last_tenth_rounds_up(void **state)
{
    static const int steps[] = {1, 3, 4, 13, 14, 23, 24};
    static const double window[] = {1, 1, 1, 1, 2, 2, 3};

    (void)state;
    for (int k = 0; k < 7; k++) {
        tri_measure *m = fresh();

        for (int i = 1; i <= steps[k]; i++) {
            add(m, 0.5, i);
        }
        assert_true(result(m).loss == steps[k] - (window[k] - 1) / 2);
        tri_measure_destroy(m);
    }
}

static void add_own(tri_measure *m, int64_t n, double own)
{
    tri_measure_add(m, &(tri_observation){
                               .n = n, .step_s = 1, .loss = NAN, .own = own});
}

/* Reported every 50 steps, or after the last, or never. */
static void rare_values(void **state)
{
    tri_measure *m = fresh();

    (void)state;
    assert_true(isnan(result(m).own));
    for (int i = 1; i <= 323; i++) {
        add_own(m, 1, i % 50 == 0 ? i : NAN);
    }
    assert_true(result(m).own == 300); /* of 292 to 323 */
    assert_true(isnan(result(m).loss));
    for (int i = 324; i <= 345; i++) {
        add_own(m, 1, NAN);
    }
    assert_true(result(m).own == 300); /* none of 311 to 345: the last */
    tri_measure_note_own(m, 7);
    assert_true(result(m).own == 7);
    tri_measure_note_own(m, 9); /* said again of the same step */
    assert_true(result(m).own == 9);
    add_own(m, 5, 11); /* a line for five steps: 315 to 350 */
    assert_true(result(m).own == 10);
    tri_measure_destroy(m);
}

/* What a checkpoint brings counts as done. */
static void after_a_checkpoint(void **state)
{
    tri_measure *m = fresh();

    (void)state;
    tri_measure_reset(m, 83);
    for (int i = 84; i <= 323; i++) {
        add(m, 1, i);
    }
    assert_true(result(m).loss == (323 + 292) / 2.0);
    tri_measure_reset(m, 303);
    for (int i = 304; i <= 323; i++) {
        add(m, 1, i);
    }
    assert_true(result(m).loss == (323 + 304) / 2.0); /* the rest of it */
    tri_measure_reset(m, 0);
    assert_true(isnan(result(m).loss));
    tri_measure_destroy(m);
}

/* Bounded memory: the tenth begins at most a hundredth of it late. */
static void long_runs_keep_their_tenth(void **state)
{
    tri_measure *m = fresh();

    (void)state;
    for (int i = 1; i <= 100003; i++) {
        add(m, 1, i);
        if (i == 2003) {
            assert_true(result(m).loss == (1804 + 2003) / 2.0); /* exact */
        }
    }
    assert_true(result(m).loss >= (90004 + 100003) / 2.0);
    assert_true(result(m).loss <= (90104 + 100003) / 2.0);
    tri_measure_destroy(m);
}

/* A slow beginning is no outlier; slow steps among the others are. */
static void flaky_after_the_warmup(void **state)
{
    (void)state;
    for (int flaky = 0; flaky < 2; flaky++) {
        tri_measure *m = fresh();

        for (int i = 1; i <= 100; i++) {
            int slow = i <= 30 || (flaky && i % 5 == 0);

            add(m, slow ? 9 : 1 + 0.001 * (i % 3), 1);
        }
        assert_int_equal(result(m).warmup_steps, 30);
        assert_int_equal(result(m).flaky, flaky);
        tri_measure_destroy(m);
    }
}

/* ---- long runs ---------------------------------------------------------- */

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
    tri_measure_reset(m, 0);
    for (int i = 0; i < 7; i++) {
        add(m, 1, 1);
        assert_false(
                tri_measure_is_precise(m, TRI_METRIC_TOKENS_PER_S, 0.01, 5));
    }
    add(m, 1, 1);
    assert_true(tri_measure_is_precise(m, TRI_METRIC_TOKENS_PER_S, 0.01, 5));
    tri_measure_destroy(m);
}

/* Lines held back by a buffer, ten at once: as many observations as breaths. */
static void what_came_together_is_one(void **state)
{
    tri_measure *m = fresh();
    tri_measurement out;
    tri_observation o = {.n = 1, .samples = 10, .own = NAN};

    (void)state;
    for (int i = 0; i < 90; i++) {
        o.step_s = i / 10 == 5 || i / 10 == 7 ? 0.25 : 0.5;
        o.joins = i % 10 > 0;
        o.loss = i;
        o.tokens = i % 2 ? 100 : 300;
        tri_measure_add(m, &o);
        assert_false(tri_measure_is_precise(m, TRI_METRIC_STEP_S, 0.01, 8));
    }
    tri_measure_result(m, 0, &out);
    assert_int_equal(out.warmup_steps, 30);
    assert_int_equal(out.measured_steps, 60);
    assert_true(out.step_s.value == 0.5);
    assert_true(out.step_s.lo == 0.25 && out.step_s.hi == 0.5);
    assert_true(out.tokens_per_s.lo == 400 && out.tokens_per_s.hi == 800);
    assert_true(out.loss == 85); /* of each: 81 to 89 */
    assert_int_equal(tri_measure_steps(m), 87);
    tri_measure_destroy(m);
}

/* There is no telling how much of it was the start. */
static void all_at_once_is_flaky(void **state)
{
    tri_measure *m = fresh();
    tri_measurement out;

    (void)state;
    for (int i = 0; i < 20; i++) {
        tri_measure_add(m, &(tri_observation){.n = 1,
                                              .step_s = 0.5,
                                              .loss = 1,
                                              .own = NAN,
                                              .joins = i > 0});
    }
    tri_measure_result(m, 1, &out);
    assert_true(out.step_s.value == 0.5 && isnan(out.step_s.lo));
    assert_true(out.flaky);
    tri_measure_destroy(m);
}

/* Of long runs, too, a breath is thinned out whole. */
static void thinned_by_the_breath(void **state)
{
    tri_measure *m = fresh();
    tri_measurement out;

    (void)state;
    for (int i = 0; i < 20000; i++) {
        tri_measure_add(m, &(tri_observation){.n = 1,
                                              .step_s = 0.5,
                                              .samples = i % 2 ? 30 : 10,
                                              .loss = 1,
                                              .own = NAN,
                                              .joins = i % 2});
    }
    tri_measure_result(m, 0, &out);
    assert_true(out.samples_per_s.lo == 40 && out.samples_per_s.hi == 40);
    assert_int_equal(out.warmup_steps, 6);
    assert_true(tri_measure_samples(m) == 20 * 20000 - 50);
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

/* What was done before a checkpoint counts as much a step as what was seen:
 * the same last step as in one go. */
static void counted_goals_after_a_checkpoint(void **state)
{
    tri_measure *m = fresh();
    tri_goal goal = {3, -1, TRI_UNIT_SAMPLES, 250};

    (void)state;
    tri_measure_reset(m, 13); /* ten steps past the warm-up */
    for (int i = 14; i < 28; i++) {
        add(m, 0.5, 1);
        assert_false(tri_goal_reached(&goal, m));
    }
    add(m, 0.5, 1);
    assert_true(tri_measure_samples(m) == 250);
    assert_true(tri_measure_seconds(m) == 12.5);
    assert_true(tri_goal_reached(&goal, m));
    /* the next step may be the last: counts need no warm-up again */
    tri_measure_reset(m, 27);
    assert_false(tri_goal_reached(&goal, m));
    add(m, 0.5, 1);
    assert_true(tri_measure_samples(m) == 250);
    assert_true(tri_goal_reached(&goal, m));
    goal.unit = TRI_UNIT_SECONDS; /* but times do */
    goal.amount = 0.1;
    assert_false(tri_goal_reached(&goal, m));
    tri_measure_destroy(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(warmup_does_not_count),
            cmocka_unit_test(no_interval_below_five),
            cmocka_unit_test(early_end_counts_all_but_one),
            cmocka_unit_test(learned_is_free_of_timing),
            cmocka_unit_test(the_last_tenth_rounds_up),
            cmocka_unit_test(rare_values),
            cmocka_unit_test(after_a_checkpoint),
            cmocka_unit_test(long_runs_keep_their_tenth),
            cmocka_unit_test(flaky_after_the_warmup),
            cmocka_unit_test(long_runs_are_thinned),
            cmocka_unit_test(precision_ends_a_run),
            cmocka_unit_test(what_came_together_is_one),
            cmocka_unit_test(all_at_once_is_flaky),
            cmocka_unit_test(thinned_by_the_breath),
            cmocka_unit_test(goals_round_up),
            cmocka_unit_test(counted_goals),
            cmocka_unit_test(counted_goals_after_a_checkpoint),
    };

    print_message("seed %u\n", SEED);
    return cmocka_run_group_tests(tests, NULL, NULL);
}

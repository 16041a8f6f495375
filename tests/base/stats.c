/*
 * Medians, intervals and their coverage, warm-up, and ratios, on drawn series
 * with known answers.
 */
#include "trireme/stats.h"

#include "tests/tri_cmocka.h"
#include "trireme/num.h"
#include "trireme/rng.h"

#include <math.h>

#define SEED 12u
#define MOST 2000

static double scratch[MOST];

static void draw(tri_rng *rng, double *x, int n, double centre, double spread)
{
    for (int i = 0; i < n; i++) {
        x[i] = centre + spread * tri_rng_normal(rng);
    }
}

static void median_of_small_sets(void **state)
{
    const double x[] = {5, 1, 4, 2, 3};

    (void)state;
    assert_true(isnan(tri_median(x, 0, scratch)));
    assert_true(tri_median(x, 1, scratch) == 5);
    assert_true(tri_median(x, 2, scratch) == 3);
    assert_true(tri_median(x, 4, scratch) == 3);
    assert_true(tri_median(x, 5, scratch) == 3);
    assert_true(x[0] == 5); /* the series is not touched */
    assert_true(fabs(tri_mad(x, 5, scratch) - 1.4826) < 1e-12);
}

/* Every length, against counting ranks. */
static void median_splits_evenly(void **state)
{
    tri_rng rng = tri_rng_stream(SEED, 1, TRI_RNG_TEST);
    double x[101];

    (void)state;
    for (int n = 1; n <= 101; n += 2) {
        int below = 0;
        double median;

        draw(&rng, x, n, 0, 1);
        median = tri_median(x, n, scratch);
        for (int i = 0; i < n; i++) {
            below += x[i] < median;
        }
        assert_int_equal(below, n / 2);
    }
}

static void mad_estimates_the_deviation(void **state)
{
    tri_rng rng = tri_rng_stream(SEED, 2, TRI_RNG_TEST);
    double x[MOST];

    (void)state;
    draw(&rng, x, MOST, 10, 2);
    assert_true(fabs(tri_mad(x, MOST, scratch) - 2) < 0.2);
}

static void interval_needs_five(void **state)
{
    const double x[] = {3, 1, 2, 5, 4};
    tri_interval four = tri_median_interval(x, 4, scratch);
    tri_interval five = tri_median_interval(x, 5, scratch);

    (void)state;
    assert_true(four.value == 2.5 && isnan(four.lo) && isnan(four.hi));
    assert_true(five.value == 3 && five.lo == 1 && five.hi == 5);
}

/* Ranks of the published tables for 95 %: n = 9 gives (2, 8), 20 (6, 15),
 * 100 (40, 61). */
static void interval_ranks(void **state)
{
    static const int rows[][3] = {{6, 1, 6},    {8, 1, 8},    {9, 2, 8},
                                  {12, 3, 10},  {20, 6, 15},  {25, 8, 18},
                                  {50, 18, 33}, {100, 40, 61}};
    double x[100];

    (void)state;
    for (int i = 0; i < 100; i++) {
        x[i] = i + 1;
    }
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        tri_interval in = tri_median_interval(x, rows[r][0], scratch);

        assert_true(in.lo == rows[r][1]);
        assert_true(in.hi == rows[r][2]);
    }
}

static int covers(tri_interval in, double truth)
{
    return in.lo <= truth && truth <= in.hi;
}

static void median_interval_covers(void **state)
{
    static const int sizes[] = {5, 6, 9, 20, 51, 200, 1500};
    tri_rng rng = tri_rng_stream(SEED, 3, TRI_RNG_TEST);
    double x[MOST];

    (void)state;
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        int rounds = sizes[s] > 100 ? 500 : 2000;
        int hits = 0;

        for (int i = 0; i < rounds; i++) {
            draw(&rng, x, sizes[s], 1, 0.1);
            hits += covers(tri_median_interval(x, sizes[s], scratch), 1);
        }
        /* four standard errors below the promise */
        assert_true(hits >= rounds * (sizes[s] == 5 ? 0.9375 : 0.95) -
                                    4 * sqrt(rounds * 0.0475));
    }
}

/* Four things, each twice, with one relative noise: of 2,000 such finals about
 * 95 % of the intervals hold the truth. */
static void pooled_ratio_covers(void **state)
{
    tri_rng rng = tri_rng_stream(SEED, 4, TRI_RNG_TEST);
    const double truth[] = {2, 3, 5, 7};
    double x[4][2];
    int rounds = 2000;
    int hits = 0;
    int means = 0;

    (void)state;
    for (int i = 0; i < rounds; i++) {
        tri_pooled p;

        tri_pooled_init(&p, 1);
        for (int k = 0; k < 4; k++) {
            draw(&rng, x[k], 2, 0, 0.05);
            x[k][0] = truth[k] * tri_exp(x[k][0]);
            x[k][1] = truth[k] * tri_exp(x[k][1]);
            tri_pooled_add(&p, x[k], 2);
        }
        hits += covers(tri_pooled_contrast(&p, x[1], 2, x[0], 2), 1.5);
        means += covers(tri_pooled_mean(&p, x[3], 2), 7);
    }
    assert_in_range(hits, 1860, 1940);
    assert_in_range(means, 1860, 1940);
}

/* The machine slows down by half between two rounds: ratios of things that
 * were measured in turn keep their coverage, and stay narrow. */
static void blocks_take_the_drift_out(void **state)
{
    tri_rng rng = tri_rng_stream(SEED, 5, TRI_RNG_TEST);
    const double truth[] = {2, 3, 5};
    double x[3][3];
    int rounds = 2000;
    int hits = 0;
    int narrow = 0;

    (void)state;
    for (int i = 0; i < rounds; i++) {
        tri_pooled p;
        tri_interval r;

        for (int k = 0; k < 3; k++) {
            draw(&rng, x[k], 3, 0, 0.05);
            for (int j = 0; j < 3; j++) {
                x[k][j] = truth[k] * tri_exp(x[k][j]) / (j + 1);
            }
        }
        tri_pooled_init(&p, 1);
        tri_pooled_add_blocks(&p, x[0], 3, 3);
        assert_int_equal(p.dof, 4);
        r = tri_pooled_contrast(&p, x[1], 3, x[0], 3);
        hits += covers(r, 1.5);
        narrow += r.hi / r.lo < 1.5;
    }
    assert_in_range(hits, 1860, 1940);
    assert_true(narrow > rounds * 0.95);
}

static void pooled_of_few(void **state)
{
    const double a[] = {4, 4};
    const double b[] = {2, 2};
    tri_pooled none;
    tri_pooled two;
    tri_pooled plain;

    (void)state;
    tri_pooled_init(&none, 1);
    tri_pooled_add(&none, a, 1);
    assert_true(fabs(tri_pooled_contrast(&none, a, 1, b, 1).value - 2) < 1e-14);
    assert_true(isnan(tri_pooled_contrast(&none, a, 1, b, 1).lo));
    assert_true(isnan(tri_pooled_mean(&none, a, 0).value));
    tri_pooled_init(&two, 1);
    tri_pooled_add(&two, a, 2);
    tri_pooled_add(&two, b, 2);
    assert_int_equal(two.dof, 2);
    assert_true(tri_pooled_contrast(&two, a, 2, b, 2).lo > 1.999);
    assert_true(isnan(tri_pooled_contrast(&two, a, 0, b, 2).value));
    tri_pooled_init(&plain, 0);
    tri_pooled_add(&plain, a, 2);
    assert_true(tri_pooled_contrast(&plain, b, 2, a, 2).value == -2);
}

static void outliers_are_five_mads_off(void **state)
{
    (void)state;
    assert_false(tri_is_outlier(1.49, 1, 0.1));
    assert_true(tri_is_outlier(1.51, 1, 0.1));
    assert_true(tri_is_outlier(0.49, 1, 0.1));
}

static void warmup_finds_the_change(void **state)
{
    tri_rng rng = tri_rng_stream(SEED, 6, TRI_RNG_TEST);
    double x[40];

    (void)state;
    draw(&rng, x, 40, 1, 0.01);
    assert_int_equal(tri_warmup_length(x, 40, 3, scratch), 3);
    for (int i = 0; i < 9; i++) {
        x[i] += 0.5;
    }
    assert_int_equal(tri_warmup_length(x, 40, 3, scratch), 9);
    /* faster at first is no warm-up */
    draw(&rng, x, 40, 1, 0.01);
    for (int i = 0; i < 9; i++) {
        x[i] -= 0.5;
    }
    assert_int_equal(tri_warmup_length(x, 40, 3, scratch), 3);
    /* nor is a change in the second half */
    draw(&rng, x, 40, 1, 0.01);
    for (int i = 0; i < 30; i++) {
        x[i] += 0.5;
    }
    assert_true(tri_warmup_length(x, 40, 0, scratch) <= 20);
}

static void warmup_leaves_a_value(void **state)
{
    const double x[] = {2, 1, 1, 1};

    (void)state;
    assert_int_equal(tri_warmup_length(x, 0, 3, scratch), 0);
    assert_int_equal(tri_warmup_length(x, 1, 3, scratch), 0);
    assert_int_equal(tri_warmup_length(x, 2, 3, scratch), 1);
    assert_int_equal(tri_warmup_length(x, 4, 3, scratch), 3);
    assert_int_equal(tri_warmup_length(x, 4, 0, scratch), 0);
}

static void equal_steps_have_no_change(void **state)
{
    double x[20];

    (void)state;
    for (int i = 0; i < 20; i++) {
        x[i] = 0.25;
    }
    assert_int_equal(tri_warmup_length(x, 20, 2, scratch), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(median_of_small_sets),
            cmocka_unit_test(median_splits_evenly),
            cmocka_unit_test(mad_estimates_the_deviation),
            cmocka_unit_test(interval_needs_five),
            cmocka_unit_test(interval_ranks),
            cmocka_unit_test(median_interval_covers),
            cmocka_unit_test(pooled_ratio_covers),
            cmocka_unit_test(blocks_take_the_drift_out),
            cmocka_unit_test(pooled_of_few),
            cmocka_unit_test(outliers_are_five_mads_off),
            cmocka_unit_test(warmup_finds_the_change),
            cmocka_unit_test(warmup_leaves_a_value),
            cmocka_unit_test(equal_steps_have_no_change),
    };

    print_message("seed %u\n", SEED);
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Screening very many rows against predicting them one by one.
 */
#include "tests/propose/world.h"

#include "tests/tri_cmocka.h"

#include <math.h>
#include <stdlib.h>

#define N       7 /* 57,600 configurations */
#define SAMPLES 90
#define PENDING 5
#define STEP    97 /* of the rows that are compared */

/* Bounds of the whole pool: means at most, deviations at least what is
 * predicted but for `off`, and no more than `loose` beside it. */
static void check(const tri_predictor_ops *ops, double off, double loose,
                  int n_pending)
{
    tri_rng rng = tri_rng_stream(3, 0, TRI_RNG_TEST);
    double x[SAMPLES * 64], y[SAMPLES];
    tri_samples samples = {.n = SAMPLES, .x = x, .y = y};
    tri_config c[N];
    tri_model *m;
    tri_story s;
    float *mean, *sd;

    tri_story_init(&s, tri_world_product(N));
    tri_story_ask(&s, 1);
    samples.width = s.pool.width;
    assert_true(s.pool.is_all && s.pool.n == 57600 && s.pool.width <= 64);
    for (int i = 0; i < SAMPLES; i++) {
        assert_int_equal(tri_space_sample(s.space, &rng, c), TRI_OK);
        y[i] = tri_world_cost(c, N, 0.5, 3);
        tri_encode(s.encoding, c, x + i * samples.width);
    }
    assert_int_equal(ops->fit(s.encoding, &samples, 3, NULL, &m), TRI_OK);
    for (int i = 0; i < n_pending; i++) {
        tri_pool_row(&s.pool, i * 1000 + 7, x);
        assert_int_equal(ops->add(m, x, 0, 1), TRI_OK);
    }
    mean = malloc(2 * (size_t)s.pool.n * sizeof *mean);
    assert_non_null(mean);
    sd = mean + s.pool.n;
    ops->screen(m, s.pool.x, (int)s.pool.n, 1, mean, sd);
    for (int64_t i = 0; i < s.pool.n; i += STEP) {
        double said, its;

        tri_pool_row(&s.pool, i, x);
        ops->predict(m, x, 1, 1, &said, &its);
        assert_true((double)mean[i] <= said + off);
        assert_true((double)mean[i] >= said - loose);
        assert_true((double)sd[i] >= its - off);
        assert_true((double)sd[i] <= its + loose);
    }
    ops->destroy(m);
    free(mean);
    tri_story_fini(&s);
}

/* Trees are walked in another way, and summed in single precision. */
static void trees(void **state)
{
    (void)state;
    check(&tri_predictor_trees, 1e-5, 1e-5, 0);
    check(&tri_predictor_trees, 1e-5, 1e-5, PENDING);
}

static void gp(void **state)
{
    (void)state;
    check(&tri_predictor_gp, 0, INFINITY, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(trees),
                                       cmocka_unit_test(gp)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * The policy: uniform before it has learned, always valid, a probability, and
 * led by the weights of its episodes.
 */
#include "src/propose/policy.h"

#include "tests/propose/world.h"
#include "tests/tri_cmocka.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST 64

/* Fill the batch; weigh each episode by `weigh` of its configuration. */
static void teach(tri_policy *p, tri_rng *rng,
                  double (*weigh)(const tri_config *), int batches)
{
    tri_config c[MOST];
    double weight[TRI_POLICY_BATCH];
    double tilt;

    for (int k = 0; k < batches; k++) {
        double mean = 0;

        for (int i = 0; i < TRI_POLICY_BATCH; i++) {
            assert_int_equal(tri_policy_draw(p, i, rng, c, &tilt), TRI_OK);
            weight[i] = weigh(c);
            mean += weight[i] / TRI_POLICY_BATCH;
        }
        for (int i = 0; i < TRI_POLICY_BATCH; i++) {
            weight[i] -= mean;
        }
        tri_policy_learn(p, weight, TRI_POLICY_BATCH, 1);
    }
}

static double many_micro(const tri_config *c)
{
    return log2((double)c[2].u.i) + (c[5].u.i == 2) +
           (c[1].type == TRI_INT && c[1].u.i == 3);
}

static double none(const tri_config *c)
{
    (void)c;
    return 1;
}

static void it_begins_uniform(void **state)
{
    tri_space *space = tri_world_mesh();
    tri_rng rng = tri_rng_stream(1, 0, TRI_RNG_TEST);
    int64_t count = tri_space_count(space);
    int *seen = calloc((size_t)count, sizeof *seen);
    tri_config c[MOST];
    double tilt;
    double x = 0;
    int64_t at;
    tri_policy *p;

    (void)state;
    assert_int_equal(tri_policy_create(space, &p), TRI_OK);
    for (int i = 0; i < 20 * (int)count; i++) {
        assert_int_equal(tri_policy_draw(p, 0, &rng, c, &tilt), TRI_OK);
        assert_float_equal(tilt, 0, 1e-9);
        assert_int_equal(tri_space_index(space, c, &at), TRI_OK);
        seen[at]++;
    }
    for (int64_t i = 0; i < count; i++) {
        x += (seen[i] - 20) * (seen[i] - 20) / 20.0;
    }
    assert_true(x < (double)count + 5 * sqrt(2 * (double)count));
    free(seen);
    tri_policy_destroy(p);
    tri_space_destroy(space);
}

/* Over all configurations the probabilities that it says sum to one. */
static void its_probabilities_sum_to_one(void **state)
{
    tri_space *space = tri_world_mesh();
    tri_rng rng = tri_rng_stream(2, 0, TRI_RNG_TEST);
    int64_t count = tri_space_count(space);
    double *said = malloc((size_t)count * sizeof *said);
    tri_config c[MOST];
    int64_t left = count;
    double sum = 0;
    double tilt;
    int64_t at;
    tri_policy *p;

    (void)state;
    for (int64_t i = 0; i < count; i++) {
        said[i] = NAN;
    }
    assert_int_equal(tri_policy_create(space, &p), TRI_OK);
    teach(p, &rng, many_micro, 4);
    for (int i = 0; i < 100000 && left > 0; i++) {
        assert_int_equal(tri_policy_draw(p, 0, &rng, c, &tilt), TRI_OK);
        assert_int_equal(tri_space_index(space, c, &at), TRI_OK);
        left -= isnan(said[at]);
        assert_true(isnan(said[at]) || fabs(said[at] - tilt) < 1e-9);
        said[at] = tilt;
    }
    assert_int_equal(left, 0);
    for (int64_t i = 0; i < count; i++) {
        sum += exp(said[i]) / (double)count;
    }
    assert_float_equal(sum, 1, 1e-9);
    free(said);
    tri_policy_destroy(p);
    tri_space_destroy(space);
}

static double mean_of(tri_policy *p, tri_rng *rng,
                      double (*value)(const tri_config *))
{
    tri_config c[MOST];
    double sum = 0;
    double tilt;

    for (int i = 0; i < 200; i++) {
        assert_int_equal(tri_policy_draw(p, 0, rng, c, &tilt), TRI_OK);
        sum += value(c) / 200;
    }
    return sum;
}

/* The best of the mesh is worth 5, the mean about 2. */
static void it_goes_where_episodes_are_worth_more(void **state)
{
    tri_space *space = tri_world_mesh();
    tri_rng rng = tri_rng_stream(3, 0, TRI_RNG_TEST);
    tri_policy *p;

    (void)state;
    assert_int_equal(tri_policy_create(space, &p), TRI_OK);
    assert_true(mean_of(p, &rng, many_micro) < 3);
    teach(p, &rng, many_micro, 100);
    assert_true(mean_of(p, &rng, many_micro) > 4.8);
    tri_policy_destroy(p);
    tri_space_destroy(space);
}

/* What is worth something together only: pairs learn it. */
static double equal_ends(const tri_config *c)
{
    return c[0].u.i == c[3].u.i && c[0].u.i != 1;
}

static void it_learns_pairs(void **state)
{
    tri_space *space = tri_world_product(4);
    tri_rng rng = tri_rng_stream(4, 0, TRI_RNG_TEST);
    tri_policy *p;

    (void)state;
    assert_int_equal(tri_policy_create(space, &p), TRI_OK);
    assert_true(mean_of(p, &rng, equal_ends) < 0.3);
    teach(p, &rng, equal_ends, 200);
    assert_true(mean_of(p, &rng, equal_ends) > 0.9);
    tri_policy_destroy(p);
    tri_space_destroy(space);
}

static void episodes_of_one_worth_teach_nothing(void **state)
{
    tri_space *space = tri_world_mesh();
    tri_rng rng = tri_rng_stream(5, 0, TRI_RNG_TEST);
    tri_config c[MOST];
    double tilt;
    tri_policy *p;

    (void)state;
    assert_int_equal(tri_policy_create(space, &p), TRI_OK);
    teach(p, &rng, none, 50);
    assert_int_equal(tri_policy_draw(p, 0, &rng, c, &tilt), TRI_OK);
    assert_float_equal(tilt, 0, 1e-6);
    tri_policy_destroy(p);
    tri_space_destroy(space);
}

/* Near 10^-2 on a logarithmic float, c active, wide small: bins of all. */
static double corner(const tri_config *c)
{
    return -fabs(log10(c[0].u.d) + 2) + (c[3].type == TRI_REAL) +
           (c[4].u.i < 50000);
}

static void floats_and_what_is_tested_last(void **state)
{
    tri_space *space = tri_world_floats();
    tri_rng rng = tri_rng_stream(6, 0, TRI_RNG_TEST);
    tri_config c[MOST];
    double tilt;
    tri_policy *p;

    (void)state;
    assert_int_equal(tri_policy_create(space, &p), TRI_OK);
    assert_true(mean_of(p, &rng, corner) < 0);
    teach(p, &rng, corner, 150);
    assert_true(mean_of(p, &rng, corner) > 1.5);
    for (int i = 0; i < 300; i++) {
        assert_int_equal(tri_policy_draw(p, 0, &rng, c, &tilt), TRI_OK);
        assert_true(tri_space_valid(space, c, NULL));
        assert_true(isfinite(tilt));
    }
    tri_policy_destroy(p);
    tri_space_destroy(space);
}

/* Pairs of 200 choices are more than are kept: the farther are left out. */
static void a_long_product_fits(void **state)
{
    tri_space *space = tri_world_product(200);
    tri_rng rng = tri_rng_stream(7, 0, TRI_RNG_TEST);
    tri_config *c = calloc(200, sizeof *c);
    double tilt;
    tri_policy *p;

    (void)state;
    assert_int_equal(tri_policy_create(space, &p), TRI_OK);
    assert_int_equal(tri_policy_draw(p, 0, &rng, c, &tilt), TRI_OK);
    tri_policy_learn(p, &(double){1}, 1, 1);
    assert_int_equal(tri_policy_draw(p, 0, &rng, c, &tilt), TRI_OK);
    assert_true(tri_space_valid(space, c, NULL));
    assert_true(tilt != 0);
    free(c);
    tri_policy_destroy(p);
    tri_space_destroy(space);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(it_begins_uniform),
            cmocka_unit_test(its_probabilities_sum_to_one),
            cmocka_unit_test(it_goes_where_episodes_are_worth_more),
            cmocka_unit_test(it_learns_pairs),
            cmocka_unit_test(episodes_of_one_worth_teach_nothing),
            cmocka_unit_test(floats_and_what_is_tested_last),
            cmocka_unit_test(a_long_product_fits)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

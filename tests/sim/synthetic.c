/*
 * Synthetic curves: the optimum is exact over spaces with constraints,
 * conditions, words and reals; low resources rank roughly, not exactly.
 */
#include "src/sim/synthetic.h"

#include "tests/sim/fixture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const forms[] = {"bowl", "ridge", "crossing", "flat"};
#define N_FORMS 4
#define MAX     256
#define SAMPLES 300

static const char mixed_space[] =
        "study: mixed\n"
        "model: {kind: synthetic}\n"
        "space:\n"
        "  a: {int: [1, 12]}\n"
        "  b: {choice: [1, 2, 4, 8]}\n"
        "  kind: {choice: [slow, fast, other]}\n"
        "  deep: {int: [1, 64], log2: true, when: kind != slow}\n"
        "  fixed: 3\n"
        "constraints: [a % b == 0 or b == 2, a + b <= 14]\n"
        "ranks: 1\n"
        "objective: {minimize: loss}\n"
        "resource: {unit: steps, min: 4, max: 256, eta: 4}\n"
        "budget: {trials: 10}\n"
        "finals: none\n";

static const char real_space[] =
        "study: reals\n"
        "model: {kind: synthetic}\n"
        "space:\n"
        "  x: {float: [0, 1]}\n"
        "  y: {float: [0.0001, 1], log: true}\n"
        "  z: {float: [-3, 3]}\n"
        "ranks: 1\n"
        "objective: {minimize: loss}\n"
        "resource: {unit: steps, min: 4, max: 256, eta: 4}\n"
        "budget: {trials: 10}\n"
        "finals: none\n";

static tri_synthetic *curve(const tri_study *study, const char *form,
                            uint64_t seed)
{
    tri_synthetic *s = NULL;

    must(tri_synthetic_create(study->space, form, seed, 4, MAX, &s));
    return s;
}

static tri_config *configs(const tri_study *study, int n)
{
    size_t width = (size_t)tri_space_n_params(study->space);

    return calloc((size_t)n * width, sizeof(tri_config));
}

static void check_optimum(const tri_study *study, const char *form,
                          uint64_t seed)
{
    tri_synthetic *s = curve(study, form, seed);
    int64_t n = tri_space_count(study->space);
    tri_config *c = configs(study, 1);
    double least = INFINITY;
    int64_t attained = 0;

    for (int64_t i = 0; i < n; i++) {
        double v;

        must(tri_space_at(study->space, i, c));
        v = tri_synthetic_loss(s, c, MAX);
        least = v < least ? v : least;
        attained += v == tri_synthetic_floor(s);
    }
    assert_true(least == tri_synthetic_floor(s));
    assert_int_equal(attained, 1);
    assert_true(tri_space_valid(study->space, tri_synthetic_best(s), NULL));
    free(c);
    tri_synthetic_destroy(s);
}

static void the_optimum_is_exact(void **state)
{
    tri_study *study = read_study(mixed_space);

    (void)state;
    assert_true(tri_space_count(study->space) > 100);
    for (int f = 0; f < N_FORMS; f++) {
        for (uint64_t seed = 0; seed < 20; seed++) {
            check_optimum(study, forms[f], seed);
        }
    }
    tri_study_destroy(study);
}

static void the_optimum_of_reals_is_a_bound(void **state)
{
    tri_study *study = read_study(real_space);
    tri_config *c = configs(study, 1);

    (void)state;
    for (int f = 0; f < N_FORMS; f++) {
        tri_synthetic *s = curve(study, forms[f], 5);

        assert_true(tri_synthetic_loss(s, tri_synthetic_best(s), MAX) ==
                    tri_synthetic_floor(s));
        for (uint64_t i = 0; i < SAMPLES; i++) {
            tri_rng rng = tri_rng_stream(1, i, TRI_RNG_TEST);

            must(tri_space_sample(study->space, &rng, c));
            assert_true(tri_synthetic_loss(s, c, MAX) > tri_synthetic_floor(s));
        }
        tri_synthetic_destroy(s);
    }
    free(c);
    tri_study_destroy(study);
}

static void curves_fall(void **state)
{
    tri_study *study = read_study(real_space);
    tri_config *c = configs(study, 1);

    (void)state;
    for (int f = 0; f < N_FORMS; f++) {
        tri_synthetic *s = curve(study, forms[f], 9);
        tri_rng rng = tri_rng_stream(2, 0, TRI_RNG_TEST);

        must(tri_space_sample(study->space, &rng, c));
        for (int64_t r = 1; r < MAX; r *= 2) {
            double now = tri_synthetic_loss(s, c, r);
            double then = tri_synthetic_loss(s, c, 2 * r);

            assert_true(strcmp(forms[f], "flat") == 0 ? now == then
                                                      : now > then);
        }
        assert_true(tri_synthetic_loss(s, c, MAX) ==
                    tri_synthetic_loss(s, c, 2 * MAX));
        tri_synthetic_destroy(s);
    }
    free(c);
    tri_study_destroy(study);
}

/* Kendall's rank correlation of losses at `low` and at the top. */
static double agreement(const tri_study *study, const char *form, int64_t low)
{
    tri_synthetic *s = curve(study, form, 3);
    tri_config *c = configs(study, 1);
    double x[SAMPLES], y[SAMPLES];
    double sum = 0;

    for (uint64_t i = 0; i < SAMPLES; i++) {
        tri_rng rng = tri_rng_stream(4, i, TRI_RNG_TEST);

        must(tri_space_sample(study->space, &rng, c));
        x[i] = tri_synthetic_loss(s, c, low);
        y[i] = tri_synthetic_loss(s, c, MAX);
        for (uint64_t j = 0; j < i; j++) {
            sum += (x[i] - x[j]) * (y[i] - y[j]) > 0 ? 1 : -1;
        }
    }
    free(c);
    tri_synthetic_destroy(s);
    return sum / (SAMPLES * (SAMPLES - 1) / 2.0);
}

static void low_resources_rank_roughly(void **state)
{
    tri_study *study = read_study(real_space);
    double bowl = agreement(study, "bowl", 4);
    double ridge = agreement(study, "ridge", 4);
    double crossing = agreement(study, "crossing", 4);

    (void)state;
    print_message("tau at 1/64: bowl %.2f, ridge %.2f, crossing %.2f\n", bowl,
                  ridge, crossing);
    assert_true(bowl > 0.3 && bowl < 0.95);
    assert_true(ridge > 0.2 && ridge < 0.95);
    assert_true(crossing < bowl);
    assert_true(agreement(study, "bowl", 64) > bowl);
    assert_true(agreement(study, "crossing", 64) > crossing);
    assert_true(agreement(study, "flat", 4) == 1);
    tri_study_destroy(study);
}

static void seeds_differ_and_repeat(void **state)
{
    tri_study *study = read_study(real_space);
    tri_synthetic *a = curve(study, "bowl", 1);
    tri_synthetic *b = curve(study, "bowl", 1);
    tri_synthetic *other = curve(study, "bowl", 2);
    tri_config *c = configs(study, 1);
    tri_rng rng = tri_rng_stream(6, 0, TRI_RNG_TEST);

    (void)state;
    must(tri_space_sample(study->space, &rng, c));
    assert_true(tri_synthetic_loss(a, c, 16) == tri_synthetic_loss(b, c, 16));
    assert_true(tri_synthetic_loss(a, c, 16) !=
                tri_synthetic_loss(other, c, 16));
    free(c);
    tri_synthetic_destroy(a);
    tri_synthetic_destroy(b);
    tri_synthetic_destroy(other);
    tri_study_destroy(study);
}

static void unknown_forms_are_named(void **state)
{
    tri_study *study = read_study(real_space);
    tri_synthetic *s = NULL;

    (void)state;
    assert_int_equal(tri_synthetic_create(study->space, "bowel", 1, 4, MAX, &s),
                     TRI_EUNKNOWN);
    assert_null(s);
    for (int f = 0; f < N_FORMS; f++) {
        assert_non_null(strstr(tri_error_last()->sentence, forms[f]));
    }
    tri_study_destroy(study);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(the_optimum_is_exact),
            cmocka_unit_test(the_optimum_of_reals_is_a_bound),
            cmocka_unit_test(curves_fall),
            cmocka_unit_test(low_resources_rank_roughly),
            cmocka_unit_test(seeds_differ_and_repeat),
            cmocka_unit_test(unknown_forms_are_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

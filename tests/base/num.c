/*
 * The functions of num.h against the C library's extended precision, in units
 * of the last place, and their values at the edges.
 */
#include "trireme/num.h"

#include "tests/tri_cmocka.h"
#include "trireme/rng.h"

#include <float.h>
#include <math.h>

#define SEED   4u
#define POINTS 50000

static tri_rng stream(uint64_t key)
{
    return tri_rng_stream(SEED, key, TRI_RNG_TEST);
}

static double uniform(tri_rng *rng, double lo, double hi)
{
    return lo + (hi - lo) * tri_rng_unit(rng);
}

/* Distance of `got` from `want` in units of the last place of `want`. */
static double ulps(double got, long double want)
{
    double near = fabs((double)want);

    return (double)(fabsl(got - want) / (nextafter(near, INFINITY) - near));
}

/* Half of the points over all exponents, half near one. */
static double positive(tri_rng *rng, int i)
{
    return i % 2 ? uniform(rng, 0.5, 2) : exp(uniform(rng, -700, 700));
}

static void logarithms_are_near(void **state)
{
    tri_rng rng = stream(1);
    double worst = 0;

    (void)state;
    for (int i = 0; i < POINTS; i++) {
        double x = positive(&rng, i);

        worst = fmax(worst, ulps(tri_log(x), logl(x)));
        worst = fmax(worst, ulps(tri_log2(x), log2l(x)));
    }
    assert_true(worst <= 2);
}

static void logarithm_edges(void **state)
{
    (void)state;
    for (int k = -1074; k <= 1023; k++) {
        assert_true(tri_log2(ldexp(1, k)) == k);
    }
    assert_true(tri_log(1) == 0);
    assert_true(tri_log(0) == -INFINITY);
    assert_true(tri_log(INFINITY) == INFINITY);
    assert_true(isnan(tri_log(-1)));
    assert_true(isnan(tri_log(NAN)));
    assert_true(isnan(tri_log2(-0.5)));
    assert_true(ulps(tri_log(5e-324), logl((long double)5e-324)) <= 1);
    assert_true(ulps(tri_log(DBL_MAX), logl(DBL_MAX)) <= 1);
}

static void exponentials_are_near(void **state)
{
    tri_rng rng = stream(2);
    double worst = 0;

    (void)state;
    for (int i = 0; i < POINTS; i++) {
        double x = uniform(&rng, -708, 708) / (i % 2 ? 1 : 500);

        worst = fmax(worst, ulps(tri_exp(x), expl(x)));
    }
    assert_true(worst <= 1);
}

static void exponential_edges(void **state)
{
    (void)state;
    assert_true(tri_exp(0) == 1);
    assert_true(tri_exp(709.79) == INFINITY);
    assert_true(tri_exp(709.782712893383) < INFINITY);
    assert_true(tri_exp(-745) == 5e-324);
    assert_true(tri_exp(-746) == 0);
    assert_true(tri_exp(-INFINITY) == 0);
    assert_true(tri_exp(INFINITY) == INFINITY);
    assert_true(isnan(tri_exp(NAN)));
}

static void powers_are_near(void **state)
{
    tri_rng rng = stream(3);
    double worst = 0;

    (void)state;
    for (int i = 0; i < POINTS; i++) {
        double x = positive(&rng, i);
        double y = uniform(&rng, -700, 700) / (fabs(log(x)) + 1e-3);

        worst = fmax(worst, ulps(tri_pow(x, y), powl(x, y)));
    }
    assert_true(worst <= 2);
}

static void whole_powers_are_exact(void **state)
{
    double want = 1;

    (void)state;
    for (int n = 0; n <= 22; n++) { /* 10^22 is the last exact one */
        assert_true(tri_pow(10, n) == want);
        assert_true(tri_pow(10, -n) == 1 / want);
        want *= 10;
    }
    assert_true(tri_pow(2, 62) == 0x1p62);
    assert_true(tri_pow(7, 3) == 343);
    assert_true(tri_pow(1.5, 2) == 2.25);
}

static void power_edges(void **state)
{
    (void)state;
    assert_true(tri_pow(0, 0) == 1);
    assert_true(tri_pow(0, 2) == 0);
    assert_true(tri_pow(0, -2) == INFINITY);
    assert_true(tri_pow(INFINITY, 0.5) == INFINITY);
    assert_true(tri_pow(INFINITY, -1) == 0);
    assert_true(tri_pow(3, 1e6) == INFINITY);
    assert_true(tri_pow(3, -1e6) == 0);
    assert_true(tri_pow(10, 308.5) == INFINITY);
    assert_true(isnan(tri_pow(-1, 0.5)));
    assert_true(isnan(tri_pow(2, NAN)));
}

/* The quantile undoes the distribution function, tails included. */
static void normal_quantile_inverts(void **state)
{
    (void)state;
    for (int i = -800; i <= 800; i++) {
        double z = i / 100.0;
        double p = 0.5 * erfc(-z / sqrt(2));
        /* what half a unit of p moves the result by, near p = 1 */
        double slack = p > 0.5 ? 1e-16 * sqrt(2 * M_PI) * exp(z * z / 2) : 0;

        if (p < 1) {
            assert_true(fabs(tri_normal_quantile(p) - z) < 1e-13 + slack);
        }
    }
    assert_true(tri_normal_quantile(0.5) == 0);
    assert_true(fabs(tri_normal_quantile(0.975) - 1.959963984540054) < 1e-14);
}

/* Closed forms for one and two degrees, tables for the rest. */
static void student_quantile_fits(void **state)
{
    static const double rows[][3] = {{0.95, 3, 3.182446305},
                                     {0.95, 5, 2.570581836},
                                     {0.99, 10, 3.169272673},
                                     {0.95, 30, 2.042272456},
                                     {0.90, 100, 1.660234326}};

    (void)state;
    for (int i = 1; i < 20; i++) {
        double level = i / 20.0;
        double one = tan(M_PI / 2 * level);
        double q = 1 - level;
        double two = sqrt(2 / (q * (2 - q)) - 2);

        assert_true(fabs(tri_student_quantile(level, 1) / one - 1) < 1e-9);
        assert_true(fabs(tri_student_quantile(level, 2) / two - 1) < 1e-9);
    }
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double got = tri_student_quantile(rows[i][0], rows[i][1]);

        assert_true(fabs(got / rows[i][2] - 1) < 1e-8);
    }
    assert_true(fabs(tri_student_quantile(0.95, 1e7) - 1.959964) < 1e-5);
    assert_true(tri_student_quantile(0.95, 1.5) >
                tri_student_quantile(0.95, 1.6));
}

static void powers_of_one_base(void **state)
{
    static const double xs[] = {0, 0.3, 1, 2, 101, 1e300, INFINITY, -1, NAN};
    static const double ys[] = {-64, -0.7, 0, 0.5, 1, 3, 700};

    (void)state;
    for (size_t i = 0; i < sizeof xs / sizeof xs[0]; i++) {
        tri_power_base base = tri_power_base_of(xs[i]);

        for (size_t k = 0; k < sizeof ys / sizeof ys[0]; k++) {
            double a = tri_power(&base, ys[k]), b = tri_pow(xs[i], ys[k]);

            assert_memory_equal(&a, &b, sizeof a);
        }
    }
    /* and the power itself, where it is exact */
    assert_true(tri_pow(2, -64) == 0x1p-64);
    assert_true(tri_pow(0, -1) > DBL_MAX);
    assert_true(isnan(tri_pow(-1, 2)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(logarithms_are_near),
            cmocka_unit_test(logarithm_edges),
            cmocka_unit_test(exponentials_are_near),
            cmocka_unit_test(exponential_edges),
            cmocka_unit_test(powers_are_near),
            cmocka_unit_test(whole_powers_are_exact),
            cmocka_unit_test(power_edges),
            cmocka_unit_test(normal_quantile_inverts),
            cmocka_unit_test(student_quantile_fits),
            cmocka_unit_test(powers_of_one_base),
    };

    print_message("seed %u\n", SEED);
    return cmocka_run_group_tests(tests, NULL, NULL);
}

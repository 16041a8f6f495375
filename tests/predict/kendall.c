/*
 * Kendall's tau-b against all pairs.
 */
#include "trireme/predict.h"
#include "trireme/rng.h"

#include "tests/tri_cmocka.h"

#include <math.h>

static double by_pairs(const double *a, const double *b, int n)
{
    double balance = 0;
    double in_a = 0;
    double in_b = 0;

    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++) {
            int da = (a[i] > a[j]) - (a[i] < a[j]);
            int db = (b[i] > b[j]) - (b[i] < b[j]);

            balance += da * db;
            in_a += da != 0;
            in_b += db != 0;
        }
    }
    return in_a > 0 && in_b > 0 ? balance / sqrt(in_a * in_b) : 0;
}

/* All sizes to 40, from few levels (many ties) to none. */
static void like_all_pairs(void **state)
{
    tri_rng rng = tri_rng_stream(7, 0, TRI_RNG_TEST);
    double a[40], b[40];

    (void)state;
    for (int round = 0; round < 400; round++) {
        int n = 1 + round % 40;
        uint64_t levels = 1 + tri_rng_below(&rng, round % 3 ? 6 : 1000);

        for (int i = 0; i < n; i++) {
            a[i] = (double)tri_rng_below(&rng, levels);
            b[i] = (double)tri_rng_below(&rng, levels) + (round % 2 ? a[i] : 0);
        }
        assert_true(fabs(tri_kendall_tau(a, b, n) - by_pairs(a, b, n)) < 1e-12);
    }
}

static void ends(void **state)
{
    const double up[] = {-1, 0, 2, 1e300};
    const double down[] = {4, 3, 2, 1};
    const double flat[] = {5, 5, 5, 5};
    const double zeros[] = {0.0, -0.0};

    (void)state;
    assert_true(tri_kendall_tau(up, up, 4) == 1);
    assert_true(tri_kendall_tau(up, down, 4) == -1);
    assert_true(tri_kendall_tau(up, flat, 4) == 0);
    assert_true(tri_kendall_tau(flat, up, 4) == 0);
    assert_true(tri_kendall_tau(up, up, 1) == 0);
    assert_true(tri_kendall_tau(up, up, 0) == 0);
    assert_true(tri_kendall_tau(zeros, up, 2) == 0); /* equal */
}

/* More pairs than 2^31. */
static void many(void **state)
{
    enum {
        N = 100000
    };
    static double a[N], b[N];

    (void)state;
    for (int i = 0; i < N; i++) {
        a[i] = i;
        b[i] = i < N / 2 ? i : N + N / 2 - i; /* half up, half down */
    }
    /* of both halves: all pairs across agree, one half's own agree */
    assert_true(fabs(tri_kendall_tau(a, b, N) - 0.5) < 1e-4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(like_all_pairs),
            cmocka_unit_test(ends),
            cmocka_unit_test(many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

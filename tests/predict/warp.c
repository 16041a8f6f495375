/*
 * The warp is monotone, inverts, and copes with what studies hold.
 */
#include "trireme/predict.h"

#include "tests/tri_cmocka.h"

#include <math.h>

static void check(const double *cost, int n)
{
    tri_warp w;
    double mean = 0;
    double before = -INFINITY;

    tri_warp_fit(&w, cost, n);
    for (int i = 0; i < n; i++) {
        double t = tri_warp_apply(&w, cost[i]);
        double back = tri_warp_invert(&w, t);

        assert_true(isfinite(t));
        assert_true(i == 0 || cost[i] == cost[i - 1] ? t >= before
                                                     : t > before);
        before = t;
        mean += t / n;
        if (w.sd > 0) {
            assert_true(fabs(back - cost[i]) <= 1e-6 * fabs(cost[i]) + 1e-12);
        }
    }
    assert_true(fabs(mean) < 1e-6);
    assert_true(fabs(before) < 6);
}

static void of_all_kinds(void **state)
{
    const double decades[] = {1e-6, 1e-3, 1, 10, 1e3, 1e6};
    const double rates[] = {-40150, -39000, -8000, -500, -20};
    const double mixed[] = {-1000, -1, 0, 0.5, 2, 3000};
    const double same[] = {3, 3, 3};
    const double zeros[] = {0, 0};
    const double one[] = {-2};

    (void)state;
    check(decades, 6);
    check(rates, 5);
    check(mixed, 6);
    check(same, 3);
    check(zeros, 2);
    check(one, 1);
}

/* Whatever differs is told apart, though its ratio or its difference is beyond
 * all numbers. */
static void of_any_size(void **state)
{
    const double ratios[] = {1e-294, 2e-294, 3e-294, 4e-294, 1, 1e300};
    const double above[] = {1e-20, 1e290, 2e290, 3e290, 1e300, 1e305};
    const double ends[] = {5e-324, 1e-300, 1, 1e300, 1.7e308};
    const double below[] = {-1e300, -1, -1e-294};
    const double both[] = {-1.7e308, -1, 1, 1.7e308};
    const double few[] = {-1e-300, 0, 1e-300, 1e300};
    const struct {
        const double *cost;
        int n;
    } of[] = {{ends, 5}, {both, 4}, {few, 4}};

    (void)state;
    check(ratios, 6);
    check(above, 6);
    check(below, 3);
    for (size_t k = 0; k < sizeof of / sizeof of[0]; k++) {
        double before = -INFINITY;
        tri_warp w;

        tri_warp_fit(&w, of[k].cost, of[k].n);
        assert_true(w.sd > 0);
        for (int i = 0; i < of[k].n; i++) { /* what rounds to one may tie */
            double t = tri_warp_apply(&w, of[k].cost[i]);

            assert_true(isfinite(t) && t >= before);
            before = t;
        }
        assert_true(before > tri_warp_apply(&w, of[k].cost[0]));
    }
}

/* What is better than all so far stays better, and finite. */
static void beyond_the_range(void **state)
{
    const double rates[] = {-400, -300, -100, -90};
    tri_warp w;

    (void)state;
    tri_warp_fit(&w, rates, 4);
    assert_true(tri_warp_apply(&w, -500) < tri_warp_apply(&w, -400));
    assert_true(tri_warp_invert(&w, tri_warp_apply(&w, -400) - 0.5) < -400);
    assert_true(isfinite(tri_warp_apply(&w, 5)));
    assert_true(tri_warp_apply(&w, 5) > tri_warp_apply(&w, -90));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(of_all_kinds),
            cmocka_unit_test(of_any_size),
            cmocka_unit_test(beyond_the_range),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * The Gaussian process about a trend: it goes on beyond the samples, and has no
 * slope where nothing carries over.
 */
#include "tests/predict/world.h"
#include "trireme/rng.h"

#include "tests/tri_cmocka.h"

#include <math.h>
#include <stdlib.h>

#define N 60

/* n samples with every number in the lower half of its range; the points of
 * `beyond` are in the upper. */
static void halve(tri_world *w, tri_world *beyond, int n)
{
    tri_world_init(w, n, 0, 3);
    tri_world_init(beyond, n, 0, 4);
    for (int i = 0; i < n * w->width; i++) {
        w->x[i] *= 0.5;
        beyond->x[i] = 0.5 + 0.5 * beyond->x[i];
    }
}

/* The mean error beyond of what is learned of `of`. */
static double error(const tri_predictor_ops *ops, int n,
                    double (*of)(const double *x, int i))
{
    tri_world w, beyond;
    tri_samples s;
    tri_model *m;
    double y[N], mean[N];
    double sum = 0;

    halve(&w, &beyond, n);
    for (int i = 0; i < n; i++) {
        y[i] = of(w.x + (size_t)i * (size_t)w.width, i);
    }
    s = tri_world_samples(&w, n, 0);
    s.y = y;
    assert_int_equal(ops->fit(w.e, &s, 1, NULL, &m), TRI_OK);
    ops->predict(m, beyond.x, n, 1, mean, NULL);
    for (int i = 0; i < n; i++) {
        sum += fabs(mean[i] - of(beyond.x + (size_t)i * (size_t)w.width, -1)) /
               n;
    }
    ops->destroy(m);
    tri_world_fini(&w);
    tri_world_fini(&beyond);
    return sum;
}

/* The first two columns are numbers. */
static double plane(const double *x, int i)
{
    (void)i;
    return 3 * x[0] - 2 * x[1] + 1;
}

static double bent(const double *x, int i)
{
    return plane(x, i) + 0.3 * sin(6 * x[0]);
}

static double noise(const double *x, int i)
{
    tri_rng rng = tri_rng_stream(5, (uint64_t)i, TRI_RNG_TEST);

    (void)x;
    return i < 0 ? 0 : tri_rng_normal(&rng);
}

static void it_goes_on(void **state)
{
    (void)state;
    assert_true(error(&tri_predictor_trend, N, plane) < 0.1);
    assert_true(error(&tri_predictor_trend, N, bent) < 0.4);
    assert_true(error(&tri_predictor_trend, N, bent) <
                error(&tri_predictor_gp, N, bent));
}

static void noise_has_no_slope(void **state)
{
    (void)state;
    assert_true(error(&tri_predictor_trend, N, noise) < 0.5);
}

static void few(void **state)
{
    (void)state;
    for (int n = 1; n <= 6; n++) {
        assert_true(isfinite(error(&tri_predictor_trend, n, bent)));
    }
}

/* In single precision: a mean at most that, a deviation at least, neither by
 * far. */
static void screening(void **state)
{
    tri_world w;
    tri_samples s;
    tri_model *m;
    double mean[N], sd[N];
    float fast[N], most[N];
    double loose = 0, wide = 0;
    float *x;

    (void)state;
    tri_world_init(&w, N, 0, 3);
    s = tri_world_samples(&w, N / 2, 0);
    assert_int_equal(tri_predictor_trend.fit(w.e, &s, 1, NULL, &m), TRI_OK);
    x = malloc((size_t)N * (size_t)w.width * sizeof *x);
    assert_non_null(x);
    for (int i = 0; i < N * w.width; i++) {
        x[i] = (float)w.x[i];
        w.x[i] = (double)x[i];
    }
    tri_predictor_trend.predict(m, w.x, N, 1, mean, sd);
    tri_predictor_trend.screen(m, x, N, 1, fast, most);
    for (int i = 0; i < N; i++) {
        assert_true((double)fast[i] <= mean[i] && (double)most[i] >= sd[i]);
        loose = fmax(loose, mean[i] - (double)fast[i]);
        wide = fmax(wide, (double)most[i] - sd[i]);
    }
    print_message("means at most %.2g below, deviations %.2g above\n", loose,
                  wide);
    assert_true(loose < 0.1 && wide < 0.1);
    free(x);
    tri_predictor_trend.destroy(m);
    tri_world_fini(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(it_goes_on), cmocka_unit_test(noise_has_no_slope),
            cmocka_unit_test(few), cmocka_unit_test(screening)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

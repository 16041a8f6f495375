/*
 * Odd samples: every predictor learns from them, and what it then says is
 * finite; choice and feasibility too.
 */
#include "src/predict/mlp.h"
#include "tests/predict/world.h"

#include "tests/tri_cmocka.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define N 40

static const tri_predictor_ops *const all[] = {
        &tri_predictor_gp, &tri_predictor_trees, &tri_predictor_mlp,
        &tri_predictor_mlp_squared, &tri_predictor_trend};

/* Whether what the model says of all points, and a draw, is finite. */
static void assert_finite(const tri_predictor_ops *ops, tri_model *m,
                          const double *x, int n)
{
    double mean[N], sd[N], value[N];

    ops->predict(m, x, n, 1, mean, sd);
    for (int i = 0; i < n; i++) {
        assert_true(isfinite(mean[i]));
        assert_true(isfinite(sd[i]) && sd[i] >= 0);
    }
    if (ops->draw) {
        assert_int_equal(ops->draw(m, x, n, 1, 3, value), TRI_OK);
        for (int i = 0; i < n; i++) {
            assert_true(isfinite(value[i]));
        }
    }
}

static void learn(const tri_encoding *e, const tri_samples *s, const double *x)
{
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) {
        const tri_predictor_ops *ops = all[k];
        char text[1024];
        tri_model *m;

        assert_int_equal(ops->fit(e, s, 5, NULL, &m), TRI_OK);
        assert_finite(ops, m, x, N);
        if (ops->add) {
            assert_int_equal(ops->add(m, x, 0.5, 1), TRI_OK);
            assert_finite(ops, m, x, N);
            ops->truncate(m, s->n);
        }
        ops->describe(m, text, sizeof text);
        assert_true(strlen(text) > 0);
        ops->destroy(m);
    }
}

static void try_y(double (*of)(int i), int n)
{
    tri_world w;
    tri_samples s;
    double y[N];

    tri_world_init(&w, N, 0, 3);
    s = tri_world_samples(&w, n, 0);
    for (int i = 0; i < n; i++) {
        y[i] = of(i);
    }
    s.y = y;
    learn(w.e, &s, w.x);
    tri_world_fini(&w);
}

static double zero(int i)
{
    (void)i;
    return 0;
}

static double outlier(int i)
{
    return i == 7 ? 1e12 : 0.001 * i;
}

static double decades(int i)
{
    return pow(10, -6 + 12.0 * i / N);
}

static double two(int i)
{
    return i % 2;
}

static void values(void **state)
{
    (void)state;
    try_y(zero, N);
    try_y(zero, 1);
    try_y(zero, 2);
    try_y(outlier, N);
    try_y(decades, N);
    try_y(two, N);
    try_y(two, 2);
    try_y(two, 1);
}

/* One point with as many values as there are samples; and six of them. */
static void duplicates(void **state)
{
    (void)state;
    for (int distinct = 1; distinct <= 6; distinct += 5) {
        tri_world w;
        tri_samples s;

        tri_world_init(&w, N, 0, 3);
        for (int i = distinct; i < N; i++) {
            memcpy(w.x + (size_t)i * (size_t)w.width,
                   w.x + (size_t)(i % distinct) * (size_t)w.width,
                   (size_t)w.width * sizeof *w.x);
        }
        s = tri_world_samples(&w, N, 0);
        learn(w.e, &s, w.x);
        tri_world_fini(&w);
    }
}

/* Columns that all samples share, but not all points. */
static void a_column_never_varies(void **state)
{
    tri_world w, other;
    tri_samples s;

    (void)state;
    tri_world_init(&w, N, 0, 3);
    tri_world_init(&other, N, 0, 4);
    for (int i = 0; i < N; i++) {
        for (int k = 0; k < w.width; k += 2) {
            w.x[i * w.width + k] = 0.25;
        }
    }
    s = tri_world_samples(&w, N, 0);
    learn(w.e, &s, other.x);
    tri_world_fini(&w);
    tri_world_fini(&other);
}

/* What is said of noise alone: nothing that is sure. */
static void choice_of_nothing(void **state)
{
    tri_world w;
    tri_samples s;
    double y[N] = {0};
    const tri_predictor_ops *ops = NULL;
    double tau = 5;

    (void)state;
    tri_world_init(&w, N, 0, 3);
    s = tri_world_samples(&w, N, 0);
    s.y = y;
    assert_int_equal(tri_predictor_choose(w.e, &s, 1, &ops, &tau), TRI_OK);
    assert_ptr_equal(ops, &tri_predictor_gp);
    assert_true(fabs(tau) < 1e-12);
    s.n = 1;
    assert_int_equal(tri_predictor_choose(w.e, &s, 1, &ops, &tau), TRI_OK);
    assert_true(isnan(tau));
    tri_world_fini(&w);
}

static void failures(void **state)
{
    tri_world w;
    unsigned char failed[N];
    double p[N], bytes[N], peak[N];

    (void)state;
    tri_world_init(&w, N, 0, 3);
    for (int kind = 0; kind < 3; kind++) { /* none, all, contradicting ones */
        for (int i = 0; i < N; i++) {
            failed[i] = kind == 0 ? 0 : kind == 1 ? 1 : i % 2;
            peak[i] = i % 3 ? 1e9 * (i + 1) : NAN;
        }
        for (int n = 1; n <= N; n += N - 1) {
            tri_labels l = {.n = n,
                            .n_own = n,
                            .x = w.x,
                            .failed = failed,
                            .peak = peak,
                            .limit = 16e9};
            tri_feasibility *f;

            assert_int_equal(tri_feasibility_fit(w.e, &l, NULL, &f), TRI_OK);
            tri_feasibility_predict(f, w.x, N, p, bytes);
            for (int i = 0; i < N; i++) {
                assert_true(p[i] >= 0 && p[i] <= 1);
                assert_true(isnan(bytes[i]) || bytes[i] > 0);
            }
            tri_feasibility_destroy(f);
        }
    }
    tri_world_fini(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(values), cmocka_unit_test(duplicates),
            cmocka_unit_test(a_column_never_varies),
            cmocka_unit_test(choice_of_nothing), cmocka_unit_test(failures)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

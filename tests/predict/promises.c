/*
 * What is promised of the Gaussian process by name: Matern 5/2 with a length
 * for each axis, noise that is learned, a subset of many samples, L-BFGS.
 */
#include "src/predict/gp_kernel.h"
#include "src/predict/lbfgs.h"
#include "tests/predict/world.h"
#include "trireme/rng.h"

#include "tests/tri_cmocka.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Rosenbrock's valley, and against a bound. */
static double valley(void *ctx, const double *x, double *g)
{
    double a = 1 - x[0];
    double b = x[1] - x[0] * x[0];

    ++*(int *)ctx;
    g[0] = -2 * a - 400 * x[0] * b;
    g[1] = 200 * b;
    return a * a + 100 * b * b;
}

static void lbfgs(void **state)
{
    static const double lo[] = {-2, -2}, hi[] = {2, 2}, less[] = {0.5, 2};
    double x[] = {-1.2, 1};
    double y[] = {-1.2, 5};
    int calls = 0;

    (void)state;
    assert_true(tri_lbfgs(valley, &calls, 2, lo, hi, 200, x) < 1e-8);
    assert_true(fabs(x[0] - 1) < 1e-3 && fabs(x[1] - 1) < 1e-3);
    assert_true(calls <= 200);
    tri_lbfgs(valley, &calls, 2, lo, less, 200, y);
    assert_true(fabs(y[0] - 0.5) < 1e-6 && fabs(y[1] - 0.25) < 1e-3);
}

/* (1 + r + r^2/3) e^-r, r = sqrt(5) times the distance in lengths. */
static void matern_by_axis(void **state)
{
    enum {
        N = 6
    };
    tri_world w;
    tri_gp_form form;
    double theta[64] = {0}, k[N * N], scaled[N * 32], square[N];
    tri_gp_points p = {.n = N, .scaled = scaled, .square = square};

    (void)state;
    tri_world_init(&w, N, 0, 2);
    assert_true(w.width <= 32);
    tri_gp_form_init(&form, w.e, 0);
    for (int i = 0; i < form.n; i++) {
        theta[i] = 0.3 * i - 0.7;
    }
    p.x = w.x;
    tri_gp_scale(&form, theta, &p);
    tri_gp_cross(&form, theta, &p, &p, k, N);
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < i; j++) {
            double square_sum = 0;
            double r, f = exp(2 * theta[tri_gp_at(&form, TRI_GP_F)]);

            for (int g = 0; g < form.n_axes; g++) {
                const tri_axis *a = tri_encoding_axis(w.e, g);

                for (int c = a->first; c < a->first + a->width; c++) {
                    double d = (w.x[i * w.width + c] - w.x[j * w.width + c]) /
                               exp(theta[g]);

                    square_sum += d * d;
                }
            }
            r = sqrt(5 * square_sum);
            assert_true(fabs(k[i * N + j] - f * (1 + r + r * r / 3) * exp(-r)) <
                        1e-9 * f);
        }
    }
    tri_world_fini(&w);
}

/* The number behind `key` in what the model says of itself. */
static double said(const tri_model *m, const char *key)
{
    char text[2048];
    const char *at;

    tri_predictor_gp.describe(m, text, sizeof text);
    at = strstr(text, key);
    assert_non_null(at);
    return atof(at + strlen(key));
}

static double noise_learned(double noise)
{
    tri_world w;
    tri_samples s;
    tri_model *m;
    double found;

    tri_world_init(&w, 150, 0, 9);
    s = tri_world_samples(&w, 150, 0);
    for (int i = 0; i < 150; i++) {
        tri_rng rng = tri_rng_stream(4, (uint64_t)i, TRI_RNG_TEST);

        w.y[i] += noise * tri_rng_normal(&rng);
    }
    assert_int_equal(tri_predictor_gp.fit(w.e, &s, 1, NULL, &m), TRI_OK);
    found = said(m, "noise=");
    tri_predictor_gp.destroy(m);
    tri_world_fini(&w);
    return found;
}

static void noise_is_learned(void **state)
{
    double little = noise_learned(0.02);
    double much = noise_learned(0.4);

    (void)state;
    printf("noise 0.02: %.3f, 0.4: %.3f\n", little, much);
    assert_true(little < 0.08);
    assert_true(much > 0.28 && much < 0.55);
}

/* What does not matter gets a longer length than what does. */
static void lengths_are_by_axis(void **state)
{
    tri_world w;
    tri_samples s;
    tri_model *m;
    double y[100];

    (void)state;
    tri_world_init(&w, 100, 0, 5);
    s = tri_world_samples(&w, 100, 0);
    for (int i = 0; i < 100; i++) { /* of b alone */
        y[i] = sin(0.8 * (double)w.c[4 * i + 1].u.i);
    }
    s.y = y;
    assert_int_equal(tri_predictor_gp.fit(w.e, &s, 1, NULL, &m), TRI_OK);
    printf("lengths: a %.2f, b %.2f\n", said(m, "ls.a="), said(m, "ls.b="));
    assert_true(said(m, "ls.a=") > 2 * said(m, "ls.b="));
    tri_predictor_gp.destroy(m);
    tri_world_fini(&w);
}

/* Of more than 2,000 samples a subset is kept, the best among them. */
static void a_subset_of_many(void **state)
{
    enum {
        N = 2300
    };
    tri_world w;
    tri_samples s;
    tri_model *m;
    double mean, sd;
    int best = 0;

    (void)state;
    tri_world_init(&w, N, 0, 6);
    s = tri_world_samples(&w, N, 0);
    for (int i = 0; i < N; i++) {
        best = w.y[i] < w.y[best] ? i : best;
    }
    w.y[best] -= 3; /* that there is one such sample is what it must know */
    assert_int_equal(tri_predictor_gp.fit(w.e, &s, 1, NULL, &m), TRI_OK);
    assert_int_equal(tri_predictor_gp.size(m), 2000);
    tri_predictor_gp.predict(m, w.x + (size_t)best * (size_t)w.width, 1, 16,
                             &mean, &sd);
    assert_true(mean < w.y[best] + 3);
    tri_predictor_gp.destroy(m);
    tri_world_fini(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lbfgs),
                                       cmocka_unit_test(matern_by_axis),
                                       cmocka_unit_test(noise_is_learned),
                                       cmocka_unit_test(lengths_are_by_axis),
                                       cmocka_unit_test(a_subset_of_many)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * The Gaussian process against its definition: gradients against differences,
 * beliefs against dense algebra, a row more against a new factorisation.
 */
#include "src/predict/gp_kernel.h"
#include "tests/predict/world.h"

#include "tests/tri_cmocka.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void gradient_is_that_of_differences(int resource)
{
    tri_world w;
    tri_gp_form form;
    double theta[64], g[64], none[64], share[24], y[24];
    double mean = 0;
    tri_rng rng = tri_rng_stream(5, (uint64_t)(2 * resource), TRI_RNG_TEST);

    tri_world_init(&w, 24, 1, 3);
    tri_gp_form_init(&form, w.e, resource);
    assert_true(form.n < 64);
    for (int i = 0; i < 24; i++) {
        mean += w.y[i] / 24;
    }
    for (int i = 0; i < 24; i++) {
        share[i] = w.resource[i] / 16;
        y[i] = w.y[i] - mean;
    }
    tri_gp_prior(&form, theta);
    for (int i = 0; i < form.n; i++) {
        theta[i] += 0.3 * tri_rng_normal(&rng);
    }
    tri_gp_density(&form, 24, w.x, share, y, theta, g);
    for (int i = 0; i < form.n; i++) {
        double h = 1e-5;
        double at = theta[i];
        double up, down;

        theta[i] = at + h;
        up = tri_gp_density(&form, 24, w.x, share, y, theta, none);
        theta[i] = at - h;
        down = tri_gp_density(&form, 24, w.x, share, y, theta, none);
        theta[i] = at;
        assert_true(fabs((up - down) / (2 * h) - g[i]) <
                    1e-5 * (1 + fabs(g[i])));
    }
    tri_world_fini(&w);
}

static void gradients(void **state)
{
    (void)state;
    gradient_is_that_of_differences(0);
    gradient_is_that_of_differences(1);
}

static void learns_and_interpolates(void **state)
{
    tri_world w;
    tri_model *m;
    tri_samples s;
    double mean[40], sd[40];
    double error = 0;
    double spread = 0;

    (void)state;
    tri_world_init(&w, 120, 0, 11);
    s = tri_world_samples(&w, 80, 0);
    assert_int_equal(tri_predictor_gp.fit(w.e, &s, 1, NULL, &m), TRI_OK);
    tri_predictor_gp.predict(m, w.x + 80 * w.width, 40, 16, mean, sd);
    for (int i = 0; i < 40; i++) {
        error += fabs(mean[i] - w.y[80 + i]) / 40;
        spread += fabs(w.y[80 + i] - w.y[80]) / 40;
        assert_true(sd[i] > 0 && fabs(mean[i] - w.y[80 + i]) < 8 * sd[i] + 0.1);
    }
    assert_true(error < 0.2 * spread);
    tri_predictor_gp.destroy(m);
    tri_world_fini(&w);
}

/* Curves: what little resource says of more. */
static void resources_are_an_input(void **state)
{
    tri_world w;
    tri_model *m;
    tri_samples s;
    double mean[40], low[40];

    (void)state;
    tri_world_init(&w, 160, 1, 12);
    for (int i = 120; i < 160; i++) {
        w.resource[i] = 16;
    }
    s = tri_world_samples(&w, 120, 1);
    assert_int_equal(tri_predictor_gp.fit(w.e, &s, 1, NULL, &m), TRI_OK);
    tri_predictor_gp.predict(m, w.x + 120 * w.width, 40, 16, mean, NULL);
    tri_predictor_gp.predict(m, w.x + 120 * w.width, 40, 1, low, NULL);
    for (int i = 0; i < 40; i++) {
        assert_true(low[i] > mean[i]); /* all curves fall */
    }
    tri_predictor_gp.destroy(m);
    tri_world_fini(&w);
}

static void one_more_is_the_same_as_all(void **state)
{
    tri_world w;
    tri_model *m;
    tri_model *all;
    tri_samples s;
    double a[20], b[20], sa[20], sb[20], before[20];

    (void)state;
    tri_world_init(&w, 90, 1, 13);
    s = tri_world_samples(&w, 50, 1);
    assert_int_equal(tri_predictor_gp.fit(w.e, &s, 1, NULL, &m), TRI_OK);
    tri_predictor_gp.predict(m, w.x + 70 * w.width, 20, 16, before, NULL);
    for (int i = 50; i < 70; i++) {
        assert_int_equal(tri_predictor_gp.add(m, w.x + i * w.width, w.y[i],
                                              w.resource[i]),
                         TRI_OK);
    }
    assert_int_equal(tri_predictor_gp.size(m), 70);
    tri_predictor_gp.predict(m, w.x + 70 * w.width, 20, 16, a, sa);
    /* forgetting and knowing again changes nothing */
    tri_predictor_gp.truncate(m, 50);
    tri_predictor_gp.predict(m, w.x + 70 * w.width, 20, 16, b, NULL);
    for (int i = 0; i < 20; i++) {
        assert_true(fabs(b[i] - before[i]) < 1e-9);
    }
    for (int i = 50; i < 70; i++) {
        tri_predictor_gp.add(m, w.x + i * w.width, w.y[i], w.resource[i]);
    }
    tri_predictor_gp.predict(m, w.x + 70 * w.width, 20, 16, b, sb);
    for (int i = 0; i < 20; i++) {
        assert_true(fabs(a[i] - b[i]) < 1e-9 && fabs(sa[i] - sb[i]) < 1e-9);
    }
    s = tri_world_samples(&w, 70, 1);
    assert_int_equal(tri_predictor_gp.fit(w.e, &s, 1, m, &all), TRI_OK);
    tri_predictor_gp.destroy(all);
    tri_predictor_gp.destroy(m);
    tri_world_fini(&w);
}

static void update_is_the_same_as_a_fit(void **state)
{
    tri_world w;
    tri_model *m;
    tri_model *all;
    tri_samples s;
    double a[20], b[20], sa[20], sb[20];

    (void)state;
    tri_world_init(&w, 90, 1, 21);
    s = tri_world_samples(&w, 50, 1);
    assert_int_equal(tri_predictor_gp.fit(w.e, &s, 1, NULL, &m), TRI_OK);
    for (int i = 0; i < 70; i++) { /* values may change altogether */
        w.y[i] = 2 * w.y[i] - 1;
    }
    s = tri_world_samples(&w, 70, 1);
    s.keep = 1;
    assert_int_equal(tri_predictor_gp.fit(w.e, &s, 1, m, &all), TRI_OK);
    assert_int_equal(tri_predictor_gp.update(m, &s), TRI_OK);
    assert_int_equal(tri_predictor_gp.size(m), 70);
    tri_predictor_gp.predict(m, w.x + 70 * w.width, 20, 16, a, sa);
    tri_predictor_gp.predict(all, w.x + 70 * w.width, 20, 16, b, sb);
    for (int i = 0; i < 20; i++) {
        assert_true(fabs(a[i] - b[i]) < 1e-8 && fabs(sa[i] - sb[i]) < 1e-8);
    }
    w.x[0] += 0.5; /* other rows */
    assert_int_equal(tri_predictor_gp.update(m, &s), TRI_ENOTFOUND);
    tri_predictor_gp.destroy(all);
    tri_predictor_gp.destroy(m);
    tri_world_fini(&w);
}

/* Single precision: bounds of the mean from below, the spread from above. */
static void screening_bounds(void **state)
{
    tri_world w;
    tri_model *m;
    tri_samples s;
    float x[200 * 16], low[200], high[200];
    double mu[200], exact[200];
    double loose = 0;
    double wide = 0;

    (void)state;
    tri_world_init(&w, 500, 1, 22);
    assert_true(w.width <= 16);
    for (int n = 60; n <= 300; n += 240) {
        s = tri_world_samples(&w, n, 1);
        assert_int_equal(tri_predictor_gp.fit(w.e, &s, 1, NULL, &m), TRI_OK);
        for (int i = 0; i < 200 * w.width; i++) {
            x[i] = (float)w.x[300 * w.width + i];
            w.x[300 * w.width + i] = (double)x[i];
        }
        tri_predictor_gp.predict(m, w.x + 300 * w.width, 200, 16, mu, exact);
        tri_predictor_gp.screen(m, x, 200, 16, low, high);
        for (int i = 0; i < 200; i++) {
            assert_true((double)low[i] <= mu[i] && (double)high[i] >= exact[i]);
            loose = fmax(loose, mu[i] - (double)low[i]);
            wide = fmax(wide, (double)high[i] - exact[i]);
        }
        tri_predictor_gp.destroy(m);
    }
    print_message("means at most %.2g below, deviations %.2g above\n", loose,
                  wide);
    /* how far depends on how little noise is learned, by the last bits */
    assert_true(loose < 4);
    tri_world_fini(&w);
}

static void odd_samples(void **state)
{
    tri_world w;
    tri_samples s;
    tri_model *m;
    double mean[3], sd[3];

    (void)state;
    tri_world_init(&w, 30, 0, 14);
    s = tri_world_samples(&w, 1, 0); /* one */
    assert_int_equal(tri_predictor_gp.fit(w.e, &s, 1, NULL, &m), TRI_OK);
    tri_predictor_gp.predict(m, w.x + w.width, 3, 16, mean, sd);
    assert_true(isfinite(mean[0]) && sd[0] > 0);
    tri_predictor_gp.destroy(m);
    for (int i = 1; i < 30; i++) { /* the same again and again */
        memcpy(w.x + i * w.width, w.x, (size_t)w.width * sizeof *w.x);
        w.y[i] = w.y[0];
    }
    s = tri_world_samples(&w, 30, 0);
    assert_int_equal(tri_predictor_gp.fit(w.e, &s, 1, NULL, &m), TRI_OK);
    tri_predictor_gp.predict(m, w.x, 3, 16, mean, sd);
    assert_true(fabs(mean[0] - w.y[0]) < 1e-3 && isfinite(sd[0]));
    tri_predictor_gp.destroy(m);
    s.n = 0;
    assert_int_equal(tri_predictor_gp.fit(w.e, &s, 1, NULL, &m), TRI_EINVAL);
    tri_world_fini(&w);
}

static void draws_follow_the_belief(void **state)
{
    enum {
        DRAWS = 400
    };
    tri_world w;
    tri_samples s;
    tri_model *m;
    double mean[4], sd[4], out[4], sum[4] = {0}, square[4] = {0};

    (void)state;
    tri_world_init(&w, 40, 0, 15);
    s = tri_world_samples(&w, 20, 0);
    assert_int_equal(tri_predictor_gp.fit(w.e, &s, 1, NULL, &m), TRI_OK);
    tri_predictor_gp.predict(m, w.x + 30 * w.width, 4, 16, mean, sd);
    for (int k = 0; k < DRAWS; k++) {
        assert_int_equal(tri_predictor_gp.draw(m, w.x + 30 * w.width, 4, 16,
                                               (uint64_t)k, out),
                         TRI_OK);
        for (int i = 0; i < 4; i++) {
            sum[i] += out[i] / DRAWS;
            square[i] += (out[i] - mean[i]) * (out[i] - mean[i]) / DRAWS;
        }
    }
    for (int i = 0; i < 4; i++) {
        double se = sd[i] + 1e-3;

        assert_true(fabs(sum[i] - mean[i]) < 4 * se / sqrt(DRAWS));
        assert_true(square[i] < 1.5 * se * se &&
                    square[i] > 0.5 * sd[i] * sd[i]);
    }
    tri_predictor_gp.destroy(m);
    tri_world_fini(&w);
}

/* Many at once are those one by one. */
static void draws_at_once(void **state)
{
    tri_world w;
    tri_samples s;
    tri_model *m;
    double one[4], many[3 * 4];

    (void)state;
    tri_world_init(&w, 40, 0, 15);
    s = tri_world_samples(&w, 20, 0);
    assert_int_equal(tri_predictor_gp.fit(w.e, &s, 1, NULL, &m), TRI_OK);
    assert_int_equal(
            tri_predictor_gp.draws(m, w.x + 30 * w.width, 4, 16, 7, 3, many),
            TRI_OK);
    for (int k = 0; k < 3; k++) {
        assert_int_equal(tri_predictor_gp.draw(m, w.x + 30 * w.width, 4, 16,
                                               (uint64_t)(7 + k), one),
                         TRI_OK);
        for (int i = 0; i < 4; i++) {
            assert_true(fabs(many[4 * k + i] - one[i]) < 1e-9);
        }
    }
    tri_predictor_gp.destroy(m);
    tri_world_fini(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(gradients),
            cmocka_unit_test(learns_and_interpolates),
            cmocka_unit_test(resources_are_an_input),
            cmocka_unit_test(one_more_is_the_same_as_all),
            cmocka_unit_test(update_is_the_same_as_a_fit),
            cmocka_unit_test(screening_bounds),
            cmocka_unit_test(odd_samples),
            cmocka_unit_test(draws_follow_the_belief),
            cmocka_unit_test(draws_at_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

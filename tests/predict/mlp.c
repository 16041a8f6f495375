/*
 * The ensembles of networks: what all ensembles promise, with both losses, and
 * scores that are values again.
 */
#include "src/predict/mlp.h"
#include "tests/predict/ensemble.h"

#include "tests/tri_cmocka.h"

#include <math.h>
#include <stdlib.h>

static void learns(void **state)
{
    (void)state;
    tri_ensemble_learns(&tri_predictor_mlp, 0.75);
    tri_ensemble_learns(&tri_predictor_mlp_squared, 0.7);
    tri_ensemble_uses_resource(&tri_predictor_mlp);
}

static void is_seeded(void **state)
{
    (void)state;
    tri_ensemble_is_seeded(&tri_predictor_mlp);
}

static void bad_samples(void **state)
{
    (void)state;
    tri_ensemble_bears_bad_samples(&tri_predictor_mlp);
}

static void pending(void **state)
{
    (void)state;
    tri_ensemble_knows_pending(&tri_predictor_mlp);
}

static void draws(void **state)
{
    (void)state;
    tri_ensemble_draws(&tri_predictor_mlp);
}

/* Values of another unit give predictions of that unit. */
static void is_calibrated(void **state)
{
    tri_world w;
    tri_samples s;
    tri_model *a, *b;
    double mean[2][60], sd[2][60];
    double y[100];

    (void)state;
    tri_world_init(&w, 160, 0, 12);
    for (int i = 0; i < 100; i++) {
        y[i] = 1000 + 50 * w.y[i];
    }
    s = tri_world_samples(&w, 100, 0);
    assert_int_equal(tri_predictor_mlp.fit(w.e, &s, 1, NULL, &a), TRI_OK);
    s.y = y;
    assert_int_equal(tri_predictor_mlp.fit(w.e, &s, 1, NULL, &b), TRI_OK);
    tri_predictor_mlp.predict(a, w.x + 100 * w.width, 60, 1, mean[0], sd[0]);
    tri_predictor_mlp.predict(b, w.x + 100 * w.width, 60, 1, mean[1], sd[1]);
    for (int i = 0; i < 60; i++) {
        /* training amplifies the last bits of what it starts from */
        assert_true(fabs(1000 + 50 * mean[0][i] - mean[1][i]) < 2);
        assert_true(fabs(50 * sd[0][i] - sd[1][i]) < 2);
    }
    tri_predictor_mlp.destroy(a);
    tri_predictor_mlp.destroy(b);
    tri_world_fini(&w);
}

/* Values that nothing explains: their mean, and their own deviation. */
static void noise_is_not_learned(void **state)
{
    tri_world w;
    tri_samples s;
    tri_model *m;
    tri_rng rng = tri_rng_stream(4, 0, TRI_RNG_TEST);
    double y[120], mean[120], sd[120];

    (void)state;
    tri_world_init(&w, 120, 0, 13);
    for (int i = 0; i < 120; i++) {
        y[i] = tri_rng_normal(&rng);
    }
    s = tri_world_samples(&w, 120, 0);
    s.y = y;
    assert_int_equal(tri_predictor_mlp.fit(w.e, &s, 1, NULL, &m), TRI_OK);
    tri_predictor_mlp.predict(m, w.x, 120, 1, mean, sd);
    for (int i = 0; i < 120; i++) {
        assert_true(fabs(mean[i]) < 0.7 && sd[i] > 0.3 && sd[i] < 3);
    }
    tri_predictor_mlp.destroy(m);
    tri_world_fini(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(learns),
            cmocka_unit_test(is_seeded),
            cmocka_unit_test(bad_samples),
            cmocka_unit_test(pending),
            cmocka_unit_test(draws),
            cmocka_unit_test(is_calibrated),
            cmocka_unit_test(noise_is_not_learned),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

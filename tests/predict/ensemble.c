/*
 * What the ensembles of trees and networks promise alike.
 */
#include "tests/predict/ensemble.h"

#include "tests/tri_cmocka.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SEEN  200
#define ASKED 100

static void init(tri_world *w, int rungs)
{
    tri_world_init(w, SEEN + ASKED, rungs, 21);
}

static tri_model *fit(const tri_predictor_ops *ops, const tri_world *w,
                      const tri_samples *s, uint64_t seed)
{
    tri_model *m;

    assert_int_equal(ops->fit(w->e, s, seed, NULL, &m), TRI_OK);
    assert_int_equal(ops->size(m), s->n);
    return m;
}

void tri_ensemble_learns(const tri_predictor_ops *ops, double tau)
{
    tri_world w;
    tri_samples s;
    tri_model *m;
    double mean[ASKED], sd[ASKED];
    double square = 0;
    char text[256];

    init(&w, 0);
    s = tri_world_samples(&w, SEEN, 0);
    m = fit(ops, &w, &s, 1);
    ops->predict(m, w.x + SEEN * w.width, ASKED, 16, mean, sd);
    assert_true(tri_kendall_tau(mean, w.y + SEEN, ASKED) > tau);
    for (int i = 0; i < ASKED; i++) {
        double z = (mean[i] - w.y[SEEN + i]) / sd[i];

        assert_true(sd[i] > 0 && isfinite(sd[i]));
        square += z * z / ASKED;
    }
    assert_true(square > 0.1 && square < 4);
    ops->describe(m, text, sizeof text);
    assert_non_null(strstr(text, "n=200"));
    ops->destroy(m);
    tri_world_fini(&w);
}

void tri_ensemble_uses_resource(const tri_predictor_ops *ops)
{
    tri_world w;
    tri_samples s;
    tri_model *m;
    double few[ASKED], much[ASKED];
    int better = 0;

    init(&w, 1);
    s = tri_world_samples(&w, SEEN, 1);
    m = fit(ops, &w, &s, 1);
    ops->predict(m, w.x + SEEN * w.width, ASKED, 1, few, NULL);
    ops->predict(m, w.x + SEEN * w.width, ASKED, 16, much, NULL);
    for (int i = 0; i < ASKED; i++) {
        better += much[i] < few[i];
    }
    assert_true(better > 90);
    ops->destroy(m);
    tri_world_fini(&w);
}

void tri_ensemble_is_seeded(const tri_predictor_ops *ops)
{
    tri_world w;
    tri_samples s;
    tri_model *m[3];
    double mean[3][ASKED], sd[3][ASKED];

    init(&w, 1);
    s = tri_world_samples(&w, 60, 1);
    for (int k = 0; k < 3; k++) {
        m[k] = fit(ops, &w, &s, k == 1 ? 6 : 5);
        ops->predict(m[k], w.x, ASKED, 4, mean[k], sd[k]);
        ops->destroy(m[k]);
    }
    assert_memory_equal(mean[0], mean[2], sizeof mean[0]);
    assert_memory_equal(sd[0], sd[2], sizeof sd[0]);
    assert_memory_not_equal(mean[0], mean[1], sizeof mean[0]);
    tri_world_fini(&w);
}

/* Finite, and of a deviation that a normal belief can use. */
static void check_belief(const tri_predictor_ops *ops, const tri_world *w,
                         const tri_samples *s, double lo, double hi)
{
    tri_model *m = fit(ops, w, s, 3);
    double mean[ASKED], sd[ASKED];
    double out[ASKED];

    ops->predict(m, w->x, ASKED, 4, mean, sd);
    assert_int_equal(ops->draw(m, w->x, ASKED, 4, 1, out), TRI_OK);
    for (int i = 0; i < ASKED; i++) {
        assert_true(mean[i] >= lo && mean[i] <= hi);
        assert_true(sd[i] > 0 && isfinite(sd[i]) && isfinite(out[i]));
    }
    ops->destroy(m);
}

void tri_ensemble_bears_bad_samples(const tri_predictor_ops *ops)
{
    tri_world w;
    tri_samples s;
    tri_model *m;
    double flat[SEEN], twice[SEEN * 8];

    init(&w, 1);
    assert_true(w.width <= 8);
    s = tri_world_samples(&w, 0, 1);
    assert_int_equal(ops->fit(w.e, &s, 1, NULL, &m), TRI_EINVAL);
    for (int n = 1; n < 12; n += 1 + n / 3) {
        s.n = n;
        check_belief(ops, &w, &s, -10, 10);
    }
    for (int i = 0; i < SEEN; i++) {
        flat[i] = 0.25;
        memcpy(twice + (size_t)i * (size_t)w.width, w.x,
               (size_t)w.width * sizeof *twice);
    }
    s = tri_world_samples(&w, SEEN, 1); /* equal values */
    s.y = flat;
    check_belief(ops, &w, &s, 0.249, 0.251);
    s = tri_world_samples(&w, SEEN, 1); /* one configuration */
    s.x = twice;
    check_belief(ops, &w, &s, -10, 10);
    s.resource = NULL; /* and contradictory values */
    check_belief(ops, &w, &s, -10, 10);
    s.width = 0;
    check_belief(ops, &w, &s, -10, 10);
    tri_world_fini(&w);
}

void tri_ensemble_knows_pending(const tri_predictor_ops *ops)
{
    tri_world w;
    tri_samples s;
    tri_model *m;
    double mean[2][ASKED], sd[2][ASKED];

    init(&w, 1);
    s = tri_world_samples(&w, 60, 1);
    m = fit(ops, &w, &s, 1);
    ops->predict(m, w.x, ASKED, 16, mean[0], sd[0]);
    for (int i = 0; i < 40; i++) { /* more than there is room for at first */
        assert_int_equal(ops->add(m, w.x + 80 * w.width, mean[0][80], 16),
                         TRI_OK);
    }
    assert_int_equal(ops->size(m), 100);
    ops->predict(m, w.x, ASKED, 16, mean[1], sd[1]);
    assert_memory_equal(mean[0], mean[1], sizeof mean[0]);
    for (int i = 0; i < ASKED; i++) {
        assert_true(sd[1][i] > 0 && sd[1][i] <= sd[0][i]);
    }
    assert_true(sd[1][80] < 0.2 * sd[0][80]);
    ops->truncate(m, 60);
    assert_int_equal(ops->size(m), 60);
    ops->predict(m, w.x, ASKED, 16, mean[1], sd[1]);
    assert_memory_equal(sd[0], sd[1], sizeof sd[0]);
    ops->destroy(m);
    tri_world_fini(&w);
}

void tri_ensemble_draws(const tri_predictor_ops *ops)
{
    enum {
        DRAWS = 400
    };
    tri_world w;
    tri_samples s;
    tri_model *m;
    double mean, sd, out[2];
    double sum = 0;
    double square = 0;

    init(&w, 0);
    s = tri_world_samples(&w, SEEN, 0);
    m = fit(ops, &w, &s, 1);
    ops->predict(m, w.x + SEEN * w.width, 1, 16, &mean, &sd);
    for (int i = 0; i < DRAWS; i++) {
        assert_int_equal(
                ops->draw(m, w.x + SEEN * w.width, 2, 16, (uint64_t)i, out),
                TRI_OK);
        sum += (out[0] - mean) / sd / DRAWS;
        square += (out[0] - mean) * (out[0] - mean) / (sd * sd) / DRAWS;
    }
    assert_true(fabs(sum) < 0.2);
    assert_true(square > 0.75 && square < 1.3);
    ops->destroy(m);
    tri_world_fini(&w);
}

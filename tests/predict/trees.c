/*
 * The tree ensemble: the growing against what a tree promises, and what all
 * ensembles promise.
 */
#include "src/predict/trees.h"
#include "tests/predict/ensemble.h"
#include "trireme/rng.h"

#include "tests/tri_cmocka.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    N = 300,
    W = 8
};

static void make_rows(float *x, float *y)
{
    tri_rng rng = tri_rng_stream(9, 0, TRI_RNG_TEST);

    memset(x, 0, (size_t)(N * W) * sizeof *x);
    for (int i = 0; i < N; i++) {
        float *row = x + (size_t)(i * W);

        row[0] = (float)tri_rng_unit(&rng);
        row[1] = (float)tri_rng_below(&rng, 3);
        row[2] = 0.5f; /* never varies */
        y[i] = row[0] + (row[1] == 1 ? 1.0f : 0.0f);
    }
}

/* Leaves say what is left of their samples' values times the rate; a plain
 * walk finds the same leaves; no tree cuts what never varies. */
static void first_tree(void **state)
{
    static float x[N * W], y[N];
    static int fold[N], leaf[N];
    tri_trees t = {.n_members = 2, .rounds = 1, .stride = W, .split = 2};
    tri_trees_data d = {N, W, x, y, NULL};

    (void)state;
    make_rows(x, y);
    assert_int_equal(tri_trees_grow(&t, &d, fold, 1, 4), TRI_OK);
    tri_trees_walk(&t, t.root[0], x, N, leaf);
    for (int i = 0; i < N; i++) {
        double sum = 0;
        int n = 0;
        int at = t.root[0];

        while (t.node[at].child != at) {
            const tri_trees_node *k = &t.node[at];

            assert_true(k->column < 2);
            at = k->child + (x[i * W + k->column] > k->at);
        }
        assert_int_equal(at, leaf[i]);
        for (int j = 0; j < N; j++) {
            sum += leaf[j] == at ? (double)y[j] : 0;
            n += leaf[j] == at;
        }
        assert_true(fabs((double)t.node[at].value - 0.3 * sum / n) < 1e-5);
    }
    tri_trees_fini(&t);
}

/* What a member leaves out changes nothing of it. */
static void leaves_out(void **state)
{
    static float x[N * W], y[N];
    static int fold[N];
    tri_trees a = {.n_members = 2, .rounds = 3, .stride = W, .split = 2};
    tri_trees b = a;
    tri_trees_data d = {N, W, x, y, NULL};
    int to;

    (void)state;
    make_rows(x, y);
    for (int i = 0; i < N; i++) {
        fold[i] = i % 2;
    }
    assert_int_equal(tri_trees_grow(&a, &d, fold, 2, 4), TRI_OK);
    for (int i = 0; i < N; i += 2) { /* fold 0, of member 0 */
        y[i] = 100;
    }
    assert_int_equal(tri_trees_grow(&b, &d, fold, 2, 4), TRI_OK);
    to = a.root[3]; /* where member 1 starts */
    assert_int_equal(b.root[3], to);
    for (int i = 0; i < to; i++) {
        assert_true(a.node[i].value == b.node[i].value &&
                    a.node[i].child == b.node[i].child);
    }
    tri_trees_fini(&a);
    tri_trees_fini(&b);
}

static void learns(void **state)
{
    (void)state;
    tri_ensemble_learns(&tri_predictor_trees, 0.75);
    tri_ensemble_uses_resource(&tri_predictor_trees);
}

static void is_seeded(void **state)
{
    (void)state;
    tri_ensemble_is_seeded(&tri_predictor_trees);
}

static void bad_samples(void **state)
{
    (void)state;
    tri_ensemble_bears_bad_samples(&tri_predictor_trees);
}

static void pending(void **state)
{
    (void)state;
    tri_ensemble_knows_pending(&tri_predictor_trees);
}

static void draws(void **state)
{
    (void)state;
    tri_ensemble_draws(&tri_predictor_trees);
}

/* Single precision sees the same. */
static void screens(void **state)
{
    tri_world w;
    tri_samples s;
    tri_model *m;
    double mean[100], sd[100];
    float fast[100], wide[100];
    float *x;

    (void)state;
    tri_world_init(&w, 100, 1, 2);
    s = tri_world_samples(&w, 70, 1);
    x = malloc((size_t)(100 * w.width) * sizeof *x);
    for (int i = 0; i < 100 * w.width; i++) {
        x[i] = (float)w.x[i];
    }
    assert_int_equal(tri_predictor_trees.fit(w.e, &s, 1, NULL, &m), TRI_OK);
    tri_predictor_trees.predict(m, w.x, 100, 4, mean, sd);
    tri_predictor_trees.screen(m, x, 100, 4, fast, wide);
    for (int i = 0; i < 100; i++) {
        assert_true(fabs((double)fast[i] - mean[i]) < 1e-6);
        assert_true(fabs((double)wide[i] - sd[i]) < 1e-6);
    }
    tri_predictor_trees.destroy(m);
    free(x);
    tri_world_fini(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(first_tree),  cmocka_unit_test(leaves_out),
            cmocka_unit_test(learns),      cmocka_unit_test(is_seeded),
            cmocka_unit_test(bad_samples), cmocka_unit_test(pending),
            cmocka_unit_test(draws),       cmocka_unit_test(screens),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

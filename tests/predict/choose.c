/*
 * The choice of a predictor, and the folds that it is made by.
 */
#include "src/predict/folds.h"
#include "src/predict/mlp.h"
#include "tests/predict/world.h"

#include "tests/tri_cmocka.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void by_name(void **state)
{
    (void)state;
    assert_ptr_equal(tri_predictor_find("gp"), &tri_predictor_gp);
    assert_ptr_equal(tri_predictor_find("trees"), &tri_predictor_trees);
    assert_ptr_equal(tri_predictor_find("mlp"), &tri_predictor_mlp);
    assert_ptr_equal(tri_predictor_find("mlp-squared"),
                     &tri_predictor_mlp_squared);
    assert_null(tri_predictor_find("forest"));
    assert_null(tri_predictor_find(""));
}

/* Rows of a configuration are dealt together, folds are of like size, and no
 * more rows are dealt than wanted. */
static void folds_are_of_configurations(void **state)
{
    enum {
        N = 200,
        CONFIGS = 37
    };
    double x[2 * N];
    int fold[N], n_folds, of[CONFIGS], size[5] = {0};
    int dealt = 0;

    (void)state;
    for (int i = 0; i < N; i++) {
        x[2 * i] = i % CONFIGS;
        x[2 * i + 1] = -0.25 * (i % CONFIGS);
    }
    assert_int_equal(tri_folds_deal(x, N, 2, 5, N, 3, fold, &n_folds), TRI_OK);
    assert_int_equal(n_folds, 5);
    for (int i = 0; i < N; i++) {
        assert_true(fold[i] >= 0 && fold[i] < 5);
        if (i < CONFIGS) {
            of[i] = fold[i];
            size[fold[i]]++;
        }
        assert_int_equal(fold[i], of[i % CONFIGS]);
    }
    for (int k = 0; k < 5; k++) {
        assert_true(size[k] == 7 || size[k] == 8);
    }
    assert_int_equal(tri_folds_deal(x, N, 2, 5, 50, 3, fold, &n_folds), TRI_OK);
    for (int i = 0; i < N; i++) {
        dealt += fold[i] >= 0;
    }
    assert_int_equal(dealt, 50);
    assert_int_equal(tri_folds_deal(x, 3, 2, 5, 50, 3, fold, &n_folds), TRI_OK);
    assert_int_equal(n_folds, 3);
    assert_int_equal(tri_folds_deal(x, N, 0, 5, N, 3, fold, &n_folds), TRI_OK);
    assert_int_equal(n_folds, 1); /* without columns all are one */
}

static void smooth_is_gp(void **state)
{
    tri_world w;
    tri_samples s;
    const tri_predictor_ops *ops = NULL;
    double tau = 0;

    (void)state;
    tri_world_init(&w, 60, 1, 8);
    s = tri_world_samples(&w, 60, 1);
    assert_int_equal(tri_predictor_choose(w.e, &s, 1, &ops, &tau), TRI_OK);
    assert_ptr_equal(ops, &tri_predictor_gp);
    assert_true(tau > 0.5 && tau <= 1);
    s.n = 9; /* too few to try */
    assert_int_equal(tri_predictor_choose(w.e, &s, 1, &ops, &tau), TRI_OK);
    assert_ptr_equal(ops, &tri_predictor_gp);
    assert_true(isnan(tau));
    tri_world_fini(&w);
}

/* Steps at odd places: trees see them, a smooth surface does not. */
static void steps_are_trees(void **state)
{
    enum {
        N = 300
    };
    tri_world w;
    tri_samples s;
    const tri_predictor_ops *ops = NULL;
    double y[N];
    double tau = 0;

    (void)state;
    tri_world_init(&w, N, 0, 14);
    for (int i = 0; i < N; i++) {
        const tri_config *c = w.c + 4 * i;
        int64_t b = c[1].u.i;
        double d = c[3].type == TRI_REAL ? c[3].u.d : 0;

        y[i] = (d > 0.2 ? 0.5 : 0) - (d > 0.5 ? 0.8 : 0) + (d > 0.7 ? 1 : 0) -
               (d > 0.9 ? 0.5 : 0) + (b > 2 ? 0.2 : 0) - (b > 5 ? 0.4 : 0) +
               (b > 8 ? 0.9 : 0) + (c[0].u.i > 16 ? 0.3 : 0);
    }
    s = tri_world_samples(&w, N, 0);
    s.y = y;
    assert_int_equal(tri_predictor_choose(w.e, &s, 1, &ops, &tau), TRI_OK);
    print_message("steps: %s, tau %.3f\n", ops->name, tau);
    assert_ptr_equal(ops, &tri_predictor_trees);
    tri_world_fini(&w);
}

static void nothing_to_tell(void **state)
{
    tri_world w;
    tri_samples s;
    const tri_predictor_ops *ops = NULL;
    double flat[40], same[40 * 8];
    double tau = 1;

    (void)state;
    tri_world_init(&w, 40, 1, 15);
    assert_true(w.width <= 8);
    for (int i = 0; i < 40; i++) {
        flat[i] = 3;
        memcpy(same + (size_t)i * (size_t)w.width, w.x,
               (size_t)w.width * sizeof *same);
    }
    s = tri_world_samples(&w, 40, 1);
    s.y = flat;
    assert_int_equal(tri_predictor_choose(w.e, &s, 1, &ops, &tau), TRI_OK);
    assert_ptr_equal(ops, &tri_predictor_gp);
    assert_true(tau == 0);
    s = tri_world_samples(&w, 40, 1); /* one configuration: nothing to leave */
    s.x = same;
    assert_int_equal(tri_predictor_choose(w.e, &s, 1, &ops, &tau), TRI_OK);
    assert_ptr_equal(ops, &tri_predictor_gp);
    assert_true(isnan(tau));
    tri_world_fini(&w);
}

/* What a model of values y says of all samples, and of itself. */
static void learn(const tri_predictor_ops *ops, const tri_world *w,
                  const double *y, const tri_cancel *cancel, double *mean,
                  char *says)
{
    tri_samples s = tri_world_samples(w, w->n, 0);
    tri_model *m;

    s.y = y;
    s.cancel = cancel;
    assert_int_equal(ops->fit(w->e, &s, 1, NULL, &m), TRI_OK);
    ops->predict(m, w->x, w->n, 16, mean, NULL);
    ops->describe(m, says, 1024);
    ops->destroy(m);
}

/* Of values and of the opposite: whether the model of either shows that it was
 * learned.  A Gaussian process that did not learn has the lengths of its prior;
 * a tree that did not grow says the same of all; of networks that did not learn
 * the order is that of their first weights. */
static int has_learned(const tri_predictor_ops *ops, const tri_world *w,
                       const tri_cancel *cancel)
{
    double *mean = malloc(4 * (size_t)w->n * sizeof *mean);
    double *opposite = mean + w->n, *odd = opposite + w->n, *y = odd + w->n;
    char says[1024], says_of_odd[1024];
    int learned;

    assert_non_null(mean);
    for (int i = 0; i < w->n; i++) {
        y[i] = -w->y[i];
    }
    learn(ops, w, y, cancel, opposite, says);
    learn(ops, w, w->y, cancel, mean, says);
    for (int i = 0; i < w->n; i++) { /* one column alone counts */
        y[i] = w->x[(size_t)i * (size_t)w->width];
    }
    learn(ops, w, y, cancel, odd, says_of_odd);
    learned = ops == &tri_predictor_gp
                      ? strcmp(says, says_of_odd) != 0
                      : tri_kendall_tau(mean, opposite, w->n) < -0.2;
    free(mean);
    return learned;
}

/* Once asked to end, whatever learns does not begin, and says so by what it
 * returns: a model, and no tau. */
static void a_wish_to_end_is_heard(void **state)
{
    static const char *const names[] = {"gp", "trees", "mlp"};
    tri_cancel cancel = {0};
    tri_world w;
    tri_samples s;
    const tri_predictor_ops *ops;
    double tau;

    (void)state;
    tri_world_init(&w, 100, 0, 5);
    s = tri_world_samples(&w, 100, 0);
    s.cancel = &cancel;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        assert_true(has_learned(tri_predictor_find(names[i]), &w, &cancel));
    }
    tri_cancel_ask(&cancel);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        assert_false(has_learned(tri_predictor_find(names[i]), &w, &cancel));
    }
    assert_int_equal(tri_predictor_choose(w.e, &s, 1, &ops, &tau), TRI_OK);
    assert_ptr_equal(ops, &tri_predictor_gp);
    assert_true(isnan(tau));
    tri_world_fini(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(a_wish_to_end_is_heard),
            cmocka_unit_test(by_name),
            cmocka_unit_test(folds_are_of_configurations),
            cmocka_unit_test(smooth_is_gp),
            cmocka_unit_test(steps_are_trees),
            cmocka_unit_test(nothing_to_tell),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

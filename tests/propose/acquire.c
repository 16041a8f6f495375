/*
 * The best of a pool against a look at all of it, one after another, by models
 * with and without bounds.
 */
#include "tests/propose/world.h"

#include "tests/tri_cmocka.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define N      5
#define WANTED 4

static double worth(const tri_belief_model *m, tri_acquisition how, double mean,
                    double sd)
{
    return how == TRI_ACQ_UCB ? 2 * sd - mean
                              : log(sd) + tri_log_ei((m->best - mean) / sd);
}

/* The most that any candidate which is not taken is worth, and the worth of
 * the one at `at`. */
static double look_at_all(const tri_pool *p, const tri_belief_model *m,
                          tri_acquisition how, const unsigned char *taken,
                          int64_t at, double *its)
{
    double *x = malloc((size_t)p->width * sizeof *x);
    double most = -INFINITY;

    assert_non_null(x);
    for (int64_t i = 0; i < p->n; i++) {
        double mean, sd, w;

        if (!taken[i]) {
            tri_pool_row(p, i, x);
            m->ops->predict(m->model, x, 1, m->resource, &mean, &sd);
            w = worth(m, how, mean, sd);
            most = w > most ? w : most;
            *its = i == at ? w : *its;
        }
    }
    free(x);
    return most;
}

static void check(const tri_predictor_ops *ops, tri_acquisition how,
                  uint64_t seed)
{
    tri_rng rng = tri_rng_stream(seed, 0, TRI_RNG_TEST);
    double x[80 * 64], y[80];
    tri_config c[N];
    tri_choice out[WANTED];
    tri_story s;
    tri_samples samples = {.n = 80, .x = x, .y = y};
    tri_belief_model m = {.ops = ops, .resource = 1, .best = INFINITY};
    unsigned char *taken;
    int n, size;

    tri_story_init(&s, tri_world_product(N));
    samples.width = s.pool.width;
    assert_true(s.pool.is_all && s.pool.width <= 64);
    for (int i = 0; i < samples.n; i++) {
        assert_int_equal(tri_space_sample(s.space, &rng, c), TRI_OK);
        y[i] = tri_world_cost(c, N, 0.5, seed);
        m.best = fmin(m.best, y[i]);
        tri_encode(s.encoding, c, x + i * samples.width);
        tri_story_add(&s, c, y[i]);
    }
    tri_story_ask(&s, WANTED);
    taken = malloc((size_t)s.pool.n);
    assert_non_null(taken);
    memcpy(taken, s.pool.taken, (size_t)s.pool.n);
    assert_int_equal(ops->fit(s.encoding, &samples, seed, NULL, &m.model),
                     TRI_OK);
    size = ops->size(m.model);
    assert_int_equal(tri_acquire(&s.pool, &m, how, WANTED, seed, NULL, out, &n),
                     TRI_OK);
    assert_int_equal(n, WANTED);
    assert_int_equal(ops->size(m.model), size);
    for (int k = 0; k < n; k++) {
        double its = -INFINITY;
        double most = look_at_all(&s.pool, &m, how, taken, out[k].at, &its);
        double *row = x;

        print_message("%s seed %d choice %d: %.6f of %.6f\n", ops->name,
                      (int)seed, k, its, most);
        assert_true(its >= most - 1e-6 * (1 + fabs(most)));
        taken[out[k].at] = 1;
        tri_pool_row(&s.pool, out[k].at, row);
        assert_int_equal(ops->add(m.model, row, out[k].mean, 1), TRI_OK);
        m.best = fmin(m.best, out[k].mean);
    }
    ops->destroy(m.model);
    free(taken);
    tri_story_fini(&s);
}

static void the_best_of_all(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 2; seed++) {
        check(&tri_predictor_gp, TRI_ACQ_EI, seed);
        check(&tri_predictor_gp, TRI_ACQ_UCB, seed);
        check(&tri_predictor_trees, TRI_ACQ_EI, seed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(the_best_of_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

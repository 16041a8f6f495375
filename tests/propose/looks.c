/*
 * The work for one choice is bounded, whatever screening says.
 */
#include "tests/propose/world.h"

#include "tests/tri_cmocka.h"

#include <math.h>
#include <stdlib.h>

#define N 5
/* As in acquire.c, with a model of many samples: batches of 16, 32 and 64 for
 * their scores, and the one that is chosen; 2 of 256 for their means. */
#define SAMPLES_MANY 1000
#define SCORES_MOST  (16 + 32 + 64 + 1)
#define MEANS_MOST   (2 * 256)

/* A model for which larger numbers are better, and who asked it. */
struct tri_model {
    int width, size;
    int is_tight;        /* whether screening tells candidates apart */
    int n_means, n_both; /* rows asked for */
    double lowest;       /* mean of those that were asked for both */
};

static double mean_of(const tri_model *m, const double *x)
{
    double sum = 0;

    for (int i = 0; i < m->width; i++) {
        sum -= x[i];
    }
    return sum;
}

static void predict(const tri_model *model, const double *x, int n,
                    double resource, double *mean, double *sd)
{
    tri_model *m = (tri_model *)(uintptr_t)model;

    for (int i = 0; i < n; i++) {
        mean[i] = mean_of(m, x + (size_t)i * (size_t)m->width);
        if (sd) {
            sd[i] = 0.1;
            m->lowest = fmin(m->lowest, mean[i]);
        }
    }
    *(sd ? &m->n_both : &m->n_means) += n;
}

/* Bounds; loose ones are the same for all. */
static void screen(const tri_model *m, const float *x, int n, double resource,
                   float *mean, float *sd)
{
    for (int i = 0; i < n; i++) {
        mean[i] = -100;
        sd[i] = 1;
        if (m->is_tight) {
            mean[i] = -1e-3F;
            for (int k = 0; k < m->width; k++) {
                mean[i] -= x[i * m->width + k];
            }
            sd[i] = 0.1001F;
        }
    }
}

static int size(const tri_model *m)
{
    return m->size;
}

static const tri_predictor_ops ops = {
        .name = "sum", .predict = predict, .screen = screen, .size = size};

/* [out] *best: the lowest mean of all. */
static tri_choice choose(int is_tight, int samples, tri_model *m,
                         int64_t *pool_n, double *best)
{
    tri_belief_model belief = {.ops = &ops, .model = m, .resource = 1};
    double x[64];
    tri_story s;
    tri_choice out;
    int n;

    tri_story_init(&s, tri_world_product(N));
    tri_story_ask(&s, 1);
    *m = (tri_model){.width = s.pool.width,
                     .size = samples,
                     .is_tight = is_tight,
                     .lowest = INFINITY};
    assert_true(s.pool.width <= 64);
    for (int64_t i = 0; i < s.pool.n; i++) {
        tri_pool_row(&s.pool, i, x);
        belief.best = fmin(belief.best, mean_of(m, x));
    }
    *best = belief.best;
    assert_int_equal(
            tri_acquire(&s.pool, &belief, TRI_ACQ_EI, 1, 3, NULL, &out, &n),
            TRI_OK);
    assert_int_equal(n, 1);
    *pool_n = s.pool.n;
    print_message("%s: %lld candidates; %d means, %d scores; %.3f of %.3f\n",
                  is_tight ? "tight" : "loose", (long long)s.pool.n, m->n_means,
                  m->n_both, out.mean, *best);
    tri_story_fini(&s);
    return out;
}

/* Where screening tells nothing only some are looked at: the best of those. */
static void loose_bounds(void **state)
{
    tri_model m;
    int64_t n;
    double best;
    tri_choice c = choose(0, SAMPLES_MANY, &m, &n, &best);

    (void)state;
    assert_true(n > MEANS_MOST + SCORES_MOST);
    assert_true(m.n_means <= MEANS_MOST && m.n_both <= SCORES_MOST);
    assert_true(c.mean == m.lowest);
    assert_true(c.mean > best); /* the best of all was not looked at */
}

/* With few samples a look costs little: at all, if need be. */
static void few_samples(void **state)
{
    tri_model m;
    int64_t n;
    double best;
    tri_choice c = choose(0, 100, &m, &n, &best);

    (void)state;
    assert_true(n > MEANS_MOST + SCORES_MOST && n < 10000);
    assert_true(c.mean == best);
}

static void tight_bounds(void **state)
{
    tri_model m;
    int64_t n;
    double best;
    tri_choice c = choose(1, SAMPLES_MANY, &m, &n, &best);

    (void)state;
    assert_true(c.mean == best);
    assert_true(m.n_both <= SCORES_MOST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(loose_bounds),
                                       cmocka_unit_test(few_samples),
                                       cmocka_unit_test(tight_bounds)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * The searcher: what it proposes, and that it leads where the predictor says.
 */
#include "src/propose/reinforce.h"

#include "tests/propose/world.h"
#include "tests/tri_cmocka.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 64 /* parameters, and proposals of one answer */

/* ---- predictors that need no learning ----------------------------------- */

typedef struct plain {
    int width;
    double slope; /* of every column */
} plain;

static void plain_predict(const tri_model *model, const double *x, int m,
                          double resource, double *mean, double *sd)
{
    const plain *p = (const plain *)model;

    (void)resource;
    for (int i = 0; i < m; i++) {
        double sum = 0;

        for (int k = 0; k < p->width; k++) {
            sum += x[i * p->width + k];
        }
        mean[i] = p->slope * sum;
        if (sd) {
            sd[i] = 0.1;
        }
    }
}

static int plain_size(const tri_model *model)
{
    (void)model;
    return 0;
}

static const tri_predictor_ops plain_ops = {
        .name = "plain", .predict = plain_predict, .size = plain_size};

typedef struct setting {
    tri_story s;
    tri_reinforce *r;
    plain model;
    tri_belief_model belief;
} setting;

static void set_up(setting *t, tri_space *space, double slope)
{
    tri_story_init(&t->s, space);
    assert_int_equal(tri_reinforce_create(space, t->s.encoding, &t->r), TRI_OK);
    t->model = (plain){tri_encoding_width(t->s.encoding), slope};
    t->belief = (tri_belief_model){.ops = &plain_ops,
                                   .model = (tri_model *)&t->model,
                                   .resource = 1,
                                   .best = 0};
}

static void tear_down(setting *t)
{
    tri_reinforce_destroy(t->r);
    tri_story_fini(&t->s);
}

/* One answer, its configurations checked and put into out[n][n_params]. */
static int answer(setting *t, int wanted, uint64_t seed, tri_config *out)
{
    int params = tri_space_n_params(t->s.space);
    tri_choice choices[MOST];
    int n;

    tri_story_ask(&t->s, wanted);
    assert_int_equal(tri_reinforce_answer(t->r, &t->s.pool, &t->s.snapshot,
                                          &t->belief, TRI_ACQ_EI, wanted, seed,
                                          NULL, choices, &n),
                     TRI_OK);
    assert_true(n <= wanted);
    for (int i = 0; i < n; i++) {
        tri_story_get(&t->s, choices[i].at, out + i * params);
        assert_true(isfinite(choices[i].mean) && choices[i].sd >= 0);
        for (int k = 0; k < i; k++) {
            assert_true(choices[k].at != choices[i].at);
        }
    }
    return n;
}

/* ---- answers ------------------------------------------------------------ */

static void answers_are_valid_and_new(void **state)
{
    tri_space *(*const spaces[])(void) = {tri_world_mesh, tri_world_floats};
    tri_config out[MOST * 16];
    setting t;

    (void)state;
    for (int i = 0; i < 2; i++) {
        set_up(&t, spaces[i](), 1);
        for (int k = 0; k < 3; k++) {
            int n = answer(&t, 16, 1, out);

            assert_int_equal(n, 16);
            for (int j = 0; j < n; j++) {
                tri_story_add(&t.s, out + j * tri_space_n_params(t.s.space), 1);
            }
        }
        tear_down(&t);
    }
}

static void it_finds_what_the_predictor_likes(void **state)
{
    tri_config out[MOST * 40];
    setting t;

    (void)state;
    set_up(&t, tri_world_product(40), 1);
    t.model.slope = 0.3;
    assert_int_equal(answer(&t, 4, 1, out), 4);
    for (int i = 0; i < 4; i++) {
        double sum = 0;

        for (int k = 0; k < 40; k++) {
            sum += (double)out[i * 40 + k].u.i / (3 + k % 3) / 40;
        }
        printf("mean of the values, 0 to 1: %.3f\n", sum);
        assert_true(sum < 0.25); /* chance: 0.50 +- 0.05 */
    }
    tear_down(&t);
}

static void answers_depend_on_seed_and_questions(void **state)
{
    tri_config a[2][MOST * 12];
    setting t;

    (void)state;
    for (int run = 0; run < 3; run++) {
        set_up(&t, tri_world_product(12), 1);
        assert_int_equal(answer(&t, 4, 7 + (run == 2), a[run > 0]), 4);
        assert_int_equal(answer(&t, 4, 7 + (run == 2), a[run > 0] + 4 * 12), 4);
        if (run > 0) {
            int same = 1;

            for (int i = 0; i < 8 * 12; i++) {
                same &= tri_value_equal(a[0][i], a[1][i]);
            }
            assert_int_equal(same, run == 1);
        }
        tear_down(&t);
    }
}

static void a_constant_objective_leaves_it_uniform(void **state)
{
    tri_config out[MOST * 12];
    setting t;

    (void)state;
    set_up(&t, tri_world_product(12), 0);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(answer(&t, 4, 1, out), 4);
        assert_float_equal(tri_reinforce_tilt(t.r), 0, 1e-6);
    }
    tear_down(&t);
}

/* What it has learned of one objective does not keep it from the next. */
static void it_turns_round(void **state)
{
    tri_config out[MOST * 12];
    double sum = 0;
    setting t;

    (void)state;
    set_up(&t, tri_world_product(12), 1);
    for (int i = 0; i < 8; i++) {
        t.model.slope = i < 3 ? 0.5 : -0.5;
        assert_int_equal(answer(&t, 4, 1, out), 4);
        assert_true(tri_reinforce_tilt(t.r) > 1);
        assert_true(tri_reinforce_tilt(t.r) < 12 * log(6));
    }
    for (int k = 0; k < 12; k++) {
        sum += (double)out[k].u.i / (3 + k % 3) / 12;
    }
    assert_true(sum > 0.8);
    tear_down(&t);
}

static void a_small_space_is_exhausted(void **state)
{
    tri_config out[MOST * 16];
    int params, n, rounds = 0;
    setting t;

    (void)state;
    set_up(&t, tri_world_mesh(), 1);
    t.s.max_ranks = 2;
    params = tri_space_n_params(t.s.space);
    while ((n = answer(&t, 32, 1, out)) > 0) {
        for (int i = 0; i < n; i++) {
            tri_story_add(&t.s, out + i * params, 1);
        }
        assert_true(++rounds < 30);
    }
    assert_int_equal(t.s.n, tri_space_count_within(t.s.space, 2));
    tear_down(&t);
}

static void cancelled_it_answers_with_less(void **state)
{
    const tri_cancel cancel = {1};
    tri_choice choices[4];
    setting t;
    int n;

    (void)state;
    set_up(&t, tri_world_product(12), 1);
    tri_story_ask(&t.s, 4);
    assert_int_equal(tri_reinforce_answer(t.r, &t.s.pool, &t.s.snapshot,
                                          &t.belief, TRI_ACQ_EI, 4, 1, &cancel,
                                          choices, &n),
                     TRI_OK);
    assert_int_equal(n, 0);
    assert_float_equal(tri_reinforce_tilt(t.r), 0, 0);
    tear_down(&t);
}

/* ---- failures ----------------------------------------------------------- */

/* The predictor likes small values, of which those with p0 = 0 failed. */
static void it_keeps_away_from_failures(void **state)
{
    tri_rng rng = tri_rng_stream(8, 0, TRI_RNG_TEST);
    tri_config c[MOST];
    tri_config out[MOST * 12];
    double x[60 * 64];
    unsigned char failed[60];
    const tri_labels labels = {.n = 60, .n_own = 60, .x = x, .failed = failed};
    tri_feasibility *f;
    setting t;
    int bad = 0;

    (void)state;
    set_up(&t, tri_world_product(12), 0.3);
    assert_true(t.model.width <= 64);
    for (int i = 0; i < 60; i++) {
        assert_int_equal(tri_space_sample(t.s.space, &rng, c), TRI_OK);
        tri_encode(t.s.encoding, c, x + i * t.model.width);
        failed[i] = c[0].u.i == 0;
    }
    assert_int_equal(tri_feasibility_fit(t.s.encoding, &labels, NULL, &f),
                     TRI_OK);
    t.belief.feasible = f;
    t.belief.best = 5; /* so that an improvement is about 5 less the mean */
    assert_int_equal(answer(&t, 16, 1, out), 16);
    for (int i = 0; i < 16; i++) {
        bad += out[i * 12].u.i == 0;
    }
    assert_true(bad <= 2);
    tri_feasibility_destroy(f);
    tear_down(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(answers_are_valid_and_new),
            cmocka_unit_test(it_finds_what_the_predictor_likes),
            cmocka_unit_test(answers_depend_on_seed_and_questions),
            cmocka_unit_test(a_constant_objective_leaves_it_uniform),
            cmocka_unit_test(it_turns_round),
            cmocka_unit_test(a_small_space_is_exhausted),
            cmocka_unit_test(cancelled_it_answers_with_less),
            cmocka_unit_test(it_keeps_away_from_failures)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

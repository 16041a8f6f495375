/*
 * Sums of a simulation: rank-seconds, best, and when one was close enough.
 */
#include "src/sim/score.h"

#include "tests/tri_cmocka.h"

#include <math.h>

static void rank_seconds_are_ranks_times_time(void **state)
{
    tri_score s;

    (void)state;
    tri_score_init(&s, 0, NAN, 9);
    s.busy = 3;
    tri_score_advance(&s, 2);
    s.busy = 1;
    tri_score_advance(&s, 7);
    assert_true(s.result.rank_seconds == 11);
    assert_true(s.result.virtual_s == 7);
    tri_score_fini(&s);
}

static void lower_is_better(void **state)
{
    tri_score s;

    (void)state;
    tri_score_init(&s, 0, 100, 9);
    s.busy = 1;
    assert_int_equal(tri_score_add(&s, 4, 0, 9, 120), TRI_OK);
    tri_score_advance(&s, 1);
    assert_int_equal(tri_score_add(&s, 200, 0, 9, 105), TRI_OK); /* 5 % */
    tri_score_advance(&s, 2);
    assert_int_equal(tri_score_add(&s, 4, 1, 9, 110), TRI_OK);
    assert_int_equal(tri_score_add(&s, 7, 0, 9, NAN), TRI_OK);
    assert_int_equal(tri_score_add(&s, 8, 0, 9, 101.5), TRI_OK); /* 2 % */
    assert_int_equal(s.result.evaluations, 5);
    assert_int_equal(s.result.distinct, 4);
    assert_int_equal(s.result.best_trial, 8);
    assert_int_equal(s.result.evaluations_to[0], -1);
    assert_int_equal(s.result.evaluations_to[1], 4);
    assert_int_equal(s.result.evaluations_to[2], 2);
    assert_true(isnan(s.result.rank_seconds_to[0]));
    assert_true(s.result.rank_seconds_to[1] == 2);
    assert_true(s.result.rank_seconds_to[2] == 1);
    assert_true(isnan(s.result.history[3].objective));
    assert_true(s.result.history[3].best == 105);
    tri_score_fini(&s);
}

static void higher_is_better(void **state)
{
    tri_sim_result r;
    tri_score s;

    (void)state;
    tri_score_init(&s, 1, -10, 9); /* a negated loss */
    assert_int_equal(tri_score_add(&s, 0, 0, 9, -11), TRI_OK);
    assert_int_equal(tri_score_add(&s, 1, 0, 9, -10.1), TRI_OK); /* 1 % */
    assert_int_equal(tri_score_add(&s, 2, 0, 9, -12), TRI_OK);
    tri_score_take(&s, &r);
    tri_score_fini(&s);
    assert_true(r.best == -10.1);
    assert_int_equal(r.best_trial, 1);
    assert_int_equal(r.evaluations_to[0], 2);
    assert_int_equal(r.evaluations_to[2], 2);
    assert_int_equal(r.n_history, 3);
    tri_sim_result_fini(&r);
}

static void an_unknown_optimum_is_never_near(void **state)
{
    tri_score s;

    (void)state;
    tri_score_init(&s, 0, NAN, 9);
    assert_int_equal(tri_score_add(&s, 0, 0, 9, 0), TRI_OK);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(s.result.evaluations_to[i], -1);
    }
    tri_score_fini(&s);
}

/* After less than what the optimum is of, it is as if nothing was there. */
static void short_runs_reach_no_optimum(void **state)
{
    tri_sim_result r;
    tri_score s;

    (void)state;
    tri_score_init(&s, 0, 100, 9);
    assert_int_equal(tri_score_add(&s, 0, 0, 3, 90), TRI_OK); /* beyond it */
    assert_true(s.result.best == 90);
    assert_int_equal(tri_score_add(&s, 1, 0, 3, 120), TRI_OK);
    assert_int_equal(tri_score_add(&s, 1, 1, 9, 104), TRI_OK); /* 5 % */
    assert_int_equal(tri_score_add(&s, 2, 0, 3, 80), TRI_OK);
    assert_int_equal(tri_score_add(&s, 0, 1, 9, NAN), TRI_OK);
    assert_int_equal(tri_score_add(&s, 2, 1, 27, 100), TRI_OK); /* final, too */
    tri_score_take(&s, &r);
    tri_score_fini(&s);
    assert_true(r.best == 100 && r.best_trial == 2);
    assert_int_equal(r.evaluations_to[2], 2);
    assert_int_equal(r.evaluations_to[0], 3);
    assert_true(r.history[1].best == 90 && r.history[2].best == 104);
    assert_true(r.history[3].best == 104 && r.history[4].best == 104);
    tri_sim_result_fini(&r);
}

/* Where curves never end, the best is that after the most resource. */
static void without_an_end_more_resource_counts(void **state)
{
    tri_score s;

    (void)state;
    tri_score_init(&s, 1, 10, 0);
    assert_int_equal(tri_score_add(&s, 0, 0, 1, 20), TRI_OK);
    assert_int_equal(tri_score_add(&s, 0, 1, 4, 7), TRI_OK);
    assert_int_equal(tri_score_add(&s, 1, 0, 1, 30), TRI_OK);
    assert_true(s.result.best == 7);
    assert_int_equal(s.result.evaluations_to[0], 1);
    tri_score_fini(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(rank_seconds_are_ranks_times_time),
            cmocka_unit_test(lower_is_better),
            cmocka_unit_test(higher_is_better),
            cmocka_unit_test(an_unknown_optimum_is_never_near),
            cmocka_unit_test(short_runs_reach_no_optimum),
            cmocka_unit_test(without_an_end_more_resource_counts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

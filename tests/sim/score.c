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
    tri_score_init(&s, 0, NAN);
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
    tri_score_init(&s, 0, 100);
    s.busy = 1;
    assert_int_equal(tri_score_add(&s, 4, 0, 120), TRI_OK);
    tri_score_advance(&s, 1);
    assert_int_equal(tri_score_add(&s, 200, 0, 105), TRI_OK); /* 5 % */
    tri_score_advance(&s, 2);
    assert_int_equal(tri_score_add(&s, 4, 1, 110), TRI_OK);
    assert_int_equal(tri_score_add(&s, 7, 0, NAN), TRI_OK);
    assert_int_equal(tri_score_add(&s, 8, 0, 101.5), TRI_OK); /* 2 % */
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
    tri_score_init(&s, 1, -10); /* a negated loss */
    assert_int_equal(tri_score_add(&s, 0, 0, -11), TRI_OK);
    assert_int_equal(tri_score_add(&s, 1, 0, -10.1), TRI_OK); /* 1 % */
    assert_int_equal(tri_score_add(&s, 2, 0, -12), TRI_OK);
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
    tri_score_init(&s, 0, NAN);
    assert_int_equal(tri_score_add(&s, 0, 0, 0), TRI_OK);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(s.result.evaluations_to[i], -1);
    }
    tri_score_fini(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(rank_seconds_are_ranks_times_time),
            cmocka_unit_test(lower_is_better),
            cmocka_unit_test(higher_is_better),
            cmocka_unit_test(an_unknown_optimum_is_never_near),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

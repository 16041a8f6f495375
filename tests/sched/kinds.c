/*
 * Each scheduler beside asha by exact examples: the paper's brackets, what
 * opens the next one, what holds a rung and what does not, who is stopped, when
 * a ladder grows.
 */
#include "trireme/rng.h"
#include "trireme/sched.h"

#include "tests/tri_cmocka.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static tri_sched *make(tri_sched_settings set)
{
    tri_sched *out = NULL;

    assert_int_equal(tri_sched_create(&set, &out), TRI_OK);
    return out;
}

/* The next job, taken; returns its trial, -1 if there is none. */
static int64_t take(tri_sched *s, int64_t *next, tri_job *job)
{
    int64_t trial;

    tri_sched_peek(s, next != NULL, job);
    if (job->kind == TRI_JOB_NONE) {
        return -1;
    }
    trial = next && job->kind == TRI_JOB_NEW ? (*next)++ : job->trial;
    assert_int_equal(tri_sched_take(s, job, trial), TRI_OK);
    return trial;
}

static void give(tri_sched *s, int64_t trial, int rung, double score)
{
    assert_int_equal(tri_sched_result(s, trial, rung, TRI_RESULT_OK, score),
                     TRI_OK);
}

/* ---- sha ---------------------------------------------------------------- */

/* One worker does what a bracket has: `want` runs at rung base, base + 1, ...
 */
static void check_bracket(tri_sched *s, int64_t *next, int base,
                          const int *want, int n)
{
    for (int k = 0; k < n; k++) {
        for (int i = 0; i < want[k]; i++) {
            tri_job job;
            int64_t trial = take(s, next, &job);

            assert_int_equal(job.kind, k ? TRI_JOB_PROMOTE : TRI_JOB_NEW);
            assert_int_equal(job.bracket, base);
            assert_int_equal(job.rung, base + k);
            give(s, trial, job.rung, (double)((trial * 31 + k) % 50));
        }
    }
}

static void brackets_of_the_paper(void **state)
{
    static const int want[3][3] = {{9, 3, 1}, {9, 3}, {9}};

    (void)state;
    for (int b = 0; b < 3; b++) {
        tri_sched *s = make((tri_sched_settings){.kind = TRI_SCHED_SHA,
                                                 .min = 1,
                                                 .max = 9,
                                                 .eta = 3,
                                                 .bracket = b,
                                                 .n = 9});
        int64_t next = 0;

        check_bracket(s, &next, b, want[b], 3 - b);
        check_bracket(s, &next, b, want[b], 3 - b);
        tri_sched_destroy(s);
    }
}

static tri_sched *nine(int brackets)
{
    return make((tri_sched_settings){.kind = TRI_SCHED_SHA,
                                     .min = 1,
                                     .max = 9,
                                     .eta = 3,
                                     .brackets = brackets});
}

/* Nine are out, trial i with score 8 - i, but for trial 0. */
static void all_but_the_first(tri_sched *s, int64_t *next)
{
    tri_job job;

    for (int i = 0; i < 9; i++) {
        assert_int_equal(take(s, next, &job), i);
    }
    for (int i = 1; i < 9; i++) {
        give(s, i, 0, 8 - i);
    }
}

static void idle_ranks_open_the_next_bracket(void **state)
{
    tri_sched *s = nine(0);
    int64_t next = 0;
    tri_job job;

    (void)state;
    all_but_the_first(s, &next);
    assert_int_equal(take(s, &next, &job), 9); /* of the second bracket */
    assert_int_equal(job.kind, TRI_JOB_NEW);
    give(s, 0, 0, 99);
    /* the first is through: its three go before all others, the best first */
    for (int64_t i = 8; i > 5; i--) {
        assert_int_equal(take(s, &next, &job), i);
        assert_int_equal(job.rung, 1);
    }
    assert_int_equal(take(s, &next, &job), 10);
    tri_sched_destroy(s);
}

static void one_bracket_at_a_time(void **state)
{
    tri_sched *s = nine(1);
    int64_t next = 0;
    tri_job job;

    (void)state;
    all_but_the_first(s, &next);
    assert_int_equal(take(s, &next, &job), -1);
    give(s, 0, 0, 99);
    for (int64_t i = 8; i > 5; i--) {
        assert_int_equal(take(s, &next, &job), i);
    }
    for (int64_t i = 8; i > 5; i--) {
        assert_int_equal(take(s, &next, &job), -1);
        give(s, i, 1, (double)i);
    }
    assert_int_equal(take(s, &next, &job), 6);
    assert_int_equal(job.rung, 2);
    assert_int_equal(take(s, &next, &job), -1);
    give(s, 6, 2, 1);
    assert_int_equal(take(s, &next, &job), 9);
    tri_sched_destroy(s);
}

static void who_gives_up_does_not_hold_the_rung(void **state)
{
    tri_sched *s = nine(1);
    int64_t next = 0;
    tri_job job;

    (void)state;
    all_but_the_first(s, &next);
    assert_int_equal(tri_sched_drop(s, 0, 0), TRI_OK);
    assert_int_equal(take(s, &next, &job), 8); /* nine entered: three go on */
    assert_int_equal(take(s, &next, &job), 7);
    assert_int_equal(take(s, &next, &job), 6);
    assert_int_equal(tri_sched_result(s, 8, 1, TRI_RESULT_COUNTED, NAN),
                     TRI_OK);
    assert_int_equal(tri_sched_result(s, 7, 1, TRI_RESULT_COUNTED, NAN),
                     TRI_OK);
    assert_int_equal(take(s, &next, &job), -1);
    assert_int_equal(tri_sched_result(s, 6, 1, TRI_RESULT_COUNTED, NAN),
                     TRI_OK);
    /* none has a score: the bracket is over */
    assert_int_equal(take(s, &next, &job), 9);
    tri_sched_destroy(s);
}

static void who_is_parked_does_not_hold_the_rung(void **state)
{
    tri_sched *s = nine(1);
    int64_t next = 0;
    tri_job job;

    (void)state;
    all_but_the_first(s, &next);
    tri_sched_park(s, 0, 1);
    tri_sched_park(s, 8, 1); /* stands in the share: its place stays */
    assert_int_equal(take(s, &next, &job), 7);
    assert_int_equal(take(s, &next, &job), 6);
    assert_int_equal(take(s, &next, &job), -1);
    give(s, 7, 1, 1);
    give(s, 6, 1, 0);
    /* two entered: none goes on, and the next bracket is opened */
    assert_int_equal(take(s, &next, &job), 9);
    tri_sched_park(s, 8, 0); /* late, but a place is left */
    assert_int_equal(take(s, NULL, &job), 8);
    tri_sched_park(s, 0, 0);
    give(s, 8, 1, -1);
    assert_int_equal(take(s, NULL, &job), -1); /* now 0 holds the rung */
    give(s, 0, 0, -5);
    assert_int_equal(take(s, NULL, &job), 8); /* and came too late itself */
    assert_int_equal(job.rung, 2);
    tri_sched_destroy(s);
}

static void without_new_ones_a_bracket_is_as_it_is(void **state)
{
    tri_sched *s = nine(0);
    int64_t next = 0;
    tri_job job;

    (void)state;
    for (int i = 0; i < 7; i++) {
        assert_int_equal(take(s, &next, &job), i);
        give(s, i, 0, i);
    }
    tri_sched_peek(s, 1, &job);
    assert_int_equal(job.kind, TRI_JOB_NEW);
    assert_false(tri_sched_is_closed(s));
    assert_int_equal(take(s, NULL, &job), 0); /* two of seven */
    assert_int_equal(take(s, NULL, &job), 1);
    assert_int_equal(take(s, NULL, &job), -1);
    give(s, 0, 1, 0);
    give(s, 1, 1, 0);
    assert_true(tri_sched_is_closed(s));
    assert_int_equal(take(s, &next, &job), 7); /* there may be more after all */
    tri_sched_destroy(s);
}

/* ---- hyperband ---------------------------------------------------------- */

static void hyperband_of_the_paper(void **state)
{
    static const int want[5][5] = {
            {81, 27, 9, 3, 1}, {34, 11, 3, 1}, {15, 5, 1}, {8, 2}, {5}};
    tri_sched *s = make((tri_sched_settings){.kind = TRI_SCHED_HYPERBAND,
                                             .min = 1,
                                             .max = 81,
                                             .eta = 3,
                                             .brackets = 1});
    int64_t next = 0;

    (void)state;
    for (int round = 0; round < 2; round++) {
        for (int b = 0; b < 5; b++) {
            check_bracket(s, &next, b, want[b], 5 - b);
            for (int k = 0; k < 5 - b; k++) {
                assert_int_equal(tri_sched_planned(s, b, b + k), want[b][k]);
            }
            assert_int_equal(tri_sched_planned(s, b, b - 1), 0);
            assert_int_equal(tri_sched_planned(s, b, 5), 0);
        }
    }
    assert_int_equal(next, 2 * (81 + 34 + 15 + 8 + 5));
    tri_sched_destroy(s);
}

static void hyperband_in_turns(void **state)
{
    tri_sched *s = make((tri_sched_settings){.kind = TRI_SCHED_ASYNC_HYPERBAND,
                                             .min = 1,
                                             .max = 9,
                                             .eta = 3,
                                             .brackets = 1});
    double spent[3] = {0, 0, 0};
    int64_t next = 0;
    int last = 0, turns = 0;
    tri_job job;

    (void)state;
    /* nobody has ended yet: 27, 27 and 27 units are spent on new ones */
    for (int i = 0; i < 27 + 8 + 3; i++) {
        take(s, &next, &job);
        assert_int_equal(job.bracket, i < 27 ? 0 : i < 27 + 8 ? 1 : 2);
    }
    for (int i = 0; i < 38; i++) {
        give(s, i, i < 27 ? 0 : i < 35 ? 1 : 2, i);
    }
    for (int i = 0; i < 20000; i++) {
        int64_t trial = take(s, &next, &job);

        turns += job.kind == TRI_JOB_NEW && job.bracket != last;
        last = job.kind == TRI_JOB_NEW ? job.bracket : last;
        spent[job.bracket] += (double)job.resource;
        give(s, trial, job.rung, (double)(trial * 7919 % 1009));
    }
    assert_true(turns > 1000);
    /* 27, 5 x 3 + 9 and 3 x 9 a turn */
    assert_true(fabs(spent[0] / spent[2] - 1) < 0.01);
    assert_true(fabs(spent[1] / spent[2] - 24.0 / 27) < 0.01);
    tri_sched_destroy(s);
}

/* ---- asha-stop ---------------------------------------------------------- */

static void stopped_or_not(void **state)
{
    /* of three, by arrival: the best so far; not; the best of three; not, of
     * four one goes on; equal to the best but later; two of six */
    static const double scores[] = {5, 6, 4, 4.5, 4, 4.2};
    static const int goes[] = {1, 0, 1, 0, 0, 0};
    tri_sched *s = make((tri_sched_settings){.kind = TRI_SCHED_ASHA_STOP,
                                             .min = 1,
                                             .max = 9,
                                             .eta = 3,
                                             .brackets = 1});
    int64_t next = 0;
    tri_job job;

    (void)state;
    for (int i = 0; i < 6; i++) {
        assert_int_equal(take(s, &next, &job), i);
        assert_int_equal(job.kind, TRI_JOB_NEW);
        give(s, i, 0, scores[i]);
        assert_int_equal(tri_sched_goes_on(s, i, 1, &job),
                         goes[i] ? TRI_GOES_ON : TRI_GOES_NOT);
        assert_int_equal(tri_sched_is_over(s, i, 0), !goes[i]);
        if (goes[i]) {
            assert_int_equal(job.trial, i);
            assert_int_equal(job.rung, 1);
            assert_int_equal(tri_sched_take(s, &job, i), TRI_OK);
        }
    }
    give(s, 0, 1, 1);
    assert_int_equal(tri_sched_goes_on(s, 0, 1, &job), TRI_GOES_ON);
    give(s, 2, 1, 2); /* one so far, which is better */
    assert_int_equal(tri_sched_goes_on(s, 2, 1, &job), TRI_GOES_NOT);
    /* trial 0 could not go on at once: its turn comes before all others */
    tri_sched_park(s, 0, 1);
    tri_sched_peek(s, 1, &job);
    assert_int_equal(job.kind, TRI_JOB_NEW);
    tri_sched_park(s, 0, 0);
    assert_int_equal(take(s, &next, &job), 0);
    assert_int_equal(job.rung, 2);
    give(s, 0, 2, 0);
    assert_true(tri_sched_is_over(s, 0, 2));
    assert_true(tri_sched_is_closed(s));
    tri_sched_destroy(s);
}

static void diverged_are_stopped(void **state)
{
    tri_sched *s = make((tri_sched_settings){.kind = TRI_SCHED_ASHA_STOP,
                                             .min = 1,
                                             .max = 9,
                                             .eta = 3,
                                             .brackets = 1});
    int64_t next = 0;
    tri_job job;

    (void)state;
    take(s, &next, &job);
    assert_int_equal(tri_sched_result(s, 0, 0, TRI_RESULT_COUNTED, NAN),
                     TRI_OK);
    assert_true(tri_sched_is_over(s, 0, 0));
    assert_true(tri_sched_is_closed(s));
    take(s, &next, &job);
    give(s, 1, 0, 7); /* whatever it is, it is better */
    assert_int_equal(tri_sched_goes_on(s, 1, 1, &job), TRI_GOES_ON);
    tri_sched_destroy(s);
}

/* ---- asha-delayed ------------------------------------------------------- */

static void delayed(void **state)
{
    tri_sched *s = make((tri_sched_settings){.kind = TRI_SCHED_ASHA_DELAYED,
                                             .min = 1,
                                             .max = 9,
                                             .eta = 3,
                                             .brackets = 1});
    int64_t next = 0;
    tri_job job;

    (void)state;
    for (int i = 0; i < 9; i++) { /* each is the best when it comes */
        assert_int_equal(take(s, &next, &job), i);
        assert_int_equal(job.kind, TRI_JOB_NEW); /* eight are too few */
        give(s, i, 0, 9 - i);
        if (i == 5) { /* but not where there will be no more */
            tri_sched_peek(s, 0, &job);
            assert_int_equal(job.kind, TRI_JOB_PROMOTE);
            assert_int_equal(job.trial, 5);
        }
    }
    for (int64_t i = 8; i > 5; i--) {
        assert_int_equal(take(s, &next, &job), i);
        assert_int_equal(job.rung, 1);
    }
    /* two better ones push two of them out of the share: it is spent */
    for (int i = 9; i < 11; i++) {
        assert_int_equal(take(s, &next, &job), i);
        assert_int_equal(job.kind, TRI_JOB_NEW);
        give(s, i, 0, -i);
    }
    assert_int_equal(take(s, &next, &job), 11);
    give(s, 11, 0, 100);
    assert_int_equal(take(s, &next, &job), 10); /* four of twelve */
    tri_sched_destroy(s);
}

/* ---- pasha -------------------------------------------------------------- */

static int64_t resource_most; /* that any job had */

/* `n` trials one after the other; scores by `score`. */
static void search(tri_sched *s, int n, double (*score)(int64_t, int))
{
    int64_t next = 0;

    resource_most = 0;
    for (;;) {
        tri_job job;
        int64_t trial = take(s, next < n ? &next : NULL, &job);

        if (trial < 0) {
            break;
        }
        resource_most =
                job.resource > resource_most ? job.resource : resource_most;
        give(s, trial, job.rung, score(trial, job.rung));
    }
    assert_true(tri_sched_is_closed(s));
}

static double same_order(int64_t trial, int rung)
{
    return (double)(trial * 37 % 101) / (1 + rung);
}

static double new_order(int64_t trial, int rung)
{
    return (double)(trial * (37 + 10 * rung) % 101);
}

/* Rungs beyond the second agree but for noise of 0.01 between groups that are
 * 1 apart: what the first disagreements show is noise. */
static double noisy(int64_t trial, int rung)
{
    tri_rng rng = tri_rng_stream(7, (uint64_t)trial * 64 + (uint64_t)rung,
                                 TRI_RNG_TEST);

    return (double)(trial * 37 % 101) + 1.2 * tri_rng_unit(&rng);
}

static tri_sched *growing(void)
{
    return make((tri_sched_settings){.kind = TRI_SCHED_PASHA,
                                     .min = 1,
                                     .max = 729,
                                     .eta = 3,
                                     .brackets = 1});
}

static void the_ladder_grows_while_rankings_change(void **state)
{
    tri_sched *s = growing();

    (void)state;
    search(s, 101, same_order);
    assert_int_equal(resource_most, 3);
    tri_sched_destroy(s);
    s = growing();
    search(s, 101, new_order);
    assert_true(resource_most >= 27);
    tri_sched_destroy(s);
    s = growing();
    search(s, 101, noisy);
    print_message("noise: up to %lld\n", (long long)resource_most);
    assert_in_range(resource_most, 9, 81);
    tri_sched_destroy(s);
}

static double all_equal(int64_t trial, int rung)
{
    (void)trial;
    (void)rung;
    return 1;
}

static double huge(int64_t trial, int rung)
{
    return (trial + rung) % 2 ? 1.7e308 : -1.7e308;
}

static void growing_on_odd_scores(void **state)
{
    tri_sched *s = growing();

    (void)state;
    search(s, 81, all_equal);
    assert_int_equal(resource_most, 3);
    tri_sched_destroy(s);
    s = growing();
    search(s, 300, huge); /* distances overflow */
    tri_sched_destroy(s);
    s = make((tri_sched_settings){
            .kind = TRI_SCHED_PASHA, .min = 5, .max = 5, .eta = 3, 0, 1, 0});
    search(s, 9, same_order);
    assert_int_equal(resource_most, 5);
    tri_sched_destroy(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(brackets_of_the_paper),
            cmocka_unit_test(idle_ranks_open_the_next_bracket),
            cmocka_unit_test(one_bracket_at_a_time),
            cmocka_unit_test(who_gives_up_does_not_hold_the_rung),
            cmocka_unit_test(who_is_parked_does_not_hold_the_rung),
            cmocka_unit_test(without_new_ones_a_bracket_is_as_it_is),
            cmocka_unit_test(hyperband_of_the_paper),
            cmocka_unit_test(hyperband_in_turns),
            cmocka_unit_test(stopped_or_not),
            cmocka_unit_test(diverged_are_stopped),
            cmocka_unit_test(delayed),
            cmocka_unit_test(the_ladder_grows_while_rankings_change),
            cmocka_unit_test(growing_on_odd_scores)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Who is judged by what, and how soon: the limits as they are by default, and
 * who of a group is struck.
 */
#include "src/net/watch.h"

#include "mpi_workers/worker.h"
#include "tests/tri_cmocka.h"
#include "trireme/study.h"

#include <math.h>
#include <string.h>

/* A rank that is stopped for 5 s is never lost; an idle one is before 20 s; one
 * in training is not; 90 s are too much for all; and a worker goes on without
 * rank 0 for longer than rank 0 without it. */
static void limits_by_default(void **state)
{
    static const char text[] = "study: s\nmodel: {kind: synthetic}\n"
                               "space: {x: {int: [0, 3]}}\n"
                               "objective: {minimize: loss}\n";
    tri_study *study = NULL;
    double silent_s = tri_watch_silence(TRI_RUN_FORMING, 0);

    (void)state;
    assert_int_equal(
            tri_study_parse(text, strlen(text), "s.yaml", NULL, NULL, &study),
            TRI_OK);
    assert_true(silent_s == 15);
    assert_true(silent_s > 5 + TRI_BEAT_S && silent_s < 20);
    assert_true(tri_watch_silence(TRI_RUN_RUNNING, 1) == silent_s);
    assert_true(isinf(tri_watch_silence(TRI_RUN_RUNNING, 0)));
    assert_true(isinf(tri_watch_silence(TRI_RUN_LEAVING, 1)));
    assert_true(tri_worker_lease_s == 60);
    assert_true(tri_worker_lease_s > 20 && tri_worker_lease_s < 90);
    assert_true(tri_worker_lease_s > 2 * silent_s);
    assert_false(study->timeouts.progress_s > 0); /* auto: 30 s at least */
    tri_study_destroy(study);
}

static void the_named_one(void **state)
{
    static const int32_t ranks[] = {3, 5, 8};

    (void)state;
    /* all wait for 8, and beat */
    assert_int_equal(
            tri_watch_most_silent(ranks, (double[]){0.2, 0.9, 31}, 3, 8), 8);
    /* the leader named 5, which waited for 8 itself */
    assert_int_equal(
            tri_watch_most_silent(ranks, (double[]){0.2, 0.9, 31}, 3, 5), 8);
    /* two that hang: the one that was named is as bad */
    assert_int_equal(
            tri_watch_most_silent(ranks, (double[]){0.2, 30, 31}, 3, 5), 5);
    /* nobody is silent: the leader's word */
    assert_int_equal(
            tri_watch_most_silent(ranks, (double[]){0.2, 0.9, 1.1}, 3, 5), 5);
    assert_int_equal(tri_watch_most_silent(ranks, (double[]){0}, 0, 5), 5);
    /* a collective does not tell whom it waits for */
    assert_int_equal(
            tri_watch_most_silent(ranks, (double[]){0.2, 9, 0.5}, 3, -1), 5);
    assert_int_equal(
            tri_watch_most_silent(ranks, (double[]){0.2, 0.9, 1.1}, 3, -1), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(limits_by_default),
            cmocka_unit_test(the_named_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

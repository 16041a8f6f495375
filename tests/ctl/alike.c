/*
 * Failures that are all alike end a study early; what else fails does not.
 */
#include "tests/ctl/world.h"

#include <math.h>
#include <string.h>

#define STUDY(kind)                                                            \
    "study: t\nmodel: " kind "\n"                                              \
    "space: {x: {int: [0, 99]}}\n"                                             \
    "objective: {maximize: tokens_per_s}\n"                                    \
    "baseline: {x: 50}\n"                                                      \
    "resource: {min: 1, max: 9, eta: 3}\n"                                     \
    "budget: {trials: 40}\nfinals: none\n"

static const char process[] = STUDY("{kind: process, command: [train]}");

static void begin(world *w, const char *study, int ranks)
{
    world_init(w, study);
    w->sentence = "No module named 'foo'";
    world_begin(w, ranks, 2);
}

static void fail_next(world *w, tri_reason reason)
{
    int64_t run = w->runs[0].run;

    for (int i = 1; i < w->n_runs; i++) {
        run = w->runs[i].run < run ? w->runs[i].run : run;
    }
    world_failed(w, run, reason);
}

static int64_t runs(const world *w)
{
    tri_progress p;

    tri_ctl_progress(w->ctl, &p);
    return p.runs;
}

static void eight_alike_end_it(void **state)
{
    world w;

    (void)state;
    begin(&w, process, 1);
    for (int i = 0; i < 7; i++) {
        fail_next(&w, TRI_REASON_IMPORT_ERROR);
        assert_false(w.ended);
    }
    fail_next(&w, TRI_REASON_IMPORT_ERROR);
    assert_true(w.ended);
    assert_int_equal(w.status, 2);
    assert_true(w.resumable);
    assert_string_equal(w.why, "given up: 8 runs of 8 trials failed alike, "
                               "and none finished: import-error: No module "
                               "named 'foo'");
    world_retell(&w);
    world_fini(&w);
}

/* A class that is retried takes two runs of each trial. */
static void retried_ones_are_runs(void **state)
{
    static const char *const said[] = {"rank 0 at step 7: 0x7fa0 in tmp8xq",
                                       "rank 13 at step 9: 0x1c in tmp_1"};
    world w;

    (void)state;
    begin(&w, process, 1);
    for (int i = 0; i < 8; i++) {
        assert_false(w.ended);
        w.sentence = said[i % 2]; /* they differ in numbers only */
        fail_next(&w, TRI_REASON_BAD_EXIT);
    }
    assert_true(w.ended);
    assert_non_null(strstr(w.why, "8 runs of 4 trials"));
    world_fini(&w);
}

static void others_do_not(void **state)
{
    static const tri_reason reasons[] = {TRI_REASON_OOM_HOST, TRI_REASON_NAN,
                                         TRI_REASON_DIVERGED};
    world w;

    (void)state;
    for (int k = 0; k < 3; k++) { /* the configuration's doing */
        begin(&w, process, 1);
        for (int i = 0; i < 30; i++) {
            fail_next(&w, reasons[k]);
        }
        assert_false(w.ended);
        world_fini(&w);
    }
    begin(&w, process, 1); /* other words, other causes */
    for (int i = 0; i < 30; i++) {
        w.sentence = i % 7 ? "one" : "another";
        fail_next(&w, TRI_REASON_IMPORT_ERROR);
    }
    assert_false(w.ended);
    world_fini(&w);
    begin(&w, STUDY("{kind: synthetic}"), 1); /* not a user's program */
    for (int i = 0; i < 20; i++) {
        fail_next(&w, TRI_REASON_BAD_EXIT);
    }
    assert_false(w.ended);
    world_fini(&w);
}

static void one_result_is_enough(void **state)
{
    world w;

    (void)state;
    begin(&w, process, 1);
    world_run(&w, 0, 10);
    for (int i = 0; i < 20; i++) {
        fail_next(&w, TRI_REASON_IMPORT_ERROR);
    }
    assert_false(w.ended);
    world_fini(&w);
}

/* Those that began before the first failure may do better; what began later
 * is waited for, and decides. */
static void the_first_of_all_groups_count(void **state)
{
    world w;

    (void)state;
    begin(&w, process, 12);
    for (int i = 0; i < 11; i++) {
        fail_next(&w, TRI_REASON_IMPORT_ERROR);
    }
    assert_int_equal(runs(&w), 23);
    fail_next(&w, TRI_REASON_IMPORT_ERROR); /* the last of the first */
    assert_int_equal(runs(&w), 23);
    assert_false(w.ended);
    world_run(&w, w.runs[0].run, 10);
    assert_true(runs(&w) > 23); /* so it goes on */
    world_retell(&w);
    world_fini(&w);

    begin(&w, process, 12);
    for (int i = 0; i < 23; i++) {
        assert_false(w.ended);
        fail_next(&w, TRI_REASON_IMPORT_ERROR);
    }
    assert_true(w.ended);
    assert_non_null(strstr(w.why, "23 runs of 23 trials"));
    world_fini(&w);
}

/* What was wrong is mended: all is measured again, the baseline too. */
static void the_next_opening_begins_again(void **state)
{
    world w;
    tri_trial_view t;

    (void)state;
    begin(&w, process, 1);
    w.machine_class = "";
    while (!w.ended) {
        fail_next(&w, TRI_REASON_IMPORT_ERROR);
    }
    world_begin(&w, 1, 1);
    assert_int_equal(world_command(&w, TRI_CMD_ASSIGN, 0)->u.assign.trial, 0);
    for (int i = 0; i < 8; i++) {
        tri_ctl_trial(w.ctl, i, &t);
        assert_int_equal(t.state, TRI_TRIAL_RUNNING);
    }
    world_run(&w, w.runs[0].run, 10);
    tri_ctl_trial(w.ctl, 0, &t);
    assert_true(t.objective > 0);
    world_retell(&w);
    world_fini(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(eight_alike_end_it),
            cmocka_unit_test(retried_ones_are_runs),
            cmocka_unit_test(others_do_not),
            cmocka_unit_test(one_result_is_enough),
            cmocka_unit_test(the_first_of_all_groups_count),
            cmocka_unit_test(the_next_opening_begins_again)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

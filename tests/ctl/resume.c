/*
 * Later openings: what was in flight, who is blamed, other numbers of ranks,
 * studies that are done, and edits.
 */
#include "tests/ctl/world.h"

#include <math.h>
#include <string.h>

#define STUDY(lo, hi, min, trials)                                             \
    "study: t\nmodel: {kind: synthetic}\n"                                     \
    "space: {x: {int: [" #lo ", " #hi "]}, g: {choice: [1, 2, 4]}}\n"          \
    "constraints: [x + g > 0]\nranks: g\n"                                     \
    "objective: {minimize: loss}\nresource: {min: " #min ", max: 9, eta: 3}\n" \
    "budget: {trials: " #trials "}\nfinals: none\n"

static const char study[] = STUDY(0, 99, 1, 6);
static const char more[] = STUDY(0, 199, 1, 8);
static const char other[] = STUDY(0, 99, 3, 6);

static const char small[] = "study: t\nmodel: {kind: synthetic}\n"
                            "space: {x: {int: [0, 99]}}\n"
                            "objective: {minimize: loss}\n"
                            "resource: {min: 1, max: 9, eta: 3}\n"
                            "budget: {trials: 4}\nfinals: none\n";

static const tri_cmd_assign *assigned(const world *w, int n)
{
    const tri_command *c = world_command(w, TRI_CMD_ASSIGN, n);

    assert_non_null(c);
    return &c->u.assign;
}

static tri_trial_view trial(const world *w, int64_t number)
{
    tri_trial_view t;

    tri_ctl_trial(w->ctl, number, &t);
    return t;
}

static void alone_at_a_killed_job(void **state)
{
    world w;
    tri_run_view v;

    (void)state;
    world_init(&w, small);
    world_begin(&w, 1, 1);
    world_formed(&w, 0);
    w.now = 9;
    world_report(&w, 0, 1);
    w.now = 11;
    world_begin(&w, 1, 1);
    tri_ctl_run(w.ctl, 0, &v);
    assert_int_equal(v.status, TRI_RUN_INTERRUPTED);
    assert_int_equal(v.reason, TRI_REASON_JOB_LOST);
    assert_true(v.end_s == 9); /* as far as is known */
    assert_int_equal(trial(&w, 0).suspicion, 1);
    assert_int_equal(assigned(&w, 0)->trial, 0);
    assert_int_equal(assigned(&w, 0)->attempt, 1);
    assert_int_equal(assigned(&w, 0)->epoch, 2);
    world_begin(&w, 1, 1); /* again */
    assert_int_equal(trial(&w, 0).state, TRI_TRIAL_FAILED);
    assert_int_equal(trial(&w, 0).reason, TRI_REASON_KILLED);
    assert_int_equal(assigned(&w, 0)->trial, 1);
    world_retell(&w);
    world_fini(&w);
}

static void several_witness_each_other(void **state)
{
    world w;

    (void)state;
    world_init(&w, small);
    world_begin(&w, 2, 2);
    world_begin(&w, 2, 2);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(trial(&w, i).suspicion, 0);
        assert_int_equal(assigned(&w, i)->trial, i);
        assert_int_equal(assigned(&w, i)->attempt, 1);
    }
    world_begin(&w, 1, 1); /* one starts, the other waits */
    assert_int_equal(assigned(&w, 0)->trial, 0);
    world_run(&w, 4, 1);
    world_paused(&w, 4, "");
    assert_int_equal(assigned(&w, 0)->trial, 1);
    world_fini(&w);
}

static void a_drain_blames_nobody(void **state)
{
    world w;

    (void)state;
    world_init(&w, small);
    for (int i = 0; i < 6; i++) { /* more often than attempts are counted */
        world_begin(&w, 1, 1);
        assert_int_equal(assigned(&w, 0)->trial, 0);
        assert_int_equal(assigned(&w, 0)->attempt, i);
        world_drain(&w, TRI_DRAIN_NOW);
        assert_true(w.ended);
    }
    assert_int_equal(trial(&w, 0).suspicion, 0);
    assert_true(trial(&w, 0).state != TRI_TRIAL_FAILED);
    world_retell(&w);
    world_fini(&w);
}

/* One that ends the job each time ends the study no less. */
static void a_drain_at_once_has_an_end(void **state)
{
    world w;

    (void)state;
    world_init(&w, small);
    for (int i = 0; i < 8; i++) {
        world_begin(&w, 1, 1);
        assert_int_equal(assigned(&w, 0)->trial, 0);
        world_drain(&w, TRI_DRAIN_NOW);
    }
    assert_int_equal(trial(&w, 0).state, TRI_TRIAL_FAILED);
    assert_int_equal(trial(&w, 0).reason, TRI_REASON_KILLED);
    world_begin(&w, 1, 1);
    assert_int_equal(assigned(&w, 0)->trial, 1);
    world_retell(&w);
    world_fini(&w);
}

/* Do what there is to do until the killer's run is under way or the search is
 * done.  Returns whether the killer runs. */
static int work_until_killed(world *w, int64_t killer)
{
    while (w->n_runs) {
        wrun *r = &w->runs[0];

        for (int i = 0; i < w->n_runs; i++) {
            if (w->runs[i].trial == killer) {
                return 1;
            }
        }
        if (r->state == WRUN_SAVING) {
            world_paused(w, r->run, "");
        } else {
            world_run(w, r->run, (double)r->trial);
        }
    }
    return 0;
}

/* Those that are in flight beside it each time are not given up with it. */
static void who_ends_the_job_is_found(void **state)
{
    const int64_t killer = 1;
    world w;
    int cuts = 0;

    (void)state;
    world_init(&w, small);
    for (world_begin(&w, 3, 3); work_until_killed(&w, killer); cuts++) {
        world_drain(&w, TRI_DRAIN_NOW);
        world_begin(&w, 3, 3);
    }
    assert_int_equal(cuts, 8);
    for (int64_t i = 0; i < tri_ctl_n_trials(w.ctl); i++) {
        assert_int_equal(trial(&w, i).state == TRI_TRIAL_FAILED, i == killer);
    }
    world_retell(&w);
    world_fini(&w);
}

/* USR1 and then TERM, as batch scripts send them, is no surprise. */
static void a_drain_in_order_is_not_counted(void **state)
{
    world w;

    (void)state;
    world_init(&w, small);
    for (int i = 0; i < 20; i++) {
        world_begin(&w, 2, 2);
        assert_int_equal(w.n_runs, 2);
        world_drain(&w, TRI_DRAIN_SIGNAL);
        world_drain(&w, TRI_DRAIN_NOW);
        assert_true(w.ended);
    }
    assert_true(trial(&w, 0).state != TRI_TRIAL_FAILED);
    assert_true(trial(&w, 1).state != TRI_TRIAL_FAILED);
    world_retell(&w);
    world_fini(&w);
}

/* The ranks that a trial needs are its own; fewer park it. */
static void fewer_ranks_park(void **state)
{
    world w;
    tri_progress p;
    int64_t large = -1;
    int finished = 0;

    (void)state;
    world_init(&w, study);
    world_begin(&w, 8, 8);
    for (int i = 0; i < tri_ctl_n_trials(w.ctl); i++) {
        large = trial(&w, i).ranks == 4 ? i : large;
    }
    assert_true(large >= 0);
    w.now = 1;
    world_begin(&w, 2, 2);
    assert_int_equal(trial(&w, large).state, TRI_TRIAL_PARKED);
    while (!w.ended) {
        assert_true(++finished < 100);
        if (w.runs[0].state == WRUN_SAVING) {
            world_paused(&w, w.runs[0].run, "c");
        } else {
            world_run(&w, w.runs[0].run, finished);
        }
    }
    assert_int_equal(w.status, 0);
    assert_non_null(strstr(w.why, "parked for want of ranks"));
    tri_ctl_progress(w.ctl, &p);
    assert_true(p.parked > 0);
    assert_int_equal(trial(&w, large).state, TRI_TRIAL_PARKED);
    world_retell(&w);
    world_fini(&w);
}

static void more_ranks_bring_back(void **state)
{
    world w;
    int64_t large = -1;

    (void)state;
    world_init(&w, study);
    world_begin(&w, 8, 8);
    for (int i = 0; i < tri_ctl_n_trials(w.ctl); i++) {
        large = trial(&w, i).ranks == 4 ? i : large;
    }
    world_begin(&w, 2, 2);
    assert_int_equal(trial(&w, large).state, TRI_TRIAL_PARKED);
    world_begin(&w, 8, 8);
    assert_int_not_equal(trial(&w, large).state, TRI_TRIAL_PARKED);
    world_fini(&w);
}

static void to_the_end(world *w)
{
    int n = 0;

    while (!w->ended) {
        assert_true(++n < 200);
        if (w->runs[0].state == WRUN_SAVING) {
            world_paused(w, w->runs[0].run, "c");
        } else {
            world_run(w, w->runs[0].run, (double)w->runs[0].trial);
        }
    }
}

/* What was parked when the study was done is no less of it: the ranks that it
 * wants take it up, once, and finals are held again. */
static void more_ranks_open_what_is_done(void **state)
{
    world w;
    tri_progress p;
    int64_t large = -1, runs;

    (void)state;
    world_init(&w, study);
    world_begin(&w, 8, 8);
    for (int i = 0; i < tri_ctl_n_trials(w.ctl); i++) {
        large = trial(&w, i).ranks == 4 ? i : large;
    }
    world_begin(&w, 2, 2);
    to_the_end(&w);
    assert_int_equal(w.status, 0);
    assert_false(w.resumable); /* a chain ends */
    assert_non_null(strstr(w.why, "--resume with more may go on"));
    assert_false(tri_ctl_may_go_on(w.ctl, 2, ""));
    assert_false(tri_ctl_may_go_on(w.ctl, 3, ""));
    assert_true(tri_ctl_may_go_on(w.ctl, 4, ""));
    runs = tri_ctl_n_runs(w.ctl);
    world_begin(&w, 2, 2); /* as many as before */
    assert_true(w.ended);
    assert_string_equal(w.why, "done already");
    assert_int_equal(tri_ctl_n_runs(w.ctl), runs);
    world_begin(&w, 4, 4);
    assert_false(w.ended);
    assert_int_equal(trial(&w, assigned(&w, 0)->trial).ranks, 4);
    to_the_end(&w);
    assert_int_equal(w.status, 0);
    assert_true(tri_ctl_n_runs(w.ctl) > runs);
    tri_ctl_progress(w.ctl, &p);
    assert_int_equal(p.parked, 0);
    assert_int_not_equal(trial(&w, large).state, TRI_TRIAL_PARKED);
    runs = tri_ctl_n_runs(w.ctl);
    world_begin(&w, 8, 8);
    assert_string_equal(w.why, "done already");
    assert_int_equal(tri_ctl_n_runs(w.ctl), runs);
    world_retell(&w);
    world_fini(&w);
}

/* So are configurations that nobody drew, as the ranks were too few. */
static void more_ranks_draw_larger_ones(void **state)
{
    static const char tiny[] = "study: t\nmodel: {kind: synthetic}\n"
                               "space: {g: {choice: [1, 2, 4]}}\nranks: g\n"
                               "objective: {minimize: loss}\n"
                               "resource: {min: 1, max: 9, eta: 3}\n"
                               "budget: {trials: 6}\nfinals: none\n";
    world w;

    (void)state;
    world_init(&w, tiny);
    world_begin(&w, 1, 1);
    to_the_end(&w);
    assert_int_equal(tri_ctl_n_trials(w.ctl), 1);
    world_begin(&w, 4, 4);
    assert_false(w.ended);
    to_the_end(&w);
    assert_int_equal(w.status, 0);
    assert_int_equal(tri_ctl_n_trials(w.ctl), 3);
    world_begin(&w, 8, 8);
    assert_string_equal(w.why, "done already");
    world_retell(&w);
    world_fini(&w);
}

static void done_already_unless_edited(void **state)
{
    world w;
    int64_t before;

    (void)state;
    world_init(&w, study);
    world_begin(&w, 4, 4);
    to_the_end(&w);
    assert_int_equal(w.status, 0);
    before = tri_ctl_n_runs(w.ctl);
    world_open(&w);
    world_pool(&w, 4, 4);
    assert_false(w.ended);
    world_clock(&w, 0);
    assert_true(w.ended);
    assert_int_equal(w.status, 0);
    assert_string_equal(w.why, "done already");
    world_open(&w);
    world_edit(&w, study); /* the same text changes nothing */
    world_pool(&w, 4, 4);
    world_clock(&w, 0);
    assert_string_equal(w.why, "done already");
    assert_int_equal(tri_ctl_n_runs(w.ctl), before);
    world_open(&w);
    world_edit(&w, more);
    world_pool(&w, 4, 4);
    world_clock(&w, 0);
    assert_false(w.ended);
    to_the_end(&w);
    assert_int_equal(tri_ctl_n_trials(w.ctl), 8);
    world_retell(&w);
    world_fini(&w);
}

static void frozen_keys_are_named(void **state)
{
    world w;
    tri_commands out;
    tri_event e = {.kind = TRI_EV_EDITED,
                   .u.edited = {.study_text = {other, sizeof other - 1}}};

    (void)state;
    world_init(&w, study);
    world_open(&w);
    assert_int_equal(tri_ctl_feed(w.ctl, &e, &out), TRI_EINVAL);
    assert_non_null(strstr(tri_error_last()->sentence, "resource.min"));
    assert_int_equal(tri_ctl_study(w.ctl)->resource.min, 1);
    world_pool(&w, 1, 1); /* and all is as it was */
    world_clock(&w, 0);
    assert_int_equal(world_count(&w, TRI_CMD_ASSIGN), 1);
    world_fini(&w);
}

static void nothing_fits_names_the_nearest(void **state)
{
    static const char text[] = "study: t\nmodel: {kind: synthetic}\n"
                               "space: {g: {choice: [3, 6]}}\nranks: g\n"
                               "objective: {minimize: loss}\nfinals: none\n";
    world w;

    (void)state;
    world_init(&w, text);
    world_begin(&w, 2, 2);
    assert_true(w.ended);
    assert_int_equal(w.status, 2);
    assert_string_equal(w.why, "no configuration fits: the smallest needs 3 "
                               "ranks, the pool has 2");
    world_begin(&w, 3, 3); /* not for ever */
    assert_int_equal(world_count(&w, TRI_CMD_ASSIGN), 1);
    world_fini(&w);
}

static void a_small_space_is_tried_to_the_last(void **state)
{
    static const char text[] = "study: t\nmodel: {kind: synthetic}\n"
                               "space: {x: {int: [1, 7]}, y: {int: [1, 7]}}\n"
                               "constraints: [x * y == 12 or x == y]\n"
                               "objective: {minimize: loss}\n"
                               "resource: {min: 1, max: 1}\nfinals: none\n";
    world w;
    int n = 0;

    (void)state;
    world_init(&w, text);
    world_begin(&w, 2, 2);
    while (!w.ended) {
        assert_true(++n < 50);
        world_run(&w, w.runs[0].run, n);
    }
    assert_int_equal(tri_ctl_n_trials(w.ctl), 11); /* 7, 2*6, 3*4 and back */
    assert_int_equal(w.status, 0);
    world_fini(&w);
}

static void killed_in_the_middle_of_a_drain(void **state)
{
    world w;
    tri_run_view v;

    (void)state;
    world_init(&w, small);
    world_begin(&w, 1, 1);
    world_drain(&w, TRI_DRAIN_SIGNAL);
    world_begin(&w, 1, 1);
    tri_ctl_run(w.ctl, 0, &v);
    assert_int_equal(v.reason, TRI_REASON_DRAINED);
    assert_int_equal(trial(&w, 0).suspicion, 0);
    world_fini(&w);
}

static void killed_jobs_use_up_attempts(void **state)
{
    world w;

    (void)state;
    world_init(&w, small);
    for (int i = 0; i < 4; i++) {
        world_begin(&w, 2, 2);
        assert_int_equal(assigned(&w, 0)->trial, 0);
    }
    world_begin(&w, 2, 2);
    assert_int_equal(trial(&w, 0).reason, TRI_REASON_KILLED);
    assert_int_equal(assigned(&w, 0)->trial, 2);
    world_fini(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(alone_at_a_killed_job),
            cmocka_unit_test(several_witness_each_other),
            cmocka_unit_test(a_drain_blames_nobody),
            cmocka_unit_test(a_drain_at_once_has_an_end),
            cmocka_unit_test(who_ends_the_job_is_found),
            cmocka_unit_test(a_drain_in_order_is_not_counted),
            cmocka_unit_test(fewer_ranks_park),
            cmocka_unit_test(more_ranks_open_what_is_done),
            cmocka_unit_test(more_ranks_draw_larger_ones),
            cmocka_unit_test(more_ranks_bring_back),
            cmocka_unit_test(done_already_unless_edited),
            cmocka_unit_test(frozen_keys_are_named),
            cmocka_unit_test(nothing_fits_names_the_nearest),
            cmocka_unit_test(a_small_space_is_tried_to_the_last),
            cmocka_unit_test(killed_in_the_middle_of_a_drain),
            cmocka_unit_test(killed_jobs_use_up_attempts)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

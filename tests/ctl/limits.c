/*
 * Time: limits of runs, gaps, budgets, deadlines, drains.
 */
#include "tests/ctl/world.h"

#include <math.h>
#include <string.h>

#define HEAD                                                                   \
    "study: t\nmodel: {kind: synthetic}\nspace: {x: {int: [0, 99]}}\n"         \
    "objective: {minimize: loss}\nresource: {min: 1, max: 9, eta: 3}\n"

static const char plain[] = HEAD "budget: {trials: 50}\nfinals: none\n";
static const char timed[] = HEAD "budget: {time: 100 s}\n"
                                 "finals: {top: 1, repeats: 2}\n";
static const char timed_alone[] = HEAD "budget: {time: 100 s}\nfinals: none\n";

static const tri_cmd_verdict *verdict(const world *w, int n)
{
    const tri_command *c = world_command(w, TRI_CMD_VERDICT, n);

    assert_non_null(c);
    return &c->u.verdict;
}

static tri_run_view run(const world *w, int64_t number)
{
    tri_run_view v;

    tri_ctl_run(w->ctl, number, &v);
    return v;
}

static double next(const world *w)
{
    return tri_ctl_next_deadline(w->ctl);
}

static void at(world *w, double s)
{
    w->now = s;
    world_clock(w, 0);
}

static void no_first_report_in_time(void **state)
{
    world w;

    (void)state;
    world_init(&w, plain);
    world_begin(&w, 2, 2);
    assert_true(next(&w) == 60);
    world_formed(&w, 0);
    world_formed(&w, 1);
    assert_true(next(&w) == 60); /* forming is a part of starting */
    world_report(&w, 1, 0.1);
    at(&w, 29);
    assert_int_equal(w.last.n, 0);
    world_report(&w, 1, 0.1);
    at(&w, 58);
    world_report(&w, 1, 0.1);
    at(&w, 60);
    assert_int_equal(w.last.n, 1);
    assert_int_equal(verdict(&w, 0)->verdict, TRI_VERDICT_STOP);
    assert_int_equal(verdict(&w, 0)->run, 0);
    assert_int_equal(verdict(&w, 0)->drain, 0);
    assert_true(next(&w) == 75); /* grace and five seconds */
    at(&w, 75);                  /* no answer: never again */
    assert_int_equal(world_count(&w, TRI_CMD_STRIKE), 1);
    assert_int_equal(world_command(&w, TRI_CMD_STRIKE, 0)->u.strike.rank, 1);
    assert_int_equal(run(&w, 0).status, TRI_RUN_FAILED);
    assert_int_equal(run(&w, 0).reason, TRI_REASON_HUNG);
    assert_string_equal(run(&w, 0).outcome.sentence,
                        "nothing was reported in 60 s (timeouts.startup)");
    assert_int_equal(world_count(&w, TRI_CMD_ASSIGN), 0);
    world_rank(&w, 1, TRI_RANK_UP); /* not re-admitted */
    w.up[1] = 0;
    assert_int_equal(w.last.n, 0);
    world_finished(&w, 1, 5);
    world_paused(&w, 1, "c");
    assert_int_equal(world_command(&w, TRI_CMD_ASSIGN, 0)->u.assign.trial, 0);
    assert_int_equal(world_command(&w, TRI_CMD_ASSIGN, 0)->u.assign.ranks[0],
                     2);
    world_fini(&w);
}

static void an_answer_in_time_saves_the_ranks(void **state)
{
    world w;

    (void)state;
    world_init(&w, plain);
    world_begin(&w, 1, 1);
    world_formed(&w, 0);
    at(&w, 60);
    w.now = 70;
    world_interrupted(&w, 0, "");
    assert_int_equal(run(&w, 0).status, TRI_RUN_FAILED);
    assert_int_equal(run(&w, 0).reason, TRI_REASON_HUNG);
    assert_string_equal(run(&w, 0).outcome.sentence,
                        "nothing was reported in 60 s (timeouts.startup)");
    assert_int_equal(world_count(&w, TRI_CMD_STRIKE), 0);
    assert_int_equal(world_command(&w, TRI_CMD_ASSIGN, 0)->u.assign.attempt, 1);
    world_formed(&w, 1);
    at(&w, 130);
    world_finished(&w, 1, 3); /* it was slow, but it has a result */
    assert_int_equal(run(&w, 1).status, TRI_RUN_FINISHED);
    assert_int_equal(world_count(&w, TRI_CMD_VERDICT), 0);
    assert_int_equal(world_command(&w, TRI_CMD_ASSIGN, 0)->u.assign.trial, 1);
    world_fini(&w);
}

/* What has the trial's processes, and what comes together, is never in the
 * trial's hands: a leader that does not answer is lost, and it alone. */
static void a_silent_leader_is_lost(void **state)
{
    static const char process[] =
            "study: t\nmodel: {kind: process, command: [train]}\n"
            "space: {x: {int: [0, 99]}}\nranks: 2\n"
            "objective: {minimize: loss}\nresource: {min: 1, max: 9, eta: 3}\n"
            "budget: {trials: 50}\nfinals: none\n";

    (void)state;
    for (int formed = 0; formed < 2; formed++) {
        world w;

        world_init(&w, process);
        world_begin(&w, 3, 3);
        if (formed) {
            world_formed(&w, 0);
        }
        at(&w, formed ? 60 : 75); /* another may have to end before it forms */
        assert_int_equal(verdict(&w, 0)->verdict, TRI_VERDICT_STOP);
        at(&w, formed ? 75 : 90);
        assert_int_equal(world_count(&w, TRI_CMD_STRIKE), 1);
        assert_int_equal(world_command(&w, TRI_CMD_STRIKE, 0)->u.strike.rank,
                         1);
        assert_int_equal(run(&w, 0).status, TRI_RUN_LOST);
        assert_int_equal(run(&w, 0).reason, TRI_REASON_RANK_LOST);
        assert_string_equal(run(&w, 0).outcome.sentence,
                            "rank 1, its leader, did not answer");
        /* its member goes on, with another */
        assert_int_equal(
                world_command(&w, TRI_CMD_ASSIGN, 0)->u.assign.ranks[0], 2);
        world_retell(&w);
        world_fini(&w);
    }
}

/* So is one that dies when its run has a result, which stands. */
static void a_leader_dies_at_the_end(void **state)
{
    static const char process[] =
            "study: t\nmodel: {kind: process, command: [train],\n"
            "  resume: checkpoint}\n"
            "space: {x: {int: [0, 99]}}\nranks: 2\n"
            "objective: {minimize: loss}\nresource: {min: 1, max: 9, eta: 3}\n"
            "budget: {trials: 50}\nfinals: none\n";
    world w;

    (void)state;
    world_init(&w, process);
    world_begin(&w, 3, 3);
    world_formed(&w, 0);
    world_finished(&w, 0, 1);
    assert_int_equal(verdict(&w, 0)->save, 1);
    at(&w, 500);
    assert_int_equal(world_count(&w, TRI_CMD_STRIKE), 1);
    assert_int_equal(world_command(&w, TRI_CMD_STRIKE, 0)->u.strike.rank, 1);
    assert_int_equal(run(&w, 0).status, TRI_RUN_FINISHED);
    assert_int_equal(world_command(&w, TRI_CMD_ASSIGN, 0)->u.assign.ranks[0],
                     2);
    world_retell(&w);
    world_fini(&w);
}

static void progress_follows_the_slowest_step(void **state)
{
    world w;

    (void)state;
    world_init(&w, plain);
    world_begin(&w, 1, 1);
    world_formed(&w, 0);
    w.now = 10;
    world_report(&w, 0, 2);
    assert_true(next(&w) == 40); /* at least 30 */
    w.now = 30;
    world_report(&w, 0, 12);
    assert_true(next(&w) == 90); /* five times the slowest */
    w.now = 31;
    world_report(&w, 0, 1);
    assert_true(next(&w) == 91);
    at(&w, 91);
    assert_string_equal(run(&w, 0).outcome.sentence,
                        "no step beyond 1 in 60 s (timeouts.progress: auto)");
    world_fini(&w);
}

static void gaps_shift_limits(void **state)
{
    world w;

    (void)state;
    world_init(&w, plain);
    world_begin(&w, 1, 1);
    w.now = 70;
    world_clock(&w, 20); /* the driver itself stood still */
    assert_int_equal(w.last.n, 0);
    assert_true(next(&w) == 80);
    w.now = 75;
    world_clock(&w, 0.5);
    assert_true(next(&w) == 80);
    at(&w, 80);
    assert_int_equal(verdict(&w, 0)->verdict, TRI_VERDICT_STOP);
    assert_string_equal(run(&w, 0).outcome.sentence,
                        "its ranks did not come together in 60 s "
                        "(timeouts.startup)");
    world_fini(&w);
}

/* Rank 0 was stopped for longer than its workers wait for it: the study's time
 * is not used up, and it can be resumed. */
static void gaps_are_no_time_of_the_study(void **state)
{
    world w;

    (void)state;
    world_init(&w, timed_alone);
    world_begin(&w, 1, 1);
    world_formed(&w, 0);
    assert_true(tri_ctl_next_deadline(w.ctl) <= 100);
    w.now = 150;
    world_clock(&w, 145);
    assert_int_equal(world_count(&w, TRI_CMD_VERDICT), 0);
    w.now = 151;
    world_lost(&w, 0, TRI_REASON_RANK_LOST, 1, 1);
    assert_true(w.ended);
    assert_int_equal(w.status, 3);
    assert_true(w.resumable);
    world_retell(&w);
    world_fini(&w);
}

static void virtual_time_judges_no_run(void **state)
{
    world w;

    (void)state;
    world_init(&w, timed_alone);
    w.may_be_quiet = 1;
    world_begin(&w, 1, 1);
    assert_true(next(&w) == 100); /* the budget only */
    world_formed(&w, 0);
    world_report(&w, 0, 1000);
    assert_true(next(&w) == 100);
    world_fini(&w);
}

static void the_deadline_drains(void **state)
{
    world w;

    (void)state;
    world_init(&w, plain);
    w.deadline_s = 50;
    world_begin(&w, 2, 2);
    world_formed(&w, 0);
    assert_true(next(&w) == 35);
    at(&w, 35);
    assert_int_equal(world_count(&w, TRI_CMD_VERDICT), 2);
    assert_int_equal(verdict(&w, 0)->verdict, TRI_VERDICT_STOP);
    assert_int_equal(verdict(&w, 0)->drain, 1);
    assert_true(next(&w) == 50);
    world_interrupted(&w, 0, "mid");
    assert_int_equal(w.last.n, 0);
    world_interrupted(&w, 1, "");
    assert_true(w.ended);
    assert_int_equal(w.status, 3);
    assert_true(w.resumable);
    assert_int_equal(run(&w, 0).status, TRI_RUN_INTERRUPTED);
    assert_int_equal(run(&w, 0).reason, TRI_REASON_DRAINED);
    assert_true(isinf(next(&w)));
    w.deadline_s = NAN;
    world_begin(&w, 1, 1); /* resumed: from the checkpoint */
    assert_int_equal(world_command(&w, TRI_CMD_ASSIGN, 0)->u.assign.trial, 0);
    assert_int_equal(world_command(&w, TRI_CMD_ASSIGN, 0)->u.assign.attempt, 1);
    assert_string_equal(
            world_command(&w, TRI_CMD_ASSIGN, 0)->u.assign.checkpoint, "mid");
    world_retell(&w);
    world_fini(&w);
}

static void a_drain_without_answers_ends(void **state)
{
    world w;
    tri_trial_view t;

    (void)state;
    world_init(&w, plain);
    world_begin(&w, 2, 2);
    world_formed(&w, 0);
    world_formed(&w, 1);
    world_report(&w, 1, 0.1);
    w.now = 5;
    world_drain(&w, TRI_DRAIN_SIGNAL);
    assert_int_equal(world_count(&w, TRI_CMD_VERDICT), 2);
    world_interrupted(&w, 0, "");
    assert_true(next(&w) == 20);
    at(&w, 20);
    assert_true(w.ended);
    assert_int_equal(w.status, 3);
    assert_string_equal(w.why, "drained for a signal");
    assert_int_equal(run(&w, 1).status, TRI_RUN_INTERRUPTED);
    assert_int_equal(run(&w, 1).outcome.steps_done, 1); /* by its reports */
    tri_ctl_trial(w.ctl, 1, &t);
    assert_int_equal(t.suspicion, 0);
    assert_int_equal(t.state, TRI_TRIAL_RUNNING); /* it waits to go on */
    world_fini(&w);
}

static void a_second_signal_ends_at_once(void **state)
{
    world w;

    (void)state;
    world_init(&w, plain);
    world_begin(&w, 2, 2);
    world_drain(&w, TRI_DRAIN_SIGNAL);
    assert_false(w.ended);
    world_drain(&w, TRI_DRAIN_SIGNAL);
    assert_false(w.ended);
    world_drain(&w, TRI_DRAIN_NOW);
    assert_true(w.ended);
    assert_int_equal(w.status, 3);
    world_drain(&w, TRI_DRAIN_NOW); /* nothing more */
    assert_int_equal(w.last.n, 0);
    world_fini(&w);
}

static void what_cannot_end_is_not_started(void **state)
{
    world w;

    (void)state;
    world_init(&w, plain);
    w.deadline_s = 45; /* drains at 30 */
    world_begin(&w, 1, 1);
    world_formed(&w, 0);
    w.now = 20;
    world_finished(&w, 0, 1); /* 20 seconds a unit: none fits any more */
    world_paused(&w, 0, "c");
    assert_true(w.ended);
    assert_int_equal(w.status, 3);
    assert_true(w.resumable);
    assert_int_equal(tri_ctl_n_trials(w.ctl), 1);
    world_fini(&w);
}

static void the_budget_stops_the_search(void **state)
{
    world w;
    tri_progress p;

    (void)state;
    world_init(&w, timed_alone);
    world_begin(&w, 2, 2);
    world_formed(&w, 0);
    world_report(&w, 0, 1);
    w.now = 59;
    world_report(&w, 0, 20);
    world_formed(&w, 1);
    world_finished(&w, 1, 3);
    world_paused(&w, 1, "c");
    assert_int_equal(world_count(&w, TRI_CMD_ASSIGN), 0); /* 59 s more */
    assert_true(next(&w) == 100);
    at(&w, 100);
    assert_int_equal(verdict(&w, 0)->verdict, TRI_VERDICT_STOP);
    assert_int_equal(verdict(&w, 0)->drain, 0);
    world_interrupted(&w, 0, "mid");
    assert_int_equal(run(&w, 0).status, TRI_RUN_STOPPED);
    assert_int_equal(run(&w, 0).reason, TRI_REASON_BUDGET);
    assert_true(w.ended);
    assert_int_equal(w.status, 0);
    tri_ctl_progress(w.ctl, &p);
    assert_int_equal(p.failed, 0);
    assert_int_equal(p.best_trial, 1);
    assert_null(strstr(w.why, "nothing was added"));
    world_open(&w); /* more trials, and no time for them */
    world_edit(&w, HEAD "budget: {trials: 70, time: 100 s}\nfinals: none\n");
    world_pool(&w, 2, 2);
    world_clock(&w, 0);
    assert_true(w.ended);
    assert_non_null(strstr(w.why, "nothing was added: budget.time (100 s)"));
    world_fini(&w);
}

/* A step of 20 seconds is under way when the time is over: the ranks are good,
 * and have until the progress limit to come to its end. */
/* A start that stood still for longer than the budget: a resume has all of
 * it. */
static void time_that_came_to_nothing(void **state)
{
    world w;

    (void)state;
    world_init(&w, timed_alone);
    world_open(&w);
    w.now = 130;
    world_pool(&w, 1, 1);
    world_clock(&w, 0);
    assert_true(w.ended);
    assert_int_equal(w.status, 3);
    assert_true(w.resumable);
    assert_non_null(strstr(w.why, "before any run finished"));
    w.now = 140;
    world_begin(&w, 1, 1);
    assert_false(w.ended);
    world_formed(&w, 0);
    world_report(&w, 0, 1);
    w.now = 200; /* past what the first start left */
    world_report(&w, 0, 20);
    assert_int_equal(world_count(&w, TRI_CMD_VERDICT), 0);
    at(&w, 240);
    assert_int_equal(verdict(&w, 0)->verdict, TRI_VERDICT_STOP);
    world_retell(&w);
    world_fini(&w);
}

static void a_long_step_may_end(void **state)
{
    world w;

    (void)state;
    world_init(&w, timed_alone);
    world_begin(&w, 1, 1);
    world_formed(&w, 0);
    world_report(&w, 0, 1);
    w.now = 95;
    world_report(&w, 0, 20);
    at(&w, 100);
    assert_int_equal(verdict(&w, 0)->verdict, TRI_VERDICT_STOP);
    assert_true(next(&w) == 95 + 5 * 20 + 15);
    w.now = 119;
    world_interrupted(&w, 0, "mid");
    assert_int_equal(run(&w, 0).status, TRI_RUN_STOPPED);
    assert_int_equal(world_count(&w, TRI_CMD_STRIKE), 0);
    assert_true(w.ended);
    world_fini(&w);
}

/* Too little of --max-time for one run: nothing was found infeasible. */
static void less_time_than_a_run(void **state)
{
    world w;

    (void)state;
    world_init(&w, plain);
    w.max_time_s = 3;
    world_begin(&w, 1, 1);
    world_formed(&w, 0);
    at(&w, next(&w));
    assert_int_equal(verdict(&w, 0)->verdict, TRI_VERDICT_STOP);
    assert_int_equal(verdict(&w, 0)->save, 1);
    world_interrupted(&w, 0, "half way");
    assert_true(w.ended);
    assert_int_equal(w.status, 0);
    assert_true(w.resumable);
    w.max_time_s = NAN;
    world_begin(&w, 1, 1);
    assert_false(w.ended);
    assert_int_equal(world_count(&w, TRI_CMD_ASSIGN), 1);
    assert_string_equal(
            world_command(&w, TRI_CMD_ASSIGN, 0)->u.assign.checkpoint,
            "half way");
    world_fini(&w);
}

/* 25 seconds a unit: from 75 on there is no time for a run of three units, but
 * for one of one. */
static void what_is_shorter_may_still_start(void **state)
{
    static const char text[] = HEAD "budget: {time: 100 s}\nfinals: none\n"
                                    "checkpoints: {policy: never}\n";
    world w;

    (void)state;
    world_init(&w, text);
    world_begin(&w, 1, 1);
    for (int i = 0; i < 3; i++) {
        world_formed(&w, i);
        w.now += 25;
        world_finished(&w, i, 3 - i);
    }
    assert_int_equal(verdict(&w, 0)->verdict, TRI_VERDICT_RELEASE);
    assert_int_equal(world_command(&w, TRI_CMD_ASSIGN, 0)->u.assign.trial, 3);
    assert_int_equal(world_command(&w, TRI_CMD_ASSIGN, 0)->u.assign.rung, 0);
    world_formed(&w, 3);
    w.now = 99;
    world_finished(&w, 3, 1);
    assert_true(w.ended);
    assert_int_equal(w.status, 0);
    world_begin(&w, 1, 1);
    assert_string_equal(w.why, "done already");
    world_retell(&w);
    world_fini(&w);
}

static void time_is_kept_for_the_finals(void **state)
{
    world w;
    tri_progress p;

    (void)state;
    world_init(&w, timed);
    world_begin(&w, 1, 1);
    tri_ctl_progress(w.ctl, &p);
    assert_true(p.search_end_s == 85); /* at least 15 % */
    world_formed(&w, 0);
    w.now = 1.5;
    world_finished(&w, 0, 1);
    tri_ctl_progress(w.ctl, &p);
    assert_true(fabs(p.search_end_s - (100 - 2 * 9 * 1.5)) < 1e-9);
    world_paused(&w, 0, "c");
    world_formed(&w, 1);
    w.now = 7.5;
    world_finished(&w, 1, 0);
    tri_ctl_progress(w.ctl, &p);
    assert_true(p.search_end_s == 60); /* 108 s wanted: at most 40 % */
    w.max_time_s = 50;
    w.now = 10;
    world_open(&w);
    tri_ctl_progress(w.ctl, &p);
    assert_true(p.search_end_s == 40); /* 10 + 60 % of 50 */
    world_fini(&w);
}

static void gaps_shift_a_drain(void **state)
{
    world w;

    (void)state;
    world_init(&w, plain);
    world_begin(&w, 1, 1);
    w.now = 5;
    world_drain(&w, TRI_DRAIN_USER);
    w.now = 22;
    world_clock(&w, 10);
    assert_false(w.ended);
    assert_true(next(&w) == 30);
    at(&w, 30);
    assert_true(w.ended);
    assert_string_equal(w.why, "drained at the user's wish");
    world_fini(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(no_first_report_in_time),
            cmocka_unit_test(an_answer_in_time_saves_the_ranks),
            cmocka_unit_test(a_silent_leader_is_lost),
            cmocka_unit_test(a_leader_dies_at_the_end),
            cmocka_unit_test(progress_follows_the_slowest_step),
            cmocka_unit_test(gaps_shift_limits),
            cmocka_unit_test(gaps_are_no_time_of_the_study),
            cmocka_unit_test(virtual_time_judges_no_run),
            cmocka_unit_test(the_deadline_drains),
            cmocka_unit_test(a_drain_without_answers_ends),
            cmocka_unit_test(a_second_signal_ends_at_once),
            cmocka_unit_test(what_cannot_end_is_not_started),
            cmocka_unit_test(the_budget_stops_the_search),
            cmocka_unit_test(time_that_came_to_nothing),
            cmocka_unit_test(a_long_step_may_end),
            cmocka_unit_test(less_time_than_a_run),
            cmocka_unit_test(what_is_shorter_may_still_start),
            cmocka_unit_test(time_is_kept_for_the_finals),
            cmocka_unit_test(gaps_shift_a_drain)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

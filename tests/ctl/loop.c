/*
 * The loop from open to end: what is assigned, formed, gone on with, released
 * and ended; what is ignored; what is refused.
 */
#include "tests/ctl/world.h"

#include <math.h>
#include <string.h>

static const char learned[] = "study: t\n"
                              "model: {kind: synthetic}\n"
                              "space: {x: {int: [0, 99]}}\n"
                              "objective: {minimize: loss}\n"
                              "resource: {min: 1, max: 9, eta: 3}\n"
                              "budget: {trials: 9}\n"
                              "finals: none\n";

static const char rate[] = "study: t\n"
                           "model: {kind: process, command: [train]}\n"
                           "space: {x: {int: [0, 99]}}\n"
                           "objective: {maximize: tokens_per_s}\n"
                           "resource: {min: 1, max: 9, eta: 3}\n"
                           "budget: {trials: 3}\n"
                           "finals: none\n";

static int64_t assigned(const world *w, int n)
{
    const tri_command *c = world_command(w, TRI_CMD_ASSIGN, n);

    assert_non_null(c);
    return c->u.assign.run;
}

static const tri_cmd_verdict *verdict(const world *w)
{
    const tri_command *c = world_command(w, TRI_CMD_VERDICT, 0);

    assert_non_null(c);
    return &c->u.verdict;
}

static void nothing_before_the_first_other_event(void **state)
{
    world w;

    (void)state;
    world_init(&w, learned);
    world_open(&w);
    assert_int_equal(w.last.n, 0);
    assert_true(isinf(tri_ctl_next_deadline(w.ctl)));
    world_pool(&w, 4, 4);
    assert_int_equal(w.last.n, 0);
    world_clock(&w, 0);
    assert_int_equal(world_count(&w, TRI_CMD_ASSIGN), 4);
    assert_int_equal(tri_ctl_n_trials(w.ctl), 4);
    world_fini(&w);
}

static void from_open_to_end(void **state)
{
    world w;
    const tri_command *c;
    tri_run_view v;
    tri_answer answer;
    int64_t run;
    int runs = 0;

    (void)state;
    world_init(&w, learned);
    world_begin(&w, 1, 1);
    run = assigned(&w, 0);
    c = world_command(&w, TRI_CMD_ASSIGN, 0);
    assert_int_equal(c->u.assign.trial, 0);
    assert_int_equal(c->u.assign.resource, 1);
    assert_int_equal(c->u.assign.ranks[0], 1);
    assert_int_equal(c->u.assign.save, 1);
    assert_int_equal(c->u.assign.until_precision, 0);
    assert_non_null(strstr(c->u.assign.config, "x="));
    world_formed(&w, run);
    assert_int_equal(w.last.n, 1);
    assert_int_equal(w.last.list[0].kind, TRI_CMD_GO);
    world_finished(&w, run, 5);
    assert_int_equal(verdict(&w)->verdict, TRI_VERDICT_RELEASE);
    assert_int_equal(verdict(&w)->save, 1);
    assert_int_equal(world_count(&w, TRI_CMD_ASSIGN), 0); /* it saves yet */
    world_paused(&w, run, "c0");
    tri_ctl_run(w.ctl, run, &v);
    assert_int_equal(v.state, TRI_RUN_ENDED);
    assert_int_equal(v.status, TRI_RUN_FINISHED);
    assert_true(v.objective == 5);
    assert_string_equal(v.outcome.checkpoint, "c0");
    while (!w.ended) {
        w.now += 1;
        assert_int_equal(w.n_runs, 1);
        run = w.runs[0].run;
        if (w.runs[0].state == WRUN_FORMING) {
            world_formed(&w, run);
        }
        world_finished(&w, run, (double)(w.runs[0].trial * 5 % 9));
        if (w.n_runs && w.runs[0].state == WRUN_SAVING) {
            world_paused(&w, run, "c");
        }
        runs++;
    }
    assert_int_equal(runs, 12); /* 9, 3 and 1 in all */
    assert_int_equal(w.status, 0);
    assert_int_equal(w.resumable, 0);
    tri_ctl_answer(w.ctl, &answer);
    assert_int_equal(answer.winner.trial, 2); /* 1, trained longest */
    assert_int_equal(answer.baseline.trial, -1);
    assert_true(isnan(answer.speedup));
    world_retell(&w);
    world_fini(&w);
}

/* The third result makes itself the best of three: it goes on where it is. */
static void going_on_in_place(void **state)
{
    world w;
    tri_run_view v;
    int64_t run;

    (void)state;
    world_init(&w, learned);
    world_begin(&w, 1, 1);
    for (int i = 0; i < 2; i++) {
        run = w.runs[0].run;
        world_run(&w, run, 10 - i);
        world_paused(&w, run, "c");
    }
    run = w.runs[0].run;
    w.now = 7;
    world_run(&w, run, 1);
    assert_int_equal(verdict(&w)->verdict, TRI_VERDICT_CONTINUE);
    assert_int_equal(verdict(&w)->resource, 3);
    assert_int_equal(verdict(&w)->next_rung, 1);
    assert_int_equal(verdict(&w)->next_run, run + 1);
    tri_ctl_run(w.ctl, run, &v);
    assert_int_equal(v.state, TRI_RUN_ENDED);
    tri_ctl_run(w.ctl, run + 1, &v);
    assert_int_equal(v.state, TRI_RUN_RUNNING);
    assert_true(v.start_s == 7);
    /* its leader would not wait: back to the queue, without blame */
    world_lost(&w, run + 1, TRI_REASON_LATE_VERDICT, -1, 0);
    assert_int_equal(world_command(&w, TRI_CMD_ASSIGN, 0)->u.assign.trial, 2);
    assert_int_equal(world_command(&w, TRI_CMD_ASSIGN, 0)->u.assign.attempt, 1);
    world_fini(&w);
}

/* Throughput: nothing is saved, ranks are free at the verdict, and a promoted
 * run pays its rung in full. */
static void throughput_saves_nothing(void **state)
{
    world w;
    int64_t a, b, c;

    (void)state;
    world_init(&w, rate);
    world_begin(&w, 2, 2);
    a = assigned(&w, 0);
    b = assigned(&w, 1);
    assert_int_equal(world_command(&w, TRI_CMD_ASSIGN, 0)->u.assign.save, 0);
    assert_int_equal(
            world_command(&w, TRI_CMD_ASSIGN, 0)->u.assign.until_precision, 1);
    world_run(&w, a, 100);
    assert_int_equal(verdict(&w)->save, 0);
    c = assigned(&w, 0);
    world_run(&w, b, 50);
    assert_int_equal(world_count(&w, TRI_CMD_ASSIGN), 0);
    world_run(&w, c, 60); /* now the first is the best of three */
    assert_int_equal(verdict(&w)->verdict, TRI_VERDICT_RELEASE);
    assert_int_equal(world_command(&w, TRI_CMD_ASSIGN, 0)->u.assign.trial, 0);
    assert_int_equal(world_command(&w, TRI_CMD_ASSIGN, 0)->u.assign.rung, 1);
    assert_string_equal(
            world_command(&w, TRI_CMD_ASSIGN, 0)->u.assign.checkpoint, "");
    world_fini(&w);
}

static void promoted_from_its_checkpoint(void **state)
{
    world w;
    int64_t a, b, c;
    const tri_cmd_assign *again;

    (void)state;
    world_init(&w, learned);
    world_begin(&w, 2, 2);
    a = assigned(&w, 0);
    b = assigned(&w, 1);
    world_run(&w, a, 1);
    world_paused(&w, a, "ck-a");
    c = assigned(&w, 0);
    world_run(&w, b, 2);
    world_paused(&w, b, "ck-b");
    world_run(&w, c, 3);
    world_paused(&w, c, "ck-c");
    again = &world_command(&w, TRI_CMD_ASSIGN, 0)->u.assign;
    assert_int_equal(again->trial, 0);
    assert_int_equal(again->rung, 1);
    assert_string_equal(again->checkpoint, "ck-a");
    assert_int_equal(again->checkpoint_step, 1);
    world_fini(&w);
}

static void stale_events_leave_no_trace(void **state)
{
    world w;
    int64_t run;
    const int64_t *list;
    tri_event e = {.kind = TRI_EV_REPORT};

    (void)state;
    world_init(&w, rate);
    world_begin(&w, 1, 1);
    run = assigned(&w, 0);
    world_run(&w, run, 1);
    e.u.report.run = run;
    world_feed(&w, &e); /* the run is over */
    assert_int_equal(w.last.n, 0);
    e.u.report.run = 4711;
    world_feed(&w, &e);
    e.u.report.run = -1;
    world_feed(&w, &e);
    e.u.report.run = w.runs[0].run;
    e.u.report.attempt = 9;
    world_feed(&w, &e);
    assert_int_equal(w.last.n, 0);
    assert_int_equal(tri_ctl_changed_runs(w.ctl, &list), 0);
    assert_int_equal(tri_ctl_changed_trials(w.ctl, &list), 0);
    e.kind = TRI_EV_FINISHED;
    e.u.outcome.run = run;
    world_feed(&w, &e);
    assert_int_equal(w.last.n, 0);
    world_fini(&w);
}

static void refusals_change_nothing(void **state)
{
    tri_ctl *ctl;
    tri_commands out;
    tri_event open = {
            .kind = TRI_EV_OPEN,
            .u.open = {.epoch = 1, .max_time_s = NAN, .deadline_s = NAN}};
    tri_event clock = {.kind = TRI_EV_CLOCK};
    tri_event pool = {.kind = TRI_EV_POOL};

    (void)state;
    assert_int_equal(tri_ctl_create(&ctl), TRI_OK);
    assert_int_equal(tri_ctl_feed(ctl, &clock, &out), TRI_EINVAL);
    open.u.open.study_text = (tri_blob){"study: [", 8};
    assert_int_not_equal(tri_ctl_feed(ctl, &open, &out), TRI_OK);
    assert_null(tri_ctl_study(ctl));
    open.u.open.study_text = (tri_blob){rate, sizeof rate - 1};
    open.time_s = 5;
    assert_int_equal(tri_ctl_feed(ctl, &open, &out), TRI_OK);
    clock.time_s = 4;
    assert_int_equal(tri_ctl_feed(ctl, &clock, &out), TRI_EINVAL);
    clock.time_s = NAN;
    assert_int_equal(tri_ctl_feed(ctl, &clock, &out), TRI_EINVAL);
    open.u.open.epoch = 1; /* not after the first */
    assert_int_equal(tri_ctl_feed(ctl, &open, &out), TRI_EINVAL);
    open.u.open.epoch = 2;
    open.u.open.seed = 3;
    assert_int_equal(tri_ctl_feed(ctl, &open, &out), TRI_EINVAL);
    pool.time_s = 5;
    assert_int_equal(tri_ctl_feed(ctl, &pool, &out), TRI_EINVAL);
    clock.kind = TRI_EV_COUNT;
    clock.time_s = 5;
    assert_int_equal(tri_ctl_feed(ctl, &clock, &out), TRI_EINVAL);
    tri_ctl_destroy(ctl);
    tri_ctl_destroy(NULL);
}

static void an_empty_set_names_the_tightest_rule(void **state)
{
    static const char text[] = "study: t\n"
                               "model: {kind: synthetic}\n"
                               "space: {x: {int: [0, 9]}}\n"
                               "constraints: [x > 20, x < 9]\n"
                               "objective: {minimize: loss}\n";
    tri_event open = {.kind = TRI_EV_OPEN,
                      .u.open = {.epoch = 1,
                                 .study_text = {text, sizeof text - 1},
                                 .max_time_s = NAN,
                                 .deadline_s = NAN}};
    tri_commands out;
    tri_ctl *ctl;

    (void)state;
    assert_int_equal(tri_ctl_create(&ctl), TRI_OK);
    assert_int_equal(tri_ctl_feed(ctl, &open, &out), TRI_EEMPTY);
    assert_non_null(strstr(tri_error_last()->sentence, "x > 20"));
    assert_null(tri_ctl_study(ctl));
    tri_ctl_destroy(ctl);
}

static void names(void **state)
{
    (void)state;
    assert_string_equal(tri_event_name(TRI_EV_INTERRUPTED), "interrupted");
    assert_string_equal(tri_command_name(TRI_CMD_DROP_CHECKPOINT),
                        "drop_checkpoint");
    assert_string_equal(tri_reason_name(TRI_REASON_OOM_DEVICE), "oom-device");
    assert_null(tri_reason_name(TRI_REASON_COUNT));
    assert_null(tri_event_name((tri_event_kind)-1));
    assert_int_equal(tri_reason_rule_of(TRI_REASON_NAN), TRI_RULE_COUNTED);
    assert_int_equal(tri_reason_rule_of(TRI_REASON_HUNG), TRI_RULE_RETRY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(nothing_before_the_first_other_event),
            cmocka_unit_test(from_open_to_end),
            cmocka_unit_test(going_on_in_place),
            cmocka_unit_test(throughput_saves_nothing),
            cmocka_unit_test(promoted_from_its_checkpoint),
            cmocka_unit_test(stale_events_leave_no_trace),
            cmocka_unit_test(refusals_change_nothing),
            cmocka_unit_test(an_empty_set_names_the_tightest_rule),
            cmocka_unit_test(names)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Machine classes: a study gone on with on other machines measures again what
 * it can, as the same trials, and nothing of before is in what it concludes.
 */
#include "tests/ctl/world.h"

#include <math.h>
#include <string.h>

#define STUDY(resource, budget, rest)                                          \
    "study: t\nmodel: {kind: synthetic}\nspace: {x: {int: [0, 99]}}\n"         \
    "objective: {minimize: loss, subject_to: [peak_bytes <= 1 KiB]}\n"         \
    "resource: {" resource "}\nbudget: {" budget "}\n" rest

#define RUNGS "min: 1, max: 9, eta: 3"

static const char study[] = STUDY(RUNGS, "trials: 6", "finals: none\n");
static const char more[] = STUDY(RUNGS, "trials: 8", "finals: none\n");

static tri_trial_view trial(const world *w, int64_t number)
{
    tri_trial_view t;

    tri_ctl_trial(w->ctl, number, &t);
    return t;
}

static tri_progress progress(const world *w)
{
    tri_progress p;

    tri_ctl_progress(w->ctl, &p);
    return p;
}

static const tri_cmd_assign *assigned(const world *w, int n)
{
    const tri_command *c = world_command(w, TRI_CMD_ASSIGN, n);

    assert_non_null(c);
    return &c->u.assign;
}

static void open_as(world *w, const char *name, int ranks)
{
    w->machine_class = name;
    w->now += 1;
    world_begin(w, ranks, ranks);
}

static void start(world *w, const char *text, int ranks)
{
    world_init(w, text);
    open_as(w, "a", ranks);
}

/* One step of the first run in flight; trial i has the loss i + `above`. */
static void go_on(world *w, double above)
{
    const wrun *r = &w->runs[0];

    w->now += 1;
    if (r->state == WRUN_SAVING) {
        world_paused(w, r->run, "c");
    } else {
        world_run(w, r->run, (double)r->trial + above);
    }
}

static void to_the_end(world *w, double above)
{
    for (int n = 0; !w->ended; n++) {
        assert_true(n < 200);
        go_on(w, above);
    }
}

/* Until a trial has a result at `rung`. */
static void to_rung(world *w, int rung)
{
    int at = -1;

    for (int n = 0; at < rung; n++) {
        assert_true(n < 200 && !w->ended);
        go_on(w, 0);
        for (int64_t i = 0; i < tri_ctl_n_trials(w->ctl); i++) {
            at = trial(w, i).top_rung > at ? trial(w, i).top_rung : at;
        }
    }
}

static void check_as_new(const world *w, int64_t number)
{
    tri_trial_view t = trial(w, number);

    assert_int_equal(t.state, TRI_TRIAL_RUNNING);
    assert_int_equal(t.top_rung, -1);
    assert_true(isnan(t.objective) && isnan(t.lo) && isnan(t.hi));
    assert_int_equal(t.reason, TRI_REASON_NONE);
    assert_int_equal(t.suspicion, 0);
}

static void trials_begin_again(void **state)
{
    world w;
    tri_trial_view before[8];
    tri_run_view first;
    tri_rung_view rung;
    tri_answer answer;
    int64_t n, runs;

    (void)state;
    start(&w, study, 2);
    to_rung(&w, 1);
    n = tri_ctl_n_trials(w.ctl);
    runs = tri_ctl_n_runs(w.ctl);
    for (int64_t i = 0; i < n; i++) {
        before[i] = trial(&w, i);
    }
    tri_ctl_run(w.ctl, 0, &first);
    w.machine_class = "b";
    world_open(&w);
    assert_true(world_count(&w, TRI_CMD_DROP_CHECKPOINT) > 0);
    assert_int_equal(tri_sched_rungs(tri_ctl_sched(w.ctl), &rung, 1), 1);
    assert_int_equal(rung.running, n);
    assert_int_equal(rung.results, 0);
    assert_int_equal(progress(&w).again, n);
    assert_int_equal(progress(&w).results, 0);
    assert_true(progress(&w).finished > 0);
    assert_int_equal(progress(&w).best_trial, -1);
    assert_int_equal(tri_ctl_n_runs(w.ctl), runs);
    assert_string_equal(tri_ctl_machine_class(w.ctl), "b");
    tri_ctl_answer(w.ctl, &answer);
    assert_int_equal(answer.winner.trial, -1);
    for (int64_t i = 0; i < n; i++) {
        check_as_new(&w, i);
        assert_string_equal(trial(&w, i).origin, before[i].origin);
        assert_ptr_equal(trial(&w, i).config, before[i].config);
        assert_true(trial(&w, i).created_s == before[i].created_s);
    }
    world_pool(&w, 2, 2);
    world_clock(&w, 0);
    for (int i = 0; i < 2; i++) { /* in the order of creation */
        assert_int_equal(assigned(&w, i)->trial, i);
        assert_int_equal(assigned(&w, i)->rung, 0);
        assert_int_equal(assigned(&w, i)->attempt, 0);
        assert_string_equal(assigned(&w, i)->checkpoint, "");
    }
    tri_ctl_run(w.ctl, 0, &first);
    assert_int_equal(first.epoch, 1);
    assert_int_equal(first.status, TRI_RUN_FINISHED);
    assert_true(first.objective == 0);
    world_retell(&w);
    world_fini(&w);
}

/* The new ladder holds what a study begun on that class would hold. */
static void the_end_is_of_the_new_class(void **state)
{
    world w;
    int runs[8] = {0};
    int64_t n;

    (void)state;
    start(&w, study, 2);
    to_rung(&w, 1);
    n = tri_ctl_n_trials(w.ctl);
    open_as(&w, "b", 2);
    to_the_end(&w, 100);
    assert_int_equal(w.status, 0);
    assert_int_equal(tri_ctl_n_trials(w.ctl), 6);
    for (int64_t i = 0; i < tri_ctl_n_runs(w.ctl); i++) {
        tri_run_view v;

        tri_ctl_run(w.ctl, i, &v);
        runs[v.trial] += v.epoch == 2 && v.rung == 0;
        assert_int_equal(v.objective >= 100, v.epoch == 2);
    }
    for (int64_t i = 0; i < 6; i++) {
        assert_int_equal(runs[i], 1);
    }
    assert_int_equal(progress(&w).best_trial, 0);
    assert_true(progress(&w).best == 100);
    assert_int_equal(progress(&w).again, n);
    world_retell(&w);
    world_fini(&w);
}

static void the_same_class_or_none_goes_on(void **state)
{
    static const char *const names[] = {"a", "", NULL, "a"};
    world w;

    (void)state;
    start(&w, study, 1);
    to_rung(&w, 1);
    for (int i = 0; i < 4; i++) {
        w.machine_class = names[i];
        world_open(&w);
        assert_int_equal(progress(&w).again, 0);
        assert_true(progress(&w).best == 0);
        assert_string_equal(tri_ctl_machine_class(w.ctl), "a");
    }
    world_fini(&w);
}

/* What was measured before the class was known is taken to be of it. */
static void a_class_is_learned_late(void **state)
{
    world w;

    (void)state;
    world_init(&w, study);
    open_as(&w, "", 1);
    to_rung(&w, 1);
    open_as(&w, "a", 1);
    assert_int_equal(progress(&w).again, 0);
    assert_string_equal(tri_ctl_machine_class(w.ctl), "a");
    open_as(&w, "b", 1);
    assert_true(progress(&w).again > 0);
    world_fini(&w);
}

static void a_class_left_is_forgotten(void **state)
{
    world w;

    (void)state;
    start(&w, study, 1);
    to_rung(&w, 1);
    open_as(&w, "b", 1);
    open_as(&w, "a", 1);
    assert_true(progress(&w).again > 0);
    assert_int_equal(progress(&w).best_trial, -1);
    to_the_end(&w, 7);
    assert_true(progress(&w).best == 7);
    world_retell(&w);
    world_fini(&w);
}

static void what_fails_anywhere_stays_failed(void **state)
{
    static const tri_reason reasons[] = {
            TRI_REASON_INFEASIBLE, TRI_REASON_IMPORT_ERROR, TRI_REASON_OOM,
            TRI_REASON_DIVERGED, TRI_REASON_NAN};
    world w;

    (void)state;
    start(&w, study, 6);
    for (int i = 0; i < 5; i++) {
        world_formed(&w, i);
        world_failed(&w, i, reasons[i]);
        assert_int_equal(trial(&w, i).state, TRI_TRIAL_FAILED);
    }
    w.peak_bytes = 2000; /* more than subject_to has it */
    world_run(&w, 5, 1);
    w.peak_bytes = 100;
    assert_int_equal(trial(&w, 5).reason, TRI_REASON_INFEASIBLE);
    assert_int_equal(progress(&w).failed, 6);
    open_as(&w, "b", 4);
    assert_int_equal(progress(&w).failed, 2);
    assert_int_equal(progress(&w).again, 4);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(assigned(&w, i)->trial, i + 2);
    }
    assert_int_equal(trial(&w, 0).reason, TRI_REASON_INFEASIBLE);
    assert_int_equal(trial(&w, 1).reason, TRI_REASON_IMPORT_ERROR);
    to_the_end(&w, 0);
    assert_int_equal(w.status, 0);
    assert_int_equal(progress(&w).failed, 2);
    world_retell(&w);
    world_fini(&w);
}

static void suspicion_and_attempts_are_new(void **state)
{
    world w;

    (void)state;
    start(&w, study, 1);
    open_as(&w, "a", 1); /* killed with it alone in flight: suspected */
    assert_int_equal(trial(&w, 0).suspicion, 1);
    open_as(&w, "b", 1); /* and again: failed, in the class left */
    check_as_new(&w, 0);
    assert_int_equal(assigned(&w, 0)->trial, 0);
    assert_int_equal(assigned(&w, 0)->attempt, 0);
    world_retell(&w);
    world_fini(&w);
}

static void runs_of_all_classes_are_budgeted(void **state)
{
    static const char text[] = STUDY(RUNGS, "runs: 8", "finals: none\n");
    world w;

    (void)state;
    start(&w, text, 1);
    while (tri_ctl_n_runs(w.ctl) < 8) {
        go_on(&w, 0);
    }
    open_as(&w, "b", 1); /* the eighth is spent, on a class left */
    assert_true(w.ended);
    assert_int_equal(w.status, 2);
    assert_non_null(strstr(w.why, "no run finished on the machine class 'b'"));
    assert_int_equal(tri_ctl_n_runs(w.ctl), 8);
    world_retell(&w);
    world_fini(&w);
}

static void finals_begin_again(void **state)
{
    static const char text[] = STUDY(RUNGS, "trials: 4",
                                     "finals: {top: 2, repeats: 3}\n"
                                     "baseline: {x: 50}\n");
    world w;
    tri_answer answer;

    (void)state;
    start(&w, text, 2);
    for (int n = 0; progress(&w).finals_done < 2; n++) {
        assert_true(n < 100);
        go_on(&w, 0);
    }
    open_as(&w, "b", 2);
    assert_int_equal(progress(&w).state, TRI_CTL_SEARCH);
    assert_int_equal(progress(&w).finals_total, 0);
    tri_ctl_answer(w.ctl, &answer);
    assert_int_equal(answer.winner.trial, -1);
    to_the_end(&w, 100);
    assert_int_equal(progress(&w).finals_done, progress(&w).finals_total);
    tri_ctl_answer(w.ctl, &answer);
    assert_true(answer.finals);
    assert_true(answer.winner.objective >= 100);
    assert_true(answer.baseline.objective >= 100);
    world_retell(&w);
    world_fini(&w);
}

static void a_study_that_is_done_stays_done(void **state)
{
    world w;

    (void)state;
    start(&w, study, 2);
    to_the_end(&w, 0);
    open_as(&w, "b", 2);
    assert_true(w.ended);
    assert_string_equal(w.why, "done already");
    assert_true(progress(&w).best == 0);
    assert_int_equal(progress(&w).again, 0);
    assert_string_equal(tri_ctl_machine_class(w.ctl), "a");
    world_open(&w); /* until there is more to do */
    world_edit(&w, more);
    assert_int_equal(progress(&w).again, 6);
    world_pool(&w, 2, 2);
    world_clock(&w, 0);
    assert_int_equal(assigned(&w, 0)->trial, 0);
    to_the_end(&w, 50);
    assert_int_equal(tri_ctl_n_trials(w.ctl), 8);
    assert_true(progress(&w).best == 50);
    world_retell(&w);
    world_fini(&w);
}

/* Where a unit took 1000 s, nothing would be started 100 s before the end of
 * the job; of other machines it says nothing. */
static void durations_are_not_carried_over(void **state)
{
    world w;

    (void)state;
    start(&w, study, 1);
    world_formed(&w, 0);
    world_report(&w, 0, 0.1);
    w.now += 1000;
    world_finished(&w, 0, 1);
    world_paused(&w, 0, "c");
    w.deadline_s = w.now + 100;
    open_as(&w, "a", 1);
    assert_true(w.ended);
    assert_int_equal(w.status, 3);
    w.deadline_s = w.now + 100;
    open_as(&w, "b", 1);
    assert_false(w.ended);
    assert_int_equal(assigned(&w, 0)->trial, 0);
    world_retell(&w);
    world_fini(&w);
}

static void a_bracket_keeps_its_base(void **state)
{
    static const char text[] =
            STUDY(RUNGS, "trials: 4",
                  "finals: none\nscheduler: {kind: asha, bracket: 1}\n");
    world w;

    (void)state;
    start(&w, text, 1);
    to_rung(&w, 2);
    open_as(&w, "b", 1);
    assert_int_equal(assigned(&w, 0)->rung, 1);
    assert_int_equal(assigned(&w, 0)->bracket, 1);
    assert_int_equal(assigned(&w, 0)->resource, 3);
    to_the_end(&w, 0);
    assert_int_equal(w.status, 0);
    world_retell(&w);
    world_fini(&w);
}

static void what_does_not_fit_is_parked_again(void **state)
{
    static const char text[] =
            "study: t\nmodel: {kind: synthetic}\n"
            "space: {x: {int: [0, 99]}, g: {choice: [1, 2, 4]}}\nranks: g\n"
            "objective: {minimize: loss}\nresource: {" RUNGS "}\n"
            "budget: {trials: 6}\nfinals: none\nbaseline: {x: 1, g: 4}\n";
    world w;

    (void)state;
    start(&w, text, 8);
    assert_int_equal(trial(&w, 0).ranks, 4);
    to_rung(&w, 0);
    open_as(&w, "b", 2);
    assert_int_equal(trial(&w, 0).state, TRI_TRIAL_PARKED);
    open_as(&w, "c", 4);
    assert_int_equal(assigned(&w, 0)->trial, 0);
    assert_int_equal(progress(&w).parked, 0);
    to_the_end(&w, 0);
    assert_int_equal(w.status, 0);
    assert_int_equal(tri_ctl_n_trials(w.ctl), 6);
    world_retell(&w);
    world_fini(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(trials_begin_again),
            cmocka_unit_test(the_end_is_of_the_new_class),
            cmocka_unit_test(the_same_class_or_none_goes_on),
            cmocka_unit_test(a_class_is_learned_late),
            cmocka_unit_test(a_class_left_is_forgotten),
            cmocka_unit_test(what_fails_anywhere_stays_failed),
            cmocka_unit_test(suspicion_and_attempts_are_new),
            cmocka_unit_test(runs_of_all_classes_are_budgeted),
            cmocka_unit_test(finals_begin_again),
            cmocka_unit_test(a_study_that_is_done_stays_done),
            cmocka_unit_test(durations_are_not_carried_over),
            cmocka_unit_test(a_bracket_keeps_its_base),
            cmocka_unit_test(what_does_not_fit_is_parked_again)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

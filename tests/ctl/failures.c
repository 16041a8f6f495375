/*
 * What follows when a run does not end well: by class, by witness, by the
 * number of attempts.
 */
#include "tests/ctl/world.h"

#include <math.h>
#include <string.h>

static const char study[] = "study: t\n"
                            "model: {kind: synthetic}\n"
                            "space: {x: {int: [0, 99]}}\n"
                            "objective: {minimize: loss,\n"
                            "            subject_to: [peak_bytes <= 1 KiB]}\n"
                            "resource: {min: 1, max: 9, eta: 3}\n"
                            "budget: {trials: 6}\n"
                            "finals: none\n";

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

static tri_run_view run(const world *w, int64_t number)
{
    tri_run_view v;

    tri_ctl_run(w->ctl, number, &v);
    return v;
}

static int64_t results(const world *w)
{
    tri_rung_view v[8];

    return tri_sched_rungs(tri_ctl_sched(w->ctl), v, 8) ? v[0].results : 0;
}

static void start(world *w, int ranks, int per_host)
{
    world_init(w, study);
    world_begin(w, ranks, per_host);
    for (int i = 0; i < ranks; i++) {
        assert_int_equal(assigned(w, i)->run, i);
    }
    for (int i = 0; i < ranks; i++) {
        world_formed(w, i);
    }
}

static void diverged_counts_and_is_final(void **state)
{
    world w;
    tri_progress p;

    (void)state;
    start(&w, 1, 1);
    world_failed(&w, 0, TRI_REASON_DIVERGED);
    assert_int_equal(results(&w), 1);
    assert_int_equal(trial(&w, 0).state, TRI_TRIAL_FAILED);
    assert_int_equal(trial(&w, 0).reason, TRI_REASON_DIVERGED);
    assert_true(isnan(trial(&w, 0).objective));
    assert_int_equal(run(&w, 0).status, TRI_RUN_FAILED);
    assert_int_equal(assigned(&w, 0)->trial, 1);
    tri_ctl_progress(w.ctl, &p);
    assert_int_equal(p.failed, 1);
    assert_int_equal(p.failures[TRI_REASON_DIVERGED], 1);
    world_fini(&w);
}

static void oom_is_final_and_does_not_count(void **state)
{
    world w;

    (void)state;
    start(&w, 1, 1);
    world_failed(&w, 0, TRI_REASON_OOM);
    assert_int_equal(results(&w), 0);
    assert_int_equal(trial(&w, 0).state, TRI_TRIAL_FAILED);
    assert_int_equal(assigned(&w, 0)->trial, 1);
    world_fini(&w);
}

static void one_retry_whatever_the_class(void **state)
{
    world w;

    (void)state;
    start(&w, 1, 1);
    world_failed(&w, 0, TRI_REASON_BAD_EXIT);
    assert_int_equal(trial(&w, 0).state, TRI_TRIAL_RUNNING);
    assert_int_equal(assigned(&w, 0)->trial, 0);
    assert_int_equal(assigned(&w, 0)->attempt, 1);
    assert_int_equal(assigned(&w, 0)->run, 1);
    world_failed(&w, 1, TRI_REASON_OOM_HOST);
    assert_int_equal(trial(&w, 0).state, TRI_TRIAL_FAILED);
    assert_int_equal(trial(&w, 0).reason, TRI_REASON_OOM_HOST);
    assert_int_equal(results(&w), 0);
    assert_int_equal(assigned(&w, 0)->trial, 1);
    world_fini(&w);
}

static void not_a_number_ranks_last(void **state)
{
    world w;
    const tri_command *c;

    (void)state;
    start(&w, 1, 1);
    world_finished(&w, 0, NAN);
    c = world_command(&w, TRI_CMD_VERDICT, 0);
    assert_int_equal(c->u.verdict.verdict, TRI_VERDICT_RELEASE);
    assert_int_equal(c->u.verdict.save, 0);
    assert_int_equal(trial(&w, 0).reason, TRI_REASON_NAN);
    assert_int_equal(results(&w), 1);
    world_fini(&w);
}

static void over_its_limit_is_infeasible(void **state)
{
    world w;

    (void)state;
    start(&w, 1, 1);
    w.peak_bytes = 2000;
    world_finished(&w, 0, 1);
    assert_int_equal(trial(&w, 0).reason, TRI_REASON_INFEASIBLE);
    assert_int_equal(run(&w, 0).status, TRI_RUN_FAILED);
    assert_string_equal(run(&w, 0).outcome.sentence,
                        "subject_to \"peak_bytes <= 1 KiB\" is not met; "
                        "peak_bytes was 2000");
    assert_int_equal(results(&w), 0);
    world_fini(&w);
}

static void lost_twice_without_witness_is_killed(void **state)
{
    world w;

    (void)state;
    start(&w, 3, 1);
    world_lost(&w, 0, TRI_REASON_RANK_LOST, 1, 0);
    assert_int_equal(run(&w, 0).status, TRI_RUN_LOST);
    assert_int_equal(run(&w, 0).reason, TRI_REASON_RANK_LOST);
    assert_int_equal(trial(&w, 0).suspicion, 1);
    assert_int_equal(w.last.n, 0); /* its rank is gone, no other is free */
    w.now = 100;
    world_finished(&w, 1, 4);
    world_paused(&w, 1, "c");
    /* what was lost goes before what is new */
    assert_int_equal(assigned(&w, 0)->trial, 0);
    assert_int_equal(assigned(&w, 0)->attempt, 1);
    world_lost(&w, assigned(&w, 0)->run, TRI_REASON_RANK_LOST, 2, 0);
    assert_int_equal(trial(&w, 0).state, TRI_TRIAL_FAILED);
    assert_int_equal(trial(&w, 0).reason, TRI_REASON_KILLED);
    assert_int_equal(results(&w), 1);
    world_fini(&w);
}

static void four_attempts_a_rung_in_all(void **state)
{
    world w;

    (void)state;
    start(&w, 1, 1);
    for (int i = 0; i < 3; i++) {
        world_lost(&w, i, TRI_REASON_NODE_LOST, -1, 1);
        assert_int_equal(trial(&w, 0).suspicion, 0);
        assert_int_equal(assigned(&w, 0)->trial, 0);
        assert_int_equal(assigned(&w, 0)->attempt, i + 1);
    }
    world_lost(&w, 3, TRI_REASON_NODE_LOST, -1, 1);
    assert_int_equal(trial(&w, 0).reason, TRI_REASON_KILLED);
    assert_int_equal(assigned(&w, 0)->trial, 1);
    world_fini(&w);
}

static void groups_of_a_host_witness_each_other(void **state)
{
    world w;

    (void)state;
    start(&w, 4, 2);
    world_lost(&w, 0, TRI_REASON_RANK_LOST, 1, 0);
    assert_int_equal(trial(&w, 0).suspicion, 1);
    w.now = 20;
    world_lost(&w, 2, TRI_REASON_RANK_LOST, 3, 0); /* another host */
    assert_int_equal(trial(&w, 0).suspicion, 1);
    assert_int_equal(trial(&w, 2).suspicion, 1);
    w.now = 30;
    world_lost(&w, 1, TRI_REASON_RANK_LOST, 2, 0); /* the same host */
    assert_int_equal(trial(&w, 0).suspicion, 0);
    assert_int_equal(trial(&w, 1).suspicion, 0);
    w.now = 51;
    world_lost(&w, 3, TRI_REASON_RANK_LOST, 4, 0); /* too late */
    assert_int_equal(trial(&w, 2).suspicion, 1);
    assert_int_equal(trial(&w, 3).suspicion, 1);
    assert_true(w.ended);
    assert_int_equal(w.status, 3);
    assert_string_equal(w.why, "no rank of the pool is left");
    world_fini(&w);
}

static void all_failed_is_nothing_feasible(void **state)
{
    world w;

    (void)state;
    start(&w, 1, 1);
    while (!w.ended) {
        world_failed(&w, w.runs[0].run, TRI_REASON_IMPORT_ERROR);
    }
    assert_int_equal(w.status, 2);
    assert_string_equal(w.why, "no run finished: 6 of 6 trials failed, mostly "
                               "import-error");
    world_retell(&w);
    world_fini(&w);
}

static void a_failed_save_keeps_the_result(void **state)
{
    world w;

    (void)state;
    start(&w, 1, 1);
    world_finished(&w, 0, 1);
    assert_int_equal(run(&w, 0).state, TRI_RUN_LEAVING);
    world_failed(&w, 0, TRI_REASON_BAD_EXIT);
    assert_int_equal(run(&w, 0).status, TRI_RUN_FINISHED);
    assert_int_equal(trial(&w, 0).state, TRI_TRIAL_PAUSED);
    assert_int_equal(results(&w), 1);
    world_fini(&w);
}

static void checkpoints_are_dropped(void **state)
{
    world w;
    const tri_command *c;

    (void)state;
    start(&w, 1, 1);
    world_finished(&w, 0, 1);
    world_paused(&w, 0, "first");
    for (int i = 1; i < 3; i++) {
        world_run(&w, i, 10);
        world_paused(&w, i, "other");
    }
    assert_string_equal(assigned(&w, 0)->checkpoint, "first");
    world_run(&w, 3, 1);
    world_paused(&w, 3, "second");
    c = world_command(&w, TRI_CMD_DROP_CHECKPOINT, 0);
    assert_non_null(c);
    assert_int_equal(c->u.drop_checkpoint.trial, 0);
    assert_string_equal(c->u.drop_checkpoint.checkpoint, "first");
    world_fini(&w);
}

/* Up to the promotion of trial 0 from its checkpoint, which is run 3. */
static void promote(world *w)
{
    start(w, 1, 1);
    world_finished(w, 0, 1);
    world_paused(w, 0, "half");
    for (int i = 1; i < 3; i++) {
        world_run(w, i, 10);
        world_paused(w, i, "other");
    }
    assert_string_equal(assigned(w, 0)->checkpoint, "half");
    world_formed(w, 3);
}

/* Nothing was done from it: the next attempt starts afresh, and has its retry
 * yet. */
static void a_bad_checkpoint_is_dropped(void **state)
{
    world w;

    (void)state;
    promote(&w);
    world_failed(&w, 3, TRI_REASON_BAD_EXIT);
    assert_string_equal(world_command(&w, TRI_CMD_DROP_CHECKPOINT, 0)
                                ->u.drop_checkpoint.checkpoint,
                        "half");
    for (int i = 1; i < 3; i++) {
        assert_int_equal(assigned(&w, 0)->trial, 0);
        assert_int_equal(assigned(&w, 0)->attempt, i);
        assert_string_equal(assigned(&w, 0)->checkpoint, "");
        world_formed(&w, 3 + i);
        world_failed(&w, 3 + i, TRI_REASON_BAD_EXIT);
    }
    assert_int_equal(trial(&w, 0).state, TRI_TRIAL_FAILED);
    assert_int_equal(trial(&w, 0).reason, TRI_REASON_BAD_EXIT);
    world_retell(&w);
    world_fini(&w);
}

/* What went on from it is not its fault; nor is what does not read it. */
static void a_good_checkpoint_is_kept(void **state)
{
    for (int i = 0; i < 2; i++) {
        world w;
        tri_event e = {.kind = TRI_EV_REPORT,
                       .u.report = {.run = 3, .step = 2, .loss = NAN}};

        (void)state;
        promote(&w);
        if (i == 0) {
            world_feed(&w, &e);
        }
        world_failed(&w, 3,
                     i == 0 ? TRI_REASON_BAD_EXIT : TRI_REASON_RENDEZVOUS);
        assert_string_equal(assigned(&w, 0)->checkpoint, "half");
        world_failed(&w, 4, TRI_REASON_RENDEZVOUS);
        assert_int_equal(trial(&w, 0).state, TRI_TRIAL_FAILED);
        world_fini(&w);
    }
}

/* It did its last step when it was told to drain, and saved itself. */
static void finished_at_a_drain(void **state)
{
    world w;
    tri_event e = {.kind = TRI_EV_FINISHED,
                   .u.outcome = {.sentence = "",
                                 .lost_rank = -1,
                                 .loss = 1,
                                 .checkpoint = "whole",
                                 .checkpoint_step = 1,
                                 .checkpoint_bytes = 10}};

    (void)state;
    start(&w, 1, 1);
    world_drain(&w, TRI_DRAIN_SIGNAL);
    e.u.outcome.objective = e.u.outcome.lo = e.u.outcome.hi = NAN;
    world_feed_gone(&w, &e, 0);
    assert_true(w.ended);
    assert_int_equal(run(&w, 0).status, TRI_RUN_FINISHED);
    assert_int_equal(trial(&w, 0).state, TRI_TRIAL_PAUSED);
    assert_string_equal(trial(&w, 0).checkpoint, "whole");
    world_begin(&w, 1, 1);
    assert_int_equal(assigned(&w, 0)->trial, 1);
    for (int i = 1; i < 3; i++) {
        world_run(&w, i, 10);
        world_paused(&w, i, "other");
    }
    assert_string_equal(assigned(&w, 0)->checkpoint, "whole");
    world_retell(&w);
    world_fini(&w);
}

static void failures_and_losses_share_the_attempts(void **state)
{
    world w;

    (void)state;
    start(&w, 1, 1);
    for (int i = 0; i < 3; i++) {
        world_lost(&w, i, TRI_REASON_NODE_LOST, -1, 1);
    }
    world_failed(&w, 3, TRI_REASON_BAD_EXIT); /* the fourth: no retry */
    assert_int_equal(trial(&w, 0).state, TRI_TRIAL_FAILED);
    assert_int_equal(trial(&w, 0).reason, TRI_REASON_BAD_EXIT);
    world_fini(&w);
}

static void a_trial_is_no_witness_for_itself(void **state)
{
    world w;

    (void)state;
    start(&w, 1, 1);
    world_lost(&w, 0, TRI_REASON_RANK_LOST, -1, 0);
    assert_int_equal(trial(&w, 0).suspicion, 1);
    w.now = 5;
    world_lost(&w, 1, TRI_REASON_RANK_LOST, -1, 0);
    assert_int_equal(trial(&w, 0).reason, TRI_REASON_KILLED);
    world_fini(&w);
}

/* Trials 0 and 1 have results; 2 and 3 are running. */
static void two_and_two(world *w)
{
    start(w, 2, 2);
    world_finished(w, 0, 5);
    world_paused(w, 0, "");
    world_formed(w, 2);
    world_finished(w, 1, 6);
    world_paused(w, 1, "");
    world_formed(w, 3);
}

static void what_waits_goes_before_going_on(void **state)
{
    world w;

    (void)state;
    two_and_two(&w);
    world_lost(&w, 2, TRI_REASON_RANK_LOST, 1, 1);
    assert_int_equal(w.last.n, 0);
    world_finished(&w, 3, 1); /* the best of three */
    assert_int_equal(world_command(&w, TRI_CMD_VERDICT, 0)->u.verdict.verdict,
                     TRI_VERDICT_RELEASE);
    world_paused(&w, 3, "");
    assert_int_equal(assigned(&w, 0)->trial, 2);
    world_fini(&w);
}

static void a_group_with_a_dead_rank_does_not_go_on(void **state)
{
    world w;
    wrun *r;

    (void)state;
    two_and_two(&w);
    r = world_find(&w, 3);
    world_rank(&w, r->ranks[0], TRI_RANK_DOWN);
    world_finished(&w, 3, 1);
    assert_int_equal(world_command(&w, TRI_CMD_VERDICT, 0)->u.verdict.verdict,
                     TRI_VERDICT_RELEASE);
    world_paused(&w, 3, "");
    assert_int_equal(world_count(&w, TRI_CMD_ASSIGN), 0);
    world_fini(&w);
}

static void checkpoints_have_a_budget(void **state)
{
    static const char text[] = "study: t\nmodel: {kind: synthetic}\n"
                               "space: {x: {int: [0, 99]}}\n"
                               "objective: {minimize: loss}\n"
                               "resource: {min: 1, max: 9, eta: 3}\n"
                               "checkpoints: {max_bytes: 1 KiB}\n"
                               "budget: {trials: 6}\nfinals: none\n";
    tri_event e = {.kind = TRI_EV_PAUSED,
                   .u.outcome = {.checkpoint = "c", .checkpoint_bytes = 2000}};
    world w;

    (void)state;
    world_init(&w, text);
    world_begin(&w, 1, 1);
    assert_int_equal(assigned(&w, 0)->save, 1);
    world_run(&w, 0, 1);
    w.n_runs = 0;
    w.holder[1] = -1;
    world_feed(&w, &e);
    assert_int_equal(assigned(&w, 0)->trial, 1);
    assert_int_equal(assigned(&w, 0)->save, 0);
    world_fini(&w);
}

static void paused(world *w, int64_t number, const char *checkpoint,
                   int64_t bytes)
{
    tri_event e = {.kind = TRI_EV_PAUSED,
                   .u.outcome = {.run = number,
                                 .checkpoint = checkpoint,
                                 .checkpoint_bytes = bytes}};

    w->n_runs = 0;
    w->holder[1] = -1;
    world_feed(w, &e);
}

/* Beyond it those go that will be missed least: of the lowest rung the worst,
 * never the newest, nor one that a run is to go on from. */
static void the_least_missed_checkpoint_goes(void **state)
{
    static const char text[] = "study: t\nmodel: {kind: synthetic}\n"
                               "space: {x: {int: [0, 99]}}\n"
                               "objective: {minimize: loss}\n"
                               "resource: {min: 1, max: 9, eta: 3}\n"
                               "checkpoints: {max_bytes: 1 KiB}\n"
                               "budget: {trials: 6}\nfinals: none\n";
    static const char *const names[] = {"c0", "c1", "c2"};
    static const double values[] = {5, 1, 9};
    world w;

    (void)state;
    world_init(&w, text);
    world_begin(&w, 1, 1);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(assigned(&w, 0)->trial, i);
        world_run(&w, i, values[i]);
        paused(&w, i, names[i], 400);
        assert_int_equal(world_count(&w, TRI_CMD_DROP_CHECKPOINT), i == 2);
    }
    assert_string_equal(world_command(&w, TRI_CMD_DROP_CHECKPOINT, 0)
                                ->u.drop_checkpoint.checkpoint,
                        "c0");
    assert_string_equal(trial(&w, 0).checkpoint, "");
    assert_string_equal(trial(&w, 2).checkpoint, "c2");
    assert_int_equal(assigned(&w, 0)->trial, 1); /* promoted */
    assert_string_equal(assigned(&w, 0)->checkpoint, "c1");
    assert_int_equal(assigned(&w, 0)->save, TRI_SAVE_RELEASE);
    world_run(&w, 3, 1);
    paused(&w, 3, "c3", 1000); /* the second rung's, and the first's worst */
    assert_int_equal(world_count(&w, TRI_CMD_DROP_CHECKPOINT), 2);
    assert_string_equal(trial(&w, 2).checkpoint, "");
    assert_string_equal(trial(&w, 1).checkpoint, "c3");
    world_fini(&w);
}

/* Nothing follows the last rung, but a drained run goes on in it. */
static void the_last_rung_is_saved_at_a_drain(void **state)
{
    static const char text[] = "study: t\nmodel: {kind: synthetic}\n"
                               "space: {x: {int: [0, 99]}}\n"
                               "objective: {minimize: loss}\n"
                               "resource: {min: 9, max: 9, eta: 3}\n"
                               "budget: {trials: 1}\nfinals: none\n";
    world w;

    (void)state;
    world_init(&w, text);
    world_begin(&w, 1, 1);
    assert_int_equal(assigned(&w, 0)->save, TRI_SAVE_DRAIN);
    world_formed(&w, 0);
    world_drain(&w, TRI_DRAIN_SIGNAL);
    world_interrupted(&w, 0, "half way");
    world_begin(&w, 1, 1);
    assert_string_equal(assigned(&w, 0)->checkpoint, "half way");
    world_run(&w, 1, 1);
    assert_int_equal(world_command(&w, TRI_CMD_VERDICT, 0)->u.verdict.save, 0);
    assert_string_equal(world_command(&w, TRI_CMD_DROP_CHECKPOINT, 0)
                                ->u.drop_checkpoint.checkpoint,
                        "half way");
    world_fini(&w);
}

/* By whom is not known: nobody's rank is blamed, and the second time it is the
 * trial's own doing. */
static void killed_by_somebody(void **state)
{
    world w;

    (void)state;
    start(&w, 1, 1);
    world_lost(&w, 0, TRI_REASON_KILLED, -1, 0);
    assert_int_equal(run(&w, 0).status, TRI_RUN_LOST);
    assert_int_equal(run(&w, 0).reason, TRI_REASON_KILLED);
    assert_int_equal(trial(&w, 0).suspicion, 1);
    assert_int_equal(world_count(&w, TRI_CMD_STRIKE), 0);
    assert_int_equal(assigned(&w, 0)->trial, 0);
    assert_int_equal(assigned(&w, 0)->attempt, 1);
    world_lost(&w, 1, TRI_REASON_KILLED, -1, 0);
    assert_int_equal(trial(&w, 0).state, TRI_TRIAL_FAILED);
    assert_int_equal(trial(&w, 0).reason, TRI_REASON_KILLED);
    assert_int_equal(results(&w), 0);
    assert_int_equal(assigned(&w, 0)->trial, 1);
    world_fini(&w);
}

/* Throughput: a promoted run starts afresh, an interrupted one goes on. */
static void rates_go_on_within_a_rung_only(void **state)
{
    static const char text[] =
            "study: t\nmodel: {kind: process, command: [train]}\n"
            "space: {x: {int: [0, 99]}}\n"
            "objective: {maximize: tokens_per_s}\n"
            "resource: {min: 1, max: 9, eta: 3}\n"
            "checkpoints: {policy: always}\n"
            "budget: {trials: 3}\nfinals: none\n";
    world w;

    (void)state;
    world_init(&w, text);
    world_begin(&w, 1, 1);
    for (int i = 0; i < 3; i++) {
        world_run(&w, i, 9 - i);
        world_paused(&w, i, "rung 0");
    }
    assert_int_equal(assigned(&w, 0)->trial, 0);
    assert_int_equal(assigned(&w, 0)->rung, 1);
    assert_string_equal(assigned(&w, 0)->checkpoint, "");
    world_formed(&w, 3);
    world_drain(&w, TRI_DRAIN_SIGNAL);
    world_interrupted(&w, 3, "rung 1");
    world_begin(&w, 1, 1);
    assert_string_equal(assigned(&w, 0)->checkpoint, "rung 1");
    world_fini(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(diverged_counts_and_is_final),
            cmocka_unit_test(oom_is_final_and_does_not_count),
            cmocka_unit_test(one_retry_whatever_the_class),
            cmocka_unit_test(not_a_number_ranks_last),
            cmocka_unit_test(over_its_limit_is_infeasible),
            cmocka_unit_test(lost_twice_without_witness_is_killed),
            cmocka_unit_test(four_attempts_a_rung_in_all),
            cmocka_unit_test(groups_of_a_host_witness_each_other),
            cmocka_unit_test(all_failed_is_nothing_feasible),
            cmocka_unit_test(a_failed_save_keeps_the_result),
            cmocka_unit_test(checkpoints_are_dropped),
            cmocka_unit_test(a_bad_checkpoint_is_dropped),
            cmocka_unit_test(a_good_checkpoint_is_kept),
            cmocka_unit_test(finished_at_a_drain),
            cmocka_unit_test(failures_and_losses_share_the_attempts),
            cmocka_unit_test(a_trial_is_no_witness_for_itself),
            cmocka_unit_test(what_waits_goes_before_going_on),
            cmocka_unit_test(a_group_with_a_dead_rank_does_not_go_on),
            cmocka_unit_test(checkpoints_have_a_budget),
            cmocka_unit_test(the_least_missed_checkpoint_goes),
            cmocka_unit_test(the_last_rung_is_saved_at_a_drain),
            cmocka_unit_test(killed_by_somebody),
            cmocka_unit_test(rates_go_on_within_a_rung_only)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

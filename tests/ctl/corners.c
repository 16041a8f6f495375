/*
 * Corners: files that are attached, studies that cannot be opened, checkpoints
 * that come late, pools that die, reasons that make no sense, objectives
 * without a ratio.
 */
#include "tests/ctl/world.h"

#include <math.h>
#include <string.h>

#define LOSS                                                                   \
    "study: t\nmodel: {kind: synthetic}\n"                                     \
    "space: {x: {int: [0, 99]}}\nconstraints: [x >= 0]\n"                      \
    "objective: {minimize: loss}\nresource: {min: 1, max: 9, eta: 3}\n"

static const char learned[] = LOSS "budget: {trials: 9}\nfinals: none\n";

static const tri_cmd_assign *assigned(const world *w, int n)
{
    const tri_command *c = world_command(w, TRI_CMD_ASSIGN, n);

    assert_non_null(c);
    return &c->u.assign;
}

static tri_status open_with(tri_ctl *ctl, const char *text, int epoch,
                            const tri_attachment *files, int n_files)
{
    tri_event e = {.kind = TRI_EV_OPEN,
                   .u.open = {.study_text = {text, strlen(text)},
                              .study_path = "here/study.yaml",
                              .epoch = epoch,
                              .attachments = files,
                              .n_attachments = n_files,
                              .max_time_s = NAN,
                              .deadline_s = NAN}};
    tri_commands out;

    return tri_ctl_feed(ctl, &e, &out);
}

static void tables_are_attached(void **state)
{
    static const char text[] =
            "study: t\n"
            "model: {kind: table, file: runs.csv, parameters: [dp, tp],\n"
            "        objective: rate}\n"
            "space: table\nobjective: {maximize: rate}\n";
    static const char edited[] =
            "study: t\n"
            "model: {kind: table, file: runs.csv, parameters: [dp, tp],\n"
            "        objective: rate}\n"
            "space: table\nobjective: {maximize: rate}\n"
            "budget: {trials: 3}\n";
    static const char csv[] = "dp,tp,rate\n1,1,5\n2,1,7\n1,2,6\n";
    tri_attachment files[] = {{"here/other.csv", {"x", 1}},
                              {"here/runs.csv", {csv, sizeof csv - 1}}};
    tri_event e = {.kind = TRI_EV_EDITED,
                   .u.edited = {.study_text = {edited, sizeof edited - 1}}};
    tri_commands out;
    tri_ctl *ctl;

    (void)state;
    assert_int_equal(tri_ctl_create(&ctl), TRI_OK);
    assert_int_equal(open_with(ctl, text, 1, files, 1), TRI_EIO);
    assert_non_null(strstr(tri_error_last()->sentence, "runs.csv"));
    assert_int_equal(open_with(ctl, text, 1, files, 2), TRI_OK);
    assert_int_equal(tri_space_count(tri_ctl_study(ctl)->space), 3);
    memset(files, 0, sizeof files); /* they were borrowed only */
    assert_int_equal(tri_ctl_feed(ctl, &e, &out), TRI_OK);
    assert_int_equal(tri_ctl_study(ctl)->budget.trials, 3);
    tri_ctl_destroy(ctl);
}

static void what_cannot_be_opened(void **state)
{
    tri_ctl *ctl;

    (void)state;
    assert_int_equal(tri_ctl_create(&ctl), TRI_OK);
    assert_int_equal(open_with(ctl, learned, 0, NULL, 0), TRI_EINVAL);
    assert_int_not_equal(open_with(ctl,
                                   LOSS "scheduler: {kind: asha, bracket: 7}\n",
                                   1, NULL, 0),
                         TRI_OK);
    assert_null(tri_ctl_study(ctl));
    assert_int_equal(open_with(ctl, learned, 1, NULL, 0), TRI_OK);
    tri_ctl_destroy(ctl);
}

static void edits_only_at_a_resume(void **state)
{
    world w;
    tri_event e = {.kind = TRI_EV_EDITED,
                   .u.edited = {.study_text = {learned, sizeof learned - 1}}};
    tri_commands out;

    (void)state;
    world_init(&w, learned);
    world_begin(&w, 1, 1);
    assert_int_equal(tri_ctl_feed(w.ctl, &e, &out), TRI_EINVAL);
    world_fini(&w);
}

/* The verdict came late: the leader has written a checkpoint and let go. */
static void a_late_checkpoint_is_used(void **state)
{
    world w;
    tri_event paused = {.kind = TRI_EV_PAUSED,
                        .u.outcome = {.run = 2,
                                      .checkpoint = "late",
                                      .checkpoint_step = 4,
                                      .checkpoint_bytes = 10}};
    tri_run_view v;

    (void)state;
    world_init(&w, learned);
    world_begin(&w, 1, 1);
    for (int i = 0; i < 3; i++) {
        world_run(&w, i, 3 - i);
        if (i < 2) {
            world_paused(&w, i, "");
        }
    }
    assert_int_equal(world_command(&w, TRI_CMD_VERDICT, 0)->u.verdict.verdict,
                     TRI_VERDICT_CONTINUE);
    world_feed(&w, &paused);
    assert_int_equal(w.last.n, 0);
    tri_ctl_run(w.ctl, 2, &v);
    assert_string_equal(v.outcome.checkpoint, "late");
    world_lost(&w, 3, TRI_REASON_LATE_VERDICT, -1, 0);
    assert_int_equal(assigned(&w, 0)->trial, 2);
    assert_string_equal(assigned(&w, 0)->checkpoint, "late");
    assert_int_equal(assigned(&w, 0)->checkpoint_step, 4);
    paused.u.outcome.run = 99; /* nobody's */
    world_feed(&w, &paused);
    paused.u.outcome.run = 0; /* with nothing in it */
    paused.u.outcome.checkpoint = "";
    world_feed(&w, &paused);
    assert_int_equal(w.last.n, 0);
    world_fini(&w);
}

static void a_pool_that_dies_under_its_runs(void **state)
{
    world w;
    tri_run_view v;

    (void)state;
    world_init(&w, learned);
    world_begin(&w, 1, 1);
    world_formed(&w, 0);
    w.n_runs = 0; /* it dies with its rank, before anybody says so */
    w.holder[1] = -1;
    world_rank(&w, 1, TRI_RANK_DOWN);
    assert_true(w.ended);
    assert_int_equal(w.status, 3);
    tri_ctl_run(w.ctl, 0, &v);
    assert_int_equal(v.status, TRI_RUN_LOST);
    world_begin(&w, 1, 1);
    assert_int_equal(assigned(&w, 0)->trial, 0);
    world_fini(&w);
}

static void reasons_that_make_no_sense(void **state)
{
    world w;
    tri_run_view v;

    (void)state;
    world_init(&w, learned);
    world_begin(&w, 3, 3);
    world_failed(&w, 0, TRI_REASON_NONE);
    tri_ctl_run(w.ctl, 0, &v);
    assert_int_equal(v.reason, TRI_REASON_BAD_EXIT);
    world_failed(&w, 1, TRI_REASON_NODE_LOST);
    tri_ctl_run(w.ctl, 1, &v);
    assert_int_equal(v.status, TRI_RUN_LOST);
    world_lost(&w, 2, TRI_REASON_OOM, -1, 0);
    tri_ctl_run(w.ctl, 2, &v);
    assert_int_equal(v.status, TRI_RUN_LOST);
    assert_int_equal(v.reason, TRI_REASON_RANK_LOST);
    world_fini(&w);
}

static void a_set_progress_limit_rules(void **state)
{
    world w;

    (void)state;
    world_init(&w, LOSS "timeouts: {startup: 7 s, progress: 3 s, grace: 1 s}\n"
                        "budget: {trials: 2}\n");
    world_begin(&w, 1, 1);
    assert_true(tri_ctl_next_deadline(w.ctl) == 7);
    world_formed(&w, 0);
    w.now = 1;
    world_report(&w, 0, 100);
    assert_true(tri_ctl_next_deadline(w.ctl) == 4);
    w.now = 4;
    world_clock(&w, 0);
    assert_true(tri_ctl_next_deadline(w.ctl) == 10);
    world_fini(&w);
}

/* Losses that may be negative have no ratio, but a difference. */
static void differences_where_there_is_no_ratio(void **state)
{
    (void)state;
    for (int noisy = 0; noisy < 3; noisy++) {
        static const double noise[] = {0, 0.01, 9};
        world w;
        tri_answer a;
        int n = 0;

        world_init(&w, LOSS "budget: {trials: 4}\nbaseline: {x: 5}\n"
                            "finals: {top: 1, repeats: 4}\n");
        world_begin(&w, 1, 1);
        while (!w.ended) {
            double value = w.runs[0].trial == 2 ? -3 : -1;

            assert_true(++n < 100);
            if (w.runs[0].state == WRUN_SAVING) {
                world_paused(&w, w.runs[0].run, "");
                continue;
            }
            value += w.runs[0].phase == TRI_PHASE_FINALS
                             ? noise[noisy] * (n % 3 - 1)
                             : 0;
            world_run(&w, w.runs[0].run, value);
        }
        tri_ctl_answer(w.ctl, &a);
        assert_int_equal(a.winner.trial, noisy == 2 ? 0 : 2);
        assert_int_equal(a.significant, noisy != 2);
        assert_true(noisy == 2 || isnan(a.speedup));
        world_fini(&w);
    }
}

static void intervals_are_compared_per_rank_too(void **state)
{
    static const char text[] =
            "study: t\nmodel: {kind: process, command: [train]}\n"
            "space: {g: {choice: [2, 4]}}\nranks: g\n"
            "objective: {maximize: tokens_per_s, compare: per_rank}\n"
            "resource: {min: 1, max: 9, eta: 3}\nstart: [{g: 2}]\n"
            "finals: none\n";
    tri_event e = {.kind = TRI_EV_FINISHED,
                   .u.outcome = {.tokens_per_s = 100,
                                 .lo = 90,
                                 .hi = 120,
                                 .stderr_tail = {"tail", 4}}};
    world w;
    tri_trial_view t;
    tri_run_view v;
    tri_progress p;

    (void)state;
    world_init(&w, text);
    world_begin(&w, 2, 2);
    world_feed(&w, &e);
    tri_ctl_trial(w.ctl, 0, &t);
    assert_true(t.objective == 50 && t.lo == 45 && t.hi == 60);
    tri_ctl_run(w.ctl, 0, &v);
    assert_true(v.objective == 50 && v.outcome.tokens_per_s == 100);
    assert_memory_equal(v.outcome.stderr_tail.data, "tail", 5);
    tri_ctl_progress(w.ctl, &p);
    assert_true(p.best == 50 && p.best_lo == 45 && p.best_hi == 60);
    world_fini(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(tables_are_attached),
            cmocka_unit_test(what_cannot_be_opened),
            cmocka_unit_test(edits_only_at_a_resume),
            cmocka_unit_test(a_late_checkpoint_is_used),
            cmocka_unit_test(a_pool_that_dies_under_its_runs),
            cmocka_unit_test(reasons_that_make_no_sense),
            cmocka_unit_test(a_set_progress_limit_rules),
            cmocka_unit_test(differences_where_there_is_no_ratio),
            cmocka_unit_test(intervals_are_compared_per_rank_too)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

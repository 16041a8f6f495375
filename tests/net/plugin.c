/*
 * Plugin trials in whole studies: every way to end, metrics of the trial's own,
 * checkpoints between rungs.
 */
#include "tests/net/harness.h"

#include "tests/tri_cmocka.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#define N_WAYS 19

static const char head[] =
        "study: plugins\nseed: 1\n"
        "model: {kind: plugin, library: " TRI_PLUGINS "/ways.so}\n"
        "search: random\n"
        "timeouts: {startup: 20 s, progress: 20 s, grace: 1 s}\n";

static const char every_way[] =
        "space:\n"
        "  x: 2\n"
        "  way: {choice: [good, open-fails, open-one, dups, nan, bare,"
        " sizeless, backwards, one, code, diverges, comm, ends, ends-one,"
        " ends-late, strays, far, mute, talks]}\n"
        "  n: {choice: [1, 2]}\n"
        "constraints: [\"(way in ['good', 'open-one', 'one', 'ends-one',"
        " 'strays', 'dups']) == (n == 2)\"]\n"
        "ranks: n\n"
        "objective: {minimize: loss}\n"
        "resource: {unit: steps, min: 2, max: 2, eta: 2}\n"
        "budget: {trials: 19}\nfinals: none\n";

static tri_tuned tune(const char *rest)
{
    char text[4096];
    tri_tuned t;

    snprintf(text, sizeof text, "%s%s", head, rest);
    t = tri_case_tune(text, tri_case_file(), 0, NULL, NULL);
    assert_int_equal(t.st, TRI_OK);
    assert_int_equal(t.end.status, 0);
    return t;
}

static int64_t find(const tri_ctl *ctl, const char *way, tri_trial_view *out)
{
    for (int64_t i = 0; i < tri_ctl_n_trials(ctl); i++) {
        tri_value v;

        tri_ctl_trial(ctl, i, out);
        assert_int_equal(tri_space_lookup(tri_ctl_study(ctl)->space,
                                          out->config, "way", &v),
                         TRI_OK);
        if (strcmp(v.u.word, way) == 0) {
            return i;
        }
    }
    print_error("no trial with %s\n", way);
    assert_true(0);
    return -1;
}

/* The last run of a trial. */
static tri_run_view last_run(const tri_ctl *ctl, int64_t trial)
{
    tri_run_view v;

    for (int64_t i = tri_ctl_n_runs(ctl) - 1; i >= 0; i--) {
        tri_ctl_run(ctl, i, &v);
        if (v.trial == trial) {
            return v;
        }
    }
    assert_true(0);
    return v;
}

static void check_failed(const tri_ctl *ctl, const char *way, tri_reason reason,
                         const char *said)
{
    tri_trial_view t = {0};
    tri_run_view r = last_run(ctl, find(ctl, way, &t));

    if (t.state != TRI_TRIAL_FAILED || t.reason != reason ||
        !strstr(r.outcome.sentence, said)) {
        print_error("%s: state %d, %s: %s\n", way, (int)t.state,
                    tri_reason_name(t.reason), r.outcome.sentence);
    }
    assert_int_equal(t.state, TRI_TRIAL_FAILED);
    assert_int_equal(t.reason, reason);
    assert_non_null(strstr(r.outcome.sentence, said));
    assert_true(isnan(t.objective));
}

/* `steps` were done, the loss is that of the last. */
static void check_good(const tri_ctl *ctl, const char *way, int64_t steps)
{
    tri_trial_view t;
    tri_run_view r = last_run(ctl, find(ctl, way, &t));

    assert_int_equal(r.status, TRI_RUN_FINISHED);
    assert_int_equal(r.outcome.steps_done, steps);
    assert_true(r.objective == 100.0 / (double)(steps + 2));
    assert_true(r.outcome.step_s >= 0 && r.outcome.samples_per_s > 0);
    assert_int_equal(r.outcome.peak_bytes, 1000 + r.n_ranks - 1);
    assert_true(r.outcome.rss_bytes > 100000);
}

static void every_end(void)
{
    tri_tuned t = tune(every_way);
    tri_trial_view v;
    const tri_ctl *ctl = t.ctl;

    assert_int_equal(tri_ctl_n_trials(ctl), N_WAYS);
    check_good(ctl, "good", 5);
    check_good(ctl, "dups", 5);
    check_good(ctl, "strays", 5);
    check_good(ctl, "ends-late", 5);
    check_good(ctl, "talks", 5);
    check_good(ctl, "ends", 2); /* its resource, by itself */
    check_good(ctl, "far", 8);  /* by fours */
    check_failed(ctl, "open-fails", TRI_REASON_INFEASIBLE, "not with this x");
    check_failed(ctl, "open-one", TRI_REASON_OOM_DEVICE, "rank 1: memory");
    check_failed(ctl, "one", TRI_REASON_BAD_EXIT,
                 "run_until failed on rank 1: trouble ahead");
    check_failed(ctl, "nan", TRI_REASON_NAN, "step 3 is not a number");
    check_failed(ctl, "diverges", TRI_REASON_DIVERGED, "bounds");
    check_failed(ctl, "comm", TRI_REASON_RENDEZVOUS, "MPI failed");
    check_failed(ctl, "code", TRI_REASON_BAD_EXIT, "returned 77 on rank 0");
    check_failed(ctl, "bare", TRI_REASON_BAD_EXIT, "never reported a loss");
    check_failed(ctl, "mute", TRI_REASON_BAD_EXIT, "without a report of step");
    check_failed(ctl, "sizeless", TRI_REASON_BAD_EXIT, "struct_bytes 0");
    check_failed(ctl, "backwards", TRI_REASON_BAD_EXIT, "after a later one");
    check_failed(ctl, "ends-one", TRI_REASON_BAD_EXIT, "on some ranks");
    assert_int_equal(last_run(ctl, find(ctl, "one", &v)).attempt, 1);
    tri_tuned_fini(&t);
    tri_case_verify(tri_case_file(), N_WAYS);
}

/* ---- what is learned ---------------------------------------------------- */

static const char rungs[] = "space: {x: {int: [0, 9]}, way: good}\n"
                            "resource: {unit: steps, min: 2, max: 8, eta: 2}\n"
                            "budget: {trials: 10}\n"
                            "finals: {top: 2, repeats: 2}\n";

static int64_t x_of(const tri_ctl *ctl, int64_t trial)
{
    tri_trial_view t;
    tri_value x;

    tri_ctl_trial(ctl, trial, &t);
    assert_int_equal(
            tri_space_lookup(tri_ctl_study(ctl)->space, t.config, "x", &x),
            TRI_OK);
    return x.u.i;
}

/* Every result is that of its last step, wherever the run began; how many left
 * a checkpoint. */
static int check_learned(const tri_ctl *ctl,
                         double (*expected)(int64_t x, int64_t step))
{
    int saved = 0;
    int finished = 0;

    for (int64_t i = 0; i < tri_ctl_n_runs(ctl); i++) {
        tri_run_view r;

        tri_ctl_run(ctl, i, &r);
        if (r.status == TRI_RUN_FINISHED) {
            assert_int_equal(r.outcome.steps_done, r.resource + 3);
            assert_true(r.objective ==
                        expected(x_of(ctl, r.trial), r.resource + 3));
            finished++;
        }
        saved += r.outcome.checkpoint && r.outcome.checkpoint[0];
    }
    assert_true(finished >= 10 + 5 + 2 + 4);
    return saved;
}

static double loss_of(int64_t x, int64_t step)
{
    return 100.0 / (double)(step + x);
}

static double score_of(int64_t x, int64_t step)
{
    return (double)(1000 * x + step);
}

static void checkpoints(void)
{
    char text[1024];
    tri_tuned t;

    snprintf(text, sizeof text, "objective: {minimize: loss}\n%s", rungs);
    t = tune(text);
    assert_true(check_learned(t.ctl, loss_of) > 0);
    tri_tuned_fini(&t);
}

static void own_metric(void)
{
    char text[1024];
    tri_standing best;
    tri_tuned t;

    snprintf(text, sizeof text, "objective: {maximize: score}\n%s", rungs);
    t = tune(text);
    check_learned(t.ctl, score_of);
    assert_int_equal(tri_ctl_top(t.ctl, &best, 1), 1);
    assert_int_equal(x_of(t.ctl, best.trial), 9);
    tri_tuned_fini(&t);
}

/* Without checkpoints it begins again; the resource is counted. */
static void counted_without_checkpoints(void)
{
    static const char study[] =
            "study: counted\nseed: 2\n"
            "model: {kind: plugin, library: " TRI_PLUGINS "/ways_unsaved.so}\n"
            "space: {x: {int: [0, 9]}, way: good}\n"
            "objective: {minimize: loss}\n"
            "resource: {unit: samples, min: 16, max: 64, eta: 2}\n"
            "search: random\n"
            "budget: {trials: 6}\nfinals: none\n";
    tri_tuned t = tri_case_tune(study, tri_case_file(), 0, NULL, NULL);

    assert_int_equal(t.st, TRI_OK);
    assert_int_equal(t.end.status, 0);
    for (int64_t i = 0; i < tri_ctl_n_runs(t.ctl); i++) {
        tri_run_view r;

        tri_ctl_run(t.ctl, i, &r);
        if (r.status == TRI_RUN_FINISHED) { /* 8 samples a step */
            assert_int_equal(r.outcome.steps_done, r.resource / 8 + 3);
        }
        assert_true(!r.outcome.checkpoint || !r.outcome.checkpoint[0]);
    }
    tri_tuned_fini(&t);
}

/* ---- a drain ------------------------------------------------------------- */

#define DRAINED_STEPS 203

static const char drained_study[] =
        "study: drained\nseed: 2\n"
        "model: {kind: plugin, library: " TRI_PLUGINS "/ways.so}\n"
        "space: {x: {int: [0, 3]}, way: slow}\n"
        "objective: {maximize: here}\n"
        "resource: {unit: steps, min: 200, max: 200}\n"
        "search: random\n"
        "budget: {trials: 4}\nfinals: none\n";

static void drain_in_the_midst(void *ctx, const tri_ctl *ctl)
{
    int *sent = ctx;

    for (int64_t i = 0; i < tri_ctl_n_runs(ctl) && !*sent; i++) {
        tri_run_view r;

        tri_ctl_run(ctl, i, &r);
        if (r.last_step > 20) {
            *sent = 1;
            raise(SIGUSR1);
        }
    }
}

/* Of each interrupted run, the steps that its checkpoint has; -1 elsewhere. */
static int checkpoints_of(const tri_ctl *ctl, int64_t *first)
{
    int n = 0;

    for (int i = 0; i < 4; i++) {
        first[i] = -1;
    }
    for (int64_t i = 0; i < tri_ctl_n_runs(ctl); i++) {
        tri_run_view r;

        tri_ctl_run(ctl, i, &r);
        if (r.status == TRI_RUN_INTERRUPTED && r.outcome.checkpoint_step > 0) {
            first[r.trial] = r.outcome.checkpoint_step;
            n++;
        }
    }
    return n;
}

/* It goes on from there: the steps done since are fewer. */
static void drained_and_resumed(void)
{
    int64_t first[4];
    int sent = 0;
    tri_tuned t = tri_case_tune(drained_study, tri_case_file(), 0,
                                drain_in_the_midst, &sent);

    assert_int_equal(t.st, TRI_OK);
    assert_int_equal(t.end.status, 3);
    assert_true(checkpoints_of(t.ctl, first) > 0);
    tri_tuned_fini(&t);
    t = tri_case_tune(drained_study, tri_case_file(), 1, NULL, NULL);
    assert_int_equal(t.st, TRI_OK);
    assert_int_equal(t.end.status, 0);
    for (int64_t i = 0; i < tri_ctl_n_runs(t.ctl); i++) {
        tri_run_view r;

        tri_ctl_run(t.ctl, i, &r);
        if (r.status == TRI_RUN_FINISHED && first[r.trial] > 0) {
            print_message("trial %d from step %d: %g\n", (int)r.trial,
                          (int)first[r.trial], r.objective);
            assert_true(r.objective == /* the mean of the last twenty */
                        (double)(DRAINED_STEPS - first[r.trial]) - 9.5);
        }
    }
    tri_tuned_fini(&t);
}

static void on_signal(int signo)
{
    /* made for it; NOLINTNEXTLINE(bugprone-signal-handler) */
    tri_net_signal(signo);
}

int main(int argc, char **argv)
{
    static const tri_case cases[] = {
            {"every_end", 1, every_end},
            {"checkpoints", 1, checkpoints},
            {"own_metric", 1, own_metric},
            {"counted_without_checkpoints", 1, counted_without_checkpoints},
            {"drained_and_resumed", 2, drained_and_resumed},
    };

    signal(SIGUSR1, on_signal);
    return tri_cases_run(argc, argv, cases, 5);
}

/*
 * A synthetic study end to end, its record, and the openings that are refused.
 */
#include "tests/net/harness.h"

#include "tests/tri_cmocka.h"
#include "trireme/curve.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define STUDY                                                                  \
    "study: small\n"                                                           \
    "seed: 3\n"                                                                \
    "model: {kind: synthetic, cost: 0.002}\n"                                  \
    "space: {x: {int: [0, 63]}, n: {int: [1, 2]}}\n"                           \
    "ranks: n\n"                                                               \
    "objective: {minimize: loss}\n"                                            \
    "resource: {unit: steps, min: 1, max: 16, eta: 4}\n"                       \
    "search: random\n"

static const char study[] = STUDY "budget: {trials: 24}\n"
                                  "finals: {top: 2, repeats: 2}\n";

static void check_ends(const tri_ctl *ctl, int64_t trials)
{
    tri_progress p;

    tri_ctl_progress(ctl, &p);
    assert_int_equal(p.state, TRI_CTL_ENDED);
    assert_int_equal(p.trials, trials);
    assert_int_equal(p.running, 0);
    assert_int_equal(p.ranks_busy, 0);
    assert_int_equal(p.ranks_total, tri_case_ranks - 1);
    assert_int_equal(p.failed, 0);
    assert_true(p.finished >= trials);
    for (int64_t i = 0; i < tri_ctl_n_runs(ctl); i++) {
        tri_run_view v;

        tri_ctl_run(ctl, i, &v);
        assert_int_equal(v.state, TRI_RUN_ENDED);
        if (v.status == TRI_RUN_FINISHED) {
            assert_true(isfinite(v.objective));
            assert_int_equal(v.outcome.steps_done, v.resource);
            assert_true(v.reports > 0 || v.outcome.steps_done == 0);
        }
        for (int j = 0; j < v.n_ranks; j++) {
            assert_in_range(v.ranks[j], 1, tri_case_ranks - 1);
        }
    }
}

/* The best of what was measured is the least of the measured values. */
static void check_best(const tri_tuned *t)
{
    tri_answer answer;

    tri_ctl_answer(t->ctl, &answer);
    assert_true(answer.winner.trial >= 0);
    assert_true(isfinite(answer.winner.objective));
    for (int64_t i = 0; i < tri_ctl_n_trials(t->ctl); i++) {
        tri_trial_view v;

        tri_ctl_trial(t->ctl, i, &v);
        if (v.top_rung == 2) {
            assert_true(answer.winner.objective <= v.objective + 1e-12);
        }
    }
}

static void a_study_ends(void)
{
    tri_tuned t = tri_case_tune(study, tri_case_file(), 0, NULL, NULL);
    char path[256];

    assert_int_equal(t.st, TRI_OK);
    assert_int_equal(t.end.status, 0);
    assert_false(t.end.must_exit);
    check_ends(t.ctl, 24);
    check_best(&t);
    tri_case_verify(tri_case_file(), 24 * 4);
    snprintf(path, sizeof path, "%s.exit", tri_case_file());
    assert_int_equal(access(path, R_OK), 0);
    tri_tuned_fini(&t);
}

static void the_same_seed_gives_the_same_trials(void)
{
    char first[10][128];

    for (int round = 0; round < 2; round++) {
        char path[256];
        tri_tuned t;

        snprintf(path, sizeof path, "%s.%d", tri_case_file(), round);
        t = tri_case_tune(study, path, 0, NULL, NULL);
        assert_int_equal(t.st, TRI_OK);
        for (int i = 0; i < 10; i++) {
            tri_trial_view v;
            char text[128];

            tri_ctl_trial(t.ctl, i, &v);
            tri_space_print(tri_ctl_study(t.ctl)->space, v.config, text,
                            sizeof text);
            if (round == 0) {
                memcpy(first[i], text, sizeof text);
            } else {
                assert_string_equal(first[i], text);
            }
        }
        tri_tuned_fini(&t);
    }
}

static void done_is_done_and_edits_go_on(void)
{
    static const char more[] = STUDY "budget: {trials: 32}\n"
                                     "finals: {top: 2, repeats: 2}\n";
    tri_tuned t = tri_case_tune(study, tri_case_file(), 1, NULL, NULL);

    assert_int_equal(t.st, TRI_OK); /* nothing there: begun */
    assert_int_equal(t.end.status, 0);
    tri_tuned_fini(&t);
    t = tri_case_tune(study, tri_case_file(), 1, NULL, NULL);
    assert_int_equal(t.st, TRI_OK);
    assert_int_equal(t.end.status, 0);
    assert_non_null(strstr(t.end.why, "done already"));
    tri_tuned_fini(&t);
    t = tri_case_tune(more, tri_case_file(), 1, NULL, NULL);
    assert_int_equal(t.st, TRI_OK);
    assert_int_equal(t.end.status, 0);
    check_ends(t.ctl, 32);
    tri_tuned_fini(&t);
    tri_case_verify(tri_case_file(), 32 * 4);
}

static void openings_that_are_refused(void)
{
    static const char other[] =
            "study: other\n"
            "model: {kind: synthetic, cost: 0.001}\n"
            "space: {x: {int: [0, 63]}, n: {int: [1, 2]}}\n"
            "ranks: n\nobjective: {minimize: loss}\n"
            "budget: {trials: 4}\nfinals: none\n"
            "resource: {unit: steps, min: 1, max: 4, eta: 4}\n";
    static const char noisy[] =
            "study: other\n"
            "model: {kind: synthetic, cost: 0.001, noise: 0.5}\n"
            "space: {x: {int: [0, 63]}, n: {int: [1, 2]}}\n"
            "ranks: n\nobjective: {minimize: loss}\n"
            "budget: {trials: 4}\nfinals: none\n"
            "resource: {unit: steps, min: 1, max: 4, eta: 4}\n";
    tri_tuned t = tri_case_tune(other, tri_case_file(), 0, NULL, NULL);

    assert_int_equal(t.st, TRI_OK);
    tri_tuned_fini(&t);
    t = tri_case_tune(other, tri_case_file(), 0, NULL, NULL);
    assert_int_equal(t.st, TRI_EEXIST);
    tri_tuned_fini(&t);
    t = tri_case_tune(study, tri_case_file(), 1, NULL, NULL);
    assert_int_equal(t.st, TRI_EOTHER);
    tri_tuned_fini(&t);
    t = tri_case_tune(noisy, tri_case_file(), 1, NULL, NULL);
    assert_int_equal(t.st, TRI_EINVAL);
    assert_non_null(strstr(tri_error_last()->sentence, "model"));
    tri_tuned_fini(&t);
    t = tri_case_tune(study, "/no/such/folder/x.h5", 0, NULL, NULL);
    assert_true(t.st != TRI_OK);
    tri_tuned_fini(&t);
    tri_case_verify(tri_case_file(), 4); /* untouched by all that */
    tri_net_dismiss();
}

static void failures_are_contained(void)
{
    static const char text[] =
            "study: failing\nseed: 5\n"
            "model: {kind: synthetic, cost: 0.001, fail: 0.3, noise: 0.1, "
            "straggle: 0.5}\n"
            "space: {x: {int: [0, 63]}, n: {int: [1, 2]}}\n"
            "ranks: n\nobjective: {minimize: loss}\n"
            "resource: {unit: steps, min: 2, max: 8, eta: 2}\n"
            "search: random\n"
            "budget: {trials: 30}\nfinals: none\n";
    tri_tuned t = tri_case_tune(text, tri_case_file(), 0, NULL, NULL);
    tri_progress p;

    assert_int_equal(t.st, TRI_OK);
    assert_int_equal(t.end.status, 0);
    tri_ctl_progress(t.ctl, &p);
    assert_true(p.failures[TRI_REASON_BAD_EXIT] > 0);
    assert_int_equal(p.trials, 30);
    assert_int_equal(p.running, 0);
    tri_tuned_fini(&t);
    tri_case_verify(tri_case_file(), 30);
}

int main(int argc, char **argv)
{
    static const tri_case cases[] = {
            {"a_study_ends", 1, a_study_ends},
            {"the_same_seed", 2, the_same_seed_gives_the_same_trials},
            {"done_is_done", 3, done_is_done_and_edits_go_on},
            {"refused", 6, openings_that_are_refused},
            {"failures", 1, failures_are_contained},
    };

    return tri_cases_run(argc, argv, cases, 5);
}

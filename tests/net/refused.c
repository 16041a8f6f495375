/*
 * A rank alone is told to go together with its assignment, so a refusal of
 * that reaches rank 0 when the run counts as formed: the trial fails with the
 * rank's own words, the rank stays and does the next.
 */
#include "mpi_workers/run.h"
#include "tests/net/harness.h"
#include "trireme/wire.h"

#include "tests/tri_cmocka.h"

#include <stdlib.h>
#include <string.h>

#define TRIALS 40

static const char study[] = "study: refused\nseed: 3\n"
                            "model: {kind: synthetic, cost: 0.001}\n"
                            "space: {x: {int: [0, 63]}}\n"
                            "objective: {minimize: loss}\n"
                            "resource: {unit: steps, min: 2, max: 2, eta: 2}\n"
                            "search: random\n"
                            "budget: {trials: 40}\nfinals: none\n"
                            "failures: {max_attempts: 1}\n";

/* What the workers of this test refuse; some of all. */
static int is_unwanted(const char *config)
{
    return atoi(config + strlen("x=")) % 4 == 0;
}

/* By the linker's names: what tri_assignment_init is, and what is called for
 * it. */
tri_status assignment_real(tri_assignment *a, const tri_worker *w,
                           const tri_cmd_assign *assign) __asm__("__real_tri_"
                                                                 "assignment_"
                                                                 "init");
tri_status assignment_init(tri_assignment *a, const tri_worker *w,
                           const tri_cmd_assign *assign) __asm__("__wrap_tri_"
                                                                 "assignment_"
                                                                 "init");

tri_status assignment_init(tri_assignment *a, const tri_worker *w,
                           const tri_cmd_assign *assign)
{
    return is_unwanted(assign->config)
                   ? TRI_FAIL(TRI_EINFEASIBLE, "%s is not wanted here",
                              assign->config)
                   : assignment_real(a, w, assign);
}

/* Runs that were refused once they counted as formed. */
static int count_formed(void)
{
    uint8_t formed[2 * TRIALS] = {0};
    tri_history *history;
    tri_arena *arena;
    int n = 0;

    assert_int_equal(tri_history_read(tri_case_file(), &history), TRI_OK);
    assert_int_equal(tri_arena_create(&arena), TRI_OK);
    for (int64_t i = 0; i < tri_history_n(history); i++) {
        tri_entry entry;
        tri_event e;

        tri_history_entry(history, i, &entry);
        assert_int_equal(tri_event_unpack(entry.packed, entry.bytes, arena, &e),
                         TRI_OK);
        if (e.kind == TRI_EV_FORMED) {
            assert_true(e.u.formed.run < 2 * TRIALS);
            formed[e.u.formed.run] = 1;
        } else if (e.kind == TRI_EV_FAILED) {
            n += formed[e.u.outcome.run];
        }
    }
    tri_arena_destroy(arena);
    tri_history_destroy(history);
    return n;
}

static void refused_after_go(void)
{
    tri_tuned t = tri_case_tune(study, tri_case_file(), 0, NULL, NULL);
    tri_progress p;
    int n = 0;

    assert_int_equal(t.st, TRI_OK);
    assert_int_equal(t.end.status, 0);
    assert_false(t.end.must_exit); /* nobody was lost */
    for (int64_t i = 0; i < tri_ctl_n_runs(t.ctl); i++) {
        tri_run_view v;
        tri_trial_view trial;
        char config[128];

        tri_ctl_run(t.ctl, i, &v);
        tri_ctl_trial(t.ctl, v.trial, &trial);
        tri_space_print(t.study->space, trial.config, config, sizeof config);
        if (is_unwanted(config)) {
            n++;
            assert_int_equal(v.status, TRI_RUN_FAILED);
            assert_int_equal(v.reason, TRI_REASON_INFEASIBLE);
            assert_non_null(strstr(v.outcome.sentence, "is not wanted here"));
            assert_int_equal(v.attempt, 0);
        } else {
            assert_int_equal(v.status, TRI_RUN_FINISHED);
        }
    }
    tri_ctl_progress(t.ctl, &p);
    assert_int_equal(p.trials, TRIALS);
    assert_int_equal(p.failed, n);
    assert_true(n > 2);
    tri_tuned_fini(&t);
    tri_case_verify(tri_case_file(), TRIALS);
    assert_true(count_formed() > 0);
}

int main(int argc, char **argv)
{
    static const tri_case cases[] = {{"refused_after_go", 1, refused_after_go}};

    return tri_cases_run(argc, argv, cases, 1);
}

/*
 * A rank that is stopped (not dead) while it has a run to itself: it is found
 * by the run's want of progress, struck, and the study goes on without it.
 */
#include "tests/net/harness.h"

#include "tests/tri_cmocka.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#define VICTIM 3

static int pids[16];
static int stopped;

static const char study[] =
        "study: lost\nseed: 2\n"
        "model: {kind: synthetic, cost: 0.1}\n"
        "space: {x: {int: [0, 63]}}\n"
        "objective: {minimize: loss}\n"
        "resource: {unit: steps, min: 5, max: 5, eta: 2}\n"
        "search: random\n"
        "budget: {trials: 20}\nfinals: none\n"
        "timeouts: {startup: 30 s, progress: 2 s, grace: 1 s}\n";

static void stop_one(void *ctx, const tri_ctl *ctl)
{
    (void)ctx;
    for (int64_t i = 0; i < tri_ctl_n_runs(ctl) && !stopped; i++) {
        tri_run_view v;

        tri_ctl_run(ctl, i, &v);
        if (v.state == TRI_RUN_RUNNING && v.ranks[0] == VICTIM &&
            v.reports > 1) {
            stopped = pids[VICTIM];
            kill(stopped, SIGSTOP);
        }
    }
}

static void a_stopped_rank_is_struck(void)
{
    tri_tuned t;
    tri_progress p;

    t = tri_case_tune(study, tri_case_file(), 0, stop_one, NULL);
    kill(pids[VICTIM], SIGCONT);
    assert_true(stopped);
    assert_int_equal(t.st, TRI_OK);
    assert_int_equal(t.end.status, 0);
    assert_true(t.end.must_exit);
    tri_ctl_progress(t.ctl, &p);
    assert_int_equal(p.trials, 20);
    assert_true(p.finished >= 19);
    tri_tuned_fini(&t);
    tri_case_verify(tri_case_file(), 20);
}

int main(int argc, char **argv)
{
    static const tri_case cases[] = {
            {"a_stopped_rank_is_struck", 1, a_stopped_rank_is_struck}};
    int pid = getpid();

    MPI_Init(&argc, &argv);
    MPI_Gather(&pid, 1, MPI_INT, pids, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return tri_cases_run(argc, argv, cases, 1);
}

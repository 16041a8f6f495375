/*
 * A member that is stopped in the midst of a run: its leader, which waits for
 * it, still answers rank 0 and names it; it alone is struck, and its run is
 * done by the others.  And what only looks like silence.
 */
#include "src/net/watch.h"
#include "tests/net/gate.h"
#include "tests/net/harness.h"

#include "tests/tri_cmocka.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#define VICTIM 4 /* of ranks 1 to 4; 3 leads it */

static int pids[16];
static int is_stopped;

static const char study[] =
        "study: silent\nseed: 2\n"
        "model: {kind: synthetic, cost: 0.05}\n"
        "space: {x: {int: [0, 63]}}\n"
        "ranks: 2\n"
        "objective: {minimize: loss}\n"
        "resource: {unit: steps, min: 20, max: 20, eta: 2}\n"
        "search: random\n"
        "budget: {trials: 8}\nfinals: none\n"
        "timeouts: {startup: 30 s, progress: 2 s, grace: 1 s}\n";

static int has(const tri_run_view *v, int rank)
{
    for (int i = 0; i < v->n_ranks; i++) {
        if (v->ranks[i] == rank) {
            return 1;
        }
    }
    return 0;
}

/* Stop the victim once a run of its has reported. */
static void stop_it(void *ctx, const tri_ctl *ctl)
{
    (void)ctx;
    for (int64_t i = 0; i < tri_ctl_n_runs(ctl) && !is_stopped; i++) {
        tri_run_view v;

        tri_ctl_run(ctl, i, &v);
        if (v.state == TRI_RUN_RUNNING && v.reports > 1 && has(&v, VICTIM) &&
            v.ranks[0] != VICTIM) {
            is_stopped = 1;
            kill(pids[VICTIM], SIGSTOP);
            tri_gate_open();
        }
    }
}

/* One run was lost by the victim's fault, none failed, and all others of the
 * victim's were before it. */
static void check_runs(const tri_ctl *ctl)
{
    int n_lost = 0;

    for (int64_t i = 0; i < tri_ctl_n_runs(ctl); i++) {
        tri_run_view v;

        tri_ctl_run(ctl, i, &v);
        if (v.status == TRI_RUN_LOST) {
            n_lost++;
            assert_int_equal(v.reason, TRI_REASON_RANK_LOST);
            assert_int_equal(v.outcome.lost_rank, VICTIM);
            assert_non_null(strstr(v.outcome.sentence, "nothing for"));
        } else {
            assert_int_equal(v.status, TRI_RUN_FINISHED);
            assert_false(n_lost > 0 && has(&v, VICTIM));
        }
    }
    assert_int_equal(n_lost, 1);
}

static void it_alone_is_struck(void)
{
    tri_tuned t;
    tri_progress p;

    tri_gate_close(TRI_PHASE_SEARCH);
    t = tri_case_tune(study, tri_case_file(), 0, stop_it, NULL);
    kill(pids[VICTIM], SIGCONT);
    assert_true(is_stopped);
    assert_int_equal(t.st, TRI_OK);
    assert_int_equal(t.end.status, 0);
    assert_true(t.end.must_exit);
    tri_ctl_progress(t.ctl, &p);
    assert_int_equal(p.trials, 8);
    assert_int_equal(p.failed, 0);
    check_runs(t.ctl);
    tri_tuned_fini(&t);
    tri_case_verify(tri_case_file(), 8);
}

/* A process that does not heed TERM has the whole grace, which is longer than
 * a rank may be silent: the ranks that wait for it are there all the same, and
 * the next run waits for them. */
static void a_long_grace_is_no_silence(void)
{
    static const char deaf[] =
            "study: deaf\nseed: 2\n"
            "model:\n"
            "  kind: process\n"
            "  shell: true\n"
            "  command: |\n"
            "      [ {trial} = 0 ] && trap '' TERM\n"
            "      [ {trial} = 0 ] && loss=NaN || loss=1\n"
            "      for i in 1 2 3 4 5; do\n"
            "        echo \"{{\\\"step\\\": $i, \\\"loss\\\": $loss}}\"; done\n"
            "      [ {trial} = 0 ] && sleep 1000; exit 0\n"
            "space: {x: {int: [0, 63]}}\n"
            "ranks: 4\n"
            "objective: {minimize: loss}\n"
            "resource: {unit: steps, min: 2, max: 2}\n"
            "search: random\nbudget: {trials: 2}\nfinals: none\n"
            "timeouts: {startup: 10 s, progress: 10 s, grace: 7 s}\n";
    tri_run_view v;
    tri_tuned t;

    tri_watch_silent_s = 5; /* as 15 s to a grace of 17 */
    t = tri_case_tune(deaf, tri_case_file(), 0, NULL, NULL);
    assert_int_equal(t.st, TRI_OK);
    assert_int_equal(t.end.status, 0);
    assert_int_equal(tri_ctl_n_runs(t.ctl), 2);
    tri_ctl_run(t.ctl, 0, &v);
    assert_int_equal(v.reason, TRI_REASON_NAN);
    tri_ctl_run(t.ctl, 1, &v);
    assert_int_equal(v.status, TRI_RUN_FINISHED);
    tri_tuned_fini(&t);
}

int main(int argc, char **argv)
{
    static const tri_case cases[] = {
            {"it_alone_is_struck", 1, it_alone_is_struck},
            {"a_long_grace_is_no_silence", 1, a_long_grace_is_no_silence}};
    int pid = getpid();

    MPI_Init(&argc, &argv);
    MPI_Gather(&pid, 1, MPI_INT, pids, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (tri_gate_init() != TRI_OK) {
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return tri_cases_run(argc, argv, cases, 2);
}

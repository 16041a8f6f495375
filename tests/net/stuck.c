/*
 * A member that dies in MPI_Comm_create_group, which then never returns on the
 * others: the watchdog ends those, rank 0 strikes the group, and its run is
 * done by ranks that are left.  Needs a launcher that outlives a rank's end.
 */
#include "tests/net/harness.h"

#include "mpi_workers/watchdog.h"
#include "tests/tri_cmocka.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#define VICTIM 4 /* of ranks 1 to 4; 3 forms with it and leads */

static int me;

static const char study[] =
        "study: stuck\nseed: 2\n"
        "model: {kind: synthetic, cost: 0.02}\n"
        "space: {x: {int: [0, 63]}}\n"
        "ranks: 2\n"
        "objective: {minimize: loss}\n"
        "resource: {unit: steps, min: 5, max: 5, eta: 2}\n"
        "search: random\n"
        "budget: {trials: 12}\nfinals: none\n"
        "timeouts: {startup: 2 s, progress: 30 s, grace: 1 s}\n";

/* MPI's profiling interface: in place of the library's. */
int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag,
                          MPI_Comm *out)
{
    if (me == VICTIM) {
        raise(SIGKILL);
    }
    return PMPI_Comm_create_group(comm, group, tag, out);
}

/* As src/app does. */
static void leave(void)
{
    static const char said[] = "the watchdog ends this rank\n";

    if (write(STDERR_FILENO, said, sizeof said - 1) < 0) {
        _exit(0);
    }
    _exit(0);
}

/* The runs of the group that was lost: that one, and perhaps one more that its
 * leader was given before it was known to be stuck. */
static int n_lost(const tri_ctl *ctl)
{
    int n = 0;

    for (int64_t i = 0; i < tri_ctl_n_runs(ctl); i++) {
        tri_run_view v;

        tri_ctl_run(ctl, i, &v);
        if (v.ranks[0] == VICTIM - 1) {
            assert_true(v.status == TRI_RUN_LOST || v.status == TRI_RUN_FAILED);
            assert_int_equal(v.reports, 0);
            n++;
        } else {
            assert_int_equal(v.status, TRI_RUN_FINISHED);
        }
    }
    return n;
}

static void the_run_is_requeued(void)
{
    tri_tuned t = tri_case_tune(study, tri_case_file(), 0, NULL, NULL);
    tri_progress p;

    assert_int_equal(t.st, TRI_OK);
    assert_int_equal(t.end.status, 0);
    assert_true(t.end.must_exit);
    tri_ctl_progress(t.ctl, &p);
    assert_int_equal(p.trials, 12);
    assert_int_equal(p.failed, 0);
    assert_int_equal(p.finished, 12);
    assert_in_range(n_lost(t.ctl), 1, 2);
    tri_tuned_fini(&t);
    tri_case_verify(tri_case_file(), 12);
}

int main(int argc, char **argv)
{
    static const tri_case cases[] = {
            {"the_run_is_requeued", 1, the_run_is_requeued}};
    int provided;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    if (tri_watchdog_open(leave) != TRI_OK) {
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return tri_cases_run(argc, argv, cases, 1);
}

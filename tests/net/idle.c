/*
 * What waiting costs: processor time of rank 0 and of an idle rank, from
 * /proc, while one run of several seconds sleeps.
 */
#include "tests/net/harness.h"

#include "mpi_workers/pause.h"
#include "tests/tri_cmocka.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define WINDOW_S 3.0

static int n_ranks;
static int pids[16];

/* User and system time of a process in seconds. */
static double processor_s(int pid)
{
    char path[64];
    char text[1024];
    unsigned long user;
    unsigned long system;
    const char *at;
    FILE *f;

    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    f = fopen(path, "r");
    assert_non_null(f);
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    fclose(f);
    at = strrchr(text, ')');
    assert_non_null(at);
    assert_int_equal(sscanf(at,
                            ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u "
                            "%*u %lu %lu",
                            &user, &system),
                     2);
    return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

typedef struct window {
    double began_s, ended_s;
    double first[16], last[16];
} window;

static void look(void *ctx, const tri_ctl *ctl)
{
    window *w = ctx;
    double now = tri_now();
    tri_progress p;

    tri_ctl_progress(ctl, &p);
    if (p.running == 0 || w->ended_s > 0) {
        return;
    }
    if (w->began_s <= 0 && p.time_s > 0) {
        w->began_s = now;
        for (int i = 0; i < n_ranks; i++) {
            w->first[i] = processor_s(pids[i]);
        }
    } else if (now - w->began_s >= WINDOW_S) {
        w->ended_s = now;
        for (int i = 0; i < n_ranks; i++) {
            w->last[i] = processor_s(pids[i]);
        }
    }
}

/* One trial at a time on one of two ranks: the other is idle. */
static void waiting_is_cheap(void)
{
    static const char study[] =
            "study: idle\nmodel: {kind: synthetic, cost: 4.5}\n"
            "space: {x: {int: [0, 3]}}\nobjective: {minimize: loss}\n"
            "resource: {unit: steps, min: 1, max: 1, eta: 2}\n"
            "budget: {trials: 1}\nfinals: none\n";
    window w = {0};
    tri_tuned t = tri_case_tune(study, tri_case_file(), 0, look, &w);

    assert_int_equal(t.st, TRI_OK);
    assert_int_equal(t.end.status, 0);
    assert_true(w.ended_s > w.began_s);
    for (int i = 0; i < n_ranks; i++) {
        double share = (w.last[i] - w.first[i]) / (w.ended_s - w.began_s);

        print_message("rank %d: %.2f %% of a core\n", i, 100 * share);
        /* one per cent, and the grain of the ticks */
        assert_true(share < 0.01 + 3.0 / sysconf(_SC_CLK_TCK) / WINDOW_S);
    }
    tri_tuned_fini(&t);
}

int main(int argc, char **argv)
{
    static const tri_case cases[] = {{"waiting_is_cheap", 1, waiting_is_cheap}};
    int pid = getpid();

    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    MPI_Gather(&pid, 1, MPI_INT, pids, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return tri_cases_run(argc, argv, cases, 1);
}

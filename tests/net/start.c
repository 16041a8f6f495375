/*
 * A start that one rank does not live through, where the job is to outlive it;
 * and a setup that takes one rank longer than the others wait for rank 0's
 * word.
 *
 *   start init|met|slow|killed
 *     init     killed before it has said anything
 *     met      killed when rank 0 knows of it, before it hears of the study
 *     slow     its setup lasts longer than the lease of the others
 *     killed   killed while it sets up
 *
 * All but slow need a launcher that outlives a rank's end, whose status says
 * nothing then.
 */
#include "tests/net/harness.h"

#include "mpi_workers/pause.h"
#include "mpi_workers/worker.h"
#include "mpi_workers/world.h"
#include "tests/tri_cmocka.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define VICTIM 3

static const char *mode;

#define STUDY                                                                  \
    "space: {x: {int: [0, 63]}}\nobjective: {minimize: loss}\n"                \
    "resource: {unit: steps, min: 4, max: 4}\n"                                \
    "search: random\nbudget: {trials: 8}\nfinals: none\n"

static const char synthetic[] = "study: start\nseed: 2\n"
                                "model: {kind: synthetic, cost: 0.01}\n" STUDY;

/* The victim sets up for longer than the lease, or dies of it. */
#define WITH_SETUP(what)                                                       \
    "study: start\nseed: 2\n"                                                  \
    "model:\n"                                                                 \
    "  kind: process\n"                                                        \
    "  shell: true\n"                                                          \
    "  setup: '[ -z \"$START_VICTIM\" ] || " what "'\n"                        \
    "  command: ['echo \"{{\\\"step\\\": $TRIREME_RESOURCE,"                   \
    " \\\"loss\\\": {x}}}\"']\n" STUDY

static const char slow[] = WITH_SETUP("sleep 5");
static const char killed[] = WITH_SETUP("kill -9 $START_VICTIM; sleep 3");

static void the_others_go_on(void)
{
    int is_process = strcmp(mode, "slow") == 0 || strcmp(mode, "killed") == 0;
    const char *study = strcmp(mode, "slow") == 0 ? slow : killed;
    tri_tuned t = tri_case_tune(is_process ? study : synthetic, tri_case_file(),
                                0, NULL, NULL);
    int lost = strcmp(mode, "slow") != 0;
    tri_progress p;

    assert_int_equal(t.st, TRI_OK);
    assert_int_equal(t.end.status, 0);
    tri_ctl_progress(t.ctl, &p);
    assert_int_equal(p.finished, 8);
    assert_int_equal(tri_ctl_n_ranks(t.ctl), tri_case_ranks - 1 - lost);
    tri_case_verify(tri_case_file(), 8);
    tri_tuned_fini(&t);
}

/* What the victim does instead of serving. */
static void end_here(void)
{
    tri_world world;

    if (strcmp(mode, "met") == 0) {
        tri_world_meet(&world);
    }
    if (strcmp(mode, "met") == 0 || strcmp(mode, "init") == 0) {
        kill(getpid(), SIGKILL);
    }
}

int main(int argc, char **argv)
{
    const tri_case all[] = {{"the_others_go_on", 1, the_others_go_on}};
    int provided;
    int rank;

    mode = argc > 1 ? argv[1] : "init";
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    /* what a case waits out is short; what only bounds it is not */
    tri_world_come_s = 100;
    tri_worker_lease_s = strcmp(mode, "slow") == 0 ? 4 : 20;
    if (rank == VICTIM) { /* its setup finds it */
        char pid[32];

        snprintf(pid, sizeof pid, "%d", (int)getpid());
        setenv("START_VICTIM", pid, 1);
        end_here();
    }
    return tri_cases_run(argc, argv, all, 1);
}

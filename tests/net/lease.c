/*
 * Workers whose rank 0 has fallen silent, or never spoke, end themselves.
 */
#include "mpi_workers/pause.h"
#include "mpi_workers/worker.h"
#include "tests/tri_cmocka.h"
#include "trireme/log.h"
#include "trireme/net.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static int me;

/* Rank 0 announces a study and says no more. */
static void announce_only(void)
{
    static const char text[] = "study: silent\nmodel: {kind: synthetic}\n"
                               "space: {x: {int: [0, 3]}}\n"
                               "objective: {minimize: loss}\n";
    tri_world world;
    tri_event event;

    memset(&event, 0, sizeof event);
    event.kind = TRI_EV_OPEN;
    event.u.open = (tri_ev_open){.study_text = {text, strlen(text)},
                                 .study_path = "silent.yaml",
                                 .build = "test",
                                 .epoch = 1,
                                 .max_time_s = NAN,
                                 .deadline_s = NAN,
                                 .deadline_source = "",
                                 .level = "",
                                 .pml = "",
                                 .machine_class = "",
                                 .command_line = ""};
    assert_int_equal(tri_world_open(&world), TRI_OK);
    assert_int_equal(tri_world_announce(&world, &event, NULL, NULL), TRI_OK);
}

static void silence_ends_a_worker(void **state)
{
    int must_exit = 0;

    (void)state;
    if (me == 0) {
        announce_only();
    } else {
        tri_worker_lease_s = 1;
        assert_int_equal(tri_worker_main(&must_exit), 0);
        assert_true(must_exit);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Rank 0 comes, and announces nothing. */
static void no_announcement_ends_a_worker(void **state)
{
    tri_world world;
    int must_exit = 0;

    (void)state;
    if (me == 0) {
        assert_int_equal(tri_world_open(&world), TRI_OK);
    } else {
        tri_world_start_s = 1;
        assert_int_equal(tri_worker_main(&must_exit), 0);
        assert_true(must_exit);
        assert_int_equal(tri_error_last()->code, TRI_ETIMEOUT);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(silence_ends_a_worker),
            cmocka_unit_test(no_announcement_ends_a_worker),
    };
    int provided;
    int failed;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (failed) {
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Finalize();
    return failed;
}

/*
 * Waiting with a deadline, and agreement on a status.
 */
#include "mpi_workers/wait.h"

#include "mpi_workers/coll.h"
#include "mpi_workers/pause.h"
#include "mpi_workers/words.h"

#include "tests/tri_cmocka.h"

#include <stdio.h>
#include <stdlib.h>

static int rank, size;

static void null_is_complete(void **state)
{
    MPI_Request r = MPI_REQUEST_NULL;

    (void)state;
    assert_int_equal(tri_wait_until(&r, MPI_COMM_WORLD, -1, 0), TRI_OK);
}

/* Nobody sends before the deadline; the request outlives it. */
static void deadline_passes(void **state)
{
    int peer = rank ^ 1, in = -1, out = rank;
    double start = tri_now();
    MPI_Request r, s;

    (void)state;
    MPI_Irecv(&in, 1, MPI_INT, peer, 5, MPI_COMM_WORLD, &r);
    assert_int_equal(tri_wait_until(&r, MPI_COMM_WORLD, peer, start + 0.02),
                     TRI_ETIMEOUT);
    assert_int_equal(tri_wait_silent(), peer);
    assert_true(tri_now() >= start + 0.02);
    assert_true(r != MPI_REQUEST_NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Isend(&out, 1, MPI_INT, peer, 5, MPI_COMM_WORLD, &s);
    assert_int_equal(tri_wait_until(&r, MPI_COMM_WORLD, peer, TRI_NO_DEADLINE),
                     TRI_OK);
    assert_int_equal(tri_wait_until(&s, MPI_COMM_WORLD, peer, TRI_NO_DEADLINE),
                     TRI_OK);
    assert_int_equal(in, peer);
    assert_true(r == MPI_REQUEST_NULL);
}

static void agreement(void **state)
{
    tri_status mine = TRI_OK;

    (void)state;
    assert_int_equal(tri_coll_agree(MPI_COMM_WORLD, TRI_OK), TRI_OK);
    if (rank == 1) {
        mine = TRI_FAIL(TRI_EOOM, "rank one is full");
    } else if (rank == 2) {
        mine = TRI_FAIL(TRI_EINVAL, "rank two is odd");
    }
    assert_int_equal(tri_coll_agree(MPI_COMM_WORLD, mine), TRI_EOOM);
    assert_string_equal(tri_error_last()->sentence, "rank one is full");
    mine = TRI_FAIL(TRI_EDATA, "from rank %d", rank);
    assert_int_equal(tri_coll_agree(MPI_COMM_WORLD, mine), TRI_EDATA);
    assert_string_equal(tri_error_last()->sentence, "from rank 0");
}

static tri_words *next_words(void)
{
    tri_words *w = tri_words_take();

    assert_non_null(w);
    tri_words_give(w);
    return w;
}

/* What a wait in vain leaves to MPI is not used again, and it alone. */
static void words_left_to_mpi(void **state)
{
    tri_words *first = next_words();

    (void)state;
    assert_ptr_equal(next_words(), first);
    tri_wait_limit(0.02);
    if (rank < size - 1) {
        assert_int_equal(tri_coll_agree(MPI_COMM_WORLD, TRI_OK), TRI_ETIMEOUT);
        assert_ptr_not_equal(next_words(), first);
    }
    tri_wait_attend(NULL, NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == size - 1) { /* what the others began is ended */
        assert_int_equal(tri_coll_agree(MPI_COMM_WORLD, TRI_OK), TRI_OK);
        assert_ptr_equal(next_words(), first);
    }
    assert_int_equal(tri_coll_agree(MPI_COMM_WORLD, TRI_OK), TRI_OK);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(null_is_complete),
            cmocka_unit_test(deadline_passes),
            cmocka_unit_test(agreement),
            cmocka_unit_test(words_left_to_mpi),
    };
    int failed;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank > 0 && !freopen("/dev/null", "w", stdout)) {
        return 1;
    }
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    MPI_Finalize();
    return failed != 0;
}

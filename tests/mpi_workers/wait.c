/*
 * Waiting with a deadline, agreement on a status, and sums of an axis.
 */
#include "mpi_workers/wait.h"

#include "mpi_workers/coll.h"
#include "mpi_workers/pause.h"

#include "tests/tri_cmocka.h"

#include <stdio.h>
#include <stdlib.h>

static int rank, size;

static void null_is_complete(void **state)
{
    MPI_Request r = MPI_REQUEST_NULL;

    (void)state;
    assert_int_equal(tri_wait_until(&r, 0), TRI_OK);
}

/* Nobody sends before the deadline; the request outlives it. */
static void deadline_passes(void **state)
{
    int peer = rank ^ 1, in = -1, out = rank;
    double start = tri_now();
    MPI_Request r, s;

    (void)state;
    MPI_Irecv(&in, 1, MPI_INT, peer, 5, MPI_COMM_WORLD, &r);
    assert_int_equal(tri_wait_until(&r, start + 0.02), TRI_ETIMEOUT);
    assert_true(tri_now() >= start + 0.02);
    assert_true(r != MPI_REQUEST_NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Isend(&out, 1, MPI_INT, peer, 5, MPI_COMM_WORLD, &s);
    assert_int_equal(tri_wait_until(&r, TRI_NO_DEADLINE), TRI_OK);
    assert_int_equal(tri_wait_until(&s, TRI_NO_DEADLINE), TRI_OK);
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

/* More than a piece, and not a multiple of one. */
static void sums(void **state)
{
    enum {
        N = 5000
    };
    tri_real *x = malloc(N * sizeof *x);
    int of_ranks = size * (size - 1) / 2; /* sum of the rank numbers */
    tri_coll coll;
    int i;

    (void)state;
    assert_non_null(x);
    tri_coll_init(&coll, MPI_COMM_WORLD, 1);
    assert_true(coll.piece < N);
    for (i = 0; i < N; i++) {
        x[i] = (tri_real)(i + rank);
    }
    tri_coll_sum(&coll, x, N);
    for (i = 0; i < N; i++) {
        assert_true(x[i] == (tri_real)(size * i + of_ranks));
    }
    tri_coll_init(&coll, MPI_COMM_NULL, 1);
    tri_coll_sum(&coll, x, N); /* an axis of one rank: nothing to do */
    assert_true(x[1] == (tri_real)(size + of_ranks));
    free(x);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(null_is_complete),
            cmocka_unit_test(deadline_passes),
            cmocka_unit_test(agreement),
            cmocka_unit_test(sums),
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

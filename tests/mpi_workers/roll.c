/*
 * The roll call: who is told of whom, and one that comes too late.  Hosts and
 * nodes are made up: two ranks a host, and the last is alone on a host that
 * shares its node with another.
 */
#include "mpi_workers/roll.h"

#include "mpi_workers/wait.h"
#include "tests/tri_cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LATE   3
#define COME_S 2.0 /* is waited out once */
#define TAG    1
#define N_MOST 16

static int rank, size;

static tri_seat seat_of(int of)
{
    tri_seat seat;

    memset(&seat, 0, sizeof seat);
    snprintf(seat.host, sizeof seat.host, "h%d", of / 2);
    snprintf(seat.node, sizeof seat.node, "n%d", of == 4 ? 1 : of / 2);
    seat.pid = 100 + of;
    seat.bell.fd = -1;
    return seat;
}

static int is_near(int a, int b)
{
    tri_seat p = seat_of(a);
    tri_seat q = seat_of(b);

    return strcmp(p.host, q.host) == 0 || strcmp(p.node, q.node) == 0;
}

/* All that a rank is told of, and nothing else. */
static void check(const tri_seat *seats, int has_late)
{
    for (int i = 0; i < size; i++) {
        int known = (rank == 0 || i == 0 || is_near(rank, i)) &&
                    (i != LATE || has_late);

        assert_int_equal(seats[i].pid, known ? 100 + i : 0);
        assert_int_equal(seats[i].host[0] != 0, known);
    }
}

static tri_status call(double come_s, tri_seat *seats, tri_roll **roll)
{
    tri_seat mine = seat_of(rank);

    return tri_roll_call(MPI_COMM_WORLD, &mine, seats, come_s, 60, roll);
}

static void hear(void)
{
    void *data;
    size_t bytes;

    assert_int_equal(tri_roll_hear(MPI_COMM_WORLD, 60, &data, &bytes), TRI_OK);
    assert_int_equal(bytes, 6);
    assert_memory_equal(data, "study", 6);
    free(data);
}

static void end(tri_roll *roll)
{
    MPI_Barrier(MPI_COMM_WORLD); /* all has arrived */
    tri_roll_end(roll);
}

static void test_all_come(void **state)
{
    tri_seat seats[N_MOST];
    tri_roll *roll = NULL;

    (void)state;
    assert_int_equal(call(60, seats, &roll), TRI_OK);
    check(seats, 1);
    if (rank == 0) {
        assert_int_equal(tri_roll_tell(MPI_COMM_WORLD, "study", 6, &roll),
                         TRI_OK);
    } else {
        hear();
    }
    end(roll);
}

static void test_one_is_late(void **state)
{
    tri_seat seats[N_MOST];
    tri_roll *roll = NULL;

    (void)state;
    MPI_Barrier(MPI_COMM_WORLD); /* the others are there at once */
    if (rank == LATE) {
        MPI_Recv(NULL, 0, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        assert_int_equal(call(60, seats, &roll), TRI_EPEER);
    } else {
        assert_int_equal(call(COME_S, seats, &roll), TRI_OK);
        check(seats, 0);
    }
    if (rank == 0) {
        MPI_Send(NULL, 0, MPI_BYTE, LATE, TAG, MPI_COMM_WORLD);
    }
    end(roll);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(test_all_come),
            cmocka_unit_test(test_one_is_late),
    };
    int failed;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (failed) {
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Finalize();
    return failed;
}

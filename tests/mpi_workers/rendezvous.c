/*
 * Where a group meets, through MPI: hosts that are made up, every rank told the
 * same, and a port of its own for each run and try.
 */
#include "mpi_workers/rendezvous.h"

#include "tests/tri_cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_RUNS  20
#define N_TRIES 3

static int me, size;

static int low = 32768, high = 60999;

static void everybody_is_told_the_same(void **state)
{
    static const tri_devices mine[] = {{"CUDA_VISIBLE_DEVICES", 1, "3"},
                                       {"CUDA_VISIBLE_DEVICES", 1, "0,1"},
                                       {"", 0, ""}};
    tri_rendezvous r;

    (void)state;
    setenv("TRIREME_HOST_NAME", me == 1 ? "b" : "a", 1);
    assert_int_equal(
            tri_rendezvous_meet(MPI_COMM_WORLD, 7, 0, &mine[me], 30, &r),
            TRI_OK);
    assert_int_equal(r.rank, me);
    assert_int_equal(r.size, 3);
    assert_int_equal(r.local_rank, me == 2);
    assert_int_equal(r.local_size, me == 1 ? 1 : 2);
    assert_int_equal(r.group_rank, me == 1);
    assert_string_equal(r.hosts, "a,b");
    assert_string_equal(r.rank_hosts, "a\nb\na\n");
    assert_int_equal(r.devices.is_set, me != 2);
    assert_string_equal(r.devices.own, me == 1 ? "0,1" : "3");
    assert_true(r.address[0] && strcmp(r.address, "127.0.0.1") != 0);
    tri_rendezvous_fini(&r);
}

static void ports_differ(void **state)
{
    int given[N_RUNS * N_TRIES];
    int n = 0;

    (void)state;
    for (int run = 0; run < N_RUNS; run++) {
        for (int try = 0; try < N_TRIES; try++) {
            tri_rendezvous r;
            int least;

            assert_int_equal(tri_rendezvous_meet(MPI_COMM_WORLD, (uint64_t)run,
                                                 try, NULL, 30, &r),
                             TRI_OK);
            MPI_Allreduce(&r.port, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
            assert_int_equal(least, r.port);
            assert_true(r.port >= 1024 && r.port <= 65535);
            assert_true(r.port < low || r.port > high || high - low > 60000);
            for (int i = 0; i < n; i++) {
                assert_int_not_equal(given[i], r.port);
            }
            given[n++] = r.port;
            tri_rendezvous_fini(&r);
        }
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(everybody_is_told_the_same),
            cmocka_unit_test(ports_differ),
    };
    FILE *f = fopen("/proc/sys/net/ipv4/ip_local_port_range", "re");
    int failed;

    if (f && fscanf(f, "%d %d", &low, &high) != 2) {
        low = 32768;
        high = 60999;
    }
    if (f) {
        fclose(f);
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    failed = size == 3 ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
    if (failed) {
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Finalize();
    return failed;
}

/*
 * The collectives of an axis, through shared memory and through MPI: right on
 * every length near a boundary, the same bits on all ranks, one after the
 * other in any order, and with an end where a member stays away.
 */
#include "mpi_workers/coll.h"

#include "mpi_workers/wait.h"

#include "tests/tri_cmocka.h"
#include "trireme/rng.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SEED 77u
#define MOST 400000

static int rank, size;
static tri_coll coll;
static tri_status link_status;
static tri_real x[MOST], y[MOST];

/* What rank `r` brings at i: sums of them are exact in any order. */
static tri_real brings(int r, int64_t i)
{
    return (tri_real)((i * 7 + r * 13) % 1000);
}

static tri_real total(int64_t i)
{
    tri_real sum = 0;

    for (int r = 0; r < size; r++) {
        sum += brings(r, i);
    }
    return sum;
}

static void fill(int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        x[i] = brings(rank, i);
    }
}

static void check_sum(int64_t n)
{
    fill(n);
    tri_coll_sum(&coll, x, n);
    assert_int_equal(link_status, TRI_OK);
    for (int64_t i = 0; i < n; i++) {
        assert_true(x[i] == total(i));
    }
}

static void check_scatter(int64_t n)
{
    int64_t first;
    int64_t count;

    fill(n);
    tri_coll_part(&coll, rank, n, &first, &count);
    tri_coll_reduce_scatter(&coll, x, n);
    assert_int_equal(link_status, TRI_OK);
    for (int64_t i = first; i < first + count; i++) {
        assert_true(x[i] == total(i));
    }
}

static void check_gather(int64_t n)
{
    int64_t first;
    int64_t count;
    int64_t covered = 0;

    memset(x, 0, (size_t)n * sizeof *x);
    tri_coll_part(&coll, rank, n, &first, &count);
    for (int64_t i = first; i < first + count; i++) {
        x[i] = brings(0, i);
    }
    tri_coll_gather(&coll, x, n);
    assert_int_equal(link_status, TRI_OK);
    for (int64_t i = 0; i < n; i++) {
        assert_true(x[i] == brings(0, i));
    }
    for (int r = 0; r < size; r++) {
        tri_coll_part(&coll, r, n, &first, &count);
        assert_int_equal(first, covered);
        covered += count;
    }
    assert_int_equal(covered, n);
}

static void check_tell(int64_t n)
{
    int told[64];
    int mine = (int)n * 100 + rank;

    tri_coll_tell(&coll, &mine, (int)sizeof mine, told);
    assert_int_equal(link_status, TRI_OK);
    for (int r = 0; r < size; r++) {
        assert_int_equal(told[r], (int)n * 100 + r);
    }
}

/* Rank a gives rank b (n + a + 2 b) mod (n + 1) bytes, the b-th of them of its
 * own kind. */
static int parcel(int64_t n, int a, int b)
{
    return (int)((n + a + 2 * b) % (n + 1));
}

static void check_exchange(int64_t n)
{
    static int counts[2][64], at[2][64];
    unsigned char *send = (unsigned char *)x, *recv = (unsigned char *)y;
    tri_parcels to = {counts[0], at[0]}, from = {counts[1], at[1]};

    n = n / size < 100000 ? n / size : 100000;
    for (int r = 0; r < size; r++) {
        counts[0][r] = parcel(n, rank, r);
        counts[1][r] = parcel(n, r, rank);
        at[0][r] = r ? at[0][r - 1] + counts[0][r - 1] : 0;
        at[1][r] = r ? at[1][r - 1] + counts[1][r - 1] : 0;
        for (int i = 0; i < counts[0][r]; i++) {
            send[at[0][r] + i] = (unsigned char)(i * 3 + rank * 7 + r);
        }
    }
    tri_coll_exchange(&coll, &to, send, &from, recv, (int)n);
    assert_int_equal(link_status, TRI_OK);
    for (int r = 0; r < size; r++) {
        for (int i = 0; i < counts[1][r]; i++) {
            assert_true(recv[at[1][r] + i] ==
                        (unsigned char)(i * 3 + r * 7 + rank));
        }
    }
}

static void (*const checks[])(int64_t n) = {
        check_sum, check_scatter, check_gather, check_tell, check_exchange};

/* Lengths around a chunk, and anything. */
static int64_t some_length(tri_rng *rng)
{
    static const int64_t near[] = {0, 1, 2, 15, 16, 17, 1023, 1024, 1025};
    int64_t chunk = coll.chunk ? coll.chunk : 4096;

    switch (tri_rng_below(rng, 3)) {
    case 0:
        return near[tri_rng_below(rng, sizeof near / sizeof *near)];
    case 1:
        return chunk * (int64_t)(1 + tri_rng_below(rng, 3)) - 1 +
               (int64_t)tri_rng_below(rng, 3);
    default:
        return (int64_t)tri_rng_below(rng, MOST);
    }
}

static void any_order(void **state)
{
    tri_rng rng = tri_rng_stream(SEED, 0, TRI_RNG_TEST);

    (void)state;
    for (int i = 0; i < 120; i++) {
        int64_t n = some_length(&rng);

        checks[tri_rng_below(&rng, 5)](n < MOST ? n : MOST - 1);
    }
}

/* Numbers whose sum depends on the order: still the same on all. */
static void same_bits(void **state)
{
    static const int64_t lengths[] = {100, 1000, 70001};

    (void)state;
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        int64_t n = lengths[k];
        size_t bytes = (size_t)n * sizeof *x;

        for (int64_t i = 0; i < n; i++) {
            x[i] = (tri_real)1 / (tri_real)(1 + i + 37 * rank);
        }
        tri_coll_sum(&coll, x, n);
        memcpy(y, x, bytes);
        MPI_Bcast(y, (int)bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
        assert_memory_equal(x, y, bytes);
    }
}

static void on_one_host(void **state)
{
    (void)state;
    assert_string_equal(coll.ops->name, "shared memory");
}

static void alone(void **state)
{
    tri_coll one;
    int told = 0;

    (void)state;
    assert_int_equal(
            tri_coll_open(&one, MPI_COMM_NULL, 1, TRI_COLL_AUTO, &link_status),
            TRI_OK);
    fill(100);
    tri_coll_sum(&one, x, 100);
    tri_coll_gather(&one, x, 100);
    assert_true(x[99] == brings(rank, 99));
    tri_coll_tell(&one, &size, (int)sizeof size, &told);
    assert_int_equal(told, size);
    tri_coll_close(&one);
}

static void on_hosts(void **state)
{
    (void)state;
    assert_string_equal(coll.ops->name, "shared memory and messages");
}

/* The last rank, on the last host, stays away: all others give up, those of its
 * own host know whom they miss, and those of the others miss its host. */
static void a_host_stays_away(void **state)
{
    (void)state;
    tri_wait_attend(NULL, NULL);
    tri_wait_limit(0.1);
    if (rank < size - 1) {
        fill(1000);
        tri_coll_sum(&coll, x, 1000);
        assert_int_equal(link_status, TRI_ETIMEOUT);
        assert_true(tri_wait_silent() > rank || coll.here > 0);
        assert_true(tri_wait_silent() >= 0);
        tri_coll_sum(&coll, x, 1000); /* at once */
    }
    tri_wait_attend(NULL, NULL);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* The last rank stays away: the others give up together, blame it, and do no
 * more.  It is late, not dead: all say so, itself too.  MPI's collective is
 * ended by the last one later. */
static void one_stays_away(void **state)
{
    (void)state;
    tri_wait_attend(NULL, NULL);
    tri_wait_limit(0.1);
    if (rank < size - 1) {
        fill(1000);
        tri_coll_sum(&coll, x, 1000);
        assert_int_equal(link_status, TRI_ETIMEOUT);
        tri_coll_sum(&coll, x, 1000); /* at once */
        if (coll.shared) {
            assert_int_equal(tri_wait_silent(), size - 1);
            assert_false(tri_coll_is_entangled(&coll));
        } else {
            assert_true(tri_coll_is_entangled(&coll));
        }
    }
    tri_wait_attend(NULL, NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == size - 1) { /* and it hears of it */
        fill(1000);
        tri_coll_sum(&coll, x, 1000);
        assert_int_equal(link_status, coll.shared ? TRI_ETIMEOUT : TRI_OK);
    }
}

/* A process that has ended is seen without any limit. */
static void one_has_ended(void **state)
{
    pid_t pids[64] = {0};
    pid_t child = fork();

    (void)state;
    if (child == 0) {
        _exit(0);
    }
    assert_true(child > 0);
    assert_false(tri_wait_has_ended(getpid()));
    pids[size - 1] = child; /* what is known of the last rank */
    tri_wait_attend(NULL, NULL);
    tri_wait_know(pids, size);
    if (rank < size - 1) {
        fill(1000);
        tri_coll_sum(&coll, x, 1000);
        assert_int_equal(link_status, TRI_EPEER);
        assert_int_equal(tri_wait_silent(), size - 1);
        assert_non_null(strstr(tri_error_last()->sentence, "is gone"));
    }
    tri_wait_know(NULL, 0);
    tri_wait_attend(NULL, NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == size - 1) { /* what is known stays known */
        fill(1000);
        tri_coll_sum(&coll, x, 1000);
        assert_int_equal(link_status, TRI_EPEER);
    }
}

static int open_way(tri_coll_way way)
{
    link_status = TRI_OK;
    return tri_coll_open(&coll, MPI_COMM_WORLD, 50000, way, &link_status) !=
           TRI_OK;
}

static int open_shared(void **state)
{
    (void)state;
    return open_way(TRI_COLL_AUTO);
}

static int open_mpi(void **state)
{
    (void)state;
    return open_way(TRI_COLL_MPI);
}

/* As on several hosts: how many, and whether each has neighbours. */
static int open_hosts(int n, int in_turn)
{
    char name[16];

    snprintf(name, sizeof name, "h%d", in_turn ? rank % n : rank * n / size);
    setenv("TRIREME_HOST_NAME", name, 1);
    return open_way(TRI_COLL_AUTO);
}

static int open_two(void **state)
{
    (void)state;
    return open_hosts(2, 0);
}

static int open_two_in_turn(void **state)
{
    (void)state;
    return open_hosts(2, 1);
}

static int open_three(void **state)
{
    (void)state;
    return open_hosts(size < 3 ? size : 3, 0);
}

static int open_each(void **state)
{
    (void)state;
    return open_hosts(size, 0);
}

static int close_way(void **state)
{
    (void)state;
    unsetenv("TRIREME_HOST_NAME");
    if (tri_coll_is_entangled(&coll)) { /* MPI may still write there */
        return 0;
    }
    tri_coll_close(&coll);
    return tri_shared_alive();
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test_setup_teardown(on_one_host, open_shared,
                                            close_way),
            cmocka_unit_test_setup_teardown(any_order, open_shared, close_way),
            cmocka_unit_test_setup_teardown(any_order, open_mpi, close_way),
            cmocka_unit_test_setup_teardown(same_bits, open_shared, close_way),
            cmocka_unit_test_setup_teardown(same_bits, open_mpi, close_way),
            cmocka_unit_test(alone),
            cmocka_unit_test_setup_teardown(on_hosts, open_two, close_way),
            cmocka_unit_test_setup_teardown(any_order, open_two, close_way),
            cmocka_unit_test_setup_teardown(any_order, open_two_in_turn,
                                            close_way),
            cmocka_unit_test_setup_teardown(any_order, open_three, close_way),
            cmocka_unit_test_setup_teardown(any_order, open_each, close_way),
            cmocka_unit_test_setup_teardown(same_bits, open_two_in_turn,
                                            close_way),
            cmocka_unit_test_setup_teardown(same_bits, open_three, close_way),
            cmocka_unit_test_setup_teardown(same_bits, open_each, close_way),
            cmocka_unit_test_setup_teardown(one_has_ended, open_shared,
                                            close_way),
            cmocka_unit_test_setup_teardown(one_stays_away, open_shared,
                                            close_way),
            cmocka_unit_test_setup_teardown(one_stays_away, open_mpi,
                                            close_way),
            cmocka_unit_test_setup_teardown(a_host_stays_away, open_two,
                                            close_way),
    };
    int failed;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank > 0 && !freopen("/dev/null", "w", stdout)) {
        return 1;
    }
    print_message("seed %u\n", SEED);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (failed) {
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Finalize();
    return 0;
}

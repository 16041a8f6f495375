/*
 * Groups: formed, cached, freed and formed again thousands of times (groups N:
 * 10,000) without growth; and votes that come out the same on every member.
 */
#include "mpi_workers/group.h"

#include "tests/tri_cmocka.h"
#include "trireme/rng.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SEED    51u
#define LIMIT_S 30.0
#ifdef __SANITIZE_ADDRESS__ /* it holds back what was freed */
#define GROWTH_KIB (256 << 10)
#else
#define GROWTH_KIB 1024
#endif

static MPI_Comm peers;
static int me, size;
static uint64_t n_formings = 10000;

/* The members of forming number `key`: each rank of 1.. is in or out. */
static int members(uint64_t key, int32_t *ranks)
{
    tri_rng rng = tri_rng_stream(SEED, key, TRI_RNG_TEST);
    int n = 0;

    for (int i = 1; i < size; i++) {
        if (tri_rng_below(&rng, 2)) {
            ranks[n++] = i;
        }
    }
    return n;
}

static int among(const int32_t *ranks, int n)
{
    for (int i = 0; i < n; i++) {
        if (ranks[i] == me) {
            return 1;
        }
    }
    return 0;
}

static long resident_kib(void)
{
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");

    assert_non_null(f);
    assert_int_equal(fscanf(f, "%*s %ld", &pages), 1);
    fclose(f);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static void form(tri_groups *g, uint64_t key)
{
    int32_t ranks[64];
    int n = members(key, ranks);
    MPI_Comm comm;
    int rank;
    int got;

    if (!among(ranks, n)) {
        return;
    }
    assert_int_equal(tri_groups_enter(g, ranks, n, key, LIMIT_S, &comm),
                     TRI_OK);
    MPI_Comm_size(comm, &got);
    MPI_Comm_rank(comm, &rank);
    assert_int_equal(got, n);
    assert_int_equal(ranks[rank], me);
    if (key % 100 == 0) { /* it works */
        int one = 1;
        int sum = 0;

        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
        assert_int_equal(sum, n);
    }
    tri_groups_leave(g, comm, 0);
}

/* `most` 3 of the 15 sets: communicators come and go all the time. */
static void formed_again_and_again(void **state)
{
    tri_groups *g;
    long before = 0;
    long after;

    (void)state;
    assert_int_equal(tri_groups_create(peers, 3, &g), TRI_OK);
    for (uint64_t key = 1; key <= n_formings; key++) {
        form(g, key);
        if (key == n_formings / 5) {
            before = resident_kib();
        }
    }
    after = resident_kib();
    assert_true(tri_groups_n_cached(g) <= 3);
    print_message("grown by %ld KiB\n", after - before);
    assert_true(after - before < GROWTH_KIB);
    MPI_Barrier(peers);
    tri_groups_destroy(g, 1);
}

/* One member has dropped what the others cached: they all create anew. */
static void caches_that_differ(void **state)
{
    int32_t ranks[64];
    tri_groups *g;
    MPI_Comm first;
    MPI_Comm second;

    (void)state;
    for (int i = 0; i < size; i++) {
        ranks[i] = i;
    }
    assert_int_equal(tri_groups_create(peers, 8, &g), TRI_OK);
    assert_int_equal(tri_groups_enter(g, ranks, size, 1, LIMIT_S, &first),
                     TRI_OK);
    tri_groups_leave(g, first, me == size - 1);
    assert_int_equal(tri_groups_n_cached(g), me == size - 1 ? 0 : 1);
    assert_int_equal(tri_groups_enter(g, ranks, size, 2, LIMIT_S, &second),
                     TRI_OK);
    assert_int_equal(tri_groups_n_cached(g), 1);
    tri_groups_leave(g, second, 0);
    assert_int_equal(tri_groups_enter(g, ranks, size, 3, LIMIT_S, &first),
                     TRI_OK);
    assert_true(first == second);
    tri_groups_leave(g, first, 0);
    tri_groups_destroy(g, 0);
}

static void votes_agree(void **state)
{
    tri_vote v;

    (void)state;
    memset(&v, 0, sizeof v);
    v.word = me == 0 ? 7 : 99;
    v.all = me != 2;
    v.any = me == 2;
    v.has = me >= 2;
    v.x[0] = me;
    v.max[0] = (uint64_t)(10 + me);
    if (me == 1) {
        v.status = TRI_EOOM;
        snprintf(v.sentence, sizeof v.sentence, "first");
    } else if (me == 3) {
        v.status = TRI_ETRIAL;
        snprintf(v.sentence, sizeof v.sentence, "second");
    }
    assert_int_equal(tri_group_vote(peers, &v, LIMIT_S), TRI_OK);
    assert_int_equal(v.word, 7);
    assert_false(v.all);
    assert_true(v.any && v.has && v.x[0] == 2);
    assert_int_equal(v.max[0], 10 + size - 1);
    assert_int_equal(v.status, TRI_EOOM);
    assert_int_equal(v.rank, 1);
    assert_string_equal(v.sentence, "first");
}

static void a_group_status_wins(void **state)
{
    tri_status mine = me == 1   ? TRI_FAIL(TRI_EOOM, "no room")
                      : me == 4 ? TRI_FAIL(TRI_ETIMEOUT, "silence")
                                : TRI_OK;

    (void)state;
    assert_int_equal(tri_group_agree(peers, mine, LIMIT_S), TRI_ETIMEOUT);
    assert_int_equal(tri_group_agree(peers, TRI_OK, LIMIT_S), TRI_OK);
}

/* A member that says nothing is waited for so long and no longer. */
static void silence_is_bounded(void **state)
{
    MPI_Comm mine;

    (void)state;
    MPI_Comm_dup(peers, &mine);
    if (me == 0) {
        assert_int_equal(tri_group_agree(mine, TRI_OK, 0.2), TRI_ETIMEOUT);
    }
    MPI_Barrier(peers);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(formed_again_and_again),
            cmocka_unit_test(caches_that_differ),
            cmocka_unit_test(votes_agree),
            cmocka_unit_test(a_group_status_wins),
            cmocka_unit_test(silence_is_bounded),
    };
    int failed;

    MPI_Init(&argc, &argv);
    if (argc > 1) {
        n_formings = strtoull(argv[1], NULL, 10);
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &peers);
    MPI_Comm_rank(peers, &me);
    MPI_Comm_size(peers, &size);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (failed) {
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Finalize();
    return failed;
}

/*
 * What is said at the start: ranges over hosts, binding, cores that are shared
 * by mistake, a small /dev/shm.
 */
#include "src/net/driver.h"

#include "tests/tri_cmocka.h"

#include <stdio.h>
#include <string.h>

#define RANKS 5

typedef struct job {
    tri_seat seats[RANKS];
    tri_peer peers[RANKS];
    tri_world world;
} job;

/* Rank 0 and four more on two hosts, each with `cores` of 8. */
static void make(job *j, int cores, const char *binding)
{
    memset(j, 0, sizeof *j);
    j->world.seats = j->seats;
    j->world.size = RANKS;
    for (int i = 0; i < RANKS; i++) {
        tri_seat *s = &j->seats[i];

        snprintf(s->host, sizeof s->host, "n%d", i < 3 ? 1 : 2);
        snprintf(s->node, sizeof s->node, "n%d", i < 3 ? 1 : 2);
        snprintf(s->cpus, sizeof s->cpus, "%d", i);
        s->cores = cores;
        s->host_cores = 8;
        j->peers[i].cores = cores;
        snprintf(j->peers[i].binding, sizeof j->peers[i].binding, "%s",
                 binding);
    }
    assert_int_equal(tri_world_count(&j->world), TRI_OK);
}

/* How many share a core, counted anew. */
static int crowded(job *j, char *line, size_t bytes)
{
    assert_int_equal(tri_world_count(&j->world), TRI_OK);
    return tri_startup_crowded(&j->world, line, bytes);
}

/* Ranks of a host need not follow each other. */
static void seats_are_counted(void **state)
{
    static const char *const at[RANKS][2] = {
            {"b", "0-3"}, {"a", "0-3"}, {"b", "0-3"}, {"a", "4"}, {"b", "0-3"}};
    static const int ranks[RANKS] = {3, 2, 3, 2, 3};
    static const int alike[RANKS] = {2, 1, 2, 1, 2}; /* rank 0 does not train */
    job j;

    (void)state;
    make(&j, 1, "none");
    for (int i = 0; i < RANKS; i++) {
        snprintf(j.seats[i].host, sizeof j.seats[i].host, "%s", at[i][0]);
        snprintf(j.seats[i].cpus, sizeof j.seats[i].cpus, "%s", at[i][1]);
    }
    assert_int_equal(tri_world_count(&j.world), TRI_OK);
    for (int i = 0; i < RANKS; i++) {
        assert_int_equal(j.seats[i].host_ranks, ranks[i]);
        assert_int_equal(j.seats[i].n_alike, alike[i]);
    }
}

static void one_line_of_ranks(void **state)
{
    char line[400];
    job j;

    (void)state;
    make(&j, 2, "inherited");
    tri_startup_ranks(&j.world, j.peers, (uint64_t)3 << 30, line, sizeof line);
    assert_string_equal(line,
                        "2 to 3 ranks a host, 8 cores a host, 2 a rank (as the "
                        "launcher bound it), 3.0 GiB a rank");
    snprintf(j.peers[4].binding, sizeof j.peers[4].binding, "none");
    j.peers[4].cores = 8;
    j.seats[4].host_cores = 1;
    tri_startup_ranks(&j.world, j.peers, 512 << 20, line, sizeof line);
    assert_string_equal(line, "2 to 3 ranks a host, 1 to 8 cores a host, 2 to "
                              "8 a rank (3 as the launcher bound it, 1 not "
                              "bound), 512 MiB a rank; oversubscribed: rates "
                              "say little");
}

static void a_core_that_is_shared(void **state)
{
    char line[512];
    job j;

    (void)state;
    make(&j, 1, "inherited");
    assert_int_equal(crowded(&j, line, sizeof line), 0);
    assert_string_equal(line, "");
    snprintf(j.seats[0].cpus, sizeof j.seats[0].cpus, "1"); /* rank 0 may */
    assert_int_equal(crowded(&j, line, sizeof line), 0);
    snprintf(j.seats[2].cpus, sizeof j.seats[2].cpus, "1");
    assert_int_equal(crowded(&j, line, sizeof line), 2);
    assert_non_null(strstr(line, "rank 1 (n1) does core 1"));
    assert_non_null(strstr(line, "SRUN_CPUS_PER_TASK"));
    j.seats[1].is_whole = j.seats[2].is_whole = 1; /* there is no other */
    assert_int_equal(crowded(&j, line, sizeof line), 0);
    make(&j, 4, "inherited"); /* a socket each two ranks */
    snprintf(j.seats[2].cpus, sizeof j.seats[2].cpus, "1");
    assert_int_equal(crowded(&j, line, sizeof line), 0);
}

static void a_small_shm(void **state)
{
    char line[512];

    (void)state;
    assert_int_equal(tri_startup_shm("/dev/shm", 1 << 30, 0, line, sizeof line),
                     1);
    assert_non_null(strstr(line, "--shm-size"));
    assert_int_equal(tri_startup_shm("/no/such", 4, 1, line, sizeof line), 0);
    assert_string_equal(line, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(seats_are_counted),
            cmocka_unit_test(one_line_of_ranks),
            cmocka_unit_test(a_core_that_is_shared),
            cmocka_unit_test(a_small_shm),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

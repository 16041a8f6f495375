/*
 * Where a rank is: limits in control groups' files, and what this machine says
 * of itself.
 */
#include "mpi_workers/place.h"

#include "mpi_workers/world.h"
#include "tests/tri_cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint64_t limit_of(const char *text)
{
    char path[] = "/tmp/trireme-place-XXXXXX";
    int fd = mkstemp(path);
    uint64_t limit;

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
    limit = tri_place_limit(path);
    unlink(path);
    return limit;
}

static void limits_of_control_groups(void **state)
{
    (void)state;
    assert_true(limit_of("max\n") == UINT64_MAX);
    assert_true(limit_of("1073741824\n") == 1073741824u);
    assert_true(limit_of("9223372036854771712\n") == UINT64_MAX); /* v1: none */
    assert_true(limit_of("") == UINT64_MAX);
    assert_true(tri_place_limit("/no/such/file") == 0);
}

static void this_machine(void **state)
{
    long pages = sysconf(_SC_PHYS_PAGES);
    tri_rank_place place;
    char *xml;

    (void)state;
    tri_place_read(&place);
    assert_true(place.cores >= 1 && place.cores <= place.host_cores);
    assert_true(place.host_cores <= sysconf(_SC_NPROCESSORS_CONF));
    assert_true(place.memory_bytes > 0);
    assert_true(place.memory_bytes <=
                (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE));
    assert_true(place.host[0] && place.cpu[0]);
    xml = tri_place_topology();
    assert_non_null(xml);
    assert_non_null(strstr(xml, "<topology"));
    free(xml);
}

static void devices_are_those_shown(void **state)
{
    tri_rank_place place;

    (void)state;
    unsetenv("CUDA_VISIBLE_DEVICES");
    unsetenv("ROCR_VISIBLE_DEVICES");
    unsetenv("HIP_VISIBLE_DEVICES");
    unsetenv("ZE_AFFINITY_MASK");
    tri_place_read(&place);
    assert_string_equal(place.device, "");
    setenv("CUDA_VISIBLE_DEVICES", "2,3", 1);
    tri_place_read(&place);
    assert_string_equal(place.device, "2,3");
}

static void a_quota_is_a_share_of_the_host(void **state)
{
    tri_seat seats[2] = {{.host_ranks = 3, .memory_bytes = 3u << 20},
                         {.host_ranks = 1, .memory_bytes = 5u << 20}};
    tri_world world = {.seats = seats, .size = 2};

    (void)state;
    assert_true(tri_world_quota(&world, 0) == 1u << 20);
    assert_true(tri_world_quota(&world, 1) == 5u << 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(limits_of_control_groups),
            cmocka_unit_test(this_machine),
            cmocka_unit_test(devices_are_those_shown),
            cmocka_unit_test(a_quota_is_a_share_of_the_host),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Where a rank is: limits in control groups' files, and what this machine says
 * of itself.
 */
#include "mpi_workers/place.h"

#include "mpi_workers/cgroup.h"

#include "mpi_workers/world.h"
#include "tests/tri_cmocka.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A folder that stands before /proc and /sys. */
static char root[64];

static void put(const char *path, const char *text)
{
    char full[512], *slash;
    FILE *f;

    snprintf(full, sizeof full, "%s%s", root, path);
    for (slash = full + strlen(root) + 1; (slash = strchr(slash, '/'));
         slash++) {
        *slash = 0;
        mkdir(full, 0700);
        *slash = '/';
    }
    f = fopen(full, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static int begin_root(void **state)
{
    (void)state;
    snprintf(root, sizeof root, "/tmp/trireme-place-XXXXXX");
    return mkdtemp(root) == NULL;
}

static int end_root(void **state)
{
    char command[128];

    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", root);
    return system(command);
}

static uint64_t limit_of(const char *text)
{
    char path[128];

    put("/limit", text);
    snprintf(path, sizeof path, "%s/limit", root);
    return tri_cgroup_limit(path);
}

static void numbers_in_files(void **state)
{
    (void)state;
    assert_true(limit_of("max\n") == UINT64_MAX);
    assert_true(limit_of("-1\n") == UINT64_MAX);
    assert_true(limit_of("1073741824\n") == 1073741824u);
    assert_true(limit_of("9223372036854771712\n") == UINT64_MAX); /* v1: none */
    assert_true(limit_of("") == UINT64_MAX);
    assert_true(tri_cgroup_limit("/no/such/file") == 0);
}

static void groups_of_the_second_version(void **state)
{
    (void)state;
    put("/proc/self/cgroup", "0::/a/job_1/step_0\n");
    put("/sys/fs/cgroup/a/job_1/step_0/memory.max", "max\n");
    put("/sys/fs/cgroup/a/job_1/memory.max", "5000000\n");
    put("/sys/fs/cgroup/a/memory.max", "7000000\n");
    put("/sys/fs/cgroup/a/job_1/step_0/cpu.max", "250000 100000\n");
    put("/sys/fs/cgroup/a/cpu.max", "max 100000\n");
    assert_true(tri_cgroup_memory(root) == 5000000);
    assert_int_equal(tri_cgroup_cores(root, 16), 3);
    assert_int_equal(tri_cgroup_cores(root, 2), 2);
}

static void groups_of_the_first_version(void **state)
{
    (void)state;
    put("/proc/self/cgroup", "5:cpu,cpuacct:/slurm/job_2\n"
                             "4:memory:/slurm/job_2/step_0\n"
                             "3:cpuset:/slurm/job_2\n1:name=systemd:/\n");
    put("/sys/fs/cgroup/memory/slurm/job_2/step_0/memory.limit_in_bytes",
        "9223372036854771712\n");
    put("/sys/fs/cgroup/memory/slurm/job_2/memory.limit_in_bytes", "4096000\n");
    put("/sys/fs/cgroup/cpu/slurm/job_2/cpu.cfs_quota_us", "400000\n");
    put("/sys/fs/cgroup/cpu/slurm/job_2/cpu.cfs_period_us", "100000\n");
    put("/sys/fs/cgroup/cpu/slurm/cpu.cfs_quota_us", "-1\n");
    put("/sys/fs/cgroup/cpu/slurm/cpu.cfs_period_us", "100000\n");
    assert_true(tri_cgroup_memory(root) == 4096000);
    assert_int_equal(tri_cgroup_cores(root, 16), 4);
}

/* What a container shows: its own group at the top, whatever it is called. */
static void groups_that_are_not_to_be_seen(void **state)
{
    (void)state;
    put("/proc/self/cgroup", "0::/docker/0123\n");
    put("/sys/fs/cgroup/memory.max", "8192000\n");
    put("/sys/fs/cgroup/cpu.max", "50000 100000\n");
    assert_true(tri_cgroup_memory(root) == 8192000);
    assert_int_equal(tri_cgroup_cores(root, 4), 1);
    put("/proc/self/cgroup", "");
    assert_true(tri_cgroup_memory(root) == UINT64_MAX);
    assert_int_equal(tri_cgroup_cores(root, 4), 4);
}

static void who_is_bound(void **state)
{
    tri_rank_place free_one = {.host_cores = 8, .is_whole = 1};
    tri_rank_place bound = {.host_cores = 8, .is_whole = 0};

    (void)state;
    assert_string_equal(tri_place_binding(&bound, 4, 1, NULL), "inherited");
    assert_string_equal(tri_place_binding(&free_one, 4, 4, NULL), "applied");
    assert_string_equal(tri_place_binding(&free_one, 4, 4, "none"), "none");
    /* a control group for each */
    assert_string_equal(tri_place_binding(&free_one, 4, 1, NULL), "inherited");
    assert_string_equal(tri_place_binding(&free_one, 9, 9, NULL), "none");
    assert_string_equal(tri_place_binding(&free_one, 1, 1, NULL), "none");
}

/* Each of as many ranks as cores gets one, and knows where that is. */
static void a_share_of_this_machine(void **state)
{
    cpu_set_t before, now;
    tri_rank_place place;

    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    tri_place_read(&place);
    if (!place.is_whole || place.host_cores < 2) {
        print_message("skipped: %d core%s of this machine, %s\n",
                      place.host_cores, place.host_cores == 1 ? "" : "s",
                      place.is_whole ? "too few to be shared"
                                     : "of which this process has a part");
        skip();
    }
    tri_place_bind(&place, 1, place.host_cores, place.host_cores);
    assert_string_equal(place.binding, "applied");
    assert_int_equal(place.cores, 1);
    assert_true(place.at.core > 1);
    assert_int_equal(sched_getaffinity(0, sizeof now, &now), 0);
    assert_true(CPU_COUNT(&now) < CPU_COUNT(&before));
    sched_setaffinity(0, sizeof before, &before);
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
            cmocka_unit_test_setup_teardown(numbers_in_files, begin_root,
                                            end_root),
            cmocka_unit_test_setup_teardown(groups_of_the_second_version,
                                            begin_root, end_root),
            cmocka_unit_test_setup_teardown(groups_of_the_first_version,
                                            begin_root, end_root),
            cmocka_unit_test_setup_teardown(groups_that_are_not_to_be_seen,
                                            begin_root, end_root),
            cmocka_unit_test(who_is_bound),
            cmocka_unit_test(a_share_of_this_machine),
            cmocka_unit_test(this_machine),
            cmocka_unit_test(devices_are_those_shown),
            cmocka_unit_test(a_quota_is_a_share_of_the_host),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

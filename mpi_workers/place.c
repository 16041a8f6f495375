/*
 * Reads host, cores and memory from hwloc, /proc and the control groups.
 */
#include "mpi_workers/place.h"

#include <hwloc.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

uint64_t tri_place_limit(const char *path)
{
    FILE *f = fopen(path, "re");
    unsigned long long value = 0;
    int n;

    if (!f) {
        return 0;
    }
    n = fscanf(f, "%llu", &value);
    fclose(f);
    if (n != 1 || value > UINT64_MAX / 4) {
        return UINT64_MAX;
    }
    return value;
}

/* The smallest limit in `file` from `root``path` upwards. */
static uint64_t limit_above(const char *root, const char *path,
                            const char *file)
{
    char at[1024];
    char full[1400];
    uint64_t least = UINT64_MAX;

    snprintf(at, sizeof at, "%s", path);
    for (;;) {
        uint64_t limit;
        char *slash;

        snprintf(full, sizeof full, "%s%s/%s", root, at, file);
        limit = tri_place_limit(full);
        if (limit > 0 && limit < least) {
            least = limit;
        }
        slash = strrchr(at, '/');
        if (!slash) {
            return least;
        }
        *slash = 0;
    }
}

/* The limit of the control group that a line of /proc/self/cgroup names. */
static uint64_t limit_of_line(char *line)
{
    char *controllers = strchr(line, ':');
    char *path = controllers ? strchr(controllers + 1, ':') : NULL;

    if (!path) {
        return UINT64_MAX;
    }
    *path++ = 0;
    path[strcspn(path, "\n")] = 0;
    controllers++;
    if (!*controllers) {
        return limit_above("/sys/fs/cgroup", path, "memory.max");
    }
    if (strcmp(controllers, "memory") == 0) {
        return limit_above("/sys/fs/cgroup/memory", path,
                           "memory.limit_in_bytes");
    }
    return UINT64_MAX;
}

static uint64_t cgroup_memory(void)
{
    FILE *f = fopen("/proc/self/cgroup", "re");
    char line[1024];
    uint64_t least = UINT64_MAX;

    while (f && fgets(line, sizeof line, f)) {
        uint64_t limit = limit_of_line(line);

        if (limit < least) {
            least = limit;
        }
    }
    if (f) {
        fclose(f);
    }
    return least;
}

uint64_t tri_place_memory(void)
{
    long pages = sysconf(_SC_PHYS_PAGES);
    long size = sysconf(_SC_PAGESIZE);
    uint64_t all = pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size
                                         : (uint64_t)1 << 30;
    uint64_t limit = cgroup_memory();

    return limit < all ? limit : all;
}

/* Cores that the control group's quota leaves, `cores` if it says nothing. */
static int within_quota(int cores)
{
    FILE *f = fopen("/sys/fs/cgroup/cpu.max", "re");
    long long quota = -1;
    long long period = -1;
    int whole;

    if (f) {
        if (fscanf(f, "%lld %lld", &quota, &period) != 2) {
            quota = -1;
        }
        fclose(f);
    } else {
        uint64_t q = tri_place_limit("/sys/fs/cgroup/cpu/cpu.cfs_quota_us");
        uint64_t p = tri_place_limit("/sys/fs/cgroup/cpu/cpu.cfs_period_us");

        if (q > 0 && q < UINT64_MAX && p > 0 && p < UINT64_MAX) {
            quota = (long long)q;
            period = (long long)p;
        }
    }
    if (quota <= 0 || period <= 0) {
        return cores;
    }
    whole = (int)((quota + period - 1) / period);
    return whole < cores ? whole : cores;
}

static void read_cpu(tri_rank_place *out)
{
    FILE *f = fopen("/proc/cpuinfo", "re");
    char line[512];

    snprintf(out->cpu, sizeof out->cpu, "unknown");
    while (f && fgets(line, sizeof line, f)) {
        char *value = strchr(line, ':');

        if (strncmp(line, "model name", 10) == 0 && value) {
            value[strcspn(value, "\n")] = 0;
            snprintf(out->cpu, sizeof out->cpu, "%.90s", value + 2);
            break;
        }
    }
    if (f) {
        fclose(f);
    }
}

static void read_device(tri_rank_place *out)
{
    static const char *const names[] = {
            "CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES",
            "HIP_VISIBLE_DEVICES", "ZE_AFFINITY_MASK"};

    out->device[0] = 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *value = getenv(names[i]);

        if (value && *value) {
            snprintf(out->device, sizeof out->device, "%.90s", value);
            return;
        }
    }
}

/* Cores of `set`: whole ones where hwloc knows them, else processing units. */
static int count_cores(hwloc_topology_t topology, hwloc_const_bitmap_t set)
{
    int n = hwloc_get_nbobjs_inside_cpuset_by_type(topology, set,
                                                   HWLOC_OBJ_CORE);

    if (n <= 0) {
        n = hwloc_bitmap_weight(set);
    }
    return n > 0 ? n : 1;
}

static void read_cores(tri_rank_place *out)
{
    hwloc_topology_t topology;
    hwloc_bitmap_t mine;

    out->cores = out->host_cores = 1;
    if (hwloc_topology_init(&topology) != 0) {
        return;
    }
    mine = hwloc_bitmap_alloc();
    if (mine && hwloc_topology_load(topology) == 0) {
        out->host_cores = within_quota(count_cores(
                topology, hwloc_topology_get_allowed_cpuset(topology)));
        out->cores = out->host_cores;
        if (hwloc_get_cpubind(topology, mine, HWLOC_CPUBIND_PROCESS) == 0) {
            int bound = count_cores(topology, mine);

            out->cores = bound < out->host_cores ? bound : out->host_cores;
        }
    }
    hwloc_bitmap_free(mine);
    hwloc_topology_destroy(topology);
}

static int is_given(const char *name, char *buf, size_t bytes)
{
    const char *given = getenv(name);

    if (!given || !*given) {
        return 0;
    }
    snprintf(buf, bytes, "%s", given);
    return 1;
}

static void read_host(tri_rank_place *out)
{
    if (!is_given("TRIREME_HOST_NAME", out->host, sizeof out->host) &&
        gethostname(out->host, sizeof out->host - 1) != 0) {
        snprintf(out->host, sizeof out->host, "unknown");
    }
}

void tri_place_node(char *buf, size_t bytes)
{
    if (!is_given("TRIREME_HOST_NAME", buf, bytes) &&
        !is_given("SLURMD_NODENAME", buf, bytes) &&
        gethostname(buf, bytes - 1) != 0) {
        snprintf(buf, bytes, "localhost");
    }
    buf[bytes - 1] = 0;
}

void tri_place_read(tri_rank_place *out)
{
    memset(out, 0, sizeof *out);
    read_host(out);
    tri_place_node(out->node, sizeof out->node);
    read_cpu(out);
    read_device(out);
    read_cores(out);
    out->memory_bytes = tri_place_memory();
}

char *tri_place_topology(void)
{
    hwloc_topology_t topology;
    char *xml = NULL;
    char *copy = NULL;
    int bytes = 0;

    if (hwloc_topology_init(&topology) != 0) {
        return NULL;
    }
    if (hwloc_topology_load(topology) == 0 &&
        hwloc_topology_export_xmlbuffer(topology, &xml, &bytes, 0) == 0) {
        copy = strdup(xml);
        hwloc_free_xmlbuffer(topology, xml);
    }
    hwloc_topology_destroy(topology);
    return copy;
}

/*
 * Reads host, cores and memory from hwloc, /proc and the control groups.
 */
#include "mpi_workers/place.h"

#include "mpi_workers/cgroup.h"

#include <hwloc.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

uint64_t tri_place_memory(void)
{
    long pages = sysconf(_SC_PHYS_PAGES);
    long size = sysconf(_SC_PAGESIZE);
    uint64_t all = pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size
                                         : (uint64_t)1 << 30;
    uint64_t limit = tri_cgroup_memory("");

    return limit < all ? limit : all;
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

/* The number from 1 of the object of that type that holds all of `set`; 0. */
static int holder(hwloc_topology_t topology, hwloc_obj_type_t type,
                  hwloc_const_bitmap_t set)
{
    for (int i = 0; i < hwloc_get_nbobjs_by_type(topology, type); i++) {
        hwloc_obj_t o = hwloc_get_obj_by_type(topology, type, (unsigned)i);

        if (o && o->cpuset && hwloc_bitmap_isincluded(set, o->cpuset)) {
            return i + 1;
        }
    }
    return 0;
}

/* The first core of `set`, from 1; 0 where it is unknown. */
static int first_core(hwloc_topology_t topology, hwloc_const_bitmap_t set)
{
    for (int i = 0; i < hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE);
         i++) {
        hwloc_obj_t o =
                hwloc_get_obj_by_type(topology, HWLOC_OBJ_CORE, (unsigned)i);

        if (o && hwloc_bitmap_intersects(set, o->cpuset)) {
            return i + 1;
        }
    }
    return 0;
}

/* Note that this rank may use `set`: where that is, and how much. */
static void note_set(hwloc_topology_t topology, hwloc_const_bitmap_t set,
                     tri_rank_place *out)
{
    int n = count_cores(topology, set);
    hwloc_const_bitmap_t all = hwloc_topology_get_allowed_cpuset(topology);

    out->cores = n < out->host_cores ? n : out->host_cores;
    hwloc_bitmap_list_snprintf(out->cpus, sizeof out->cpus, set);
    out->at.package = holder(topology, HWLOC_OBJ_PACKAGE, set);
    out->at.numa = holder(topology, HWLOC_OBJ_NUMANODE, set);
    out->at.cache = holder(topology, HWLOC_OBJ_L3CACHE, set);
    out->at.core =
            hwloc_bitmap_isincluded(all, set) ? 0 : first_core(topology, set);
    out->is_whole = out->at.core == 0;
}

/* A loaded topology, or 0. */
static int open_topology(hwloc_topology_t *out)
{
    if (hwloc_topology_init(out) != 0) {
        return 0;
    }
    if (hwloc_topology_load(*out) != 0) {
        hwloc_topology_destroy(*out);
        return 0;
    }
    return 1;
}

static void read_cores(tri_rank_place *out)
{
    hwloc_topology_t topology;
    hwloc_bitmap_t mine = hwloc_bitmap_alloc();

    out->cores = out->host_cores = 1;
    out->is_whole = 1;
    if (mine && open_topology(&topology)) {
        hwloc_const_bitmap_t all = hwloc_topology_get_allowed_cpuset(topology);

        out->host_cores = tri_cgroup_cores("", count_cores(topology, all));
        if (hwloc_get_cpubind(topology, mine, HWLOC_CPUBIND_PROCESS) != 0) {
            hwloc_bitmap_copy(mine, all);
        }
        note_set(topology, mine, out);
        hwloc_topology_destroy(topology);
    }
    hwloc_bitmap_free(mine);
}

/* ---- binding ------------------------------------------------------------ */

const char *tri_place_binding(const tri_rank_place *place, int n_ranks,
                              int n_alike, const char *wish)
{
    if (!place->is_whole || n_alike < n_ranks) {
        return "inherited";
    }
    return n_ranks > 1 && n_ranks <= place->host_cores &&
                           !(wish && strcmp(wish, "none") == 0)
                   ? "applied"
                   : "none";
}

/* Bind this process, all its threads, to share i of n of the host's cores. */
static int bind_to_share(hwloc_topology_t topology, int i, int n,
                         tri_rank_place *out)
{
    hwloc_obj_t root = hwloc_get_root_obj(topology);
    hwloc_bitmap_t *shares = calloc((size_t)n, sizeof(hwloc_bitmap_t));
    int depth = hwloc_get_type_or_below_depth(topology, HWLOC_OBJ_CORE);
    int bound = 0;

    if (shares &&
        hwloc_distrib(topology, &root, 1, shares, (unsigned)n, depth, 0) == 0) {
        bound = hwloc_set_cpubind(topology, shares[i], HWLOC_CPUBIND_PROCESS) ==
                0;
        if (bound) {
            note_set(topology, shares[i], out);
        }
    }
    for (int k = 0; shares && k < n; k++) {
        hwloc_bitmap_free(shares[k]);
    }
    free(shares);
    return bound;
}

void tri_place_bind(tri_rank_place *place, int index, int n_ranks, int n_alike)
{
    const char *binding =
            tri_place_binding(place, n_ranks, n_alike, getenv("TRIREME_BIND"));
    hwloc_topology_t topology;

    if (strcmp(binding, "applied") == 0) {
        int bound = 0;

        if (open_topology(&topology)) {
            bound = bind_to_share(topology, index, n_ranks, place);
            hwloc_topology_destroy(topology);
        }
        binding = bound ? binding : "none";
    }
    snprintf(place->binding, sizeof place->binding, "%s", binding);
}

/* ---- names -------------------------------------------------------------- */

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

/* ", 2 packages" where there are any. */
static size_t append_count(hwloc_topology_t topology, hwloc_obj_type_t type,
                           const char *what, char *buf, size_t bytes)
{
    int n = hwloc_get_nbobjs_by_type(topology, type);

    if (n < 1) {
        return 0;
    }
    return (size_t)snprintf(buf, bytes, ", %d %s%s", n, what,
                            n == 1 ? "" : "s");
}

char *tri_place_describe(const tri_rank_place *place, char *buf, size_t bytes)
{
    static const struct {
        hwloc_obj_type_t type;
        const char *what;
    } parts[] = {{HWLOC_OBJ_PACKAGE, "package"},
                 {HWLOC_OBJ_NUMANODE, "NUMA domain"},
                 {HWLOC_OBJ_L3CACHE, "L3 cache"},
                 {HWLOC_OBJ_CORE, "core"},
                 {HWLOC_OBJ_PU, "hardware thread"}};
    hwloc_topology_t topology;
    size_t used;

    buf[0] = 0;
    if (hwloc_topology_init(&topology) != 0) {
        return buf;
    }
    if (hwloc_topology_load(topology) == 0) {
        used = (size_t)snprintf(buf, bytes, "%s", place->cpu);
        for (size_t i = 0; i < sizeof parts / sizeof *parts && used < bytes;
             ++i) {
            used += append_count(topology, parts[i].type, parts[i].what,
                                 buf + used, bytes - used);
        }
        if (used < bytes) {
            snprintf(buf + used, bytes - used, ", %.1f GiB",
                     (double)place->memory_bytes / 1073741824.0);
        }
    }
    hwloc_topology_destroy(topology);
    return buf;
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

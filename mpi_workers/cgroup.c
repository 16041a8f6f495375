/*
 * Reads limits of control groups from /proc/self/cgroup and /sys/fs/cgroup.
 */
#include "mpi_workers/cgroup.h"

#include <stdio.h>
#include <string.h>

#define PATH_BYTES 1536

uint64_t tri_cgroup_limit(const char *path)
{
    FILE *f = fopen(path, "re");
    long long value = 0;
    int n;

    if (!f) {
        return 0;
    }
    n = fscanf(f, "%lld", &value);
    fclose(f);
    if (n != 1 || value < 0 || value > INT64_MAX / 2) {
        return UINT64_MAX;
    }
    return (uint64_t)value;
}

/* Cores that a quota leaves; 0: no quota, or not to be read. */
static int cores_of(const char *folder)
{
    char path[PATH_BYTES + 32];
    long long quota = -1, period = -1;
    FILE *f;

    snprintf(path, sizeof path, "%s/cpu.max", folder);
    f = fopen(path, "re");
    if (f) {
        if (fscanf(f, "%lld %lld", &quota, &period) != 2) {
            quota = -1;
        }
        fclose(f);
    } else {
        uint64_t q, p;

        snprintf(path, sizeof path, "%s/cpu.cfs_quota_us", folder);
        q = tri_cgroup_limit(path);
        snprintf(path, sizeof path, "%s/cpu.cfs_period_us", folder);
        p = tri_cgroup_limit(path);
        if (q > 0 && q < UINT64_MAX && p > 0 && p < UINT64_MAX) {
            quota = (long long)q;
            period = (long long)p;
        }
    }
    return quota > 0 && period > 0 ? (int)((quota + period - 1) / period) : 0;
}

static uint64_t memory_of(const char *folder, int is_first_version)
{
    char path[PATH_BYTES + 32];

    snprintf(path, sizeof path, "%s/%s", folder,
             is_first_version ? "memory.limit_in_bytes" : "memory.max");
    return tri_cgroup_limit(path);
}

typedef struct limits {
    uint64_t memory;
    int cores;
    int wants_memory, wants_cores;
} limits;

/* Of the groups from `folder` upwards to `top` bytes of it, the least. */
static void look_above(char *folder, size_t top, int is_first_version,
                       limits *out)
{
    for (;;) {
        char *slash;

        if (out->wants_memory) {
            uint64_t limit = memory_of(folder, is_first_version);

            out->memory =
                    limit > 0 && limit < out->memory ? limit : out->memory;
        }
        if (out->wants_cores) {
            int cores = cores_of(folder);

            out->cores = cores > 0 && cores < out->cores ? cores : out->cores;
        }
        slash = strrchr(folder, '/');
        if (!slash || (size_t)(slash - folder) < top) {
            return;
        }
        *slash = 0;
    }
}

/* Whether a comma-separated list holds `name`. */
static int holds(const char *list, const char *name)
{
    size_t n = strlen(name);

    for (const char *at = list; *at; at += strcspn(at, ",")) {
        at += *at == ',';
        if (strncmp(at, name, n) == 0 && (at[n] == 0 || at[n] == ',')) {
            return 1;
        }
    }
    return 0;
}

/* The groups that a line of /proc/self/cgroup names: "N:controllers:path". */
static void look_at_line(const char *root, char *line, limits *out)
{
    char *controllers = strchr(line, ':');
    char *path = controllers ? strchr(controllers + 1, ':') : NULL;
    char folder[PATH_BYTES];
    const char *mount = "";
    limits mine = *out;
    int first;

    if (!path) {
        return;
    }
    *path++ = 0;
    path[strcspn(path, "\n")] = 0;
    controllers++;
    first = *controllers != 0;
    if (first) {
        mine.wants_memory = out->wants_memory && holds(controllers, "memory");
        mine.wants_cores = out->wants_cores && holds(controllers, "cpu");
        mount = mine.wants_memory ? "/memory" : "/cpu";
    }
    if (mine.wants_memory || mine.wants_cores) {
        int top = snprintf(folder, sizeof folder, "%s/sys/fs/cgroup%s", root,
                           mount);

        if (strcmp(path, "/") != 0) {
            snprintf(folder + top, sizeof folder - (size_t)top, "%s", path);
        }
        look_above(folder, (size_t)top, first, &mine);
        out->memory = mine.memory;
        out->cores = mine.cores;
    }
}

static void look(const char *root, limits *out)
{
    char path[PATH_BYTES];
    char line[1024];
    FILE *f;

    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f)) {
        look_at_line(root, line, out);
    }
    if (f) {
        fclose(f);
    }
}

uint64_t tri_cgroup_memory(const char *root)
{
    limits all = {.memory = UINT64_MAX, .cores = 1, .wants_memory = 1};

    look(root, &all);
    return all.memory;
}

int tri_cgroup_cores(const char *root, int cores)
{
    limits all = {.memory = UINT64_MAX, .cores = cores, .wants_cores = 1};

    look(root, &all);
    return all.cores;
}

/*
 * Reads the kernel's counts of out-of-memory kills.
 */
#include "mpi_workers/memory_events.h"

#include <string.h>
#include <unistd.h>

#define ROOT "/sys/fs/cgroup"

int tri_memory_kills_of(FILE *f, uint64_t *kills)
{
    char line[256];
    unsigned long long n;

    while (fgets(line, sizeof line, f)) {
        if (sscanf(line, "oom_kill %llu", &n) == 1) {
            *kills = n;
            return 1;
        }
    }
    return 0;
}

static int is_there(char *path, size_t bytes, const char *root,
                    const char *folder, const char *group, const char *file)
{
    int n = snprintf(path, bytes, "%s%s%s/%s", root, folder,
                     strcmp(group, "/") == 0 ? "" : group, file);

    return n > 0 && (size_t)n < bytes && access(path, R_OK) == 0;
}

/* Beside the group as it is named, the root that a container is shown. */
static int find_below(char *path, size_t bytes, const char *root,
                      const char *folder, const char *group, const char *file)
{
    return is_there(path, bytes, root, folder, group, file) ||
           is_there(path, bytes, root, folder, "", file);
}

int tri_memory_kills_file(const char *line, const char *root, char *path,
                          size_t bytes)
{
    const char *controllers = strchr(line, ':');
    const char *at = controllers ? strchr(controllers + 1, ':') : NULL;
    char group[1024];

    if (!at) {
        return 0;
    }
    snprintf(group, sizeof group, "%s", at + 1);
    group[strcspn(group, "\n")] = 0;
    if (at == controllers + 1) { /* "0::/path" */
        return find_below(path, bytes, root, "", group, "memory.events") ||
               find_below(path, bytes, root, "/unified", group,
                          "memory.events");
    }
    return strncmp(controllers, ":memory:", 8) == 0 &&
           find_below(path, bytes, root, "/memory", group,
                      "memory.oom_control");
}

static int kills_in(const char *path, uint64_t *kills)
{
    FILE *f = fopen(path, "re");
    int found = f && tri_memory_kills_of(f, kills);

    if (f) {
        fclose(f);
    }
    return found;
}

int tri_memory_kills(uint64_t *kills)
{
    FILE *f = fopen("/proc/self/cgroup", "re");
    char line[1100];
    char path[1400];
    int found = 0;

    while (f && !found && fgets(line, sizeof line, f)) {
        found = tri_memory_kills_file(line, ROOT, path, sizeof path) &&
                kills_in(path, kills);
    }
    if (f) {
        fclose(f);
    }
    return found || kills_in("/proc/vmstat", kills);
}

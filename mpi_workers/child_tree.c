/*
 * Walks a tree of processes for the largest of them.
 */
#include "mpi_workers/child_tree.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

/* More than this is not looked at; of a process's threads the first ones, which
 * its main thread is of: it is asked often, and nearly all start processes
 * there. */
#define MOST         256
#define MOST_THREADS 64

static uint64_t high_water(pid_t pid)
{
    char path[64];
    char line[256];
    unsigned long kib = 0;
    FILE *f;

    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f) &&
           sscanf(line, "VmHWM: %lu kB", &kib) != 1) {
    }
    if (f) {
        fclose(f);
    }
    return (uint64_t)kib << 10;
}

/* Add the children of one thread to pids[0, n). */
static int add_children(pid_t pid, long thread, pid_t *pids, int n)
{
    char path[96];
    int child;
    FILE *f;

    snprintf(path, sizeof path, "/proc/%d/task/%ld/children", (int)pid, thread);
    f = fopen(path, "re");
    while (f && n < MOST && fscanf(f, "%d", &child) == 1) {
        pids[n++] = child;
    }
    if (f) {
        fclose(f);
    }
    return n;
}

/* Any thread may have started some. */
static int add_all_children(pid_t pid, pid_t *pids, int n)
{
    char path[64];
    struct dirent *e;
    int threads = 0;
    DIR *dir;

    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    dir = opendir(path);
    while (dir && threads < MOST_THREADS && (e = readdir(dir))) {
        long thread = strtol(e->d_name, NULL, 10);

        if (thread > 0) {
            n = add_children(pid, thread, pids, n);
            threads++;
        }
    }
    if (dir) {
        closedir(dir);
    }
    return n;
}

uint64_t tri_child_tree_rss(pid_t pid)
{
    pid_t pids[MOST];
    uint64_t most = 0;
    int n = 1;

    pids[0] = pid;
    for (int i = 0; i < n; i++) {
        uint64_t rss = high_water(pids[i]);

        most = rss > most ? rss : most;
        n = add_all_children(pids[i], pids, n);
    }
    return most;
}

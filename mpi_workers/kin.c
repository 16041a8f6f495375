/*
 * The children of a process, as /proc lists them.
 */
#include "mpi_workers/kin.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The parent of a process, and by *ended whether it has ended and was not
 * asked for yet; 0 where there is no such. */
static pid_t parent_of(pid_t pid, int *ended)
{
    char path[64];
    char text[512];
    const char *at;
    char state = 0;
    int parent = 0;
    size_t n;
    FILE *f;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    f = fopen(path, "re");
    if (!f) {
        return 0;
    }
    n = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    text[n] = 0;
    at = strrchr(text, ')'); /* a name may hold anything */
    if (!at || sscanf(at, ") %c %d", &state, &parent) != 2) {
        return 0;
    }
    *ended = state == 'Z' || state == 'X';
    return parent;
}

static int is_among(pid_t pid, const pid_t *known, int n)
{
    for (int i = 0; i < n; i++) {
        if (known[i] == pid) {
            return 1;
        }
    }
    return pid == getpid();
}

/* The others among the children that one thread of `parent` has. */
static int others_of(pid_t parent, const char *thread, const pid_t *known,
                     int n)
{
    char path[320];
    int others = 0;
    int child;
    FILE *f;

    snprintf(path, sizeof path, "/proc/%d/task/%s/children", (int)parent,
             thread);
    f = fopen(path, "re");
    if (!f) {
        return -1;
    }
    while (fscanf(f, "%d", &child) == 1) {
        int ended = 0;

        others += !is_among(child, known, n) &&
                  parent_of(child, &ended) == parent && !ended;
    }
    fclose(f);
    return others;
}

/* Any thread of it may have started children. */
static int others_under(pid_t parent, const pid_t *known, int n)
{
    char path[64];
    struct dirent *e;
    int all = 0;
    DIR *dir;

    snprintf(path, sizeof path, "/proc/%d/task", (int)parent);
    dir = opendir(path);
    if (!dir) {
        return -1;
    }
    while (all >= 0 && (e = readdir(dir))) {
        int others = e->d_name[0] == '.'
                             ? 0
                             : others_of(parent, e->d_name, known, n);

        all = others < 0 ? -1 : all + others;
    }
    closedir(dir);
    return all;
}

int tri_kin_others(const pid_t *known, int n)
{
    pid_t parent = getppid();
    int ended;

    for (int i = 0; i < n; i++) {
        /* one that has ended since it spoke says nothing */
        pid_t its = known[i] > 0 ? parent_of(known[i], &ended) : 0;

        if (its > 0 && its != parent) {
            return -1;
        }
    }
    return others_under(parent, known, n);
}

int tri_kin_expected(void)
{
    const char *text = getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
    int n = text ? (int)strtol(text, NULL, 10) : 0;

    return n > 0 ? n : 0;
}

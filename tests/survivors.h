/*
 * Who is alive: processes with a mark in their environment, and descriptors.
 */
#ifndef TRI_TESTS_SURVIVORS_H
#define TRI_TESTS_SURVIVORS_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Whether /proc/PID/environ has "MARK=value". */
static inline int tri_has_mark(int pid, const char *mark)
{
    char path[64];
    char text[65536];
    size_t length = strlen(mark);
    size_t n;
    FILE *f;

    snprintf(path, sizeof path, "/proc/%d/environ", pid);
    f = fopen(path, "r");
    n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    text[n] = 0;
    for (size_t at = 0; at < n; at += strlen(text + at) + 1) {
        if (strncmp(text + at, "MARK=", 5) == 0 &&
            strcmp(text + at + 5, mark) == 0 && length > 0) {
            fclose(f);
            return 1;
        }
    }
    if (f) {
        fclose(f);
    }
    return 0;
}

/* Processes with the mark (zombies have no environment). */
static inline int tri_survivors(const char *mark)
{
    DIR *dir = opendir("/proc");
    struct dirent *e;
    int n = 0;

    while (dir && (e = readdir(dir))) {
        int pid = (int)strtol(e->d_name, NULL, 10);

        n += pid > 0 && tri_has_mark(pid, mark);
    }
    if (dir) {
        closedir(dir);
    }
    return n;
}

/* How many are left in the end, half a minute at most being given. */
static inline int tri_survivors_last(const char *mark)
{
    int n = tri_survivors(mark);

    for (int i = 0; n > 0 && i < 3000; i++) {
        usleep(10000);
        n = tri_survivors(mark);
    }
    return n;
}

/* Open descriptors of this process. */
static inline int tri_descriptors(void)
{
    DIR *dir = opendir("/proc/self/fd");
    int n = 0;

    while (dir && readdir(dir)) {
        n++;
    }
    if (dir) {
        closedir(dir);
    }
    return n - 3; /* ., .., and the folder itself */
}

#endif

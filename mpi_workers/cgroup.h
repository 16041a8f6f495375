/*
 * What this process's control groups leave it: memory and processor time.  Of
 * both versions, and of all groups from its own upwards, the least; where a
 * group's folder is not to be seen, as in a container, the ones above it.
 */
#ifndef TRI_MPI_WORKERS_CGROUP_H
#define TRI_MPI_WORKERS_CGROUP_H

#include <stdint.h>

/* `root` stands before /proc and /sys: "" but in tests.
 * Bytes; UINT64_MAX: no limit. */
uint64_t tri_cgroup_memory(const char *root);
/* Cores, rounded up, of `cores` that there are. */
int tri_cgroup_cores(const char *root, int cores);
/* The number in a control group's file: UINT64_MAX for "max", "-1" or what is
 * absurdly large, 0 where it cannot be read. */
uint64_t tri_cgroup_limit(const char *path);

#endif

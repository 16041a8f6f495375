/*
 * What the kernel counts of processes that it killed for want of memory, and
 * how much memory there is.  Read before and after a process; a difference is
 * evidence.  Knows nothing of trials.
 */
#ifndef TRI_MPI_WORKERS_MEMORY_EVENTS_H
#define TRI_MPI_WORKERS_MEMORY_EVENTS_H

#include <stdint.h>
#include <stdio.h>

/*
 * Processes killed so far in this process's control group: `oom_kill` of
 * memory.events (version 2) or memory.oom_control (version 1); where there is
 * neither, of the whole host, out of /proc/vmstat.  Children share it unless
 * they are moved.  Returns whether it could be read; [out] kills.
 */
int tri_memory_kills(uint64_t *kills);

/* Parts that tests use: the number after "oom_kill " in a file's text; and the
 * file that a line of /proc/PID/cgroup leads to, the mounts being below `root`
 * ("/sys/fs/cgroup").  Return whether there is one. */
int tri_memory_kills_of(FILE *f, uint64_t *kills);
int tri_memory_kills_file(const char *line, const char *root, char *path,
                          size_t bytes);

#endif

/*
 * Resident sizes of a process and what descends from it, out of /proc.  Knows
 * nothing of trials.
 */
#ifndef TRI_MPI_WORKERS_CHILD_TREE_H
#define TRI_MPI_WORKERS_CHILD_TREE_H

#include <stdint.h>
#include <sys/types.h>

/* The largest high water among `pid` and its descendants (the first few
 * hundred), bytes; 0 where there is none. */
uint64_t tri_child_tree_rss(pid_t pid);

#endif

/*
 * The sweeper: one small process beside each worker of process trials, which
 * outlives it.  When the worker is gone without a word, it waits until nothing
 * that the worker started is left, helps where the guards (guard.h) were killed
 * with it, and then removes the scratch folders and host files that the worker
 * had.  Those that it started are known by TRI_SWEEPER_MARK in their
 * environment: whoever drops that, and whose guard is killed together with the
 * worker, is out of reach.
 *
 * It is the guard's program once more (trireme-guard --sweep FD), under a name
 * without that of the tuner, so that `pkill -f trireme` leaves it to do its
 * work.  Signals do not end it, but for KILL; it ends by itself, at once where
 * nothing is to do, within TRI_SWEEP_S at the latest.
 *
 * On the socket between them (SOCK_SEQPACKET) the worker says, a message each:
 *   =NAME=VALUE  the mark
 *   +N PATH      to be removed, and N - 1 (a byte) empty folders above it; with
 *                a descriptor of what is there, so that another of that name is
 *                never taken for it
 *   -PATH        it is gone already
 *   .            there is nothing to do
 */
#ifndef TRI_MPI_WORKERS_SWEEPER_H
#define TRI_MPI_WORKERS_SWEEPER_H

#include "trireme/status.h"

/* The variable that marks what a worker starts; TRIREME_ and a name may be a
 * parameter of the study. */
#define TRI_SWEEPER_MARK "TRI_MARK"
/* It works for so long at most. */
#define TRI_SWEEP_S 60.0
/* Paths that are remembered; a worker has two at a time. */
#define TRI_SWEEP_PATHS 8

typedef struct tri_sweeper tri_sweeper;

/* Start it.  To be called before any other process is started, whose ends
 * would be taken for its own (orphans.h).  [out] owned.  TRI_EIO, TRI_ENOMEM.
 */
tri_status tri_sweeper_open(tri_sweeper **out);
/* "TRI_MARK=...", for the environment of all processes; borrowed. */
const char *tri_sweeper_mark(const tri_sweeper *s);
/* What was just made, an absolute path, and how many folders above it are to
 * go with it where they are empty.  Of NULL, as below, nothing. */
void tri_sweeper_add(tri_sweeper *s, const char *path, int n_above);
/* It was removed. */
void tri_sweeper_forget(tri_sweeper *s, const char *path);
/* End it, unless something is left for it to do. */
void tri_sweeper_close(tri_sweeper *s);

/* The program's side: serve the worker at the socket `fd` until its end.
 * Returns the status to end with. */
int tri_sweep(int fd);

#endif

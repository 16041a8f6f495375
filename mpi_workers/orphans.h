/*
 * Descendants that a process of the user's left behind: whoever leaves its
 * process group (setsid, a daemon) is out of reach of a kill of that group.
 * This process becomes their reaper, so that the system hands them to it when
 * their parents end; here they are killed and reaped.  Children that were there
 * before any process was started are let alone.  Knows nothing of pipes or
 * trials.
 *
 * Linux: PR_SET_CHILD_SUBREAPER and /proc/PID/task/TID/children.  Where the
 * kernel has not the second, nobody is found.  Processes are to be started by
 * the main thread.
 */
#ifndef TRI_MPI_WORKERS_ORPHANS_H
#define TRI_MPI_WORKERS_ORPHANS_H

#include <signal.h>

/* Adopt orphans from now on.  To be called before a process is started while
 * none other of ours runs: all children there are now are let alone. */
void tri_orphans_adopt(void);
/*
 * Kill and reap all children, and what they leave in turn, until none is left
 * or a second has passed.  `spared`: n process numbers (0: none) that are not
 * reaped, and only waited for; somebody else kills and reaps them.
 * Async-signal-safe.
 */
void tri_orphans_kill(const volatile sig_atomic_t *spared, int n);

#endif

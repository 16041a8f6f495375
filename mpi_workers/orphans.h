/*
 * Descendants that a process of the user's left behind: whoever leaves its
 * process group (setsid, a daemon) is out of reach of a kill of that group.
 * Their reaper is the guard (guard.h), and behind it, for a guard that was
 * killed, the worker: the system hands them over when their parents end, and
 * here they are found, killed and reaped.  Knows nothing of pipes or trials.
 *
 * Linux: PR_SET_CHILD_SUBREAPER and /proc/PID/task/TID/children, or, where the
 * kernel has not the second, all of /proc.  Processes are to be started by the
 * main thread.  All but tri_orphans_adopt is async-signal-safe.
 */
#ifndef TRI_MPI_WORKERS_ORPHANS_H
#define TRI_MPI_WORKERS_ORPHANS_H

#include <signal.h>
#include <sys/types.h>

/* Children of this process's main thread, at most `most`: how many.  While
 * some of them end, others may be missing. */
int tri_orphans_children(pid_t *out, int most);
/* The same out of all of /proc, for any parent. */
int tri_orphans_scan(pid_t parent, pid_t *out, int most);

/* Adopt orphans from now on.  To be called before a process is started while
 * none other of ours runs: all children there are now are let alone. */
void tri_orphans_adopt(void);
/* Kill and reap all children, and what they leave in turn, until none is left
 * or a second has passed; but not who was there at adoption, and not `spared`:
 * n process numbers (0: none). */
void tri_orphans_kill(const volatile sig_atomic_t *spared, int n);

#endif

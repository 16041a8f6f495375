/*
 * A thread that watches calls of MPI which may never return and are no
 * request: MPI_Comm_create_group where a member has died, and blocking
 * collectives beside a dead peer.
 *
 * The thread calls no MPI and allocates nothing; it sleeps until a deadline
 * passes and then calls the hook, once, from its own context.  What the hook
 * does is the program's: ending the process is src/app's alone.  Where no hook
 * was given nothing is watched.
 *
 * Begin and end are for one thread, the one that calls MPI; pairs may nest.
 */
#ifndef TRI_MPI_WORKERS_WATCHDOG_H
#define TRI_MPI_WORKERS_WATCHDOG_H

#include "trireme/status.h"

/* Start the thread, with all signals blocked.  `on_stuck` should not return;
 * if it does, nothing is watched until the next begin.  TRI_ENOMEM. */
tri_status tri_watchdog_open(void (*on_stuck)(void));
/* Stop and join it; nothing where it was not started. */
void tri_watchdog_close(void);

/* What follows has to end within `limit_s` seconds (INFINITY: no limit) and
 * within what is watched already.  Returns what tri_watchdog_end is to be
 * given at its end. */
double tri_watchdog_begin(double limit_s);
void tri_watchdog_end(double before);

#endif

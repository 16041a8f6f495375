/*
 * Waiting for another rank, which may be dead: in one place, always with an
 * end.
 *
 * Between two looks the core is given away, so that ranks may outnumber
 * cores; MPI goes on with what it has to do; this rank's attendant is called,
 * who answers rank 0; and the process that is waited for is looked at, where
 * it is one of this host.  Time in which this process itself stood still does
 * not count.
 *
 * One thread, the one that calls MPI.
 */
#ifndef TRI_MPI_WORKERS_WAIT_H
#define TRI_MPI_WORKERS_WAIT_H

#include "mpi_workers/pause.h"
#include "trireme/status.h"

#include <mpi.h>

#include <signal.h>
#include <sys/types.h>

#define TRI_NO_DEADLINE 1e300

/* ---- what all waits of this process heed ------------------------------- */

/* Set (by a signal handler) where this process ends: all waits give up. */
extern volatile sig_atomic_t tri_wait_abandoned;

/*
 * From now on waits call `attend` between two looks, some hundred times a
 * second; where it returns non-zero the wait gives up.  It must not wait here
 * itself.  NULL: nobody attends.  Forgets who was silent, and the limit.
 */
void tri_wait_attend(int (*attend)(void *ctx), void *ctx);
/* Call it now, where there is nobody to wait for. */
void tri_wait_look(void);
/* No wait lasts longer than `s` from now on, whatever its own deadline. */
void tri_wait_limit(double s);
/* The processes of the ranks of MPI_COMM_WORLD, 0 for those of other hosts;
 * `n` of them, borrowed until the next call.  NULL: nothing is known. */
void tri_wait_know(const pid_t *pids, int n);
/* Whether the process `pid` of this host has ended, reaped or not. */
int tri_wait_has_ended(pid_t pid);

/* The rank in MPI_COMM_WORLD that the first wait gave up on since
 * tri_wait_attend; -1: none. */
int tri_wait_silent(void);
/* Rank `rank` of `comm` is as good as silent: it is that one, unless another
 * was before it. */
void tri_wait_blame(MPI_Comm comm, int rank);

/* ---- one wait ----------------------------------------------------------- */

typedef struct tri_wait {
    MPI_Comm comm;
    int rank;     /* of comm, who is waited for; -1: nobody in particular */
    int sleeps;   /* it may take long: sleep between looks from the start */
    double end_s; /* by tri_now() */
    double started_s, last_s, attend_s, check_s;
    unsigned looks;
    tri_pause pause;
    pid_t pid; /* whose: 0 not looked up, -1 not known */
    int gone;  /* looks since it was found to have ended */
} tri_wait;

/* [out] w: a wait until tri_now() passes `deadline_s`, for rank `rank` of
 * `comm` (-1: not known whom). */
void tri_wait_begin(tri_wait *w, MPI_Comm comm, int rank, double deadline_s);
/* From now on it is another one who is waited for. */
void tri_wait_for(tri_wait *w, int rank);
/*
 * Nothing was there: pause before the next look.  TRI_OK: look again;
 * TRI_ETIMEOUT: the deadline passed, or the attendant or a signal ends this;
 * TRI_EPEER: its process has ended.  Says no sentence.
 */
tri_status tri_wait_pause(tri_wait *w);

/*
 * Wait until *request is complete (it is then MPI_REQUEST_NULL; a null
 * request is complete at once); rank `rank` of `comm`, who is waited for, is
 * blamed where it does not come.  TRI_ETIMEOUT, TRI_EPEER: the request is
 * still pending and its buffer not to be touched.  TRI_ECOMM where MPI reports
 * an error.
 */
tri_status tri_wait_until(MPI_Request *request, MPI_Comm comm, int rank,
                          double deadline_s);

#endif

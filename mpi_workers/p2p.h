/*
 * Small messages between two ranks of a communicator with bounded waits: what
 * MPI_Send and MPI_Recv would do, were the other side always alive.
 *
 * After TRI_ETIMEOUT the communicator is in an unknown state: what was sent
 * may still arrive.  Sent bytes are copied, so the caller's are free at once.
 *
 * One thread.  What it has to do beside waiting is its attendant's.
 */
#ifndef TRI_MPI_WORKERS_P2P_H
#define TRI_MPI_WORKERS_P2P_H

#include "trireme/status.h"

#include <mpi.h>

#include <signal.h>

/* Set (by a signal handler) where this process ends: all waits give up. */
extern volatile sig_atomic_t tri_p2p_abandoned;

/*
 * From now on waits call `attend` between two looks, some hundred times a
 * second; where it returns non-zero the wait gives up (TRI_ETIMEOUT).  It must
 * not wait here itself.  NULL: nobody attends.  Forgets who was silent.
 */
void tri_p2p_attend(int (*attend)(void *ctx), void *ctx);
/* Call it now, where there is nobody to wait for. */
void tri_p2p_look(void);
/* The rank in MPI_COMM_WORLD whose silence was the first that a wait gave up
 * on since tri_p2p_attend; -1: none. */
int tri_p2p_silent(void);
/* Rank `rank` of `comm` is as good as silent: it is that one, unless another
 * was before it. */
void tri_p2p_blame(MPI_Comm comm, int rank);

/* Send `bytes` bytes.  TRI_ETIMEOUT after `limit_s` or where the attendant
 * gives up, TRI_ECOMM, TRI_ENOMEM. */
tri_status tri_p2p_send(MPI_Comm comm, int to, int tag, const void *data,
                        int bytes, double limit_s);
/* Receive exactly `bytes` bytes.  [out] data, on success only.  As above;
 * TRI_ECOMM also for another length. */
tri_status tri_p2p_receive(MPI_Comm comm, int from, int tag, void *data,
                           int bytes, double limit_s);

#endif

/*
 * Small messages between two ranks of a communicator with bounded waits: what
 * MPI_Send and MPI_Recv would do, were the other side always alive.
 *
 * After TRI_ETIMEOUT the communicator is in an unknown state: what was sent
 * may still arrive.  Sent bytes are copied, so the caller's are free at once.
 *
 * One thread.  What it has to do beside waiting is its attendant's (wait.h).
 */
#ifndef TRI_MPI_WORKERS_P2P_H
#define TRI_MPI_WORKERS_P2P_H

#include "trireme/status.h"

#include <mpi.h>

/* Send `bytes` bytes.  TRI_ETIMEOUT after `limit_s` or where the attendant
 * gives up, TRI_EPEER where the other's process has ended, TRI_ECOMM,
 * TRI_ENOMEM. */
tri_status tri_p2p_send(MPI_Comm comm, int to, int tag, const void *data,
                        int bytes, double limit_s);
/* Receive exactly `bytes` bytes.  [out] data, on success only.  As above;
 * TRI_ECOMM also for another length. */
tri_status tri_p2p_receive(MPI_Comm comm, int from, int tag, void *data,
                           int bytes, double limit_s);

#endif

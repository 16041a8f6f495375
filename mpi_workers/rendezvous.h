/*
 * Where the processes of a group meet: who is on which host, and an address
 * and port of the leader's that are free.
 */
#ifndef TRI_MPI_WORKERS_RENDEZVOUS_H
#define TRI_MPI_WORKERS_RENDEZVOUS_H

#include "trireme/status.h"

#include <mpi.h>
#include <stdint.h>

typedef struct tri_rendezvous {
    int rank, size;
    int local_rank, local_size; /* among the group's ranks of this host */
    char address[64];           /* 127.0.0.1 where all are on one host */
    int port; /* below the ephemeral range; it was free a moment ago */
} tri_rendezvous;

/* Collective over `comm`.  `key` spreads ports.  [out] out.  TRI_ETIMEOUT,
 * TRI_ECOMM. */
tri_status tri_rendezvous_meet(MPI_Comm comm, uint64_t key, double limit_s,
                               tri_rendezvous *out);

#endif

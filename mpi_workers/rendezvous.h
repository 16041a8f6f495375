/*
 * Where the processes of a group meet: who is on which host, an address and a
 * port of the leader's that others can reach, and which devices the ranks of a
 * host show together.
 *
 * A host goes by the name that its launcher knows (place.h, `node`).
 */
#ifndef TRI_MPI_WORKERS_RENDEZVOUS_H
#define TRI_MPI_WORKERS_RENDEZVOUS_H

#include "mpi_workers/devices.h"
#include "trireme/status.h"

#include <mpi.h>
#include <stdint.h>

typedef struct tri_rendezvous {
    int rank, size;
    int local_rank, local_size; /* among the group's ranks of this host */
    int group_rank, n_hosts;    /* this host among the group's, in the order of
                                 * their first ranks */
    char *hosts;                /* each once: "n1,n2"; owned */
    char *host_slots;           /* with its ranks: "n1:4,n2:4"; owned */
    char *rank_hosts;           /* of each rank, a line each; owned */
    char address[64];           /* 127.0.0.1 where all are on one host */
    int port; /* outside the ephemeral range; it was free a moment ago */
    tri_devices devices; /* of all of the group's ranks on this host */
} tri_rendezvous;

typedef struct tri_card { /* what one rank tells the others; borrowed */
    const char *host, *address;
    int port;
    const char *variable, *devices; /* "" none is set */
} tri_card;

/*
 * Collective over `comm`.  `key` (a run's number) and `attempt` (0, 1, ...
 * where another could not be bound) choose the port: no two keys of a job share
 * one, and none is given twice soon.  `mine`: this rank's devices, NULL if
 * there are none.  [out] out, tri_rendezvous_fini.  TRI_ETIMEOUT, TRI_ECOMM,
 * TRI_ENOMEM.
 */
tri_status tri_rendezvous_meet(MPI_Comm comm, uint64_t key, int attempt,
                               const tri_devices *mine, double limit_s,
                               tri_rendezvous *out);
void tri_rendezvous_fini(tri_rendezvous *r);

/* ---- parts that tests use ------------------------------------------------ */

/* What rank `rank` makes of the cards of all `n`.  [out] out.  TRI_ENOMEM. */
tri_status tri_rendezvous_settle(const tri_card *cards, int n, int rank,
                                 tri_rendezvous *out);
/* Ports that may be given: [first, first + n), outside `low`..`high`, the
 * system's ephemeral ones. */
void tri_rendezvous_ports(int low, int high, int *first, int *n);

#endif

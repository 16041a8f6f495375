/*
 * The ways of coll.h, for coll.c alone.
 */
#ifndef TRI_MPI_WORKERS_COLL_WAYS_H
#define TRI_MPI_WORKERS_COLL_WAYS_H

#include "mpi_workers/coll.h"

/* By MPI; inside a host; across hosts, by both. */
extern const tri_coll_ops tri_coll_mpi, tri_coll_shared, tri_coll_hosts;

/* ---- coll_mpi.c ---------------------------------------------------------- */

/* Also across hosts. */
tri_status tri_coll_mpi_exchange(tri_coll *c, const tri_parcels *to,
                                 const void *send, const tri_parcels *from,
                                 void *recv, int most);

/* ---- coll_shared.c ------------------------------------------------------- */

/* Elements that are put into shared memory at a time where `size` ranks of a
 * host share it, and the bytes of it that they need. */
int64_t tri_coll_chunk(int size);
uint64_t tri_coll_shared_bytes(int size, int64_t chunk);
/* The place of the rank `here` of this host in the half of this turn; n_here:
 * where sums are. */
tri_real *tri_coll_place(const tri_coll *c, uint64_t turn, int here);
/* Also across hosts. */
tri_status tri_coll_shared_sum(tri_coll *c, tri_real *x, int64_t n);

/* ---- coll_hosts.c -------------------------------------------------------- */

/* Collective: who is on which host.  [out] *out: tri_hosts_close; NULL where
 * all are on one.  Scope group. */
tri_status tri_hosts_open(MPI_Comm comm, tri_hosts **out);
void tri_hosts_close(tri_hosts *h);
/* The ranks of this host, in order. */
int tri_hosts_here(const tri_hosts *h, const int **ranks);
/* Elements at a time: the same on all hosts. */
int64_t tri_hosts_chunk(const tri_hosts *h);
/*
 * Collective inside the host: `sums` of n elements, in its shared memory and
 * complete when all have come here, becomes the sum over the hosts.
 */
tri_status tri_hosts_add(tri_coll *c, tri_real *sums, int64_t n);

#endif

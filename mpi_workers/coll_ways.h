/*
 * The ways of coll.h, for coll.c alone.
 */
#ifndef TRI_MPI_WORKERS_COLL_WAYS_H
#define TRI_MPI_WORKERS_COLL_WAYS_H

#include "mpi_workers/coll.h"

extern const tri_coll_ops tri_coll_mpi, tri_coll_shared;

/* Elements that are put into shared memory at a time, and the bytes of it that
 * `size` ranks need. */
int64_t tri_coll_chunk(int size);
uint64_t tri_coll_shared_bytes(int size);

#endif

/*
 * Agreement of a group: on a status, on a sentence, on whether all have the
 * same.  No wait is without an end: see wait.h.
 */
#ifndef TRI_MPI_WORKERS_AGREE_H
#define TRI_MPI_WORKERS_AGREE_H

#include "trireme/status.h"

#include <mpi.h>
#include <stdint.h>

/*
 * Collective over `comm`: every rank brings a status and all return the
 * largest, with the sentence of the lowest rank that brought it as the
 * thread's error.  Scope group where the agreement itself fails.
 */
tri_status tri_coll_agree(MPI_Comm comm, tri_status mine);
/* Collective: whether all bring the same `value`.  [out] same.  Scope group. */
tri_status tri_coll_same(MPI_Comm comm, uint64_t value, int *same);
/* The second half of tri_coll_agree: all know that `rank` failed with `st`; its
 * sentence becomes everybody's. */
tri_status tri_coll_share_error(MPI_Comm comm, tri_status st, int rank);

#endif

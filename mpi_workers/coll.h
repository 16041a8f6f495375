/*
 * Collectives of an axis, behind a table so that another way (shared memory
 * inside a node) can take their place, and the agreement of a group.
 *
 * A collective that fails keeps the first status in `status` and goes on; its
 * user asks once, at the end of the step.
 */
#ifndef TRI_MPI_WORKERS_COLL_H
#define TRI_MPI_WORKERS_COLL_H

#include "trireme/model.h"

#include <mpi.h>

typedef struct tri_coll tri_coll;

typedef struct tri_coll_ops {
    const char *name;
    /* x[i] = sum over the ranks of x[i], the same bits on each. */
    void (*sum)(tri_coll *coll, tri_real *x, int64_t n);
} tri_coll_ops;

struct tri_coll {
    const tri_coll_ops *ops;
    MPI_Comm comm; /* borrowed; MPI_COMM_NULL: an axis of one rank */
    int64_t piece; /* elements moved at a time */
    tri_status status;
};

/* Blocking MPI collectives on `comm`, pieces of `piece_bytes`. */
void tri_coll_init(tri_coll *coll, MPI_Comm comm, uint64_t piece_bytes);
/* Does nothing on an axis of one rank. */
void tri_coll_sum(tri_coll *coll, tri_real *x, int64_t n);

/*
 * Collective over `comm`: every rank brings a status and all return the
 * largest, with the sentence of the lowest rank that brought it as the
 * thread's error.  TRI_ECOMM where the agreement itself fails.
 */
tri_status tri_coll_agree(MPI_Comm comm, tri_status mine);
/* The second half of it: all know that `rank` failed with `st`; its sentence
 * becomes everybody's. */
tri_status tri_coll_share_error(MPI_Comm comm, tri_status st, int rank);

#endif

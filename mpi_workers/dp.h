/*
 * Gradients of a tensor that two stages hold (the tied embedding): summed over
 * both, so that their copies stay the same.  What the data axis sums is in
 * zero.h.
 */
#ifndef TRI_MPI_WORKERS_DP_H
#define TRI_MPI_WORKERS_DP_H

#include "mpi_workers/coll.h"

/* Sum the tensors flagged TRI_TENSOR_TIED of the flat array `grads`. */
void tri_dp_tie(tri_coll *tied, const tri_tensors *table, tri_real *grads);

#endif

/*
 * Data parallelism: the gradients of a step, summed over the data axis; and
 * those of a tensor that two stages hold (the tied embedding), summed over
 * both so that their copies stay the same.
 */
#ifndef TRI_MPI_WORKERS_DP_H
#define TRI_MPI_WORKERS_DP_H

#include "mpi_workers/coll.h"

/* Sum the flat array `grads` over `data`, then the tensors flagged
 * TRI_TENSOR_TIED over `tied`.  Losses are shares of the global batch's mean,
 * so nothing is divided. */
void tri_dp_reduce(tri_coll *data, tri_coll *tied, const tri_tensors *table,
                   tri_real *grads);

#endif

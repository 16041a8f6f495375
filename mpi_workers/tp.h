/*
 * Tensor parallelism: the split products of a model over the tensor axis
 * (Shoeybi et al. 2019).  Two sums forward and two backward a layer: after a
 * row product, and of the input's gradient of a column product.
 */
#ifndef TRI_MPI_WORKERS_TP_H
#define TRI_MPI_WORKERS_TP_H

#include "mpi_workers/coll.h"

/* [out] `out`: products over the axis of `coll`, which is borrowed until the
 * last product; `parts` ranks, this one the `part`-th. */
void tri_tp_products(tri_coll *coll, int parts, int part, tri_products *out);

#endif

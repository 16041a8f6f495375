/*
 * Tensor parallelism: the split products of a model over the tensor axis
 * (Shoeybi et al. 2019).  Two sums forward and two backward a layer: after a
 * row product, and of the input's gradient of a column product.
 *
 * By rows (sequence parallelism, Korthikanti et al. 2022; sp.c) each sum is
 * parted: gathered before a column product, scattered after a row product, and
 * the other way round backward; the same bytes, and what lies between is a
 * share of the rows.  Backward gathers a column product's input once more
 * rather than keep it whole.
 */
#ifndef TRI_MPI_WORKERS_TP_H
#define TRI_MPI_WORKERS_TP_H

#include "mpi_workers/coll.h"

/* Behind the products of an axis. */
typedef struct tri_tp {
    tri_coll *coll; /* borrowed until the last product */
    int parts, part;
    int by_rows;
    tri_real *work; /* by rows: one side of a product, whole */
} tri_tp;

/* [out] `out`: products over the axis; tp is borrowed until the last one. */
void tri_tp_products(tri_tp *tp, tri_products *out);
/* Those of an axis by rows, without what they are called with. */
void tri_sp_products(tri_products *out);
/* Memory of them: `share` elements has this rank of what is gathered.
 * TRI_EOOM. */
tri_status tri_tp_alloc(tri_tp *tp, int64_t share, tri_region *region);
/*
 * Sum the gradients of the tensors that are TRI_TENSOR_TP_PART over the axis,
 * of those in elements [first, first + count) of the flat arrays, which begin
 * at `grads`.  Sums over the data axis may come before or after.
 */
void tri_tp_reduce(tri_coll *coll, const tri_tensors *table, int64_t first,
                   int64_t count, tri_real *grads);

#endif

/*
 * The two ends of a tied embedding.
 */
#include "mpi_workers/dp.h"

void tri_dp_tie(tri_coll *tied, const tri_tensors *table, tri_real *grads)
{
    for (int k = 0; k < table->n; k++) {
        const tri_tensor *t = &table->at[k];

        if (t->flags & TRI_TENSOR_TIED) {
            tri_coll_sum(tied, grads + t->offset, t->count);
        }
    }
}

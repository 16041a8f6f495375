/*
 * Reduction of gradients at the end of a step.
 */
#include "mpi_workers/dp.h"

void tri_dp_reduce(tri_coll *data, tri_coll *tied, const tri_tensors *table,
                   tri_real *grads)
{
    int k;

    tri_coll_sum(data, grads, table->count);
    for (k = 0; k < table->n; k++) {
        const tri_tensor *t = &table->at[k];

        if (t->flags & TRI_TENSOR_TIED) {
            tri_coll_sum(tied, grads + t->offset, t->count);
        }
    }
}

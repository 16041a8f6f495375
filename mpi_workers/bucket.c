/*
 * How the flat arrays are cut into buckets, and whose is what of them.
 */
#include "mpi_workers/zero_inside.h"

#include <stdlib.h>
#include <string.h>

/* Units [from, to] are bucket `k`. */
static void set_bucket(tri_zero *z, int k, int from, int to)
{
    const tri_coll axis = {.rank = z->rank, .size = z->size};
    tri_bucket *b = &z->buckets[k];
    int64_t first, count;

    *b = (tri_bucket){.first_unit = from,
                      .n_units = to - from + 1,
                      .request = MPI_REQUEST_NULL};
    tri_tensors_unit(z->table, from, &b->first, &count);
    tri_tensors_unit(z->table, to, &first, &count);
    b->count = first + count - b->first;
    tri_coll_part(&axis, z->rank, b->count, &b->own, &b->n_own);
    b->own += b->first;
    b->at = z->part;
    z->part += (b->count + z->size - 1) / z->size;
    for (int rank = 0; rank < z->size; rank++) {
        tri_coll_part(&axis, rank, b->count, &first, &count);
        z->places[k * z->size + rank] = (int)first;
        z->counts[k * z->size + rank] = (int)count;
    }
    for (int i = 0; i < z->table->n; i++) {
        const tri_tensor *t = &z->table->at[i];

        b->waits |= (t->flags & TRI_TENSOR_TIED) && t->unit >= from &&
                    t->unit <= to;
    }
    for (int unit = from; unit <= to; unit++) {
        z->bucket_of[unit] = k;
    }
}

static void cut(tri_zero *z, int64_t least)
{
    int64_t sum = 0;
    int to = z->n_units - 1;

    for (int unit = to; unit >= 0; unit--) {
        int64_t first, count;

        tri_tensors_unit(z->table, unit, &first, &count);
        sum += count;
        if (sum >= least || unit <= 1) {
            set_bucket(z, z->n++, unit, to);
            to = unit - 1;
            sum = 0;
        }
    }
}

tri_status tri_zero_init(tri_zero *z, const tri_layout *l, int rank,
                         const tri_model_ops *ops, tri_model *model)
{
    const tri_tensors *table = ops->tensors(model);
    int64_t least = (int64_t)(l->bucket_bytes / sizeof(tri_real));
    size_t units = (size_t)tri_tensors_units(table);

    *z = (tri_zero){.stage = l->zero,
                    .rank = rank,
                    .size = l->dp,
                    .table = table,
                    .ops = ops,
                    .model = model,
                    .n_units = (int)units,
                    .overlap = l->overlap,
                    .micro_batches = tri_shard_micro_batches(l)};
    z->buckets = calloc(units + 1, sizeof *z->buckets);
    z->bucket_of = calloc(units + 1, sizeof *z->bucket_of);
    z->counts = calloc((units + 1) * (size_t)l->dp, sizeof *z->counts);
    z->places = calloc((units + 1) * (size_t)l->dp, sizeof *z->places);
    if (!z->buckets || !z->bucket_of || !z->counts || !z->places) {
        tri_zero_fini(z);
        return TRI_FAIL(TRI_ENOMEM, "no memory for the buckets of %d units",
                        (int)units);
    }
    cut(z, l->zero == 3 ? 1 : least);
    return TRI_OK;
}

void tri_zero_fini(tri_zero *z)
{
    free(z->buckets);
    free(z->bucket_of);
    free(z->counts);
    free(z->places);
    z->buckets = NULL;
    z->bucket_of = NULL;
    z->counts = z->places = NULL;
}

/*
 * Embedding shards in a trainer: tri_axis over tri_coll.
 */
#include "mpi_workers/embed.h"

static void exchange(void *ctx, const tri_parcels *to, const void *send,
                     const tri_parcels *from, void *recv, int most)
{
    tri_coll_exchange(ctx, to, send, from, recv, most);
}

static void sum(void *ctx, int64_t n, tri_real *x)
{
    tri_coll_sum(ctx, x, n);
}

static void scatter(void *ctx, int64_t n, tri_real *x)
{
    tri_coll_reduce_scatter(ctx, x, n);
}

static void gather(void *ctx, int64_t n, tri_real *x)
{
    tri_coll_gather(ctx, x, n);
}

void tri_embed_open(tri_embed *e, tri_coll *data, int parts, int part)
{
    *e = (tri_embed){.axis = {.ctx = data,
                              .parts = parts,
                              .part = part,
                              .exchange = exchange,
                              .sum = sum,
                              .scatter = scatter,
                              .gather = gather}};
}

static const tri_tensors *table(const tri_embed *e)
{
    return e->ops->sparse ? e->ops->sparse(e->model) : NULL;
}

tri_status tri_embed_alloc(tri_embed *e, const tri_model_ops *ops,
                           tri_model *model, tri_region *region)
{
    void *p = NULL;

    e->ops = ops;
    e->model = model;
    if (table(e)) {
        TRI_TRY(tri_region_alloc(region,
                                 (uint64_t)table(e)->count * sizeof(tri_real),
                                 "parameters", &p));
    }
    e->params = p;
    return TRI_OK;
}

void tri_embed_start(tri_embed *e, uint64_t seed)
{
    if (table(e)) {
        tri_tensors_init(table(e), seed, e->params);
        e->ops->bind_sparse(e->model, e->params);
    }
}

void tri_embed_end(tri_embed *e)
{
    e->sumsq = table(e) ? e->ops->sparse_end(e->model) : 0;
}

void tri_embed_update(tri_embed *e, double coefficient)
{
    if (table(e)) {
        e->ops->sparse_update(e->model, coefficient);
    }
}

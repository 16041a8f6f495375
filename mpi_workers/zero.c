/*
 * The arrays of the data axis, and what a step does with them.
 */
#include "mpi_workers/zero_inside.h"

#include "mpi_workers/dp.h"
#include "mpi_workers/tp.h"

#include <string.h>

tri_status tri_zero_take(tri_region *region, int64_t n, const char *what,
                         tri_real **out)
{
    void *p = NULL;

    TRI_TRY(tri_region_alloc(region, (uint64_t)n * sizeof(tri_real), what, &p));
    *out = p;
    return TRI_OK;
}

/* ---- memory -------------------------------------------------------------- */

tri_status tri_zero_alloc(tri_zero *z, tri_region *region)
{
    int64_t whole = z->table->count, part = z->part;

    TRI_TRY(tri_zero_take(region, z->stage < 3 ? whole : part, "parameters",
                          z->stage < 3 ? &z->params : &z->own_params));
    if (tri_overlap_bytes(z) == 0) {
        TRI_TRY(tri_zero_take(region, z->stage < 2 ? whole : part, "gradients",
                              z->stage < 2 ? &z->grads : &z->own_grads));
    }
    TRI_TRY(tri_zero_take(region, z->stage < 1 ? whole : part,
                          "optimizer state", &z->m));
    TRI_TRY(tri_zero_take(region, z->stage < 1 ? whole : part,
                          "optimizer state", &z->v));
    return tri_hold_alloc(z, region);
}

tri_real *tri_zero_own_params(const tri_zero *z, const tri_bucket *b)
{
    return z->params ? z->params + b->own : z->own_params + b->at;
}

tri_real *tri_zero_own_grads(const tri_zero *z, const tri_bucket *b)
{
    return z->grads ? z->grads + b->own : z->own_grads + b->at;
}

void tri_zero_start(tri_zero *z, uint64_t seed)
{
    if (z->params) {
        tri_tensors_init(z->table, seed, z->params);
    }
    for (int k = 0; k < z->n && !z->params; k++) {
        const tri_bucket *b = &z->buckets[k];

        tri_tensors_init_part(z->table, seed, b->own, b->n_own,
                              tri_zero_own_params(z, b));
    }
    if (z->grads) {
        z->ops->bind(z->model, z->params, z->grads);
    }
}

/* ---- a step -------------------------------------------------------------- */

void tri_zero_begin(tri_zero *z)
{
    int64_t n = z->grads ? z->table->count : z->part;

    memset(z->grads ? z->grads : z->own_grads, 0, (size_t)n * sizeof(tri_real));
    for (int k = 0; k < z->n && z->stage < 2; k++) {
        z->buckets[k].left = z->buckets[k].n_units * z->micro_batches;
    }
}

/* Over the tensor axis, what could not be before backward's end. */
static void reduce_waiting(tri_zero *z)
{
    for (int k = 0; k < z->n; k++) {
        const tri_bucket *b = &z->buckets[k];

        if (b->waits || b->left > 0) {
            tri_tp_reduce(z->tensor, z->table, b->first, b->count,
                          z->grads + b->first);
        }
    }
}

void tri_zero_reduce(tri_zero *z, tri_coll *tied)
{
    if (z->stage >= 2) {
        for (int k = 0; k < z->n; k++) { /* none, unless the link is broken */
            tri_overlap_finish(z, &z->buckets[k]);
        }
        return;
    }
    if (z->overlap != TRI_OVERLAP_NONE) {
        reduce_waiting(z);
        tri_dp_tie(tied, z->table, z->grads);
        tri_overlap_end(z);
        return;
    }
    tri_tp_reduce(z->tensor, z->table, 0, z->table->count, z->grads);
    tri_dp_tie(tied, z->table, z->grads);
    for (int k = 0; k < z->n; k++) {
        const tri_bucket *b = &z->buckets[k];

        if (z->stage == 0) {
            tri_coll_sum(z->data, z->grads + b->first, b->count);
        } else {
            tri_coll_reduce_scatter(z->data, z->grads + b->first, b->count);
        }
    }
}

double tri_zero_sumsq(const tri_zero *z, unsigned skip)
{
    double sum = 0;

    for (int k = 0; k < z->n; k++) {
        const tri_bucket *b = &z->buckets[k];

        sum += tri_tensors_sumsq_part(z->table, b->own, b->n_own,
                                      tri_zero_own_grads(z, b), skip);
    }
    return sum;
}

/* A rank that owns it all, with arrays that are whole. */
static void update_whole(tri_zero *z, const tri_adamw *opt, int64_t step,
                         double coefficient)
{
    tri_adamw_update(opt, z->table, step, coefficient, z->grads, z->params,
                     z->m, z->v);
}

void tri_zero_update(tri_zero *z, const tri_adamw *opt, int64_t step,
                     double coefficient)
{
    if (z->stage == 0) {
        update_whole(z, opt, step, coefficient);
        return;
    }
    tri_hold_forget(z);
    for (int k = 0; k < z->n; k++) {
        const tri_bucket *b = &z->buckets[k];

        tri_adamw_part(opt, z->table, step, coefficient, b->own, b->n_own,
                       tri_zero_own_grads(z, b), tri_zero_own_params(z, b),
                       z->m + b->at, z->v + b->at);
        if (z->params) {
            tri_coll_gather(z->data, z->params + b->first, b->count);
        }
    }
}

/* ---- views --------------------------------------------------------------- */

static void gather(const tri_zero *z, const tri_bucket *b, const tri_real *own,
                   tri_real *out)
{
    memcpy(out + b->own, own, (size_t)b->n_own * sizeof *out);
    tri_coll_gather(z->data, out + b->first, b->count);
}

void tri_zero_whole_params(const tri_zero *z, tri_real *out)
{
    if (z->params) {
        memcpy(out, z->params, (size_t)z->table->count * sizeof *out);
        return;
    }
    for (int k = 0; k < z->n; k++) {
        gather(z, &z->buckets[k], tri_zero_own_params(z, &z->buckets[k]), out);
    }
}

void tri_zero_whole_grads(const tri_zero *z, tri_real *out)
{
    if (z->stage == 0) {
        memcpy(out, z->grads, (size_t)z->table->count * sizeof *out);
        return;
    }
    for (int k = 0; k < z->n; k++) {
        gather(z, &z->buckets[k], tri_zero_own_grads(z, &z->buckets[k]), out);
    }
}

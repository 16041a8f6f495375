/*
 * Units as the model comes to them, where the data axis holds parts only:
 * parameters are gathered before a unit is used (stage 3), and the gradients
 * of a bucket are added where they are whole until backward is done with its
 * units; then they are reduced to the parts (stages 2 and 3).
 */
#include "mpi_workers/zero_inside.h"

#include "mpi_workers/tp.h"

#include <string.h>

/* ---- memory -------------------------------------------------------------- */

/* The longest bucket but that of the first unit. */
static int64_t longest(const tri_zero *z)
{
    int64_t most = 0;

    for (int k = 0; k < z->n; k++) {
        const tri_bucket *b = &z->buckets[k];

        most = b->first_unit > 0 && b->count > most ? b->count : most;
    }
    return most;
}

tri_status tri_hold_alloc(tri_zero *z, tri_region *region)
{
    int64_t first = z->buckets[z->bucket_of[0]].count, most = longest(z);
    const char *what = "workspace";

    tri_hold_forget(z);
    if (z->stage < 2) {
        return TRI_OK;
    }
    TRI_TRY(tri_zero_take(region, first, what, &z->first_grads));
    TRI_TRY(tri_zero_take(region, most, what, &z->next_grads));
    if (z->stage < 3) {
        return TRI_OK;
    }
    TRI_TRY(tri_zero_take(region, first, what, &z->first_hold.at));
    TRI_TRY(tri_zero_take(region, most, what, &z->holds[0].at));
    return tri_zero_take(region, most, what, &z->holds[1].at);
}

/* ---- parameters ---------------------------------------------------------- */

void tri_hold_forget(tri_zero *z)
{
    z->first_hold.unit = z->holds[0].unit = z->holds[1].unit = -1;
}

/* Where unit `unit` is, or is to be put. */
static tri_hold *hold_of(tri_zero *z, int unit)
{
    if (unit == 0) {
        return &z->first_hold;
    }
    for (int i = 0; i < 2; i++) {
        if (z->holds[i].unit == unit) {
            return &z->holds[i];
        }
    }
    return &z->holds[!z->turn]; /* not the one in use */
}

/* Put this rank's part of unit `unit` where all of it is to be. */
static tri_hold *prepare(tri_zero *z, const tri_bucket *b, int unit)
{
    tri_hold *h = hold_of(z, unit);

    if (h->unit == unit) {
        return NULL;
    }
    h->unit = unit;
    memcpy(h->at + (b->own - b->first), z->own_params + b->at,
           (size_t)b->n_own * sizeof *h->at);
    return h;
}

/* Start to gather unit `unit`, unless it is there. */
static void prefetch(tri_zero *z, int unit)
{
    tri_bucket *b;
    const tri_hold *h;

    if (unit < 0 || unit >= z->n_units || z->overlap != TRI_OVERLAP_POKE) {
        return;
    }
    b = &z->buckets[z->bucket_of[unit]];
    h = prepare(z, b, unit);
    if (h) {
        tri_overlap_gather(z, b, h->at);
    }
}

static const tri_real *held(tri_zero *z, int unit)
{
    tri_bucket *b = &z->buckets[z->bucket_of[unit]];
    tri_hold *h = prepare(z, b, unit);

    if (h) {
        tri_coll_gather(z->data, h->at, b->count);
    }
    tri_overlap_finish(z, b);
    h = hold_of(z, unit);
    z->turn = unit > 0 ? (int)(h - z->holds) : z->turn;
    return h->at;
}

/* ---- gradients ----------------------------------------------------------- */

static tri_real *grads_of(const tri_zero *z, const tri_bucket *b)
{
    return b->first_unit == 0 ? z->first_grads : z->next_grads;
}

static void open_bucket(tri_zero *z, tri_bucket *b)
{
    if (b->left == 0) {
        b->left = b->n_units;
        memset(grads_of(z, b), 0, (size_t)b->count * sizeof(tri_real));
    }
}

/* A micro-batch's gradients of the bucket are complete. */
static void close_bucket(tri_zero *z, const tri_bucket *b)
{
    tri_real *grads = grads_of(z, b), *own = z->own_grads + b->at;
    const tri_real *sum = grads + (b->own - b->first);

    tri_tp_reduce(z->tensor, z->table, b->first, b->count, grads);
    tri_coll_reduce_scatter(z->data, grads, b->count);
    for (int64_t i = 0; i < b->n_own; i++) {
        own[i] += sum[i];
    }
}

/* ---- the watch ----------------------------------------------------------- */

int tri_zero_watches(const tri_zero *z)
{
    return z->stage >= 2 || z->overlap != TRI_OVERLAP_NONE;
}

void tri_zero_before(void *zero, int unit, int back)
{
    tri_zero *z = zero;
    tri_bucket *b = &z->buckets[z->bucket_of[unit]];
    const tri_real *params;
    int64_t first, count;

    tri_overlap_poke(z);
    if (z->stage < 2) {
        return;
    }
    tri_tensors_unit(z->table, unit, &first, &count);
    params = z->params ? z->params + first : held(z, unit);
    if (back) {
        open_bucket(z, b);
    }
    z->ops->bind_unit(z->model, unit, params,
                      grads_of(z, b) + (first - b->first));
    if (z->stage == 3) {
        prefetch(z, back ? unit - 1 : unit + 1);
    }
}

void tri_zero_after(void *zero, int unit, int back)
{
    tri_zero *z = zero;
    tri_bucket *b = &z->buckets[z->bucket_of[unit]];

    if (back && z->stage < 2) {
        tri_overlap_after(z, b);
    } else if (back && --b->left == 0) {
        close_bucket(z, b);
    }
}

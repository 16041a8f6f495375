/*
 * Sums over the data axis that go on while backward works (stages 0 and 1):
 * a bucket is started when backward is done with its units for the last time.
 *
 * poke: a nonblocking collective of MPI, which makes progress when this rank
 * looks at it, between products and between layers.
 *
 * shm: the ranks' gradients are in memory that they share.  Whoever comes last
 * to a bucket sums it for all, slice by slice, and who has nothing else to do
 * takes slices too.  All have passed one barrier when a step's sums are
 * complete; the counters are then set back, and the next step's agreement is
 * between that and their next use.
 */
#include "mpi_workers/zero_inside.h"

#include "mpi_workers/tp.h"
#include "mpi_workers/wait.h"

#include <stdatomic.h>
#include <string.h>

#ifdef TRI_REAL_DOUBLE
#define MPI_REAL_TYPE MPI_DOUBLE
#else
#define MPI_REAL_TYPE MPI_FLOAT
#endif

#define BLOCK 1024 /* elements summed at a time: in the first cache */
#define SLICE 16384

/* ---- what MPI does meanwhile ----------------------------------------------
 */

static int is_broken(const tri_zero *z)
{
    return *z->data->link != TRI_OK;
}

static void started(tri_zero *z, int rc)
{
    if (rc != MPI_SUCCESS) {
        *z->data->link =
                TRI_FAIL(TRI_ECOMM, "a collective of the data axis failed");
        return;
    }
    z->pending++;
}

void tri_overlap_poke(tri_zero *z)
{
    for (int k = 0; k < z->n && z->pending > 0; k++) {
        MPI_Request *r = &z->buckets[k].request;
        int done = 0;

        if (*r == MPI_REQUEST_NULL || is_broken(z)) {
            continue;
        }
        if (MPI_Test(r, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) {
            started(z, MPI_ERR_OTHER);
        }
        z->pending -= done;
    }
}

void tri_overlap_finish(tri_zero *z, tri_bucket *b)
{
    tri_status st;

    if (b->request == MPI_REQUEST_NULL) {
        return;
    }
    if (is_broken(z)) {
        z->data->entangled = 1; /* MPI may still write there */
        return;
    }
    st = tri_wait_until(&b->request, z->data->comm, -1, TRI_NO_DEADLINE);
    z->pending--;
    if (st != TRI_OK) {
        z->data->entangled = 1;
        *z->data->link = st;
    }
}

void tri_overlap_gather(tri_zero *z, tri_bucket *b, tri_real *at)
{
    const int *counts = z->counts + (ptrdiff_t)(b - z->buckets) * z->size;
    const int *places = z->places + (ptrdiff_t)(b - z->buckets) * z->size;

    if (!is_broken(z)) {
        started(z, MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, at,
                                   counts, places, MPI_REAL_TYPE, z->data->comm,
                                   &b->request));
    }
}

static void start_mpi(tri_zero *z, tri_bucket *b)
{
    const int *counts = z->counts + (ptrdiff_t)(b - z->buckets) * z->size;
    tri_real *x = z->grads + b->first;

    if (is_broken(z)) {
        return;
    }
    if (z->stage == 0) {
        started(z, MPI_Iallreduce(MPI_IN_PLACE, x, (int)b->count, MPI_REAL_TYPE,
                                  MPI_SUM, z->data->comm, &b->request));
    } else {
        started(z, MPI_Ireduce_scatter(MPI_IN_PLACE, x, counts, MPI_REAL_TYPE,
                                       MPI_SUM, z->data->comm, &b->request));
    }
}

/* MPI leaves a rank's part at the start. */
static void finish_mpi(tri_zero *z, tri_bucket *b)
{
    tri_overlap_finish(z, b);
    if (z->stage > 0) {
        memmove(z->grads + b->own, z->grads + b->first,
                (size_t)b->n_own * sizeof *z->grads);
    }
}

/* ---- the products between which it is looked at ---------------------------
 */

#define PRODUCT(name)                                                          \
    static void name(void *ctx, const tri_linear *l, int64_t rows,             \
                     const tri_real *x, tri_real *y)                           \
    {                                                                          \
        tri_zero *z = ctx;                                                     \
                                                                               \
        z->inner->name(z->inner->ctx, l, rows, x, y);                          \
        tri_overlap_poke(z);                                                   \
    }
#define PRODUCT_BACK(name)                                                     \
    static void name(void *ctx, const tri_linear *l, int64_t rows,             \
                     const tri_real *x, const tri_real *dy, tri_real *dx)      \
    {                                                                          \
        tri_zero *z = ctx;                                                     \
                                                                               \
        z->inner->name(z->inner->ctx, l, rows, x, dy, dx);                     \
        tri_overlap_poke(z);                                                   \
    }
#define PARTS(name)                                                            \
    static void name(void *ctx, int64_t n, tri_real *x)                        \
    {                                                                          \
        const tri_zero *z = ctx;                                               \
                                                                               \
        z->inner->name(z->inner->ctx, n, x);                                   \
    }
PRODUCT(column)
PRODUCT(row)
PRODUCT_BACK(column_back)
PRODUCT_BACK(row_back)
PARTS(sum)
PARTS(scatter)
PARTS(gather)

void tri_overlap_products(tri_zero *z, const tri_products *inner,
                          tri_products *out)
{
    *out = (tri_products){.ctx = z,
                          .parts = inner->parts,
                          .part = inner->part,
                          .by_rows = inner->by_rows,
                          .column = column,
                          .row = row,
                          .column_back = column_back,
                          .row_back = row_back,
                          .sum = sum,
                          .scatter = scatter,
                          .gather = gather};
}

/* ---- what ranks do in each other's memory ---------------------------------
 */

/* Of a bucket, at the start of the memory. */
typedef struct counter {
    atomic_int arrived;
    atomic_long next; /* element of the bucket to be taken */
    char rest[64 - sizeof(atomic_int) - sizeof(atomic_long)];
} counter;

static uint64_t round_up(uint64_t bytes)
{
    return (bytes + 4095) / 4096 * 4096;
}

static uint64_t counters_bytes(const tri_zero *z)
{
    return round_up((uint64_t)z->n * sizeof(counter));
}

uint64_t tri_overlap_bytes(const tri_zero *z)
{
    return z->overlap == TRI_OVERLAP_SHM
                   ? round_up((uint64_t)z->table->count * sizeof(tri_real))
                   : 0;
}

static counter *counter_of(const tri_zero *z, const tri_bucket *b)
{
    return (counter *)tri_shared_at(z->window) + (b - z->buckets);
}

/* The gradients of a rank. */
static tri_real *grads_of(const tri_zero *z, int rank)
{
    char *at = tri_shared_at(z->window);

    return (tri_real *)(void *)(at + counters_bytes(z) +
                                (uint64_t)rank * tri_overlap_bytes(z));
}

tri_status tri_overlap_open(tri_zero *z)
{
    uint64_t bytes = tri_overlap_bytes(z);

    if (bytes == 0) {
        return TRI_OK;
    }
    TRI_TRY(tri_shared_open(z->data->comm,
                            counters_bytes(z) + (uint64_t)z->size * bytes,
                            &z->window));
    if (z->window) {
        z->grads = grads_of(z, z->rank);
    } else {
        void *p = NULL;

        TRI_TRY(tri_region_create(bytes, 0, &z->apart));
        TRI_TRY(tri_region_alloc(z->apart, bytes, "gradients", &p));
        z->grads = p;
    }
    z->ops->bind(z->model, z->params, z->grads);
    return TRI_OK;
}

void tri_overlap_close(tri_zero *z)
{
    tri_shared_close(z->window);
    tri_region_destroy(z->apart);
    z->window = NULL;
    z->apart = NULL;
}

/* Elements [at, at + n) of the flat arrays, in the order of ranks, to all, or
 * in stage 1 to those whose they are. */
static void sum_block(const tri_zero *z, const tri_bucket *b, int64_t at,
                      int64_t n)
{
    tri_real sum[BLOCK];

    memcpy(sum, grads_of(z, 0) + at, (size_t)n * sizeof *sum);
    for (int rank = 1; rank < z->size; rank++) {
        const tri_real *x = grads_of(z, rank) + at;

        for (int64_t i = 0; i < n; i++) {
            sum[i] += x[i];
        }
    }
    for (int rank = 0; rank < z->size; rank++) {
        int64_t from = at, to = at + n;

        if (z->stage > 0) {
            int64_t first, count;

            tri_coll_part(z->data, rank, b->count, &first, &count);
            first += b->first;
            from = first > from ? first : from;
            to = first + count < to ? first + count : to;
        }
        if (to > from) {
            memcpy(grads_of(z, rank) + from, sum + (from - at),
                   (size_t)(to - from) * sizeof *sum);
        }
    }
}

/* Sum what nobody else has taken of a bucket to which all have come. */
static void take_slices(const tri_zero *z, const tri_bucket *b)
{
    counter *c = counter_of(z, b);
    int64_t at;

    while ((at = atomic_fetch_add(&c->next, SLICE)) < b->count) {
        int64_t end = at + SLICE < b->count ? at + SLICE : b->count;

        for (; at < end; at += BLOCK) {
            sum_block(z, b, b->first + at, end - at < BLOCK ? end - at : BLOCK);
        }
    }
}

static void arrive(const tri_zero *z, const tri_bucket *b)
{
    if (atomic_fetch_add(&counter_of(z, b)->arrived, 1) + 1 == z->size) {
        take_slices(z, b);
    }
}

static void finish_shared(tri_zero *z)
{
    for (int k = 0; k < z->n; k++) {
        if (atomic_load(&counter_of(z, &z->buckets[k])->arrived) == z->size) {
            take_slices(z, &z->buckets[k]);
        }
    }
    if (!is_broken(z)) {
        *z->data->link = tri_shared_barrier(z->window);
    }
    for (int k = 0; k < z->n && z->rank == 0; k++) {
        counter *c = counter_of(z, &z->buckets[k]);

        atomic_store(&c->arrived, 0);
        atomic_store(&c->next, 0);
    }
}

/* ---- both -----------------------------------------------------------------
 */

static void start(tri_zero *z, tri_bucket *b)
{
    b->left = 0;
    if (z->overlap == TRI_OVERLAP_POKE) {
        start_mpi(z, b);
    } else if (z->window) {
        arrive(z, b);
    } else if (z->stage == 0) {
        tri_coll_sum(z->data, z->grads + b->first, b->count);
    } else {
        tri_coll_reduce_scatter(z->data, z->grads + b->first, b->count);
    }
}

void tri_overlap_after(tri_zero *z, tri_bucket *b)
{
    if (--b->left == 0 && !b->waits) {
        tri_tp_reduce(z->tensor, z->table, b->first, b->count,
                      z->grads + b->first);
        start(z, b);
    }
}

void tri_overlap_end(tri_zero *z)
{
    for (int k = 0; k < z->n; k++) {
        if (z->buckets[k].waits || z->buckets[k].left > 0) {
            start(z, &z->buckets[k]);
        }
    }
    if (z->window) {
        finish_shared(z);
    }
    for (int k = 0; k < z->n && z->overlap == TRI_OVERLAP_POKE; k++) {
        finish_mpi(z, &z->buckets[k]);
    }
}

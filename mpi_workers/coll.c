/*
 * Chooses the way of an axis.
 */
#include "mpi_workers/coll_ways.h"

#include <string.h>

static int64_t piece_of(uint64_t bytes)
{
    int64_t piece = (int64_t)(bytes / sizeof(tri_real));

    return piece < 1024 ? 1024 : piece > 1 << 28 ? 1 << 28 : piece;
}

tri_status tri_coll_open(tri_coll *coll, MPI_Comm comm, uint64_t piece_bytes,
                         tri_coll_way way, tri_status *link)
{
    tri_coll c = {.ops = &tri_coll_mpi,
                  .comm = comm,
                  .size = 1,
                  .piece = piece_of(piece_bytes),
                  .link = link};

    if (comm != MPI_COMM_NULL) {
        MPI_Comm_rank(comm, &c.rank);
        MPI_Comm_size(comm, &c.size);
    }
    if (c.size > 1 && way == TRI_COLL_AUTO) {
        TRI_TRY(tri_shared_open(comm, tri_coll_shared_bytes(c.size),
                                &c.shared));
    }
    if (c.shared) {
        c.ops = &tri_coll_shared;
        c.chunk = tri_coll_chunk(c.size);
    }
    *coll = c;
    return TRI_OK;
}

void tri_coll_close(tri_coll *coll)
{
    tri_shared_close(coll->shared);
    coll->shared = NULL;
}

int tri_coll_is_entangled(const tri_coll *coll)
{
    return coll->entangled;
}

void tri_coll_part(const tri_coll *coll, int rank, int64_t n, int64_t *first,
                   int64_t *count)
{
    int64_t each = n / coll->size;
    int64_t more = n % coll->size;

    *first = rank * each + (rank < more ? rank : more);
    *count = each + (rank < more);
}

/* Whether there is anything to do, and anybody to do it with. */
static int is_linked(const tri_coll *coll)
{
    return coll->size > 1 && *coll->link == TRI_OK;
}

void tri_coll_sum(tri_coll *coll, tri_real *x, int64_t n)
{
    if (is_linked(coll)) {
        *coll->link = coll->ops->sum(coll, x, n);
    }
}

void tri_coll_reduce_scatter(tri_coll *coll, tri_real *x, int64_t n)
{
    if (is_linked(coll)) {
        *coll->link = coll->ops->reduce_scatter(coll, x, n);
    }
}

void tri_coll_gather(tri_coll *coll, tri_real *x, int64_t n)
{
    if (is_linked(coll)) {
        *coll->link = coll->ops->gather(coll, x, n);
    }
}

void tri_coll_tell(tri_coll *coll, const void *mine, int bytes, void *all)
{
    if (is_linked(coll)) {
        *coll->link = coll->ops->tell(coll, mine, bytes, all);
    } else if (coll->size == 1) {
        memcpy(all, mine, (size_t)bytes);
    }
}

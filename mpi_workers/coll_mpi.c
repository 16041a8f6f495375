/*
 * Collectives across hosts: nonblocking calls of MPI, waited for with an end.
 */
#include "mpi_workers/coll_ways.h"

#include "mpi_workers/wait.h"

#ifdef TRI_REAL_DOUBLE
#define MPI_REAL_TYPE MPI_DOUBLE
#else
#define MPI_REAL_TYPE MPI_FLOAT
#endif

/* Wait for what was started, `rc`. */
static tri_status finish(tri_coll *coll, int rc, MPI_Request *request)
{
    tri_status st;

    if (rc != MPI_SUCCESS) {
        return TRI_FAIL(TRI_ECOMM, "a collective of the group failed");
    }
    st = tri_wait_until(request, coll->comm, -1, TRI_NO_DEADLINE);
    coll->entangled = coll->entangled || st != TRI_OK;
    return st;
}

/* In pieces, since MPI's temporary memory for large ones costs more in page
 * faults than the reduction itself. */
static tri_status sum(tri_coll *coll, tri_real *x, int64_t n)
{
    MPI_Request request;

    for (int64_t i = 0; i < n; i += coll->piece) {
        int64_t count = n - i < coll->piece ? n - i : coll->piece;
        int rc = MPI_Iallreduce(MPI_IN_PLACE, x + i, (int)count, MPI_REAL_TYPE,
                                MPI_SUM, coll->comm, &request);

        TRI_TRY(finish(coll, rc, &request));
    }
    return TRI_OK;
}

/* Every rank's part, one after the other. */
static tri_status each_part(tri_coll *coll, tri_real *x, int64_t n, int reduces)
{
    for (int rank = 0; rank < coll->size; rank++) {
        int64_t first;
        int64_t count;

        tri_coll_part(coll, rank, n, &first, &count);
        for (int64_t i = 0; i < count; i += coll->piece) {
            int64_t some = count - i < coll->piece ? count - i : coll->piece;
            tri_real *at = x + first + i;
            MPI_Request request;
            int rc;

            if (reduces) {
                rc = MPI_Ireduce(rank == coll->rank ? MPI_IN_PLACE : at, at,
                                 (int)some, MPI_REAL_TYPE, MPI_SUM, rank,
                                 coll->comm, &request);
            } else {
                rc = MPI_Ibcast(at, (int)some, MPI_REAL_TYPE, rank, coll->comm,
                                &request);
            }
            TRI_TRY(finish(coll, rc, &request));
        }
    }
    return TRI_OK;
}

static tri_status reduce_scatter(tri_coll *coll, tri_real *x, int64_t n)
{
    return each_part(coll, x, n, 1);
}

static tri_status gather(tri_coll *coll, tri_real *x, int64_t n)
{
    return each_part(coll, x, n, 0);
}

static tri_status tell(tri_coll *coll, const void *mine, int bytes, void *all)
{
    MPI_Request request;
    int rc = MPI_Iallgather(mine, bytes, MPI_BYTE, all, bytes, MPI_BYTE,
                            coll->comm, &request);

    return finish(coll, rc, &request);
}

tri_status tri_coll_mpi_exchange(tri_coll *coll, const tri_parcels *to,
                                 const void *send, const tri_parcels *from,
                                 void *recv, int most)
{
    MPI_Request request;
    int rc =
            MPI_Ialltoallv(send, to->bytes, to->at, MPI_BYTE, recv, from->bytes,
                           from->at, MPI_BYTE, coll->comm, &request);

    (void)most;
    return finish(coll, rc, &request);
}

const tri_coll_ops tri_coll_mpi = {.name = "mpi",
                                   .sum = sum,
                                   .reduce_scatter = reduce_scatter,
                                   .gather = gather,
                                   .tell = tell,
                                   .exchange = tri_coll_mpi_exchange};

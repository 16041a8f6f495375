/*
 * Collectives by blocking MPI calls; agreement on a status.
 */
#include "mpi_workers/coll.h"

#ifdef TRI_REAL_DOUBLE
#define MPI_REAL_TYPE MPI_DOUBLE
#else
#define MPI_REAL_TYPE MPI_FLOAT
#endif

/* In pieces, since MPI's temporary memory for large ones costs more in page
 * faults than the reduction itself. */
static void sum_mpi(tri_coll *coll, tri_real *x, int64_t n)
{
    int64_t i;

    for (i = 0; i < n; i += coll->piece) {
        int64_t count = n - i < coll->piece ? n - i : coll->piece;
        int rc = MPI_Allreduce(MPI_IN_PLACE, x + i, (int)count, MPI_REAL_TYPE,
                               MPI_SUM, coll->comm);

        if (rc != MPI_SUCCESS && coll->status == TRI_OK) {
            coll->status = TRI_FAIL(TRI_ECOMM, "a reduction failed");
        }
    }
}

static const tri_coll_ops blocking = {.name = "mpi", .sum = sum_mpi};

void tri_coll_init(tri_coll *coll, MPI_Comm comm, uint64_t piece_bytes)
{
    int64_t piece = (int64_t)(piece_bytes / sizeof(tri_real));

    *coll = (tri_coll){.ops = &blocking,
                       .comm = comm,
                       .piece = piece < 1024      ? 1024
                                : piece > 1 << 28 ? 1 << 28
                                                  : piece,
                       .status = TRI_OK};
}

void tri_coll_sum(tri_coll *coll, tri_real *x, int64_t n)
{
    if (coll->comm != MPI_COMM_NULL) {
        coll->ops->sum(coll, x, n);
    }
}

tri_status tri_coll_share_error(MPI_Comm comm, tri_status st, int rank)
{
    char sentence[TRI_ERROR_BYTES] = "";
    int me;

    MPI_Comm_rank(comm, &me);
    if (me == rank) {
        const char *mine = tri_error_last()->sentence;
        size_t i;

        for (i = 0; i + 1 < sizeof sentence && mine[i]; i++) {
            sentence[i] = mine[i];
        }
    }
    if (MPI_Bcast(sentence, (int)sizeof sentence, MPI_CHAR, rank, comm) !=
        MPI_SUCCESS) {
        return TRI_FAIL(TRI_ECOMM, "the group could not agree on an error");
    }
    sentence[sizeof sentence - 1] = '\0';
    return me == rank ? st : TRI_FAIL(st, "%s", sentence);
}

tri_status tri_coll_agree(MPI_Comm comm, tri_status mine)
{
    struct {
        int code, rank;
    } in = {.code = (int)mine}, out = {0};

    MPI_Comm_rank(comm, &in.rank);
    if (MPI_Allreduce(&in, &out, 1, MPI_2INT, MPI_MAXLOC, comm) !=
        MPI_SUCCESS) {
        return TRI_FAIL(TRI_ECOMM, "the group could not agree on a status");
    }
    if (out.code == TRI_OK) {
        return TRI_OK;
    }
    return tri_coll_share_error(comm, (tri_status)out.code, out.rank);
}

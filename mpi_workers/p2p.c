/*
 * Bounded point-to-point messages.  Knows nothing of what is said.
 */
#include "mpi_workers/p2p.h"

#include "mpi_workers/pause.h"
#include "mpi_workers/wait.h"

#include <stdlib.h>
#include <string.h>

/* How long a receive that was taken back may take to say so. */
#define WITHDRAW_S 1.0

/* Test until done; at the limit TRI_ETIMEOUT, TRI_EPEER, and who is blamed. */
static tri_status wait_for(MPI_Request *request, MPI_Status *status,
                           MPI_Comm comm, int rank, double limit_s)
{
    tri_status st = TRI_OK;
    int done = 0;
    tri_wait w;

    tri_wait_begin(&w, comm, rank, tri_now() + limit_s);
    w.sleeps = 1;
    while (st == TRI_OK) {
        if (MPI_Test(request, &done, status) != MPI_SUCCESS) {
            st = TRI_ETIMEOUT;
        } else if (done) {
            return TRI_OK;
        } else {
            st = tri_wait_pause(&w);
        }
    }
    tri_wait_blame(comm, rank);
    return st;
}

/* What became of the one who was waited for. */
static tri_status missed(tri_status st, int rank, const char *did,
                         double start_s)
{
    return st == TRI_EPEER
                   ? TRI_FAIL(st, "the process of rank %d of the group is gone",
                              rank)
                   : TRI_FAIL(st, "rank %d of the group %s for %.0f s", rank,
                              did, tri_now() - start_s);
}

tri_status tri_p2p_send(MPI_Comm comm, int to, int tag, const void *data,
                        int bytes, double limit_s)
{
    void *copy = malloc((size_t)bytes + 1);
    double start = tri_now();
    MPI_Request request;
    tri_status st;

    if (!copy) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a message of %d bytes",
                        bytes);
    }
    memcpy(copy, data, (size_t)bytes);
    if (MPI_Isend(copy, bytes, MPI_BYTE, to, tag, comm, &request) !=
        MPI_SUCCESS) {
        free(copy);
        return TRI_FAIL(TRI_ECOMM,
                        "a message to rank %d of the group cannot "
                        "be sent",
                        to);
    }
    st = wait_for(&request, MPI_STATUS_IGNORE, comm, to, limit_s);
    if (st != TRI_OK) {
        /* the copy is left to MPI; NOLINTNEXTLINE(clang-analyzer-unix.*) */
        return missed(st, to, "took nothing", start);
    }
    free(copy);
    return TRI_OK;
}

/* Take back a receive that nothing answered; 0 where it cannot be (half of a
 * message came) and its buffer is left to MPI. */
static int withdraw(MPI_Request *request)
{
    double end = tri_now() + WITHDRAW_S;
    tri_pause pause = {0};
    int done = *request == MPI_REQUEST_NULL;

    if (!done) {
        MPI_Cancel(request);
    }
    while (!done && tri_now() < end) {
        if (MPI_Test(request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) {
            return 0;
        }
        if (!done) {
            tri_pause_sleep(&pause);
        }
    }
    return done;
}

tri_status tri_p2p_receive(MPI_Comm comm, int from, int tag, void *data,
                           int bytes, double limit_s)
{
    void *copy = malloc((size_t)bytes + 1);
    double start = tri_now();
    MPI_Request request;
    MPI_Status status;
    tri_status st;
    int got = 0;

    if (!copy) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a message of %d bytes",
                        bytes);
    }
    if (MPI_Irecv(copy, bytes + 1, MPI_BYTE, from, tag, comm, &request) !=
        MPI_SUCCESS) {
        free(copy);
        return TRI_FAIL(TRI_ECOMM,
                        "nothing can be received from rank %d of "
                        "the group",
                        from);
    }
    st = wait_for(&request, &status, comm, from, limit_s);
    if (st != TRI_OK) {
        st = missed(st, from, "said nothing", start);
        if (!withdraw(&request)) {
            return st; /* as above; NOLINT(clang-analyzer-unix.*) */
        }
    } else {
        MPI_Get_count(&status, MPI_BYTE, &got);
        if (got == bytes) {
            memcpy(data, copy, (size_t)bytes);
        } else {
            st = TRI_FAIL(TRI_ECOMM,
                          "rank %d of the group sent %d bytes, not %d", from,
                          got, bytes);
        }
    }
    free(copy);
    return st;
}

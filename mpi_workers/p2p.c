/*
 * Bounded point-to-point messages.  Knows nothing of what is said.
 */
#include "mpi_workers/p2p.h"

#include "mpi_workers/pause.h"

#include <stdlib.h>
#include <string.h>

volatile sig_atomic_t tri_p2p_abandoned;

/* Test until done or the limit; 0 at the limit. */
static int wait_for(MPI_Request *request, MPI_Status *status, double limit_s)
{
    double end = tri_now() + limit_s;
    tri_pause pause = {0};
    int done = 0;

    for (;;) {
        if (MPI_Test(request, &done, status) != MPI_SUCCESS) {
            return 0;
        }
        if (done || tri_p2p_abandoned || tri_now() > end) {
            return done;
        }
        tri_pause_sleep(&pause);
    }
}

tri_status tri_p2p_send(MPI_Comm comm, int to, int tag, const void *data,
                        int bytes, double limit_s)
{
    void *copy = malloc((size_t)bytes + 1);
    MPI_Request request;

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
    if (!wait_for(&request, MPI_STATUS_IGNORE, limit_s)) {
        /* the copy is left to MPI; NOLINTNEXTLINE(clang-analyzer-unix.*) */
        return TRI_FAIL(TRI_ETIMEOUT,
                        "rank %d of the group took nothing for %.0f s", to,
                        limit_s);
    }
    free(copy);
    return TRI_OK;
}

/* Take back a receive that nothing answered. */
static void withdraw(MPI_Request *request)
{
    if (*request != MPI_REQUEST_NULL) {
        MPI_Cancel(request);
        MPI_Wait(request, MPI_STATUS_IGNORE);
    }
}

tri_status tri_p2p_receive(MPI_Comm comm, int from, int tag, void *data,
                           int bytes, double limit_s)
{
    void *copy = malloc((size_t)bytes + 1);
    MPI_Request request;
    MPI_Status status;
    tri_status st = TRI_OK;
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
    if (!wait_for(&request, &status, limit_s)) {
        withdraw(&request);
        st = TRI_FAIL(TRI_ETIMEOUT,
                      "rank %d of the group said nothing for %.0f s", from,
                      limit_s);
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

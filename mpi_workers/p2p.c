/*
 * Bounded point-to-point messages.  Knows nothing of what is said.
 */
#include "mpi_workers/p2p.h"

#include "mpi_workers/pause.h"

#include <stdlib.h>
#include <string.h>

/* How long a receive that was taken back may take to say so. */
#define WITHDRAW_S 1.0

/* A longer time between two looks: this process itself stood still, and its
 * peers perhaps with it. */
#define GAP_S 1.0

volatile sig_atomic_t tri_p2p_abandoned;

static int (*attendant)(void *ctx);
static void *attendant_ctx;
static int silent = -1;

void tri_p2p_attend(int (*attend)(void *ctx), void *ctx)
{
    attendant = attend;
    attendant_ctx = ctx;
    silent = -1;
}

void tri_p2p_look(void)
{
    if (attendant) {
        attendant(attendant_ctx);
    }
}

int tri_p2p_silent(void)
{
    return silent;
}

void tri_p2p_blame(MPI_Comm comm, int rank)
{
    MPI_Group members;
    MPI_Group all;

    if (silent >= 0) {
        return;
    }
    MPI_Comm_group(comm, &members);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_translate_ranks(members, 1, &rank, all, &silent);
    MPI_Group_free(&all);
    MPI_Group_free(&members);
    if (silent == MPI_UNDEFINED) {
        silent = -1;
    }
}

/* Test until done or the limit; 0 at the limit. */
static int wait_for(MPI_Request *request, MPI_Status *status, double limit_s)
{
    double last = tri_now();
    double end = last + limit_s;
    tri_pause pause = {0};
    int done = 0;

    for (;;) {
        double now = tri_now();

        if (now - last > GAP_S) {
            end += now - last;
        }
        last = now;
        if (MPI_Test(request, &done, status) != MPI_SUCCESS) {
            return 0;
        }
        if (done || tri_p2p_abandoned || now > end ||
            (attendant && attendant(attendant_ctx))) {
            return done;
        }
        tri_pause_sleep(&pause);
    }
}

tri_status tri_p2p_send(MPI_Comm comm, int to, int tag, const void *data,
                        int bytes, double limit_s)
{
    void *copy = malloc((size_t)bytes + 1);
    double start = tri_now();
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
        tri_p2p_blame(comm, to);
        return TRI_FAIL(TRI_ETIMEOUT,
                        "rank %d of the group took nothing for %.0f s", to,
                        tri_now() - start);
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
        tri_p2p_blame(comm, from);
        st = TRI_FAIL(TRI_ETIMEOUT,
                      "rank %d of the group said nothing for %.0f s", from,
                      tri_now() - start);
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

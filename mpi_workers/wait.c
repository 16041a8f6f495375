/*
 * Waiting for a request by test and yield.
 */
#include "mpi_workers/wait.h"

#include "mpi_workers/pause.h"

#include <sched.h>

tri_status tri_wait_until(MPI_Request *request, double deadline_s)
{
    int done = *request == MPI_REQUEST_NULL;
    unsigned looks = 0;

    while (!done) {
        if (MPI_Test(request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) {
            return TRI_FAIL(TRI_ECOMM, "a message of the group failed");
        }
        if (done) {
            break;
        }
        sched_yield();
        if (++looks % 64 == 0 && tri_now() > deadline_s) {
            return TRI_FAIL(TRI_ETIMEOUT,
                            "a message of the group did not come in time");
        }
    }
    return TRI_OK;
}

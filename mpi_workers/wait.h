/*
 * Waiting is one function: for a request, until a deadline, giving the core
 * away between two looks so that ranks may outnumber cores.
 */
#ifndef TRI_MPI_WORKERS_WAIT_H
#define TRI_MPI_WORKERS_WAIT_H

#include "trireme/status.h"

#include <mpi.h>

#define TRI_NO_DEADLINE 1e300

/*
 * Wait until *request is complete (it is then MPI_REQUEST_NULL; a null
 * request is complete at once), or until tri_now() of pause.h passes
 * `deadline_s`: TRI_ETIMEOUT, and the request is still pending and its buffer
 * not to be touched.  TRI_ECOMM where MPI reports an error.
 */
tri_status tri_wait_until(MPI_Request *request, double deadline_s);

#endif

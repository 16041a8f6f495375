/*
 * Starting and ending MPI as this program needs it.  Only tune and train
 * include it, and only where the build has MPI.
 */
#ifndef TRI_APP_MPI_START_H
#define TRI_APP_MPI_START_H

#include "trireme/status.h"

/* What this process says of its exit status where it leaves while MPI holds
 * it, on another thread; returns the status.  Before tri_app_mpi_open. */
void tri_app_mpi_tells(int (*tell)(int status));
/*
 * Initialise MPI (funneled), with the settings of malloc that collectives
 * need set before it, and the watchdog, which ends this process where MPI never
 * returns.  [out] rank and size in MPI_COMM_WORLD.  TRI_ECOMM, TRI_ENOMEM;
 * TRI_EINVAL, said by the first task only, where srun gave no PMI.
 */
tri_status tri_app_mpi_open(int *rank, int *size);
/* Finalise and return `status`; with `must_exit`, where MPI_Finalize would
 * hang, flush what was printed and leave at once. */
int tri_app_mpi_close(int status, int must_exit);
/* TRI_EINVAL, with advice, where the launcher started several processes and
 * each became a world of its own. */
tri_status tri_app_mpi_one_world(int size);
/* Hand USR1, INT and TERM to tri_net_signal; a second INT or TERM ends the
 * process at once with `status`. */
void tri_app_mpi_signals(int status);

#endif

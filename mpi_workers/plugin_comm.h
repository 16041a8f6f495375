/*
 * The communicator that a plugin works on: a duplicate of the group's, so that
 * what a trial leaves unreceived reaches nobody, and which knows how many
 * duplicates of it are alive.
 */
#ifndef TRI_MPI_WORKERS_PLUGIN_COMM_H
#define TRI_MPI_WORKERS_PLUGIN_COMM_H

#include "trireme/status.h"

#include <mpi.h>

/* Collective over `group`.  [out] out; returns errors.  TRI_ECOMM. */
tri_status tri_plugin_comm_open(MPI_Comm group, MPI_Comm *out);
/* Free it (collective); where not `frees`, leave it as it is.  Returns how many
 * duplicates of it, made since it was opened, are left. */
int tri_plugin_comm_close(MPI_Comm comm, int frees);

#endif

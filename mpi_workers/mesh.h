/*
 * The ranks of a run as a (pp, dp, tp) arrangement with a communicator for
 * each axis longer than one.  The communicators are made of the group's by
 * MPI_Comm_create_group, so that only the members of an axis take part; it is
 * no request, so the watchdog watches it.
 */
#ifndef TRI_MPI_WORKERS_MESH_H
#define TRI_MPI_WORKERS_MESH_H

#include "mpi_workers/shard.h"

#include <mpi.h>

typedef struct tri_mesh {
    MPI_Comm group; /* borrowed */
    int rank, size;
    tri_coord at;
    MPI_Comm tp, dp, pp; /* MPI_COMM_NULL where the axis is one rank */
    MPI_Comm tied;       /* first and last stage, where pp > 1 */
} tri_mesh;

/* Collective over `group`, whose size is that of the layout.  `limit_s`: the
 * watchdog's, for all of it; 0: none.  [out] `out`: tri_mesh_close.
 * TRI_ECOMM. */
tri_status tri_mesh_open(MPI_Comm group, const tri_layout *l, double limit_s,
                         tri_mesh *out);
/* Collective over the axes; never fails. */
void tri_mesh_close(tri_mesh *mesh);
/* The same where a rank is gone: the communicators are left as they are. */
void tri_mesh_forget(tri_mesh *mesh);
/* Communicators alive in this process, for leak tests. */
int tri_mesh_alive(void);

#endif

/*
 * What a process finds on disk beside its command: a scratch folder of its own
 * and, with `launch: leader`, a file of the group's hosts.  Both are made
 * before it starts and removed when its run ends, however it ends: what a
 * killed worker leaves is its sweeper's (sweeper.h).
 *
 * The scratch folder was never there before: where the name that the study
 * gives is taken, it gets a number behind it.  So what is removed is only what
 * the run left.
 */
#ifndef TRI_MPI_WORKERS_SURROUNDINGS_H
#define TRI_MPI_WORKERS_SURROUNDINGS_H

#include "mpi_workers/process_template.h"
#include "mpi_workers/rendezvous.h"
#include "mpi_workers/sweeper.h"

/* Removing a scratch folder takes this long at most, then what is left stays
 * and is named in the log. */
#define TRI_SCRATCH_S 5.0

typedef struct tri_surroundings { /* owned paths; NULL where there is none */
    char *scratch;
    int n_above; /* folders above it that go with it where they are empty */
    char *host_file;
    tri_sweeper *sweeper; /* knows of both; borrowed, may be NULL */
} tri_surroundings;

/*
 * Make them for the process of `facts`, and note their paths in *facts
 * (borrowed from *out).  [out] `out`, to be zeroed before or removed.  On
 * failure nothing is left behind.  TRI_EIO, TRI_ENOMEM, TRI_EINVAL.
 */
tri_status tri_surroundings_make(const tri_study *study,
                                 const tri_config *config,
                                 const tri_rendezvous *place,
                                 tri_sweeper *sweeper, tri_facts *facts,
                                 tri_surroundings *out);
/* Remove them, and forget the paths; of a zeroed struct nothing. */
void tri_surroundings_remove(tri_surroundings *s);

/* Remove a folder and all in it, following no symbolic link and entering no
 * other file system, within `limit_s` seconds.  TRI_EIO: something is left (the
 * sentence says why); TRI_ETIMEOUT where the time did not suffice. */
tri_status tri_remove_tree(const char *path, double limit_s);

#endif

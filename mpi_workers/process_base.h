/*
 * What a rank finds out once an opening, before its first process: its share
 * of the host's devices, and the environment that the study's setup leaves.
 */
#ifndef TRI_MPI_WORKERS_PROCESS_BASE_H
#define TRI_MPI_WORKERS_PROCESS_BASE_H

#include "mpi_workers/devices.h"
#include "mpi_workers/sweeper.h"
#include "mpi_workers/world.h"

typedef struct tri_process_base {
    char **env; /* NULL-terminated, scrubbed: what every process starts from */
    tri_sweeper *sweeper; /* clears up if this rank is killed; NULL: there is
                           * none */
    tri_devices devices;
    char shown[TRI_DEVICE_BYTES]; /* to this rank's process alone: for the
                                   * record; "" where it sees none */
    char remark[400]; /* about this host's devices, on its first worker; "" */
} tri_process_base;

/*
 * Collective over the workers of this host (not rank 0): they tell each other
 * which devices they were given, then each runs the setup.  Bounded by half a
 * minute and the study's timeouts.startup.  [out] `out`, owned.  TRI_EINVAL:
 * this rank can run nothing (the setup failed, the map has no entry); others
 * as of messages and processes.
 */
tri_status tri_process_base_open(const tri_world *w, const tri_study *study,
                                 tri_process_base **out);
void tri_process_base_close(tri_process_base *b);

/*
 * Rank 0, which needs no device: of what it was given, what none of the lists
 * of `n` workers on its host has.  Into buf, "" where there is none; 1 where
 * there is.  Always 1 where the launcher gave each task its own
 * (SLURM_GPUS_PER_TASK) and rank 0 some.
 */
int tri_process_base_wasted(const tri_process_spec *spec,
                            const char *const *lists, int n, char *buf,
                            size_t bytes);

#endif

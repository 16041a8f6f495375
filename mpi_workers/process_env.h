/*
 * The environment of a process trial: what the worker has, without what would
 * make the child believe that it is a rank of this job; what `setup` makes of
 * that; and with the rendezvous variables and TRIREME_* added.
 *
 * What goes is what the launcher gave this rank alone.  What it says of the job
 * stays (SLURM_JOB_ID, SLURM_NODELIST, SLURM_TASKS_PER_NODE), so that srun and
 * mpirun work from within, and so do a site's OMPI_MCA_ settings.
 */
#ifndef TRI_MPI_WORKERS_PROCESS_ENV_H
#define TRI_MPI_WORKERS_PROCESS_ENV_H

#include "mpi_workers/process_template.h"

/* Whether a variable "NAME=..." is kept from the child.  `keep` holds names
 * (a trailing * stands for anything) that are let through. */
int tri_env_is_scrubbed(const char *variable, const char *const *keep,
                        int n_keep);

/* A copy of `from` (NULL-terminated) without what is scrubbed, and with `mark`
 * ("NAME=value", NULL: none).  [out] `out`: a NULL-terminated array, freed by
 * tri_env_free.  TRI_ENOMEM. */
tri_status tri_env_scrub(char *const *from, const tri_process_spec *spec,
                         const char *mark, char ***out);
/*
 * Build the environment of one process out of `from`, scrubbed already.  With
 * `launch: leader` RANK, LOCAL_RANK, LOCAL_WORLD_SIZE and GROUP_RANK are not
 * set: they are the launcher's to give.  [out] as above.  TRI_ENOMEM, and the
 * errors of templates in the study's own variables.
 */
tri_status tri_env_build(char *const *from, const tri_study *study,
                         const tri_config *config, const tri_facts *facts,
                         char ***out);
void tri_env_free(char **env);

#endif

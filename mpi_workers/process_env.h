/*
 * The environment of a process trial: what the worker has, without what would
 * make the child believe that it is a rank of this job, and with the
 * rendezvous variables and TRIREME_* added.
 */
#ifndef TRI_MPI_WORKERS_PROCESS_ENV_H
#define TRI_MPI_WORKERS_PROCESS_ENV_H

#include "mpi_workers/process_template.h"

/* Whether a variable "NAME=..." is kept from the child.  `keep` holds names
 * (a trailing * stands for anything) that are let through. */
int tri_env_is_scrubbed(const char *variable, const char *const *keep,
                        int n_keep);

/*
 * Build the environment out of `from` (NULL-terminated).  [out] `out`: a
 * NULL-terminated array, freed by tri_env_free.  TRI_ENOMEM, and the errors of
 * templates in the study's own variables.
 */
tri_status tri_env_build(char *const *from, const tri_study *study,
                         const tri_config *config, const tri_facts *facts,
                         char ***out);
void tri_env_free(char **env);

#endif

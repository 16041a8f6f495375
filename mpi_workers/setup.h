/*
 * The study's `setup`: a text for a shell of the Bourne kind, run once a rank
 * and opening before any process; what it leaves in its environment is what
 * every process starts with.  It fails with the status of its last command.
 */
#ifndef TRI_MPI_WORKERS_SETUP_H
#define TRI_MPI_WORKERS_SETUP_H

#include "trireme/study.h"

/*
 * Run it in the environment `from`.  [out] `out`: the environment that it
 * leaves (exported variables and, of bash, functions), freed by tri_env_free;
 * a copy of `from` where the study has no setup.  TRI_EINVAL: it failed, or ran
 * longer than `limit_s`; the sentence has the end of its standard error.
 * Also the errors of starting a process.
 */
tri_status tri_setup_run(const tri_process_spec *spec, char *const *from,
                         double limit_s, double grace_s, char ***out);

/* Texts that each end in a NUL, as env -0 prints them, as an environment;
 * what is no NAME=VALUE is left out.  [out] as above.  TRI_ENOMEM. */
tri_status tri_setup_read(const char *text, size_t bytes, char ***out);

#endif

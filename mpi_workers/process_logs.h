/*
 * Log files of processes: TRIAL.RUN.ATTEMPT.RANK.log in model.log_dir, and
 * which of them stay.  Each rank removes its own: those of runs that are no
 * longer among the latest `keep`, by their numbers, and of its failed runs all
 * but the latest `keep`.  What an earlier opening wrote stays.  No MPI; the
 * files themselves are written by the child (child.h).
 */
#ifndef TRI_MPI_WORKERS_PROCESS_LOGS_H
#define TRI_MPI_WORKERS_PROCESS_LOGS_H

#include "mpi_workers/process_template.h"

/* The file that a process which starts now is to write, its directory made;
 * removes what need not stay.  Returns 0 where there is to be none. */
int tri_logs_begin(const tri_study *study, const tri_facts *facts, char *path,
                   size_t bytes);
/* Its process has ended; `failed`: its run did not end well. */
void tri_logs_end(const tri_study *study, const tri_facts *facts, int failed);
/* Forget what was written: another opening begins in this process. */
void tri_logs_forget(void);

#endif

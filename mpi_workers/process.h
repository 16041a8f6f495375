/*
 * Process trials: what can be checked of them before any is started.
 */
#ifndef TRI_MPI_WORKERS_PROCESS_H
#define TRI_MPI_WORKERS_PROCESS_H

#include "trireme/event.h"
#include "trireme/study.h"

/* Whether the study's process model can be run: placeholders are known, and
 * nothing is asked for that is not built.  TRI_EINVAL, TRI_EUNBUILT, TRI_OK
 * also for other models. */
tri_status tri_process_check(const tri_study *study);

#endif

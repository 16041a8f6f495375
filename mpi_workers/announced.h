/*
 * From an open event back to a study: as workers hear of it, and as a stored
 * study is compared with a given one.
 */
#ifndef TRI_MPI_WORKERS_ANNOUNCED_H
#define TRI_MPI_WORKERS_ANNOUNCED_H

#include "trireme/event.h"
#include "trireme/study.h"

/* Read the study of `open`, its files from the attachments, its seed from the
 * event.  [out] owned.  Errors of tri_study_parse. */
tri_status tri_announced_study(const tri_ev_open *open, tri_study **out);

#endif

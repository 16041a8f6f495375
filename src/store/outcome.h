/*
 * FILE.h5.exit: how an opening ended, for scripts.
 */
#ifndef TRI_STORE_OUTCOME_H
#define TRI_STORE_OUTCOME_H

#include "src/store/segment.h"
#include "trireme/store.h"

/* Write it by rename, under a name that holds the epoch; fenced. */
tri_status tri_outcome_write(const tri_journal *j, const tri_record_end *end);

#endif

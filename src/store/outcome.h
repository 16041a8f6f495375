/*
 * FILE.h5.exit: how an opening ended, for scripts.
 */
#ifndef TRI_STORE_OUTCOME_H
#define TRI_STORE_OUTCOME_H

#include "src/store/segment.h"
#include "trireme/store.h"

/* Put aside the room that it will need, under a name that holds the epoch: a
 * full disk is an end that must be told, too.  TRI_ENOSPACE, TRI_EIO. */
tri_status tri_outcome_reserve(tri_journal *j);
/* Give it back: this opening ends without a .exit.  Keeps the last error. */
void tri_outcome_release(tri_journal *j);
/* Write it by rename, under a name that holds the epoch; fenced. */
tri_status tri_outcome_write(tri_journal *j, const tri_record_end *end);

#endif

/*
 * The store thread: writes batches of rows into the live file, so that the
 * loop never waits for HDF5.  From tri_live_start to tri_live_stop the file is
 * that thread's.
 */
#ifndef TRI_STORE_LIVE_H
#define TRI_STORE_LIVE_H

#include "src/store/h5file.h"

typedef struct tri_live tri_live;

/* Take over `file` (also on failure, then closed).  TRI_ENOMEM, TRI_EIO. */
tri_status tri_live_start(tri_h5file *file, tri_live **out);
/*
 * The batch to add rows to; it is the caller's until tri_live_end.  NULL where
 * the tables have fallen behind for good (the disk failed, or more is waiting
 * than memory should hold): what is missing is caught up when they are made
 * anew.
 */
tri_batch *tri_live_begin(tri_live *l);
void tri_live_end(tri_live *l);
/* Wait for the thread and close the file.  `discard`: what is waiting is not
 * written.  Frees `l`. */
void tri_live_stop(tri_live *l, int discard);

#endif

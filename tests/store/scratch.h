/*
 * A folder of its own for a test, and small events to journal.
 */
#ifndef TRI_TESTS_STORE_SCRATCH_H
#define TRI_TESTS_STORE_SCRATCH_H

#include "src/store/files.h"
#include "trireme/event.h"
#include "trireme/wire.h"

/* Make an empty folder under $TMPDIR, else in memory where that is possible
 * (syncs cost nothing there), else under /tmp. */
void scratch_make(char dir[256]);
/* Remove it with everything in it. */
void scratch_remove(const char *dir);
/* Remove everything in it. */
void scratch_empty(const char *dir);
/* Copy all files of one folder into another, which is emptied before. */
void scratch_copy(const char *from, const char *to);
/* Print the names of all files in it. */
void scratch_list(const char *dir);
/* Number of files in it whose name contains `part`. */
int scratch_count(const char *dir, const char *part);

/* A packed event: open of `epoch`, or the i-th report. */
void packed_open(tri_buffer *out, int epoch, double time_s);
void packed_report(tri_buffer *out, int i);

#endif

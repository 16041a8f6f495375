/*
 * Rows of the tables, made from the controller's views and events, collected
 * in a batch until the store thread writes them.  Knows nothing of HDF5.
 */
#ifndef TRI_STORE_ROWS_H
#define TRI_STORE_ROWS_H

#include "src/store/ledger.h"
#include "trireme/wire.h"

#define TRI_ROW_TEXT_BYTES 4096

/* Rows waiting to be written: for each its place in the table. */
typedef struct tri_batch {
    tri_buffer rows[TRI_TABLE_COUNT];
    tri_buffer places[TRI_TABLE_COUNT]; /* int64_t each; /blobs: one */
} tri_batch;

void tri_batch_init(tri_batch *b);
void tri_batch_fini(tri_batch *b);
void tri_batch_clear(tri_batch *b);
size_t tri_batch_bytes(const tri_batch *b);

/* How far the tables that grow with the events have got. */
typedef struct tri_stream {
    int64_t events, blob_bytes, reports, models;
} tri_stream;

/* The rows of one event itself: /events, /blobs, /reports, /models. */
tri_status tri_rows_event(tri_batch *b, const tri_schema *schema,
                          tri_stream *stream, const tri_event *event,
                          const void *packed, size_t bytes, uint64_t digest);
/* The row of one trial, ended run, rank (row of /pool), opening. */
tri_status tri_rows_trial(tri_batch *b, const tri_schema *schema,
                          const tri_ctl *ctl, int64_t trial);
tri_status tri_rows_run(tri_batch *b, const tri_schema *schema,
                        const tri_ledger *ledger, const tri_ctl *ctl,
                        int64_t run);
tri_status tri_rows_rank(tri_batch *b, const tri_schema *schema,
                         const tri_ledger *ledger, const tri_ctl *ctl, int row);
/* `over`: whether that opening has ended. */
tri_status tri_rows_opening(tri_batch *b, const tri_schema *schema,
                            const tri_ledger *ledger, int i, int over);
/* What the last feed changed: trials, ended runs, ranks. */
tri_status tri_rows_changed(tri_batch *b, const tri_schema *schema,
                            const tri_ledger *ledger, const tri_ctl *ctl,
                            const tri_event *event,
                            const tri_commands *commands);

/* "1-4,7" of an ascending list; cut at a comma where it does not fit. */
void tri_rank_set_print(const int32_t *ranks, int n, char *buf, size_t bytes);

#endif

/*
 * Making the tables of a study anew, from its events and its controller.
 */
#ifndef TRI_STORE_TABLES_H
#define TRI_STORE_TABLES_H

#include "src/store/h5file.h"

/* Where tables come from: all of it borrowed. */
typedef struct tri_tables_source {
    const tri_history *history;
    const tri_ledger *ledger; /* up to the end of the history */
    const tri_ctl *ctl;       /* likewise */
    const tri_record_facts *facts;
    int epoch;
    int folded;       /* everything is in: what the file says of itself */
    int last_is_over; /* the last opening has ended */
} tri_tables_source;

/* A new file at `path` with all rows, still open; where `compact`, compressed.
 * On failure nothing is left there.  `schema` as tri_h5file_create. */
tri_status tri_tables_build(const char *path, const tri_schema *schema,
                            const tri_tables_source *source, int compact,
                            tri_stream *stream, tri_h5file **out);
/* As above with exact widths, compressed, closed and synced. */
tri_status tri_tables_write(const char *path, const tri_tables_source *source);
/* Close a file that is not finished and remove it; keeps the last error. */
void tri_tables_discard(tri_h5file *file, const char *path);

/* A replay that keeps a ledger.  [out] `ctl` owned; `ledger` initialised. */
tri_status tri_tables_replay(const tri_history *history, tri_ctl **ctl,
                             tri_ledger *ledger, tri_replay *counts);
/* The same, telling of every event (may return an error to stop). */
typedef tri_status (*tri_tables_note_fn)(void *ctx, const tri_event *event,
                                         const tri_ctl *ctl);
tri_status tri_tables_replay_each(const tri_history *history, tri_ctl **ctl,
                                  tri_ledger *ledger, tri_replay *counts,
                                  tri_tables_note_fn each, void *ctx);

#endif

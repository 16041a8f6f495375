/*
 * The record as its parts see it.  Private to the store.
 */
#ifndef TRI_STORE_RECORD_H
#define TRI_STORE_RECORD_H

#include "src/store/live.h"
#include "src/store/outcome.h"
#include "src/store/summary.h"
#include "src/store/tables.h"

#include <time.h>

struct tri_record {
    tri_files files;
    tri_record_facts facts; /* texts owned */
    tri_journal *journal;
    tri_ledger ledger;
    tri_buffer packed;
    struct timespec synced;
    int64_t first_seq; /* of this opening */
    int was_folded;    /* everything before is in the file's tables */
    int is_first;      /* this opening began the study */
    int has_searched; /* more was journalled than what an opening begins with */
    tri_schema schema; /* of the live file */
    tri_stream stream;
    tri_live *live; /* NULL: not yet, or not any more */
    int has_schema;
    int no_tables; /* live tables were given up in this opening */
    tri_summariser summary;
};

/* The live file: made from what is journalled so far, followed by readers.
 * Only TRI_EFENCED is an error; else it is given up with a warning. */
tri_status tri_record_start_tables(tri_record *r, const tri_ctl *ctl);
/* Fold the segments into the tables and write .exit. */
tri_status tri_record_fold(tri_record *r, const tri_ctl *ctl,
                           const tri_record_end *end);
/* Remove the segments of earlier epochs, in order, or only our `own`. */
tri_status tri_record_remove_segments(const tri_record *r, int own);
/* An error of this opening: TRI_EFENCED where a later opening is behind it
 * (it may have taken our half-made files away), else `st` as it was. */
tri_status tri_record_blame(const tri_record *r, tri_status st);

#endif

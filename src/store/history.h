/*
 * What has been read of a study, and what its next opening must know of it.
 * Private to the store.
 */
#ifndef TRI_STORE_HISTORY_H
#define TRI_STORE_HISTORY_H

#include "src/store/segment.h"
#include "trireme/store.h"

/* Where the kind of a packed event stands: see trireme/wire.h. */
#define TRI_KIND_AT 3

/* Segments of which not all can be trusted. */
typedef struct tri_damage {
    int epoch;       /* of the first such segment; 0: none */
    int64_t last;    /* the highest seq that is to be seen in them */
    int may_be_none; /* if the tables hold all of it: is_unbegun */
    int from_tables; /* the events are the tables', which hold more */
    char sentence[320];
} tri_damage;

struct tri_history {
    tri_entry *entries;
    int64_t n, capacity;
    unsigned char **buffers; /* that entries point into, owned */
    int n_buffers;
    int epoch;           /* the last */
    int live;            /* read from segments */
    int folded;          /* else: the file says that it was folded into */
    int last_name;       /* the highest epoch of any segment's name; 0: none */
    uint64_t torn_bytes; /* at the end of the last segment */
    double mtime_s;
    tri_seal *seals; /* live: seals all segments, for the next one */
    int n_seals;
    tri_arena *arena;
    tri_damage damage;
};

/* An empty history.  TRI_ENOMEM. */
tri_status tri_history_create(tri_history **out);
/* Take over a buffer that entries will point into (freed on failure). */
tri_status tri_history_adopt(tri_history *h, unsigned char *buffer);
/* Add the next event; its bytes must lie in an adopted buffer.
 * TRI_EMALFORMED where `seq` is not the next or an open is unreadable. */
tri_status tri_history_push(tri_history *h, const tri_item *item);
/* As tri_history_read. */
tri_status tri_history_load(const tri_files *files, tri_history **out);

#endif

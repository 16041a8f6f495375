/*
 * One journal segment: records of {length u32, CRC32C u32, seq i64, bytes,
 * digest u64}, little-endian; the CRC covers all but itself.  The first record
 * (seq -1) names the epoch and seals the earlier segments by length and
 * checksum; a segment without a whole first record counts as none.
 */
#ifndef TRI_STORE_SEGMENT_H
#define TRI_STORE_SEGMENT_H

#include "src/store/files.h"
#include "trireme/wire.h"

#define TRI_RECORD_OVERHEAD 24
#define TRI_JOURNAL_VERSION 1

typedef struct tri_item { /* one record, in the segment's bytes */
    int64_t seq;
    const unsigned char *data;
    size_t bytes;
    uint64_t digest;
} tri_item;

typedef struct tri_seal {
    int epoch;
    uint64_t bytes, sum;
} tri_seal;

/* Append a record to `out`.  TRI_ENOMEM. */
tri_status tri_item_pack(const tri_item *item, tri_buffer *out);
/* The record at the front of `data`: bytes that it takes, 0 if it is torn.
 * [out] *out points into `data`. */
size_t tri_item_unpack(const unsigned char *data, size_t bytes, tri_item *out);

/*
 * What stands at `at`, where no whole record begins: a torn tail (0), such as
 * a writer leaves that dies, or damage: whole records of seq `next` and above
 * follow, or it is a whole last record but for a wrong byte.  [out] *last: the
 * highest seq that is to be seen there, at least `next`.
 */
int tri_segment_is_damaged(const unsigned char *data, size_t bytes, size_t at,
                           int64_t next, int64_t *last);

/* Append the first record of a segment to `out`. */
tri_status tri_segment_pack_first(int epoch, const tri_seal *seals, int n,
                                  tri_buffer *out);

/* ---- reading -------------------------------------------------------- */

typedef struct tri_segment {
    int epoch;
    unsigned char *data;
    size_t bytes;    /* as read */
    size_t first;    /* bytes of the first record; 0: counts as none */
    int is_headless; /* events follow where no whole first record is */
    int is_unbegun;  /* headless, maybe as they were carried into it by a writer
                        that died then */
    tri_seal *seals;
    int n_seals;
} tri_segment;

/* Take over `data` (malloc'd, also on failure).  TRI_EMALFORMED where a whole
 * first record is not one of epoch `epoch`; TRI_EVERSION. */
tri_status tri_segment_init(tri_segment *segment, int epoch,
                            unsigned char *data, size_t bytes);
/* Read the segment of `epoch`.  TRI_ENOTFOUND too. */
tri_status tri_segment_load(tri_segment *segment, const tri_files *files,
                            int epoch);
void tri_segment_fini(tri_segment *segment);
/* XXH64 of the first `bytes` bytes. */
uint64_t tri_segment_sum(const tri_segment *segment, size_t bytes);

/* ---- writing -------------------------------------------------------- */

typedef struct tri_journal {
    tri_files files;
    char path[TRI_PATH_BYTES];
    int epoch;
    int fd;
    uint64_t bytes; /* of whole records */
    int64_t seq;    /* of the next event */
    tri_buffer buffer;
    int dirty;   /* written since the last sync */
    int broken;  /* a write or sync failed: nothing more is taken */
    int exit_fd; /* of what is reserved for .exit; -1: nothing */
} tri_journal;

/*
 * Create the segment of `epoch`.  Records in `carried` (packed, with
 * `n_carried` events) are written and synced before the first record, so that
 * the segment counts only once it holds them all.  TRI_EFENCED where it exists
 * already or a later one does.
 */
tri_status tri_journal_create(const tri_files *files, int epoch,
                              const tri_seal *seals, int n_seals,
                              const tri_buffer *carried, int64_t next_seq,
                              tri_journal **out);
void tri_journal_destroy(tri_journal *j);
/* Write one event.  TRI_EJOURNAL, TRI_ENOSPACE: it is not recorded, the
 * segment ends with the record before, and the journal is broken. */
tri_status tri_journal_append(tri_journal *j, const void *packed, size_t bytes,
                              uint64_t digest);
tri_status tri_journal_sync(tri_journal *j);

#endif

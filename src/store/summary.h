/*
 * The file of the summary (tri_record_summary): a header and its text, written
 * over in place, which a checksum tells from a half-written one.  What is in
 * the text is for others to know.  Private to the store.
 *
 *   "TRISUMM1"  u64 events  u64 bytes of the journal  u64 bytes of text
 *   u64 XXH64 of all but itself  text
 */
#ifndef TRI_STORE_SUMMARY_H
#define TRI_STORE_SUMMARY_H

#include "src/store/segment.h"
#include "trireme/store.h"

#include <time.h>

/* A journal up to here is folded by whoever asks, exactly. */
#define TRI_SUMMARY_FROM_BYTES ((uint64_t)16 << 20)

typedef struct tri_summariser {
    const tri_record_summary *maker; /* NULL: no summary, or none any more */
    int fd;                          /* -1: not made yet */
    tri_buffer buffer;
    struct timespec written; /* the sync after which it was written last */
    double next_s;           /* monotonic clock: not again before */
} tri_summariser;

void tri_summariser_init(tri_summariser *s, const tri_record_summary *maker);
void tri_summariser_fini(tri_summariser *s);
/* Of a tri_summariser: pass an event on. */
tri_status tri_summariser_note(void *ctx, const tri_event *event,
                               const tri_ctl *ctl);
/* Write it, once after each sync of the journal, at most a hundredth of the
 * time.  A failure is said once and ends the summary, and nothing else. */
void tri_summariser_write(tri_summariser *s, const tri_journal *j,
                          const tri_ctl *ctl, const struct timespec *synced);

#endif

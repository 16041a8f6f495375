/*
 * Sub-problems met before, by the hash of their key.  Bounded: beyond its
 * size old entries are overwritten, and the sub-problem is solved again.
 */
#ifndef TRI_SPACE_MEMO_H
#define TRI_SPACE_MEMO_H

#include "trireme/status.h"

#include <stdint.h>

typedef struct tri_memo_entry tri_memo_entry;

/* A zeroed one is empty. */
typedef struct tri_memo {
    tri_memo_entry *entries;
    size_t n, used; /* slots, a power of two; those in use */
} tri_memo;

void tri_memo_fini(tri_memo *memo);
/* [out] `node` remembered for the hash a, b.  Returns 0 if there is none. */
int tri_memo_get(const tri_memo *memo, uint64_t a, uint64_t b, int32_t *node);
/* Remember `node`.  TRI_ENOMEM. */
tri_status tri_memo_put(tri_memo *memo, uint64_t a, uint64_t b, int32_t node);

#endif

/*
 * Memory that is given back all at once: what the controller keeps until its
 * end, and what commands point at until the next feed.  Blocks, filled from
 * the front; what was handed out never moves.
 */
#ifndef TRI_SRC_CTL_KEEP_H
#define TRI_SRC_CTL_KEEP_H

#include "trireme/status.h"

typedef struct tri_keep_block tri_keep_block;

typedef struct tri_keep {
    tri_keep_block *last; /* zeroed: empty */
    int blocks;
} tri_keep;

/* `bytes` of zeroed memory, aligned for any type; NULL if there is none. */
void *tri_keep_bytes(tri_keep *keep, size_t bytes);
/* A copy of `bytes` bytes with a NUL behind them; NULL if there is none. */
char *tri_keep_copy(tri_keep *keep, const char *data, size_t bytes);
/* A copy of a text; "" for NULL and "".  NULL if there is no memory. */
const char *tri_keep_text(tri_keep *keep, const char *text);
/* Give back all but one block. */
void tri_keep_reset(tri_keep *keep);
void tri_keep_fini(tri_keep *keep);

#endif

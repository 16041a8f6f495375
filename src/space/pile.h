/*
 * Memory that lives as long as a space or a study: blocks in a list, given
 * back together.  Knows nothing of what is kept in it.
 */
#ifndef TRI_SPACE_PILE_H
#define TRI_SPACE_PILE_H

#include "trireme/status.h"

typedef struct tri_pile_block tri_pile_block;

typedef struct tri_pile {
    tri_pile_block *head;
    size_t used; /* bytes used of the head block */
} tri_pile;

/* `bytes` of zeroed memory, aligned to 16; NULL where there is none.  A
 * zeroed tri_pile is an empty one. */
void *tri_pile_alloc(tri_pile *pile, size_t bytes);
/* A copy of text[0..n), terminated. */
char *tri_pile_text(tri_pile *pile, const char *text, size_t n);
char *tri_pile_printf(tri_pile *pile, const char *fmt, ...) TRI_PRINTF(2, 3);
/* Give all of it back. */
void tri_pile_fini(tri_pile *pile);

/* A growing array of plain items: room for one more of `items[n]`, whose
 * capacity is *cap.  Returns NULL and leaves the array where there is no
 * memory; the array is malloc'd. */
void *tri_grow(void *items, size_t n, size_t *cap, size_t item_bytes);

#endif

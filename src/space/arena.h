/*
 * Memory that lives as long as a space or a study: blocks in a list, given
 * back together.  Knows nothing of what is kept in it.
 */
#ifndef TRI_SPACE_ARENA_H
#define TRI_SPACE_ARENA_H

#include "trireme/status.h"

typedef struct tri_arena_block tri_arena_block;

typedef struct tri_arena {
    tri_arena_block *head;
    size_t used; /* bytes used of the head block */
} tri_arena;

/* `bytes` of zeroed memory, aligned to 16; NULL where there is none.  A
 * zeroed tri_arena is an empty one. */
void *tri_arena_alloc(tri_arena *arena, size_t bytes);
/* A copy of text[0..n), terminated. */
char *tri_arena_text(tri_arena *arena, const char *text, size_t n);
char *tri_arena_printf(tri_arena *arena, const char *fmt, ...) TRI_PRINTF(2, 3);
/* Give all of it back. */
void tri_arena_fini(tri_arena *arena);

/* A growing array of plain items: room for one more of `items[n]`, whose
 * capacity is *cap.  Returns NULL and leaves the array where there is no
 * memory; the array is malloc'd. */
void *tri_grow(void *items, size_t n, size_t *cap, size_t item_bytes);

#endif

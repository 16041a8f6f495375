/*
 * Growing a tri_buffer, and the arena that unpacked structs point into.
 * Private to the wire.
 */
#ifndef TRI_WIRE_BUFFER_H
#define TRI_WIRE_BUFFER_H

#include "trireme/wire.h"

/* Make room for `more` bytes behind the present ones.  TRI_ENOMEM. */
tri_status tri_buffer_reserve(tri_buffer *b, size_t more);

/* Forget everything that was given out; the memory is kept for reuse. */
void tri_arena_reset(tri_arena *a);
/* `bytes` zeroed bytes, aligned to 8; valid until the next reset.  NULL where
 * there is no memory. */
void *tri_arena_take(tri_arena *a, size_t bytes);

#endif

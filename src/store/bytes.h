/*
 * Growing a tri_buffer, and little-endian numbers.
 */
#ifndef TRI_STORE_BYTES_H
#define TRI_STORE_BYTES_H

#include "trireme/wire.h"

/* Room for `more` bytes behind the present ones.  TRI_ENOMEM. */
tri_status tri_bytes_grow(tri_buffer *b, size_t more);
/* Append a copy. */
tri_status tri_bytes_add(tri_buffer *b, const void *data, size_t bytes);

static inline void tri_put_le(unsigned char *to, uint64_t v, int bytes)
{
    int i;

    for (i = 0; i < bytes; ++i) {
        to[i] = (unsigned char)(v >> (8 * i));
    }
}

static inline uint64_t tri_get_le(const unsigned char *from, int bytes)
{
    uint64_t v = 0;
    int i;

    for (i = 0; i < bytes; ++i) {
        v |= (uint64_t)from[i] << (8 * i);
    }
    return v;
}

#endif

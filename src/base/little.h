/*
 * Little-endian numbers of 1 to 8 bytes, as the wire and the journal have them.
 */
#ifndef TRI_BASE_LITTLE_H
#define TRI_BASE_LITTLE_H

#include <stdint.h>

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

/*
 * Growing a tri_buffer.
 */
#ifndef TRI_STORE_BYTES_H
#define TRI_STORE_BYTES_H

#include "trireme/wire.h"

/* Room for `more` bytes behind the present ones.  TRI_ENOMEM. */
tri_status tri_bytes_grow(tri_buffer *b, size_t more);
/* Append a copy. */
tri_status tri_bytes_add(tri_buffer *b, const void *data, size_t bytes);

#endif

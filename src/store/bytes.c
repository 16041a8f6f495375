/*
 * Byte buffers that grow by doubling.
 */
#include "src/store/bytes.h"

#include <stdlib.h>
#include <string.h>

tri_status tri_bytes_grow(tri_buffer *b, size_t more)
{
    size_t capacity = b->capacity ? b->capacity : 1024;
    unsigned char *data;

    if (more > SIZE_MAX / 4 - b->bytes) {
        return TRI_FAIL(TRI_ENOMEM, "a buffer of %zu more bytes", more);
    }
    while (capacity < b->bytes + more) {
        capacity *= 2;
    }
    if (b->data && capacity == b->capacity) {
        return TRI_OK;
    }
    data = realloc(b->data, capacity);
    if (!data) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for %zu bytes", capacity);
    }
    b->data = data;
    b->capacity = capacity;
    return TRI_OK;
}

tri_status tri_bytes_add(tri_buffer *b, const void *data, size_t bytes)
{
    TRI_TRY(tri_bytes_grow(b, bytes));
    if (bytes > 0) {
        memcpy(b->data + b->bytes, data, bytes);
    }
    b->bytes += bytes;
    return TRI_OK;
}

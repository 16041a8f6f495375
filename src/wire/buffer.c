/*
 * The growing byte buffer that packed messages are appended to.  Knows nothing
 * of what is in it.
 */
#include "src/wire/buffer.h"

#include <stdlib.h>
#include <string.h>

void tri_buffer_init(tri_buffer *b)
{
    memset(b, 0, sizeof *b);
}

void tri_buffer_fini(tri_buffer *b)
{
    free(b->data);
    memset(b, 0, sizeof *b);
}

void tri_buffer_clear(tri_buffer *b)
{
    b->bytes = 0;
}

tri_status tri_buffer_reserve(tri_buffer *b, size_t more)
{
    size_t capacity = b->capacity ? b->capacity : 256;
    unsigned char *data;

    if (more > SIZE_MAX / 4 - b->bytes) {
        return TRI_FAIL(TRI_ENOMEM, "a buffer of %zu more bytes", more);
    }
    while (capacity < b->bytes + more) {
        capacity *= 2;
    }
    if (capacity == b->capacity) {
        return TRI_OK;
    }
    data = realloc(b->data, capacity);
    if (!data) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a buffer of %zu bytes",
                        capacity);
    }
    b->data = data;
    b->capacity = capacity;
    return TRI_OK;
}

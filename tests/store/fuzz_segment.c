/*
 * Fuzz target of the journal's reader: any bytes as a segment of epoch 1.
 */
#include "src/store/segment.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void walk(const tri_segment *segment)
{
    size_t at = segment->first, n;
    tri_item item;

    while (at < segment->bytes &&
           (n = tri_item_unpack(segment->data + at, segment->bytes - at,
                                &item)) > 0) {
        if (n > segment->bytes - at || item.bytes > n) {
            abort();
        }
        at += n;
    }
}

static void try_segment(const void *data, size_t bytes)
{
    unsigned char *copy = malloc(bytes + 1);
    tri_segment segment;

    if (!copy) {
        return;
    }
    memcpy(copy, data, bytes);
    if (tri_segment_init(&segment, 1, copy, bytes) == TRI_OK) {
        walk(&segment);
        tri_segment_fini(&segment);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    tri_item item = {-1, data, bytes, 0};
    tri_buffer whole;

    try_segment(data, bytes);
    /* as the body of a first record whose checksum holds */
    tri_buffer_init(&whole);
    if (tri_item_pack(&item, &whole) == TRI_OK) {
        try_segment(whole.data, whole.bytes);
    }
    tri_buffer_fini(&whole);
    return 0;
}

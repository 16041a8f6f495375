/*
 * Fuzz target of the journal's reader: any bytes as a segment of epoch 1.
 */
#include "src/store/segment.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    unsigned char *copy = malloc(bytes + 1);
    tri_segment segment;
    tri_item item;
    size_t at, n;

    if (!copy) {
        return 0;
    }
    memcpy(copy, data, bytes);
    if (tri_segment_init(&segment, 1, copy, bytes) != TRI_OK) {
        return 0;
    }
    at = segment.first;
    while (at < segment.bytes &&
           (n = tri_item_unpack(segment.data + at, segment.bytes - at, &item)) >
                   0) {
        if (n > segment.bytes - at || item.bytes > n) {
            abort();
        }
        at += n;
    }
    tri_segment_fini(&segment);
    return 0;
}

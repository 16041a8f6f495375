/*
 * Blocks of memory that are given back all at once.
 */
#include "src/ctl/keep.h"

#include "src/base/grow.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES 65536
#define LARGE_BYTES (((size_t)4 << 20) - sizeof(tri_keep_block))
#define MANY        32 /* blocks, behind which they are large */
#define ALIGN       16

struct tri_keep_block {
    tri_keep_block *before;
    size_t used, room;
    _Alignas(ALIGN) unsigned char data[];
};

void *tri_keep_bytes(tri_keep *keep, size_t bytes)
{
    tri_keep_block *b = keep->last;
    void *out;

    bytes = (bytes + ALIGN - 1) / ALIGN * ALIGN;
    if (!b || b->room - b->used < bytes) {
        size_t room = keep->blocks < MANY ? BLOCK_BYTES : LARGE_BYTES;

        room = bytes > room ? bytes : room;
        b = tri_rows_grow(NULL, 0, sizeof *b + room);
        if (!b) {
            return NULL;
        }
        keep->blocks++;
        b->before = keep->last;
        b->used = 0;
        b->room = room;
        keep->last = b;
    }
    out = b->data + b->used;
    b->used += bytes;
    return memset(out, 0, bytes);
}

char *tri_keep_copy(tri_keep *keep, const char *data, size_t bytes)
{
    char *out = tri_keep_bytes(keep, bytes + 1);

    if (out && bytes) {
        memcpy(out, data, bytes);
    }
    return out;
}

const char *tri_keep_text(tri_keep *keep, const char *text)
{
    return text && *text ? tri_keep_copy(keep, text, strlen(text)) : "";
}

void tri_keep_reset(tri_keep *keep)
{
    while (keep->last && keep->last->before) {
        tri_keep_block *before = keep->last->before;

        free(keep->last);
        keep->last = before;
        keep->blocks--;
    }
    if (keep->last) {
        keep->last->used = 0;
    }
}

void tri_keep_fini(tri_keep *keep)
{
    tri_keep_reset(keep);
    free(keep->last);
    *keep = (tri_keep){NULL, 0};
}

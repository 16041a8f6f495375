/*
 * The arena that unpacked structs point into: a chain of chunks that becomes
 * one chunk of the whole size at the next reset, so that a steady stream of
 * messages stops allocating after the first few.
 */
#include "src/wire/buffer.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_CHUNK_BYTES 1024
#define ALIGN             8

typedef struct chunk {
    struct chunk *next; /* the older, full ones */
    size_t used, capacity;
    max_align_t data[];
} chunk;

struct tri_arena {
    chunk *head;
};

static chunk *new_chunk(size_t capacity, chunk *next)
{
    chunk *c;

    if (capacity > SIZE_MAX / 2) {
        return NULL;
    }
    c = malloc(sizeof *c + capacity);
    if (c) {
        c->next = next;
        c->used = 0;
        c->capacity = capacity;
    }
    return c;
}

static void free_chunks(chunk *c)
{
    while (c) {
        chunk *next = c->next;

        free(c);
        c = next;
    }
}

tri_status tri_arena_create(tri_arena **out)
{
    tri_arena *a = calloc(1, sizeof *a);

    if (!a) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for an arena");
    }
    *out = a;
    return TRI_OK;
}

void tri_arena_destroy(tri_arena *a)
{
    if (a) {
        free_chunks(a->head);
        free(a);
    }
}

void tri_arena_reset(tri_arena *a)
{
    size_t total = 0;
    chunk *c;

    if (a->head && a->head->next) {
        for (c = a->head; c; c = c->next) {
            total += c->capacity;
        }
        free_chunks(a->head);
        a->head = new_chunk(total, NULL);
    }
    if (a->head) {
        a->head->used = 0;
    }
}

void *tri_arena_take(tri_arena *a, size_t bytes)
{
    size_t need = (bytes + ALIGN - 1) / ALIGN * ALIGN;
    size_t grow;
    chunk *c;
    void *p;

    if (need < bytes) {
        return NULL;
    }
    if (!a->head || a->head->capacity - a->head->used < need) {
        grow = a->head ? 2 * a->head->capacity : FIRST_CHUNK_BYTES;
        c = new_chunk(need > grow ? need : grow, a->head);
        if (!c) {
            return NULL;
        }
        a->head = c;
    }
    p = (char *)a->head->data + a->head->used;
    a->head->used += need;
    return memset(p, 0, need);
}

/*
 * Blocks of at least 16 KiB; what is larger than a quarter of that gets a
 * block of its own behind the head.
 */
#include "src/space/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES 16384

struct tri_arena_block {
    tri_arena_block *next;
    size_t bytes;
    _Alignas(16) unsigned char data[];
};

static tri_arena_block *new_block(size_t bytes)
{
    tri_arena_block *b = calloc(1, sizeof *b + bytes);

    if (b) {
        b->bytes = bytes;
    }
    return b;
}

static void *alloc_apart(tri_arena *arena, size_t bytes)
{
    tri_arena_block *b = new_block(bytes);

    if (!b) {
        return NULL;
    }
    if (arena->head) {
        b->next = arena->head->next;
        arena->head->next = b;
    } else {
        arena->head = b;
        arena->used = bytes;
    }
    return b->data;
}

void *tri_arena_alloc(tri_arena *arena, size_t bytes)
{
    void *at;

    if (bytes > SIZE_MAX / 2) {
        return NULL;
    }
    bytes = (bytes + 15) / 16 * 16;
    if (bytes > BLOCK_BYTES / 4) {
        return alloc_apart(arena, bytes);
    }
    if (!arena->head || arena->used + bytes > arena->head->bytes) {
        tri_arena_block *b = new_block(BLOCK_BYTES);
        if (!b) {
            return NULL;
        }
        b->next = arena->head;
        arena->head = b;
        arena->used = 0;
    }
    at = arena->head->data + arena->used;
    arena->used += bytes;
    return at;
}

char *tri_arena_text(tri_arena *arena, const char *text, size_t n)
{
    char *copy = tri_arena_alloc(arena, n + 1);

    if (copy) {
        memcpy(copy, text, n);
    }
    return copy;
}

char *tri_arena_printf(tri_arena *arena, const char *fmt, ...)
{
    char buf[1024];
    va_list args;
    int n;

    va_start(args, fmt);
    n = vsnprintf(buf, sizeof buf, fmt, args);
    va_end(args);
    if (n < 0) {
        return NULL;
    }
    return tri_arena_text(arena, buf, strlen(buf));
}

void tri_arena_fini(tri_arena *arena)
{
    while (arena->head) {
        tri_arena_block *next = arena->head->next;
        free(arena->head);
        arena->head = next;
    }
    arena->used = 0;
}

void *tri_grow(void *items, size_t n, size_t *cap, size_t item_bytes)
{
    size_t want = *cap ? *cap * 2 : 16;
    void *grown;

    if (n < *cap) {
        return items;
    }
    if (want > SIZE_MAX / item_bytes) {
        return NULL;
    }
    grown = realloc(items, want * item_bytes);
    if (grown) {
        *cap = want;
    }
    return grown;
}

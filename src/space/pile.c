/*
 * Blocks of at least 16 KiB; what is larger than a quarter of that gets a
 * block of its own behind the head.
 */
#include "src/space/pile.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES 16384

struct tri_pile_block {
    tri_pile_block *next;
    size_t bytes;
    _Alignas(16) unsigned char data[];
};

static tri_pile_block *new_block(size_t bytes)
{
    tri_pile_block *b = calloc(1, sizeof *b + bytes);

    if (b) {
        b->bytes = bytes;
    }
    return b;
}

static void *alloc_apart(tri_pile *pile, size_t bytes)
{
    tri_pile_block *b = new_block(bytes);

    if (!b) {
        return NULL;
    }
    if (pile->head) {
        b->next = pile->head->next;
        pile->head->next = b;
    } else {
        pile->head = b;
        pile->used = bytes;
    }
    return b->data;
}

void *tri_pile_alloc(tri_pile *pile, size_t bytes)
{
    void *at;

    if (bytes > SIZE_MAX / 2) {
        return NULL;
    }
    bytes = (bytes + 15) / 16 * 16;
    if (bytes > BLOCK_BYTES / 4) {
        return alloc_apart(pile, bytes);
    }
    if (!pile->head || pile->used + bytes > pile->head->bytes) {
        tri_pile_block *b = new_block(BLOCK_BYTES);
        if (!b) {
            return NULL;
        }
        b->next = pile->head;
        pile->head = b;
        pile->used = 0;
    }
    at = pile->head->data + pile->used;
    pile->used += bytes;
    return at;
}

char *tri_pile_text(tri_pile *pile, const char *text, size_t n)
{
    char *copy = tri_pile_alloc(pile, n + 1);

    if (copy) {
        memcpy(copy, text, n);
    }
    return copy;
}

char *tri_pile_printf(tri_pile *pile, const char *fmt, ...)
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
    return tri_pile_text(pile, buf, strlen(buf));
}

void tri_pile_fini(tri_pile *pile)
{
    while (pile->head) {
        tri_pile_block *next = pile->head->next;
        free(pile->head);
        pile->head = next;
    }
    pile->used = 0;
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

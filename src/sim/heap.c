/*
 * The event heap: an array in which entry i is not later than its children
 * 2i + 1 and 2i + 2.
 */
#include "src/sim/heap.h"

#include <assert.h>
#include <stdlib.h>

void tri_heap_init(tri_heap *h)
{
    *h = (tri_heap){NULL, 0, 0, 0};
}

void tri_heap_fini(tri_heap *h)
{
    free(h->entries);
    tri_heap_init(h);
}

static int before(const tri_heap_entry *a, const tri_heap_entry *b)
{
    if (a->time_s < b->time_s || a->time_s > b->time_s) {
        return a->time_s < b->time_s;
    }
    return a->later != b->later ? a->later < b->later : a->order < b->order;
}

static tri_status grow(tri_heap *h)
{
    size_t capacity = h->capacity ? 2 * h->capacity : 64;
    tri_heap_entry *entries =
            realloc(h->entries, capacity * sizeof *h->entries);

    if (entries == NULL) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for %zu virtual events",
                        capacity);
    }
    h->entries = entries;
    h->capacity = capacity;
    return TRI_OK;
}

tri_status tri_heap_push(tri_heap *h, tri_heap_entry entry)
{
    size_t i = h->n;

    if (h->n == h->capacity) {
        TRI_TRY(grow(h));
    }
    entry.order = h->pushed++;
    h->n++;
    for (; i > 0 && before(&entry, &h->entries[(i - 1) / 2]); i = (i - 1) / 2) {
        h->entries[i] = h->entries[(i - 1) / 2];
    }
    h->entries[i] = entry;
    return TRI_OK;
}

const tri_heap_entry *tri_heap_top(const tri_heap *h)
{
    return h->n > 0 ? h->entries : NULL;
}

/* The earlier child of i among the first n, or n if there is none. */
static size_t earlier_child(const tri_heap *h, size_t i)
{
    size_t left = 2 * i + 1;

    if (left + 1 < h->n && before(&h->entries[left + 1], &h->entries[left])) {
        return left + 1;
    }
    return left < h->n ? left : h->n;
}

tri_heap_entry tri_heap_pop(tri_heap *h)
{
    tri_heap_entry first, last;
    size_t i = 0;
    size_t child;

    assert(h->n > 0);
    first = h->entries[0];
    last = h->entries[--h->n];
    child = earlier_child(h, i);
    while (child < h->n && before(&h->entries[child], &last)) {
        h->entries[i] = h->entries[child];
        i = child;
        child = earlier_child(h, i);
    }
    if (h->n > 0) {
        h->entries[i] = last;
    }
    return first;
}

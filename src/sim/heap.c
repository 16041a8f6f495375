/*
 * The event heap: an array in which entry i is not later than its children
 * 4i + 1 to 4i + 4, which lie side by side; and beside it a ring of entries
 * that came in order.
 */
#include "src/sim/heap.h"

#include <assert.h>
#include <stdlib.h>

#define CHILDREN 4

void tri_heap_init(tri_heap *h)
{
    *h = (tri_heap){0};
}

void tri_heap_fini(tri_heap *h)
{
    free(h->entries);
    free(h->line);
    tri_heap_init(h);
}

static int before(const tri_heap_entry *a, const tri_heap_entry *b)
{
    if (a->time_s < b->time_s || a->time_s > b->time_s) {
        return a->time_s < b->time_s;
    }
    return a->later != b->later ? a->later < b->later : a->order < b->order;
}

static tri_status no_memory(size_t capacity)
{
    return TRI_FAIL(TRI_ENOMEM, "no memory for %zu virtual events", capacity);
}

static tri_status grow(tri_heap *h)
{
    size_t capacity = h->capacity ? 2 * h->capacity : 64;
    tri_heap_entry *entries =
            realloc(h->entries, capacity * sizeof *h->entries);

    if (entries == NULL) {
        return no_memory(capacity);
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
    while (i > 0 && before(&entry, &h->entries[(i - 1) / CHILDREN])) {
        h->entries[i] = h->entries[(i - 1) / CHILDREN];
        i = (i - 1) / CHILDREN;
    }
    h->entries[i] = entry;
    return TRI_OK;
}

/* ---- in order ------------------------------------------------------------ */

static tri_heap_entry *in_line(const tri_heap *h, size_t i)
{
    return &h->line[(h->line_at + i) & (h->line_room - 1)];
}

static tri_status grow_line(tri_heap *h)
{
    size_t room = h->line_room ? 2 * h->line_room : 64;
    tri_heap_entry *line = malloc(room * sizeof *line);

    if (line == NULL) {
        return no_memory(room);
    }
    for (size_t i = 0; i < h->n_line; i++) {
        line[i] = *in_line(h, i);
    }
    free(h->line);
    h->line = line;
    h->line_at = 0;
    h->line_room = room;
    return TRI_OK;
}

tri_status tri_heap_append(tri_heap *h, tri_heap_entry entry)
{
    entry.order = h->pushed;
    if (h->n_line > 0 && before(&entry, in_line(h, h->n_line - 1))) {
        return tri_heap_push(h, entry);
    }
    if (h->n_line == h->line_room) {
        TRI_TRY(grow_line(h));
    }
    h->pushed++;
    *in_line(h, h->n_line++) = entry;
    return TRI_OK;
}

/* ---- the earliest -------------------------------------------------------- */

/* Whether it is the first in line. */
static int is_in_line(const tri_heap *h)
{
    return h->n_line > 0 && (h->n == 0 || before(in_line(h, 0), h->entries));
}

const tri_heap_entry *tri_heap_top(const tri_heap *h)
{
    if (is_in_line(h)) {
        return in_line(h, 0);
    }
    return h->n > 0 ? h->entries : NULL;
}

/* The earliest child of i among the first n, or n if there is none. */
static size_t earliest_child(const tri_heap *h, size_t i)
{
    size_t first = CHILDREN * i + 1;
    size_t best = first;

    if (first >= h->n) {
        return h->n;
    }
    for (size_t c = first + 1; c < first + CHILDREN && c < h->n; c++) {
        best = before(&h->entries[c], &h->entries[best]) ? c : best;
    }
    return best;
}

tri_heap_entry tri_heap_pop(tri_heap *h)
{
    tri_heap_entry first, last;
    size_t i = 0;
    size_t child;

    if (is_in_line(h)) {
        first = *in_line(h, 0);
        h->line_at = (h->line_at + 1) & (h->line_room - 1);
        h->n_line--;
        return first;
    }
    assert(h->n > 0);
    first = h->entries[0];
    last = h->entries[--h->n];
    child = earliest_child(h, i);
    while (child < h->n && before(&h->entries[child], &last)) {
        h->entries[i] = h->entries[child];
        i = child;
        child = earliest_child(h, i);
    }
    if (h->n > 0) {
        h->entries[i] = last;
    }
    return first;
}

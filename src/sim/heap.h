/*
 * A heap of things that happen in virtual time: earliest first; where times are
 * equal, answers first, then in the order of their entry.  What is due after an
 * equal delay comes in order already, and stands in line beside the heap: that
 * is most of what happens, and costs no walk through it.  Knows nothing of what
 * the entries mean.
 */
#ifndef TRI_SIM_HEAP_H
#define TRI_SIM_HEAP_H

#include "trireme/status.h"

#include <stdint.h>

typedef struct tri_heap_entry {
    double time_s;
    uint64_t order; /* of entry; filled here */
    int slot;
    uint32_t stamp; /* of the slot: entries of an earlier use are stale */
    int16_t kind;
    int16_t later; /* 0: an answer, before all else of its time */
    int32_t about; /* low bits of a run's number: a hint for the reader */
} tri_heap_entry;

typedef struct tri_heap {
    tri_heap_entry *entries;
    size_t n, capacity;
    tri_heap_entry *line; /* a ring, in order */
    size_t line_at, n_line, line_room;
    uint64_t pushed;
} tri_heap;

void tri_heap_init(tri_heap *h);
void tri_heap_fini(tri_heap *h);
/* TRI_ENOMEM. */
tri_status tri_heap_push(tri_heap *h, tri_heap_entry entry);
/* The same of what is probably due no earlier than what was appended before;
 * where it is, it makes no other difference.  TRI_ENOMEM. */
tri_status tri_heap_append(tri_heap *h, tri_heap_entry entry);
/* The earliest; NULL if empty.  Borrowed until the next push or pop. */
const tri_heap_entry *tri_heap_top(const tri_heap *h);
/* Remove the earliest of a heap that is not empty. */
tri_heap_entry tri_heap_pop(tri_heap *h);

#endif

/*
 * A binary heap of things that happen in virtual time: earliest first; where
 * times are equal, answers first, then in the order of their entry.  Knows
 * nothing of what they mean.
 */
#ifndef TRI_SIM_HEAP_H
#define TRI_SIM_HEAP_H

#include "trireme/status.h"

#include <stdint.h>

typedef struct tri_heap_entry {
    double time_s;
    uint64_t order; /* of entry; filled by tri_heap_push */
    int slot;
    uint32_t stamp; /* of the slot: entries of an earlier use are stale */
    int16_t kind;
    int16_t later; /* 0: an answer, before all else of its time */
    int32_t about; /* low bits of a run's number: a hint for the reader */
} tri_heap_entry;

typedef struct tri_heap {
    tri_heap_entry *entries;
    size_t n, capacity;
    uint64_t pushed;
} tri_heap;

void tri_heap_init(tri_heap *h);
void tri_heap_fini(tri_heap *h);
/* TRI_ENOMEM. */
tri_status tri_heap_push(tri_heap *h, tri_heap_entry entry);
/* The earliest; NULL if empty.  Borrowed until the next push or pop. */
const tri_heap_entry *tri_heap_top(const tri_heap *h);
/* Remove the earliest of a heap that is not empty. */
tri_heap_entry tri_heap_pop(tri_heap *h);

#endif

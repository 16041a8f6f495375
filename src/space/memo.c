/*
 * Open addressing with a short probe: a full neighbourhood loses its first
 * entry.
 */
#include "src/space/memo.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_SLOTS 1024
#define MOST_SLOTS  (1u << 22)
#define PROBES      8

struct tri_memo_entry {
    uint64_t a, b; /* 0, 0: empty */
    int32_t node;
};

void tri_memo_fini(tri_memo *memo)
{
    free(memo->entries);
    memset(memo, 0, sizeof *memo);
}

static int is_empty(const tri_memo_entry *e)
{
    return e->a == 0 && e->b == 0;
}

/* The entry of a hash, else the one that it would take. */
static tri_memo_entry *find(const tri_memo *memo, uint64_t a, uint64_t b)
{
    size_t mask = memo->n - 1, at = a & mask, tries;

    for (tries = 0; tries < PROBES; tries++, at = (at + 1) & mask) {
        tri_memo_entry *e = &memo->entries[at];
        if ((e->a == a && e->b == b) || is_empty(e)) {
            return e;
        }
    }
    return &memo->entries[a & mask]; /* to be overwritten */
}

static tri_status grow(tri_memo *memo)
{
    size_t n = memo->n ? memo->n * 4 : FIRST_SLOTS, i;
    tri_memo old = *memo;

    if (memo->n > 0 && (memo->used * 2 < memo->n || memo->n >= MOST_SLOTS)) {
        return TRI_OK;
    }
    memo->entries = calloc(n, sizeof *memo->entries);
    if (!memo->entries) {
        *memo = old;
        return TRI_FAIL(TRI_ENOMEM, "no memory for solving the space");
    }
    memo->n = n;
    for (i = 0; i < old.n; i++) {
        if (!is_empty(&old.entries[i])) {
            *find(memo, old.entries[i].a, old.entries[i].b) = old.entries[i];
        }
    }
    free(old.entries);
    return TRI_OK;
}

int tri_memo_get(const tri_memo *memo, uint64_t a, uint64_t b, int32_t *node)
{
    const tri_memo_entry *e;

    a |= a == 0;
    if (memo->n == 0) {
        return 0;
    }
    e = find(memo, a, b);
    if (e->a != a || e->b != b) {
        return 0;
    }
    *node = e->node;
    return 1;
}

tri_status tri_memo_put(tri_memo *memo, uint64_t a, uint64_t b, int32_t node)
{
    tri_memo_entry *e;

    a |= a == 0;
    TRI_TRY(grow(memo));
    e = find(memo, a, b);
    memo->used += is_empty(e);
    e->a = a;
    e->b = b;
    e->node = node;
    return TRI_OK;
}

/*
 * Growing arrays.
 */
#include "src/base/grow.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define HUGE_PAGE ((size_t)2 << 20)
#define HUGE_FROM (HUGE_PAGE / 2)
/* Beyond it the allocator moves pages instead of copying, and clearing a huge
 * page drives out of the caches what is worth more than the faults. */
#define HUGE_MOST (16 * HUGE_PAGE)

void *tri_rows_grow(void *old, size_t old_bytes, size_t bytes)
{
    size_t whole;
    void *grown;

    if (bytes < HUGE_FROM || bytes > HUGE_MOST) {
        return realloc(old, bytes);
    }
    whole = (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    grown = aligned_alloc(HUGE_PAGE, whole);
    if (!grown) {
        return NULL;
    }
    /* a wish: where huge pages are off, small ones do */
    (void)madvise(grown, whole, MADV_HUGEPAGE);
    if (old_bytes) {
        memcpy(grown, old, old_bytes);
    }
    free(old);
    return grown;
}

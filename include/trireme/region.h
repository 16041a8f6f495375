/*
 * Memory regions under a quota: the lifetime of a run (dropped whole) and of
 * a step (savepoint and rewind).  A region is one reserved address range that
 * is committed as it grows, so pointers stay valid until rewound or dropped.
 *
 * Over quota is an error of scope trial (TRI_EOOM), never a crash.  The high
 * water is exact: the largest number of bytes ever in use, alignment
 * included, and is what a dry region (no memory behind it) predicts.
 *
 * One thread a region.
 */
#ifndef TRIREME_REGION_H
#define TRIREME_REGION_H

#include "trireme/status.h"

#include <stdint.h>

#define TRI_REGION_ALIGN 64
#define TRI_REGION_KINDS 16 /* names that are told apart */

typedef struct tri_region tri_region;

/* Part of a high water. */
typedef struct tri_region_kind {
    char what[24]; /* as it was named, cut; "other" beyond TRI_REGION_KINDS */
    uint64_t bytes;
} tri_region_kind;

/*
 * Create a region of at most `quota` bytes.  With `dry` set no memory is
 * reserved: allocation counts, and returns NULL pointers with TRI_OK.
 * [out] `out`: returned owned; free with tri_region_destroy.
 * TRI_ENOMEM where the address range cannot be had.
 */
TRI_API tri_status tri_region_create(uint64_t quota, int dry, tri_region **out);
/* Give everything back.  NULL is allowed. */
TRI_API void tri_region_destroy(tri_region *region);
/*
 * `bytes` of zeroed memory, aligned to TRI_REGION_ALIGN; `what` names it in
 * the error.  [out] `out`: borrowed until rewind or destroy.  TRI_EOOM over
 * quota.
 */
TRI_API tri_status tri_region_alloc(tri_region *region, uint64_t bytes,
                                    const char *what, void **out);
/* Bytes in use now: a savepoint. */
TRI_API uint64_t tri_region_used(const tri_region *region);
/* Give back all that was allocated since the savepoint `used`.  The memory
 * stays committed; a debug build poisons it. */
TRI_API void tri_region_rewind(tri_region *region, uint64_t used);
/* The largest tri_region_used so far. */
TRI_API uint64_t tri_region_high_water(const tri_region *region);
/*
 * The high water by kind: a byte of it is of what it was first handed out as,
 * alignment included, so that the kinds' sum is always the high water, and of
 * a region that was never rewound each kind is exactly what was asked for.
 * [out] `kinds`[TRI_REGION_KINDS], in the order of first use; returns how many.
 */
TRI_API int tri_region_kinds(const tri_region *region, tri_region_kind *kinds);
/* Whether this is a dry region. */
TRI_API int tri_region_is_dry(const tri_region *region);
/* The quota in bytes. */
TRI_API uint64_t tri_region_quota(const tri_region *region);

#endif

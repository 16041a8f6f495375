/*
 * A region is one reserved range of addresses, made accessible as it grows.
 * Large regions start on a 2 MiB boundary and ask for huge pages: a fresh
 * small page can cost more than ten microseconds.  Knows nothing of what is
 * kept in it.
 */
#include "trireme/region.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(at, bytes)   ((void)(at), (void)(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(at, bytes) ((void)(at), (void)(bytes))
#endif

/* Growth goes in these steps, which are the size of a huge page. */
#define CHUNK ((uint64_t)2 << 20)

struct tri_region {
    uint64_t quota;
    uint64_t used;
    uint64_t high_water;
    uint64_t dirty;     /* bytes from the start that may be non-zero */
    uint64_t committed; /* accessible bytes from the start */
    uint64_t reserved;  /* bytes of the range; 0 in a dry region */
    char *base;
    int dry;
    int n_kinds;
    tri_region_kind kinds[TRI_REGION_KINDS]; /* of the high water */
};

static uint64_t round_up(uint64_t bytes, uint64_t to)
{
    return (bytes + to - 1) / to * to;
}

/* Reserve addresses, on a boundary of CHUNK. */
static tri_status reserve(tri_region *region)
{
    uint64_t bytes = round_up(region->quota ? region->quota : 1, CHUNK);
    char *raw;
    char *base;

    raw = mmap(NULL, bytes + CHUNK, PROT_NONE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (raw == MAP_FAILED) {
        return TRI_FAIL(TRI_ENOMEM, "no address range of %llu bytes",
                        (unsigned long long)region->quota);
    }
    base = raw + (round_up((uintptr_t)raw, CHUNK) - (uintptr_t)raw);
    if (base > raw) {
        munmap(raw, (size_t)(base - raw));
    }
    munmap(base + bytes, CHUNK - (size_t)(base - raw));
    region->base = base;
    region->reserved = bytes;
    /* a wish: where huge pages are off, small ones do */
    (void)madvise(base, bytes, MADV_HUGEPAGE);
    return TRI_OK;
}

tri_status tri_region_create(uint64_t quota, int dry, tri_region **out)
{
    tri_region *region = NULL;
    tri_status st = TRI_OK;

    if (quota > UINT64_MAX / 4) {
        return TRI_FAIL(TRI_ENOMEM, "no address range of %llu bytes",
                        (unsigned long long)quota);
    }
    region = calloc(1, sizeof *region);
    if (!region) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a region");
    }
    region->quota = quota;
    region->dry = dry != 0;
    if (!dry) {
        TRI_TRY_GOTO(st, reserve(region), free_region);
    }
    *out = region;
    return TRI_OK;

free_region:
    free(region);
    return st;
}

void tri_region_destroy(tri_region *region)
{
    if (!region) {
        return;
    }
    if (region->reserved > 0) {
        ASAN_UNPOISON_MEMORY_REGION(region->base, region->committed);
        munmap(region->base, region->reserved);
    }
    free(region);
}

/* Make the first `bytes` accessible. */
static tri_status commit(tri_region *region, uint64_t bytes, const char *what)
{
    uint64_t more;

    if (bytes <= region->committed) {
        return TRI_OK;
    }
    more = round_up(bytes - region->committed, CHUNK);
    if (mprotect(region->base + region->committed, more,
                 PROT_READ | PROT_WRITE) != 0) {
        return TRI_FAIL(TRI_EOOM,
                        "the system gave no memory for %s: %llu bytes beyond "
                        "%llu",
                        what, (unsigned long long)more,
                        (unsigned long long)region->committed);
    }
    region->committed += more;
    return TRI_OK;
}

/* The bytes [from, to) are handed out: zero what has been used before. */
static void *hand_out(tri_region *region, uint64_t from, uint64_t to)
{
    char *at = region->base + from;

    ASAN_UNPOISON_MEMORY_REGION(at, to - from);
    if (region->dirty > from) {
        uint64_t end = region->dirty < to ? region->dirty : to;

        memset(at, 0, end - from);
    }
    if (to > region->dirty) {
        region->dirty = to;
    }
    return at;
}

static tri_region_kind *kind_of(tri_region *region, const char *what)
{
    tri_region_kind *k = region->kinds;
    const size_t most = sizeof k->what - 1;
    int i;

    for (i = 0; i < region->n_kinds; i++, k++) {
        if (strncmp(k->what, what, most) == 0) {
            return k;
        }
    }
    if (i == TRI_REGION_KINDS) {
        k--;
        what = "other";
    } else {
        region->n_kinds++;
    }
    snprintf(k->what, sizeof k->what, "%s", what);
    return k;
}

static void rise(tri_region *region, uint64_t to, const char *what)
{
    if (to > region->high_water) {
        kind_of(region, what)->bytes += to - region->high_water;
        region->high_water = to;
    }
}

tri_status tri_region_alloc(tri_region *region, uint64_t bytes,
                            const char *what, void **out)
{
    uint64_t from = region->used;
    uint64_t room = region->quota - from;
    uint64_t to;

    if (bytes > room || round_up(bytes, TRI_REGION_ALIGN) > room) {
        return TRI_FAIL(TRI_EOOM,
                        "over the memory quota: %s needs %llu bytes, %llu of "
                        "%llu are left",
                        what, (unsigned long long)bytes,
                        (unsigned long long)room,
                        (unsigned long long)region->quota);
    }
    to = from + round_up(bytes, TRI_REGION_ALIGN);
    if (!region->dry) {
        TRI_TRY(commit(region, to, what));
    }
    region->used = to;
    rise(region, to, what);
    *out = region->dry ? NULL : hand_out(region, from, to);
    return TRI_OK;
}

uint64_t tri_region_used(const tri_region *region)
{
    return region->used;
}

void tri_region_rewind(tri_region *region, uint64_t used)
{
    assert(used <= region->used);
    if (!region->dry) {
        char *at = region->base + used;
        uint64_t bytes = region->used - used;

#ifdef TRI_POISON
        memset(at, 'P', bytes);
#endif
        ASAN_POISON_MEMORY_REGION(at, bytes);
    }
    region->used = used;
}

uint64_t tri_region_high_water(const tri_region *region)
{
    return region->high_water;
}

int tri_region_kinds(const tri_region *region, tri_region_kind *kinds)
{
    memcpy(kinds, region->kinds, (size_t)region->n_kinds * sizeof *kinds);
    return region->n_kinds;
}

int tri_region_is_dry(const tri_region *region)
{
    return region->dry;
}

uint64_t tri_region_quota(const tri_region *region)
{
    return region->quota;
}

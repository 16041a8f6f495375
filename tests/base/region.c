/*
 * Quota, savepoints, zeroed memory, and that a dry region predicts a real
 * one's high water to the byte.
 */
#include "trireme/region.h"

#include "tests/tri_cmocka.h"
#include "trireme/rng.h"

#include <stdio.h>
#include <string.h>

#define SEED 31u
#define MIB  ((uint64_t)1 << 20)

static tri_region *make(uint64_t quota, int dry)
{
    tri_region *region = NULL;

    assert_int_equal(tri_region_create(quota, dry, &region), TRI_OK);
    assert_non_null(region);
    return region;
}

static char *get(tri_region *region, uint64_t bytes)
{
    void *at = NULL;

    assert_int_equal(tri_region_alloc(region, bytes, "test", &at), TRI_OK);
    return at;
}

static void memory_is_aligned_and_apart(void **state)
{
    tri_region *region = make(10 * MIB, 0);
    char *a = get(region, 1);
    char *b = get(region, 65);
    char *c = get(region, 5 * MIB);

    (void)state;
    assert_int_equal((uintptr_t)a % TRI_REGION_ALIGN, 0);
    assert_int_equal((uintptr_t)a % (2 * MIB), 0);
    assert_int_equal(b - a, 64);
    assert_int_equal(c - b, 128);
    assert_int_equal(tri_region_used(region), 192 + 5 * MIB);
    memset(c, 1, 5 * MIB);
    assert_int_equal(*b, 0);
    tri_region_destroy(region);
    tri_region_destroy(NULL);
}

static int all_zero(const char *at, uint64_t bytes)
{
    for (uint64_t i = 0; i < bytes; i++) {
        if (at[i]) {
            return 0;
        }
    }
    return 1;
}

static void memory_is_zeroed_again(void **state)
{
    tri_region *region = make(8 * MIB, 0);
    char *keep = get(region, 100);
    uint64_t save = tri_region_used(region);

    (void)state;
    memset(keep, 7, 100);
    for (int step = 0; step < 4; step++) {
        uint64_t bytes = (uint64_t)(step + 1) * 700000;
        char *at = get(region, bytes);

        assert_true(all_zero(at, bytes));
        memset(at, 0xEE, bytes);
        tri_region_rewind(region, save);
        assert_int_equal(tri_region_used(region), save);
        assert_ptr_equal(get(region, 1), at); /* the address stays */
        tri_region_rewind(region, save);
    }
    assert_int_equal(keep[99], 7);
    assert_int_equal(tri_region_high_water(region), save + 2800000);
    tri_region_destroy(region);
}

static void over_quota_is_typed(void **state)
{
    tri_region *region = make(1000, 0);
    void *at = &region;

    (void)state;
    get(region, 512);
    assert_int_equal(tri_region_alloc(region, 513, "gradients", &at), TRI_EOOM);
    assert_ptr_equal(at, &region); /* outputs on success only */
    assert_int_equal(tri_status_scope(TRI_EOOM), TRI_SCOPE_TRIAL);
    assert_non_null(strstr(tri_error_last()->sentence, "gradients"));
    assert_int_equal(tri_region_used(region), 512);
    /* 488 are left, but the next multiple of the alignment is 512 */
    assert_int_equal(tri_region_alloc(region, 480, "x", &at), TRI_EOOM);
    get(region, 448);
    assert_int_equal(tri_region_alloc(region, UINT64_MAX, "x", &at), TRI_EOOM);
    assert_int_equal(tri_region_alloc(region, UINT64_MAX - 62, "x", &at),
                     TRI_EOOM);
    assert_int_equal(tri_region_quota(region), 1000);
    tri_region_destroy(region);
}

static void nothing_fits_an_empty_quota(void **state)
{
    tri_region *region = make(0, 0);
    void *at = NULL;

    (void)state;
    assert_int_equal(tri_region_alloc(region, 1, "x", &at), TRI_EOOM);
    assert_int_equal(tri_region_alloc(region, 0, "x", &at), TRI_OK);
    assert_int_equal(tri_region_high_water(region), 0);
    tri_region_destroy(region);
}

/* The kinds are all of the high water, whatever was rewound, and however many
 * names there are. */
static void kinds_sum_to_the_high_water(void **state)
{
    tri_region *region = make(MIB, 1);
    tri_region_kind kinds[TRI_REGION_KINDS];
    uint64_t sum = 0;
    void *at = NULL;
    int i, n;

    (void)state;
    assert_int_equal(tri_region_kinds(region, kinds), 0);
    assert_int_equal(tri_region_alloc(region, 100, "a", &at), TRI_OK);
    assert_int_equal(tri_region_alloc(region, 64, "b", &at), TRI_OK);
    assert_int_equal(tri_region_alloc(region, 1, "a", &at), TRI_OK);
    tri_region_rewind(region, 128);
    assert_int_equal(tri_region_alloc(region, 192, "c", &at), TRI_OK);
    assert_int_equal(tri_region_kinds(region, kinds), 3);
    assert_string_equal(kinds[0].what, "a");
    assert_int_equal(kinds[0].bytes, 192);
    assert_int_equal(kinds[1].bytes, 64);
    assert_int_equal(kinds[2].bytes, 64);
    for (i = 0; i < 2 * TRI_REGION_KINDS; i++) {
        char name[64];

        snprintf(name, sizeof name, "kind %d", i);
        assert_int_equal(tri_region_alloc(region, 64, name, &at), TRI_OK);
    }
    n = tri_region_kinds(region, kinds);
    assert_int_equal(n, TRI_REGION_KINDS);
    assert_string_equal(kinds[n - 1].what, "other");
    for (i = 0; i < n; i++) {
        sum += kinds[i].bytes;
    }
    assert_true(sum == tri_region_high_water(region));
    tri_region_destroy(region);
}

/* A range costs addresses, not memory. */
static void large_quotas_cost_nothing(void **state)
{
    tri_region *region = make((uint64_t)1 << 42, 0);

    (void)state;
    assert_true(all_zero(get(region, 3 * MIB), 3 * MIB));
    tri_region_destroy(region);
    region = NULL;
    assert_int_equal(tri_region_create((uint64_t)1 << 60, 0, &region),
                     TRI_ENOMEM);
    assert_int_equal(tri_region_create(UINT64_MAX, 0, &region), TRI_ENOMEM);
    assert_null(region);
}

/* One random history of allocations and rewinds; returns the high water. */
static uint64_t history(tri_region *region)
{
    tri_rng rng = tri_rng_stream(SEED, 1, TRI_RNG_TEST);
    uint64_t saves[8] = {0};
    int depth = 0;

    for (int i = 0; i < 2000; i++) {
        uint64_t what = tri_rng_below(&rng, 8);
        void *at = NULL;

        if (what == 0 && depth < 7) {
            saves[++depth] = tri_region_used(region);
        } else if (what == 1 && depth > 0) {
            tri_region_rewind(region, saves[depth--]);
        } else {
            uint64_t bytes = tri_rng_below(&rng, 50000);

            if (tri_region_alloc(region, bytes, "x", &at) == TRI_OK && at) {
                memset(at, 0x55, bytes);
            }
        }
    }
    return tri_region_high_water(region);
}

static void dry_predicts_wet(void **state)
{
    tri_region *dry = make(6 * MIB, 1);
    tri_region *wet = make(6 * MIB, 0);
    uint64_t high = history(wet);

    (void)state;
    assert_true(tri_region_is_dry(dry));
    assert_false(tri_region_is_dry(wet));
    assert_int_equal(history(dry), high);
    assert_int_equal(tri_region_used(dry), tri_region_used(wet));
    assert_true(high > 5 * MIB);
    assert_null(get(dry, 0));
    tri_region_destroy(dry);
    tri_region_destroy(wet);
}

#ifdef TRI_POISON
/* Only where there is no sanitizer, which would refuse the look. */
static void rewound_memory_is_poisoned(void **state)
{
#if !defined(__SANITIZE_ADDRESS__)
    tri_region *region = make(MIB, 0);
    char *at = get(region, 1000);

    tri_region_rewind(region, 0);
    assert_int_equal(at[0], 'P');
    assert_int_equal(at[999], 'P');
    tri_region_destroy(region);
#endif
    (void)state;
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(memory_is_aligned_and_apart),
            cmocka_unit_test(memory_is_zeroed_again),
            cmocka_unit_test(over_quota_is_typed),
            cmocka_unit_test(nothing_fits_an_empty_quota),
            cmocka_unit_test(kinds_sum_to_the_high_water),
            cmocka_unit_test(large_quotas_cost_nothing),
            cmocka_unit_test(dry_predicts_wet),
#ifdef TRI_POISON
            cmocka_unit_test(rewound_memory_is_poisoned),
#endif
    };

    print_message("seed %u\n", SEED);
    return cmocka_run_group_tests(tests, NULL, NULL);
}

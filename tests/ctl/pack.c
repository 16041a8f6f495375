/*
 * Placement: one host if it can be, aligned blocks, the fullest host that has
 * room, the same groups again, never a slot twice.
 */
#include "src/ctl/pack.h"

#include "trireme/rng.h"

#include "tests/tri_cmocka.h"

static void make(tri_pack *p, int hosts, int per_host)
{
    tri_pack_slot slots[256] = {{0}};

    for (int i = 0; i < hosts * per_host; i++) {
        slots[i].host = i / per_host;
    }
    *p = (tri_pack){0};
    assert_int_equal(tri_pack_init(p, slots, hosts * per_host, TRI_PART_COUNT),
                     TRI_OK);
    assert_int_equal(p->n_levels, 1);
    for (int i = hosts * per_host - 1; i >= 0; i--) {
        tri_pack_set(p, i, 1, 0);
    }
}

static void give_back(tri_pack *p, const int *slots, int n)
{
    for (int i = 0; i < n; i++) {
        tri_pack_set(p, slots[i], 1, 0);
    }
}

static void aligned_on_one_host(void **state)
{
    tri_pack p;
    int a[8], b[8];

    (void)state;
    make(&p, 2, 8);
    assert_true(tri_pack_take(&p, 1, NULL, 0, a));
    assert_int_equal(a[0], 0);
    assert_true(
            tri_pack_take(&p, 4, NULL, 0, b)); /* the fuller host, next block */
    assert_int_equal(b[0], 4);
    assert_int_equal(b[3], 7);
    assert_true(tri_pack_take(&p, 2, NULL, 0, a));
    assert_int_equal(a[0], 2);
    assert_int_equal(a[1], 3);
    assert_true(tri_pack_take(&p, 8, NULL, 0, a)); /* the empty host whole */
    assert_int_equal(a[0], 8);
    assert_int_equal(p.n_free, 1);
    assert_false(tri_pack_take(&p, 2, NULL, 0, a));
    assert_int_equal(p.n_free, 1);
    tri_pack_fini(&p);
}

static void spans_as_few_hosts_as_it_can(void **state)
{
    tri_pack p;
    int a[16];

    (void)state;
    make(&p, 3, 4);
    tri_pack_set(&p, 0, 0, 0);
    tri_pack_set(&p, 1, 0, 0);
    assert_true(tri_pack_take(&p, 6, NULL, 0,
                              a)); /* a whole host and the half one */
    for (int i = 0; i < 6; i++) {
        assert_int_equal(a[i], i + 2);
    }
    assert_int_equal(p.n_free, 4);
    tri_pack_fini(&p);
}

static void the_same_groups_come_again(void **state)
{
    tri_pack p;
    int first[4], again[4];

    (void)state;
    make(&p, 4, 4);
    for (int i = 0; i < 10; i++) {
        assert_true(tri_pack_take(&p, 4, NULL, 0, i ? again : first));
        give_back(&p, i ? again : first, 4);
        if (i) {
            assert_memory_equal(first, again, sizeof first);
        }
    }
    tri_pack_fini(&p);
}

static void never_twice(void **state)
{
    tri_rng rng = tri_rng_stream(3, 0, TRI_RNG_TEST);
    tri_pack p;
    int slots[64][8], n[64] = {0};
    int used[64] = {0}, busy = 0;

    (void)state;
    make(&p, 7, 8);
    for (int i = 0; i < 20000; i++) {
        int g = (int)tri_rng_below(&rng, 64);

        if (n[g]) {
            for (int k = 0; k < n[g]; k++) {
                used[slots[g][k]]--;
            }
            give_back(&p, slots[g], n[g]);
            busy -= n[g];
            n[g] = 0;
            continue;
        }
        n[g] = 1 + (int)tri_rng_below(&rng, 8);
        if (!tri_pack_take(&p, n[g], NULL, 0, slots[g])) {
            assert_true(busy + n[g] > 56);
            n[g] = 0;
            continue;
        }
        busy += n[g];
        for (int k = 0; k < n[g]; k++) {
            assert_int_equal(used[slots[g][k]]++, 0);
            assert_true(!k || slots[g][k] > slots[g][k - 1]);
        }
        assert_int_equal(p.n_free, 56 - busy);
    }
    tri_pack_fini(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(aligned_on_one_host),
            cmocka_unit_test(spans_as_few_hosts_as_it_can),
            cmocka_unit_test(the_same_groups_come_again),
            cmocka_unit_test(never_twice)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

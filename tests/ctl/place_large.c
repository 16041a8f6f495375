/*
 * Groups of several hosts on machines where looking at all choices would take
 * more than TRI_PLACE_WORK steps: in random states a group still touches as few
 * hosts as can be, has all but one of them whole, the emptiest, and the last
 * one is the fullest that has room; no slot is lost or given twice.
 */
#include "src/ctl/pack.h"

#include "trireme/rng.h"

#include "tests/tri_cmocka.h"

#include <stdlib.h>
#include <string.h>

#define SEED   20261201u
#define STATES 200
#define HOSTS  96
#define MOST   64 /* slots of a host */
#define SLOTS  (HOSTS * MOST)

typedef struct cluster {
    tri_pack_slot slots[SLOTS];
    int n, n_free;
    uint8_t is_free[SLOTS];
    int free_of[HOSTS]; /* what is free on each */
} cluster;

static int below(tri_rng *rng, int n)
{
    return (int)tri_rng_below(rng, (uint64_t)n);
}

/* Hosts of unequal size; `parts`: with two packages of four caches each. */
static void draw_cluster(tri_rng *rng, int parts, cluster *c)
{
    memset(c, 0, sizeof *c);
    for (int h = 0; h < HOSTS; h++) {
        int n = MOST / 2 + 8 * below(rng, MOST / 16 + 1);

        for (int i = 0; i < n; i++) {
            tri_place at = {1 + i / (n / 2), 1 + i / (n / 2), 1 + i / (n / 8),
                            1 + i};

            c->slots[c->n++] =
                    (tri_pack_slot){h, parts ? at : (tri_place){0, 0, 0, 0}};
        }
    }
}

/* Some of it is busy, of some hosts more than of others. */
static void draw_state(tri_rng *rng, cluster *c, tri_pack *p)
{
    int busy = 0; /* of 8 */

    c->n_free = 0;
    memset(c->free_of, 0, sizeof c->free_of);
    for (int i = 0; i < c->n; i++) {
        int h = c->slots[i].host;

        if (i == 0 || c->slots[i - 1].host != h) {
            busy = below(rng, 9);
        }
        c->is_free[i] = below(rng, 8) >= busy;
        c->free_of[h] += c->is_free[i];
        c->n_free += c->is_free[i];
        tri_pack_set(p, i, 1, !c->is_free[i]);
    }
    assert_int_equal(p->n_free, c->n_free);
}

static int most_first(const void *a, const void *b)
{
    return *(const int *)b - *(const int *)a;
}

/* How few hosts have n free; *last: how many the last of them is to give,
 * where the others, the emptiest, are whole. */
static int fewest_hosts(const cluster *c, int n, int *last)
{
    int sorted[HOSTS], k = 0;

    memcpy(sorted, c->free_of, sizeof sorted);
    qsort(sorted, HOSTS, sizeof *sorted, most_first);
    while (n > sorted[k]) {
        n -= sorted[k++];
    }
    *last = n;
    return k + 1;
}

/* A look at all choices takes no fewer steps: at least that many hosts are to
 * be picked from, each with every amount that a host may give. */
static double least_work(const tri_pack *p, int hosts, int n)
{
    return (double)hosts * hosts * n * p->most;
}

static void count_group(const cluster *c, const int *slots, int n, int *got)
{
    for (int i = 0; i < n; i++) {
        assert_true(slots[i] >= 0 && slots[i] < c->n);
        assert_true(c->is_free[slots[i]]);
        assert_true(!i || slots[i] > slots[i - 1]);
        got[c->slots[slots[i]].host]++;
    }
}

/* The last host: of those not taken whole, none that has room has less free.
 * Below the level of hosts that is no rule: there the best is. */
static void check_last(const cluster *c, const int *got, int last, int h)
{
    for (int i = 0; i < HOSTS; i++) {
        assert_true(got[i] || c->free_of[i] < last ||
                    c->free_of[i] >= c->free_of[h]);
    }
}

static void check_group(const cluster *c, const int *slots, int n, int parts)
{
    int got[HOSTS] = {0}, last, n_whole = 0, partly = -1, whole_least = MOST;
    int fewest = fewest_hosts(c, n, &last), n_hosts = 0;

    count_group(c, slots, n, got);
    for (int h = 0; h < HOSTS; h++) {
        n_hosts += got[h] > 0;
        if (got[h] && got[h] == c->free_of[h]) {
            n_whole++;
            whole_least = got[h] < whole_least ? got[h] : whole_least;
        } else if (got[h]) {
            assert_int_equal(partly, -1);
            partly = h;
        }
    }
    assert_int_equal(n_hosts, fewest);
    assert_true(n_whole >= fewest - 1);
    if (partly < 0) {
        return;
    }
    assert_int_equal(got[partly], last);
    for (int h = 0; h < HOSTS; h++) { /* the emptiest are whole */
        assert_true(got[h] || h == partly || c->free_of[h] <= whole_least);
    }
    if (!parts) {
        check_last(c, got, last, partly);
    }
}

/* Of a state: a group, and what is left is again there for the next. */
static void check_state(tri_rng *rng, cluster *c, tri_pack *p, int parts)
{
    static int slots[SLOTS];
    int last, n;

    draw_state(rng, c, p);
    n = c->n_free / 4 + below(rng, c->n_free - c->n_free / 4 + 1);
    assert_true(least_work(p, fewest_hosts(c, n, &last), n) > TRI_PLACE_WORK);
    assert_true(tri_pack_take(p, n, NULL, 0, slots));
    assert_false(p->broken);
    check_group(c, slots, n, parts);
    assert_int_equal(p->n_free, c->n_free - n);
    for (int i = 0; i < n; i++) {
        tri_pack_set(p, slots[i], 1, 0);
    }
    assert_int_equal(p->n_free, c->n_free);
    assert_false(tri_pack_take(p, c->n_free + 1, NULL, 0, slots));
}

static void check_clusters(int parts)
{
    static cluster c;
    tri_rng rng = tri_rng_stream(SEED, (uint64_t)parts, TRI_RNG_TEST);
    tri_pack p = {0};

    draw_cluster(&rng, parts, &c);
    assert_int_equal(tri_pack_init(&p, c.slots, c.n, TRI_PART_COUNT), TRI_OK);
    assert_true(parts ? p.n_levels > 2 : p.n_levels == 1);
    for (int i = 0; i < STATES; i++) {
        check_state(&rng, &c, &p, parts);
    }
    tri_pack_fini(&p);
}

static void only_hosts_are_known(void **state)
{
    (void)state;
    check_clusters(0);
}

static void packages_and_caches(void **state)
{
    (void)state;
    check_clusters(1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(only_hosts_are_known),
                                       cmocka_unit_test(packages_and_caches)};

    print_message("seed %u\n", SEED);
    return cmocka_run_group_tests(tests, NULL, NULL);
}

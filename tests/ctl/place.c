/*
 * Placement by place.h's measure, against all choices that there are: on small
 * machines of every kind, in thousands of states, what a group gets touches as
 * few units as any choice does and leaves as little beside it; no slot is lost
 * or given twice; units that are exclusive are one group's.
 */
#include "src/ctl/pack.h"

#include "trireme/rng.h"

#include "tests/tri_cmocka.h"

#include <string.h>

#define SEED     20261130u
#define MACHINES 300
#define STATES   12
#define SLOTS    12
#define ORDER    (2 * TRI_PART_COUNT) /* numbers in a measure */

typedef struct machine {
    tri_pack_slot slots[64];
    int n;
    unsigned unit[TRI_PART_COUNT][64]; /* masks of slots */
    int n_units[TRI_PART_COUNT];
} machine;

static int below(tri_rng *rng, int n)
{
    return (int)tri_rng_below(rng, (uint64_t)n);
}

/* Up to SLOTS slots on hosts with parts of all sizes. */
static void draw_machine(tri_rng *rng, machine *m)
{
    int hosts = 1 + below(rng, 4), packages = 1 + below(rng, 2),
        numas = 1 + below(rng, 2), caches = 1 + below(rng, 3),
        most = 1 + below(rng, 4), even = below(rng, 2);

    m->n = 0;
    for (int h = 0; h < hosts; h++) {
        for (int part = 0; part < packages * numas * caches; part++) {
            int slots = even ? most : below(rng, most + 1);

            slots = part || slots ? slots : 1;
            for (int i = 0; i < slots && m->n < SLOTS; i++) {
                m->slots[m->n++] =
                        (tri_pack_slot){h,
                                        {1 + part / (numas * caches),
                                         1 + part / caches, 1 + part, 1 + i}};
            }
        }
    }
    for (int i = 0, host = -1, last = -1; i < m->n; i++) { /* no gaps */
        host += m->slots[i].host != last;
        last = m->slots[i].host;
        m->slots[i].host = host;
    }
}

static int same_unit(const tri_pack_slot *a, const tri_pack_slot *b, int unit)
{
    return a->host == b->host &&
           (unit < TRI_PART_PACKAGE || a->at.package == b->at.package) &&
           (unit < TRI_PART_NUMA || a->at.numa == b->at.numa) &&
           (unit < TRI_PART_CACHE || a->at.cache == b->at.cache);
}

static void mask_units(machine *m)
{
    for (int u = 0; u < TRI_PART_COUNT; u++) {
        m->n_units[u] = 0;
        for (int i = 0; i < m->n; i++) {
            if (!i || !same_unit(&m->slots[i], &m->slots[i - 1], u)) {
                m->unit[u][m->n_units[u]++] = 0;
            }
            m->unit[u][m->n_units[u] - 1] |= 1u << i;
        }
    }
}

/* Units touched by level, then what is left free in them. */
static void measure(const machine *m, unsigned free, unsigned group, int *out)
{
    for (int u = 0; u < TRI_PART_COUNT; u++) {
        out[u] = out[TRI_PART_COUNT + u] = 0;
        for (int i = 0; i < m->n_units[u]; i++) {
            if (m->unit[u][i] & group) {
                out[u]++;
                out[TRI_PART_COUNT + u] +=
                        __builtin_popcount(m->unit[u][i] & free & ~group);
            }
        }
    }
}

static int is_less(const int *a, const int *b)
{
    for (int i = 0; i < ORDER; i++) {
        if (a[i] != b[i]) {
            return a[i] < b[i];
        }
    }
    return 0;
}

/* The best measure of all groups of n. */
static void try_all(const machine *m, unsigned free, int n, int *out)
{
    out[0] = 1 << 20;
    for (unsigned g = free; g; g = (g - 1) & free) {
        int x[ORDER] = {0};

        if (__builtin_popcount(g) == n) {
            measure(m, free, g, x);
            if (is_less(x, out)) {
                memcpy(out, x, sizeof x);
            }
        }
    }
}

static unsigned mask_of(const int *slots, int n)
{
    unsigned mask = 0;

    for (int i = 0; i < n; i++) {
        assert_true(!i || slots[i] > slots[i - 1]);
        mask |= 1u << slots[i];
    }
    return mask;
}

/* One group out of a random state. */
static void check_state(tri_rng *rng, const machine *m, tri_pack *p)
{
    unsigned busy = (unsigned)below(rng, 1 << m->n), avoid = 0, free, got;
    int n, slots[SLOTS], shunned[SLOTS], n_shunned = 0;
    int best[ORDER] = {0}, ours[ORDER] = {0};

    for (int i = 0; i < m->n; i++) {
        tri_pack_set(p, i, 1, busy >> i & 1);
    }
    for (int i = 0; i < m->n && below(rng, 3) == 0; i++) {
        shunned[n_shunned] = below(rng, m->n);
        avoid |= 1u << shunned[n_shunned++];
    }
    free = ~busy & ~avoid & ((1u << m->n) - 1);
    n = 1 + below(rng, m->n);
    assert_int_equal(p->n_free, m->n - __builtin_popcount(busy));
    if (!tri_pack_take(p, n, shunned, n_shunned, slots)) {
        assert_true(n > __builtin_popcount(free));
        assert_int_equal(p->n_free, m->n - __builtin_popcount(busy));
        return;
    }
    got = mask_of(slots, n);
    assert_int_equal(got & ~free, 0);
    assert_int_equal(p->n_free, m->n - __builtin_popcount(busy | got));
    try_all(m, free, n, best);
    measure(m, free, got, ours);
    if (is_less(best, ours)) {
        for (int i = 0; i < ORDER; i++) {
            print_message("%d against %d\n", ours[i], best[i]);
        }
        fail_msg("a group of %d of %x, free %x, is not the best", n, got, free);
    }
}

static void as_good_as_any_choice(void **state)
{
    tri_rng rng = tri_rng_stream(SEED, 0, TRI_RNG_TEST);
    tri_pack p = {0};
    machine m;

    (void)state;
    for (int i = 0; i < MACHINES; i++) {
        draw_machine(&rng, &m);
        mask_units(&m);
        assert_int_equal(tri_pack_init(&p, m.slots, m.n, TRI_PART_COUNT),
                         TRI_OK);
        for (int k = 0; k < STATES; k++) {
            check_state(&rng, &m, &p);
        }
    }
    tri_pack_fini(&p);
}

/* ---- stories ------------------------------------------------------------- */

typedef struct story {
    const machine *m;
    tri_pack *p;
    tri_part exclusive;
    int group[64][64], n[64];
    int holder[64]; /* by slot: the group, -1 */
    int usable[64];
} story;

/* Slots that a new group may get. */
static int count_free(const story *s)
{
    int count = 0;

    for (int i = 0; i < s->m->n; i++) {
        int is_free = s->usable[i] && s->holder[i] < 0;

        for (int k = 0; k < s->m->n && s->exclusive < TRI_PART_COUNT; k++) {
            is_free = is_free && !(s->holder[k] >= 0 &&
                                   same_unit(&s->m->slots[i], &s->m->slots[k],
                                             (int)s->exclusive));
        }
        count += is_free;
    }
    return count;
}

static void check_alone(const story *s, int g)
{
    for (int i = 0; i < s->n[g]; i++) {
        for (int k = 0; k < s->m->n && s->exclusive < TRI_PART_COUNT; k++) {
            if (same_unit(&s->m->slots[s->group[g][i]], &s->m->slots[k],
                          (int)s->exclusive)) {
                assert_true(s->holder[k] < 0 || s->holder[k] == g);
            }
        }
    }
}

static void give_back(story *s, int g)
{
    for (int i = 0; i < s->n[g]; i++) {
        int slot = s->group[g][i];

        assert_int_equal(s->holder[slot], g);
        s->holder[slot] = -1;
        tri_pack_set(s->p, slot, s->usable[slot], 0);
    }
    s->n[g] = 0;
}

static void ask(story *s, tri_rng *rng, int g)
{
    int n = 1 + below(rng, s->m->n < 10 ? s->m->n : 10);
    int free = count_free(s);

    assert_int_equal(s->p->n_free, free);
    assert_int_equal(tri_pack_take(s->p, n, NULL, 0, s->group[g]), n <= free);
    if (n > free) {
        return;
    }
    s->n[g] = n;
    for (int i = 0; i < n; i++) {
        int slot = s->group[g][i];

        assert_true(s->usable[slot]);
        assert_int_equal(s->holder[slot], -1);
        s->holder[slot] = g;
    }
    check_alone(s, g);
}

static void go_on(story *s, tri_rng *rng)
{
    int g = below(rng, 24), slot = below(rng, s->m->n);

    if (below(rng, 10) == 0) { /* a rank goes, or comes back */
        s->usable[slot] = !s->usable[slot];
        tri_pack_set(s->p, slot, s->usable[slot], s->holder[slot] >= 0);
    } else if (s->n[g]) {
        give_back(s, g);
    } else {
        ask(s, rng, g);
    }
}

static void nothing_is_lost_or_given_twice(void **state)
{
    static const tri_part units[] = {TRI_PART_COUNT, TRI_PART_HOST,
                                     TRI_PART_NUMA};
    tri_rng rng = tri_rng_stream(SEED, 1, TRI_RNG_TEST);
    machine m = {.n = 48};
    tri_pack p = {0};

    (void)state;
    for (int i = 0; i < m.n; i++) { /* 3 hosts of 2 packages of 4 caches */
        m.slots[i] = (tri_pack_slot){
                i / 16, {1 + i / 8 % 2, 1 + i / 8 % 2, 1 + i / 2 % 8, 1 + i}};
    }
    for (int u = 0; u < 3; u++) {
        static story s;

        s = (story){.m = &m, .p = &p, .exclusive = units[u]};
        assert_int_equal(tri_pack_init(&p, m.slots, m.n, units[u]), TRI_OK);
        for (int i = 0; i < m.n; i++) {
            s.holder[i] = -1;
            s.usable[i] = 1;
            tri_pack_set(&p, i, 1, 0);
        }
        for (int i = 0; i < 5000; i++) {
            go_on(&s, &rng);
        }
    }
    tri_pack_fini(&p);
}

/* Two packages of two caches of two: groups stay together. */
static void holes_stay_for_large_groups(void **state)
{
    tri_pack_slot slots[16];
    tri_pack p = {0};
    int a[4], b[4], c[8];

    (void)state;
    for (int i = 0; i < 16; i++) {
        slots[i] = (tri_pack_slot){
                i / 8, {1 + i / 4 % 2, 1 + i / 4 % 2, 1 + i / 2 % 4, 1 + i}};
    }
    assert_int_equal(tri_pack_init(&p, slots, 16, TRI_PART_COUNT), TRI_OK);
    assert_int_equal(p.n_levels, 3); /* a NUMA domain is a package here */
    for (int i = 15; i >= 0; i--) {
        tri_pack_set(&p, i, 1, 0);
    }
    assert_true(tri_pack_take(&p, 1, NULL, 0, a));
    assert_true(tri_pack_take(&p, 1, NULL, 0, b)); /* beside it */
    assert_int_equal(a[0] / 2, b[0] / 2);
    assert_true(tri_pack_take(&p, 2, NULL, 0, b)); /* the rest of its package */
    assert_int_equal(b[0] / 4, a[0] / 4);
    assert_true(tri_pack_take(&p, 8, NULL, 0, c)); /* a whole host is there */
    assert_int_equal(c[0] % 8, 0);
    assert_int_equal(c[7], c[0] + 7);
    assert_true(tri_pack_take(&p, 4, NULL, 0, a)); /* and a package */
    assert_int_equal(a[0] % 4, 0);
    assert_int_equal(p.n_free, 0);
    tri_pack_fini(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(as_good_as_any_choice),
            cmocka_unit_test(nothing_is_lost_or_given_twice),
            cmocka_unit_test(holes_stay_for_large_groups),
    };

    print_message("seed %u\n", SEED);
    return cmocka_run_group_tests(tests, NULL, NULL);
}

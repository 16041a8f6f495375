/*
 * The event heap: earliest first, in order of entry where times are equal.
 */
#include "src/sim/heap.h"

#include "trireme/rng.h"

#include "tests/tri_cmocka.h"

#define SEED 11u
#define MANY 5000

static void push(tri_heap *h, double time_s, int kind)
{
    tri_heap_entry e = {.time_s = time_s, .kind = kind};

    assert_int_equal(tri_heap_push(h, e), TRI_OK);
}

static void push_or_append(tri_heap *h, double time_s, int kind, int appended)
{
    tri_heap_entry e = {.time_s = time_s, .kind = (int16_t)kind};

    assert_int_equal(appended ? tri_heap_append(h, e) : tri_heap_push(h, e),
                     TRI_OK);
}

static void equal_times_keep_their_order(void **state)
{
    tri_heap h;

    (void)state;
    tri_heap_init(&h);
    for (int i = 0; i < 100; i++) {
        push(&h, 1, i);
    }
    push(&h, 0, -1);
    assert_int_equal(tri_heap_pop(&h).kind, -1);
    for (int i = 0; i < 100; i++) {
        assert_int_equal(tri_heap_top(&h)->kind, i);
        assert_int_equal(tri_heap_pop(&h).kind, i);
    }
    assert_null(tri_heap_top(&h));
    tri_heap_fini(&h);
}

static int later(const tri_heap_entry *a, const tri_heap_entry *b)
{
    return a->time_s > b->time_s ||
           (a->time_s == b->time_s && a->order > b->order);
}

static void answers_come_first(void **state)
{
    tri_heap h;

    (void)state;
    tri_heap_init(&h);
    assert_int_equal(
            tri_heap_push(&h,
                          (tri_heap_entry){.time_s = 1, .later = 1, .kind = 2}),
            TRI_OK);
    push(&h, 1, 1);
    assert_int_equal(
            tri_heap_push(
                    &h, (tri_heap_entry){.time_s = 0.5, .later = 1, .kind = 0}),
            TRI_OK);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(tri_heap_pop(&h).kind, i);
    }
    tri_heap_fini(&h);
}

/* What stands in line grows and wraps; what would break its order does not
 * join it. */
static void a_line_is_in_order(void **state)
{
    tri_heap h;
    int expected = 0;

    (void)state;
    tri_heap_init(&h);
    for (int i = 0; i < MANY; i++) {
        push_or_append(&h, 2 * i + 1, 2 * i + 1, 1);
        push_or_append(&h, 2 * i, 2 * i, 1);
        if (i % 3 != 0) {
            assert_int_equal(tri_heap_pop(&h).kind, expected++);
        }
    }
    while (tri_heap_top(&h) != NULL) {
        assert_int_equal(tri_heap_pop(&h).kind, expected++);
    }
    assert_int_equal(expected, 2 * MANY);
    tri_heap_fini(&h);
}

/* Pushes and pops mixed, few distinct times, so that ties abound. */
static void pops_are_sorted(void **state)
{
    tri_rng rng = tri_rng_stream(SEED, 0, TRI_RNG_TEST);
    tri_heap_entry last = {.time_s = -1};
    int popped = 0;
    tri_heap h;

    (void)state;
    tri_heap_init(&h);
    for (int i = 0; i < MANY; i++) {
        double now = last.time_s < 0 ? 0 : last.time_s;

        push_or_append(&h, now + (double)tri_rng_below(&rng, 8), i,
                       tri_rng_below(&rng, 2) == 0);
        if (tri_rng_below(&rng, 3) == 0) {
            tri_heap_entry e = tri_heap_pop(&h);

            assert_true(later(&e, &last));
            last = e;
            popped++;
        }
    }
    for (; tri_heap_top(&h) != NULL; popped++) {
        tri_heap_entry e = tri_heap_pop(&h);

        assert_true(later(&e, &last));
        last = e;
    }
    assert_int_equal(popped, MANY);
    tri_heap_fini(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(equal_times_keep_their_order),
            cmocka_unit_test(answers_come_first),
            cmocka_unit_test(a_line_is_in_order),
            cmocka_unit_test(pops_are_sorted),
    };

    print_message("seed %u\n", SEED);
    return cmocka_run_group_tests(tests, NULL, NULL);
}

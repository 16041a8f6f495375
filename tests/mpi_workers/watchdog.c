/*
 * The watchdog bites once, when a deadline passes, and never where what was
 * watched ended in time.
 */
#include "mpi_workers/watchdog.h"

#include "mpi_workers/pause.h"
#include "tests/tri_cmocka.h"

#include <math.h>
#include <stdatomic.h>

/* Long enough for any machine that is not stopped. */
#define LONG_S 60.0

static atomic_int bites;

static void bite(void)
{
    atomic_fetch_add(&bites, 1);
}

/* Wait, within reason, until it has bitten `n` times. */
static void await_bites(int n)
{
    double end = tri_now() + LONG_S;

    while (atomic_load(&bites) < n && tri_now() < end) {
        tri_sleep(1e-3);
    }
    assert_int_equal(atomic_load(&bites), n);
}

static int open_dog(void **state)
{
    (void)state;
    atomic_store(&bites, 0);
    return tri_watchdog_open(bite) != TRI_OK;
}

static int close_dog(void **state)
{
    (void)state;
    tri_watchdog_close();
    return 0;
}

static void a_deadline_that_passes(void **state)
{
    double before;

    (void)state;
    before = tri_watchdog_begin(0.02);
    assert_true(isinf(before));
    await_bites(1);
    tri_sleep(0.05); /* once is enough */
    assert_int_equal(atomic_load(&bites), 1);
    tri_watchdog_end(before);
    before = tri_watchdog_begin(0.02); /* and it watches again */
    await_bites(2);
    tri_watchdog_end(before);
}

static void what_ends_in_time(void **state)
{
    (void)state;
    for (int i = 0; i < 1000; i++) {
        tri_watchdog_end(tri_watchdog_begin(LONG_S));
        tri_watchdog_end(tri_watchdog_begin(INFINITY));
    }
    tri_sleep(0.05);
    assert_int_equal(atomic_load(&bites), 0);
}

/* The inner one cannot lengthen the outer one, nor outlive itself. */
static void pairs_nest(void **state)
{
    double outer;
    double inner;

    (void)state;
    outer = tri_watchdog_begin(LONG_S);
    inner = tri_watchdog_begin(0.02); /* sooner than it meant to look */
    await_bites(1);
    tri_watchdog_end(inner);
    tri_watchdog_end(outer);
    outer = tri_watchdog_begin(0.05);
    inner = tri_watchdog_begin(LONG_S);
    await_bites(2);
    tri_watchdog_end(inner);
    tri_watchdog_end(outer);
}

static void one_at_a_time(void **state)
{
    (void)state;
    assert_int_equal(tri_watchdog_open(bite), TRI_EEXIST);
}

/* Without a hook nothing is watched, and nothing has to be stopped. */
static void none_was_opened(void **state)
{
    double before;

    (void)state;
    atomic_store(&bites, 0);
    before = tri_watchdog_begin(0.01);
    tri_sleep(0.05);
    tri_watchdog_end(before);
    tri_watchdog_close();
    assert_int_equal(atomic_load(&bites), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(none_was_opened),
            cmocka_unit_test_setup_teardown(a_deadline_that_passes, open_dog,
                                            close_dog),
            cmocka_unit_test_setup_teardown(what_ends_in_time, open_dog,
                                            close_dog),
            cmocka_unit_test_setup_teardown(pairs_nest, open_dog, close_dog),
            cmocka_unit_test_setup_teardown(one_at_a_time, open_dog, close_dog),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

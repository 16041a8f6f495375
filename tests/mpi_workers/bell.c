/*
 * Bells: no ring is lost, whether it comes before the sleep or in it, and who
 * has none sleeps as ever.
 */
#include "tests/tri_cmocka.h"

#include "mpi_workers/bell.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

/* A sleeper that is not woken runs into the test's own limit. */
#define FOR_EVER_S 3600.0

static tri_bell *make(int size, tri_bell_offer *offer)
{
    tri_bell *b = tri_bell_make(size, offer);

    assert_non_null(b);
    return b;
}

static void test_ring_before_sleep(void **state)
{
    tri_bell_offer offer;
    tri_bell *head = make(3, &offer);
    tri_bell *worker = tri_bell_join(3, 1, getpid(), &offer);

    (void)state;
    assert_non_null(worker);
    tri_bell_ring(worker, 0);
    tri_bell_ring(worker, 0);
    assert_int_equal(tri_bell_wait(head, FOR_EVER_S), 1);
    assert_int_equal(tri_bell_wait(head, 1e-4), 0); /* both were heard */
    tri_bell_ring(head, 1);
    assert_int_equal(tri_bell_wait(worker, FOR_EVER_S), 1);
    tri_bell_ring(head, 0); /* its own */
    assert_int_equal(tri_bell_wait(head, FOR_EVER_S), 1);
    tri_bell_close(worker);
    tri_bell_close(head);
}

#define ROUNDS 20000

/* Each waits for the other, with nothing but the bell to tell. */
static void *answer(void *arg)
{
    tri_bell *b = arg;

    for (int i = 0; i < ROUNDS; i++) {
        while (!tri_bell_wait(b, FOR_EVER_S)) {
        }
        tri_bell_ring(b, 0);
    }
    return NULL;
}

static void test_ring_in_sleep(void **state)
{
    tri_bell_offer offer;
    tri_bell *head = make(2, &offer);
    tri_bell *worker = tri_bell_join(2, 1, getpid(), &offer);
    pthread_t thread;

    (void)state;
    assert_non_null(worker);
    assert_int_equal(pthread_create(&thread, NULL, answer, worker), 0);
    for (int i = 0; i < ROUNDS; i++) {
        tri_bell_ring(head, 1);
        while (!tri_bell_wait(head, FOR_EVER_S)) {
        }
    }
    pthread_join(thread, NULL);
    tri_bell_close(worker);
    tri_bell_close(head);
}

/* Another's memory, none, or ranks that did not come. */
static void test_without(void **state)
{
    tri_bell_offer offer;
    tri_bell_offer other;
    tri_bell *head = make(2, &offer);
    tri_pause pause = {0};

    (void)state;
    assert_true(tri_bell_reaches(head, 0));
    assert_false(tri_bell_reaches(head, 1));
    assert_false(tri_bell_reaches(head, 2));
    assert_false(tri_bell_reaches(head, -1));
    tri_bell_ring(head, 1);
    other = offer;
    other.nonce++;
    assert_null(tri_bell_join(2, 1, getpid(), &other));
    assert_null(tri_bell_join(2, 1, 0, &offer));
    assert_null(tri_bell_join(999, 1, getpid(), &offer));
    other.fd = -1;
    assert_null(tri_bell_join(2, 1, getpid(), &other));
    assert_false(tri_bell_reaches(head, 1));
    assert_false(tri_bell_reaches(NULL, 0));
    tri_bell_ring(NULL, 0);
    assert_int_equal(tri_bell_wait(NULL, 1e-5), 0);
    tri_bell_pause(NULL, &pause);
    assert_true(pause.next_s > 0);
    tri_bell_close(NULL);
    tri_bell_close(head);
}

/* Short naps only after a ring that told of nothing yet. */
static void test_pause(void **state)
{
    tri_bell_offer offer;
    tri_bell *head = make(1, &offer);
    tri_pause pause = {0};
    int n = 0;

    (void)state;
    tri_bell_pause(head, &pause);
    assert_true(pause.next_s == 0);
    tri_bell_ring(head, 0);
    tri_bell_pause(head, &pause);
    assert_true(pause.next_s > 0 && pause.next_s < 1e-4);
    while (pause.next_s > 0 && n < 100) {
        tri_bell_pause(head, &pause);
        n++;
    }
    assert_in_range(n, 2, 10);
    tri_bell_close(head);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(test_ring_before_sleep),
            cmocka_unit_test(test_ring_in_sleep),
            cmocka_unit_test(test_without),
            cmocka_unit_test(test_pause),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * The small parts: the running median against sorting, memory that is given
 * back at once.
 */
#include "src/ctl/keep.h"
#include "src/ctl/median.h"

#include "trireme/rng.h"
#include "trireme/stats.h"

#include "tests/tri_cmocka.h"

#include <math.h>
#include <string.h>

static void median_is_the_median(void **state)
{
    tri_rng rng = tri_rng_stream(5, 0, TRI_RNG_TEST);
    tri_running_median m = {0};
    double x[500], scratch[500];

    (void)state;
    assert_true(isnan(tri_running_median_value(&m)));
    for (int i = 0; i < 500; i++) {
        x[i] = (double)tri_rng_below(&rng, 100);
        assert_int_equal(tri_running_median_add(&m, x[i]), TRI_OK);
        if (i < 20 || i % 7 == 0) { /* several come before it is asked */
            assert_true(tri_running_median_value(&m) ==
                        tri_median(x, i + 1, scratch));
        }
    }
    tri_running_median_fini(&m);
}

static void kept_until_reset(void **state)
{
    tri_keep k = {0};
    const char *first = tri_keep_text(&k, "first");
    char *large = tri_keep_bytes(&k, 1 << 20);
    const char *last;

    (void)state;
    assert_string_equal(tri_keep_text(&k, NULL), "");
    assert_int_equal((uintptr_t)large % 16, 0);
    memset(large, 'x', 1 << 20);
    last = tri_keep_copy(&k, "last\0one", 8);
    assert_string_equal(first, "first");
    assert_memory_equal(last, "last\0one", 9);
    assert_int_equal(large[0], 'x');
    tri_keep_reset(&k);
    large = tri_keep_bytes(&k, 100);
    for (int i = 0; i < 100; i++) {
        assert_int_equal(large[i], 0);
    }
    tri_keep_fini(&k);
    tri_keep_fini(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(median_is_the_median),
                                       cmocka_unit_test(kept_until_reset)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

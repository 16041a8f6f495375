/*
 * Inline proposals: the same for ever, valid, everywhere, and evenly spread
 * where they say so.
 */
#include "trireme/propose.h"

#include "tests/tri_cmocka.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void add_int(tri_space_builder *b, const char *name, int64_t lo,
                    int64_t hi)
{
    tri_domain d = {.kind = TRI_DOMAIN_INT, .lo = lo, .hi = hi, .step = 1};

    assert_int_equal(tri_space_add_param(b, name, &d, NULL, 0, 0), TRI_OK);
}

/* x, y in [0, side); with `tight`, only where 7 divides x * y + 1. */
static tri_space *make(int64_t side, int tight)
{
    tri_domain constant = {.kind = TRI_DOMAIN_CONST};
    tri_value five = {.type = TRI_INT, .u.i = 5};
    tri_space_builder *b;
    tri_space *s;

    constant.values = &five;
    constant.n_values = 1;
    assert_int_equal(tri_space_builder_create(&b), TRI_OK);
    assert_int_equal(tri_space_add_param(b, "c", &constant, NULL, 0, 0),
                     TRI_OK);
    add_int(b, "x", 0, side - 1);
    add_int(b, "y", 0, side - 1);
    assert_int_equal(tri_space_add_constraint(
                             b, tight ? "(x * y + 1) % 7 == 0" : "x >= 0", NULL,
                             0, 0, 0),
                     TRI_OK);
    assert_int_equal(tri_space_create(b, &s), TRI_OK);
    tri_space_builder_destroy(b);
    return s;
}

static void draw(const tri_proposer_ops *p, const tri_space *s, uint64_t seed,
                 int64_t trial, int attempt, tri_config *c)
{
    assert_int_equal(p->draw(s, seed, trial, attempt, c), TRI_OK);
    assert_true(tri_space_valid(s, c, NULL));
}

static void names(void **state)
{
    (void)state;
    assert_string_equal(tri_proposer_find("random")->origin, "random");
    assert_string_equal(tri_proposer_find("quasi")->name, "quasi");
    assert_ptr_equal(tri_proposer_find("auto"), tri_proposer_find("quasi"));
    assert_null(tri_proposer_find("evolution"));
    assert_null(tri_proposer_find(""));
}

static void the_same_for_ever(void **state)
{
    static const char *const all[] = {"random", "quasi"};
    tri_space *s = make(1000, 0);

    (void)state;
    for (int k = 0; k < 2; k++) {
        const tri_proposer_ops *p = tri_proposer_find(all[k]);
        tri_config a[3], b[3];
        int differ = 0;

        for (int trial = 0; trial < 50; trial++) {
            draw(p, s, 9, trial, 0, a);
            draw(p, s, 9, 49 - trial, 1, b); /* any order */
            draw(p, s, 9, trial, 0, b);
            assert_true(tri_space_equal(s, a, b));
            draw(p, s, 9, trial, 1, b);
            differ += !tri_space_equal(s, a, b);
            draw(p, s, 10, trial, 0, b);
            differ += !tri_space_equal(s, a, b);
        }
        assert_in_range(differ, 98, 100);
    }
    tri_space_destroy(s);
}

/* Every valid configuration is drawn sooner or later. */
static void everything_is_reached(void **state)
{
    static const char *const all[] = {"random", "quasi"};
    tri_space *s = make(20, 1);
    int64_t count = tri_space_count(s);

    (void)state;
    for (int k = 0; k < 2; k++) {
        const tri_proposer_ops *p = tri_proposer_find(all[k]);
        unsigned char *seen = calloc((size_t)count, 1);
        int64_t n = 0;

        for (int trial = 0; trial < 400 && n < count; trial++) {
            for (int attempt = 0; attempt < 5; attempt++) {
                tri_config c[3];
                int64_t i;

                draw(p, s, 1, trial, attempt, c);
                assert_int_equal(tri_space_index(s, c, &i), TRI_OK);
                n += !seen[i];
                seen[i] = 1;
            }
        }
        assert_int_equal(n, count);
        free(seen);
    }
    tri_space_destroy(s);
}

/* The largest difference, over boxes at the origin, between the share of the
 * points and the share of the area. */
static double discrepancy(const tri_proposer_ops *p, const tri_space *s,
                          uint64_t seed, int n)
{
    tri_config(*c)[3] = calloc((size_t)n, sizeof *c);
    double worst = 0;

    for (int i = 0; i < n; i++) {
        draw(p, s, seed, i, 0, c[i]);
    }
    for (int x = 50; x <= 1000; x += 50) {
        for (int y = 50; y <= 1000; y += 50) {
            int in = 0;

            for (int i = 0; i < n; i++) {
                in += c[i][1].u.i < x && c[i][2].u.i < y;
            }
            worst = fmax(worst, fabs((double)in / n - x * 1e-3 * y * 1e-3));
        }
    }
    free(c);
    return worst;
}

static void quasi_is_spread_evenly(void **state)
{
    tri_space *s = make(1000, 0);

    (void)state;
    for (uint64_t seed = 0; seed < 10; seed++) {
        double even = discrepancy(tri_proposer_find("quasi"), s, seed, 256);
        double random = discrepancy(tri_proposer_find("random"), s, seed, 256);

        assert_true(even < 0.025);
        assert_true(even < random);
    }
    tri_space_destroy(s);
}

static void an_empty_set_is_said(void **state)
{
    tri_space_builder *b;
    tri_space *s;
    tri_config c[1];

    (void)state;
    assert_int_equal(tri_space_builder_create(&b), TRI_OK);
    add_int(b, "x", 0, 9);
    assert_int_equal(tri_space_add_constraint(b, "x > 9", NULL, 0, 0, 0),
                     TRI_OK);
    assert_int_equal(tri_space_create(b, &s), TRI_OK);
    tri_space_builder_destroy(b);
    assert_int_equal(tri_proposer_find("random")->draw(s, 1, 0, 0, c),
                     TRI_EEMPTY);
    assert_int_equal(tri_proposer_find("quasi")->draw(s, 1, 0, 0, c),
                     TRI_EEMPTY);
    tri_space_destroy(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(names),
                                       cmocka_unit_test(the_same_for_ever),
                                       cmocka_unit_test(everything_is_reached),
                                       cmocka_unit_test(quasi_is_spread_evenly),
                                       cmocka_unit_test(an_empty_set_is_said)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

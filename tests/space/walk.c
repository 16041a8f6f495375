/*
 * Walks reach every valid configuration and nothing else, and the shares that
 * they offer are those of the completions.
 */
#include "tests/space/brute.h"
#include "tests/tri_cmocka.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static tri_domain ints(int64_t lo, int64_t hi)
{
    return (tri_domain){.kind = TRI_DOMAIN_INT, .lo = lo, .hi = hi, .step = 1};
}

static tri_domain reals(double lo, double hi, int log)
{
    return (tri_domain){
            .kind = TRI_DOMAIN_FLOAT, .flo = lo, .fhi = hi, .log = log};
}

/* A mesh of 24 ranks, a conditional parameter declared before what it depends
 * on, one that is free, and one that never varies. */
static void make(brute *b)
{
    memset(b, 0, sizeof *b);
    b->n = 6;
    b->names[0] = "virt";
    b->names[1] = "dp";
    b->names[2] = "free";
    b->names[3] = "one";
    b->names[4] = "tp";
    b->names[5] = "pp";
    b->domains[0] = ints(1, 3);
    b->domains[1] = b->domains[4] = b->domains[5] = ints(1, 24);
    b->domains[2] = ints(0, 2);
    b->domains[3] = ints(7, 7);
    b->when[0] = "pp > 1";
    b->constraints[0] = "dp * tp * pp == 24";
    b->n_constraints = 1;
}

/* The choice of the present step that point c makes. */
static void follow(tri_walk *w, const tri_config *c)
{
    double place = 0;
    int64_t index = tri_walk_find(w, c[tri_walk_param(w)], &place);

    assert_true(index >= TRI_WALK_INACTIVE);
    tri_walk_take(w, index);
}

static void every_point_has_its_share(void **state)
{
    brute b;
    tri_space *s;
    tri_walk *w;
    tri_config out[BRUTE_PARAMS];

    (void)state;
    make(&b);
    brute_solve(&b);
    s = brute_space(&b);
    assert_int_equal(tri_walk_create(s, &w), TRI_OK);
    for (int64_t i = 0; i < b.count; i++) {
        const tri_config *c = b.points + i * b.n;
        double share = 1;

        tri_walk_begin(w);
        while (tri_walk_param(w) >= 0) {
            double place;
            int64_t k = tri_walk_find(w, c[tri_walk_param(w)], &place);
            int64_t n = tri_walk_n(w);
            double off = tri_walk_inactive(w);

            assert_float_equal(off + tri_walk_share(w, 0, n), 1, 1e-12);
            share *= k == TRI_WALK_INACTIVE ? off : tri_walk_share(w, k, k + 1);
            follow(w, c);
        }
        assert_float_equal(share * (double)b.count, 1, 1e-9);
        assert_int_equal(tri_walk_end(w, out), TRI_OK);
        assert_true(tri_space_equal(s, c, out));
    }
    tri_walk_destroy(w);
    tri_space_destroy(s);
    brute_free(&b);
}

/* Steps by tri_walk_pick over all values, or inactive: uniform draws. */
static void picks_are_valid_and_uniform(void **state)
{
    tri_rng rng = tri_rng_stream(5, 0, TRI_RNG_TEST);
    brute b;
    tri_space *s;
    tri_walk *w;
    tri_config out[BRUTE_PARAMS];
    int64_t at;
    int *seen;
    double x = 0;

    (void)state;
    make(&b);
    s = brute_space(&b);
    b.count = tri_space_count(s);
    seen = calloc((size_t)b.count, sizeof *seen);
    assert_int_equal(tri_walk_create(s, &w), TRI_OK);
    for (int i = 0; i < 20 * (int)b.count; i++) {
        tri_walk_begin(w);
        while (tri_walk_param(w) >= 0) {
            double u = tri_rng_unit(&rng);

            if (tri_rng_unit(&rng) < tri_walk_inactive(w)) {
                tri_walk_take(w, TRI_WALK_INACTIVE);
            } else {
                tri_walk_take(w, tri_walk_pick(w, 0, tri_walk_n(w), u));
            }
        }
        assert_int_equal(tri_walk_end(w, out), TRI_OK);
        assert_int_equal(tri_space_index(s, out, &at), TRI_OK);
        seen[at]++;
    }
    for (int64_t i = 0; i < b.count; i++) {
        x += (seen[i] - 20) * (seen[i] - 20) / 20.0;
    }
    assert_true(x < (double)b.count + 5 * sqrt(2 * (double)b.count));
    free(seen);
    tri_walk_destroy(w);
    tri_space_destroy(s);
}

/* A value without completions is not found. */
static void dead_ends_are_not_offered(void **state)
{
    brute b;
    tri_space *s;
    tri_walk *w;
    double place;

    (void)state;
    make(&b);
    s = brute_space(&b);
    assert_int_equal(tri_walk_create(s, &w), TRI_OK);
    tri_walk_take(w, TRI_WALK_INACTIVE); /* virt: so pp is 1 */
    assert_int_equal(tri_walk_find(w, (tri_value){TRI_INT, {.i = 5}}, &place),
                     -2);
    assert_float_equal(tri_walk_share(w, 4, 5), 0, 0);
    tri_walk_take(w, 7); /* dp = 8 */
    tri_walk_take(w, 0);
    assert_float_equal(tri_walk_share(w, 2, 3), 1, 0); /* tp = 3 */
    assert_int_equal(tri_walk_pick(w, 0, 24, 0.99), 2);
    tri_walk_destroy(w);
    tri_space_destroy(s);
}

/* Floats by their place; those in constraints are tested at the end. */
static void floats_take_their_place(void **state)
{
    brute b;
    tri_space *s;
    tri_walk *w;
    tri_config out[BRUTE_PARAMS];
    double place = -1;

    (void)state;
    memset(&b, 0, sizeof b);
    b.n = 3;
    b.names[0] = "rate";
    b.names[1] = "a";
    b.names[2] = "b";
    b.domains[0] = reals(1e-4, 1, 1);
    b.domains[1] = reals(0, 1, 0);
    b.domains[2] = ints(1, 4);
    b.constraints[0] = "a * b <= 1";
    b.n_constraints = 1;
    s = brute_space(&b);
    assert_int_equal(tri_walk_create(s, &w), TRI_OK);
    for (int fits = 0; fits < 2; fits++) {
        tri_walk_begin(w);
        tri_walk_take_real(w, 0.5);
        tri_walk_take_real(w, fits ? 0.25 : 0.75);
        tri_walk_take(w, 3);
        assert_int_equal(tri_walk_param(w), -1);
        assert_int_equal(tri_walk_end(w, out), fits ? TRI_OK : TRI_ENOTFOUND);
    }
    assert_float_equal(out[0].u.d, 0.01, 1e-9);
    tri_walk_begin(w);
    assert_int_equal(tri_walk_n(w), -1);
    assert_int_equal(tri_walk_find(w, out[0], &place), 0);
    assert_float_equal(place, 0.5, 1e-9);
    tri_walk_destroy(w);
    tri_space_destroy(s);
}

static void an_empty_space_has_no_walk(void **state)
{
    brute b;
    tri_space *s;
    tri_walk *w = NULL;

    (void)state;
    make(&b);
    b.constraints[0] = "dp * tp * pp == 29";
    s = brute_space(&b);
    assert_int_equal(tri_space_count(s), 0);
    assert_int_equal(tri_walk_create(s, &w), TRI_EEMPTY);
    assert_null(w);
    tri_space_destroy(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(every_point_has_its_share),
            cmocka_unit_test(picks_are_valid_and_uniform),
            cmocka_unit_test(dead_ends_are_not_offered),
            cmocka_unit_test(floats_take_their_place),
            cmocka_unit_test(an_empty_space_has_no_walk)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Draws from the valid set: uniform by chi-square with a fixed seed, inversion
 * of the unit cube, floats by rejection, empty and huge sets, `--why`.
 */
#include "tests/space/brute.h"
#include "tests/tri_cmocka.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static tri_domain ints(int64_t lo, int64_t hi)
{
    tri_domain d;

    memset(&d, 0, sizeof d);
    d.kind = TRI_DOMAIN_INT;
    d.lo = lo;
    d.hi = hi;
    d.step = 1;
    return d;
}

static tri_domain reals(double lo, double hi, int log)
{
    tri_domain d;

    memset(&d, 0, sizeof d);
    d.kind = TRI_DOMAIN_FLOAT;
    d.flo = lo;
    d.fhi = hi;
    d.log = log;
    return d;
}

/* dp * tp * pp = 24 joined with a free parameter and a conditional one. */
static void make_mesh(brute *b)
{
    memset(b, 0, sizeof *b);
    b->n = 5;
    b->names[0] = "dp";
    b->names[1] = "free";
    b->names[2] = "tp";
    b->names[3] = "pp";
    b->names[4] = "virt";
    b->domains[0] = b->domains[2] = b->domains[3] = ints(1, 24);
    b->domains[1] = ints(0, 2);
    b->domains[4] = ints(1, 3);
    b->when[4] = "pp > 1";
    b->constraints[0] = "dp * tp * pp == 24";
    b->n_constraints = 1;
}

static double chi_square(const int *seen, int64_t cells, int draws)
{
    double expected = (double)draws / (double)cells, x = 0;
    int64_t i;

    for (i = 0; i < cells; i++) {
        x += (seen[i] - expected) * (seen[i] - expected) / expected;
    }
    return x;
}

static void samples_are_uniform(void **state)
{
    tri_rng rng = tri_rng_stream(77, 0, TRI_RNG_TEST);
    tri_config c[BRUTE_PARAMS];
    brute b;
    tri_space *s;
    int64_t n, at;
    int *seen, i, draws;
    double x;

    (void)state;
    make_mesh(&b);
    s = brute_space(&b);
    n = tri_space_count(s);
    seen = calloc((size_t)n, sizeof *seen);
    draws = (int)n * 100;
    for (i = 0; i < draws; i++) {
        assert_int_equal(tri_space_sample(s, &rng, c), TRI_OK);
        assert_int_equal(tri_space_index(s, c, &at), TRI_OK);
        seen[at]++;
    }
    x = chi_square(seen, n, draws);
    print_message("%lld cells, chi-square %.1f\n", (long long)n, x);
    /* within four standard deviations of its mean, n - 1 */
    assert_true(fabs(x - (double)(n - 1)) < 4 * sqrt(2.0 * (double)(n - 1)));
    free(seen);
    tri_space_destroy(s);
}

/* Uniform points of the unit cube must reach every configuration about equally
 * often: the inversion keeps volumes. */
static void units_keep_volume(void **state)
{
    tri_config c[BRUTE_PARAMS];
    double u[BRUTE_PARAMS] = {0}, x;
    brute b;
    tri_space *s;
    int64_t n, at;
    int *seen, i, draws = 200000;
    tri_rng rng = tri_rng_stream(78, 0, TRI_RNG_TEST);

    (void)state;
    make_mesh(&b);
    s = brute_space(&b);
    n = tri_space_count(s);
    seen = calloc((size_t)n, sizeof *seen);
    for (i = 0; i < draws; i++) {
        int p;
        for (p = 0; p < b.n; p++) {
            u[p] = tri_rng_unit(&rng);
        }
        assert_int_equal(tri_space_from_unit(s, u, c), TRI_OK);
        assert_int_equal(tri_space_index(s, c, &at), TRI_OK);
        seen[at]++;
    }
    x = chi_square(seen, n, draws);
    assert_true(fabs(x - (double)(n - 1)) < 4 * sqrt(2.0 * (double)(n - 1)));
    for (i = 0; i < b.n; i++) {
        u[i] = 0;
    }
    assert_int_equal(tri_space_from_unit(s, u, c), TRI_OK);
    assert_int_equal(tri_space_index(s, c, &at), TRI_OK);
    assert_int_equal(at, 0);
    for (i = 0; i < b.n; i++) {
        u[i] = 1 - 1e-16;
    }
    assert_int_equal(tri_space_from_unit(s, u, c), TRI_OK);
    assert_int_equal(tri_space_index(s, c, &at), TRI_OK);
    assert_int_equal(at, n - 1);
    free(seen);
    tri_space_destroy(s);
}

static void floats(void **state)
{
    tri_rng rng = tri_rng_stream(79, 0, TRI_RNG_TEST);
    tri_config c[BRUTE_PARAMS], near[40 * BRUTE_PARAMS];
    double u[BRUTE_PARAMS] = {0.5, 0.5, 0.5, 0.5}, low = 0;
    brute b;
    tri_space *s;
    tri_why w;
    int i, n;

    (void)state;
    memset(&b, 0, sizeof b);
    b.n = 4;
    b.names[0] = "lr";
    b.names[1] = "x";
    b.names[2] = "k";
    b.names[3] = "m";
    b.domains[0] = reals(1e-4, 1, 1);
    b.domains[1] = reals(-1, 1, 0);
    b.domains[2] = ints(1, 4);
    b.domains[3] = reals(0, 1, 0);
    b.when[3] = "k > 2";
    b.constraints[0] = "x * k > 1";
    b.n_constraints = 1;
    s = brute_space(&b);
    assert_int_equal(tri_space_count(s), -1);
    assert_true(isinf(tri_space_raw(s)));
    for (i = 0; i < 2000; i++) {
        assert_int_equal(tri_space_sample(s, &rng, c), TRI_OK);
        assert_true(tri_space_valid(s, c, NULL));
        assert_true(c[1].u.d * (double)c[2].u.i > 1);
        assert_int_equal(c[3].type, c[2].u.i > 2 ? TRI_REAL : TRI_INACTIVE);
        low += c[0].u.d < 1e-2;
    }
    assert_true(fabs(low / 2000 - 0.5) < 0.05); /* uniform in the logarithm */
    assert_int_equal(tri_space_from_unit(s, u, c), TRI_OK);
    assert_true(tri_space_valid(s, c, NULL));
    assert_true(fabs(c[0].u.d - 1e-2) < 1e-12);
    n = tri_space_neighbours(s, c, near, 40);
    assert_true(n > 4);
    for (i = 0; i < n; i++) {
        assert_true(tri_space_valid(s, near + i * b.n, NULL));
    }
    assert_true(tri_space_rule_refused(s, 0) == -1);
    assert_int_equal(tri_space_why(s, "k=1 m=0.5", &w), TRI_OK);
    assert_false(w.valid);
    assert_string_equal(w.rule, "k > 2");
    assert_int_equal(tri_space_why(s, "k=1 x=0.5", &w), TRI_OK);
    assert_string_equal(w.rule, "x * k > 1");
    assert_int_equal(tri_space_why(s, "k=3", &w), TRI_OK);
    assert_true(w.valid);
    assert_int_equal(tri_space_at(s, 0, c), TRI_ERANGE);
    tri_space_destroy(s);
}

static void floats_in_no_constraint_are_exact_otherwise(void **state)
{
    tri_rng rng = tri_rng_stream(80, 0, TRI_RNG_TEST);
    tri_config c[BRUTE_PARAMS];
    int i, two = 0;
    brute b;
    tri_space *s;

    (void)state;
    memset(&b, 0, sizeof b);
    b.n = 3;
    b.names[0] = "k";
    b.names[1] = "x";
    b.names[2] = "j";
    b.domains[0] = b.domains[2] = ints(1, 1000);
    b.domains[1] = reals(0, 1, 0);
    b.when[1] = "k == 2";
    b.constraints[0] = "k * j == 2"; /* two of a million: no rejection */
    b.n_constraints = 1;
    s = brute_space(&b);
    for (i = 0; i < 400; i++) {
        assert_int_equal(tri_space_sample(s, &rng, c), TRI_OK);
        assert_true(tri_space_valid(s, c, NULL));
        two += c[0].u.i == 2;
    }
    assert_true(two > 150 && two < 250);
    tri_space_destroy(s);
}

static void impossible_floats_end(void **state)
{
    tri_rng rng = tri_rng_stream(81, 0, TRI_RNG_TEST);
    tri_config c[BRUTE_PARAMS];
    brute b;
    tri_space *s;

    (void)state;
    memset(&b, 0, sizeof b);
    b.n = 1;
    b.names[0] = "x";
    b.domains[0] = reals(0, 1, 0);
    b.constraints[0] = "x > 2";
    b.n_constraints = 1;
    s = brute_space(&b);
    assert_int_equal(tri_space_sample(s, &rng, c), TRI_EEMPTY);
    tri_space_destroy(s);
}

static void empty_and_huge_sets(void **state)
{
    tri_rng rng = tri_rng_stream(82, 0, TRI_RNG_TEST);
    tri_config c[BRUTE_PARAMS];
    brute b;
    tri_space *s;
    int64_t at;
    int i, lo, hi;

    (void)state;
    make_mesh(&b);
    b.constraints[0] = "dp * tp * pp == 23 * 29";
    s = brute_space(&b);
    assert_int_equal(tri_space_count(s), 0);
    assert_int_equal(tri_space_sample(s, &rng, c), TRI_EEMPTY);
    assert_int_equal(tri_space_at(s, 0, c), TRI_ERANGE);
    tri_space_rank_range(s, &lo, &hi);
    assert_true(lo == 0 && hi == 0);
    tri_space_destroy(s);
    memset(&b, 0, sizeof b);
    b.n = 3; /* 10^27 free points: drawn, not numbered */
    b.names[0] = "x";
    b.names[1] = "y";
    b.names[2] = "z";
    for (i = 0; i < 3; i++) {
        b.domains[i] = ints(1, 1000000000);
    }
    s = brute_space(&b);
    assert_int_equal(tri_space_count(s), -1);
    assert_int_equal(tri_space_sample(s, &rng, c), TRI_OK);
    assert_true(tri_space_valid(s, c, NULL));
    assert_int_equal(tri_space_index(s, c, &at), TRI_ERANGE);
    tri_space_destroy(s);
}

static void too_large_names_the_constraint(void **state)
{
    tri_space_builder *b;
    tri_space *s = NULL;
    tri_domain d = ints(1, 100000);
    tri_status st;

    (void)state;
    assert_int_equal(tri_space_builder_create(&b), TRI_OK);
    tri_space_add_param(b, "x", &d, NULL, 0, 0);
    tri_space_add_param(b, "y", &d, NULL, 0, 0);
    tri_space_add_param(b, "z", &d, NULL, 0, 0);
    tri_space_add_constraint(b, "x > 1", NULL, 0, 5, 3);
    tri_space_add_constraint(b, "sqrt(x * 1.5) + sqrt(y) < 3 * sqrt(z + x)",
                             NULL, 0, 6, 3);
    st = tri_space_create(b, &s);
    assert_int_equal(st, TRI_ETOOLARGE);
    assert_non_null(strstr(tri_error_last()->sentence, "sqrt(x * 1.5)"));
    assert_int_equal(tri_error_last()->line, 6);
    assert_null(s);
    tri_space_builder_destroy(b);
}

static void why(void **state)
{
    static const struct {
        const char *text;
        int valid;
        const char *rule, *values;
    } rows[] = {
            {"dp=2,tp=3,pp=4,virt=1,free=0", 1, NULL, ""},
            {"dp=2 tp=3 pp=4", 1, NULL, ""},
            {"dp=24", 1, NULL, ""},
            {"dp=5", 0, "dp * tp * pp == 24", "dp=5"},
            {"dp=2,tp=5", 0, "dp * tp * pp == 24", "dp=2 tp=5"},
            {"dp=24,tp=1,pp=1,free=0", 1, NULL, ""},
            {"dp=24,tp=1,pp=1,free=0,virt=2", 0, "pp > 1", "virt=2 pp=1"},
            {"pp=1,virt=2", 0, "pp > 1", "virt=2 pp=1"},
            {"pp=2,virt=inactive", 0, "pp > 1", "virt=inactive pp=2"},
            {"dp=2,tp=2,pp=2,virt=1,free=0", 0, "dp * tp * pp == 24",
             "dp=2 tp=2 pp=2"},
            {"", 1, NULL, ""},
    };
    static const struct {
        const char *text;
        tri_status status;
    } bad[] = {{"dpp=1", TRI_EUNKNOWN},    {"dp=25", TRI_ERANGE},
               {"dp=x", TRI_ERANGE},       {"dp", TRI_EPARSE},
               {"dp=1,dp=2", TRI_EEXIST},  {"dp=", TRI_EPARSE},
               {"dp=inactive", TRI_ERANGE}};
    brute b;
    tri_space *s;
    tri_why w;
    size_t i;

    (void)state;
    make_mesh(&b);
    s = brute_space(&b);
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(tri_space_why(s, rows[i].text, &w), TRI_OK);
        if (w.valid != rows[i].valid) {
            print_error("%s\n", rows[i].text);
        }
        assert_int_equal(w.valid, rows[i].valid);
        if (rows[i].rule) {
            assert_string_equal(w.rule, rows[i].rule);
            assert_string_equal(w.values, rows[i].values);
        } else {
            assert_null(w.rule);
        }
    }
    for (i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(tri_space_why(s, bad[i].text, &w), bad[i].status);
    }
    tri_space_destroy(s);
}

static void text_of_configurations(void **state)
{
    tri_config c[BRUTE_PARAMS], d[BRUTE_PARAMS];
    char text[200];
    brute b;
    tri_space *s;

    (void)state;
    make_mesh(&b);
    s = brute_space(&b);
    assert_int_equal(tri_space_parse(s, "dp=2,tp=3,pp=4,virt=1,free=0", c),
                     TRI_OK);
    tri_space_print(s, c, text, sizeof text);
    assert_string_equal(text, "dp=2 free=0 tp=3 pp=4 virt=1");
    assert_int_equal(tri_space_parse(s, text, d), TRI_OK);
    assert_true(tri_space_equal(s, c, d));
    assert_true(tri_space_hash(s, c) == tri_space_hash(s, d));
    assert_int_equal(tri_space_parse(s, "dp=24 tp=1 pp=1 free=0", d), TRI_OK);
    assert_int_equal(d[4].type, TRI_INACTIVE);
    tri_space_print(s, d, text, sizeof text);
    assert_string_equal(text, "dp=24 free=0 tp=1 pp=1");
    assert_false(tri_space_hash(s, c) == tri_space_hash(s, d));
    assert_int_equal(tri_space_parse(s, "dp=24 tp=1", d), TRI_ENOTFOUND);
    assert_int_equal(tri_space_print(s, c, text, 5), 28);
    assert_string_equal(text, "dp=2");
    tri_space_destroy(s);
}

/* Identity is by names and values, whatever the ranges and their order. */
static void hashes_do_not_depend_on_ranges(void **state)
{
    tri_config c[BRUTE_PARAMS], d[BRUTE_PARAMS];
    brute b;
    tri_space *s, *t;

    (void)state;
    memset(&b, 0, sizeof b);
    b.n = 2;
    b.names[0] = "x";
    b.names[1] = "y";
    b.domains[0] = ints(1, 3);
    b.domains[1] = ints(4, 9);
    s = brute_space(&b);
    assert_int_equal(tri_space_parse(s, "x=2 y=5", c), TRI_OK);
    b.names[0] = "y";
    b.names[1] = "x";
    b.domains[0] = ints(5, 6);
    b.domains[1] = ints(0, 3);
    t = brute_space(&b);
    assert_int_equal(tri_space_parse(t, "x=2 y=5", d), TRI_OK);
    assert_true(tri_space_hash(s, c) == tri_space_hash(t, d));
    assert_int_equal(tri_space_parse(t, "x=3 y=5", d), TRI_OK);
    assert_false(tri_space_hash(s, c) == tri_space_hash(t, d));
    tri_space_destroy(t);
    tri_space_destroy(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(samples_are_uniform),
            cmocka_unit_test(units_keep_volume),
            cmocka_unit_test(floats),
            cmocka_unit_test(floats_in_no_constraint_are_exact_otherwise),
            cmocka_unit_test(impossible_floats_end),
            cmocka_unit_test(empty_and_huge_sets),
            cmocka_unit_test(too_large_names_the_constraint),
            cmocka_unit_test(why),
            cmocka_unit_test(text_of_configurations),
            cmocka_unit_test(hashes_do_not_depend_on_ranges)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

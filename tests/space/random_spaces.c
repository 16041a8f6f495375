/*
 * The exact engine against brute force, on random small spaces: count, raw,
 * order, number of a configuration, what each rule refuses alone, neighbours.
 */
#include "tests/space/brute.h"
#include "tests/tri_cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SPACES 1500

static const char *const names[BRUTE_PARAMS] = {"a", "b", "c", "d",
                                                "e", "f", "g", "h"};
static tri_value word_values[3], mixed_values[4], bool_values[2];

static void make_values(void)
{
    static const char *const words[] = {"red", "1f1b", "blue"};
    int i;

    for (i = 0; i < 3; i++) {
        word_values[i].type = TRI_WORD;
        word_values[i].u.word = words[i];
    }
    for (i = 0; i < 4; i++) {
        mixed_values[i].type = i % 2 ? TRI_REAL : TRI_INT;
        if (i % 2) {
            mixed_values[i].u.d = i + 0.5;
        } else {
            mixed_values[i].u.i = 7 - i;
        }
    }
    for (i = 0; i < 2; i++) {
        bool_values[i].type = TRI_BOOL;
        bool_values[i].u.i = i;
    }
}

static int pick(tri_rng *rng, int n)
{
    return (int)tri_rng_below(rng, (uint64_t)n);
}

/* A kind of parameter by its place: two words, a boolean, a mixed choice, the
 * others integers; so constraints know what they can do with each. */
static void make_domain(tri_rng *rng, int i, tri_domain *d)
{
    memset(d, 0, sizeof *d);
    d->kind = TRI_DOMAIN_CHOICE;
    if (i == 2) {
        d->values = word_values;
        d->n_values = 3; /* conditions name all of them */
    } else if (i == 4) {
        d->values = bool_values;
        d->n_values = 2;
    } else if (i == 5) {
        d->values = mixed_values;
        d->n_values = 1 + pick(rng, 4);
    } else {
        d->kind = TRI_DOMAIN_INT;
        d->lo = pick(rng, 5) - (i == 3 ? 3 : 0);
        d->hi = d->lo + pick(rng, 7);
        d->step = 1 + pick(rng, 2);
    }
}

static const char *const conditions[] = {
        "a * b == 6",
        "a * b * max(d, 1) <= 12",
        "a + b - d >= 3",
        "b - (a - d) == 2",
        "12 % (1 + a * b) == 0",
        "(a * 3 + b * 3) % 3 == 0 and b > 0",
        "a in [1, 2, 4] or b in [3, b]",
        "if(a > b, d > 0, d <= 1)",
        "not (a == b or a == d)",
        "min(a, b, d) < 2",
        "abs(d) ** 2 <= a + b",
        "a // 2 == b // 3",
        "sqrt(a * a + b * b) <= 5",
        "a / 2 + b / 4 > 1.2",
        "floor(a / 2) * 2 == a",
        "2 * a == 3 * b",
        "a == inactive or a < 4",
        "-a + 2 * b != d",
        "a * a - b * b == 5 or a > 2",
        "(d + 5) % 4 < 2",
};
static const char *const with_words[] = {"c == red or a > 1", "c != 1f1b",
                                         "c in [red, blue] and b > 0",
                                         "if(c == blue, a >= 2, b >= 1)"};
static const char *const with_flags[] = {"e or a > 2", "not e or c == red",
                                         "e == (a > b)"};
static const char *const with_mixed[] = {"f > 3", "f * 2 <= a + 9",
                                         "f == 5 or f == 1.5", "f + a >= b"};
static const char *const whens[] = {"a > 1", "b >= 2 or d > 0", "d == 0",
                                    "a + b > 3"};

/* ---- random expressions ------------------------------------------------ */

#define TEXT 2000

static size_t put(char *buf, size_t n, const char *text)
{
    return n + (size_t)snprintf(buf + n, TEXT - n, "%s", text);
}

/* A number over a, b, d and small constants; divisors are kept off zero. */
static size_t put_number(tri_rng *rng, char *buf, size_t n, int depth)
{
    static const char *const leaves[] = {"a", "b", "d", "1",
                                         "2", "3", "7", "-1"};
    static const char *const ops[] = {" + ", " - ", " * "};
    static const char *const calls[] = {"min(", "max("};
    int k = depth > 0 ? pick(rng, 9) : 0;

    if (k < 2) {
        return put(buf, n, leaves[pick(rng, 8)]);
    }
    n = put(buf, n, k == 5 ? calls[pick(rng, 2)] : k == 6 ? "abs(" : "(");
    n = put_number(rng, buf, n, depth - 1);
    if (k == 6) {
        return put(buf, n, ")");
    }
    if (k > 6) {
        n = put(buf, n, k == 7 ? " % max(1, " : " // max(1, ");
        n = put_number(rng, buf, n, depth - 1);
        return put(buf, n, "))");
    }
    n = put(buf, n, k == 5 ? ", " : ops[k - 2]);
    n = put_number(rng, buf, n, depth - 1);
    return put(buf, n, ")");
}

static size_t put_truth(tri_rng *rng, char *buf, size_t n, int depth)
{
    static const char *const ops[] = {" == ", " != ", " < ",
                                      " <= ", " > ",  " >= "};
    int k = depth > 0 ? pick(rng, 6) : 0;

    if (k < 3) {
        n = put_number(rng, buf, n, 2);
        n = put(buf, n, ops[pick(rng, 6)]);
        return put_number(rng, buf, n, 2);
    }
    n = put(buf, n, k == 5 ? "if(" : "(");
    n = put_truth(rng, buf, n, depth - 1);
    n = put(buf, n, k == 3 ? " and " : k == 4 ? " or not (" : ", ");
    n = put_truth(rng, buf, n, depth - 1);
    if (k == 5) {
        n = put(buf, n, ", ");
        n = put_truth(rng, buf, n, depth - 1);
    }
    return put(buf, n, k == 4 ? "))" : ")");
}

static const char *const rank_formulas[] = {
        "1 + abs(a * b)", "max(1, a + b - d)", "if(c == red, 2, 1) * max(a, 1)",
        "1 + (a + 3 * b) % 7"};

static const char *make_constraint(tri_rng *rng, int n)
{
    int k = pick(rng, 10);

    if (n > 5 && k == 0) {
        return with_mixed[pick(rng, 4)];
    }
    if (n > 4 && k == 1) {
        return with_flags[pick(rng, 3)];
    }
    if (k == 2) {
        return with_words[pick(rng, 4)];
    }
    return conditions[pick(rng, (int)(sizeof conditions / sizeof *conditions))];
}

static void make_space(tri_rng *rng, brute *b)
{
    int i;

    memset(b, 0, sizeof *b);
    b->n = 4 + pick(rng, 4);
    for (i = 0; i < b->n; i++) {
        b->names[i] = names[i];
        make_domain(rng, i, &b->domains[i]);
    }
    /* c, and those that no arithmetic uses, may be inactive. */
    if (pick(rng, 2)) {
        b->when[2] = whens[pick(rng, 4)];
    }
    if (b->n > 6 && pick(rng, 2)) {
        b->when[6] = b->when[2] && pick(rng, 2) ? "c == red" : whens[0];
    }
    b->ranks = pick(rng, 3) ? rank_formulas[pick(rng, 4)] : NULL;
    b->n_constraints = pick(rng, 4);
    for (i = 0; i < b->n_constraints; i++) {
        b->constraints[i] = make_constraint(rng, b->n);
    }
}

/* Three integer parameters under random expressions. */
static void make_random(tri_rng *rng, brute *b, char text[3][TEXT])
{
    static const int at[] = {0, 1, 3};
    int i;

    memset(b, 0, sizeof *b);
    b->n = 3;
    for (i = 0; i < 3; i++) {
        b->names[i] = names[at[i]];
        make_domain(rng, at[i], &b->domains[i]);
    }
    b->n_constraints = 1 + pick(rng, 3);
    for (i = 0; i < b->n_constraints; i++) {
        put_truth(rng, text[i], 0, 2);
        b->constraints[i] = text[i];
    }
}

static void show(const brute *b, int which)
{
    int i;

    print_message("space %d:\n", which);
    for (i = 0; i < b->n; i++) {
        const tri_domain *d = &b->domains[i];
        print_message("  %s [%lld, %lld] step %lld, %d values%s%s\n",
                      b->names[i], (long long)d->lo, (long long)d->hi,
                      (long long)d->step, d->n_values,
                      b->when[i] ? ", when " : "",
                      b->when[i] ? b->when[i] : "");
    }
    for (i = 0; i < b->n_constraints; i++) {
        print_message("  %s\n", b->constraints[i]);
    }
}

/* Whether the number of configurations within some ranks is another. */
static int within_differs(const brute *b, const tri_space *s, int max)
{
    int64_t i, n = 0, got = tri_space_count_within(s, max);
    int ranks = 0;

    for (i = 0; i < b->count; i++) {
        if (tri_space_ranks(s, b->points + i * b->n, &ranks) != TRI_OK) {
            return 1;
        }
        n += ranks <= max;
    }
    if (got != n) {
        print_message("%lld of %d ranks for %lld\n", (long long)got, max,
                      (long long)n);
    }
    return got != n;
}

static int differs(const brute *b, const tri_space *s)
{
    tri_config c[BRUTE_PARAMS];
    int64_t i, index;
    int k, lo, hi;

    if (tri_space_count(s) != b->count || tri_space_raw(s) != b->raw) {
        print_message("count %lld for %lld, raw %g for %g\n",
                      (long long)tri_space_count(s), (long long)b->count,
                      tri_space_raw(s), b->raw);
        return 1;
    }
    tri_space_rank_range(s, &lo, &hi);
    if (lo != b->rank_lo || hi != b->rank_hi) {
        print_message("ranks %d to %d for %d to %d\n", lo, hi, b->rank_lo,
                      b->rank_hi);
        return 1;
    }
    for (k = lo; k <= hi; k += 1 + (hi - lo) / 3) {
        if (within_differs(b, s, k)) {
            return 1;
        }
    }
    for (k = 0; k < b->n_constraints; k++) {
        if (tri_space_rule_refused(s, k) != b->refused[k]) {
            print_message("rule %d refuses %g for %g\n", k,
                          tri_space_rule_refused(s, k), b->refused[k]);
            return 1;
        }
    }
    for (i = 0; i < b->count; i++) {
        const tri_config *want = b->points + i * b->n;
        if (tri_space_at(s, i, c) != TRI_OK || !tri_space_equal(s, c, want) ||
            tri_space_index(s, want, &index) != TRI_OK || index != i ||
            !tri_space_valid(s, want, NULL)) {
            print_message("configuration %lld\n", (long long)i);
            return 1;
        }
    }
    return 0;
}

static void engine_equals_brute_force(void **state)
{
    tri_rng rng = tri_rng_stream(20240, 1, TRI_RNG_TEST);
    int i, empty = 0, bad = 0;
    brute b;
    tri_space *s;

    (void)state;
    make_values();
    for (i = 0; i < SPACES && !bad; i++) {
        make_space(&rng, &b);
        brute_solve(&b);
        s = brute_space(&b);
        bad = differs(&b, s);
        if (bad) {
            show(&b, i);
        }
        empty += b.count == 0;
        tri_space_destroy(s);
        brute_free(&b);
    }
    print_message("%d spaces of seed 20240, %d of them empty\n", i, empty);
    assert_false(bad);
    assert_true(empty < SPACES / 2);
}

static void random_expressions_too(void **state)
{
    static char text[3][TEXT];
    tri_rng rng = tri_rng_stream(20242, 1, TRI_RNG_TEST);
    int i, bad = 0, some = 0;
    brute b;
    tri_space *s;

    (void)state;
    for (i = 0; i < SPACES && !bad; i++) {
        make_random(&rng, &b, text);
        brute_solve(&b);
        s = brute_space(&b);
        bad = differs(&b, s);
        if (bad) {
            show(&b, i);
        }
        some += b.count > 0 && (double)b.count < b.raw;
        tri_space_destroy(s);
        brute_free(&b);
    }
    print_message("%d spaces of seed 20242, %d of them cut\n", i, some);
    assert_false(bad);
    assert_true(some > SPACES / 10);
}

/* The number of parameters of c that differ from those of d. */
static int distance(const brute *b, const tri_config *c, const tri_config *d)
{
    int i, n = 0;

    for (i = 0; i < b->n; i++) {
        n += !tri_value_equal(c[i], d[i]);
    }
    return n;
}

/* All that is one change away in the reference must be offered. */
static int misses(const brute *b, const tri_config *from,
                  const tri_config *near, int n)
{
    int64_t i;
    int k;

    for (i = 0; i < b->count; i++) {
        const tri_config *p = b->points + i * b->n;
        if (distance(b, p, from) != 1) {
            continue;
        }
        for (k = 0; k < n && distance(b, p, near + k * b->n) != 0; k++) {
        }
        if (k == n) {
            return 1;
        }
    }
    return 0;
}

static void neighbours_are_valid(void **state)
{
    enum {
        MAX = 4000
    };
    tri_rng rng = tri_rng_stream(20241, 1, TRI_RNG_TEST);
    tri_config *near = malloc(sizeof *near * MAX * BRUTE_PARAMS);
    int i, k, n, seen = 0;
    brute b;
    tri_space *s;

    (void)state;
    make_values();
    for (i = 0; i < 200; i++) {
        make_space(&rng, &b);
        brute_solve(&b);
        s = brute_space(&b);
        if (b.count > 0) {
            const tri_config *from = b.points + (b.count / 2) * b.n;
            n = tri_space_neighbours(s, from, near, MAX);
            for (k = 0; k < n; k++) {
                assert_true(tri_space_valid(s, near + k * b.n, NULL));
                assert_true(distance(&b, from, near + k * b.n) > 0);
            }
            assert_false(n < MAX && misses(&b, from, near, n));
            assert_true(tri_space_neighbours(s, from, near, 1) <= 1);
            seen += n;
        }
        tri_space_destroy(s);
        brute_free(&b);
    }
    free(near);
    assert_true(seen > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(engine_equals_brute_force),
            cmocka_unit_test(random_expressions_too),
            cmocka_unit_test(neighbours_are_valid)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

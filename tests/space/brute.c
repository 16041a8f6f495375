/*
 * See brute.h.
 */
#include "tests/space/brute.h"

#include "src/space/node.h"
#include "tests/tri_cmocka.h"

#include <stdlib.h>
#include <string.h>

static int64_t count_of(const tri_domain *d)
{
    return d->kind == TRI_DOMAIN_INT ? (d->hi - d->lo) / d->step + 1
                                     : d->n_values;
}

static tri_value value_of(const tri_domain *d, int64_t i)
{
    tri_value v = {TRI_INT, {0}};

    if (d->kind != TRI_DOMAIN_INT) {
        return d->values[i];
    }
    v.u.i = d->lo + i * d->step;
    return v;
}

static int64_t place(const tri_domain *d, tri_value v)
{
    int64_t i;

    for (i = 0; i < count_of(d); i++) {
        if (tri_value_equal(value_of(d, i), v)) {
            return i;
        }
    }
    return -1; /* inactive comes first */
}

static const brute *sorting;

static int by_place(const void *a, const void *b)
{
    const tri_config *x = a, *y = b;
    int i;

    for (i = 0; i < sorting->n; i++) {
        int64_t p = place(&sorting->domains[i], x[i]);
        int64_t q = place(&sorting->domains[i], y[i]);
        if (p != q) {
            return p < q ? -1 : 1;
        }
    }
    return 0;
}

static void declare(const brute *b, tri_var *vars, const char **words, int *n)
{
    int i, k;

    *n = 0;
    for (i = 0; i < b->n; i++) {
        const tri_domain *d = &b->domains[i];
        tri_var v = {b->names[i], 0, b->when[i] != NULL, NULL};
        for (k = 0; k < count_of(d); k++) {
            v.types |= TRI_BIT(value_of(d, k).type);
            if (value_of(d, k).type == TRI_WORD) {
                words[(*n)++] = value_of(d, k).u.word;
            }
        }
        vars[i] = v;
    }
}

/* Inactive parameters may depend on each other: until nothing changes. */
static void settle(const brute *b, tri_expr *const *when, tri_config *c)
{
    tri_value v;
    int round, i;

    for (round = 0; round < b->n; round++) {
        for (i = 0; i < b->n; i++) {
            if (when[i]) {
                assert_int_equal(tri_expr_eval(when[i], c, &v), TRI_OK);
                if (!v.u.i) {
                    c[i].type = TRI_INACTIVE;
                }
            }
        }
    }
}

static int judge(brute *b, tri_expr *const *rules, const tri_config *c)
{
    tri_value v;
    int i, ok = 1;

    for (i = 0; i < b->n_constraints; i++) {
        assert_int_equal(tri_expr_eval(rules[i], c, &v), TRI_OK);
        b->refused[i] += !v.u.i;
        ok &= v.u.i != 0;
    }
    return ok;
}

static void all_points(brute *b, tri_expr *const *when, tri_expr *const *rules)
{
    int64_t total = 1, p;
    int i;

    for (i = 0; i < b->n; i++) {
        total *= count_of(&b->domains[i]);
    }
    b->raw = (double)total;
    b->points = malloc((size_t)total * (size_t)b->n * sizeof *b->points);
    for (p = 0; p < total; p++) {
        tri_config *c = b->points + b->count * b->n;
        int64_t rest = p;
        for (i = b->n - 1; i >= 0; i--) {
            int64_t n = count_of(&b->domains[i]);
            c[i] = value_of(&b->domains[i], rest % n);
            rest /= n;
        }
        settle(b, when, c);
        b->count += judge(b, rules, c);
    }
}

static void make_distinct(brute *b)
{
    size_t row = (size_t)b->n * sizeof *b->points;
    int64_t i, n = 0;

    sorting = b;
    qsort(b->points, (size_t)b->count, row, by_place);
    for (i = 0; i < b->count; i++) {
        if (n == 0 ||
            by_place(b->points + (n - 1) * b->n, b->points + i * b->n) != 0) {
            memmove(b->points + n++ * b->n, b->points + i * b->n, row);
        }
    }
    b->count = n;
}

static void find_ranks(brute *b, const tri_expr *ranks)
{
    tri_value v;
    int64_t i;

    b->rank_lo = b->rank_hi = b->count > 0;
    for (i = 0; ranks && i < b->count; i++) {
        assert_int_equal(tri_expr_eval(ranks, b->points + i * b->n, &v),
                         TRI_OK);
        b->rank_lo = i == 0 || v.u.i < b->rank_lo ? (int)v.u.i : b->rank_lo;
        b->rank_hi = i == 0 || v.u.i > b->rank_hi ? (int)v.u.i : b->rank_hi;
    }
}

void brute_solve(brute *b)
{
    tri_var vars[BRUTE_PARAMS];
    const char *words[256];
    tri_expr *when[BRUTE_PARAMS] = {NULL}, *rules[BRUTE_PARAMS] = {NULL};
    tri_expr *ranks = NULL;
    int i, n_words;

    b->count = 0;
    memset(b->refused, 0, sizeof b->refused);
    declare(b, vars, words, &n_words);
    for (i = 0; i < b->n; i++) {
        if (b->when[i]) {
            assert_int_equal(tri_expr_read(b->when[i], vars, b->n, words,
                                           n_words, &when[i]),
                             TRI_OK);
        }
    }
    for (i = 0; i < b->n_constraints; i++) {
        assert_int_equal(tri_expr_read(b->constraints[i], vars, b->n, words,
                                       n_words, &rules[i]),
                         TRI_OK);
    }
    all_points(b, when, rules);
    make_distinct(b);
    if (b->ranks) {
        assert_int_equal(
                tri_expr_read(b->ranks, vars, b->n, words, n_words, &ranks),
                TRI_OK);
    }
    find_ranks(b, ranks);
    tri_expr_destroy(ranks);
    for (i = 0; i < BRUTE_PARAMS; i++) {
        tri_expr_destroy(when[i]);
        tri_expr_destroy(rules[i]);
    }
}

void brute_free(brute *b)
{
    free(b->points);
    b->points = NULL;
}

tri_space *brute_space(const brute *b)
{
    tri_space_builder *builder;
    tri_space *s = NULL;
    tri_status st;
    int i;

    assert_int_equal(tri_space_builder_create(&builder), TRI_OK);
    for (i = 0; i < b->n; i++) {
        assert_int_equal(tri_space_add_param(builder, b->names[i],
                                             &b->domains[i], b->when[i], 0, 0),
                         TRI_OK);
    }
    for (i = 0; i < b->n_constraints; i++) {
        assert_int_equal(tri_space_add_constraint(builder, b->constraints[i],
                                                  NULL, 0, i + 1, 1),
                         TRI_OK);
    }
    if (b->ranks) {
        assert_int_equal(tri_space_set_ranks(builder, b->ranks, 0, 0), TRI_OK);
    }
    st = tri_space_create(builder, &s);
    if (st != TRI_OK) {
        print_error("%s\n", tri_error_last()->sentence);
    }
    assert_int_equal(st, TRI_OK);
    tri_space_builder_destroy(builder);
    return s;
}

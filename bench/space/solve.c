/*
 * How long the exact engine takes to solve a space and to give every valid
 * configuration by its number, against filtering raw points one by one.
 *
 * Verified before it is timed: the filter, on all raw points where there are
 * at most 10^6, else a count by divisors or sums, must agree with the engine
 * in number and, where it has them, in every configuration and its order.
 *
 * Units.  solve_s: tri_space_create, from parameters and text of constraints
 * to exact counts.  index_s: tri_space_at for every number (at most 10^5 of
 * them).  filter_s: evaluating the constraint at every raw point with the same
 * compiled expression; above 10^6 points it is measured on the first 10^6 and
 * scaled.  ratio: filter_s / (solve_s + index_s).  The smallest of five
 * repeats, CPU time of this thread.  within: solve_s + index_s is below
 * limit_s.
 */
#include "trireme/space.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define REPEATS  5
#define FILTERED 1000000
#define INDEXED  100000
#define MOST     6

typedef struct bench_case {
    const char *label;
    int n; /* parameters a, b, .. with values 1..hi */
    int64_t hi;
    const char *constraint;
    int64_t (*count)(void); /* where the filter is too slow; else NULL */
    double limit_s;
} bench_case;

static const char *const names[MOST] = {"a", "b", "c", "d", "e", "f"};

/* Ordered triples of 1..1000 with product 720720. */
static int64_t count_products(void)
{
    int64_t n = 0, a, b;

    for (a = 1; a <= 1000; a++) {
        for (b = 1; 720720 % a == 0 && b <= 1000; b++) {
            int64_t rest = 720720 / a;
            n += rest % b == 0 && rest / b <= 1000;
        }
    }
    return n;
}

/* Ordered triples of 1..1000 with sum 720. */
static int64_t count_sums(void)
{
    return (int64_t)719 * 718 / 2;
}

static const bench_case cases[] = {
        {"a million points, integers", 6, 10,
         "(a*17 + b*31 + c*7 + d*d*3 + e*13 + f*f*f) % 101 == 0", NULL, 0.05},
        {"a million points, products", 6, 10, "a * b * c * d * e * f == 2520",
         NULL, 0.05},
        {"a million points, reals that share nothing", 6, 10,
         "floor(sqrt(a*1.1 + b*b*1.3) * 100 + sqrt(c*1.1 + d*d*1.7) * 10 + "
         "sqrt(e*7.7 + f*f/3) * 1000) % 101 == 0",
         NULL, 1},
        {"10^9 points, factorisation", 3, 1000, "a * b * c == 720720",
         count_products, 1},
        {"10^9 points, sum", 3, 1000, "a + b + c == 720", count_sums, 1},
};

static double cpu_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static tri_space *solve(const bench_case *c)
{
    tri_space_builder *b;
    tri_space *s = NULL;
    tri_domain d;
    int i;

    memset(&d, 0, sizeof d);
    d.kind = TRI_DOMAIN_INT;
    d.lo = d.step = 1;
    d.hi = c->hi;
    if (tri_space_builder_create(&b) != TRI_OK) {
        return NULL;
    }
    for (i = 0; i < c->n; i++) {
        tri_space_add_param(b, names[i], &d, NULL, 0, 0);
    }
    tri_space_add_constraint(b, c->constraint, NULL, 0, 0, 0);
    if (tri_space_create(b, &s) != TRI_OK) {
        fprintf(stderr, "%s\n", tri_error_last()->sentence);
    }
    tri_space_builder_destroy(b);
    return s;
}

/* The next raw point in lexicographic order; 0 after the last. */
static int step(const bench_case *c, tri_config *point)
{
    int i;

    for (i = c->n - 1; i >= 0; i--) {
        if (++point[i].u.i <= c->hi) {
            return 1;
        }
        point[i].u.i = 1;
    }
    return 0;
}

/*
 * Filter raw points in order, at most `most`.  With `s` each valid one must be
 * its next configuration.  [out] `n_valid`.  Returns how many were looked at,
 * -1 on a difference.
 */
static int64_t filter(const bench_case *c, int64_t most, const tri_space *s,
                      int64_t *n_valid)
{
    tri_var vars[MOST];
    tri_config point[MOST], at[MOST];
    tri_value v;
    tri_expr *e;
    int64_t seen = 0, valid = 0;
    int i;

    for (i = 0; i < c->n; i++) {
        tri_var var = {names[i], 1u << TRI_INT, 0, NULL};
        vars[i] = var;
        point[i].type = TRI_INT;
        point[i].u.i = 1;
    }
    if (tri_expr_parse(c->constraint, vars, c->n, NULL, 0, TRI_BOOL, &e) !=
        TRI_OK) {
        return -1;
    }
    do {
        seen++;
        if (tri_expr_eval(e, point, &v) != TRI_OK) {
            seen = -1;
        } else if (v.u.i) {
            if (s && (tri_space_at(s, valid, at) != TRI_OK ||
                      !tri_space_equal(s, at, point))) {
                seen = -1;
            }
            valid++;
        }
    } while (seen >= 0 && seen < most && step(c, point));
    tri_expr_destroy(e);
    *n_valid = valid;
    return seen;
}

static int verify(const bench_case *c)
{
    tri_space *s = solve(c);
    int64_t n = 0;
    int ok = s != NULL;

    if (ok && c->count) {
        ok = tri_space_count(s) == c->count();
    } else if (ok) {
        ok = filter(c, INT64_MAX, s, &n) >= 0 && tri_space_count(s) == n;
    }
    tri_space_destroy(s);
    return ok;
}

static double index_all(const tri_space *s)
{
    tri_config at[MOST];
    int64_t n = tri_space_count(s), i;
    double start = cpu_s();

    for (i = 0; i < n && i < INDEXED; i++) {
        if (tri_space_at(s, i, at) != TRI_OK) {
            return 1e9;
        }
    }
    return cpu_s() - start;
}

static double time_filter(const bench_case *c, double raw)
{
    int64_t n;
    double start = cpu_s();
    int64_t seen = filter(c, FILTERED, NULL, &n);

    return (cpu_s() - start) * raw / (double)seen;
}

static void run(const bench_case *c, const char *comma)
{
    double solve_s = 1e9, index_s = 1e9, filter_s = 1e9, raw = 1, t;
    int64_t count = 0;
    int i;

    for (i = 0; i < REPEATS; i++) {
        double start = cpu_s();
        tri_space *s = solve(c);
        t = cpu_s() - start;
        solve_s = t < solve_s ? t : solve_s;
        t = index_all(s);
        index_s = t < index_s ? t : index_s;
        count = tri_space_count(s);
        raw = tri_space_raw(s);
        tri_space_destroy(s);
        t = time_filter(c, raw);
        filter_s = t < filter_s ? t : filter_s;
    }
    printf("  {\"case\": \"%s\", \"raw\": %.0f, \"valid\": %lld, \"solve_s\": "
           "%.6f, \"index_s\": %.6f, \"filter_s\": %.3f, \"ratio\": %.1f, "
           "\"limit_s\": %g, \"within\": %s}%s\n",
           c->label, raw, (long long)count, solve_s, index_s, filter_s,
           filter_s / (solve_s + index_s), c->limit_s,
           solve_s + index_s < c->limit_s ? "true" : "false", comma);
}

int main(void)
{
    const size_t n = sizeof cases / sizeof *cases;
    size_t i;

    for (i = 0; i < n; i++) {
        if (!verify(&cases[i])) {
            fprintf(stderr,
                    "bench_space_solve: \"%s\" does not agree with the "
                    "filter\n",
                    cases[i].label);
            return 1;
        }
    }
    printf("[\n");
    for (i = 0; i < n; i++) {
        run(&cases[i], i + 1 < n ? "," : "");
    }
    printf("]\n");
    return 0;
}

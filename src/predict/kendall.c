/*
 * Kendall's tau-b in O(n log n) (Knight, Journal of the American Statistical
 * Association 61, 1966): sort by one series, and count the exchanges that a
 * merge sort by the other needs.
 */
#include "trireme/predict.h"

#include <math.h>
#include <stdlib.h>

typedef struct pair {
    double a, b;
} pair;

static int by_both(const void *p, const void *q)
{
    const pair *s = p, *t = q;

    return s->a != t->a ? (s->a > t->a) - (s->a < t->a)
                        : (s->b > t->b) - (s->b < t->b);
}

static int64_t pairs_of(int64_t n)
{
    return n * (n - 1) / 2;
}

/* Pairs that are equal in a, and in both. */
static void count_ties(const pair *p, int n, int64_t *in_a, int64_t *in_both)
{
    int64_t run_a = 1;
    int64_t run_both = 1;

    *in_a = *in_both = 0;
    for (int i = 1; i <= n; i++) {
        int same_a = i < n && p[i].a == p[i - 1].a;

        if (same_a && p[i].b == p[i - 1].b) {
            run_both++;
        } else {
            *in_both += pairs_of(run_both);
            run_both = 1;
        }
        if (same_a) {
            run_a++;
        } else {
            *in_a += pairs_of(run_a);
            run_a = 1;
        }
    }
}

/* Sort b[n] upwards; the pairs that stood the wrong way round. */
static int64_t sort_counting(double *b, double *scratch, int n)
{
    int64_t swaps = 0;

    for (int64_t half = 1; half < n; half *= 2) {
        for (int64_t from = 0; from < n; from += 2 * half) {
            int64_t mid = from + half < n ? from + half : n;
            int64_t end = mid + half < n ? mid + half : n;
            int64_t i = from;
            int64_t j = mid;

            for (int64_t k = from; k < end; k++) {
                if (i < mid && (j >= end || b[i] <= b[j])) {
                    scratch[k] = b[i++];
                } else {
                    scratch[k] = b[j++];
                    swaps += mid - i;
                }
            }
        }
        for (int i = 0; i < n; i++) {
            b[i] = scratch[i];
        }
    }
    return swaps;
}

static int64_t count_equal(const double *sorted, int n)
{
    int64_t ties = 0;
    int64_t run = 1;

    for (int i = 1; i <= n; i++) {
        if (i < n && sorted[i] == sorted[i - 1]) {
            run++;
        } else {
            ties += pairs_of(run);
            run = 1;
        }
    }
    return ties;
}

/* Agreeing less disagreeing pairs, over the mean of those that could. */
static double tau_of(int64_t balance, int64_t all, int64_t in_a, int64_t in_b)
{
    if (in_a == all || in_b == all) {
        return 0;
    }
    return (double)balance / sqrt((double)(all - in_a) * (double)(all - in_b));
}

/* By all pairs, where there is no memory. */
static double tau_by_pairs(const double *a, const double *b, int n)
{
    int64_t balance = 0;
    int64_t in_a = 0;
    int64_t in_b = 0;

    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++) {
            int da = (a[i] > a[j]) - (a[i] < a[j]);
            int db = (b[i] > b[j]) - (b[i] < b[j]);

            balance += (int64_t)da * db;
            in_a += da == 0;
            in_b += db == 0;
        }
    }
    return tau_of(balance, pairs_of(n), in_a, in_b);
}

double tri_kendall_tau(const double *a, const double *b, int n)
{
    pair *p;
    double *sorted;
    int64_t in_a, in_b, in_both, swaps, all;

    if (n < 2) {
        return 0;
    }
    p = malloc((size_t)n * (sizeof *p + 2 * sizeof *sorted));
    if (!p) {
        return tau_by_pairs(a, b, n);
    }
    sorted = (double *)(p + n);
    for (int i = 0; i < n; i++) {
        p[i] = (pair){a[i], b[i]};
    }
    qsort(p, (size_t)n, sizeof *p, by_both);
    count_ties(p, n, &in_a, &in_both);
    for (int i = 0; i < n; i++) {
        sorted[i] = p[i].b;
    }
    swaps = sort_counting(sorted, sorted + n, n);
    in_b = count_equal(sorted, n);
    free(p);
    all = pairs_of(n);
    return tau_of(all - in_a - in_b + in_both - 2 * swaps, all, in_a, in_b);
}

/*
 * Medians and intervals of short series.  Sorts by hand: the C library's qsort
 * may allocate, and these run inside training steps.
 */
#include "trireme/stats.h"

#include "trireme/num.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Scales a median absolute deviation to a normal's standard deviation. */
#define MAD_SCALE    1.4826
#define OUTLIER_MADS 5
/* A MAD below this share of the median is taken to be this share. */
#define MAD_FLOOR 1e-3
/* Change points are looked for among this many first values. */
#define WARMUP_WINDOW 512

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* Shell's sort with Ciura's gaps. */
static void sort(double *x, int n)
{
    static const int gaps[] = {1750, 701, 301, 132, 57, 23, 10, 4, 1};

    for (size_t g = 0; g < sizeof gaps / sizeof gaps[0]; g++) {
        int gap = gaps[g];

        for (int i = gap; i < n; i++) {
            double v = x[i];
            int j = i;

            for (; j >= gap && x[j - gap] > v; j -= gap) {
                x[j] = x[j - gap];
            }
            x[j] = v;
        }
    }
}

static const double *sorted(const double *x, int n, double *scratch)
{
    if (n > 0) {
        memcpy(scratch, x, (size_t)n * sizeof *x);
    }
    sort(scratch, n);
    return scratch;
}

static double middle(const double *sorted_x, int n)
{
    if (n == 0) {
        return NAN;
    }
    if (n % 2) {
        return sorted_x[n / 2];
    }
    return sorted_x[n / 2 - 1] / 2 + sorted_x[n / 2] / 2;
}

double tri_median(const double *x, int n, double *scratch)
{
    return middle(sorted(x, n, scratch), n);
}

double tri_mad(const double *x, int n, double *scratch)
{
    double median = tri_median(x, n, scratch);

    for (int i = 0; i < n; i++) {
        scratch[i] = fabs(x[i] - median);
    }
    sort(scratch, n);
    return MAD_SCALE * middle(scratch, n);
}

/*
 * The largest k with P(x_(k) <= median <= x_(n+1-k)) >= 0.95: the number below
 * the median is binomial(n, 1/2).  Normal bound where 2^-n underflows.
 */
static int interval_rank(int n)
{
    double pmf;
    double below;
    int k = 0;

    if (n > 1000) {
        return (int)floor(n / 2.0 - 0.98 * sqrt((double)n));
    }
    pmf = tri_exp(-0.69314718055994530942 * n);
    below = pmf; /* P(count <= k) */
    while (below <= 0.025) {
        k++;
        pmf *= (double)(n - k + 1) / k;
        below += pmf;
    }
    return k > 0 ? k : 1;
}

tri_interval tri_median_interval(const double *x, int n, double *scratch)
{
    const double *s = sorted(x, n, scratch);
    tri_interval out = {middle(s, n), NAN, NAN};

    if (n >= TRI_STATS_MIN) {
        int k = interval_rank(n);

        out.lo = s[k - 1];
        out.hi = s[n - k];
    }
    return out;
}

int tri_is_outlier(double x, double median, double mad)
{
    return fabs(x - median) > OUTLIER_MADS * mad;
}

/* How much slower x[0..split) is than x[split..n), in MADs of the latter. */
static double slow_down(const double *x, int split, int n, double *scratch)
{
    double early = tri_median(x, split, scratch);
    double late = tri_median(x + split, n - split, scratch);
    double mad = tri_mad(x + split, n - split, scratch);

    return (early - late) / larger(mad, MAD_FLOOR * fabs(late));
}

/* Sum of the absolute deviations of x[0..n) from its median. */
static double deviation(const double *x, int n, double *scratch)
{
    double median = tri_median(x, n, scratch);
    double sum = 0;

    for (int i = 0; i < n; i++) {
        sum += fabs(x[i] - median);
    }
    return sum;
}

/* The first value past a slow start, or 0. */
static int change_point(const double *x, int n, double *scratch)
{
    double least = deviation(x, n, scratch);
    int at = 0;

    for (int split = 1; split <= n / 2; split++) {
        double left = deviation(x, split, scratch);
        double both = left + deviation(x + split, n - split, scratch);

        if (both < least) {
            least = both;
            at = split;
        }
    }
    if (at > 0 && slow_down(x, at, n, scratch) <= OUTLIER_MADS) {
        at = 0;
    }
    return at;
}

int tri_warmup_length(const double *x, int n, int limit, double *scratch)
{
    int rule = limit < n ? limit : n - 1;
    int rest;

    if (n <= 0) {
        return 0;
    }
    rest = n - rule < WARMUP_WINDOW ? n - rule : WARMUP_WINDOW;
    if (rest < TRI_STATS_MIN) {
        return rule;
    }
    return rule + change_point(x + rule, rest, scratch);
}

void tri_pooled_init(tri_pooled *p, int logs)
{
    *p = (tri_pooled){.logs = logs};
}

static double scaled(const tri_pooled *p, double x)
{
    assert(!p->logs || x > 0);
    return p->logs ? tri_log(x) : x;
}

static double scaled_mean(const tri_pooled *p, const double *x, int n)
{
    double sum = 0;

    for (int i = 0; i < n; i++) {
        sum += scaled(p, x[i]);
    }
    return sum / n;
}

void tri_pooled_add(tri_pooled *p, const double *x, int n)
{
    double mean = scaled_mean(p, x, n);

    for (int i = 0; i < n; i++) {
        double d = scaled(p, x[i]) - mean;

        p->squares += d * d;
    }
    p->dof += n > 1 ? n - 1 : 0;
}

static double block_mean(const tri_pooled *p, const double *x, int n_things,
                         int n_blocks, int block)
{
    double sum = 0;

    for (int i = 0; i < n_things; i++) {
        sum += scaled(p, x[i * n_blocks + block]);
    }
    return sum / n_things;
}

void tri_pooled_add_blocks(tri_pooled *p, const double *x, int n_things,
                           int n_blocks)
{
    double all = 0;

    if (n_things < 2 || n_blocks < 2) {
        return;
    }
    for (int i = 0; i < n_things; i++) {
        all += scaled_mean(p, x + i * n_blocks, n_blocks) / n_things;
    }
    for (int j = 0; j < n_blocks; j++) {
        double block = block_mean(p, x, n_things, n_blocks, j) - all;

        for (int i = 0; i < n_things; i++) {
            double thing = scaled_mean(p, x + i * n_blocks, n_blocks);
            double d = scaled(p, x[i * n_blocks + j]) - thing - block;

            p->squares += d * d;
        }
    }
    p->dof += (n_things - 1) * (n_blocks - 1);
}

/* `weight`: the estimate's variance in units of one value's. */
static tri_interval pooled_interval(const tri_pooled *p, double estimate,
                                    double weight)
{
    tri_interval out = {estimate, NAN, NAN};

    if (p->dof > 0) {
        double half = sqrt(p->squares / p->dof * weight);

        half *= half > 0 ? tri_student_quantile(0.95, p->dof) : 1;
        out.lo = estimate - half;
        out.hi = estimate + half;
    }
    if (p->logs) {
        out.value = tri_exp(out.value);
        out.lo = isnan(out.lo) ? NAN : tri_exp(out.lo);
        out.hi = isnan(out.hi) ? NAN : tri_exp(out.hi);
    }
    return out;
}

tri_interval tri_pooled_mean(const tri_pooled *p, const double *x, int n)
{
    if (n < 1) {
        return (tri_interval){NAN, NAN, NAN};
    }
    return pooled_interval(p, scaled_mean(p, x, n), 1.0 / n);
}

tri_interval tri_pooled_contrast(const tri_pooled *p, const double *a, int n_a,
                                 const double *b, int n_b)
{
    if (n_a < 1 || n_b < 1) {
        return (tri_interval){NAN, NAN, NAN};
    }
    return pooled_interval(p, scaled_mean(p, a, n_a) - scaled_mean(p, b, n_b),
                           1.0 / n_a + 1.0 / n_b);
}

/*
 * Robust statistics of short series of measurements.
 * Pure; each function sorts a copy in `scratch`, which the caller provides
 * (n doubles), so that nothing is allocated inside a training step.
 */
#ifndef TRIREME_STATS_H
#define TRIREME_STATS_H

#include "trireme/status.h"

/* From how many values on an interval is given. */
#define TRI_STATS_MIN 5

typedef struct tri_interval {
    double value; /* the estimate */
    double lo;    /* 95 % interval; NaN where there are too few values */
    double hi;
} tri_interval;

/* Median of x[0..n), NaN for n = 0; the mean of the middle two for even n. */
TRI_API double tri_median(const double *x, int n, double *scratch);
/* Median absolute deviation from the median, times 1.4826 (so that it
 * estimates a normal's standard deviation). */
TRI_API double tri_mad(const double *x, int n, double *scratch);
/* Median with the distribution-free interval of order statistics with at
 * least 95 % coverage, or the range for n = 5 (93.75 %). */
TRI_API tri_interval tri_median_interval(const double *x, int n,
                                         double *scratch);
/* Whether value x lies more than 5 scaled MADs from the median. */
TRI_API int tri_is_outlier(double x, double median, double mad);
/*
 * How many leading values of x[0..n) are warm-up: `limit` by rule (of fewer
 * values, all but the last), further ones where a change point (the split in
 * the first half that leaves the least absolute deviation from the medians of
 * its two sides) has an early side slower by more than 5 MADs of the late one.
 * Steps are durations in seconds.
 */
TRI_API int tri_warmup_length(const double *x, int n, int limit,
                              double *scratch);
/*
 * Repeated measurements of several things on one machine: they share one
 * relative noise, so its variance is pooled over all of them (one-way analysis
 * of variance), and two repeats of each already give an interval.  With `logs`
 * the values are positive and are compared by their logarithms (geometric
 * means, ratios); otherwise as they are (means, differences).
 */
typedef struct tri_pooled {
    int logs;
    double squares; /* sum of squared deviations from the sets' own means */
    int dof;        /* degrees of freedom: sum of n - 1 */
} tri_pooled;

TRI_API void tri_pooled_init(tri_pooled *p, int logs);
/* Add one set of repeats. */
TRI_API void tri_pooled_add(tri_pooled *p, const double *x, int n);
/*
 * Add several things measured in turn, x[thing][block] with n_blocks columns:
 * the noise is what neither a thing nor its block explains (two-way analysis
 * of variance), so a drift of the machine from block to block does not blur
 * contrasts between things.
 */
TRI_API void tri_pooled_add_blocks(tri_pooled *p, const double *x, int n_things,
                                   int n_blocks);
/* Mean of one set with its 95 % interval (Student's t); NaN without values,
 * and a NaN interval where no set has two. */
TRI_API tri_interval tri_pooled_mean(const tri_pooled *p, const double *x,
                                     int n);
/* Ratio a/b (with `logs`) or difference a - b of two sets, likewise. */
TRI_API tri_interval tri_pooled_contrast(const tri_pooled *p, const double *a,
                                         int n_a, const double *b, int n_b);

#endif

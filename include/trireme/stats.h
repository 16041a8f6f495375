/*
 * Robust statistics of short series of measurements (DESIGN section 8).
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
 * Ratio of the geometric means a/b of two sets of positive values with its
 * 95 % interval, Welch's t on the logarithms.  NaN interval where either has
 * fewer than two values.
 */
TRI_API tri_interval tri_ratio_interval(const double *a, int n_a,
                                        const double *b, int n_b);

#endif

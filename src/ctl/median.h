/*
 * The median of all values seen so far: two heaps, O(log n) a value.
 */
#ifndef TRI_SRC_CTL_MEDIAN_H
#define TRI_SRC_CTL_MEDIAN_H

#include "trireme/status.h"

typedef struct tri_running_median {
    double *low;  /* heap, largest first: the lower half, one more if odd */
    double *high; /* heap, smallest first */
    size_t n_low, n_high, room;
} tri_running_median;

/* TRI_ENOMEM. */
tri_status tri_running_median_add(tri_running_median *m, double x);
/* NaN if nothing was added. */
double tri_running_median_value(const tri_running_median *m);
void tri_running_median_fini(tri_running_median *m);

#endif

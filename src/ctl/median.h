/*
 * The median of all values seen so far: O(1) a value, and O(log n) for each
 * that came since it was last asked for.
 */
#ifndef TRI_SRC_CTL_MEDIAN_H
#define TRI_SRC_CTL_MEDIAN_H

#include "trireme/status.h"

typedef struct tri_median_halves tri_median_halves;

typedef struct tri_running_median {
    tri_median_halves *halves; /* NULL: nothing was added */
} tri_running_median;

/* TRI_ENOMEM. */
tri_status tri_running_median_add(tri_running_median *m, double x);
/* NaN if nothing was added. */
double tri_running_median_value(const tri_running_median *m);
void tri_running_median_fini(tri_running_median *m);

#endif

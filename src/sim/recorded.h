/*
 * Recorded results put in order for answering: one entry a configuration, its
 * points by resource, repeats combined.  Knows nothing of runs and their time.
 *
 * Immutable after creation; thread-safe.
 */
#ifndef TRI_SIM_RECORDED_H
#define TRI_SIM_RECORDED_H

#include "trireme/recorded.h"

typedef struct tri_results tri_results;

typedef enum tri_found {
    TRI_FOUND_NOT, /* nothing is recorded of it */
    TRI_FOUND_FAILED,
    TRI_FOUND /* a value, NaN if it is not a number */
} tri_found;

/* Put `list` in order; nothing of it is kept.  Repeats of a configuration and
 * resource become the median of the finite ones, failed only if all failed.
 * TRI_EEMPTY without points, TRI_ENOMEM.  [out] owned. */
tri_status tri_results_create(const tri_recorded *list, tri_results **out);
void tri_results_destroy(tri_results *r);
/* What `c` had after `resource`: by its point there, else the last before it,
 * else the first after it.  [out] `value`. */
tri_found tri_results_at(const tri_results *r, const tri_config *c,
                         int64_t resource, double *value);
/* Seconds a unit of resource that the same point took, the median of its
 * repeats; 0: not known. */
double tri_results_unit_s(const tri_results *r, const tri_config *c,
                          int64_t resource);
/* Distinct configurations; the largest resource of any. */
int64_t tri_results_count(const tri_results *r);
int64_t tri_results_top(const tri_results *r);
/* Whether `c` is recorded as far as any, or up to where it failed. */
int tri_results_is_whole(const tri_results *r, const tri_config *c);

#endif

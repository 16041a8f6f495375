/*
 * Results recorded elsewhere, by configuration of a study's space: what a
 * simulation of any study can answer with (`trireme sim --curves`).
 *
 * A plain growing list.  A row is one recorded configuration; a point is what
 * it measured after a resource.  Rows may repeat a configuration: whoever uses
 * the list combines them (see tri_curve_create_recorded).
 *
 * Pure.
 */
#ifndef TRIREME_RECORDED_H
#define TRIREME_RECORDED_H

#include "trireme/study.h"

typedef struct tri_recorded_point {
    int64_t row;
    int64_t resource; /* in the study's unit, from 1 */
    double objective; /* as measured, of all ranks; NaN: not a number */
    int failed;       /* the configuration failed there */
    double unit_s; /* seconds that it took a unit of resource; 0: not known */
} tri_recorded_point;

typedef struct tri_recorded {
    const tri_study *study; /* borrowed */
    int n_params;
    tri_config *configs; /* n_rows x n_params; words are the study's */
    int64_t n_rows;
    tri_recorded_point *points;
    int64_t n_points;
    int64_t outside; /* rows left out: no configuration of the space */
    size_t row_capacity, point_capacity;
} tri_recorded;

/* Nothing yet. */
TRI_API void tri_recorded_init(tri_recorded *r, const tri_study *study);
TRI_API void tri_recorded_fini(tri_recorded *r);

/* Add a row by assignments, "dp=2 tp=1", of at least every parameter that has
 * more than one value; other values than a constant's own leave the row out,
 * as all that is outside a domain.  [out] `used`: whether the points of this
 * row are wanted.  TRI_EUNKNOWN, TRI_ENOTFOUND, TRI_EPARSE, TRI_ENOMEM. */
TRI_API tri_status tri_recorded_add_row(tri_recorded *r, const char *config,
                                        int *used);
/* Add a point of the last row.  TRI_ENOMEM. */
TRI_API tri_status tri_recorded_add(tri_recorded *r, int64_t resource,
                                    double objective, int failed);
/* How long the last point took, in seconds a unit of resource. */
TRI_API void tri_recorded_took(tri_recorded *r, double unit_s);

/*
 * Add the rows of a CSV text.  Its columns: each parameter that has more than
 * one value, by name (a cell reads as in a study file; empty or "inactive":
 * inactive); the objective by the study's name for it, or step_0, step_1, ...:
 * after 1, 2, ... units of resource; perhaps `failed`.  Others are ignored but
 * for those of constants, which leave rows out.  An objective that is empty,
 * nan or infinite is none; a row without any failed, unless `failed` says so
 * of each.  `path` is for errors.
 * TRI_EUNKNOWN (a column is missing: names the closest), TRI_ETYPE (a cell
 * that is not a number), TRI_EPARSE, each with its line; TRI_ERANGE,
 * TRI_EEMPTY (no row is in the space), TRI_ENOMEM.
 */
TRI_API tri_status tri_recorded_read(tri_recorded *r, const char *text,
                                     size_t bytes, const char *path);
/* TRI_EEMPTY with a sentence that names `path` where no row was kept. */
TRI_API tri_status tri_recorded_not_empty(const tri_recorded *r,
                                          const char *path);

#endif

/*
 * Between bucket.c (what is whose), zero.c (arrays and a step) and hold.c
 * (units as the model comes to them, stages 2 and 3).
 */
#ifndef TRI_MPI_WORKERS_ZERO_INSIDE_H
#define TRI_MPI_WORKERS_ZERO_INSIDE_H

#include "mpi_workers/zero.h"

/* Memory of hold.c.  TRI_EOOM. */
tri_status tri_hold_alloc(tri_zero *z, tri_region *region);
/* Parameters that are held have changed. */
void tri_hold_forget(tri_zero *z);
/* `n` elements.  TRI_EOOM. */
tri_status tri_zero_take(tri_region *region, int64_t n, const char *what,
                         tri_real **out);
/* ---- overlap.c ---- */

enum {
    TRI_OVERLAP_NONE,
    TRI_OVERLAP_POKE,
    TRI_OVERLAP_SHM
};

/* A unit of the bucket is done with in a micro-batch; stages 0 and 1. */
void tri_overlap_after(tri_zero *z, tri_bucket *b);
/* Start what waits for the end of backward, and complete all. */
void tri_overlap_end(tri_zero *z);
/* Let what was started go on. */
void tri_overlap_poke(tri_zero *z);
/* Stage 3: start to gather a bucket's parameters `at`, in which this rank's
 * part is; and wait until it is complete. */
void tri_overlap_gather(tri_zero *z, tri_bucket *b, tri_real *at);
void tri_overlap_finish(tri_zero *z, tri_bucket *b);

/* ---- zero.c ---- */

/* This rank's part of a bucket's parameters, of its gradients. */
tri_real *tri_zero_own_params(const tri_zero *z, const tri_bucket *b);
tri_real *tri_zero_own_grads(const tri_zero *z, const tri_bucket *b);

#endif

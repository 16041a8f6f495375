/*
 * What part of a whole tensor a rank holds, as runs of its elements and as
 * boxes of its indices.  Pure; it knows no file and no rank.
 */
#ifndef TRI_MPI_WORKERS_CKPT_CUT_H
#define TRI_MPI_WORKERS_CKPT_CUT_H

#include "trireme/model.h"

/* Local elements [from, from + n) of a tensor of which [first, first + len) of
 * the split dimension is here (split -1: all of it). */
typedef struct tri_cut {
    int n_dims, split;
    int64_t shape[TRI_TENSOR_DIMS]; /* of the whole */
    int64_t first, len;
    int64_t from, n;
} tri_cut;

tri_cut tri_cut_of(const tri_tensor *t, int64_t from, int64_t n);
/* Elements of the whole tensor. */
int64_t tri_cut_whole(const tri_cut *c);

/* `n` elements that are neighbours both here, from local element `local` on,
 * and in the whole (row-major), from `global` on. */
typedef void tri_cut_run_fn(void *ctx, int64_t local, int64_t global,
                            int64_t n);
/* All runs of `c` that are in elements [global, global + n) of the whole, in
 * order. */
void tri_cut_runs(const tri_cut *c, int64_t global, int64_t n,
                  tri_cut_run_fn *fn, void *ctx);

/* `n` elements, from the `at`th of a range on, are start[], count[]. */
typedef int tri_cut_box_fn(void *ctx, const int64_t *start,
                           const int64_t *count, int64_t at, int64_t n);
/* Elements [from, from + n) of an array as few boxes, in order, until `fn`
 * returns non-zero; returns what it returned last. */
int tri_cut_boxes(const int64_t *shape, int n_dims, int64_t from, int64_t n,
                  tri_cut_box_fn *fn, void *ctx);
/* The boxes of `c`, in indices of the whole tensor. */
int tri_cut_own_boxes(const tri_cut *c, tri_cut_box_fn *fn, void *ctx);

/*
 * Checksum of the elements of `c`, whose values are at `x`: the sum, modulo
 * 2^64, of a mixture of each element's bits and its place in the whole.  So
 * those of a tensor's parts add up to that of the whole, in whatever parts it
 * is.
 */
uint64_t tri_cut_sum(const tri_cut *c, const tri_real *x);

#endif

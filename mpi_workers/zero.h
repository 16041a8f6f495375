/*
 * What the ranks of the data axis hold of the parameters of their stage, and
 * how they come to the sum of their gradients: ZeRO (Rajbhandari et al. 2020).
 *
 * The flat arrays are cut into buckets, of whole units and in the order in
 * which backward completes them: from the last unit on, until one has
 * bucket_bytes or more; the first unit, which the last one may need (a tied
 * head), is a bucket of its own.  In stage 3, where parameters are had by the
 * unit, every unit is one.  Of each bucket a rank owns a part (tri_coll_part),
 * and what it keeps of parts only are the parts of all buckets, one after the
 * other, in an array that is equally long on all ranks.
 *
 *     stage 0   parameters, gradients, optimizer state: whole on every rank
 *     stage 1   optimizer state in parts: gradients are reduced to the parts,
 *               each rank updates its own, and parameters are gathered
 *     stage 2   gradients in parts too: reduced at the end of each bucket of
 *               each micro-batch, and added there
 *     stage 3   parameters in parts too: gathered as the model comes to a
 *               unit, and overwritten by the next but one
 *
 * Sums are of ranks in order in every stage, norms are sums over parts in
 * every stage, so stages 0 and 1 have the same bits, 2 those of 3 with the
 * same buckets, and all of them the same where a step is one micro-batch.
 *
 * With `overlap` a bucket is reduced as soon as a step's backward is done with
 * it, while backward goes on (overlap.c; stages 0 and 1), and in stage 3 the
 * next unit is gathered while one is used.
 *
 * A bucket's sum over the data axis is the last: those of its tensors over the
 * tensor axis (TRI_TENSOR_TP_PART) and of tied ones over both ends come before.
 */
#ifndef TRI_MPI_WORKERS_ZERO_H
#define TRI_MPI_WORKERS_ZERO_H

#include "models/optim/optim.h"
#include "mpi_workers/coll.h"
#include "mpi_workers/shard.h"
#include "trireme/region.h"

typedef struct tri_bucket {
    int first_unit, n_units;
    int64_t first, count; /* of the flat arrays */
    int64_t own, n_own;   /* this rank's part of that */
    int64_t at;           /* where it is in an array of parts */
    int left;             /* units that backward is not done with: in this
                           * micro-batch (stages 2, 3), in this step */
    int waits;            /* not reduced before the end of backward: tied */
    MPI_Request request;  /* what MPI does with it meanwhile */
} tri_bucket;

/* Stage 3: memory in which a unit's parameters are whole. */
typedef struct tri_hold {
    tri_real *at;
    int unit; /* -1: none */
} tri_hold;

typedef struct tri_zero {
    int stage, rank, size;
    int overlap;
    int micro_batches; /* of a step */
    const tri_tensors *table;
    const tri_model_ops *ops;
    tri_model *model;
    tri_coll *data, *tensor;
    const tri_products *inner; /* that are asked between pokes */
    tri_bucket *buckets;
    int n;
    int *bucket_of; /* of each unit */
    int n_units;
    int64_t part;             /* length of an array of parts */
    tri_real *params, *grads; /* whole; NULL where there are parts only */
    tri_real *own_params, *own_grads;   /* parts; NULL where they are whole */
    tri_real *m, *v;                    /* whole in stage 0, else parts */
    tri_real *first_grads, *next_grads; /* of a bucket: the first unit's, any
                                         * other's */
    tri_hold first_hold, holds[2];      /* the first unit's; others', in turn */
    int turn;                           /* which of them is in use */
    int *counts, *places; /* of each bucket and rank: its part, for MPI */
    int pending;          /* requests of buckets */
    tri_shared *window;   /* overlap shm: gradients of all, counters */
    tri_region *apart;    /* ... or where they cannot be shared, this rank's */
} tri_zero;

/*
 * Not collective, and reads no communicator: what rank `rank` of `size` ranks
 * of the data axis holds of the table (borrowed, as ops and model are, until
 * fini).  [out] z.  TRI_ENOMEM.
 */
tri_status tri_zero_init(tri_zero *z, const tri_layout *l, int rank,
                         const tri_model_ops *ops, tri_model *model);
void tri_zero_fini(tri_zero *z);
/* Its memory; a dry region only counts.  TRI_EOOM. */
tri_status tri_zero_alloc(tri_zero *z, tri_region *region);
/* overlap shm: bytes of gradients that are in no region. */
uint64_t tri_overlap_bytes(const tri_zero *z);
/* Collective over the data axis, which is set: they are had there.  TRI_ENOMEM,
 * TRI_EOOM, scope group.  Close is not collective. */
tri_status tri_overlap_open(tri_zero *z);
void tri_overlap_close(tri_zero *z);
/* Products like `inner`, which are asked of z->inner: what was started goes on
 * between them. */
void tri_overlap_products(tri_zero *z, const tri_products *inner,
                          tri_products *out);
/* Initial values, and the model is told where its arrays are. */
void tri_zero_start(tri_zero *z, uint64_t seed);

/* Whether the model must announce its units (tri_watch); what it calls, with
 * a tri_zero. */
int tri_zero_watches(const tri_zero *z);
void tri_zero_before(void *zero, int unit, int back);
void tri_zero_after(void *zero, int unit, int back);

/*
 * A step, in this order.  Collective over `data`, `tensor` and `tied`, which
 * are set before the first; what fails is kept in their link.
 */
/* Gradients are 0. */
void tri_zero_begin(tri_zero *z);
/* This rank's parts of the gradients (stage 0: all of them) are sums. */
void tri_zero_reduce(tri_zero *z, tri_coll *tied);
/* Sum of squares of its parts, but for tensors flagged any of `skip`. */
double tri_zero_sumsq(const tri_zero *z, unsigned skip);
/* Update number `step`; parameters are the same on all ranks again. */
void tri_zero_update(tri_zero *z, const tri_adamw *opt, int64_t step,
                     double coefficient);

/* For tests and checkpoints, collective over the data axis: all parameters, or
 * the gradients of the last step, into out[table->count]. */
void tri_zero_whole_params(const tri_zero *z, tri_real *out);
void tri_zero_whole_grads(const tri_zero *z, tri_real *out);

#endif

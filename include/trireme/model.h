/*
 * What a model is to the training engine, and what the engine is to a model.
 *
 * A model is one pipeline stage of a network on one rank (one part of the
 * network, or several, its chunks): it describes its
 * parameters in a table (tri_tensor), asks a region for its memory, and runs
 * micro-batches forward and backward in numbered slots.  It knows nothing of
 * MPI: products whose operands are split over ranks are asked of functions
 * that it is handed (tri_products); what lies before and after its stage are
 * the ports that the pipeline fills and empties.
 *
 * The table drives everything that goes over parameters: initial values,
 * weight decay, the norm for clipping, the reduction of gradients, and the
 * memory of a run.  Parameters, gradients and optimizer state are flat arrays
 * of tri_tensors_count elements; a tensor is a view at its offset.
 *
 * Elements are tri_real: float, or double where TRI_REAL_DOUBLE is defined (a
 * second compilation of the same sources, for the parity tests).
 */
#ifndef TRIREME_MODEL_H
#define TRIREME_MODEL_H

#include "trireme/region.h"

#include <stdint.h>

#ifdef TRI_REAL_DOUBLE
typedef double tri_real;
#else
typedef float tri_real;
#endif

/* ---- parameters ----------------------------------------------------- */

#define TRI_TENSOR_DIMS 4
#define TRI_TENSOR_NAME 48
/* Tensors start at multiples of this many elements. */
#define TRI_TENSOR_ALIGN 16

typedef enum tri_init {
    TRI_INIT_ZERO,
    TRI_INIT_ONE,
    TRI_INIT_NORMAL /* nearly: a sum of four uniforms, of standard deviation
                     * `std` and never beyond 3.5 of them */
} tri_init;

enum {
    TRI_TENSOR_NO_DECAY = 1,  /* biases, norms, embeddings */
    TRI_TENSOR_TP_COPY = 2,   /* whole on every rank of the tensor axis */
    TRI_TENSOR_TIED = 4,      /* held by the first and the last stage: the
                               * gradient is the sum of both */
    TRI_TENSOR_TIED_COPY = 8, /* ... and this is the one that norms and
                               * checkpoints do not count */
    TRI_TENSOR_TP_PART = 16,  /* a TP_COPY whose gradient is here of this
                               * rank's rows only: the step sums it over the
                               * tensor axis */
    TRI_TENSOR_DP_COPY = 32   /* of `sparse`: whole on every rank of the data
                               * axis */
};

typedef struct tri_tensor {
    char name[TRI_TENSOR_NAME];
    uint32_t id; /* the same in every layout */
    int n_dims;
    int64_t shape[TRI_TENSOR_DIMS]; /* of the whole tensor */
    int split;                      /* split dimension, -1: none */
    int64_t first, len;             /* here: [first, first + len) of it */
    tri_init init;
    double std;
    unsigned flags;
    int unit;       /* what is used together: a layer, an end; ascending */
    int64_t offset; /* in the flat arrays, elements */
    int64_t count;  /* elements here */
    int64_t spare;  /* elements of the flat arrays after those, which stay
                     * zero: the padding of a split that does not come out
                     * even, so that all ranks' arrays are of one length */
} tri_tensor;

typedef struct tri_tensors {
    tri_tensor *at;
    int n, room;
    int64_t count; /* length of the flat arrays */
} tri_tensors;

/* Append a tensor: name, id, shape, init, std, flags, unit, spare and split are
 * read from `t`; first and len say the part of the split dimension held here
 * (ignored without split; len may be 0).  Gives it the next offset.
 * TRI_ENOMEM. */
TRI_API tri_status tri_tensors_add(tri_tensors *table, const tri_tensor *t);
TRI_API void tri_tensors_fini(tri_tensors *table);
/* Units are numbered from 0 in the order of forward. */
TRI_API int tri_tensors_units(const tri_tensors *table);
/* Where unit `unit` lies in the flat arrays: [*first, *first + *count), padding
 * included. */
TRI_API void tri_tensors_unit(const tri_tensors *table, int unit,
                              int64_t *first, int64_t *count);
/* The index in the whole tensor (row-major) of local element `i` of `t`. */
TRI_API int64_t tri_tensor_global(const tri_tensor *t, int64_t i);
/* Initial values of every tensor into the flat array `params`: element e of
 * tensor id depends on (seed, id, e) only, so that every layout starts from
 * the same numbers. */
TRI_API void tri_tensors_init(const tri_tensors *table, uint64_t seed,
                              tri_real *params);
/* The same of elements [first, first + count) of the flat arrays, which begin
 * at `params`; padding is left alone. */
TRI_API void tri_tensors_init_part(const tri_tensors *table, uint64_t seed,
                                   int64_t first, int64_t count,
                                   tri_real *params);
/* Sum of squares of `grads` over the tensors without any of the flags in
 * `skip`, in double. */
TRI_API double tri_tensors_sumsq(const tri_tensors *table,
                                 const tri_real *grads, unsigned skip);
/* The same of elements [first, first + count), which begin at `grads`. */
TRI_API double tri_tensors_sumsq_part(const tri_tensors *table, int64_t first,
                                      int64_t count, const tri_real *grads,
                                      unsigned skip);
/* What of `t` is in elements [first, first + count) of the flat arrays: its
 * elements from *from on.  Returns how many. */
TRI_API int64_t tri_tensor_within(const tri_tensor *t, int64_t first,
                                  int64_t count, int64_t *from);

/* ---- split products -------------------------------------------------- */

/* A linear layer y = x w^T + b as this rank holds it.  Borrowed views. */
typedef struct tri_linear {
    int64_t in, out;   /* held here */
    const tri_real *w; /* out x in */
    const tri_real *b; /* out; NULL: none */
    tri_real *dw, *db; /* gradients are added to these */
} tri_linear;

/*
 * Products over the tensor axis.  Column: the outputs are split, x is whole
 * on every rank and y is the rank's columns.  Row: the inputs are split, x is
 * the rank's columns, y is summed over the ranks and whole on each; b is
 * added once, after the sum.  Backward adds to dw and db and writes dx, which
 * is whole for column and the rank's columns for row.
 *
 * by_rows (sequence parallelism): what is called whole above is then of this
 * rank's rows only, an even share of the `rows` that are passed, in order of
 * ranks.  So column gathers x first, and the sums of row and of column_back
 * leave each rank its share.  db is whole all the same; what a model itself
 * computes for parameters from its share of the rows (norms) is
 * TRI_TENSOR_TP_PART.
 *
 * sum, scatter and gather are for what a model splits by itself (a
 * vocabulary), over `n` elements that are seen as `parts` even parts: sum
 * makes every element the sum over the ranks, scatter only those of this
 * rank's part (the rest is undefined), gather makes each rank's part
 * everybody's.
 *
 * A failed communication is kept by whoever supplies the functions; they then
 * leave unspecified numbers and the step is given up at its end.
 */
typedef void tri_product_fn(void *ctx, const tri_linear *l, int64_t rows,
                            const tri_real *x, tri_real *y);
typedef void tri_product_back_fn(void *ctx, const tri_linear *l, int64_t rows,
                                 const tri_real *x, const tri_real *dy,
                                 tri_real *dx);
typedef void tri_parts_fn(void *ctx, int64_t n, tri_real *x);
typedef struct tri_products {
    void *ctx;
    int parts, part; /* size of the axis and this rank's place on it */
    int by_rows;
    tri_product_fn *column, *row;
    tri_product_back_fn *column_back, *row_back;
    tri_parts_fn *sum, *scatter, *gather;
} tri_products;

/* The products of an axis of one rank. */
TRI_API const tri_products *tri_products_serial(void);

/* ---- the data axis ---------------------------------------------------- */

/* What each rank gets of a piece of memory, or gives to it. */
typedef struct tri_parcels {
    const int *bytes, *at; /* of each rank: how many, and from where */
} tri_parcels;

/*
 * What a model does between the ranks of the data axis by itself: parameters
 * that are split over it (embedding tables).  Every rank calls the same
 * functions in the same order.  exchange: bytes for every rank from `send`, to
 * `recv`, at most `most` for one rank from another; this rank's own are copied.
 * scatter, gather and sum are over n elements, as in tri_products.  Failures
 * are kept in the same way.
 */
typedef void tri_exchange_fn(void *ctx, const tri_parcels *to, const void *send,
                             const tri_parcels *from, void *recv, int most);
typedef struct tri_axis {
    void *ctx;
    int parts, part; /* size of the axis and this rank's place on it */
    tri_exchange_fn *exchange;
    tri_parts_fn *sum, *scatter, *gather;
} tri_axis;

/* An axis of one rank. */
TRI_API const tri_axis *tri_axis_serial(void);

/* ---- models ---------------------------------------------------------- */

typedef struct tri_model tri_model; /* each model has its own */

/* Where a stage meets its neighbours: a slot's input and output, and the
 * gradients of both.  IN and D_OUT are filled from outside, OUT and D_IN are
 * results. */
typedef enum tri_port {
    TRI_PORT_IN,
    TRI_PORT_OUT,
    TRI_PORT_D_OUT,
    TRI_PORT_D_IN
} tri_port;

/*
 * Told by a model as it works, of each unit (tri_tensor): before its parameters
 * are read, forward or `back`; and after, when they are not read any more in
 * this call (they may be left and overwritten until the next before) and, back,
 * all that this micro-batch adds to its gradients is added.  A unit may be
 * announced twice before its after (a tied head reads the embedding).
 */
typedef struct tri_watch {
    void *ctx;
    void (*before)(void *ctx, int unit, int back);
    void (*after)(void *ctx, int unit, int back);
} tri_watch;

/*
 * What forward keeps for backward, which makes the rest again, to the bit.
 * Selective leaves out what is cheap to make of what stays (the outputs of
 * norms and activations); full keeps what a layer starts from, and backward
 * runs its forward once more.  A model of which there is nothing more to leave
 * out takes full as selective.
 */
typedef enum tri_recompute {
    TRI_RECOMPUTE_NONE,
    TRI_RECOMPUTE_SELECTIVE,
    TRI_RECOMPUTE_FULL
} tri_recompute;

/*
 * The place of a model in its layout, common to all models.  Borrowed until
 * destroy: products, chunk_of, watch, axis.
 *
 * A pipeline is `stages` x `chunks` parts long, and part number
 * chunk x stages + stage is here: with one chunk a stage is a part.  A slot
 * belongs to one chunk for good.
 */
typedef struct tri_place {
    int stage, stages;   /* of the pipeline */
    int chunks;          /* parts of it on each stage; 0 is 1 */
    int micro_batch;     /* samples */
    int slots;           /* micro-batches alive at a time, of all chunks */
    const int *chunk_of; /* of each slot; NULL: the first */
    int global_batch;    /* samples of a step: the loss is its mean */
    tri_recompute recompute;
    const tri_products *products;
    const tri_watch *watch; /* NULL: nobody is told */
    const tri_axis *axis;   /* of data; NULL: of one rank */
} tri_place;

/* For models: tell whoever watches. */
static inline void tri_place_before(const tri_place *p, int unit, int back)
{
    if (p->watch) {
        p->watch->before(p->watch->ctx, unit, back);
    }
}

static inline void tri_place_after(const tri_place *p, int unit, int back)
{
    if (p->watch) {
        p->watch->after(p->watch->ctx, unit, back);
    }
}

/*
 * Every call after bind is free of allocation.  A slot goes through load,
 * forward, backward, in this order, and may then be loaded again; backward
 * calls add to the gradients in the order in which they are made.
 */
typedef struct tri_model_ops {
    const char *name;
    /* The parameters of this stage.  Borrowed until destroy. */
    const tri_tensors *(*tensors)(const tri_model *model);
    /* Take activations and workspace from `region`; a dry region only
     * counts.  TRI_EOOM. */
    tri_status (*alloc)(tri_model *model, tri_region *region);
    /* Say where the flat arrays are.  Borrowed until destroy. */
    void (*bind)(tri_model *model, const tri_real *params, tri_real *grads);
    /* The same of one unit, whose elements begin at `params` and `grads`. */
    void (*bind_unit)(tri_model *model, int unit, const tri_real *params,
                      tri_real *grads);
    /* Elements of a port. */
    int64_t (*port_count)(const tri_model *model);
    tri_real *(*port)(tri_model *model, tri_port port, int slot);
    /* Draw samples [sample, sample + micro_batch) of step `step` (both from
     * 0) into the slot. */
    void (*load)(tri_model *model, int slot, int64_t step, int64_t sample);
    void (*forward)(tri_model *model, int slot);
    void (*backward)(tri_model *model, int slot);
    /* Loss of the backward calls since the last take_loss, as a share of the
     * global batch's mean; 0 on all stages but the last. */
    double (*take_loss)(tri_model *model);
    /*
     * The rest is for a model with parameters of which a step touches few rows
     * (embedding tables); all NULL without.  It keeps their gradients and its
     * optimizer's state itself, in what alloc takes.  `sparse`: their table, a
     * rank's blocks; units do not count.  bind_sparse: where the flat array of
     * them is.  sparse_end, collective, after the last backward of a step: sums
     * the gradients; returns the sum of squares of what this rank owns of them.
     * sparse_update then takes them times `coefficient`.
     */
    const tri_tensors *(*sparse)(const tri_model *model);
    void (*bind_sparse)(tri_model *model, tri_real *params);
    double (*sparse_end)(tri_model *model);
    void (*sparse_update)(tri_model *model, double coefficient);
    /* The optimizer's state of tensor `k` of sparse: a number for each of its
     * rows here, the same on all ranks that have columns of the row. */
    tri_real *(*sparse_state)(tri_model *model, int k);
    /* Tokens of one sample; 0 where the model has none. */
    int64_t (*sample_tokens)(const tri_model *model);
    void (*destroy)(tri_model *model);
} tri_model_ops;

/* Number of models alive in this process, for leak tests. */
TRI_API int tri_models_alive(void);
/* To be called by models: one more (+1) or one less (-1). */
TRI_API void tri_models_count(int change);

#endif

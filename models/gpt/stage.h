/*
 * The inside of a stage of the transformer, shared by table.c (its
 * parameters), gpt.c (its making), memory.c, ends.c (embedding and head) and
 * run.c (blocks, forward and backward).
 *
 * t is the size of the tensor axis.  `rows` is micro_batch x T; `mine` are
 * those of them that the residual stream has here: all, or by rows (sequence
 * parallelism) rows / t from row `row` on.
 */
#ifndef TRI_MODELS_GPT_STAGE_H
#define TRI_MODELS_GPT_STAGE_H

#include "models/gpt/gpt.h"
#include "models/ops/ops.h"

/* A norm's gain and bias (layer norm). */
typedef struct norm {
    const tri_real *g, *b;
    tri_real *dg, *db;
} norm;

typedef struct block {
    norm norm1, norm2;
    tri_linear qkv, proj, up, down;
} block;

/* A part of the pipeline that is here. */
typedef struct chunk {
    int first_layer, n_layers;
    int first_unit;        /* of the table: its first layer */
    int is_first, is_last; /* of the pipeline: has the embedding, the head */
    block *blocks;
} chunk;

/* What forward of one block makes for backward, one micro-batch.  What is made
 * again by backward (tri_recompute) lies in memory that all blocks share:
 * norm1, norm2 and act, or all but out. */
typedef struct block_acts {
    tri_real *norm1, *mean1, *rstd1; /* mine x h, mine, mine */
    tri_real *qkv, *att, *lse;       /* rows x 3h/t, rows x h/t, H/t x rows */
    tri_real *res;                   /* x + attention, mine x h */
    tri_real *norm2, *mean2, *rstd2;
    tri_real *up, *act; /* before and after GELU, rows x up, rows x ffn/t */
    tri_real *out;      /* mine x h */
} block_acts;

typedef struct slot {
    const chunk *chunk;
    int64_t step, sample;    /* that it was loaded with */
    int32_t *input, *target; /* first and last part; rows */
    tri_real *in;            /* output of the embedding or of the part before */
    block_acts *blocks;      /* of the chunk's layers */
    tri_real *normf, *meanf, *rstdf; /* last part */
    tri_real *d_out, *d_in;          /* ports between parts */
} slot;

struct tri_model {
    tri_gpt_shape shape;
    tri_place place;
    tri_text text;
    tri_tensors tensors;
    int units; /* of the table: the first end, layers, the last end */
    int has_first, has_last; /* one of the chunks is the first, the last */
    int64_t rows, mine, row;
    int64_t width, ffn; /* of attention and MLP here: h/t, ffn/t */
    int64_t up;         /* what enters the MLP: ffn, with gates twice that */
    tri_vocab vocab;    /* the slice of it that is here */
    const tri_real *wte, *wpe;
    tri_real *dwte, *dwpe;
    tri_linear head;
    norm normf;
    chunk *chunks;
    block *blocks; /* behind the chunks' */
    slot *slots;
    block_acts *acts; /* behind the slots' */
    block_acts again; /* what is made again: shared */
    /* workspace */
    tri_real *d_res;         /* gradient of the residual stream, mine x h */
    tri_real *d_norm;        /* mine x h */
    tri_real *d_act, *d_up;  /* rows x ffn/t, rows x up; GELU's are one */
    tri_real *d_qkv, *d_att; /* rows x 3h/t, rows x h/t */
    tri_real *logits;        /* logit_rows x vocab.width */
    tri_real *stats;         /* t x logit_rows x TRI_XENT_STATS */
    int64_t logit_rows;      /* at a time */
    tri_real *whole[2];      /* by rows, at the ends: rows x h */
    tri_real *attention_work;
    tri_real *turns;  /* rope: T x head width */
    tri_real *d_drop; /* dropout: mine x h */
    uint64_t *masks;  /* dropout: of each sample */
    double loss;
};

/* ---- table.c: the parameters and where they are -------------------------- */

tri_status tri_gpt_table(tri_model *m);
void tri_gpt_bind(tri_model *m, const tri_real *params, tri_real *grads);
void tri_gpt_bind_unit(tri_model *m, int unit, const tri_real *params,
                       tri_real *grads);

/* ---- memory.c ---- */

tri_status tri_gpt_alloc(tri_model *m, tri_region *region);

/* ---- norm.c: a norm of this model's kind, of the rows that are here ---- */

void tri_gpt_norm(const tri_model *m, const norm *n, const tri_real *x,
                  tri_real *y, tri_real *mean, tri_real *rstd);
/* Adds to dx and the norm's gradients. */
void tri_gpt_norm_back(const tri_model *m, const norm *n, const tri_real *x,
                       const tri_real *mean, const tri_real *rstd,
                       const tri_real *dy, tri_real *dx);

/* ---- drop.c: does nothing without dropout ---- */

enum {
    DROP_EMBEDDING, /* layer 0 */
    DROP_ATTENTION,
    DROP_PROJ,
    DROP_DOWN,
    DROP_SITES
};

/* The keys of a site's masks, of each sample; until the next call. */
const uint64_t *tri_gpt_masks(const tri_model *m, const slot *s, int layer,
                              int site);
/* Rows of the residual stream that are here, dropped. */
void tri_gpt_drop(const tri_model *m, const slot *s, int layer, int site,
                  tri_real *x);
/* The same of `d`, which stays; until the next call. */
const tri_real *tri_gpt_dropped(const tri_model *m, const slot *s, int layer,
                                int site, const tri_real *d);

/* ---- ends.c ------------------------------------------------------ */

/* The embedding into s->in, and its gradient from d_res; the final norm of
 * `x`, and the head's loss and gradient from there into d_res. */

void tri_gpt_embed(tri_model *m, slot *s);
void tri_gpt_embed_back(tri_model *m, const slot *s);
void tri_gpt_final(const tri_model *m, slot *s, const tri_real *x);
void tri_gpt_final_back(tri_model *m, const slot *s, const tri_real *x);

/* ---- run.c: the work of tri_gpt_ops, of slot number k ---- */

tri_real *tri_gpt_port(tri_model *m, tri_port which, int k);
void tri_gpt_load(tri_model *m, int k, int64_t step, int64_t sample);
void tri_gpt_forward(tri_model *m, int k);
void tri_gpt_backward(tri_model *m, int k);

#endif

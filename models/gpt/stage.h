/*
 * The inside of a stage of the transformer, shared by gpt.c (what there is)
 * and run.c (what is done with it).
 */
#ifndef TRI_MODELS_GPT_STAGE_H
#define TRI_MODELS_GPT_STAGE_H

#include "models/gpt/gpt.h"
#include "models/ops/ops.h"

/* A norm's gain and bias. */
typedef struct norm {
    const tri_real *g, *b;
    tri_real *dg, *db;
} norm;

typedef struct block {
    norm norm1, norm2;
    tri_linear qkv, proj, up, down;
    int at; /* index of its first tensor in the table */
} block;

/* What forward of one block keeps for backward, one micro-batch. */
typedef struct block_acts {
    tri_real *norm1, *mean1, *rstd1; /* rows x h, rows, rows */
    tri_real *qkv, *att, *lse;       /* rows x 3h/t, rows x h/t, H/t x rows */
    tri_real *res;                   /* x + attention, rows x h */
    tri_real *norm2, *mean2, *rstd2;
    tri_real *up, *act; /* before and after GELU, rows x ffn/t */
    tri_real *out;      /* rows x h */
} block_acts;

typedef struct slot {
    int32_t *input, *target; /* first and last stage */
    tri_real *in;       /* output of the embedding or of the stage before */
    block_acts *blocks; /* n_layers */
    tri_real *normf, *meanf, *rstdf; /* last stage */
    tri_real *d_out, *d_in;          /* ports between stages */
} slot;

struct tri_model {
    tri_gpt_shape shape;
    tri_place place;
    tri_text text;
    tri_tensors tensors;
    int first_layer, n_layers;
    int is_first, is_last;
    int64_t rows;       /* micro_batch x T */
    int64_t width, ffn; /* of attention and MLP here: h/t, ffn/t */
    int wte_at, wpe_at, head_at, normf_at; /* in the table, -1: not here */
    const tri_real *wte, *wpe;
    tri_real *dwte, *dwpe;
    tri_linear head;
    norm normf;
    block *blocks;
    slot *slots;
    block_acts *acts; /* slots x n_layers */
    /* workspace */
    tri_real *d_res;         /* gradient of the residual stream, rows x h */
    tri_real *d_norm;        /* rows x h */
    tri_real *d_ffn;         /* rows x ffn/t */
    tri_real *d_qkv, *d_att; /* rows x 3h/t, rows x h/t */
    tri_real *logits;        /* chunk x V */
    int64_t chunk;           /* rows of logits at a time */
    tri_real *attention_work;
    double loss;
};

/* The work of tri_gpt_ops, of slot number k. */
tri_status tri_gpt_alloc(tri_model *m, tri_region *region);
void tri_gpt_load(tri_model *m, int k, int64_t step, int64_t sample);
void tri_gpt_forward(tri_model *m, int k);
void tri_gpt_backward(tri_model *m, int k);

#endif

/*
 * A decoder-only transformer: pre-norm blocks of causal attention and an MLP, a
 * final norm, a head that is tied to the token embedding or not.  In GPT-2's
 * form with learned positions, layer norm, GELU and biases; in LLaMA's with
 * rotary positions, RMSNorm, SwiGLU and none.  README.md tells the rest.
 */
#ifndef TRI_MODELS_GPT_H
#define TRI_MODELS_GPT_H

#include "models/data/data.h"
#include "trireme/model.h"

typedef struct tri_gpt_shape {
    int layers, hidden, heads, sequence, vocab, ffn;
    int tied; /* the head is the token embedding */
    /* GPT-2's form where 0 */
    int rms;        /* RMSNorm, else layer norm */
    int swiglu;     /* SwiGLU, else GELU */
    int rope;       /* rotary positions (an even head width), else learned */
    int no_bias;    /* linear layers have none */
    double dropout; /* < 1: of the embedding, of attention's probabilities
                     * and of what attention and MLP add to the stream */
} tri_gpt_shape;

extern const tri_model_ops tri_gpt_ops;

/* Layers of a part of the pipeline. */
typedef struct tri_gpt_part {
    int first_layer, n_layers;
} tri_gpt_part;

/*
 * The stage place->stage: of each of its chunks the layers that `parts` says
 * (read during the call); the embedding is in the pipeline's first part, norm
 * and head in its last.  `text` is copied, its bytes are borrowed until
 * destroy.  heads and ffn divide by place->products->parts, and by rows the
 * sequence does (the caller has checked).  [out] `out`: owned.  TRI_ENOMEM.
 */
tri_status tri_gpt_create(const tri_gpt_shape *shape, const tri_place *place,
                          const tri_gpt_part *parts, const tri_text *text,
                          tri_model **out);

#endif

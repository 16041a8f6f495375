/*
 * A decoder-only transformer (GPT-2's form): learned positions, pre-norm
 * blocks of causal attention and a GELU MLP, a final norm, a head that is tied
 * to the token embedding or not.  README.md tells the rest.
 */
#ifndef TRI_MODELS_GPT_H
#define TRI_MODELS_GPT_H

#include "models/data/data.h"
#include "trireme/model.h"

typedef struct tri_gpt_shape {
    int layers, hidden, heads, sequence, vocab, ffn;
    int tied; /* the head is the token embedding */
} tri_gpt_shape;

extern const tri_model_ops tri_gpt_ops;

/*
 * The stage place->stage with `n_layers` blocks from `first_layer` on; the
 * embedding is on the first stage, norm and head on the last.  `text` is
 * copied, its bytes are borrowed until destroy.  heads and ffn divide by
 * place->products->parts (the caller has checked).  [out] `out`: owned.
 * TRI_ENOMEM.
 */
tri_status tri_gpt_create(const tri_gpt_shape *shape, const tri_place *place,
                          int first_layer, int n_layers, const tri_text *text,
                          tri_model **out);

#endif

/*
 * The smallest model: a stack of linear layers with GELU between them, trained
 * on a synthetic regression.  Read it first before adding a model.
 */
#ifndef TRI_MODELS_MLP_H
#define TRI_MODELS_MLP_H

#include "trireme/model.h"

typedef struct tri_mlp_shape {
    int inputs, hidden, layers, outputs; /* layers: hidden ones, >= 1 */
} tri_mlp_shape;

extern const tri_model_ops tri_mlp_ops;

/* The whole network: one stage, one part.  [out] `out`: owned.
 * TRI_ENOMEM. */
tri_status tri_mlp_create(const tri_mlp_shape *shape, const tri_place *place,
                          uint64_t seed, tri_model **out);

#endif

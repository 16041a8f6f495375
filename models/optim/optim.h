/*
 * AdamW (Loshchilov and Hutter 2019): Adam with bias correction and decoupled
 * weight decay, over the flat arrays of a parameter table.
 *
 * Weights of two dimensions inside the network decay; tensors flagged
 * TRI_TENSOR_NO_DECAY (biases, norms, embeddings) do not.
 */
#ifndef TRI_MODELS_OPTIM_H
#define TRI_MODELS_OPTIM_H

#include "trireme/model.h"

typedef struct tri_adamw {
    double lr, beta1, beta2, eps, weight_decay;
} tri_adamw;

/*
 * Update number `step` (from 1): params, m and v from grads, which are first
 * multiplied by `coefficient` (clipping).  All arrays table->count long.
 */
void tri_adamw_update(const tri_adamw *opt, const tri_tensors *table,
                      int64_t step, double coefficient, const tri_real *grads,
                      tri_real *params, tri_real *m, tri_real *v);
/* The same of elements [first, first + count) of the flat arrays, which begin
 * at each of those pointers. */
void tri_adamw_part(const tri_adamw *opt, const tri_tensors *table,
                    int64_t step, double coefficient, int64_t first,
                    int64_t count, const tri_real *grads, tri_real *params,
                    tri_real *m, tri_real *v);
/* The coefficient that brings a gradient of norm `norm` to at most `clip`;
 * clip <= 0: no limit. */
double tri_clip_coefficient(double norm, double clip);

#endif

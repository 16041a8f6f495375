/*
 * Small fully connected networks, for the files that make up the predictor:
 * net.c (one network and its training), mlp.c (the ensemble).
 */
#ifndef TRI_SRC_PREDICT_MLP_H
#define TRI_SRC_PREDICT_MLP_H

#include "trireme/predict.h"
#include "trireme/rng.h"

/* Width of both hidden layers. */
#define TRI_NET_H 32

/* Rows x[n][d], about standardised, and their values. */
typedef struct tri_net_data {
    int n, d;
    const float *x;
    const float *y;
    const tri_cancel *cancel; /* read before each step */
} tri_net_data;

typedef enum tri_net_loss {
    TRI_NET_RANK,
    TRI_NET_SQUARE
} tri_net_loss;

/* Parameters of a network over d columns. */
static inline size_t tri_net_size(int d)
{
    return ((size_t)d + TRI_NET_H + 3) * TRI_NET_H;
}

/* [out] p: trained on the rows whose `fold` is not `left_out`, and kept as it
 * was when those left out were predicted best, where they are enough to tell.
 * TRI_ENOMEM. */
tri_status tri_net_train(const tri_net_data *data, const int *fold,
                         int left_out, tri_net_loss loss, uint64_t seed,
                         uint64_t member, float *p);
/* [out] score[n]; `hidden`: n x 2 TRI_NET_H of room. */
void tri_net_scores(const float *p, int d, const float *x, int n, float *hidden,
                    float *score);

/* As tri_predictor_mlp, with the squared loss; named mlp-squared. */
extern const tri_predictor_ops tri_predictor_mlp_squared;

#endif

/*
 * A recommendation model of the form of DLRM (Naumov et al. 2019): a bottom
 * perceptron over the dense features, embedding bags over the sparse ones, the
 * dot products of all pairs of their vectors, a top perceptron, and binary
 * cross-entropy of one logit.
 *
 * The dense part is data parallel.  Tables are split over the same ranks, each
 * by its placing (plan.h): ids go to the ranks that hold a block, pooled
 * vectors come back, and their gradients go the other way.  What was touched is
 * updated by row-wise Adagrad, a number a row, ids sorted, so that the sum of a
 * row's gradients has one order in every run.
 */
#ifndef TRI_MODELS_DLRM_H
#define TRI_MODELS_DLRM_H

#include "models/data/criteo.h"
#include "models/dlrm/plan.h"
#include "trireme/model.h"

#define TRI_DLRM_TABLES TRI_CLICKS_TABLES
#define TRI_DLRM_LAYERS 8

typedef struct tri_dlrm_shape {
    int dense, tables, dim, pooling; /* pooling: ids of a table in a sample */
    int64_t rows[TRI_DLRM_TABLES];
    int n_bottom, n_top; /* hidden layers; the bottom ends with one of dim,
                          * the top with one of 1 */
    int bottom[TRI_DLRM_LAYERS], top[TRI_DLRM_LAYERS];
    double zipf;                  /* exponent of synthetic ids; >= 0 */
    const tri_criteo *samples;    /* NULL: synthetic; borrowed until destroy */
    double lr;                    /* of the tables */
    int placing[TRI_DLRM_TABLES]; /* tri_placing */
    tri_planner planner;
    uint64_t limit_bytes; /* of a rank's tables; 0: none */
} tri_dlrm_shape;

extern const tri_model_ops tri_dlrm_ops;

/* One stage.  [out] `out`: owned.  TRI_EOOM where tables have no place,
 * TRI_ENOMEM. */
tri_status tri_dlrm_create(const tri_dlrm_shape *shape, const tri_place *place,
                           uint64_t seed, tri_model **out);
/* Where the tables are.  Borrowed until destroy. */
const tri_plan *tri_dlrm_plan(const tri_model *model);

#endif

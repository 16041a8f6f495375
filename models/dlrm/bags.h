/*
 * The embedding bags of a model, split over the data axis.
 *
 * Letters: W ranks of the axis, w this one; B samples of a micro-batch here, M
 * micro-batches of a step, P ids of a table in a sample, D columns.
 *
 * A rank holds at most one block of a table.  Of a micro-batch every rank sends
 * each other the ids of the tables of which that has a block; what is pooled of
 * whole tables and of columns goes back by an exchange, partial pools of rows
 * by a reduce-scatter, and copies pool for their own samples only.  Backward
 * the gradients of pools go where the ids went: an exchange, and a gather for
 * rows and copies.  Ids and gradients stay until the end of the step.
 */
#ifndef TRI_MODELS_BAGS_H
#define TRI_MODELS_BAGS_H

#include "models/dlrm/dlrm.h"

/* A block of a table on this rank. */
typedef struct tri_block {
    tri_plan_shard shard;
    tri_placing how;
    int gathered;    /* place among those that are gathered; -1 */
    int column;      /* place among the tables that are split by columns; -1 */
    int64_t before;  /* columns of exchanged blocks before this one */
    tri_real *table; /* rows x cols: parameters */
    tri_real *state; /* of each row */
    /* Of a step, by touched row: */
    int64_t n;
    int32_t *row;
    tri_real *sum;     /* n x cols: gradients */
    tri_real *squares; /* of the gradient of the whole row */
} tri_block;

typedef struct tri_bags {
    const tri_dlrm_shape *shape; /* borrowed */
    const tri_axis *axis;
    int W, w, B, M, P, D;
    tri_plan plan;
    tri_tensors table; /* of the blocks, in their order */
    tri_block *blocks;
    int n_blocks;
    int *n_of;      /* blocks of each rank */
    int64_t *width; /* columns of the exchanged blocks of each rank */
    int n_rows, n_gathered, n_columns; /* tables: by rows first */
    int *gathered;                     /* their numbers */
    int *counts;                       /* behind the parcels */
    tri_parcels ids_to, ids_from, out, in;
    int most_ids, most_vectors;
    int32_t *sent, *ids; /* ids: [M][W][blocks][B][P] */
    tri_real *vectors;   /* of this rank's samples: [exchanged][B][cols] */
    tri_real *pools;     /* [M][W][B x width of w]: pools, then gradients */
    tri_real *sums;      /* [M][W][gathered][B][D]: the same */
    tri_real *squares;   /* [columns][M W B P] */
    uint64_t *keys, *keys_2;
} tri_bags;

/* `place` and `shape` are borrowed until fini.  TRI_EOOM, TRI_EINFEASIBLE,
 * TRI_ENOMEM; tri_bags_fini in any case. */
tri_status tri_bags_init(tri_bags *b, const tri_dlrm_shape *shape,
                         const tri_place *place);
void tri_bags_fini(tri_bags *b);
tri_status tri_bags_alloc(tri_bags *b, tri_region *region);
void tri_bags_bind(tri_bags *b, tri_real *params);

/* Pools of micro-batch `j` of the step: ids [tables][B][P] of this rank's
 * samples; pool of table t of sample i to x[(i (tables + 1) + t + 1) D]. */
void tri_bags_forward(tri_bags *b, int j, const int32_t *ids, tri_real *x);
/* Their gradients, from places as above. */
void tri_bags_backward(tri_bags *b, int j, const tri_real *dx);
/* As sparse_end and sparse_update of model.h. */
double tri_bags_end(tri_bags *b);
void tri_bags_update(tri_bags *b, double coefficient);

/* ---- bag.c: kernels ------------------------------------------------------ */

/* Sum of rows of a block: ids outside [row, row + rows) count nothing. */
void tri_bag_forward(const tri_plan_shard *s, const tri_real *table, int64_t n,
                     int pooling, const int32_t *ids, tri_real *out,
                     int64_t ld);
/* Sort keys by the bits from 32 up that `rows` takes, stable; *work is as long.
 * Returns where they are. */
uint64_t *tri_bag_sort(uint64_t *keys, uint64_t *work, int64_t n, int64_t rows);
/* y[cols] += x. */
void tri_bag_add(int cols, const tri_real *x, tri_real *y);
double tri_bag_squares(int cols, const tri_real *x);
/* y += a x. */
void tri_bag_axpy(int cols, tri_real a, const tri_real *x, tri_real *y);

/* y[rows][n] becomes y + b, and 0 where that is below; back: dx is 0 where the
 * output y is not above 0, and its columns are added to db. */
void tri_bias_relu(const tri_real *b, int64_t rows, int64_t n, tri_real *y);
void tri_bias_relu_back(const tri_real *y, int64_t rows, int64_t n,
                        tri_real *dx, tri_real *db);

/* Of n samples: dot products of all pairs i > j of the F vectors, in the order
 * (1,0), (2,0), (2,1) ..., to z[ld] of each; and back, dx written. */
void tri_pairs_forward(int64_t n, int F, int D, const tri_real *x, int64_t ld,
                       tri_real *z);
void tri_pairs_backward(int64_t n, int F, int D, const tri_real *x,
                        const tri_real *dz, int64_t ld, tri_real *dx);

#endif

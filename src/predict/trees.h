/*
 * The tree ensemble's model, for the files that make it up: trees_grow.c
 * (growing), trees.c (the predictor).
 *
 * All nodes of all trees stand in one array, a node's two children side by
 * side.  A leaf is a node that no row leaves: its threshold is infinite and
 * its child is itself, so that a walk needs no branch to find its end.
 */
#ifndef TRI_SRC_PREDICT_TREES_H
#define TRI_SRC_PREDICT_TREES_H

#include "trireme/cancel.h"
#include "trireme/status.h"

#include <stdint.h>

/* Columns of a row are padded to as many. */
#define TRI_TREES_LANES 8

/* Trees of a sequence. */
#define TRI_TREES_ROUNDS 20

typedef struct tri_trees_node {
    float at;    /* rows with x[column] <= at go to child, others to child + 1
                  */
    int column;  /* 0 in a leaf */
    int child;   /* itself in a leaf */
    float value; /* what a leaf adds to its sequence's prediction */
} tri_trees_node;

typedef struct tri_trees {
    int n_members, rounds; /* sequences of trees that add up */
    int stride;            /* columns of a row, padded with zeros */
    int split;             /* the fewest samples that are divided */
    int n_nodes, room;
    tri_trees_node *node;
    int *root; /* n_members x rounds */
} tri_trees;

/* The samples: x[n][stride], y about standardised. */
typedef struct tri_trees_data {
    int n, stride;
    const float *x;
    const float *y;
    const tri_cancel *cancel; /* once asked, trees are but a leaf */
} tri_trees_data;

/* Grow the sequences that out->n_members and the other numbers before it ask
 * for from n >= 1 samples; member k leaves out those whose `fold` is k modulo
 * n_folds (with one fold none) and draws from the streams (seed, k).  On
 * failure `out` is to be finished all the same.  TRI_ENOMEM. */
tri_status tri_trees_grow(tri_trees *out, const tri_trees_data *data,
                          const int *fold, int n_folds, uint64_t seed);
void tri_trees_fini(tri_trees *t);
/* [out] leaf[n]: where rows x[n][stride] end in the tree that starts at root.
 */
void tri_trees_walk(const tri_trees *t, int root, const float *x, int n,
                    int *leaf);

#endif

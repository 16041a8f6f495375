/*
 * Trees over very many rows (after QuickScorer; Lucchese et al., SIGIR 2015).
 *
 * A tree has at most 64 leaves.  The word of a tree and a row has a bit for
 * each leaf; a node at which the row goes right takes the bits of the leaves on
 * its left, whatever the other nodes say, and the lowest bit that is left is
 * the leaf where the row ends.  What a column takes depends on the interval
 * between thresholds that its value is in: for each interval of each column
 * the words of all trees are there, and a row's are the intersection of one of
 * each column.  That of the columns that stay the same from row to row is kept.
 *
 * Sums are in single precision: they differ in their last bits from those of
 * the walk down each tree.
 */
#ifndef TRI_SRC_PREDICT_TREES_SCAN_H
#define TRI_SRC_PREDICT_TREES_SCAN_H

#include "src/predict/trees.h"

/* Rows at a time. */
#define TRI_TREES_SCAN_BLOCK 64

typedef struct tri_trees_scan tri_trees_scan;

/* To look at rows like x[n][width] of columns, a last one more of them being
 * `last` in all; borrows the trees.  [out] owned; NULL: no memory. */
tri_trees_scan *tri_trees_scan_create(const tri_trees *t, int width,
                                      const float *x, int n, float last);
void tri_trees_scan_destroy(tri_trees_scan *s);
/* Rows x[n][width], n <= TRI_TREES_SCAN_BLOCK.  [out] sum[n_members][BLOCK]:
 * what members say; leaf[n][n_trees] (may be NULL): where rows end, as numbers
 * of leaves in their trees. */
void tri_trees_scan_rows(tri_trees_scan *s, const float *x, int n, float *sum,
                         uint8_t *leaf);
/* The number in its tree of a node that is a leaf. */
int tri_trees_scan_number(const tri_trees_scan *s, int node);

#endif

/*
 * Samples in folds of whole configurations: rows of one configuration, at
 * whatever resources, are left out together.
 */
#ifndef TRI_SRC_PREDICT_FOLDS_H
#define TRI_SRC_PREDICT_FOLDS_H

#include "trireme/status.h"

#include <stdint.h>

/*
 * Deal the configurations of n >= 1 rows x[n][width], in an order drawn by
 * seed, to at most `most_folds` folds until `most_rows` rows have one.
 * [out] fold[n]: -1 of a row that has none; *n_folds: at most the number of
 * configurations.  TRI_ENOMEM.
 */
tri_status tri_folds_deal(const double *x, int n, int width, int most_folds,
                          int most_rows, uint64_t seed, int *fold,
                          int *n_folds);

#endif

/*
 * Between learning a model of the results (importance.c) and taking its
 * variance apart (shares.c).
 */
#ifndef TRI_SRC_REPORT_IMPORTANCE_H
#define TRI_SRC_REPORT_IMPORTANCE_H

#include "src/report/part.h"

#include "trireme/predict.h"

/* Records that a model is learned from, at most. */
#define MOST_RECORDS 800

/* A tree ensemble of n rows.  [out] owned. */
tri_status tri_report_fit(const tri_encoding *e, const double *x,
                          const double *y, const double *resource, int n,
                          tri_model **out);
/* {parameters, pairs, method} of what `model` predicts at `resource` over the
 * valid space; NULL without memory. */
json_t *tri_report_shares(const tri_report_part *p, const tri_encoding *e,
                          const tri_model *model, double resource);

#endif

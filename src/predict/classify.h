/*
 * Which of two things happens to a configuration: it runs, or it fails.
 *
 * A Gaussian process behind a logistic curve, by Laplace's approximation
 * (Rasmussen and Williams, 2006, section 3.4).  The process is a constant, a
 * plane over the numbers as encoded - what a rank needs is close to a product
 * of powers, so that its logarithm against the limit is a plane in those of
 * the parameters - and what departs from it, with the lengths of a prior.
 * Nothing else is learned: a score of failures, found where the search went,
 * says too little of lengths, and what is wrongly thought certain to fail is
 * never tried again.
 */
#ifndef TRI_SRC_PREDICT_CLASSIFY_H
#define TRI_SRC_PREDICT_CLASSIFY_H

#include "trireme/predict.h"

typedef struct tri_classifier tri_classifier;

/* Learn from at least one row; of peaks and limit nothing.  [out] owned.
 * TRI_ENOMEM. */
tri_status tri_classifier_fit(const tri_encoding *e, const tri_labels *l,
                              tri_classifier **out);
void tri_classifier_destroy(tri_classifier *c);

/* [out] p[m]: the probability that each of x[m][width] runs. */
void tri_classifier_predict(const tri_classifier *c, const double *x, int m,
                            double *p);

/* As predict, for very many: [out] p[m]: not less than that. */
void tri_classifier_screen(const tri_classifier *c, const float *x, int m,
                           float *p);

/* The plane's slopes: [out] mean[width] and sd[width], upwards to running; 0
 * where a column has no part in the plane.  TRI_ENOMEM. */
tri_status tri_classifier_slopes(const tri_classifier *c, double *mean,
                                 double *sd);

#endif

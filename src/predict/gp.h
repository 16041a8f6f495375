/*
 * The Gaussian process's model, for the files that make it up: gp.c (fit,
 * predict, add), gp_screen.c (single precision), feasible.c (peaks).
 */
#ifndef TRI_SRC_PREDICT_GP_H
#define TRI_SRC_PREDICT_GP_H

#include "src/predict/gp_kernel.h"

struct tri_model {
    tri_gp_form form;
    double *theta; /* form.n hyper-parameters */
    int n, room;
    double top;     /* the largest resource */
    double mean;    /* of the values */
    double *x;      /* room x width */
    double *share;  /* resources as shares of the largest */
    double *y;      /* centred */
    double *scaled; /* rows as the kernel sees them, and */
    double *square; /* their squared lengths */
    /* room x room: the inverse of the covariance's Cholesky factor l, row by
     * row; its first rows are that of the first samples */
    double *inverse;
    double *w;     /* l^-1 y */
    double *alpha; /* k^-1 y */
    double *spare; /* n */
};

/* As the predictor's fit, which no seed changes. */
tri_status tri_gp_fit(const tri_encoding *e, const tri_samples *s,
                      const tri_model *before, tri_model **out);
void tri_gp_destroy(tri_model *m);
void tri_gp_predict(const tri_model *m, const double *x, int n, double resource,
                    double *mean, double *sd);
/* tri_predictor_ops.screen. */
void tri_gp_screen(const tri_model *m, const float *x, int n, double resource,
                   float *mean, float *sd);

#endif

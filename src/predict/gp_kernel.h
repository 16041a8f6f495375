/*
 * The covariance of the Gaussian process, and the marginal likelihood of its
 * hyper-parameters.
 *
 *   k((x,s), (x',s')) = (f + r R(s,s')) M(x,x') + b R(s,s')
 *
 * M: Matern 5/2 with a length scale for each axis of the encoding (automatic
 * relevance determination).  R(s,s') = B / (s + s' + B), resources s as shares
 * of the largest: a mixture of exponential decays, the kernel of Swersky et
 * al. (Freeze-Thaw Bayesian Optimization, 2014) for learning curves; r: how
 * curves differ, b: what all of them share.  Noise n on the diagonal.  The
 * parts r and b are there where asked for.
 *
 * Hyper-parameters are logarithms: of length scales, then of standard
 * deviations f, n, [r, b, and B].
 */
#ifndef TRI_SRC_PREDICT_GP_KERNEL_H
#define TRI_SRC_PREDICT_GP_KERNEL_H

#include "trireme/predict.h"

typedef struct tri_gp_form {
    const tri_encoding *encoding;
    int width, n_axes;
    int has_resource;
    int n; /* hyper-parameters in all */
} tri_gp_form;

void tri_gp_form_init(tri_gp_form *form, const tri_encoding *e,
                      int has_resource);

/* Where a hyper-parameter stands; -1 where the form has it not. */
typedef enum tri_gp_part {
    TRI_GP_F,
    TRI_GP_N,
    TRI_GP_R,
    TRI_GP_B,
    TRI_GP_DECAY
} tri_gp_part;
int tri_gp_at(const tri_gp_form *form, tri_gp_part part);

/* Rows of numbers as the kernel sees them: divided by length scales. */
typedef struct tri_gp_points {
    int n;
    const double *x;     /* n x width, as encoded */
    const double *share; /* n resources, shares of the largest; NULL: all 1 */
    double *scaled;      /* n x width; of tri_gp_scale */
    double *square;      /* n squared lengths of scaled rows */
} tri_gp_points;

/* Room for n points, their covariances k[n][rows] with as many rows, and `more`
 * numbers of each.  p.x and p.share are the caller's. */
typedef struct tri_gp_block {
    tri_gp_points p;
    double *k, *more;
} tri_gp_block;

/* 0: no memory; nothing to end then. */
int tri_gp_block_init(tri_gp_block *b, const tri_gp_form *form, int n, int rows,
                      int more);
void tri_gp_block_fini(tri_gp_block *b);

/* Fill scaled and square (provided by the caller). */
void tri_gp_scale(const tri_gp_form *form, const double *theta,
                  tri_gp_points *p);
/* k[a.n][ld]: covariances without noise of scaled points. */
void tri_gp_cross(const tri_gp_form *form, const double *theta,
                  const tri_gp_points *a, const tri_gp_points *b, double *k,
                  int ld);
/* Of each point with itself, without noise. */
void tri_gp_variances(const tri_gp_form *form, const double *theta,
                      const tri_gp_points *p, double *out);

/*
 * The hyper-parameters of the largest posterior density given centred values
 * y[n].  `theta`: in, a start; out, what was found by at most `calls`
 * likelihoods.  `fresh`: as many more from the prior's middle.  `cancel` as in
 * tri_samples.  TRI_ENOMEM.
 */
tri_status tri_gp_learn(const tri_gp_form *form, int n, const double *x,
                        const double *share, const double *y, int calls,
                        int fresh, const tri_cancel *cancel, double *theta);
/* Minus the log posterior density but for a constant, and its gradient; for
 * tests. */
double tri_gp_density(const tri_gp_form *form, int n, const double *x,
                      const double *share, const double *y, const double *theta,
                      double *gradient_out);
/* The prior's middle. */
void tri_gp_prior(const tri_gp_form *form, double *theta);

#endif

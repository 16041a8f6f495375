/*
 * The Gaussian process's model, for the files that make it up: gp.c (fit,
 * predict, add), gp_subset.c (which samples), gp_screen.c (single precision),
 * gp_draw.c (draws); and for feasible.c (peaks).
 */
#ifndef TRI_SRC_PREDICT_GP_H
#define TRI_SRC_PREDICT_GP_H

#include "src/base/ranked.h"
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
/* The model's samples [from, from + n). */
tri_gp_points tri_gp_rows(const tri_model *m, int from, int n);

typedef struct tri_gp_choice { /* of samples */
    tri_ranked *list;          /* scratch */
    int *which;                /* places of those chosen, ascending */
} tri_gp_choice;

/* Room for a choice from n; 0: no memory, to be ended all the same. */
int tri_gp_choice_init(tri_gp_choice *c, int n);
void tri_gp_choice_fini(tri_gp_choice *c);
/* At most `most` of n samples of values y, into c->which; returns the number.
 */
int tri_gp_choose(tri_gp_choice *c, const double *y, int n, int most);

/* tri_predictor_ops.draw. */
tri_status tri_gp_draw(const tri_model *m, const double *x, int n,
                       double resource, uint64_t seed, double *out);
/* tri_predictor_ops.draws. */
tri_status tri_gp_draws(const tri_model *m, const double *x, int n,
                        double resource, uint64_t seed, int many, double *out);
/* tri_predictor_ops.screen. */
void tri_gp_screen(const tri_model *m, const float *x, int n, double resource,
                   float *mean, float *sd);

#endif

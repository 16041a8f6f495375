/*
 * Predictors: from records to a belief about configurations that were not run.
 *
 *   space  ->  encoding: configurations as rows of numbers
 *   objectives  ->  warp: a scale on which a normal belief fits
 *   samples  ->  predictor  ->  model: mean and spread of any configuration
 *
 * A predictor is an operations table (gp, trees, mlp); a model is what it
 * learned.  Costs throughout: lower is better.
 *
 * Outside the controller's line: libm, BLAS and LAPACK are used, so results may
 * differ in their last bits from one processor to the next.  No clock, file or
 * thread.  The same samples and seed give the same model on one machine.  An
 * encoding is immutable and may be shared; a model belongs to one thread.
 */
#ifndef TRIREME_PREDICT_H
#define TRIREME_PREDICT_H

#include "trireme/cancel.h"
#include "trireme/space.h"

/* ---- encoding -------------------------------------------------------- */

typedef enum tri_axis_kind {
    TRI_AXIS_NUMBER,  /* one column in [0, 1], linear or logarithmic */
    TRI_AXIS_LEVELS,  /* a column a value: sqrt(1/2) there, else 0, so that two
                       * different values are at distance 1 */
    TRI_AXIS_PRODUCT, /* one column: the logarithm of two numbers' product */
    TRI_AXIS_ACTIVE   /* one column: whether a conditional parameter is */
} tri_axis_kind;

/* Columns that mean one thing and share a length scale. */
typedef struct tri_axis {
    const char *name; /* of the parameter or feature, borrowed from the space;
                       * "ranks" for the number of ranks */
    const char *with; /* of a product the other one; else NULL */
    tri_axis_kind kind;
    int first, width; /* columns [first, first + width) */
} tri_axis;

typedef struct tri_encoding tri_encoding;

/*
 * How configurations of `space` are encoded.  Numbers by their range,
 * logarithmically where the domain says so or where all are positive and the
 * largest is at least four times the smallest.  A list of at least eight
 * numbers that are spread evenly neither so nor by their values counts by
 * places, a part of the way between two: 0.9, 0.99, 0.999, ... A list of at
 * least eight real numbers is not logarithmic where their values are the more
 * evenly spread.  Words and booleans as levels; three to five numbers as a
 * number and as levels, since it is not known whether their order means
 * anything.  An inactive number stands in the middle.  Products of two
 * logarithmic integers (threads are block width times height) where at most
 * eight are logarithmic.  Features, and the ranks where they vary, are numbers
 * over the range that they have in a sample of the space.  What never varies
 * has no column. Borrows `space`.  [out] owned. TRI_ENOMEM.
 */
TRI_API tri_status tri_encoding_create(const tri_space *space,
                                       tri_encoding **out);
TRI_API void tri_encoding_destroy(tri_encoding *e);
TRI_API int tri_encoding_width(const tri_encoding *e); /* columns; may be 0 */
TRI_API int tri_encoding_n_axes(const tri_encoding *e);
TRI_API const tri_axis *tri_encoding_axis(const tri_encoding *e, int i);
/* [out] x[width]. */
TRI_API void tri_encode(const tri_encoding *e, const tri_config *c, double *x);

/* ---- warp ------------------------------------------------------------ */

/*
 * A monotone map from costs to about standard normal values: Box and Cox's
 * powers (1964) of |cost| where all costs have one sign, those of Yeo and
 * Johnson (2000) otherwise; the power is that of the largest likelihood under
 * a mild prior for the square root, so that twelve decades or one outlier do
 * no harm.
 */
typedef struct tri_warp {
    int powers; /* 0: Box-Cox, 1: Yeo-Johnson */
    double sign, lambda, shift, scale, mean, sd;
} tri_warp;

/* Fit to n >= 1 finite costs; equal ones give a warp to zeros. */
TRI_API void tri_warp_fit(tri_warp *w, const double *cost, int n);
TRI_API double tri_warp_apply(const tri_warp *w, double cost);
TRI_API double tri_warp_invert(const tri_warp *w, double value);

/* ---- models ---------------------------------------------------------- */

typedef struct tri_samples {
    int n;
    int width;              /* columns of x */
    const double *x;        /* n x width */
    const double *y;        /* n values, warped, finite; lower is better */
    const double *resource; /* n positive numbers; NULL: all alike */
    int keep;  /* with a model before: its hyper-parameters as they are */
    int rough; /* do not learn: a function that each axis changes within its
                * range, for when what was learned leads nowhere */
    const tri_cancel *cancel; /* NULL, or read while learning: once asked, that
                               * ends soon, and what is learned is poorer */
} tri_samples;

/* All rows of `s` whose fold[n] is not `left_out`, in their order, to learn
 * without those.  They are copied to room[n x (width + 2)]. */
TRI_API tri_samples tri_samples_without(const tri_samples *s, const int *fold,
                                        int left_out, double *room);

typedef struct tri_model tri_model;

typedef struct tri_predictor_ops {
    const char *name; /* gp, trees, mlp */
    /* Learn.  `before` (may be NULL): a model of the same encoding learned
     * earlier, whose hyper-parameters are a start.  [out] owned.
     * TRI_ENOMEM; TRI_EINVAL without a sample. */
    tri_status (*fit)(const tri_encoding *e, const tri_samples *s,
                      uint64_t seed, const tri_model *before, tri_model **out);
    /* Optional: take samples that begin with those which the model holds, and
     * new values for all of them, the hyper-parameters unchanged: a row of
     * work for each that is new.  TRI_ENOTFOUND where they begin otherwise
     * (nothing is changed then); TRI_ENOMEM. */
    tri_status (*update)(tri_model *model, const tri_samples *s);
    /* Mean and standard deviation (of the value without its noise) of m
     * configurations x[m][width] at `resource` (ignored where the samples
     * had none).  `sd` may be NULL. */
    void (*predict)(const tri_model *model, const double *x, int m,
                    double resource, double *mean, double *sd);
    /* Optional: bounds of what predict says, for very many x[m][width], in
     * single precision: mean at most that, sd at least. */
    void (*screen)(const tri_model *model, const float *x, int m,
                   double resource, float *mean, float *sd);
    /* Optional: know of one more sample, the hyper-parameters unchanged; and
     * forget all but the first n again.  For runs that are still pending. */
    tri_status (*add)(tri_model *model, const double *x, double y,
                      double resource);
    void (*truncate)(tri_model *model, int n);
    /* Samples that the model holds. */
    int (*size)(const tri_model *model);
    /* Optional: one joint draw of the values at x[m][width], for Thompson
     * sampling; without it each is drawn by itself. */
    tri_status (*draw)(const tri_model *model, const double *x, int m,
                       double resource, uint64_t seed, double *out);
    /* Optional: `many` such draws, of seeds from `seed` on, into out[many][m]:
     * what they share is computed once. */
    tri_status (*draws)(const tri_model *model, const double *x, int m,
                        double resource, uint64_t seed, int many, double *out);
    /* Hyper-parameters for the record: "ls.tp=0.8 noise=0.03". */
    void (*describe)(const tri_model *model, char *buf, size_t bytes);
    void (*destroy)(tri_model *model);
} tri_predictor_ops;

TRI_API extern const tri_predictor_ops tri_predictor_gp;
TRI_API extern const tri_predictor_ops tri_predictor_trees;
TRI_API extern const tri_predictor_ops tri_predictor_mlp;
/*
 * A Gaussian process about a linear trend in numbers, products and ranks, for
 * what lies beyond the samples (more ranks than were measured): there a plain
 * one comes back to its mean.  Earlier studies are read by it; by name it is
 * not to be had, since inside the samples it is no better.
 */
TRI_API extern const tri_predictor_ops tri_predictor_trend;

/* By name; NULL if there is none. */
TRI_API const tri_predictor_ops *tri_predictor_find(const char *name);

/* Kendall's tau-b of two series: 1 the same order, -1 the opposite, 0 where
 * either is constant or n < 2.  O(n log n) (Knight, 1966). */
TRI_API double tri_kendall_tau(const double *a, const double *b, int n);

/*
 * `auto`: the predictor with the largest tau between what it predicts of
 * left-out samples (folds of whole configurations, at most five) and their
 * values; gp wins ties, and below ten samples without a trial.  [out] *tau: of
 * the chosen one, NaN where it was not tried.  TRI_ENOMEM.
 */
TRI_API tri_status tri_predictor_choose(const tri_encoding *e,
                                        const tri_samples *s, uint64_t seed,
                                        const tri_predictor_ops **out,
                                        double *tau);

/* ---- feasibility ----------------------------------------------------- */

typedef struct tri_feasibility tri_feasibility;

/* Which of n configurations ran.  Of very many rows a part is learned from,
 * of which half are the last of this study's own. */
typedef struct tri_labels {
    int n, n_own;                /* rows; the first n_own are this study's, the
                                  * others of earlier ones */
    const double *x;             /* n x width, encoded */
    const unsigned char *failed; /* n */
    const double *peak;          /* n: memory in bytes, NaN where not known;
                                  * NULL: of none */
    double limit;                /* what there is; 0: not known */
    const tri_cancel *cancel;    /* as in tri_samples */
} tri_labels;

/*
 * The probability that a configuration runs at all, learned from which ones
 * did: a Gaussian process behind a logistic curve (Laplace's approximation;
 * Rasmussen and Williams, 2006, section 3.4), whose plane reaches beyond what
 * was tried.  What is a known failure but for steps in directions that for
 * certain lead to failure has probability 0.  With peaks and a limit the chance
 * that the predicted peak exceeds it counts too.  `before` (may be NULL): one
 * learned earlier, whose model of peaks is a start.  [out] owned.  TRI_ENOMEM.
 */
TRI_API tri_status tri_feasibility_fit(const tri_encoding *e,
                                       const tri_labels *l,
                                       const tri_feasibility *before,
                                       tri_feasibility **out);
TRI_API void tri_feasibility_destroy(tri_feasibility *f);
/* [out] p[m], each in [0, 1]; `bytes` (may be NULL): predicted peaks, NaN. */
TRI_API void tri_feasibility_predict(const tri_feasibility *f, const double *x,
                                     int m, double *p, double *bytes);
/* For very many: [out] p[m]: not less than what is predicted of x[m][width]. */
TRI_API void tri_feasibility_screen(const tri_feasibility *f, const float *x,
                                    int m, float *p);

#endif

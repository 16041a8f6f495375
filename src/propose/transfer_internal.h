/*
 * A source of earlier results, for the files that make up the transfer.
 */
#ifndef TRI_SRC_PROPOSE_TRANSFER_INTERNAL_H
#define TRI_SRC_PROPOSE_TRANSFER_INTERNAL_H

#include "src/propose/transfer.h"

typedef struct tri_source {
    const char *name;          /* of the file, borrowed */
    int n, n_labels;           /* results, configurations */
    tri_model *model;          /* of values; NULL: says nothing of them */
    double top;                /* the highest resource that it knows */
    tri_feasibility *feasible; /* NULL: nothing failed, no peaks */
    double weight;             /* 0: not used */
    double tau;                /* with the own results; NaN */
    const char *why;           /* it is not used */
    int labels, peaks;         /* whether they are passed on */
    int told;                  /* its state when that was told last */
} tri_source;

struct tri_transfer {
    const tri_encoding *encoding;
    int width;
    int n;
    tri_source *sources;
    int weighed_n; /* own values when last weighed, -1 */
    tri_predictor_ops over;
};

/* out[n] += weight x what the source says. */
void tri_source_add(const tri_source *s, double weight, const double *x, int n,
                    int width, double resource, double *out);
void tri_source_add_few(const tri_source *s, double weight, const float *x,
                        int n, int width, double resource, float *out);

#endif

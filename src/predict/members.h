/*
 * An ensemble's members as one belief: what trees.c and mlp.c share.
 *
 * The mean is that of the members.  The variance is that between them,
 * enlarged by how much more they are wrong about samples that they left out
 * than they differ there.  Of a row they are a few, so that their disagreement
 * is drawn towards its mean.
 */
#ifndef TRI_SRC_PREDICT_MEMBERS_H
#define TRI_SRC_PREDICT_MEMBERS_H

#include "trireme/predict.h"
#include "trireme/rng.h"

#define TRI_MEMBERS 10
/* Rows that are predicted at a time. */
#define TRI_MEMBERS_BLOCK 64

typedef struct tri_members {
    int n, n_pending;   /* samples; runs under way that are known of */
    double mean, scale; /* of the values */
    /* of samples left out, standardised: the mean square of the error, and
     * the variance between members */
    double error, between;
    int flat; /* nothing was learned from: the variance is the error */
} tri_members;

typedef struct tri_members_block { /* of rows, standardised */
    int n;
    double member[TRI_MEMBERS][TRI_MEMBERS_BLOCK]; /* what each says */
    double mean[TRI_MEMBERS_BLOCK], variance[TRI_MEMBERS_BLOCK];
} tri_members_block;

/* [out] the means, and the variances but for what pending runs take. */
void tri_members_agree(const tri_members *m, tri_members_block *b);
/* What is `left` of the variance of row i when the pending runs will be known;
 * no deviation is below a hundredth of the values' own. */
void tri_members_leave(tri_members_block *b, int i, double left);

/* Draws all rows of one sample of the belief, block by block. */
typedef struct tri_members_draw {
    const tri_members *m;
    double z[TRI_MEMBERS]; /* the mixture of deviations, the same in all rows */
    tri_rng rng;
} tri_members_draw;
void tri_members_draw_init(tri_members_draw *d, const tri_members *m,
                           uint64_t seed);
/* [out] out[b->n], of rows that agree. */
void tri_members_draw_block(tri_members_draw *d, const tri_members_block *b,
                            double *out);

/* Forget pending runs but for n samples in all, and count them. */
void tri_members_truncate(tri_members *m, int n);
int tri_members_size(const tri_members *m);

#endif

/*
 * Earlier studies as a belief to begin with (--warm; what this study measured
 * on machines of another class).
 *
 * Each source has a model of its own (with a trend, for more ranks than it
 * had), on a scale of its own: another unit, number of ranks or size of model
 * is of no account, only what it says of one configuration against another. The
 * belief is then
 *
 *     value(x)  =  sum of  weight x what a source says of x
 *                  + what this study's predictor learns of the rest
 *
 * A weight is that of least squares over this study's own results, drawn
 * towards one while they are few, and never below zero: a source that orders
 * them the other way is of no use.  Whether a source helps is tried by
 * cross-validation over the own results, again and again as they grow: it is
 * dropped while they are predicted better without.  So a misleading source
 * costs the few configurations that are tried on its word before that.
 *
 * Failures and peaks of a source are passed on in the same way, for as long as
 * they agree with what ran here.
 */
#ifndef TRI_SRC_PROPOSE_TRANSFER_H
#define TRI_SRC_PROPOSE_TRANSFER_H

#include "src/propose/think_internal.h"

typedef struct tri_transfer tri_transfer;

/* Own results before which sources are trusted without a trial. */
#define TRI_TRANSFER_FIRST 3

/* Borrows all but learns at once.  Where `cancel` was asked, to be destroyed,
 * not used: what is learned then is poorer.  [out] owned.  TRI_ENOMEM. */
tri_status tri_transfer_create(const tri_encoding *e, const tri_study *study,
                               const tri_warm_records *warm, int n_warm,
                               uint64_t seed, const tri_cancel *cancel,
                               tri_transfer **out);
void tri_transfer_destroy(tri_transfer *t);

/* Whether any source says anything of values now. */
int tri_transfer_is_used(const tri_transfer *t);
/* Decide anew by this study's own knowledge, if that has grown enough; once
 * `cancel` is asked, until the next time only.  TRI_ENOMEM. */
tri_status tri_transfer_weigh(tri_transfer *t, const tri_knowledge *own,
                              uint64_t seed, const tri_cancel *cancel);
/* May source i's failures be learned from, and its peaks?  As the last
 * tri_transfer_weigh found. */
int tri_transfer_labels(const tri_transfer *t, int i);
int tri_transfer_peaks(const tri_transfer *t, int i);
/* What all sources say of x[n][width] together, in single precision.
 * [out] mean[n]. */
void tri_transfer_screen(const tri_transfer *t, const float *x, int n,
                         double resource, float *mean);
/*
 * The best of the pool by the sources alone, at most `wanted` that differ from
 * each other and from all that is `known`; `before`: so many were chosen so
 * earlier.  [out] at[wanted], *n: their places, not taken yet.  TRI_ENOMEM.
 */
tri_status tri_transfer_best(const tri_transfer *t, const tri_pool *pool,
                             double resource, const tri_knowledge *known,
                             int64_t before, int wanted, int64_t *at, int *n);
/* Whether what is told of the sources, but for numbers, changed since the last
 * call, or this is the first. */
int tri_transfer_has_changed(tri_transfer *t);
/* A clause for each source: how it is used, or why not. */
void tri_transfer_describe(const tri_transfer *t, char *buf, size_t bytes);

/* ---- a predictor of the rest (transfer_model.c) -------------------------- */

/* Operations on models of `inner` that tri_transfer_fit made; the rest of the
 * table is as inner's, but without `fit`.  Valid as long as t, until the next
 * call. */
const tri_predictor_ops *tri_transfer_over(tri_transfer *t,
                                           const tri_predictor_ops *inner);
/* As inner's fit.  A rough model trusts nothing but this study. */
tri_status tri_transfer_fit(const tri_transfer *t,
                            const tri_predictor_ops *inner,
                            const tri_encoding *e, const tri_samples *s,
                            uint64_t seed, const tri_model *before,
                            tri_model **out);

#endif

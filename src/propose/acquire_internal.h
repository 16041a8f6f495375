/*
 * Inside the choice of the best of the pool (tri_acquire):
 *
 *   acquire.c         the order of events: screen, look closer, settle
 *   acquire_worth.c   what a candidate is worth, and its chance to run
 *   acquire_screen.c  bounds of all candidates at once
 *   acquire_heap.c    candidates by the bound of their score
 *   acquire_draw.c    Thompson: one of the best by a joint draw
 *
 * A score falls with the mean and grows with the deviation, so that bounds of
 * both bound it: those of screening first, of all candidates; where one of
 * these comes to the top the score itself takes its place.
 */
#ifndef TRI_SRC_PROPOSE_ACQUIRE_INTERNAL_H
#define TRI_SRC_PROPOSE_ACQUIRE_INTERNAL_H

#include "src/propose/think_internal.h"

/* Candidates whose chance to run is asked for together. */
#define TRI_ACQ_BATCH 64
/* Candidates that are asked for their mean together. */
#define TRI_ACQ_MEANS 256
/* Deviations below the mean that UCB looks at. */
#define TRI_ACQ_UCB_BETA 2.0
/* No deviation is less. */
#define TRI_ACQ_LEAST_SD 1e-9

/* What is known of a candidate if not the score by some version of the model:
 * bounds by screening, or the mean and a bound of the deviation. */
#define TRI_ACQ_SCREENED (-2)
#define TRI_ACQ_CENTRED  (-1)

typedef struct tri_acq_entry {
    double bound;
    int64_t at;
    int version; /* of the model that the bound is exact for, or less */
    int look;    /* its number among those looked at; -1 */
} tri_acq_entry;

typedef struct tri_acq_look { /* at a candidate: the chance to run, the peak */
    double p, bytes;
} tri_acq_look;

typedef struct tri_acq_job {
    tri_pool *pool;
    const tri_belief_model *m;
    double known; /* the lowest value, of the chosen too */
    tri_acquisition how;
    const tri_cancel *cancel;
    tri_acq_entry *heap;
    int64_t n;
    float *bound; /* of the whole pool, by screening, */
    float *sd;    /* and of the deviations */
    float floor;  /* of the heap: what is below is not in it */
    tri_acq_look *looks;
    int n_looks, room;
    int version;
    double best; /* of the scores that are up to date for best_version */
    int64_t best_at;
    int best_version;
    double *x, *mu, *s; /* of a batch */
} tri_acq_job;

/* ---- acquire_worth.c ---- */

/* The logarithm of what a candidate is worth, before its chance to run. */
double tri_acq_worth(const tri_acq_job *j, double mean, double sd);
/* What the probability p to run adds to that; at most zero. */
double tri_acq_chance(const tri_acq_job *j, double p);

/* ---- acquire_screen.c ---- */

/* Bounds of the whole pool; what is taken has none (-INFINITY), nor has, once
 * cancelled, what was not come to.  TRI_ENOMEM. */
tri_status tri_acq_screen(tri_acq_job *j);

/* ---- acquire_heap.c ---- */

void tri_acq_push(tri_acq_job *j, tri_acq_entry e);
/* The top, of a heap that is not empty. */
tri_acq_entry tri_acq_pop(tri_acq_job *j);
/* Move the entry at i up to where it belongs. */
void tri_acq_lift(tri_acq_job *j, int64_t i);
/* The heap's top is the top of all, if there is one: the floor is lowered
 * until it is below that. */
void tri_acq_fill(tri_acq_job *j);

/* ---- acquire.c ---- */

/* Look until the top is up to date: the best, or the best of many.
 * TRI_ENOMEM. */
tri_status tri_acq_look_for_best(tri_acq_job *j);

/* ---- acquire_draw.c ---- */

/* Of the best by expected improvement those that joint draws of the model say
 * are best.  TRI_ENOMEM. */
tri_status tri_acq_draw(tri_acq_job *j, int wanted, uint64_t seed,
                        tri_choice *out, int *n);

#endif

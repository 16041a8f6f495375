/*
 * Inside the thinker.  An answer is made by these files, one after another:
 *
 *   thinker.c   a snapshot is learned from: knowledge, models, failures
 *   places.c    which place of the answer is filled by which rule
 *   decide.c    the pool is looked at, and what to try is chosen
 *   tell.c      that is written down as proposals, with what is believed
 */
#ifndef TRI_SRC_PROPOSE_THINKER_H
#define TRI_SRC_PROPOSE_THINKER_H

#include "src/propose/evolve.h"
#include "src/propose/reinforce.h"
#include "src/propose/think_internal.h"
#include "src/propose/transfer.h"

/* Results before a model is asked: spread out, or where runs are stopped early
 * drawn by chance. */
#define DESIGN 5
/* Of a joint of proposals in one answer. */
#define WANTED_MOST 512
/* A model that ranks no better than chance is not followed. */
#define TAU_LEAST   0.1
#define TAU_RECORDS 24
#define LOST_SHARE  0.5

/* Why there is no model of values. */
typedef enum tri_lack {
    TRI_LACKS_NOTHING,
    TRI_LACKS_TOO_FEW,
    TRI_LACKS_ALL_FAILED,
    TRI_LACKS_ALL_EQUAL
} tri_lack;

/* What is told of a deviation: factor x hypot(sd, floor), warped. */
typedef struct tri_calibration {
    double factor, floor;
} tri_calibration;

struct tri_thinker {
    const tri_study *study;
    uint64_t seed;
    const tri_cancel *cancel; /* of the question that is being answered */
    tri_encoding *encoding;
    tri_pool pool;
    int has_pool;
    tri_warm_records *warm;
    int n_warm;
    tri_acquisition acquisition;
    const tri_predictor_ops *ops; /* the predictor in use, */
    const tri_predictor_ops *of;  /* and what its models are used by: the same,
                                   * or over what earlier studies say */
    tri_transfer *transfer;       /* NULL: no earlier studies */
    int is_auto;
    int chosen_n; /* values when the predictor was chosen, */
    int told_n;   /* and when that was told */
    double tau;
    tri_model *model;
    tri_model *rough; /* for when it leads nowhere; NULL */
    int is_stuck;
    int learned_n; /* values when its hyper-parameters were learned */
    tri_calibration calibration; /* of the model, */
    int calibrated_n;            /* and values when it was tried */
    tri_feasibility *feasible;
    tri_reinforce *reinforce; /* NULL: another proposer */
    int is_evolution;
    tri_knowledge known;
    double resource;
    /* the answer */
    tri_proposal *list;
    char *texts; /* of configurations, one after another */
    size_t texts_room;
    char hyper[1024], reason[160], sources[512];
    char news[700];        /* what the last answer has to say, or empty */
    tri_lack lack, lacked; /* now, and in the answer before */
};

/* Chosen of the pool, and by what rule each; room for all that are wanted. */
typedef struct tri_answer {
    tri_choice *choices;
    const char **rules;
    int n;
} tri_answer;

typedef enum tri_turn {
    TRI_TURN_LED, /* by a model, a strategy or, without either, the design */
    TRI_TURN_RANDOM,
    TRI_TURN_TRUSTED, /* on the word of earlier studies */
    TRI_TURN_KINDS
} tri_turn;

/* What each place of an answer is for. */
typedef struct tri_turns {
    tri_turn of[WANTED_MOST];
    int n[TRI_TURN_KINDS];
    int64_t trusted_before; /* in earlier answers */
} tri_turns;

/* Whether new trials end below the top. */
static inline int tri_snapshot_is_ladder(const tri_snapshot *s)
{
    return s->resource > s->base;
}

/* By the numbers that the trials will have, so that the shares hold of what is
 * started, however little of each answer is. */
void tri_turns_assign(const tri_thinker *t, const tri_snapshot *s, int wanted,
                      tri_turns *p);
/* Bring what was chosen kind by kind (n[kind] of them from a->choices[
 * from[kind]] on) to the places that are its kind's; where there are too few
 * of a kind others move up.  TRI_ENOMEM. */
tri_status tri_turns_arrange(const tri_turns *p, const int *from, const int *n,
                             tri_answer *a);

/* Fit the predictor in use, over earlier studies.  TRI_ENOMEM. */
tri_status tri_thinker_fit(const tri_thinker *t, const tri_samples *s,
                           const tri_model *before, tri_model **out);
/* Find out how far the model's deviations are to be believed, if it has not
 * been tried with about as many values.  TRI_ENOMEM. */
tri_status tri_thinker_calibrate(tri_thinker *t);

/* The model that this answer is chosen by; NULL. */
tri_model *tri_thinker_asked(const tri_thinker *t);

/* Bring the pool up to a snapshot; without it nothing can be chosen.
 * TRI_ENOMEM. */
tri_status tri_thinker_refresh(tri_thinker *t, const tri_snapshot *s);
/* Choose up to `wanted` and append them.  TRI_ENOMEM. */
tri_status tri_thinker_decide(tri_thinker *t, const tri_snapshot *s,
                              const tri_cancel *cancel, tri_answer *a,
                              int wanted);

/* [out] `out`: borrowed from the thinker until its next answer.  TRI_ENOMEM. */
tri_status tri_thinker_tell(tri_thinker *t, const tri_snapshot *s,
                            const tri_answer *a, tri_ev_proposals *out);

#endif

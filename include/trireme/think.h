/*
 * The thinker: predictor and proposer together, outside the pure line (the
 * CubicML loop: records -> predictor -> proposer; Wen et al., 2024).
 *
 * The controller asks with a `think` command; whoever drives it takes a
 * snapshot (tri_ctl_snapshot), gives it to tri_thinker_answer, at once or in a
 * thread of its own, and feeds what comes back as a `proposals` event.  The
 * event is the record of it: replay thinks nothing again.
 *
 * What is odd in the records has a defined answer:
 *   few results      (under five, or two of values) no model, rule "spread":
 *                    the farthest from all that was tried; or "random", where
 *                    new trials end below the top
 *   all failed       rule "spread", for as long as none has a value; the
 *                    failures teach the feasibility model
 *   all equal        the same, until two values differ: nothing ranks
 *                    configurations
 *   NaN, infinite    no value; the configuration counts as one that ran
 *   twelve decades   values are warped to about a normal's (predict.h)
 *   several rungs    one order of all values, in normal scores; the resource
 *                    is an input of the model
 *   one twice        two rows, which differ by noise
 *   never varies     a parameter of one value has no column; one that the
 *                    records do not vary teaches nothing
 *   no order found   predictor auto, that ranks left-out results no better than
 *                    chance (tau under 0.1 from 24 values on): half of the
 *                    choices have the rule "random"
 *   earlier studies that contradict   each is dropped once this study's own
 *                    results are predicted as well without it, and taken up
 *                    again if that changes
 * Without a model `proposals` has the model "none" and says why in `hyper`;
 * evolution needs no model and has the same rules.
 *
 * A thinker keeps its model from one question to the next; what it answers
 * depends on the snapshots that it has seen and the seed only.  Its work is
 * bounded by counts, not by time; a caller may cancel it.  No clock, file,
 * thread or MPI in here.  One thread at a time.
 */
#ifndef TRIREME_THINK_H
#define TRIREME_THINK_H

#include "trireme/event.h"
#include "trireme/predict.h"
#include "trireme/study.h"

/* One result at a rung: a value, or a failure of the configuration. */
typedef struct tri_record {
    const tri_config *config; /* n_params values, owned by the snapshot */
    int64_t trial;
    int64_t resource;  /* in the study's unit */
    double objective;  /* as the study compares it; NaN if it failed */
    double peak_bytes; /* a rank; NaN if not known */
    int failed;        /* of itself: tri_reason, else TRI_REASON_NONE */
    int ranks;
} tri_record;

/* What is known at the moment of the question; owns all it points at. */
typedef struct tri_snapshot {
    int64_t number; /* of the think command */
    int wanted;     /* proposals, at least 1 */
    int n_records;  /* this study's, of this machine class */
    const tri_record *records;
    int n_pending; /* configurations with no result yet, at any rung */
    const tri_config *const *pending;
    int64_t n_tried; /* hashes of all configurations that have a trial */
    const uint64_t *tried;
    int64_t resource;    /* the one to predict at: the top rung, or the highest
                          * reached where there is none */
    int64_t base;        /* the smallest resource of a new trial */
    int max_ranks;       /* the pool: no proposal needs more */
    double memory_bytes; /* a rank's limit; 0: not known */
} tri_snapshot;

TRI_API void tri_snapshot_destroy(tri_snapshot *s);

/*
 * Rows of earlier studies (--warm), already parsed against this space.  They
 * count for nothing by themselves: each source's model is a prior mean for this
 * study's, used while this study's own results are predicted better with it
 * (by cross-validation; on trust before there are three).
 */
typedef struct tri_warm_records {
    const char *source; /* file that they come from */
    int n;
    const tri_record *records; /* objective NaN: failed */
    int same_class;            /* of this machine class */
} tri_warm_records;

typedef struct tri_thinker tri_thinker;

/* Whether the study's search is led by a thinker ("auto" is, where there is
 * something to learn: more than one valid configuration). */
TRI_API int tri_study_thinks(const tri_study *study);

/*
 * [out] owned.  `warm` is copied.  Borrows `study`.  TRI_EUNKNOWN for a
 * proposer, predictor or acquisition that there is not (with the closest
 * name); TRI_ENOMEM.
 */
TRI_API tri_status tri_thinker_create(const tri_study *study, uint64_t seed,
                                      const tri_warm_records *warm, int n_warm,
                                      tri_thinker **out);
TRI_API void tri_thinker_destroy(tri_thinker *t);

/*
 * Answer a question: at most `wanted` new valid configurations that need at
 * most max_ranks, none tried before, each with its prediction at
 * `snapshot->resource`, interval, probability to run and the rule that chose
 * it ("ei", "ucb", "thompson", "evolution", "reinforce", "random", ...).
 * Fewer, or none, where the space has no more or too little is known: the
 * controller then draws by itself.  `cancel` (may be NULL) is read between
 * pieces of work; once not 0, the answer is what there is so far.
 * [out] `out`: borrowed until the next call.  TRI_ENOMEM.
 */
TRI_API tri_status tri_thinker_answer(tri_thinker *t,
                                      const tri_snapshot *snapshot,
                                      const tri_cancel *cancel,
                                      tri_ev_proposals *out);

/* What the thinker now believes of a configuration at a resource; NaN where it
 * has no model.  For `predict` and `explain`. */
typedef struct tri_belief {
    double predicted, lo, hi; /* 95 %, without noise: as wide as errors on left
                               * out results ask for */
    double bytes, p_feasible;
    double sd; /* of the prediction, on the scale that the model works on: how
                * little is known there */
} tri_belief;
TRI_API tri_status tri_thinker_believe(tri_thinker *t, const tri_config *c,
                                       int64_t resource, tri_belief *out);

/*
 * A sentence on how the last answer was made, if that is new: that there is no
 * model (any more, again) and why; which earlier studies are used, and why
 * others are not.  NULL: nothing new.  Valid until the next answer.
 */
TRI_API const char *tri_thinker_news(const tri_thinker *t);

/* Name of the predictor in use ("gp", "trees", ...); "none" where too little is
 * known. */
TRI_API const char *tri_thinker_model(const tri_thinker *t);

#endif

/*
 * The thinker's parts and what they hand each other:
 *
 *   knowledge   records as rows: values to learn from, what ran, what failed
 *   fidelity    results at several resources on one scale
 *   transfer    what earlier studies say, and how far they are trusted
 *   pool        the valid configurations to choose from, encoded
 *   acquire     the best of the pool by a model, one after another; its parts
 *               in acquire_internal.h
 *   design      the most spread of the pool, before there is a model
 *   evolve, reinforce   strategies that make configurations of their own
 *
 * Costs: lower is better.  Only thinker.c knows of studies and events.
 */
#ifndef TRI_SRC_PROPOSE_THINK_INTERNAL_H
#define TRI_SRC_PROPOSE_THINK_INTERNAL_H

#include "trireme/think.h"

/* ---- fidelity -------------------------------------------------------- */

/* Normal scores of costs: a monotone map by its points. */
typedef struct tri_scores {
    int n;                /* distinct costs, ascending; 0: not in use */
    double *cost, *score; /* one piece, owned */
} tri_scores;

/* Replace costs y[n] by their scores.  TRI_ENOMEM. */
tri_status tri_scores_init(tri_scores *s, double *y, int n);
void tri_scores_fini(tri_scores *s);
/* The cost of a score; beyond the ends along a line, which does not cross zero
 * where all costs are on one side. */
double tri_scores_invert(const tri_scores *s, double score);

/* ---- knowledge ------------------------------------------------------- */

/* Resources of which the best is known. */
#define TRI_KNOWLEDGE_RUNGS 32

typedef struct tri_knowledge {
    int width;
    int n;            /* values: a row for each trial and resource */
    double *x, *y;    /* n x width; warped costs */
    double *resource; /* n */
    tri_warp warp;
    tri_scores scores; /* instead of the warp, where resources differ */
    double best;       /* the lowest cost, unwarped; NaN */
    int n_best;        /* the last row that was the best at its resource; -1 */
    int n_rungs;       /* resources, and the lowest cost at each */
    double rung[TRI_KNOWLEDGE_RUNGS], rung_best[TRI_KNOWLEDGE_RUNGS];
    int n_labels;    /* configurations that ran or failed by themselves; */
    int n_own;       /* the first so many here, the others in earlier studies */
    double *label_x; /* n_labels x width */
    double *peak;    /* bytes, NaN */
    unsigned char *failed;
    int n_failed;
    int n_points; /* all that are known or under way, for the design */
    double *point_x;
} tri_knowledge;

/* Own configurations from which on labels of earlier studies are not needed. */
#define TRI_KNOWLEDGE_OWN 256

/* What this study knows.  A value that is not finite is none; the configuration
 * ran all the same.  `more_labels`: room for so many of earlier studies;
 * `maximize`: objectives are negated.  [out] k: to be ended with fini.
 * TRI_ENOMEM. */
tri_status tri_knowledge_init(tri_knowledge *k, const tri_encoding *e,
                              const tri_snapshot *s, int more_labels,
                              int maximize);
/* What ran and failed in an earlier study, of configurations that have no label
 * here; `peaks`: its memory too.  TRI_ENOMEM. */
tri_status tri_knowledge_add_labels(tri_knowledge *k, const tri_encoding *e,
                                    const tri_warm_records *warm, int peaks);
void tri_knowledge_fini(tri_knowledge *k);
/* A value that is learned, as a cost. */
double tri_knowledge_cost(const tri_knowledge *k, double value);

/* ---- pool -------------------------------------------------------------- */

/* Up to so many valid configurations all are looked at. */
#define TRI_POOL_ALL 1000000
/* Of more, so many drawn ones, and what is near the best. */
#define TRI_POOL_DRAWN 8000

typedef struct tri_pool {
    const tri_space *space;
    const tri_encoding *encoding;
    int n_params, width;
    int is_all; /* every valid configuration is in it, by its index */
    int64_t n;
    float *x; /* n x width */
    uint64_t *hash;
    int32_t *ranks;
    unsigned char *taken; /* tried, proposed, or in need of too many ranks */
    tri_config *configs;  /* n x n_params; NULL where is_all */
    int64_t room;
} tri_pool;

/* Empty, or all of a space that is small enough; once cancelled it is to be
 * finished, not used.  TRI_ENOMEM. */
tri_status tri_pool_init(tri_pool *p, const tri_space *space,
                         const tri_encoding *e, const tri_cancel *cancel);
void tri_pool_fini(tri_pool *p);
/* Draw anew where not all are in it: `stream` names the draw; `near`: n_near
 * configurations whose neighbours are added.  Marks what is taken. */
tri_status tri_pool_refresh(tri_pool *p, const tri_snapshot *s, uint64_t seed,
                            const tri_config *const *near, int n_near);
/* Add one configuration of somebody's own; *at: its place, -1 where it is
 * taken or there already. */
tri_status tri_pool_add(tri_pool *p, const tri_snapshot *s, const tri_config *c,
                        int64_t *at);
/* The configuration at `i`, into out[n_params]. */
tri_status tri_pool_config(const tri_pool *p, int64_t i, tri_config *out);
/* The row at `i` in double precision. */
void tri_pool_row(const tri_pool *p, int64_t i, double *x);
/* One that is not taken, uniformly; -1 if there is none. */
int64_t tri_pool_random(const tri_pool *p, tri_rng *rng);

/* ---- choosing ------------------------------------------------------------ */

typedef enum tri_acquisition {
    TRI_ACQ_EI,
    TRI_ACQ_UCB,
    TRI_ACQ_THOMPSON
} tri_acquisition;

typedef struct tri_belief_model { /* what choosing is done by */
    const tri_predictor_ops *ops;
    tri_model *model;
    const tri_feasibility *feasible; /* NULL: all run */
    double risk; /* what fails more likely comes after all others */
    double resource;
    double best; /* lowest believed value of what has run or runs, warped */
} tri_belief_model;

typedef struct tri_choice {
    int64_t at;      /* in the pool */
    double mean, sd; /* warped */
    double p, bytes; /* to run; peak, NaN */
} tri_choice;

/*
 * The `wanted` best of the pool by the acquisition times a power of the
 * probability to run, each with the ones before it believed in (kriging
 * believer; Ginsbourger et al., 2010): as samples, and as what is to be
 * bettered, else all of a batch would lie around one promise.  The model is
 * left as it was.  Candidates are looked at in the order of an upper bound
 * until none can be better, or until the work for one choice is spent: then it
 * is the best of those looked at, 10^8 / n^2 with a model of n samples, but 112
 * at least and 16,384 at most; how many of the others are better is not known.
 * Returns the number chosen; marks them taken.
 * `cancel` as in tri_thinker_answer.
 */
tri_status tri_acquire(tri_pool *p, const tri_belief_model *m,
                       tri_acquisition how, int wanted, uint64_t seed,
                       const tri_cancel *cancel, tri_choice *out, int *n);

/* log EI(z) per deviation: log(phi(z) + z Phi(z)), for any z (Ament et al.,
 * NeurIPS 2023). */
double tri_log_ei(double z);

/* What a new run may risk. */
typedef struct tri_caution {
    const tri_feasibility *feasible; /* NULL: all run */
    double risk; /* how likely it may fail, if there is a choice */
} tri_caution;

/* [out] *fails: how likely the candidate at `at` fails.  TRI_ENOMEM. */
tri_status tri_caution_of(const tri_caution *c, const tri_pool *p, int64_t at,
                          double *fails);
/* One that is not taken nor too likely to fail, uniformly; else of those looked
 * at the one that is likeliest to run.  [out] *at: -1 if there is none.
 * TRI_ENOMEM. */
tri_status tri_caution_random(const tri_caution *c, const tri_pool *p,
                              tri_rng *rng, int64_t *at);

/* [out] *risk: how likely each of `wanted` new runs may fail, by what failed in
 * this study.  `f`: NULL where nothing is known.  TRI_ENOMEM. */
tri_status tri_risk(const tri_feasibility *f, const tri_encoding *e,
                    const tri_snapshot *s, int wanted, double *risk);

/* The candidate of `tries` random ones that is farthest from all points
 * x[n][width]; -1 if there is none. */
int64_t tri_design_next(const tri_pool *p, const double *x, int n, int tries,
                        tri_rng *rng);

#endif

/*
 * Curve sources: the objective of a configuration after a given resource,
 * without a training behind it.  Used by the simulator and by synthetic and
 * table trials under MPI.
 *
 * Synthetic curves have a known optimum over any space: a configuration's
 * final value is a deterministic function of its values (by the study's seed),
 * approached as resource grows; the objective is a loss (lower is better)
 * whatever metric name the study gives it, negated where it maximises.
 *
 * Pure; immutable; thread-safe.
 */
#ifndef TRIREME_CURVE_H
#define TRIREME_CURVE_H

#include "trireme/study.h"

typedef struct tri_curve tri_curve;

/* What a curve source answers for one run. */
typedef struct tri_curve_point {
    double objective;  /* noise included; NaN if failed */
    double duration_s; /* of the run: cost x resource x straggling */
    int failed;        /* a failure of the configuration or injected */
    int final_failure; /* table: the row failed, infeasible for good */
} tri_curve_point;

/* A source for the study's model (synthetic, table); TRI_EUNBUILT for other
 * kinds.  `cost_s`: seconds a unit of resource where the study says none.
 * Borrows `study`.  [out] owned. */
TRI_API tri_status tri_curve_create(const tri_study *study, double cost_s,
                                    tri_curve **out);
TRI_API void tri_curve_destroy(tri_curve *c);
/* The outcome of run `run` of configuration `config` from `from` to `to`
 * units of resource (noise, straggling and failure keyed by the run). */
TRI_API void tri_curve_at(const tri_curve *c, const tri_config *config,
                          int64_t run, int64_t from, int64_t to,
                          tri_curve_point *out);
/* The noiseless value of `config` at `resource`. */
TRI_API double tri_curve_value(const tri_curve *c, const tri_config *config,
                               int64_t resource);
/* The best reachable noiseless value at the top resource; NaN if unknown (an
 * infinite or too large space). */
TRI_API double tri_curve_optimum(const tri_curve *c);

#endif

/*
 * Curve sources: the objective of a configuration after a given resource,
 * without a training behind it.  Used by the simulator and by synthetic and
 * table trials under MPI.
 *
 * Synthetic curves have a known optimum over any space: a configuration's
 * final value is a deterministic function of its values (by the study's seed),
 * approached as resource grows; the objective is a loss (lower is better)
 * whatever metric name the study gives it, negated where it maximises.  Forms:
 *   bowl      quadratic with mild couplings; low resource ranks roughly right
 *   ridge     a narrow valley along which all parameters move together
 *   crossing  a bowl whose good configurations start slowly: curves cross
 *   flat      a bowl that is the same at every resource, as a throughput is
 *
 * Table curves answer with the recorded rows of the study's table, as they
 * stand there; without `curve` a run lasts one second whatever its resource.
 *
 * Recorded curves answer for any study with results of elsewhere; see
 * tri_curve_create_recorded.
 *
 * Pure; immutable; thread-safe.
 */
#ifndef TRIREME_CURVE_H
#define TRIREME_CURVE_H

#include "trireme/recorded.h"
#include "trireme/study.h"

typedef struct tri_curve tri_curve;

/* What a curve source answers for one run. */
typedef struct tri_curve_point {
    double objective;  /* noise included; NaN if failed, or not a number in
                        * the table (a diverged run) */
    double duration_s; /* of the run: cost x resource x straggling; of a failed
                        * one until it failed */
    int failed;        /* a failure of the configuration or injected */
    int final_failure; /* table: the row failed, infeasible for good */
    int missing;       /* recorded: nothing is known of the configuration;
                        * failed and final_failure too */
} tri_curve_point;

/* A source for the study's model (synthetic, table); TRI_EUNBUILT for other
 * kinds, TRI_EUNKNOWN for a form that there is not, TRI_EEMPTY.  `cost_s`:
 * seconds a unit of resource where the study says none.  Borrows `study`.
 * [out] owned. */
TRI_API tri_status tri_curve_create(const tri_study *study, double cost_s,
                                    tri_curve **out);
/*
 * A source of recorded results for a study of any kind.  Repeats of a
 * configuration and resource are combined: the median of the finite
 * objectives, failed only if all failed.  A resource between recorded ones has
 * the result of the last before it; one before all, that of the first; one
 * after all, that of the last.  A configuration of which nothing is recorded
 * fails for good.  A run lasts what is recorded of it a unit of resource, else
 * `cost_s` (a synthetic study's own, if it has one); noise, straggling and
 * failures of a synthetic study are not added.  Borrows `study`; `recorded` is
 * not kept.  TRI_EEMPTY without points.  [out] owned.
 */
TRI_API tri_status tri_curve_create_recorded(const tri_study *study,
                                             const tri_recorded *recorded,
                                             double cost_s, tri_curve **out);
TRI_API void tri_curve_destroy(tri_curve *c);
/* The outcome of run `run` of configuration `config` from `from` to `to`
 * units of resource (noise, straggling and failure keyed by the run). */
TRI_API void tri_curve_at(const tri_curve *c, const tri_config *config,
                          int64_t run, int64_t from, int64_t to,
                          tri_curve_point *out);
/* The same of a configuration whose hash (tri_space_hash) is known. */
TRI_API void tri_curve_at_hash(const tri_curve *c, const tri_config *config,
                               uint64_t hash, int64_t run, int64_t from,
                               int64_t to, tri_curve_point *out);
/* The noiseless value of `config` at `resource`. */
TRI_API double tri_curve_value(const tri_curve *c, const tri_config *config,
                               int64_t resource);
/* The best reachable noiseless objective at the top resource, as the study
 * compares it (per rank where it says so); NaN if unknown: no top resource
 * (recorded: the largest recorded stands in), per rank over an infinite or too
 * large space, or recorded results that leave out some valid configuration or
 * stop early with it. */
TRI_API double tri_curve_optimum(const tri_curve *c);
/* The resource that the optimum is meant of: from there on values are final.
 * The study's max, or the end of all curves of a table or recording where that
 * is less or max is absent; 0: there is none, curves go on for ever. */
TRI_API int64_t tri_curve_top(const tri_curve *c);
/* The measurement of a run whose objective is `value`: the member that the
 * study's objective names, the others NaN. */
TRI_API void tri_curve_measured(const tri_study *study, double value,
                                tri_measured *out);

#endif

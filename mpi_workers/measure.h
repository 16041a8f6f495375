/*
 * What a run measured (DESIGN section 8): whole steps by a monotonic clock;
 * warm-up by rule, then by change point; rates as medians over the measured
 * steps with their interval.
 *
 * Of long runs a thinned sample is kept, evenly spread over the run, so that
 * memory is bounded and nothing is allocated after tri_measure_init.  Sums
 * (tokens, samples, seconds) are exact.  No MPI, no clock of its own.
 */
#ifndef TRI_MPI_WORKERS_MEASURE_H
#define TRI_MPI_WORKERS_MEASURE_H

#include "trireme/stats.h"
#include "trireme/study.h"

#include <stdint.h>

typedef struct tri_measure tri_measure;

/* One observation: `n` steps that took step_s seconds each. */
typedef struct tri_observation {
    int64_t n;
    double step_s;
    double tokens, samples; /* of one step */
    double loss, own;
} tri_observation;

typedef struct tri_measurement {
    int64_t warmup_steps, measured_steps;
    tri_interval step_s, tokens_per_s, samples_per_s; /* NaN: not measured */
    double loss; /* mean of the last tenth of the measured steps, of one at
                  * least; NaN where one of them is */
    double own;  /* the last one given */
    int flaky;   /* more than a tenth of the steps are outliers */
} tri_measurement;

/* `warmup`: steps that are warm-up by rule.  [out] owned.  TRI_ENOMEM. */
tri_status tri_measure_create(int warmup, tri_measure **out);
void tri_measure_destroy(tri_measure *m);
/* Start again: the steps come from a fresh start. */
void tri_measure_reset(tri_measure *m);
void tri_measure_add(tri_measure *m, const tri_observation *o);
/* The trial's own metric, given without a step. */
void tri_measure_note_own(tri_measure *m, double own);

/* After the warm-up by rule: exact sums. */
int64_t tri_measure_steps(const tri_measure *m);
double tri_measure_seconds(const tri_measure *m);
double tri_measure_tokens(const tri_measure *m);
double tri_measure_samples(const tri_measure *m);

/* What was measured so far.  `ended`: the trial ended by itself, so that a run
 * shorter than its warm-up counts all steps but the first. */
void tri_measure_result(tri_measure *m, int ended, tri_measurement *out);
/*
 * Whether half of the interval of `metric` (a rate or step_s) is within
 * `precision` of its value, from `min_steps` measured steps on.  Looks again
 * only once the series has grown by a sixteenth, so it may be asked each step.
 */
int tri_measure_is_precise(tri_measure *m, tri_metric metric, double precision,
                           int min_steps);

#endif

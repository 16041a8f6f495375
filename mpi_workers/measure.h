/*
 * What a run measured: whole steps by a monotonic clock; warm-up by rule, then
 * by change point; rates as medians over the measured steps with their
 * interval.
 *
 * What is learned (the loss, a metric of the trial's own) must not depend on
 * timing: it is the mean of the values reported for the last tenth of the
 * steps, rounded up, and where none was, the last value reported.  The tenth
 * is of all steps done without the warm-up by rule, so that at a rung's end it
 * is a tenth of the resource; what time makes of the warm-up does not move it.
 * A value without a step of its own is of the step before it; of one step the
 * last value counts.  A run that went on from a checkpoint inside its last
 * tenth has the rest of it.
 *
 * Observations that came together (`joins`) are one for the warm-up, rates,
 * intervals and precision, so that lines held back by a buffer are not taken
 * for as many independent steps; for what is learned each counts.  Where all of
 * a run came together, that one is all there is: no interval, and flaky.
 *
 * Of long runs a thinned sample is kept, evenly spread over the run, so that
 * memory is bounded and nothing is allocated after tri_measure_create.  Sums
 * (tokens, samples, seconds) are exact, and so is the last tenth up to
 * TRI_MEASURE_VALUES values; beyond, its start is rounded up by under a
 * hundredth of it, by count.  No MPI, no clock of its own.
 */
#ifndef TRI_MPI_WORKERS_MEASURE_H
#define TRI_MPI_WORKERS_MEASURE_H

#include "trireme/stats.h"
#include "trireme/study.h"

#include <stdint.h>

/* Values kept one by one, before neighbours are added up. */
#define TRI_MEASURE_VALUES 2048

typedef struct tri_measure tri_measure;

/* One observation: `n` steps that took step_s seconds each. */
typedef struct tri_observation {
    int64_t n;
    double step_s;
    double tokens, samples; /* of one step */
    double loss, own;       /* of the last one; NaN: not reported */
    int joins; /* it came together with the observation before: of the time of
                * both only the sum is known, and for rates they are one */
} tri_observation;

typedef struct tri_measurement {
    int64_t warmup_steps, measured_steps;
    tri_interval step_s, tokens_per_s, samples_per_s; /* NaN: not measured */
    double loss, own; /* over the last tenth; NaN: never reported */
    int flaky;        /* more than a tenth of the steps after the warm-up are
                       * outliers, tri_is_outlier */
} tri_measurement;

/* `warmup`: steps that are warm-up by rule.  [out] owned.  TRI_ENOMEM. */
tri_status tri_measure_create(int warmup, tri_measure **out);
void tri_measure_destroy(tri_measure *m);
/* Start again: the next step is the one after `before`, 0 for a fresh start. */
void tri_measure_reset(tri_measure *m, int64_t before);
void tri_measure_add(tri_measure *m, const tri_observation *o);
/* The trial's own metric, given without a step: of the last one. */
void tri_measure_note_own(tri_measure *m, double own);

/* After the warm-up by rule.  Sums are exact; where steps were done before, by
 * a run whose checkpoint this one goes on from, those count too, as if each had
 * been like the mean of the ones seen: for seconds after a warm-up of this
 * process's own, for tokens and samples of all. */
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

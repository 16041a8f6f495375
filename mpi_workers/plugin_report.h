/*
 * What a plugin reported: the reports of one call taken together, and whether
 * all of them are a result.  Pure: no MPI, no clock.
 */
#ifndef TRI_MPI_WORKERS_PLUGIN_REPORT_H
#define TRI_MPI_WORKERS_PLUGIN_REPORT_H

#include "trireme/study.h"
#include "trireme/trial.h"

typedef struct tri_plugin_heard {
    const tri_study *study; /* borrowed */
    int64_t step;           /* the last reported */
    uint64_t bytes;         /* the most reported */
    /* since the trial began here */
    int has_tokens, has_samples, has_own, has_loss;
    int64_t steps;
    double all_tokens, all_samples;
    char names[160]; /* of metrics, for sentences */
    /* of the call */
    int64_t asked, before;
    double tokens, samples; /* sums over its steps */
    double loss, own;       /* the last; NaN: none */
    int is_bad;             /* one of those was not finite */
    char complaint[160];    /* a report that cannot be; "" if none */
} tri_plugin_heard;

/* `step`: done before the trial began here. */
void tri_plugin_heard_init(tri_plugin_heard *h, const tri_study *study,
                           int64_t step);
/* A call begins that is to reach `step`. */
void tri_plugin_heard_begin(tri_plugin_heard *h, int64_t step);
/* A report, as the plugin gave it; returns what its report function does. */
int tri_plugin_heard_add(tri_plugin_heard *h,
                         const trireme_trial_report *report);
/* Steps of the call. */
int64_t tri_plugin_heard_steps(const tri_plugin_heard *h);

/*
 * After a call on the leader that came back without a failure: what is wrong
 * with what was heard, TRI_OK if nothing is.  `ended`: it has nothing further
 * to do; `over`: the run is over (at its last step, or as the leader said).
 * `resource`: of the run; `target`: its last step, -1: counted.  TRI_ENAN,
 * TRI_ETRIAL.
 */
tri_status tri_plugin_heard_judge(const tri_plugin_heard *h, int ended,
                                  int over, int64_t resource, int64_t target);

#endif

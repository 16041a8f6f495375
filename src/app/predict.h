/*
 * What `predict` has found out: cmd_predict.c asks, predict_tell.c tells.
 */
#ifndef TRI_SRC_APP_PREDICT_H
#define TRI_SRC_APP_PREDICT_H

#include "src/app/app.h"
#include "src/app/story.h"

#define TRI_PREDICT_WARNINGS      16
#define TRI_PREDICT_WARNING_BYTES 200

/* How predictions that were made before their runs did. */
typedef struct tri_predict_past {
    int64_t n, inside;     /* as tri_report_coverage counts them */
    int64_t n_peaks;       /* memory: of log(measured / predicted) */
    double mean, variance; /* its mean, and its sum of squares about it */
} tri_predict_past;

typedef struct tri_predict_row {
    tri_config *config;
    int ranks;
    tri_belief belief;
    double bytes_lo, bytes_hi;
    char warnings[TRI_PREDICT_WARNINGS][TRI_PREDICT_WARNING_BYTES];
    int n_warnings;
    int64_t trial; /* that measured it; -1 */
    int64_t measured_resource;
    int n_measured; /* runs whose median that is, finals included */
    double measured, lo, hi, peak;
    tri_reason reason;
} tri_predict_row;

typedef struct tri_predict {
    const tri_story *story;
    const tri_study *study;
    tri_believer believer;
    int64_t resource;
    double *peaks; /* a trial */
    tri_predict_past past;
    tri_predict_row *rows;
    int n;
} tri_predict;

/* To standard output. */
void tri_predict_json(const tri_predict *a);
void tri_predict_print(const tri_predict *a);

#endif

/*
 * Reads what a trial's process prints: JSON lines with a "step", among
 * anything else.  Bytes go in as they come; partial lines wait, huge ones and
 * noise are counted and dropped.  Bounded memory; no MPI, no files, no clock.
 */
#ifndef TRI_MPI_WORKERS_METRICS_H
#define TRI_MPI_WORKERS_METRICS_H

#include "trireme/status.h"

#include <stdint.h>

#define TRI_METRICS_LINE_BYTES 65536

/* What one line said; NaN and -1 where it said nothing. */
typedef struct tri_metric_line {
    int64_t step;
    int has_loss; /* "loss" was given; it may be NaN */
    double tokens, samples, loss, own, bytes;
} tri_metric_line;

typedef void (*tri_metric_fn)(void *ctx, const tri_metric_line *line);

typedef struct tri_metrics tri_metrics;

/* `own`: name of the metric of the trial's own, NULL if none.  Borrowed.
 * [out] owned.  TRI_ENOMEM. */
tri_status tri_metrics_create(const char *own, tri_metrics **out);
void tri_metrics_destroy(tri_metrics *m);
/* Calls `each` for every complete metric line; a line is one where at least
 * one known key holds a number.  One whose step cannot be is none. */
void tri_metrics_feed(tri_metrics *m, const char *bytes, size_t n,
                      tri_metric_fn each, void *ctx);
/* Names of the first eight keys that JSON lines had, as "step, foo"; "" if
 * there was none.  Names, and the list, are cut to fit. */
void tri_metrics_names(const tri_metrics *m, char *buf, size_t bytes);
/* Lines that were metrics; that looked like JSON but were none, or had a step
 * that is no whole number from 0 to 2^53; that were too long. */
int64_t tri_metrics_lines(const tri_metrics *m);
int64_t tri_metrics_garbled(const tri_metrics *m);
int64_t tri_metrics_huge(const tri_metrics *m);

#endif

/*
 * Reads what a trial's process writes: JSON lines and, where the study has
 * patterns, lines in which they are found.  Bytes of its three streams go in
 * as they come, a carriage return ends a line too (progress bars); partial
 * lines wait, huge ones and noise are counted and dropped.  Bounded memory; no
 * MPI, no files, no clock.
 *
 * JSON lines are read from standard output and from the descriptor that
 * TRIREME_FD names; once a metric came on the latter, those on standard output
 * are ignored.  Patterns are looked for on standard output and standard error.
 */
#ifndef TRI_MPI_WORKERS_METRICS_H
#define TRI_MPI_WORKERS_METRICS_H

#include "mpi_workers/child.h"
#include "trireme/study.h"

#include <stdint.h>

#define TRI_METRICS_LINE_BYTES 65536
#define TRI_FAILURE_BYTES      32
#define TRI_SENTENCE_BYTES     200

/* What one line said; NaN, -1 and "" where it said nothing. */
typedef struct tri_metric_line {
    int64_t step;
    int belongs;  /* without a step: it is of the step before it */
    int has_loss; /* "loss" was given; it may be NaN */
    double tokens, samples, loss, bytes;
    double own; /* INFINITY also where it was given and is no number */
    double consumed_tokens, consumed_samples; /* of all steps so far */
    double tokens_per_s, samples_per_s, step_s;
    int64_t checkpoint;              /* the step that was saved */
    char failure[TRI_FAILURE_BYTES]; /* class that the process says itself */
    char sentence[TRI_SENTENCE_BYTES];
} tri_metric_line;

typedef void (*tri_metric_fn)(void *ctx, const tri_metric_line *line);

typedef struct tri_metrics tri_metrics;

/* `own`: name of the metric of the trial's own, NULL if none.  Borrowed.
 * [out] owned.  TRI_ENOMEM. */
tri_status tri_metrics_create(const char *own, tri_metrics **out);
/* Before anything is heard: look for the study's patterns too, borrowed until
 * destroy; `ranks` is what rates of one rank are multiplied by.  TRI_EPARSE,
 * TRI_ENOMEM. */
tri_status tri_metrics_use(tri_metrics *m, const tri_process_spec *spec,
                           int ranks);
void tri_metrics_destroy(tri_metrics *m);

/* Calls `each` for every complete line that says something: one where at least
 * one known key holds a number, a step was saved, or a failure is said.  One
 * whose step cannot be is none. */
void tri_metrics_hear(tri_metrics *m, tri_stream which, const char *bytes,
                      size_t n, tri_metric_fn each, void *ctx);
/* The streams have ended: the last lines may have no end. */
void tri_metrics_end(tri_metrics *m, tri_metric_fn each, void *ctx);

/* Whether what belongs to one step may come in several lines. */
int tri_metrics_is_spread(const tri_metrics *m);
/* Names of the first eight keys that lines had, as "step, foo"; "" if there
 * was none.  Names, and the list, are cut to fit. */
void tri_metrics_names(const tri_metrics *m, char *buf, size_t bytes);
/* Of lines of which none was of use: what was wrong with them, and what was
 * expected. */
void tri_metrics_say(const tri_metrics *m, char *buf, size_t bytes);
/* Lines in which the search for a pattern was given up, as it took too long. */
int64_t tri_metrics_slow(const tri_metrics *m);
/* Lines that were metrics; that looked like JSON but were none, or had a step
 * that is no whole number from 0 to 2^53; that were too long. */
int64_t tri_metrics_lines(const tri_metrics *m);
int64_t tri_metrics_garbled(const tri_metrics *m);
int64_t tri_metrics_huge(const tri_metrics *m);

#endif

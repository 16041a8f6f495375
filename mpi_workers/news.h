/*
 * What a process has reported and the run loop has not yet been told: a queue
 * of its lines with a step, each with the time that its steps took.  Lines
 * that come in one breath share the time since the last breath.  Bounded: what
 * does not fit is merged into the last line.  No MPI, no clock of its own.
 */
#ifndef TRI_MPI_WORKERS_NEWS_H
#define TRI_MPI_WORKERS_NEWS_H

#include "mpi_workers/metrics.h"

#define TRI_NEWS_LINES 1024

typedef struct tri_news_line {
    int64_t step;                      /* the last that the line covers */
    int64_t steps;                     /* how many it covers */
    double step_s;                     /* of one of them */
    double tokens, samples, loss, own; /* of the last one */
} tri_news_line;

typedef struct tri_news {
    tri_news_line queue[TRI_NEWS_LINES]; /* a ring */
    int at, n, n_timed; /* the first n_timed of n have their times */
    int is_bad;         /* a loss was not a number */
    int64_t step;       /* the last heard of */
    double own;         /* given without a step and not yet told; NaN */
    double last_s;      /* when a step was last heard, or the start */
} tri_news;

void tri_news_init(tri_news *n, double now_s);
void tri_news_hear(tri_news *n, const tri_metric_line *line);
/* All lines heard since the last call came now. */
void tri_news_time(tri_news *n, double now_s);
/* The first line that goes beyond step `after`; those before are dropped.
 * Returns 0 if there is none. */
int tri_news_next(tri_news *n, int64_t after, tri_news_line *out);
/* Nothing is left to tell. */
int tri_news_is_empty(const tri_news *n);

#endif

/*
 * What a process has reported and the run loop has not yet been told: a queue
 * of its lines with a step, each with the time that its steps took.  Lines
 * that come in one breath share the time since the last breath.  Bounded: what
 * does not fit is merged into the last line, which a caller avoids by hearing
 * a full pipe at most before it asks for lines again.  No MPI, no clock of its
 * own.
 *
 * What is told does not depend on when lines are heard: a metric without a
 * step is of the step before it, and nothing is heard after a loss that is not
 * a number, which is to be judged when all before it has been told.
 */
#ifndef TRI_MPI_WORKERS_NEWS_H
#define TRI_MPI_WORKERS_NEWS_H

#include "mpi_workers/metrics.h"

/* More than fit into a pipe of 64 KiB. */
#define TRI_NEWS_LINES 8192

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
    double own;         /* of the step told last, and not yet told; NaN */
    double last_s;      /* when a step was last heard, or the start */
} tri_news;

void tri_news_init(tri_news *n, double now_s);
void tri_news_hear(tri_news *n, const tri_metric_line *line);
/* All lines heard since the last call came now. */
void tri_news_time(tri_news *n, double now_s);
/* The step of the first line; -1 if there is none. */
int64_t tri_news_peek(const tri_news *n);
/* Take the first line.  Returns 0 if there is none. */
int tri_news_next(tri_news *n, tri_news_line *out);
/* Drop all that is left to tell. */
void tri_news_drop(tri_news *n);
/* Nothing is left to tell. */
int tri_news_is_empty(const tri_news *n);

#endif

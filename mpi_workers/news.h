/*
 * What a process has reported and the run loop has not yet been told: a queue
 * of its steps, each with its time, which is the one that the process says
 * (step_s), else the time since the step before it.  Lines that come in one
 * breath share the time since the last breath: of what each took nothing is
 * known, and all but the first `join`.  Bounded: what does not fit is
 * merged into the last step, which a caller avoids by hearing a full pipe at
 * most before it asks for steps again.  No MPI, no clock of its own.
 *
 * What is said of a step may come in several lines: what a later one adds goes
 * to the step as long as it has not been told; what was said first stays.
 * Where a rate is given and no count, the count is the rate times the step's
 * time; where a total is given, the count is what it grew by.
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
/* Without a word for so long, a step has been said in full. */
#define TRI_NEWS_SETTLE_S 0.1

typedef struct tri_news_line {
    int64_t step;  /* the last that the line covers */
    int64_t steps; /* how many it covers */
    double step_s; /* of one of them */
    int says_time; /* step_s is what the process says */
    int joins;     /* its time is a share, as that of the line before */
    double tokens, samples;             /* of one; 0: not said */
    double tokens_per_s, samples_per_s; /* likewise */
    double loss, own;                   /* of the last one */
} tri_news_line;

typedef struct tri_total { /* a count since the start */
    double at;             /* what it was */
    int64_t step;          /* after this step */
} tri_total;

typedef struct tri_news {
    tri_news_line queue[TRI_NEWS_LINES]; /* a ring */
    int at, n, n_timed; /* the first n_timed of n have their times */
    int is_bad;         /* a loss was not a number */
    int64_t step;       /* the last heard of */
    int64_t n_back;     /* lines of earlier steps than that */
    double own;         /* of the step told last, and not yet told; NaN */
    double last_s;      /* when a step was last heard, or the start */
    int is_new;         /* something was heard since tri_news_time */
    double heard_s;     /* when something was last heard */
    tri_total tokens, samples;
} tri_news;

void tri_news_init(tri_news *n, double now_s);
/* As tri_news_init, where the process goes on behind `step`. */
void tri_news_start(tri_news *n, int64_t step, double now_s);
void tri_news_hear(tri_news *n, const tri_metric_line *line);
/* All lines heard since the last call came now. */
void tri_news_time(tri_news *n, double now_s);
/* The step of the first line; -1 if there is none. */
int64_t tri_news_peek(const tri_news *n);
/* Whether no more is to be expected of the first step: there is a later one,
 * or nothing was heard for TRI_NEWS_SETTLE_S. */
int tri_news_is_settled(const tri_news *n, double now_s);
/* Take the first line.  Returns 0 if there is none. */
int tri_news_next(tri_news *n, tri_news_line *out);
/* Drop all that is left to tell. */
void tri_news_drop(tri_news *n);
/* Nothing is left to tell. */
int tri_news_is_empty(const tri_news *n);

#endif

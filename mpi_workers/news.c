/*
 * A bounded queue of reported steps.
 */
#include "mpi_workers/news.h"

#include <math.h>
#include <string.h>

void tri_news_init(tri_news *n, double now_s)
{
    memset(n, 0, sizeof *n);
    n->own = NAN;
    n->last_s = now_s;
}

static tri_news_line *line_at(tri_news *n, int i)
{
    return &n->queue[(n->at + i) % TRI_NEWS_LINES];
}

/* A line that brings new steps. */
static void push(tri_news *n, int64_t step, const tri_metric_line *line)
{
    tri_news_line *last;

    if (n->n < TRI_NEWS_LINES) {
        n->n++;
        *line_at(n, n->n - 1) = (tri_news_line){.own = NAN};
    }
    last = line_at(n, n->n - 1);
    last->steps += step - n->step;
    last->step = step;
    last->tokens = line->tokens > 0 ? line->tokens : 0;
    last->samples = line->samples > 0 ? line->samples : 0;
    last->loss = line->loss;
    last->own = isnan(line->own) ? last->own : line->own;
    n->step = step;
}

void tri_news_hear(tri_news *n, const tri_metric_line *line)
{
    int counts = line->step >= 0 || line->has_loss || !isnan(line->tokens) ||
                 !isnan(line->samples);
    int64_t step = line->step >= 0 ? line->step : n->step + counts;

    n->is_bad = n->is_bad || (line->has_loss && !isfinite(line->loss));
    if (n->is_bad) {
        return;
    }
    if (step > n->step) {
        push(n, step, line);
    } else if (!isnan(line->own) && n->n > 0) {
        line_at(n, n->n - 1)->own = line->own;
    } else if (!isnan(line->own)) {
        n->own = line->own;
    }
}

void tri_news_time(tri_news *n, double now_s)
{
    int64_t steps = 0;

    for (int i = n->n_timed; i < n->n; i++) {
        steps += line_at(n, i)->steps;
    }
    for (int i = n->n_timed; i < n->n; i++) {
        line_at(n, i)->step_s = (now_s - n->last_s) / (double)steps;
    }
    if (n->n > n->n_timed) {
        n->n_timed = n->n;
        n->last_s = now_s;
    }
}

int64_t tri_news_peek(const tri_news *n)
{
    return n->n > 0 ? n->queue[n->at].step : -1;
}

int tri_news_next(tri_news *n, tri_news_line *out)
{
    if (n->n == 0) {
        return 0;
    }
    *out = *line_at(n, 0);
    n->at = (n->at + 1) % TRI_NEWS_LINES;
    n->n--;
    n->n_timed -= n->n_timed > 0;
    return 1;
}

void tri_news_drop(tri_news *n)
{
    n->n = n->n_timed = 0;
    n->own = NAN;
}

int tri_news_is_empty(const tri_news *n)
{
    return n->n == 0 && isnan(n->own);
}

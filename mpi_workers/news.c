/*
 * A bounded queue of reported steps.
 */
#include "mpi_workers/news.h"

#include <math.h>
#include <string.h>

/* No step takes so long, nor does a rate go so far. */
#define MOST 1e18

void tri_news_start(tri_news *n, int64_t step, double now_s)
{
    memset(n, 0, sizeof *n);
    n->own = NAN;
    n->last_s = n->heard_s = now_s;
    n->step = step;
}

void tri_news_init(tri_news *n, double now_s)
{
    tri_news_start(n, 0, now_s);
}

static tri_news_line *line_at(tri_news *n, int i)
{
    return &n->queue[(n->at + i) % TRI_NEWS_LINES];
}

/* ---- hearing ------------------------------------------------------------ */

/* Of a step by what a total grew by since it was last said.  The first time
 * that is since step 0, where a trainer that goes on from a checkpoint counts
 * from, too. */
static double grown(tri_total *total, double now, int64_t step)
{
    double each = 0;

    if (step > total->step && now > total->at) {
        each = (now - total->at) / (double)(step - total->step);
    }
    if (now >= 0 && step > total->step) {
        *total = (tri_total){now, step};
    }
    return each;
}

/* What is a count or a rate: above 0, or not said. */
static void fill(double *place, double value)
{
    if (*place == 0 && value > 0 && value < MOST) {
        *place = value;
    }
}

/* What `line` adds to a step that is not yet told. */
static void add(tri_news *n, tri_news_line *to, const tri_metric_line *line)
{
    fill(&to->tokens, line->tokens);
    fill(&to->samples, line->samples);
    fill(&to->tokens, grown(&n->tokens, line->consumed_tokens, to->step));
    fill(&to->samples, grown(&n->samples, line->consumed_samples, to->step));
    fill(&to->tokens_per_s, line->tokens_per_s);
    fill(&to->samples_per_s, line->samples_per_s);
    if (!to->says_time && line->step_s > 0 && line->step_s < MOST) {
        to->step_s = line->step_s;
        to->says_time = 1;
        to->joins = 0;
    }
    to->loss = isnan(to->loss) ? line->loss : to->loss;
    to->own = isnan(line->own) ? to->own : line->own;
}

/* A line that brings new steps. */
static void push(tri_news *n, int64_t step, const tri_metric_line *line)
{
    tri_news_line *last;
    int64_t steps = step - n->step;
    double own = NAN;

    if (n->n < TRI_NEWS_LINES) {
        n->n++;
    } else { /* merged */
        steps += line_at(n, n->n - 1)->steps;
        own = line_at(n, n->n - 1)->own;
    }
    last = line_at(n, n->n - 1);
    *last = (tri_news_line){
            .step = step, .steps = steps, .loss = NAN, .own = own};
    add(n, last, line);
    n->step = step;
}

static int is_of_a_step(const tri_metric_line *line)
{
    return line->has_loss || !isnan(line->tokens) || !isnan(line->samples) ||
           !isnan(line->consumed_tokens) || !isnan(line->consumed_samples) ||
           !isnan(line->tokens_per_s) || !isnan(line->samples_per_s) ||
           !isnan(line->step_s);
}

void tri_news_hear(tri_news *n, const tri_metric_line *line)
{
    int64_t step = line->step;

    if (step < 0) {
        step = n->step + (is_of_a_step(line) && !line->belongs);
    }
    n->is_bad = n->is_bad || (line->has_loss && !isfinite(line->loss));
    if (n->is_bad) {
        return;
    }
    n->is_new = 1;
    n->n_back += line->step >= 0 && step < n->step;
    if (step > n->step) {
        push(n, step, line);
    } else if (n->n > 0 && step == n->step) {
        add(n, line_at(n, n->n - 1), line);
    } else if (n->n > 0 && !isnan(line->own)) {
        line_at(n, n->n - 1)->own = line->own;
    } else if (!isnan(line->own)) {
        n->own = line->own;
    }
}

void tri_news_time(tri_news *n, double now_s)
{
    int64_t steps = 0;
    int joins = 0;

    for (int i = n->n_timed; i < n->n; i++) {
        steps += line_at(n, i)->steps;
    }
    for (int i = n->n_timed; i < n->n; i++) {
        tri_news_line *line = line_at(n, i);

        if (!line->says_time) {
            line->step_s = (now_s - n->last_s) / (double)steps;
            line->joins = joins;
            joins = 1;
        }
    }
    if (n->n > n->n_timed) {
        n->n_timed = n->n;
        n->last_s = now_s;
    }
    if (n->is_new) {
        n->heard_s = now_s;
        n->is_new = 0;
    }
}

/* ---- telling ------------------------------------------------------------ */

int64_t tri_news_peek(const tri_news *n)
{
    return n->n > 0 ? n->queue[n->at].step : -1;
}

int tri_news_is_settled(const tri_news *n, double now_s)
{
    return n->n != 1 || now_s - n->heard_s >= TRI_NEWS_SETTLE_S;
}

/* A count that is not said, by a rate. */
static void count(double *place, double rate, double step_s)
{
    if (*place == 0 && rate > 0 && rate * step_s < MOST) {
        *place = rate * step_s;
    }
}

int tri_news_next(tri_news *n, tri_news_line *out)
{
    if (n->n == 0) {
        return 0;
    }
    *out = *line_at(n, 0);
    count(&out->tokens, out->tokens_per_s, out->step_s);
    count(&out->samples, out->samples_per_s, out->step_s);
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

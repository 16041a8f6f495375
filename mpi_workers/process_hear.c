/*
 * What the processes of a trial say, and how they end.
 */
#include "mpi_workers/process_internal.h"

#include "mpi_workers/ending.h"
#include "mpi_workers/pause.h"
#include "trireme/log.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* How often the resident size is looked at. */
#define RSS_S 0.25

/* ---- lines -------------------------------------------------------------- */

/* Steps that the checkpoint has behind it are not told again. */
static void skip_again(tri_trial *t, const tri_metric_line *line)
{
    if (t->n_again++ == 0) {
        TRI_LOG(TRI_LOG_WARN,
                "run %lld was given a checkpoint of step %lld, and its process "
                "reports step %lld again: steps up to it are passed over",
                (long long)t->setup.run, (long long)t->setup.first_step,
                (long long)line->step);
    }
    t->news.last_s = tri_now();
}

/* What else a line may say: that a checkpoint is complete, what failed. */
static void note_said(tri_trial *t, const tri_metric_line *line)
{
    if (line->checkpoint > t->saved_step &&
        line->checkpoint > t->setup.first_step &&
        line->checkpoint <= t->step_limit) {
        t->saved_step = line->checkpoint;
    }
    if (line->failure[0] && t->named == TRI_REASON_NONE) {
        t->named = tri_ending_named(line->failure);
        memcpy(t->sentence, line->sentence, sizeof t->sentence);
    }
}

static void on_line(void *ctx, const tri_metric_line *line)
{
    tri_trial *t = ctx;

    if (line->step > t->step_limit) {
        t->n_beyond++;
        t->beyond = line->step;
        return;
    }
    if (line->bytes > 0 && line->bytes < 9e15 &&
        (uint64_t)line->bytes > t->bytes) {
        t->bytes = (uint64_t)line->bytes;
    }
    if (line->step > 0 && line->step <= t->setup.first_step) {
        skip_again(t, line);
        return;
    }
    note_said(t, line);
    tri_news_hear(&t->news, line);
}

static void on_output(void *ctx, tri_stream stream, const char *bytes, size_t n)
{
    tri_trial *t = ctx;

    tri_metrics_hear(t->metrics, stream, bytes, n, on_line, t);
}

int tri_process_listen(tri_trial *t, tri_child_end *end)
{
    int has_ended;

    if (!t->child) {
        return 1;
    }
    tri_child_hear(t->child, TRI_SLICE_S, on_output, t);
    has_ended = tri_child_ended(t->child, end);
    if (has_ended) {
        tri_metrics_end(t->metrics, on_line, t);
    }
    tri_news_time(&t->news, tri_now());
    return has_ended;
}

void tri_process_say_lines(const tri_trial *t, char *buf, size_t bytes)
{
    if (t->n_beyond > 0) {
        snprintf(buf, bytes,
                 "step %lld is far beyond the last one to do (such lines are "
                 "ignored, %lld of them)",
                 (long long)t->beyond, (long long)t->n_beyond);
    } else if (t->n_again > 0) {
        snprintf(buf, bytes,
                 "its steps were not beyond %lld, which the checkpoint has "
                 "behind it",
                 (long long)t->setup.first_step);
    } else {
        tri_metrics_say(t->metrics, buf, bytes);
    }
}

/* ---- votes -------------------------------------------------------------- */

/* What the process itself says is wrong. */
static void judge_named(tri_trial *t, tri_vote *vote)
{
    vote->status = TRI_FAIL(TRI_ETRIAL, "the process of rank %d says %s%s%s",
                            t->place.rank, tri_reason_name(t->named),
                            t->sentence[0] ? ": " : "", t->sentence);
    vote->reason = (int32_t)t->named;
}

/* A process that ended badly is this rank's status. */
static void judge_end(tri_trial *t, const tri_child_end *end, tri_vote *vote)
{
    char what[256];
    size_t n;
    const char *tail = tri_child_stderr(t->child, &n);
    tri_reason reason = tri_ending_class(end, tail, n, what, sizeof what);

    if (reason == TRI_REASON_NONE) {
        return;
    }
    vote->status = TRI_FAIL(TRI_ETRIAL, "the process of rank %d %s",
                            t->place.rank, what);
    vote->reason = (int32_t)reason;
    vote->any = tri_ending_is_port_taken(tail, n);
}

/* A metric of the trial's own may come after its step's line.  Where that line
 * may be the run's last one, it is told only once a line beyond it, or the
 * end, says that nothing more belongs to it.  So it is with any step whose
 * metrics come in several lines, for a moment. */
static int is_held(const tri_trial *t, int ended)
{
    const tri_study *study = t->setup.study;
    int may_be_last = t->setup.target_step >= 0
                              ? tri_news_peek(&t->news) >= t->setup.target_step
                              : study->resource.unit != TRI_UNIT_SECONDS;

    if (ended) {
        return 0;
    }
    if (tri_metrics_is_spread(t->metrics) &&
        !tri_news_is_settled(&t->news, tri_now())) {
        return 1;
    }
    return study->objective.metric == TRI_METRIC_OWN && t->news.n == 1 &&
           may_be_last;
}

/* A metric that came after its step was told, or the next line. */
static void put_news(tri_trial *t, int ended, tri_vote *vote)
{
    tri_news_line line;

    if (t->reporter >= 0 && t->reporter < t->place.rank) {
        tri_news_drop(&t->news);
        return;
    }
    vote->x[7] = t->place.rank;
    if (!isnan(t->news.own)) {
        vote->x[6] = t->news.own;
        vote->has = 1;
        t->news.own = NAN;
    } else if (!is_held(t, ended) && tri_news_next(&t->news, &line)) {
        vote->x[0] = (double)line.step;
        vote->x[1] = (double)line.steps;
        vote->x[2] = line.step_s;
        vote->x[3] = line.tokens;
        vote->x[4] = line.samples;
        vote->x[5] = line.loss;
        vote->x[6] = line.own;
        vote->x[8] = line.joins;
        vote->has = 1;
    }
}

/* What was bad is judged when all before it has been told. */
static void judge(tri_trial *t, const tri_child_end *end, tri_vote *vote)
{
    if (vote->has || !tri_news_is_empty(&t->news)) {
        return;
    }
    if (t->named != TRI_REASON_NONE) {
        judge_named(t, vote);
    } else if (t->news.is_bad) {
        vote->status =
                TRI_FAIL(TRI_ENAN, "the loss is not a number after step %lld",
                         (long long)t->news.step);
    } else if (end && t->child) {
        judge_end(t, end, vote);
    }
}

static void hear_child(tri_trial *t, tri_vote *vote)
{
    tri_child_end end;
    int ended = !t->child || tri_child_ended(t->child, &end);
    double now;

    if (tri_news_is_empty(&t->news) || is_held(t, ended)) {
        ended = tri_process_listen(t, &end);
    }
    now = tri_now();
    if (t->child && now >= t->rss_s) {
        t->rss = tri_child_rss(t->child);
        t->rss_s = now + RSS_S;
    }
    put_news(t, ended, vote);
    judge(t, ended ? &end : NULL, vote);
    /* what it ended with is judged in the next round */
    vote->all = ended && !vote->has && tri_news_is_empty(&t->news);
}

static void fill(const tri_trial *t, tri_vote *vote)
{
    if (vote->status != TRI_OK) {
        memccpy(vote->sentence, tri_error_last()->sentence, 0,
                sizeof vote->sentence - 1);
    } else if (vote->has) {
        tri_metrics_names(t->metrics, vote->sentence, sizeof vote->sentence);
    }
    vote->max[0] = t->bytes;
    vote->max[1] = t->rss;
    if (t->reporter == t->place.rank) {
        vote->max[2] = (uint64_t)(t->news.n_back + t->n_again);
    }
}

void tri_process_hear(tri_trial *t, tri_vote *vote)
{
    hear_child(t, vote);
    fill(t, vote);
}

void tri_process_recall(tri_trial *t, tri_vote *vote)
{
    put_news(t, 1, vote);
    judge(t, NULL, vote);
    vote->all = !vote->has && tri_news_is_empty(&t->news);
    fill(t, vote);
}

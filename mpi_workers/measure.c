/*
 * A thinned series of steps and its robust summary.
 */
#include "mpi_workers/measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Observations kept; a full series drops every second one. */
#define KEPT 2048

typedef struct sample {
    double step_s, tokens, samples, loss;
} sample;

struct tri_measure {
    int warmup;       /* by rule */
    int n;            /* kept */
    int64_t stride;   /* one of `stride` observations is kept */
    int64_t seen;     /* observations so far */
    int64_t steps;    /* steps so far */
    int64_t measured; /* steps past the rule */
    double seconds, tokens, samples;
    double own;
    int64_t asked_at; /* measured steps when precision was last judged */
    sample kept[KEPT];
    double x[KEPT], scratch[KEPT];
};

tri_status tri_measure_create(int warmup, tri_measure **out)
{
    tri_measure *m = calloc(1, sizeof *m);

    if (!m) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for measurements");
    }
    m->warmup = warmup;
    tri_measure_reset(m);
    *out = m;
    return TRI_OK;
}

void tri_measure_destroy(tri_measure *m)
{
    free(m);
}

void tri_measure_reset(tri_measure *m)
{
    m->n = 0;
    m->stride = 1;
    m->seen = m->steps = m->measured = 0;
    m->seconds = m->tokens = m->samples = 0;
    m->own = NAN;
    m->asked_at = 0;
}

/* Keep every second one, past the warm-up by rule. */
static void thin(tri_measure *m)
{
    int to = m->warmup;

    for (int i = m->warmup; i < m->n; i += 2) {
        m->kept[to++] = m->kept[i];
    }
    m->n = to;
    m->stride *= 2;
}

static void count(tri_measure *m, const tri_observation *o)
{
    int64_t past = m->steps - m->warmup;
    double n = (double)(past >= o->n ? o->n : past > 0 ? past : 0);

    if (n > 0) {
        m->measured += (int64_t)n;
        m->seconds += n * o->step_s;
        m->tokens += n * o->tokens;
        m->samples += n * o->samples;
    }
}

void tri_measure_add(tri_measure *m, const tri_observation *o)
{
    m->steps += o->n;
    count(m, o);
    if (!isnan(o->own)) {
        m->own = o->own;
    }
    if (m->n < m->warmup || m->seen % m->stride == 0) {
        m->kept[m->n++] = (sample){o->step_s, o->tokens, o->samples, o->loss};
        if (m->n == KEPT) {
            thin(m);
        }
    }
    m->seen++;
}

void tri_measure_note_own(tri_measure *m, double own)
{
    m->own = own;
}

int64_t tri_measure_steps(const tri_measure *m)
{
    return m->measured;
}

double tri_measure_seconds(const tri_measure *m)
{
    return m->seconds;
}

double tri_measure_tokens(const tri_measure *m)
{
    return m->tokens;
}

double tri_measure_samples(const tri_measure *m)
{
    return m->samples;
}

/* ---- summary ----------------------------------------------------------- */

static double rate(const sample *s, tri_metric metric)
{
    double amount = metric == TRI_METRIC_TOKENS_PER_S    ? s->tokens
                    : metric == TRI_METRIC_SAMPLES_PER_S ? s->samples
                                                         : 0;

    if (metric == TRI_METRIC_STEP_S) {
        return s->step_s;
    }
    return amount > 0 && s->step_s > 0 ? amount / s->step_s : NAN;
}

/* The median of `metric` over kept[first..n). */
static tri_interval summary(tri_measure *m, int first, tri_metric metric)
{
    int n = 0;

    for (int i = first; i < m->n; i++) {
        double v = rate(&m->kept[i], metric);

        if (isfinite(v)) {
            m->x[n++] = v;
        }
    }
    return tri_median_interval(m->x, n, m->scratch);
}

static int warmup_of(tri_measure *m, int ended)
{
    int limit = m->warmup;

    for (int i = 0; i < m->n; i++) {
        m->x[i] = m->kept[i].step_s;
    }
    if (ended && m->n <= limit && limit > 1) {
        limit = 1;
    }
    return tri_warmup_length(m->x, m->n, limit, m->scratch);
}

static double late_loss(const tri_measure *m, int first)
{
    int n = m->n - first;
    int last = n / 10 > 1 ? n / 10 : 1;
    double sum = 0;

    if (n <= 0) {
        return NAN;
    }
    for (int i = m->n - last; i < m->n; i++) {
        sum += m->kept[i].loss;
    }
    return sum / last;
}

static int is_flaky(tri_measure *m, int first)
{
    int n = m->n - first;
    int outliers = 0;
    double median;
    double mad;

    if (n < TRI_STATS_MIN) {
        return 0;
    }
    for (int i = 0; i < n; i++) {
        m->x[i] = m->kept[first + i].step_s;
    }
    median = tri_median(m->x, n, m->scratch);
    mad = tri_mad(m->x, n, m->scratch);
    for (int i = 0; i < n; i++) {
        outliers += tri_is_outlier(m->x[i], median, mad);
    }
    return outliers * 10 > n;
}

void tri_measure_result(tri_measure *m, int ended, tri_measurement *out)
{
    int first = warmup_of(m, ended);

    out->warmup_steps = first <= m->warmup
                                ? first
                                : m->warmup + (first - m->warmup) * m->stride;
    out->measured_steps = m->steps - out->warmup_steps;
    out->step_s = summary(m, first, TRI_METRIC_STEP_S);
    out->tokens_per_s = summary(m, first, TRI_METRIC_TOKENS_PER_S);
    out->samples_per_s = summary(m, first, TRI_METRIC_SAMPLES_PER_S);
    out->loss = late_loss(m, first);
    out->own = m->own;
    out->flaky = is_flaky(m, first);
}

int tri_measure_is_precise(tri_measure *m, tri_metric metric, double precision,
                           int min_steps)
{
    tri_interval in;
    int first;

    if (m->measured < min_steps ||
        m->measured < m->asked_at + m->asked_at / 16 + 1) {
        return 0;
    }
    m->asked_at = m->measured;
    first = warmup_of(m, 0);
    if (m->n - first < min_steps) {
        return 0;
    }
    in = summary(m, first, metric);
    return isfinite(in.lo) && in.value > 0 &&
           (in.hi - in.lo) / 2 <= precision * in.value;
}

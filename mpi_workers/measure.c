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
    double step_s, tokens, samples; /* means of `n` steps */
    int64_t n;
} sample;

/* Values of steps from `first` on, added up. */
typedef struct block {
    int64_t first, n;
    double sum;
} block;

/* What is learned, reported now and then. */
typedef struct learned {
    block blocks[TRI_MEASURE_VALUES]; /* all but the last value */
    int n;
    int64_t size; /* values in a full block */
    int64_t step; /* of the last value; it may still be said again */
    double last;  /* NaN: none yet */
} learned;

struct tri_measure {
    int warmup;       /* by rule */
    int n;            /* kept */
    int64_t stride;   /* one of `stride` observations is kept */
    int64_t seen;     /* observations so far, those that join left out */
    int is_last_kept; /* the last one of these */
    int64_t n_joined;
    int64_t steps;    /* steps so far */
    int64_t measured; /* steps past the rule */
    int64_t counted;  /* those whose tokens and samples are: of a series that
                       * began behind a checkpoint, all */
    double seconds, tokens, samples;
    int64_t before; /* steps done when this series began */
    learned loss, own;
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
    tri_measure_reset(m, 0);
    *out = m;
    return TRI_OK;
}

void tri_measure_destroy(tri_measure *m)
{
    free(m);
}

static void forget(learned *l)
{
    l->n = 0;
    l->size = 1;
    l->step = 0;
    l->last = NAN;
}

void tri_measure_reset(tri_measure *m, int64_t before)
{
    m->n = 0;
    m->stride = 1;
    m->seen = m->steps = m->measured = m->counted = 0;
    m->is_last_kept = 0;
    m->n_joined = 0;
    m->seconds = m->tokens = m->samples = 0;
    m->before = before;
    forget(&m->loss);
    forget(&m->own);
    m->asked_at = 0;
}

/* ---- what is learned --------------------------------------------------- */

/* Add neighbours up, two by two: all blocks are full. */
static void halve(learned *l)
{
    for (int i = 0; i < l->n / 2; i++) {
        const block *a = &l->blocks[2 * i];
        const block *b = a + 1;

        l->blocks[i] = (block){a->first, a->n + b->n, a->sum + b->sum};
    }
    l->n /= 2;
    l->size *= 2;
}

/* The last value is final: into the blocks with it. */
static void settle(learned *l)
{
    block *b = l->n > 0 ? &l->blocks[l->n - 1] : NULL;

    if (b && b->n < l->size) {
        b->n++;
        b->sum += l->last;
        return;
    }
    if (l->n == TRI_MEASURE_VALUES) {
        halve(l);
    }
    l->blocks[l->n++] = (block){l->step, 1, l->last};
}

static void learn(learned *l, int64_t step, double value)
{
    if (isnan(value)) {
        return;
    }
    if (!isnan(l->last) && step != l->step) {
        settle(l);
    }
    l->step = step;
    l->last = value;
}

/* The mean of the values after step `from`, or the last one. */
static double late(const learned *l, int64_t from)
{
    int at = l->n;
    double sum = 0;
    int64_t n = 0;

    if (l->step <= from) {
        return l->last;
    }
    while (at > 0 && l->blocks[at - 1].first > from) {
        at--;
    }
    for (int i = at; i < l->n; i++) {
        sum += l->blocks[i].sum;
        n += l->blocks[i].n;
    }
    return (sum + l->last) / (double)(n + 1);
}

/* The step after which the last tenth begins. */
static int64_t tenth(const tri_measure *m)
{
    int64_t done = m->before + m->steps;
    int64_t n = (done - m->warmup + 9) / 10;

    return done - (n > 1 ? n : 1);
}

/* ---- steps ------------------------------------------------------------- */

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

/* Of the `n` steps just done, those beyond the first `from`. */
static int64_t beyond(const tri_measure *m, int64_t n, int64_t from)
{
    int64_t past = m->steps - from;

    return past >= n ? n : past > 0 ? past : 0;
}

static void count(tri_measure *m, const tri_observation *o)
{
    int64_t timed = beyond(m, o->n, m->warmup);
    int64_t n = beyond(m, o->n, m->before > 0 ? 0 : m->warmup);

    m->measured += timed;
    m->seconds += (double)timed * o->step_s;
    m->counted += n;
    m->tokens += (double)n * o->tokens;
    m->samples += (double)n * o->samples;
}

static void keep(tri_measure *m, const tri_observation *o)
{
    if (m->n == KEPT) {
        thin(m);
    }
    m->is_last_kept = m->n < m->warmup || m->seen % m->stride == 0;
    m->seen++;
    if (m->is_last_kept) {
        m->kept[m->n++] = (sample){o->step_s, o->tokens, o->samples, o->n};
    }
}

static double mean(double a, int64_t n, double b, int64_t k)
{
    return (a * (double)n + b * (double)k) / (double)(n + k);
}

/* Of a count that some of them did not say, nothing is known of them all. */
static double mean_count(double a, int64_t n, double b, int64_t k)
{
    return a > 0 && b > 0 ? mean(a, n, b, k) : 0;
}

static void join(sample *s, const tri_observation *o)
{
    s->step_s = mean(s->step_s, s->n, o->step_s, o->n);
    s->tokens = mean_count(s->tokens, s->n, o->tokens, o->n);
    s->samples = mean_count(s->samples, s->n, o->samples, o->n);
    s->n += o->n;
}

void tri_measure_add(tri_measure *m, const tri_observation *o)
{
    m->steps += o->n;
    count(m, o);
    learn(&m->loss, m->before + m->steps, o->loss);
    learn(&m->own, m->before + m->steps, o->own);
    if (!o->joins || m->seen == 0) {
        keep(m, o);
    } else if (m->is_last_kept) {
        join(&m->kept[m->n - 1], o);
    }
    m->n_joined += o->joins != 0;
}

void tri_measure_note_own(tri_measure *m, double own)
{
    learn(&m->own, m->before + m->steps, own);
}

int64_t tri_measure_steps(const tri_measure *m)
{
    return m->measured;
}

/* Of what `n` steps came to, as much for those done before. */
static double since_start(const tri_measure *m, double amount, int64_t n)
{
    if (m->before == 0 || n == 0) {
        return amount;
    }
    return amount * (double)(m->before + m->steps - m->warmup) / (double)n;
}

double tri_measure_seconds(const tri_measure *m)
{
    return since_start(m, m->seconds, m->measured);
}

double tri_measure_tokens(const tri_measure *m)
{
    return since_start(m, m->tokens, m->counted);
}

double tri_measure_samples(const tri_measure *m)
{
    return since_start(m, m->samples, m->counted);
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

static int is_flaky(tri_measure *m, int first)
{
    int n = m->n - first;
    int outliers = 0;
    double median;
    double mad;

    if (n < TRI_STATS_MIN) {
        return m->seen == 1 && m->n_joined > 0;
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

/* Steps of the first `n` that are kept, those thinned out among them too. */
static int64_t steps_of(const tri_measure *m, int n)
{
    int64_t steps = 0;

    for (int i = 0; i < n; i++) {
        steps += m->kept[i].n * (i < m->warmup ? 1 : m->stride);
    }
    return steps;
}

void tri_measure_result(tri_measure *m, int ended, tri_measurement *out)
{
    int first = warmup_of(m, ended);

    out->warmup_steps = steps_of(m, first);
    out->measured_steps = m->steps - out->warmup_steps;
    out->step_s = summary(m, first, TRI_METRIC_STEP_S);
    out->tokens_per_s = summary(m, first, TRI_METRIC_TOKENS_PER_S);
    out->samples_per_s = summary(m, first, TRI_METRIC_SAMPLES_PER_S);
    out->loss = late(&m->loss, tenth(m));
    out->own = late(&m->own, tenth(m));
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

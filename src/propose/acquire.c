/*
 * The best of the pool by a model.
 *
 * A heap holds the candidates by an upper bound of their score.  Believing in a
 * choice leaves all means as they are and makes no deviation larger, and no
 * probability to run exceeds one: so a score computed at any time bounds all
 * later ones, and the top of the heap whose score is up to date is the best of
 * all.  One within a twentieth of all bounds is taken without a further look,
 * and the best of those looked at where there are too many.
 */
#include "src/propose/think_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Candidates whose scores are brought up to date together. */
#define BATCH 64
/* Deviations below the mean that UCB looks at. */
#define UCB_BETA 2.0
/* A joint draw is over the best so many. */
#define THOMPSON_MOST 512
/* The probability to run counts by its logarithm times this; what more likely
 * fails than not comes after all others. */
#define FEASIBLE_POWER 3.0
#define LIKELY         0.6
#define UNLIKELY_COSTS 100.0
#define LEAST_SD       1e-9
/* A choice may be so much less than the best, by its logarithm. */
#define CLOSE 0.05
/* Batches that are looked at for one choice: the work is bounded. */
#define LOOKS 6

typedef struct entry {
    double bound;
    int64_t at;
    int version; /* of the model that the bound is exact for; -1: none */
} entry;

typedef struct job {
    tri_pool *pool;
    const tri_belief_model *m;
    tri_acquisition how;
    entry *heap;
    int64_t n;
    float *mean, *sd;  /* of the pool, by screening */
    double *p, *bytes; /* to run, NaN: not asked yet; peak */
    int version;
    double best; /* of the scores that are up to date for best_version */
    int64_t best_at;
    int best_version;
    double *x, *mu, *s; /* of a batch */
} job;

/* ---- scores ---------------------------------------------------------------
 */

double tri_log_ei(double z)
{
    const double log_root = 0.91893853320467274; /* log sqrt(2 pi) */
    double phi, tail, ratio;

    if (z > -5) {
        phi = exp(-0.5 * z * z - log_root);
        return log(phi + z * 0.5 * erfc(-z / sqrt(2.0)));
    }
    /* phi(z) (1 + z Phi(z)/phi(z)); Mills' ratio by its series */
    tail = 1 / (z * z);
    ratio = tail * (1 - 3 * tail * (1 - 5 * tail * (1 - 7 * tail)));
    return -0.5 * z * z - log_root + log(ratio);
}

/* The logarithm of what a candidate is worth, before its chance to run. */
static double worth(const job *j, double mean, double sd)
{
    double s = fmax(sd, LEAST_SD);

    if (j->how == TRI_ACQ_UCB) {
        return -(mean - UCB_BETA * s);
    }
    return log(s) + tri_log_ei((j->m->best - mean) / s);
}

static double chance(const job *j, double p)
{
    double weight = FEASIBLE_POWER * log(fmax(p, 1e-12)) -
                    (p < LIKELY ? UNLIKELY_COSTS : 0);

    return weight;
}

/* ---- heap -------------------------------------------------------------------
 */

static int before(const entry *a, const entry *b)
{
    return a->bound != b->bound ? a->bound > b->bound : a->at < b->at;
}

static void sink(job *j, int64_t i)
{
    entry e = j->heap[i];

    for (;;) {
        int64_t child = 2 * i + 1;

        if (child >= j->n) {
            break;
        }
        if (child + 1 < j->n && before(&j->heap[child + 1], &j->heap[child])) {
            child++;
        }
        if (!before(&j->heap[child], &e)) {
            break;
        }
        j->heap[i] = j->heap[child];
        i = child;
    }
    j->heap[i] = e;
}

static entry pop(job *j)
{
    entry top = j->heap[0];

    j->heap[0] = j->heap[--j->n];
    if (j->n > 0) {
        sink(j, 0);
    }
    return top;
}

/* Move the entry at i up to where it belongs. */
static void lift(job *j, int64_t i)
{
    entry e = j->heap[i];

    while (i > 0 && before(&e, &j->heap[(i - 1) / 2])) {
        j->heap[i] = j->heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    j->heap[i] = e;
}

static void push(job *j, entry e)
{
    j->heap[j->n++] = e;
    lift(j, j->n - 1);
}

/* ---- screening
 * ---------------------------------------------------------------- */

/* Without a fast way the slow one, exact. */
static tri_status screen(job *j)
{
    const tri_pool *p = j->pool;
    double *x;

    if (j->m->ops->screen) {
        j->m->ops->screen(j->m->model, p->x, (int)p->n, j->m->resource, j->mean,
                          j->sd);
        return TRI_OK;
    }
    x = malloc(BATCH * ((size_t)p->width + 2) * sizeof *x);
    if (!x) {
        return TRI_FAIL(TRI_ENOMEM, "no memory to look at candidates");
    }
    for (int64_t i = 0; i < p->n; i += BATCH) {
        int n = p->n - i < BATCH ? (int)(p->n - i) : BATCH;
        double *mu = x + BATCH * (size_t)p->width;

        for (int k = 0; k < n; k++) {
            tri_pool_row(p, i + k, x + (size_t)k * (size_t)p->width);
        }
        j->m->ops->predict(j->m->model, x, n, j->m->resource, mu, mu + BATCH);
        for (int k = 0; k < n; k++) {
            j->mean[i + k] = (float)mu[k];
            j->sd[i + k] = (float)mu[BATCH + k];
        }
    }
    free(x);
    return TRI_OK;
}

/* A little above, for single precision. */
#define SLACK 1.0001

static void build(job *j)
{
    for (int64_t i = 0; i < j->pool->n; i++) {
        if (!j->pool->taken[i]) {
            j->heap[j->n++] = (entry){worth(j, (double)j->mean[i] - 1e-4,
                                            SLACK * (double)j->sd[i] + 1e-4),
                                      i, -1};
        }
    }
    for (int64_t i = j->n / 2 - 1; i >= 0; i--) {
        sink(j, i);
    }
}

static tri_status job_init(job *j)
{
    size_t n = (size_t)j->pool->n + 1;
    size_t w = (size_t)j->pool->width;

    j->heap = malloc(n * sizeof *j->heap);
    j->mean = malloc(2 * n * sizeof *j->mean);
    j->p = malloc((2 * n + BATCH * (w + 2) + 1) * sizeof *j->p);
    if (!j->heap || !j->mean || !j->p) {
        return TRI_FAIL(TRI_ENOMEM, "no memory to choose from %lld candidates",
                        (long long)j->pool->n);
    }
    j->sd = j->mean + n;
    j->bytes = j->p + n;
    j->x = j->bytes + n;
    j->mu = j->x + BATCH * w;
    j->s = j->mu + BATCH;
    for (size_t i = 0; i < n; i++) {
        j->p[i] = NAN;
    }
    TRI_TRY(screen(j));
    build(j);
    return TRI_OK;
}

static void job_fini(job *j)
{
    free(j->heap);
    free(j->mean);
    free(j->p);
}

/* ---- exact scores
 * ---------------------------------------------------------------- */

static void rows_of(job *j, const entry *e, int n)
{
    for (int k = 0; k < n; k++) {
        tri_pool_row(j->pool, e[k].at,
                     j->x + (size_t)k * (size_t)j->pool->width);
    }
}

/* The chance to run of a batch, of whom it is not known. */
static void ask_chances(job *j, const entry *e, int n)
{
    double p[BATCH], bytes[BATCH];

    if (j->m->feasible) {
        tri_feasibility_predict(j->m->feasible, j->x, n, p, bytes);
    }
    for (int k = 0; k < n; k++) {
        j->p[e[k].at] = j->m->feasible ? p[k] : 1;
        j->bytes[e[k].at] = j->m->feasible ? bytes[k] : NAN;
    }
}

/* Bring the best BATCH of the heap up to date. */
static void refine(job *j)
{
    entry batch[BATCH];
    int n = 0;

    while (n < BATCH && j->n > 0) {
        batch[n++] = pop(j);
    }
    rows_of(j, batch, n);
    j->m->ops->predict(j->m->model, j->x, n, j->m->resource, j->mu, j->s);
    for (int k = 0; k < n; k++) {
        if (isnan(j->p[batch[k].at])) {
            ask_chances(j, batch, n);
        }
        batch[k].bound =
                worth(j, j->mu[k], j->s[k]) + chance(j, j->p[batch[k].at]);
        batch[k].version = j->version;
        push(j, batch[k]);
        if (j->best_version != j->version || batch[k].bound > j->best) {
            j->best = batch[k].bound;
            j->best_at = batch[k].at;
            j->best_version = j->version;
        }
    }
}

/* Take the top of the heap as chosen, and believe in it. */
static tri_status settle(job *j, tri_choice *out)
{
    entry e = pop(j);

    rows_of(j, &e, 1);
    j->m->ops->predict(j->m->model, j->x, 1, j->m->resource, j->mu, j->s);
    *out = (tri_choice){.at = e.at,
                        .mean = j->mu[0],
                        .sd = j->s[0],
                        .p = j->p[e.at],
                        .bytes = j->bytes[e.at]};
    j->pool->taken[e.at] = 1;
    if (j->m->ops->add) {
        TRI_TRY(j->m->ops->add(j->m->model, j->x, j->mu[0], j->m->resource));
        j->version++;
    }
    return TRI_OK;
}

/* Whether the best score that is up to date is close enough to all bounds, or
 * enough were looked at; it is then on top. */
static int is_settled(job *j, int enough)
{
    if (j->heap[0].version == j->version) {
        return 1;
    }
    if (j->best_version != j->version ||
        (!enough && j->heap[0].bound > j->best + CLOSE)) {
        return 0;
    }
    for (int64_t i = 0; i < j->n; i++) { /* lift it to the top */
        if (j->heap[i].at == j->best_at) {
            j->heap[i].bound = nextafter(j->heap[0].bound, INFINITY);
            lift(j, i);
            break;
        }
    }
    return j->heap[0].version == j->version;
}

static tri_status choose(job *j, int wanted, const tri_cancel *cancel,
                         tri_choice *out, int *n)
{
    while (*n < wanted && j->n > 0 && !tri_is_cancelled(cancel)) {
        for (int looks = 0; !is_settled(j, looks >= LOOKS); looks++) {
            refine(j);
        }
        TRI_TRY(settle(j, &out[*n]));
        ++*n;
    }
    return TRI_OK;
}

/* ---- Thompson
 * -------------------------------------------------------------------- */

/* The best by expected improvement, of whom draws are compared. */
static tri_status draw_best(job *j, int wanted, uint64_t seed, tri_choice *out,
                            int *n)
{
    tri_choice *few = malloc(THOMPSON_MOST * sizeof *few);
    size_t w = (size_t)j->pool->width;
    double *x = malloc(THOMPSON_MOST * (w + 1) * sizeof *x);
    double *value = x ? x + THOMPSON_MOST * w : NULL;
    int size = j->m->ops->size(j->m->model);
    int m = 0;
    tri_status st =
            few && x ? TRI_OK : TRI_FAIL(TRI_ENOMEM, "no memory for a draw");

    while (st == TRI_OK && m < THOMPSON_MOST && j->n > 0) {
        entry e;

        while (j->heap[0].version != j->version) {
            refine(j);
        }
        e = pop(j);
        few[m] = (tri_choice){
                .at = e.at, .p = j->p[e.at], .bytes = j->bytes[e.at]};
        tri_pool_row(j->pool, e.at, x + (size_t)m * w);
        m++;
    }
    for (int k = 0; st == TRI_OK && k < wanted && k < m; k++) {
        int best = -1;

        st = j->m->ops->draw(j->m->model, x, m, j->m->resource,
                             seed + (uint64_t)k, value);
        for (int i = 0; st == TRI_OK && i < m; i++) {
            value[i] -= chance(j, few[i].p);
            if (!j->pool->taken[few[i].at] &&
                (best < 0 || value[i] < value[best])) {
                best = i;
            }
        }
        if (best >= 0) {
            out[*n] = few[best];
            j->m->ops->predict(j->m->model, x + (size_t)best * w, 1,
                               j->m->resource, &out[*n].mean, &out[*n].sd);
            j->pool->taken[few[best].at] = 1;
            ++*n;
        }
    }
    if (j->m->ops->truncate) {
        j->m->ops->truncate(j->m->model, size);
    }
    free(few);
    free(x);
    return st;
}

tri_status tri_acquire(tri_pool *p, const tri_belief_model *m,
                       tri_acquisition how, int wanted, uint64_t seed,
                       const tri_cancel *cancel, tri_choice *out, int *n)
{
    job j = {.pool = p, .m = m, .how = how, .best_version = -1};
    int size = m->ops->size(m->model);
    tri_status st;

    *n = 0;
    st = job_init(&j);
    if (st == TRI_OK && how == TRI_ACQ_THOMPSON && m->ops->draw) {
        st = draw_best(&j, wanted, seed, out, n);
    } else if (st == TRI_OK) {
        st = choose(&j, wanted, cancel, out, n);
    }
    if (m->ops->truncate) {
        m->ops->truncate(m->model, size);
    }
    job_fini(&j);
    return st;
}

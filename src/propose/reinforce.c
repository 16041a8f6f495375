/*
 * A policy trained against the predictor.
 */
#include "src/propose/reinforce.h"

#include "src/propose/policy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Batches that a question trains for: the first one, and later ones. */
#define BATCHES_FIRST 100
#define BATCHES_LATER 30
/* Configurations drawn to choose from, at least, and for each wanted. */
#define DRAWN_LEAST 1024
#define DRAWN_EACH  16
/* Of them, drawn uniformly. */
#define UNIFORM 64
/* Deviations that a unit of distance from uniform costs. */
#define TEMPERATURE 0.05
/* The cost of a failure, in deviations above the mean. */
#define FAILURE 3.0
/* What the moving average keeps. */
#define KEEP 0.9

struct tri_reinforce {
    const tri_space *space;
    const tri_encoding *encoding;
    tri_policy *policy;
    int width;
    long batches;
    double baseline, tilt;
    tri_config *config;
    float *few; /* a batch of rows, for screening */
    double *x;  /* the same, and a batch of each of what is told of them */
    double *value, *p, *tilts, *weight;
    float *mean; /* and deviation */
};

double tri_reinforce_tilt(const tri_reinforce *r)
{
    return r->tilt;
}

static tri_status set_up(tri_reinforce *r)
{
    size_t b = TRI_POLICY_BATCH;
    size_t w = (size_t)r->width;

    r->config =
            calloc((size_t)tri_space_n_params(r->space) + 1, sizeof *r->config);
    r->few = calloc(b * (w + 2), sizeof *r->few);
    r->x = calloc(b * (w + 4), sizeof *r->x);
    if (!r->config || !r->few || !r->x) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a policy");
    }
    r->value = r->x + b * w;
    r->p = r->value + b;
    r->tilts = r->p + b;
    r->weight = r->tilts + b;
    r->mean = r->few + b * w;
    return tri_policy_create(r->space, &r->policy);
}

tri_status tri_reinforce_create(const tri_space *space,
                                const tri_encoding *encoding,
                                tri_reinforce **out)
{
    tri_reinforce *r = calloc(1, sizeof *r);
    tri_status st;

    if (!r) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a policy");
    }
    r->space = space;
    r->encoding = encoding;
    r->width = tri_encoding_width(encoding);
    st = set_up(r);
    if (st != TRI_OK) {
        tri_reinforce_destroy(r);
        return st;
    }
    *out = r;
    return TRI_OK;
}

void tri_reinforce_destroy(tri_reinforce *r)
{
    if (r) {
        tri_policy_destroy(r->policy);
        free(r->config);
        free(r->few);
        free(r->x);
        free(r);
    }
}

/* ---- training ----------------------------------------------------------- */

/* Draw a batch: rows, tilts, and p 0 for who needs more ranks than there are,
 * else 1. */
static tri_status draw_batch(tri_reinforce *r, int max_ranks, tri_rng *rng)
{
    for (int i = 0; i < TRI_POLICY_BATCH; i++) {
        double *x = r->x + (size_t)i * (size_t)r->width;
        int ranks = 0;

        TRI_TRY(tri_policy_draw(r->policy, i, rng, r->config, &r->tilts[i]));
        TRI_TRY(tri_space_ranks(r->space, r->config, &ranks));
        r->p[i] = ranks <= max_ranks;
        tri_encode(r->encoding, r->config, x);
    }
    return TRI_OK;
}

/* What the predictor says of the batch: values, lower is better. */
static void ask(tri_reinforce *r, const tri_belief_model *m)
{
    int w = r->width * TRI_POLICY_BATCH;

    if (!m->ops->screen) {
        m->ops->predict(m->model, r->x, TRI_POLICY_BATCH, m->resource, r->value,
                        NULL);
        return;
    }
    for (int i = 0; i < w; i++) {
        r->few[i] = (float)r->x[i];
    }
    m->ops->screen(m->model, r->few, TRI_POLICY_BATCH, m->resource, r->mean,
                   r->mean + TRI_POLICY_BATCH);
    for (int i = 0; i < TRI_POLICY_BATCH; i++) {
        r->value[i] = (double)r->mean[i];
    }
}

static void count_failures(tri_reinforce *r, const tri_belief_model *m)
{
    double p[TRI_POLICY_BATCH];

    if (m->feasible) {
        tri_feasibility_predict(m->feasible, r->x, TRI_POLICY_BATCH, p, NULL);
    }
    for (int i = 0; i < TRI_POLICY_BATCH; i++) {
        r->p[i] *= m->feasible ? p[i] : 1;
        r->value[i] = r->p[i] * r->value[i] + (1 - r->p[i]) * FAILURE;
    }
}

/* One batch of episodes, and a step.  `rate` as tri_policy_learn. */
static tri_status train(tri_reinforce *r, const tri_belief_model *m,
                        int max_ranks, tri_rng *rng, double rate)
{
    double mean = 0;
    double tilt = 0;

    TRI_TRY(draw_batch(r, max_ranks, rng));
    ask(r, m);
    count_failures(r, m);
    for (int i = 0; i < TRI_POLICY_BATCH; i++) {
        r->weight[i] = -r->value[i] - TEMPERATURE * r->tilts[i];
        mean += r->weight[i] / TRI_POLICY_BATCH;
        tilt += r->tilts[i] / TRI_POLICY_BATCH;
    }
    r->baseline =
            r->batches == 0 ? mean : KEEP * r->baseline + (1 - KEEP) * mean;
    for (int i = 0; i < TRI_POLICY_BATCH; i++) {
        r->weight[i] -= r->baseline;
    }
    tri_policy_learn(r->policy, r->weight, TRI_POLICY_BATCH, rate);
    r->tilt = tilt;
    r->batches++;
    return TRI_OK;
}

static tri_status train_all(tri_reinforce *r, const tri_belief_model *m,
                            int max_ranks, tri_rng *rng,
                            const tri_cancel *cancel)
{
    int n = r->batches == 0 ? BATCHES_FIRST : BATCHES_LATER;

    for (int i = 0; i < n && !tri_is_cancelled(cancel); i++) {
        TRI_TRY(train(r, m, max_ranks, rng, 1 - 0.8 * i / n));
    }
    return TRI_OK;
}

/* ---- answers ------------------------------------------------------------ */

static int n_free(const tri_pool *few)
{
    int n = 0;

    for (int64_t i = 0; i < few->n; i++) {
        n += !few->taken[i];
    }
    return n;
}

/* In a small space the policy may draw nothing but what was tried. */
static tri_status top_up(tri_reinforce *r, tri_pool *few, const tri_pool *pool,
                         const tri_snapshot *s, int wanted, tri_rng *rng)
{
    for (int i = n_free(few); i < wanted; i++) {
        int64_t at = tri_pool_random(pool, rng);

        if (at < 0) {
            break;
        }
        TRI_TRY(tri_pool_config(pool, at, r->config));
        TRI_TRY(tri_pool_add(few, s, r->config, &at));
    }
    return TRI_OK;
}

/* What the policy draws, and some uniform draws, into a pool of their own. */
static tri_status gather(tri_reinforce *r, tri_pool *few, const tri_pool *pool,
                         const tri_snapshot *s, int wanted, tri_rng *rng)
{
    int n = DRAWN_EACH * wanted;
    int64_t at;
    double tilt;

    n = n < DRAWN_LEAST ? DRAWN_LEAST : n;
    for (int i = 0; i < n; i++) {
        TRI_TRY(tri_policy_draw(r->policy, 0, rng, r->config, &tilt));
        TRI_TRY(tri_pool_add(few, s, r->config, &at));
    }
    for (int i = 0; i < UNIFORM; i++) {
        TRI_TRY(tri_space_sample(r->space, rng, r->config));
        TRI_TRY(tri_pool_add(few, s, r->config, &at));
    }
    return top_up(r, few, pool, s, wanted, rng);
}

/* The choices' places in the thinker's pool; what is taken there falls out. */
static tri_status settle(tri_reinforce *r, const tri_pool *few, tri_pool *pool,
                         const tri_snapshot *s, tri_choice *out, int *n)
{
    int kept = 0;

    for (int i = 0; i < *n; i++) {
        int64_t at;

        TRI_TRY(tri_pool_config(few, out[i].at, r->config));
        TRI_TRY(tri_pool_add(pool, s, r->config, &at));
        if (at >= 0) {
            pool->taken[at] = 1;
            out[kept] = out[i];
            out[kept++].at = at;
        }
    }
    *n = kept;
    return TRI_OK;
}

tri_status tri_reinforce_answer(tri_reinforce *r, tri_pool *pool,
                                const tri_snapshot *s,
                                const tri_belief_model *m, tri_acquisition how,
                                int wanted, uint64_t seed,
                                const tri_cancel *cancel, tri_choice *out,
                                int *n)
{
    tri_rng rng = tri_rng_stream(seed, (uint64_t)s->number, TRI_RNG_POLICY);
    tri_pool few = {.space = r->space,
                    .encoding = r->encoding,
                    .n_params = tri_space_n_params(r->space),
                    .width = r->width};
    int found = 0;
    tri_status st;

    TRI_TRY(train_all(r, m, s->max_ranks, &rng, cancel));
    st = gather(r, &few, pool, s, wanted, &rng);
    if (st == TRI_OK && few.n > 0) {
        st = tri_acquire(&few, m, how, wanted, seed, cancel, out, &found);
    }
    if (st == TRI_OK) {
        st = settle(r, &few, pool, s, out, &found);
    }
    tri_pool_fini(&few);
    TRI_TRY(st);
    *n = found;
    return TRI_OK;
}

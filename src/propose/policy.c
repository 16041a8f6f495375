/*
 * The policy: tables of logits, episodes, and Adam.
 */
#include "src/propose/policy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Values that are chosen one by one; of more, bins. */
#define LISTED 24
#define BINS   12
/* From this ratio of largest to smallest on bins are of logarithms. */
#define LOG_RATIO 4.0
/* Numbers in all pairs together: farther pairs are left out beyond. */
#define PAIRS_MOST (1 << 18)
/* Walks that do not fit, before one is drawn without the policy. */
#define TRIES 50
/* Adam. */
#define RATE  0.04
#define BETA1 0.9
#define BETA2 0.99
#define TINY  1e-4

typedef struct choice { /* what a parameter offers */
    int param;
    int n;          /* categories: inactive, then bins or values */
    int64_t *start; /* n: category k > 0 is the indices [start[k-1], start[k]);
                     * NULL of a float */
    int prob;       /* where its probabilities stand in an episode's */
    int bias;       /* place of its logits in theta */
    int pairs;      /* of its pairs: the nearest choice before it first */
    int n_pairs;
    double scale; /* of pairs */
} choice;

typedef struct episode {
    int *taken;   /* by choice: category, -1: it had no turn */
    int *counts;  /* by choice: whether it is part of the probability */
    double *prob; /* of all categories of all choices */
} episode;

struct tri_policy {
    const tri_space *space;
    tri_walk *walk;
    choice *choices;
    int *choice_of; /* by parameter */
    int64_t *starts;
    int n, n_probs, n_theta, n_params;
    double *theta, *grad, *m, *v; /* n_theta each */
    double *tilts;                /* by choice, of the episode being made */
    long steps;
    episode episodes[TRI_POLICY_BATCH];
    int *ints; /* of all episodes */
    double *probs;
};

/* ---- categories --------------------------------------------------------- */

static int64_t count_of(const tri_domain *d)
{
    if (d->kind == TRI_DOMAIN_FLOAT) {
        return -1;
    }
    if (d->values) {
        return d->n_values;
    }
    return (int64_t)(((uint64_t)d->hi - (uint64_t)d->lo) / (uint64_t)d->step) +
           1;
}

static int n_bins(const tri_domain *d)
{
    int64_t n = count_of(d);

    return n < 0 || n > LISTED ? BINS : (int)n;
}

/* Index of the first value whose place is in bin k. */
static int64_t bin_start(const tri_domain *d, int k, int bins)
{
    int64_t n = count_of(d);
    double lo = (double)d->lo;
    double hi = (double)d->hi;

    if (k == bins || n == bins) {
        return k == bins ? n : k;
    }
    if (d->kind == TRI_DOMAIN_INT && !d->log2 && lo > 0 &&
        (d->log || hi / lo >= LOG_RATIO)) {
        double x = lo * pow((hi + (double)d->step) / lo, (double)k / bins);

        return (int64_t)ceil((x - lo) / (double)d->step - 1e-9);
    }
    return n / bins * k + n % bins * k / bins;
}

/* ---- the tables --------------------------------------------------------- */

/* The parameters that have a turn. */
static tri_status find_choices(tri_policy *p)
{
    p->choices = calloc((size_t)p->n_params + 1, sizeof *p->choices);
    p->choice_of = malloc(((size_t)p->n_params + 1) * sizeof *p->choice_of);
    p->starts = malloc(((size_t)p->n_params + 1) * (LISTED + 1) *
                       sizeof *p->starts);
    if (!p->choices || !p->choice_of || !p->starts) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a policy");
    }
    for (int i = 0; i < p->n_params; i++) {
        const tri_domain *d = &tri_space_param(p->space, i)->domain;
        choice *c = &p->choices[p->n];
        int bins = n_bins(d);

        p->choice_of[i] = -1;
        if (d->kind == TRI_DOMAIN_CONST) {
            continue;
        }
        *c = (choice){.param = i, .n = bins + 1, .prob = p->n_probs};
        if (d->kind != TRI_DOMAIN_FLOAT) {
            c->start = p->starts + (size_t)p->n * (LISTED + 1);
            for (int k = 0; k <= bins; k++) {
                c->start[k] = bin_start(d, k, bins);
            }
        }
        p->n_probs += c->n;
        p->choice_of[i] = p->n++;
    }
    return TRI_OK;
}

/* How many choices back pairs reach. */
static int reach(const tri_policy *p)
{
    int64_t total = 0;
    int far = 0;

    while (far + 1 < p->n) {
        for (int i = far + 1; i < p->n; i++) {
            total += (int64_t)p->choices[i].n * p->choices[i - far - 1].n;
        }
        if (total > PAIRS_MOST) {
            break;
        }
        far++;
    }
    return far;
}

static void place_tables(tri_policy *p)
{
    int far = reach(p);

    for (int i = 0; i < p->n; i++) {
        choice *c = &p->choices[i];

        c->bias = p->n_theta;
        p->n_theta += c->n;
        c->pairs = p->n_theta;
        c->n_pairs = i < far ? i : far;
        c->scale = c->n_pairs > 0 ? 1 / sqrt(c->n_pairs) : 0;
        for (int k = 1; k <= c->n_pairs; k++) {
            p->n_theta += c->n * p->choices[i - k].n;
        }
    }
}

static tri_status alloc(tri_policy *p)
{
    size_t n = (size_t)p->n_theta + 1;
    size_t probs = (size_t)p->n_probs + 1;
    size_t n_ints = (size_t)p->n + 1;

    p->theta = calloc(4 * n, sizeof *p->theta);
    p->tilts = calloc((size_t)p->n + 1, sizeof *p->tilts);
    p->probs = calloc(TRI_POLICY_BATCH * probs, sizeof *p->probs);
    p->ints = calloc(2 * TRI_POLICY_BATCH * n_ints, sizeof *p->ints);
    if (!p->theta || !p->tilts || !p->probs || !p->ints) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a policy");
    }
    p->grad = p->theta + n;
    p->m = p->grad + n;
    p->v = p->m + n;
    for (int i = 0; i < TRI_POLICY_BATCH; i++) {
        p->episodes[i].taken = p->ints + 2 * (size_t)i * n_ints;
        p->episodes[i].counts = p->episodes[i].taken + n_ints;
        p->episodes[i].prob = p->probs + (size_t)i * probs;
    }
    return TRI_OK;
}

static tri_status set_up(tri_policy *p)
{
    TRI_TRY(tri_walk_create(p->space, &p->walk));
    TRI_TRY(find_choices(p));
    place_tables(p);
    return alloc(p);
}

tri_status tri_policy_create(const tri_space *space, tri_policy **out)
{
    tri_policy *p = calloc(1, sizeof *p);
    tri_status st;

    if (!p) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a policy");
    }
    p->space = space;
    p->n_params = tri_space_n_params(space);
    st = set_up(p);
    if (st != TRI_OK) {
        tri_policy_destroy(p);
        return st;
    }
    *out = p;
    return TRI_OK;
}

void tri_policy_destroy(tri_policy *p)
{
    if (!p) {
        return;
    }
    tri_walk_destroy(p->walk);
    free(p->choices);
    free(p->choice_of);
    free(p->starts);
    free(p->theta);
    free(p->tilts);
    free(p->probs);
    free(p->ints);
    free(p);
}

/* ---- one choice --------------------------------------------------------- */

static void logits(const tri_policy *p, const episode *e, int i, double *out)
{
    const choice *c = &p->choices[i];
    int place = c->pairs;

    for (int a = 0; a < c->n; a++) {
        out[a] = 0;
    }
    for (int k = 1; k <= c->n_pairs; k++) {
        if (e->taken[i - k] >= 0) {
            const double *row = p->theta + place + e->taken[i - k] * c->n;

            for (int a = 0; a < c->n; a++) {
                out[a] += row[a];
            }
        }
        place += c->n * p->choices[i - k].n;
    }
    for (int a = 0; a < c->n; a++) {
        out[a] = p->theta[c->bias + a] + c->scale * out[a];
    }
}

static double share_of(const tri_policy *p, const choice *c, int a)
{
    if (a == 0) {
        return tri_walk_inactive(p->walk);
    }
    if (!c->start) {
        return tri_walk_share(p->walk, 0, 1) / (c->n - 1);
    }
    return c->start[a] > c->start[a - 1]
                   ? tri_walk_share(p->walk, c->start[a - 1], c->start[a])
                   : 0;
}

/* Probabilities from logits and shares; [out] tilt: by category, log of the
 * probability over the share. */
static void normalise(const double *share, int n, double *prob, double *tilt)
{
    double top = -INFINITY;
    double sum = 0;

    for (int a = 0; a < n; a++) {
        tilt[a] = prob[a];
        if (share[a] > 0) {
            top = fmax(top, prob[a]);
        }
    }
    for (int a = 0; a < n; a++) {
        prob[a] = share[a] > 0 ? share[a] * exp(prob[a] - top) : 0;
        sum += prob[a];
    }
    for (int a = 0; a < n; a++) {
        prob[a] /= sum;
        tilt[a] -= top + log(sum);
    }
}

static int draw_category(const double *prob, int n, double u)
{
    int last = 0;

    for (int a = 0; a < n; a++) {
        if (prob[a] > 0) {
            last = a;
            u -= prob[a];
            if (u < 0) {
                break;
            }
        }
    }
    return last;
}

static void take(tri_policy *p, const choice *c, int a, tri_rng *rng)
{
    double u = tri_rng_unit(rng);

    if (a == 0) {
        tri_walk_take(p->walk, TRI_WALK_INACTIVE);
    } else if (!c->start) {
        tri_walk_take_real(p->walk, (a - 1 + u) / (c->n - 1));
    } else {
        tri_walk_take(p->walk,
                      tri_walk_pick(p->walk, c->start[a - 1], c->start[a], u));
    }
}

static void choose(tri_policy *p, episode *e, int i, tri_rng *rng)
{
    const choice *c = &p->choices[i];
    double share[LISTED + 1];
    double tilt[LISTED + 1] = {0};
    double *prob = e->prob + c->prob;
    int a;

    for (a = 0; a < c->n; a++) {
        share[a] = share_of(p, c, a);
    }
    logits(p, e, i, prob);
    normalise(share, c->n, prob, tilt);
    a = draw_category(prob, c->n, tri_rng_unit(rng));
    e->taken[i] = a;
    e->counts[i] = 1;
    p->tilts[i] = tilt[a];
    take(p, c, a, rng);
}

/* ---- episodes ------------------------------------------------------------ */

static tri_status draw_once(tri_policy *p, episode *e, tri_rng *rng,
                            tri_config *out)
{
    int param;

    for (int i = 0; i < p->n; i++) {
        e->taken[i] = -1;
        e->counts[i] = 0;
        p->tilts[i] = 0;
    }
    tri_walk_begin(p->walk);
    while ((param = tri_walk_param(p->walk)) >= 0) {
        choose(p, e, p->choice_of[param], rng);
    }
    return tri_walk_end(p->walk, out);
}

/* What is inactive at last, although a value was taken for it. */
static void leave_out_inactive(tri_policy *p, episode *e, const tri_config *c)
{
    for (int i = 0; i < p->n; i++) {
        if (e->taken[i] > 0 && c[p->choices[i].param].type == TRI_INACTIVE) {
            e->counts[i] = 0;
            p->tilts[i] = 0;
        }
    }
}

tri_status tri_policy_draw(tri_policy *p, int slot, tri_rng *rng,
                           tri_config *out, double *tilt)
{
    episode *e = &p->episodes[slot];
    tri_status st = TRI_ENOTFOUND;

    for (int i = 0; i < TRIES && st == TRI_ENOTFOUND; i++) {
        st = draw_once(p, e, rng, out);
    }
    *tilt = 0;
    if (st == TRI_ENOTFOUND) {
        tri_error_clear();
        for (int i = 0; i < p->n; i++) {
            e->counts[i] = 0;
        }
        return tri_space_sample(p->space, rng, out);
    }
    TRI_TRY(st);
    leave_out_inactive(p, e, out);
    for (int i = 0; i < p->n; i++) {
        *tilt += p->tilts[i];
    }
    return TRI_OK;
}

/* ---- learning ----------------------------------------------------------- */

/* Add weight times the gradient of the log-probability of choice i. */
static void push(tri_policy *p, const episode *e, int i, double weight)
{
    const choice *c = &p->choices[i];
    const double *prob = e->prob + c->prob;
    double by[LISTED + 1];
    int place = c->pairs;

    for (int a = 0; a < c->n; a++) {
        by[a] = weight * ((a == e->taken[i]) - prob[a]);
        p->grad[c->bias + a] += by[a];
        by[a] *= c->scale;
    }
    for (int k = 1; k <= c->n_pairs; k++) {
        if (e->taken[i - k] >= 0) {
            double *row = p->grad + place + e->taken[i - k] * c->n;

            for (int a = 0; a < c->n; a++) {
                row[a] += by[a];
            }
        }
        place += c->n * p->choices[i - k].n;
    }
}

static void step(tri_policy *p, double rate)
{
    double fade1, fade2;

    p->steps++;
    fade1 = 1 - pow(BETA1, (double)p->steps);
    fade2 = 1 - pow(BETA2, (double)p->steps);
    for (int i = 0; i < p->n_theta; i++) {
        double g = p->grad[i];

        p->m[i] = BETA1 * p->m[i] + (1 - BETA1) * g;
        p->v[i] = BETA2 * p->v[i] + (1 - BETA2) * g * g;
        p->theta[i] += rate * RATE * (p->m[i] / fade1) /
                       (sqrt(p->v[i] / fade2) + TINY);
    }
}

void tri_policy_learn(tri_policy *p, const double *weight, int n, double rate)
{
    memset(p->grad, 0, (size_t)p->n_theta * sizeof *p->grad);
    for (int s = 0; s < n; s++) {
        const episode *e = &p->episodes[s];

        for (int i = 0; i < p->n; i++) {
            if (e->counts[i]) {
                push(p, e, i, weight[s] / n);
            }
        }
    }
    step(p, rate);
}

/*
 * The thinker: from a snapshot to proposals.
 */
#include "src/propose/evolve.h"
#include "src/propose/reinforce.h"
#include "src/propose/think_internal.h"
#include "src/propose/transfer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Results that are spread out before a model is asked. */
#define DESIGN 5
/* Random candidates of which the farthest is taken. */
#define DESIGN_TRIES 50
/* While so few, hyper-parameters are learned anew each time; then whenever the
 * records have grown by a tenth. */
#define LEARN_EACH   40
#define LEARN_GROWTH 1.1
/* Results without a better one after which a model is doubted. */
#define PATIENCE   8
#define ROUGH_FROM 10
/* Of the results, where the best that the model believes is looked for. */
#define LOWEST 128
/* Of the best, whose neighbours are looked at in a large space. */
#define NEAR 10
/* Of a joint of proposals in one answer. */
#define WANTED_MOST 512
/* A model that ranks no better than chance is not followed. */
#define TAU_LEAST   0.1
#define TAU_RECORDS 24
#define LOST_SHARE  0.5
/* Of the first configurations one in so many is tried on the word of earlier
 * studies; the others tell whether that is worth anything. */
#define ON_TRUST 3

/* Why there is no model of values. */
typedef enum lack {
    NOTHING,
    TOO_FEW,
    ALL_FAILED,
    ALL_EQUAL
} lack;

struct tri_thinker {
    const tri_study *study;
    uint64_t seed;
    const tri_cancel *cancel; /* of the question that is being answered */
    tri_encoding *encoding;
    tri_pool pool;
    int has_pool;
    tri_warm_records *warm;
    int n_warm;
    tri_acquisition acquisition;
    const tri_predictor_ops *ops; /* the predictor in use, */
    const tri_predictor_ops *of;  /* and what its models are used by: the same,
                                   * or over what earlier studies say */
    tri_transfer *transfer;       /* NULL: no earlier studies */
    int is_auto;
    int chosen_n; /* values when the predictor was chosen */
    double tau;
    tri_model *model;
    tri_model *rough; /* for when it leads nowhere; NULL */
    int is_stuck;
    int learned_n; /* values when its hyper-parameters were learned */
    tri_feasibility *feasible;
    tri_reinforce *reinforce; /* NULL: another proposer */
    int is_evolution;
    tri_knowledge known;
    double resource;
    /* the answer */
    tri_proposal *list;
    char *texts; /* of configurations, one after another */
    size_t texts_room;
    char hyper[1024], reason[160], sources[512];
    char news[700];    /* what the last answer has to say, or empty */
    lack lack, lacked; /* now, and in the answer before */
};

int tri_study_thinks(const tri_study *study)
{
    const char *p = study->search.proposer;

    if (strcmp(p, "random") == 0 || strcmp(p, "quasi") == 0) {
        return 0;
    }
    return tri_space_count(study->space) != 1;
}

/* ---- life ------------------------------------------------------------------
 */

static void free_warm(tri_thinker *t)
{
    for (int i = 0; i < t->n_warm; i++) {
        for (int k = 0; k < t->warm[i].n; k++) {
            free((void *)t->warm[i].records[k].config);
        }
        free((void *)t->warm[i].records);
        free((void *)t->warm[i].source);
    }
    free(t->warm);
}

static void forget_models(tri_thinker *t)
{
    if (t->model) {
        t->of->destroy(t->model);
    }
    if (t->rough) {
        t->of->destroy(t->rough);
    }
    t->model = t->rough = NULL;
}

void tri_thinker_destroy(tri_thinker *t)
{
    if (!t) {
        return;
    }
    forget_models(t);
    tri_transfer_destroy(t->transfer);
    tri_feasibility_destroy(t->feasible);
    tri_reinforce_destroy(t->reinforce);
    tri_knowledge_fini(&t->known);
    if (t->has_pool) {
        tri_pool_fini(&t->pool);
    }
    tri_encoding_destroy(t->encoding);
    free_warm(t);
    free(t->list);
    free(t->texts);
    free(t);
}

static tri_status copy_records(const tri_warm_records *from, int n_params,
                               tri_warm_records *to)
{
    tri_record *r = calloc((size_t)from->n + 1, sizeof *r);

    to->source = strdup(from->source ? from->source : "");
    to->records = r;
    to->same_class = from->same_class;
    if (!r || !to->source) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for earlier records");
    }
    for (int i = 0; i < from->n; i++) {
        tri_config *c = calloc((size_t)n_params + 1, sizeof *c);

        if (!c) {
            return TRI_FAIL(TRI_ENOMEM, "no memory for earlier records");
        }
        memcpy(c, from->records[i].config, (size_t)n_params * sizeof *c);
        r[i] = from->records[i];
        r[i].config = c;
        to->n = i + 1;
    }
    return TRI_OK;
}

static tri_status copy_warm(tri_thinker *t, const tri_warm_records *warm, int n)
{
    t->warm = calloc((size_t)n + 1, sizeof *t->warm);
    if (!t->warm) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for earlier records");
    }
    for (int i = 0; i < n; i++) {
        t->n_warm = i + 1;
        TRI_TRY(copy_records(&warm[i], tri_space_n_params(t->study->space),
                             &t->warm[i]));
    }
    return TRI_OK;
}

/* The predictor from now on. */
static void use(tri_thinker *t, const tri_predictor_ops *ops)
{
    t->ops = ops;
    t->of = t->transfer ? tri_transfer_over(t->transfer, ops) : ops;
}

static tri_acquisition acquisition_of(const char *name)
{
    return strcmp(name, "ucb") == 0        ? TRI_ACQ_UCB
           : strcmp(name, "thompson") == 0 ? TRI_ACQ_THOMPSON
                                           : TRI_ACQ_EI;
}

static tri_status set_up(tri_thinker *t, const tri_warm_records *warm,
                         int n_warm)
{
    const char *predictor = t->study->search.predictor;
    const char *proposer = t->study->search.proposer;

    t->is_evolution = strcmp(proposer, "evolution") == 0;
    t->acquisition = acquisition_of(t->study->search.acquisition);
    t->is_auto = strcmp(predictor, "auto") == 0;
    use(t, t->is_auto ? &tri_predictor_gp : tri_predictor_find(predictor));
    if (!t->ops) {
        return TRI_FAIL(TRI_EUNKNOWN, "there is no predictor \"%s\"",
                        predictor);
    }
    TRI_TRY(tri_encoding_create(t->study->space, &t->encoding));
    if (strcmp(proposer, "reinforce") == 0) {
        TRI_TRY(tri_reinforce_create(t->study->space, t->encoding,
                                     &t->reinforce));
    }
    TRI_TRY(copy_warm(t, warm, n_warm));
    if (n_warm > 0) {
        TRI_TRY(tri_transfer_create(t->encoding, t->study, t->warm, n_warm,
                                    t->seed, &t->transfer));
        use(t, t->ops);
    }
    return TRI_OK;
}

tri_status tri_thinker_create(const tri_study *study, uint64_t seed,
                              const tri_warm_records *warm, int n_warm,
                              tri_thinker **out)
{
    tri_thinker *t = calloc(1, sizeof *t);
    tri_status st;

    if (!t) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a thinker");
    }
    t->study = study;
    t->seed = seed;
    t->tau = NAN;
    st = set_up(t, warm, n_warm);
    if (st != TRI_OK) {
        tri_thinker_destroy(t);
        return st;
    }
    *out = t;
    return TRI_OK;
}

/* ---- learning
 * ---------------------------------------------------------------- */

static tri_samples samples_of(const tri_thinker *t)
{
    const tri_knowledge *k = &t->known;

    return (tri_samples){.n = k->n,
                         .width = k->width,
                         .x = k->x,
                         .y = k->y,
                         .resource = k->resource,
                         .cancel = t->cancel};
}

/* The predictor for what is known by now, where the study leaves it open:
 * asked whenever the records have doubled. */
static tri_status choose_predictor(tri_thinker *t)
{
    const tri_predictor_ops *ops = t->ops;
    tri_samples s = samples_of(t);

    if (!t->is_auto || t->known.n < TAU_RECORDS ||
        t->known.n < 2 * t->chosen_n) {
        return TRI_OK;
    }
    t->chosen_n = t->known.n;
    TRI_TRY(tri_predictor_choose(t->encoding, &s, t->seed, &ops, &t->tau));
    if (t->is_auto && ops != t->ops) {
        forget_models(t);
        use(t, ops);
    }
    return TRI_OK;
}

/* Where many results have not bettered the best, each third question is asked
 * of a rough model: what was learned may say that something does not matter
 * which only has not been tried together with the rest. */
static int is_stuck(const tri_thinker *t, const tri_snapshot *s)
{
    const tri_knowledge *k = &t->known;

    return k->n >= ROUGH_FROM && k->n - 1 - k->n_best >= PATIENCE &&
           s->number % 3 == 0;
}

/* Bring *model up to what is known: by the rows that are new where it may keep
 * its hyper-parameters, else by a fit that begins with them. */
static tri_status bring_up(tri_thinker *t, const tri_samples *s,
                           tri_model **model)
{
    tri_model *fitted;

    if (*model && (s->keep || s->rough) && t->of->update &&
        t->of->update(*model, s) == TRI_OK) {
        return TRI_OK;
    }
    TRI_TRY(t->transfer
                    ? tri_transfer_fit(t->transfer, t->ops, t->encoding, s,
                                       t->seed, *model, &fitted)
                    : t->ops->fit(t->encoding, s, t->seed, *model, &fitted));
    if (*model) {
        t->of->destroy(*model);
    }
    *model = fitted;
    return TRI_OK;
}

static tri_status learn_values(tri_thinker *t, const tri_snapshot *snapshot)
{
    tri_samples s = samples_of(t);

    TRI_TRY(choose_predictor(t));
    s.keep = t->model && t->known.n >= LEARN_EACH &&
             t->known.n < LEARN_GROWTH * t->learned_n;
    TRI_TRY(bring_up(t, &s, &t->model));
    t->learned_n = s.keep ? t->learned_n : t->known.n;
    t->is_stuck = is_stuck(t, snapshot);
    s.keep = 0;
    s.rough = 1;
    return t->is_stuck ? bring_up(t, &s, &t->rough) : TRI_OK;
}

/* The model that this answer is chosen by. */
static tri_model *asked(const tri_thinker *t)
{
    return t->is_stuck && t->rough ? t->rough : t->model;
}

static tri_status learn_failures(tri_thinker *t, const tri_snapshot *s)
{
    const tri_knowledge *k = &t->known;
    tri_feasibility *f;

    TRI_TRY(tri_feasibility_fit(t->encoding, k->n_labels, k->label_x, k->failed,
                                k->peak, s->memory_bytes, t->seed, &f));
    tri_feasibility_destroy(t->feasible);
    t->feasible = f;
    return TRI_OK;
}

/* What earlier studies know of failures, as far as they are to be believed. */
static tri_status recall(tri_thinker *t)
{
    if (!t->transfer) {
        return TRI_OK;
    }
    TRI_TRY(tri_transfer_weigh(t->transfer, &t->known, t->seed));
    for (int i = 0; i < t->n_warm; i++) {
        if (tri_transfer_labels(t->transfer, i)) {
            TRI_TRY(tri_knowledge_add_labels(
                    &t->known, t->encoding, &t->warm[i],
                    tri_transfer_peaks(t->transfer, i)));
        }
    }
    return TRI_OK;
}

/* What is missing.  Where earlier studies help, fewer results will do. */
static lack find_lack(const tri_thinker *t)
{
    const tri_knowledge *k = &t->known;
    int is_led =
            tri_transfer_is_used(t->transfer) && k->n >= TRI_TRANSFER_FIRST;

    if (k->n_own >= DESIGN && k->n == 0) {
        return ALL_FAILED;
    }
    if (k->n < 2 || (k->n_own < DESIGN && !is_led)) {
        return TOO_FEW;
    }
    return k->warp.sd > 0 ? NOTHING : ALL_EQUAL;
}

/* [out] t->reason: a clause for it, empty where nothing is missing. */
static int may_learn(tri_thinker *t)
{
    const tri_knowledge *k = &t->known;

    t->lack = find_lack(t);
    t->reason[0] = 0;
    switch (t->lack) {
    case ALL_FAILED:
        snprintf(t->reason, sizeof t->reason,
                 "nothing to learn from: all %d that ended failed", k->n_own);
        break;
    case TOO_FEW:
        snprintf(t->reason, sizeof t->reason,
                 "too few results yet: %d, of %d configurations; the first %d "
                 "are spread out",
                 k->n, k->n_own, DESIGN);
        break;
    case ALL_EQUAL:
        snprintf(t->reason, sizeof t->reason,
                 "nothing to learn from: all %d results are equal", k->n);
        break;
    case NOTHING:
        break;
    }
    return t->lack == NOTHING;
}

static tri_status learn(tri_thinker *t, const tri_snapshot *s)
{
    tri_knowledge k;
    int more = 0;

    for (int i = 0; i < t->n_warm; i++) {
        more += t->warm[i].n;
    }
    TRI_TRY(tri_knowledge_init(&k, t->encoding, s, more,
                               t->study->objective.maximize));
    tri_knowledge_fini(&t->known);
    t->known = k;
    t->resource = (double)s->resource;
    TRI_TRY(recall(t));
    if (may_learn(t)) {
        TRI_TRY(learn_values(t, s));
    } else {
        forget_models(t);
        t->learned_n = 0;
    }
    return t->known.n_labels > 0 ? learn_failures(t, s) : TRI_OK;
}

/* ---- the pool
 * ----------------------------------------------------------------- */

typedef struct ranked {
    double cost;
    int at;
} ranked;

static int by_cost(const void *a, const void *b)
{
    const ranked *p = a, *q = b;

    return p->cost != q->cost ? (p->cost > q->cost) - (p->cost < q->cost)
                              : p->at - q->at;
}

/* The best records, for their neighbours. */
static tri_status best_of(const tri_thinker *t, const tri_snapshot *s,
                          const tri_config **near, int *n)
{
    double sign = t->study->objective.maximize ? -1 : 1;
    ranked *list = malloc(((size_t)s->n_records + 1) * sizeof *list);
    int m = 0;

    if (!list) {
        return TRI_FAIL(TRI_ENOMEM, "no memory to think");
    }
    for (int i = 0; i < s->n_records; i++) {
        if (!s->records[i].failed && isfinite(s->records[i].objective)) {
            list[m++] = (ranked){sign * s->records[i].objective, i};
        }
    }
    qsort(list, (size_t)m, sizeof *list, by_cost);
    for (*n = 0; *n < NEAR && *n < m; ++*n) {
        near[*n] = s->records[list[*n].at].config;
    }
    free(list);
    return TRI_OK;
}

static tri_status refresh(tri_thinker *t, const tri_snapshot *s)
{
    const tri_config *near[NEAR];
    int n;

    if (!t->has_pool) {
        TRI_TRY(tri_pool_init(&t->pool, t->study->space, t->encoding,
                              t->cancel));
        if (tri_is_cancelled(t->cancel)) { /* it may be half of one */
            tri_pool_fini(&t->pool);
            return TRI_OK;
        }
        t->has_pool = 1;
    }
    TRI_TRY(best_of(t, s, near, &n));
    return tri_pool_refresh(&t->pool, s, t->seed, near, n);
}

/* ---- the answer
 * ------------------------------------------------------------------ */

typedef struct answer {
    tri_choice *choices;
    const char **rules;
    int n;
} answer;

static void add(tri_thinker *t, answer *a, int64_t at, const char *rule)
{
    tri_choice *c = &a->choices[a->n];
    double *x;

    *c = (tri_choice){.at = at, .mean = NAN, .sd = NAN, .p = NAN, .bytes = NAN};
    a->rules[a->n++] = rule;
    t->pool.taken[at] = 1;
    x = malloc(((size_t)t->pool.width + 1) * sizeof *x);
    if (!x) {
        return;
    }
    tri_pool_row(&t->pool, at, x);
    if (t->model) {
        t->of->predict(t->model, x, 1, t->resource, &c->mean, &c->sd);
    }
    if (t->feasible) {
        tri_feasibility_predict(t->feasible, x, 1, &c->p, &c->bytes);
    }
    free(x);
}

/* How many of the wanted are drawn at random: each by a coin of its own. */
static int random_count(const tri_thinker *t, const tri_snapshot *s, int wanted)
{
    tri_rng rng = tri_rng_stream(t->seed, (uint64_t)s->number << 1 | 1,
                                 TRI_RNG_EXPLORE);
    double share = t->study->search.random_share;
    int n = 0;

    if (t->known.n >= TAU_RECORDS && t->tau < TAU_LEAST) {
        share = fmax(share, LOST_SHARE);
    }
    for (int i = 0; i < wanted; i++) {
        n += tri_rng_unit(&rng) < share;
    }
    return n;
}

static void add_random(tri_thinker *t, const tri_snapshot *s, answer *a, int n)
{
    tri_rng rng =
            tri_rng_stream(t->seed, (uint64_t)s->number << 1, TRI_RNG_RANDOM);

    for (int i = 0; i < n; i++) {
        int64_t at = tri_pool_random(&t->pool, &rng);

        if (at >= 0) {
            add(t, a, at, "random");
        }
    }
}

static tri_status add_design(tri_thinker *t, const tri_snapshot *s, answer *a,
                             int n)
{
    tri_rng rng =
            tri_rng_stream(t->seed, (uint64_t)s->number << 1, TRI_RNG_QUASI);
    tri_knowledge *k = &t->known;
    size_t w = (size_t)k->width;
    double *x = malloc(((size_t)(k->n_points + n) * w + 1) * sizeof *x);

    if (!x) {
        return TRI_FAIL(TRI_ENOMEM, "no memory to think");
    }
    if (k->n_points > 0) {
        memcpy(x, k->point_x, (size_t)k->n_points * w * sizeof *x);
    }
    for (int i = 0; i < n; i++) {
        int64_t at = tri_design_next(&t->pool, x, k->n_points + i, DESIGN_TRIES,
                                     &rng);

        if (at < 0) {
            break;
        }
        tri_pool_row(&t->pool, at, x + (size_t)(k->n_points + i) * w);
        add(t, a, at, "spread");
    }
    free(x);
    return TRI_OK;
}

/* The lowest value that the model believes of what has run; it is looked for
 * among the lowest results. */
static tri_status believed_best(const tri_thinker *t, double *best)
{
    const tri_knowledge *k = &t->known;
    size_t w = (size_t)k->width;
    ranked *list = malloc(((size_t)k->n + 1) * sizeof *list);
    double *x = malloc(LOWEST * (w + 1) * sizeof *x);
    double *mean = x ? x + LOWEST * w : NULL;
    int n = k->n < LOWEST ? k->n : LOWEST;

    if (!list || !x) {
        free(list);
        free(x);
        return TRI_FAIL(TRI_ENOMEM, "no memory to think");
    }
    for (int i = 0; i < k->n; i++) {
        list[i] = (ranked){k->y[i], i};
    }
    qsort(list, (size_t)k->n, sizeof *list, by_cost);
    for (int i = 0; i < n; i++) {
        memcpy(x + (size_t)i * w, k->x + (size_t)list[i].at * w, w * sizeof *x);
    }
    t->of->predict(asked(t), x, n, t->resource, mean, NULL);
    *best = INFINITY;
    for (int i = 0; i < n; i++) {
        *best = fmin(*best, mean[i]);
    }
    free(list);
    free(x);
    return TRI_OK;
}

/* What is under way counts as believed. */
static tri_status believe_pending(tri_thinker *t, const tri_snapshot *s)
{
    double mean;
    double *x = malloc(((size_t)t->pool.width + 1) * sizeof *x);
    tri_status st = x ? TRI_OK : TRI_FAIL(TRI_ENOMEM, "no memory to think");

    for (int i = 0; st == TRI_OK && t->of->add && i < s->n_pending; i++) {
        tri_encode(t->encoding, s->pending[i], x);
        t->of->predict(asked(t), x, 1, t->resource, &mean, NULL);
        st = t->of->add(asked(t), x, mean, t->resource);
    }
    free(x);
    return st;
}

static const char *rule_of(tri_acquisition a)
{
    return a == TRI_ACQ_UCB ? "ucb" : a == TRI_ACQ_THOMPSON ? "thompson" : "ei";
}

static tri_status add_best(tri_thinker *t, const tri_snapshot *s,
                           const tri_cancel *cancel, answer *a, int n)
{
    int size = t->of->size(asked(t));
    int found = 0;
    tri_belief_model m = {.ops = t->of,
                          .model = asked(t),
                          .feasible =
                                  t->known.n_failed > 0 || s->memory_bytes > 0
                                          ? t->feasible
                                          : NULL,
                          .resource = t->resource};
    tri_status st = believed_best(t, &m.best);

    if (st == TRI_OK) {
        st = believe_pending(t, s);
    }

    if (st == TRI_OK && t->reinforce) {
        st = tri_reinforce_answer(t->reinforce, &t->pool, s, &m, t->acquisition,
                                  n, t->seed, cancel, a->choices + a->n,
                                  &found);
    } else if (st == TRI_OK) {
        st = tri_acquire(&t->pool, &m, t->acquisition, n,
                         t->seed ^ (uint64_t)s->number << 20, cancel,
                         a->choices + a->n, &found);
    }
    if (t->of->truncate) {
        t->of->truncate(asked(t), size);
    }
    for (int i = 0; i < found; i++) {
        a->rules[a->n + i] =
                t->reinforce ? "reinforce" : rule_of(t->acquisition);
    }
    a->n += found;
    return st;
}

static tri_status add_children(tri_thinker *t, const tri_snapshot *s, answer *a,
                               int n)
{
    int64_t at[WANTED_MOST];
    int children = 0;
    int found = 0;

    TRI_TRY(tri_evolve(&t->pool, s, t->study->objective.maximize, t->seed, n,
                       at, &children, &found));
    for (int i = 0; i < found; i++) {
        add(t, a, at[i], i < children ? "evolution" : "random");
    }
    return TRI_OK;
}

/* Before there are results of its own: some of what earlier studies say is
 * best. */
static tri_status add_trusted(tri_thinker *t, answer *a, int wanted)
{
    int64_t at[WANTED_MOST];
    int n_known = t->known.n_points;
    int n = (n_known + wanted + ON_TRUST - 1) / ON_TRUST -
            (n_known + ON_TRUST - 1) / ON_TRUST;
    int found;

    if (!t->transfer || t->model || n < 1 || t->known.n_own >= DESIGN) {
        return TRI_OK;
    }
    TRI_TRY(tri_transfer_best(t->transfer, &t->pool, t->resource, n, at,
                              &found));
    for (int i = 0; i < found; i++) {
        add(t, a, at[i], "warm");
    }
    return TRI_OK;
}

static tri_status decide(tri_thinker *t, const tri_snapshot *s,
                         const tri_cancel *cancel, answer *a, int wanted)
{
    int n_random;

    TRI_TRY(add_trusted(t, a, wanted));
    wanted -= a->n;
    if (t->is_evolution) {
        return add_children(t, s, a, wanted);
    }
    if (!t->model) {
        return add_design(t, s, a, wanted);
    }
    n_random = random_count(t, s, wanted);
    TRI_TRY(add_best(t, s, cancel, a, wanted - n_random));
    add_random(t, s, a, n_random);
    return TRI_OK;
}

/* ---- telling
 * ------------------------------------------------------------------------ */

static tri_status grow_texts(tri_thinker *t, size_t bytes)
{
    char *grown;

    if (bytes <= t->texts_room) {
        return TRI_OK;
    }
    grown = realloc(t->texts, 2 * bytes);
    if (!grown) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for proposals");
    }
    t->texts = grown;
    t->texts_room = 2 * bytes;
    return TRI_OK;
}

/* All texts first: they move as they grow. */
static tri_status write_texts(tri_thinker *t, const answer *a, size_t *at)
{
    tri_config *c = calloc((size_t)t->pool.n_params + 1, sizeof *c);
    size_t used = 0;
    char none[1];
    tri_status st =
            c ? TRI_OK : TRI_FAIL(TRI_ENOMEM, "no memory for proposals");

    for (int i = 0; st == TRI_OK && i < a->n; i++) {
        size_t n;

        st = tri_pool_config(&t->pool, a->choices[i].at, c);
        if (st == TRI_OK) {
            n = tri_space_print(t->study->space, c, none, sizeof none);
            st = grow_texts(t, used + n + 1);
        }
        if (st == TRI_OK) {
            at[i] = used;
            tri_space_print(t->study->space, c, t->texts + used, n + 1);
            used += n + 1;
        }
    }
    free(c);
    return st;
}

/* A belief in the objective's own terms. */
static void unwarp(const tri_thinker *t, double mean, double sd,
                   double *predicted, double *lo, double *hi)
{
    double sign = t->study->objective.maximize ? -1 : 1;
    double a = sign * tri_warp_invert(&t->known.warp, mean - 1.96 * sd);
    double b = sign * tri_warp_invert(&t->known.warp, mean + 1.96 * sd);

    *predicted = *lo = *hi = NAN;
    if (!isnan(mean)) {
        *predicted = sign * tri_warp_invert(&t->known.warp, mean);
        *lo = fmin(a, b);
        *hi = fmax(a, b);
    }
}

/* What the model is, or why there is none; what earlier studies do for it. */
static void tell_how(tri_thinker *t)
{
    size_t n;

    snprintf(t->hyper, sizeof t->hyper, "%s", t->reason);
    if (t->model) {
        t->of->describe(t->model, t->hyper, sizeof t->hyper);
    }
    if (t->transfer) {
        tri_transfer_describe(t->transfer, t->sources, sizeof t->sources);
        n = strlen(t->hyper);
        snprintf(t->hyper + n, sizeof t->hyper - n, "; earlier studies: %s",
                 t->sources);
    }
}

/* That there are too few results is no news: every study begins so. */
static void find_news(tri_thinker *t)
{
    char *at = t->news;
    size_t left = sizeof t->news;
    int is_odd = t->lack == ALL_FAILED || t->lack == ALL_EQUAL;
    int was_odd = t->lacked == ALL_FAILED || t->lacked == ALL_EQUAL;

    t->news[0] = 0;
    if (is_odd && t->lack != t->lacked) {
        snprintf(at, left, "%s; configurations are spread out", t->reason);
    } else if (was_odd && !is_odd) {
        snprintf(at, left, "results can be learned from now");
    }
    t->lacked = t->lack;
    if (t->transfer && tri_transfer_has_changed(t->transfer)) {
        left -= strlen(at);
        at += strlen(at);
        snprintf(at, left, "%searlier studies: %s", t->news[0] ? "; " : "",
                 t->sources);
    }
}

const char *tri_thinker_news(const tri_thinker *t)
{
    return t->news[0] ? t->news : NULL;
}

static tri_status tell(tri_thinker *t, const tri_snapshot *s, const answer *a,
                       tri_ev_proposals *out)
{
    size_t *at = malloc(((size_t)a->n + 1) * sizeof *at);
    tri_proposal *list = realloc(t->list, ((size_t)a->n + 1) * sizeof *list);
    tri_status st = TRI_OK;

    if (list) {
        t->list = list;
    }
    if (!at || !list) {
        free(at);
        return TRI_FAIL(TRI_ENOMEM, "no memory for proposals");
    }
    st = write_texts(t, a, at);
    for (int i = 0; st == TRI_OK && i < a->n; i++) {
        const tri_choice *c = &a->choices[i];

        list[i] = (tri_proposal){.config = t->texts + at[i],
                                 .predicted_bytes = c->bytes,
                                 .p_feasible = c->p,
                                 .rule = a->rules[i]};
        unwarp(t, c->mean, c->sd, &list[i].predicted, &list[i].lo, &list[i].hi);
    }
    free(at);
    TRI_TRY(st);
    tell_how(t);
    find_news(t);
    *out = (tri_ev_proposals){.snapshot = s->number,
                              .model = t->model ? t->ops->name : "none",
                              .hyper = t->hyper,
                              .n_records = t->known.n,
                              .tau = t->tau,
                              .fit_s = NAN,
                              .list = list,
                              .n_list = a->n};
    return TRI_OK;
}

tri_status tri_thinker_answer(tri_thinker *t, const tri_snapshot *snapshot,
                              const tri_cancel *cancel, tri_ev_proposals *out)
{
    int wanted =
            snapshot->wanted < WANTED_MOST ? snapshot->wanted : WANTED_MOST;
    answer a = {0};
    tri_status st;

    t->cancel = cancel;
    st = learn(t, snapshot);
    if (st == TRI_OK && !tri_is_cancelled(cancel)) {
        st = refresh(t, snapshot);
    }
    a.choices = calloc((size_t)wanted + 1, sizeof *a.choices);
    a.rules = calloc((size_t)wanted + 1, sizeof *a.rules);
    if (st == TRI_OK && (!a.choices || !a.rules)) {
        st = TRI_FAIL(TRI_ENOMEM, "no memory for proposals");
    }
    if (st == TRI_OK && !tri_is_cancelled(cancel)) {
        st = decide(t, snapshot, cancel, &a, wanted);
    }
    if (st == TRI_OK) {
        st = tell(t, snapshot, &a, out);
    }
    t->cancel = NULL;
    free(a.choices);
    free(a.rules);
    return st;
}

/* ---- questions
 * ------------------------------------------------------------------- */

tri_status tri_thinker_believe(tri_thinker *t, const tri_config *c,
                               int64_t resource, tri_belief *out)
{
    double *x =
            malloc(((size_t)tri_encoding_width(t->encoding) + 1) * sizeof *x);
    double mean = NAN;
    double sd = NAN;

    if (!x) {
        return TRI_FAIL(TRI_ENOMEM, "no memory to think");
    }
    *out = (tri_belief){NAN, NAN, NAN, NAN, NAN, NAN};
    tri_encode(t->encoding, c, x);
    if (t->model) {
        t->of->predict(t->model, x, 1, (double)resource, &mean, &sd);
        unwarp(t, mean, sd, &out->predicted, &out->lo, &out->hi);
        out->sd = sd;
    }
    if (t->feasible) {
        tri_feasibility_predict(t->feasible, x, 1, &out->p_feasible,
                                &out->bytes);
    }
    free(x);
    return TRI_OK;
}

const char *tri_thinker_model(const tri_thinker *t)
{
    return t->model ? t->ops->name : "none";
}

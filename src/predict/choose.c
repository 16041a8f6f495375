/*
 * Which predictor: by name, or the one that orders left-out samples best.
 */
#include "src/predict/folds.h"
#include "src/predict/mlp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FOLDS 5
/* Of them so many show who is clearly behind. */
#define ENOUGH 2
/* Samples from which on the folds' models begin with the first fold's. */
#define SHARED_LEAST 200
#define LEAST        10  /* samples for a trial */
#define MOST         500 /* samples that are used */
/* Of n samples tau is known to about 1 / sqrt(n): gp is left for another only
 * where that is better by more than chance gives. */
#define TIE       0.02
#define TIE_OF_N  0.5
#define NO_BELIEF (-2) /* a tau below all */

const tri_predictor_ops *tri_predictor_find(const char *name)
{
    static const tri_predictor_ops *const all[] = {
            &tri_predictor_gp, &tri_predictor_trees, &tri_predictor_mlp,
            &tri_predictor_mlp_squared};

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (strcmp(all[i]->name, name) == 0) {
            return all[i];
        }
    }
    return NULL;
}

/* ---- samples in order --------------------------------------------------- */

typedef struct row {
    double resource;
    int fold, at;
} row;

/* By fold, then by resource: what is predicted together stands together. */
static int by_fold(const void *a, const void *b)
{
    const row *p = a, *q = b;

    if (p->fold != q->fold) {
        return p->fold < q->fold ? -1 : 1;
    }
    if (p->resource != q->resource) {
        return p->resource < q->resource ? -1 : 1;
    }
    return (p->at > q->at) - (p->at < q->at);
}

static int by_resource(const void *a, const void *b)
{
    const row *p = a, *q = b;

    return p->resource != q->resource
                   ? (p->resource > q->resource) - (p->resource < q->resource)
                   : (p->at > q->at) - (p->at < q->at);
}

typedef struct trial { /* of a predictor */
    const tri_encoding *e;
    int n, width, n_folds;
    row *rows; /* of the samples used, in their folds */
    double *x; /* the same */
    double *y, *resource, *said;
    double *without; /* room for all folds but one */
    int *fold;       /* of rows; the caller's */
    double *rival;   /* what the best so far said */
    double *a, *b;   /* scratch, n each */
    int has_resource;
    uint64_t seed;
    const tri_cancel *cancel;
} trial;

static void trial_fini(trial *t)
{
    free(t->rows);
    free(t->x);
}

static tri_status trial_alloc(trial *t, const tri_samples *s)
{
    size_t n = (size_t)s->n;
    size_t w = (size_t)s->width;

    t->rows = malloc(n * sizeof *t->rows);
    t->x = malloc(n * (2 * w + 8) * sizeof *t->x);
    if (!t->rows || !t->x) {
        return TRI_FAIL(TRI_ENOMEM, "no memory to compare predictors");
    }
    t->y = t->x + n * w;
    t->resource = t->y + n;
    t->said = t->resource + n;
    t->rival = t->said + n;
    t->a = t->rival + n;
    t->b = t->a + n;
    t->without = t->b + n;
    return TRI_OK;
}

/* `fold`: room for one of each sample. */
static tri_status trial_init(trial *t, const tri_samples *s, int *fold)
{
    size_t w = (size_t)s->width;

    TRI_TRY(trial_alloc(t, s));
    TRI_TRY(tri_folds_deal(s->x, s->n, s->width, FOLDS, MOST, t->seed, fold,
                           &t->n_folds));
    for (int i = 0; i < s->n; i++) {
        if (fold[i] >= 0) {
            t->rows[t->n++] =
                    (row){s->resource ? s->resource[i] : 1, fold[i], i};
        }
    }
    qsort(t->rows, (size_t)t->n, sizeof *t->rows, by_fold);
    t->fold = fold;
    for (int i = 0; i < t->n; i++) {
        int from = t->rows[i].at;

        memcpy(t->x + (size_t)i * w, s->x + (size_t)from * w, w * sizeof *t->x);
        t->y[i] = s->y[from];
        t->resource[i] = t->rows[i].resource;
        t->rows[i].at = i;
        fold[i] = t->rows[i].fold;
    }
    return TRI_OK;
}

/* ---- a trial ------------------------------------------------------------ */

static tri_samples samples_of(const trial *t)
{
    return (tri_samples){.n = t->n,
                         .width = t->width,
                         .x = t->x,
                         .y = t->y,
                         .resource = t->has_resource ? t->resource : NULL,
                         .cancel = t->cancel};
}

/* Predict rows [from, to) by what is learned from the others; *first: NULL, or
 * the first fold's model, which is a start for the rest.  [out] *first. */
static tri_status predict_fold(const trial *t, const tri_predictor_ops *ops,
                               int from, int to, tri_model **first)
{
    tri_samples all = samples_of(t);
    tri_samples s =
            tri_samples_without(&all, t->fold, t->fold[from], t->without);
    tri_model *m;

    TRI_TRY(ops->fit(t->e, &s, t->seed, *first, &m));
    while (from < to) {
        int end = from;

        while (end < to && t->resource[end] == t->resource[from]) {
            end++;
        }
        ops->predict(m, t->x + (size_t)from * (size_t)t->width, end - from,
                     t->resource[from], t->said + from, NULL);
        from = end;
    }
    if (*first || t->n < SHARED_LEAST) {
        ops->destroy(m);
    } else {
        *first = m;
    }
    return TRI_OK;
}

/* Results at different resources are not compared: the mean over resources,
 * each weighing as many samples as could disagree. */
static double agreement(const trial *t, const row *sorted)
{
    double sum = 0;
    int weight = 0;

    for (int from = 0; from < t->n;) {
        int n = 0;

        while (from + n < t->n &&
               sorted[from + n].resource == sorted[from].resource) {
            t->a[n] = t->said[sorted[from + n].at];
            t->b[n] = t->y[sorted[from + n].at];
            n++;
        }
        sum += (n - 1) * tri_kendall_tau(t->a, t->b, n);
        weight += n - 1;
        from += n;
    }
    return weight > 0 ? sum / weight : 0;
}

static double tie(int n)
{
    return TIE + TIE_OF_N / sqrt((double)n);
}

/* The mean over the folds before `end`, each by itself. */
static double agreement_by_folds(const trial *t, const double *said, int end)
{
    double sum = 0;
    int weight = 0;

    for (int from = 0; from < end;) {
        int n = 0;

        while (from + n < end && t->rows[from + n].fold == t->rows[from].fold &&
               t->rows[from + n].resource == t->rows[from].resource) {
            n++;
        }
        sum += (n - 1) * tri_kendall_tau(said + from, t->y + from, n);
        weight += n - 1;
        from += n;
    }
    return weight > 0 ? sum / weight : 0;
}

/* A predictor that fails is not chosen; no memory is the caller's.  One that
 * after ENOUGH folds is behind what `rival` says (may be NULL) by more than
 * chance gives is given up. */
static tri_status try_one(const trial *t, const tri_predictor_ops *ops,
                          const row *sorted, const double *rival, double *tau)
{
    tri_model *first = NULL;
    tri_status st = TRI_OK;
    int folds = 0;
    int from = 0;

    *tau = NO_BELIEF;
    while (st == TRI_OK && from < t->n && !tri_is_cancelled(t->cancel)) {
        int to = from;

        if (rival && folds++ == ENOUGH &&
            agreement_by_folds(t, t->said, from) <
                    agreement_by_folds(t, rival, from) - tie(from)) {
            break;
        }
        while (to < t->n && t->rows[to].fold == t->rows[from].fold) {
            to++;
        }
        st = predict_fold(t, ops, from, to, &first);
        from = to;
    }
    if (first) {
        ops->destroy(first);
    }
    if (st == TRI_OK && from == t->n && !tri_is_cancelled(t->cancel)) {
        *tau = agreement(t, sorted);
    }
    return st == TRI_ENOMEM ? st : TRI_OK;
}

static tri_status try_all(const trial *t, row *sorted,
                          const tri_predictor_ops **best, double *most)
{
    static const tri_predictor_ops *const all[] = {
            &tri_predictor_gp, &tri_predictor_trees, &tri_predictor_mlp};

    memcpy(sorted, t->rows, (size_t)t->n * sizeof *sorted);
    qsort(sorted, (size_t)t->n, sizeof *sorted, by_resource);
    *best = all[0];
    TRI_TRY(try_one(t, all[0], sorted, NULL, most));
    memcpy(t->rival, t->said, (size_t)t->n * sizeof *t->said);
    for (size_t i = 1; i < sizeof all / sizeof all[0]; i++) {
        double needed = *best == all[0] ? *most + tie(t->n) : *most;
        double tau;

        TRI_TRY(try_one(t, all[i], sorted, t->rival, &tau));
        if (tau > needed) {
            *best = all[i];
            *most = tau;
            memcpy(t->rival, t->said, (size_t)t->n * sizeof *t->said);
        }
    }
    if (*most == NO_BELIEF) {
        *most = NAN;
    }
    return TRI_OK;
}

tri_status tri_predictor_choose(const tri_encoding *e, const tri_samples *s,
                                uint64_t seed, const tri_predictor_ops **out,
                                double *tau)
{
    trial t = {.e = e,
               .width = s->width,
               .has_resource = s->resource != NULL,
               .seed = seed,
               .cancel = s->cancel};
    const tri_predictor_ops *best = &tri_predictor_gp;
    double most = NAN;
    int *fold = malloc(((size_t)s->n + 1) * sizeof *fold);
    row *sorted = malloc(((size_t)s->n + 1) * sizeof *sorted);
    tri_status st = TRI_OK;

    if (!fold || !sorted) {
        st = TRI_FAIL(TRI_ENOMEM, "no memory to compare predictors");
    } else if (s->n >= LEAST) {
        st = trial_init(&t, s, fold);
        if (st == TRI_OK && t.n_folds > 1) {
            st = try_all(&t, sorted, &best, &most);
        }
        trial_fini(&t);
    }
    free(fold);
    free(sorted);
    if (st == TRI_OK) {
        *out = best;
        *tau = most;
    }
    return st;
}

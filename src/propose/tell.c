/*
 * Choices as proposals, and what the thinker has to say.
 */
#include "src/propose/thinker.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- telling ------------------------------------------------------------ */

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
static tri_status write_texts(tri_thinker *t, const tri_answer *a, size_t *at)
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
    double told = t->calibration.factor * hypot(sd, t->calibration.floor);
    double a = sign * tri_knowledge_cost(&t->known, mean - 1.96 * told);
    double b = sign * tri_knowledge_cost(&t->known, mean + 1.96 * told);

    *predicted = *lo = *hi = NAN;
    if (!isnan(mean)) {
        *predicted = sign * tri_knowledge_cost(&t->known, mean);
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

/* A predictor that the study names is said once, when it has learned. */
static void tell_named(tri_thinker *t, char *at, size_t left)
{
    if (t->model && t->told_n == 0) {
        t->told_n = t->known.n;
        snprintf(at, left,
                 "%spredictor %s, as the study says, learns from %d "
                 "results",
                 t->news[0] ? "; " : "", t->ops->name, t->known.n);
    }
}

/* Which predictor `auto` takes, and why. */
static void tell_choice(tri_thinker *t, char *at, size_t left)
{
    if (!t->is_auto) {
        tell_named(t, at, left);
        return;
    }
    if (t->chosen_n == t->told_n || isnan(t->tau)) {
        return;
    }
    t->told_n = t->chosen_n;
    snprintf(at, left,
             "%spredictor auto is %s: tau %.2f between what it says of %d "
             "results that it was not given and what they were%s",
             t->news[0] ? "; " : "", t->ops->name, t->tau, t->chosen_n,
             t->tau < TAU_LEAST ? ", no better than chance: half of the "
                                  "configurations are drawn at random"
                                : "");
}

/* That there are too few results is no news: every study begins so. */
static void find_news(tri_thinker *t)
{
    char *at = t->news;
    size_t left = sizeof t->news;
    int is_odd =
            t->lack == TRI_LACKS_ALL_FAILED || t->lack == TRI_LACKS_ALL_EQUAL;
    int was_odd = t->lacked == TRI_LACKS_ALL_FAILED ||
                  t->lacked == TRI_LACKS_ALL_EQUAL;

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
    left -= strlen(at);
    at += strlen(at);
    tell_choice(t, at, left);
}

const char *tri_thinker_news(const tri_thinker *t)
{
    return t->news[0] ? t->news : NULL;
}

tri_status tri_thinker_tell(tri_thinker *t, const tri_snapshot *s,
                            const tri_answer *a, tri_ev_proposals *out)
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

/* ---- questions ---------------------------------------------------------- */

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

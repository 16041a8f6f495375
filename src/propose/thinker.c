/*
 * The thinker: from a snapshot to proposals.
 */
#include "src/propose/thinker.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* While so few, hyper-parameters are learned anew each time; then whenever the
 * records have grown by a tenth. */
#define LEARN_EACH   40
#define LEARN_GROWTH 1.1
/* Results without a better one after which a model is doubted. */
#define PATIENCE   8
#define ROUGH_FROM 10

int tri_study_thinks(const tri_study *study)
{
    const char *p = study->search.proposer;

    if (strcmp(p, "random") == 0 || strcmp(p, "quasi") == 0) {
        return 0;
    }
    return tri_space_count(study->space) != 1;
}

/* ---- life --------------------------------------------------------------- */

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
    return copy_warm(t, warm, n_warm);
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
    t->calibration.factor = 1;
    st = set_up(t, warm, n_warm);
    if (st != TRI_OK) {
        tri_thinker_destroy(t);
        return st;
    }
    *out = t;
    return TRI_OK;
}

/* ---- learning ----------------------------------------------------------- */

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
        t->calibrated_n = 0;
        use(t, ops);
    }
    return TRI_OK;
}

/* Where many results have not bettered the best, each third question is asked
 * of a rough model: what was learned may say that something does not matter
 * which only has not been tried together with the rest.  Results of what was
 * under way when the best became known say nothing of a model that knows it:
 * about as many as are under way now. */
static int is_stuck(const tri_thinker *t, const tri_snapshot *s)
{
    const tri_knowledge *k = &t->known;

    return k->n >= ROUGH_FROM &&
           k->n - 1 - k->n_best >= PATIENCE + s->n_pending &&
           s->number % 3 == 0;
}

tri_status tri_thinker_fit(const tri_thinker *t, const tri_samples *s,
                           const tri_model *before, tri_model **out)
{
    return t->transfer ? tri_transfer_fit(t->transfer, t->ops, t->encoding, s,
                                          t->seed, before, out)
                       : t->ops->fit(t->encoding, s, t->seed, before, out);
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
    TRI_TRY(tri_thinker_fit(t, s, *model, &fitted));
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
    if (!s.keep) {
        t->learned_n = t->known.n;
        TRI_TRY(tri_thinker_calibrate(t));
    }
    t->is_stuck = is_stuck(t, snapshot);
    s.keep = 0;
    s.rough = 1;
    return t->is_stuck ? bring_up(t, &s, &t->rough) : TRI_OK;
}

/* The model that this answer is chosen by. */
tri_model *tri_thinker_asked(const tri_thinker *t)
{
    return t->is_stuck && t->rough ? t->rough : t->model;
}

static tri_status learn_failures(tri_thinker *t, const tri_snapshot *s)
{
    const tri_knowledge *k = &t->known;
    const tri_labels labels = {.n = k->n_labels,
                               .n_own = k->n_own,
                               .x = k->label_x,
                               .failed = k->failed,
                               .peak = k->peak,
                               .limit = s->memory_bytes,
                               .cancel = t->cancel};
    tri_feasibility *f;

    TRI_TRY(tri_feasibility_fit(t->encoding, &labels, t->feasible, &f));
    tri_feasibility_destroy(t->feasible);
    t->feasible = f;
    return TRI_OK;
}

/* Learn from earlier studies, by the first question that is not cancelled. */
static tri_status read_sources(tri_thinker *t)
{
    tri_transfer *made;

    if (t->n_warm == 0 || t->transfer) {
        return TRI_OK;
    }
    TRI_TRY(tri_transfer_create(t->encoding, t->study, t->warm, t->n_warm,
                                t->seed, t->cancel, &made));
    if (tri_is_cancelled(t->cancel)) { /* it may be half of one */
        tri_transfer_destroy(made);
        return TRI_OK;
    }
    forget_models(t); /* they know nothing of it */
    t->transfer = made;
    use(t, t->ops);
    return TRI_OK;
}

/* What earlier studies know of failures, as far as they are to be believed. */
static tri_status recall(tri_thinker *t)
{
    if (!t->transfer) {
        return TRI_OK;
    }
    TRI_TRY(tri_transfer_weigh(t->transfer, &t->known, t->seed, t->cancel));
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
static tri_lack find_lack(const tri_thinker *t)
{
    const tri_knowledge *k = &t->known;
    int is_led =
            tri_transfer_is_used(t->transfer) && k->n >= TRI_TRANSFER_FIRST;

    if (k->n_own >= DESIGN && k->n == 0) {
        return TRI_LACKS_ALL_FAILED;
    }
    if (k->n < 2 || (k->n_own < DESIGN && !is_led)) {
        return TRI_LACKS_TOO_FEW;
    }
    return k->warp.sd > 0 ? TRI_LACKS_NOTHING : TRI_LACKS_ALL_EQUAL;
}

/* [out] t->reason: a clause for it, empty where nothing is missing. */
static int may_learn(tri_thinker *t, const tri_snapshot *s)
{
    const tri_knowledge *k = &t->known;

    t->lack = find_lack(t);
    t->reason[0] = 0;
    switch (t->lack) {
    case TRI_LACKS_ALL_FAILED:
        snprintf(t->reason, sizeof t->reason,
                 "nothing to learn from: all %d that ended failed", k->n_own);
        break;
    case TRI_LACKS_TOO_FEW:
        snprintf(t->reason, sizeof t->reason,
                 "too few results yet: %d, of %d configurations; the first %d "
                 "are %s",
                 k->n, k->n_own, DESIGN,
                 tri_snapshot_is_ladder(s) ? "drawn at random" : "spread out");
        break;
    case TRI_LACKS_ALL_EQUAL:
        snprintf(t->reason, sizeof t->reason,
                 "nothing to learn from: all %d results are equal", k->n);
        break;
    case TRI_LACKS_NOTHING:
        break;
    }
    return t->lack == TRI_LACKS_NOTHING;
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
    TRI_TRY(read_sources(t));
    TRI_TRY(recall(t));
    if (may_learn(t, s)) {
        TRI_TRY(learn_values(t, s));
    } else {
        forget_models(t);
        t->learned_n = t->calibrated_n = 0;
    }
    return t->known.n_labels > 0 ? learn_failures(t, s) : TRI_OK;
}

/* ---- answering ---- */

tri_status tri_thinker_answer(tri_thinker *t, const tri_snapshot *snapshot,
                              const tri_cancel *cancel, tri_ev_proposals *out)
{
    int wanted =
            snapshot->wanted < WANTED_MOST ? snapshot->wanted : WANTED_MOST;
    tri_answer a = {0};
    tri_status st;

    t->cancel = cancel;
    st = learn(t, snapshot);
    if (st == TRI_OK && !tri_is_cancelled(cancel)) {
        st = tri_thinker_refresh(t, snapshot);
    }
    a.choices = calloc((size_t)wanted + 1, sizeof *a.choices);
    a.rules = calloc((size_t)wanted + 1, sizeof *a.rules);
    if (st == TRI_OK && (!a.choices || !a.rules)) {
        st = TRI_FAIL(TRI_ENOMEM, "no memory for proposals");
    }
    if (st == TRI_OK && !tri_is_cancelled(cancel)) {
        st = tri_thinker_decide(t, snapshot, cancel, &a, wanted);
    }
    if (st == TRI_OK) {
        st = tri_thinker_tell(t, snapshot, &a, out);
    }
    t->cancel = NULL;
    free(a.choices);
    free(a.rules);
    return st;
}

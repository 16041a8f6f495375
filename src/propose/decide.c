/*
 * What to try: the pool, and what is chosen of it by which rule.
 */
#include "src/base/ranked.h"
#include "src/propose/thinker.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Random candidates of which the farthest is taken. */
#define DESIGN_TRIES 50
/* Of the results, where the best that the model believes is looked for. */
#define LOWEST 128
/* Of the best, whose neighbours are looked at in a large space. */
#define NEAR 10

/* ---- the pool ----------------------------------------------------------- */

/* The best records, for their neighbours. */
static tri_status best_of(const tri_thinker *t, const tri_snapshot *s,
                          const tri_config **near, int *n)
{
    double sign = t->study->objective.maximize ? -1 : 1;
    tri_ranked *list = malloc(((size_t)s->n_records + 1) * sizeof *list);
    int m = 0;

    if (!list) {
        return TRI_FAIL(TRI_ENOMEM, "no memory to think");
    }
    for (int i = 0; i < s->n_records; i++) {
        if (!s->records[i].failed && isfinite(s->records[i].objective)) {
            list[m++] = (tri_ranked){sign * s->records[i].objective, i};
        }
    }
    tri_ranked_sort(list, m);
    for (*n = 0; *n < NEAR && *n < m; ++*n) {
        near[*n] = s->records[list[*n].at].config;
    }
    free(list);
    return TRI_OK;
}

tri_status tri_thinker_refresh(tri_thinker *t, const tri_snapshot *s)
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

/* ---- the answer --------------------------------------------------------- */

static void add(tri_thinker *t, tri_answer *a, int64_t at, const char *rule)
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

static int may_fail(const tri_thinker *t, const tri_snapshot *s)
{
    return t->feasible && (t->known.n_failed > 0 || s->memory_bytes > 0);
}

static tri_status add_random(tri_thinker *t, const tri_snapshot *s,
                             tri_answer *a, int n, const tri_caution *c)
{
    tri_rng rng =
            tri_rng_stream(t->seed, (uint64_t)s->number << 1, TRI_RNG_RANDOM);

    for (int i = 0; i < n; i++) {
        int64_t at;

        TRI_TRY(tri_caution_random(c, &t->pool, &rng, &at));
        if (at >= 0) {
            add(t, a, at, "random");
        }
    }
    return TRI_OK;
}

static tri_status add_design(tri_thinker *t, const tri_snapshot *s,
                             tri_answer *a, int n)
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
    tri_ranked *list = malloc(((size_t)k->n + 1) * sizeof *list);
    double *x = malloc(LOWEST * (w + 1) * sizeof *x);
    double *mean = x ? x + LOWEST * w : NULL;
    int n = k->n < LOWEST ? k->n : LOWEST;

    if (!list || !x) {
        free(list);
        free(x);
        return TRI_FAIL(TRI_ENOMEM, "no memory to think");
    }
    tri_rank(k->y, k->n, list);
    for (int i = 0; i < n; i++) {
        memcpy(x + (size_t)i * w, k->x + (size_t)list[i].at * w, w * sizeof *x);
    }
    t->of->predict(tri_thinker_asked(t), x, n, t->resource, mean, NULL);
    *best = INFINITY;
    for (int i = 0; i < n; i++) {
        *best = fmin(*best, mean[i]);
    }
    free(list);
    free(x);
    return TRI_OK;
}

/* What is under way counts as believed: as samples, and *best is no worse than
 * what it promises. */
static tri_status believe_pending(tri_thinker *t, const tri_snapshot *s,
                                  double *best)
{
    double mean;
    double *x = malloc(((size_t)t->pool.width + 1) * sizeof *x);
    tri_status st = x ? TRI_OK : TRI_FAIL(TRI_ENOMEM, "no memory to think");

    for (int i = 0; st == TRI_OK && t->of->add && i < s->n_pending; i++) {
        tri_encode(t->encoding, s->pending[i], x);
        t->of->predict(tri_thinker_asked(t), x, 1, t->resource, &mean, NULL);
        *best = fmin(*best, mean);
        st = t->of->add(tri_thinker_asked(t), x, mean, t->resource);
    }
    free(x);
    return st;
}

static const char *rule_of(tri_acquisition a)
{
    return a == TRI_ACQ_UCB ? "ucb" : a == TRI_ACQ_THOMPSON ? "thompson" : "ei";
}

static tri_status add_best(tri_thinker *t, const tri_snapshot *s,
                           const tri_cancel *cancel, tri_answer *a, int n,
                           const tri_caution *c)
{
    int size = t->of->size(tri_thinker_asked(t));
    int found = 0;
    tri_belief_model m = {.ops = t->of,
                          .model = tri_thinker_asked(t),
                          .feasible = c->feasible,
                          .risk = c->risk,
                          .resource = t->resource};
    tri_status st = believed_best(t, &m.best);

    if (st == TRI_OK) {
        st = believe_pending(t, s, &m.best);
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
        t->of->truncate(tri_thinker_asked(t), size);
    }
    for (int i = 0; i < found; i++) {
        a->rules[a->n + i] =
                t->reinforce ? "reinforce" : rule_of(t->acquisition);
    }
    a->n += found;
    return st;
}

static tri_status add_children(tri_thinker *t, const tri_snapshot *s,
                               tri_answer *a, int n, const tri_caution *c)
{
    int64_t at[WANTED_MOST];
    int children = 0;
    int found = 0;

    TRI_TRY(tri_evolve(&t->pool, s, t->study->objective.maximize, c, t->seed, n,
                       at, &children, &found));
    for (int i = 0; i < found; i++) {
        add(t, a, at[i], i < children ? "evolution" : "random");
    }
    return TRI_OK;
}

/* Some of what earlier studies say is best. */
static tri_status add_trusted(tri_thinker *t, tri_answer *a,
                              const tri_turns *turns)
{
    int64_t at[WANTED_MOST];
    int found = 0;

    if (turns->n[TRI_TURN_TRUSTED] > 0) {
        TRI_TRY(tri_transfer_best(t->transfer, &t->pool, t->resource, &t->known,
                                  turns->trusted_before,
                                  turns->n[TRI_TURN_TRUSTED], at, &found));
    }
    for (int i = 0; i < found; i++) {
        add(t, a, at[i], "warm");
    }
    return TRI_OK;
}

/* Before there is a model.  The farthest from each other stand at the ends of
 * all ranges, where little learns; on a ladder a share of them goes on whatever
 * they are worth, since the first are judged by each other only.  There the
 * first are drawn by chance. */
static tri_status add_first(tri_thinker *t, const tri_snapshot *s,
                            tri_answer *a, int n, const tri_caution *c)
{
    return t->lack == TRI_LACKS_TOO_FEW && tri_snapshot_is_ladder(s)
                   ? add_random(t, s, a, n, c)
                   : add_design(t, s, a, n);
}

/* Those that neither earlier studies nor the dice choose. */
static tri_status add_led(tri_thinker *t, const tri_snapshot *s,
                          const tri_cancel *cancel, tri_answer *a, int n,
                          const tri_caution *c)
{
    if (t->is_evolution) {
        return add_children(t, s, a, n, c);
    }
    return t->model ? add_best(t, s, cancel, a, n, c)
                    : add_first(t, s, a, n, c);
}

tri_status tri_thinker_decide(tri_thinker *t, const tri_snapshot *s,
                              const tri_cancel *cancel, tri_answer *a,
                              int wanted)
{
    tri_caution c = {.feasible = may_fail(t, s) ? t->feasible : NULL};
    int from[TRI_TURN_KINDS] = {0};
    int n[TRI_TURN_KINDS] = {0};
    tri_turns turns;

    tri_turns_assign(t, s, wanted, &turns);
    TRI_TRY(add_trusted(t, a, &turns));
    n[TRI_TURN_TRUSTED] = from[TRI_TURN_LED] = a->n;
    wanted -= a->n;
    TRI_TRY(tri_risk(c.feasible, t->encoding, s, wanted, &c.risk));
    TRI_TRY(add_led(t, s, cancel, a, wanted - turns.n[TRI_TURN_RANDOM], &c));
    from[TRI_TURN_RANDOM] = a->n;
    n[TRI_TURN_LED] = a->n - from[TRI_TURN_LED];
    TRI_TRY(add_random(t, s, a, turns.n[TRI_TURN_RANDOM], &c));
    n[TRI_TURN_RANDOM] = a->n - from[TRI_TURN_RANDOM];
    return tri_turns_arrange(&turns, from, n, a);
}

/*
 * Sums of a simulation.
 */
#include "src/sim/score.h"

#include "src/base/grow.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double shares[3] = {0.01, 0.02, 0.05};

void tri_score_init(tri_score *s, int maximize, double optimum, int64_t top)
{
    memset(s, 0, sizeof *s);
    s->sign = maximize ? -1 : 1;
    s->top = top;
    s->result.best = NAN;
    s->result.best_trial = -1;
    s->result.optimum = optimum;
    s->result.end_status = -1;
    for (int i = 0; i < 3; i++) {
        s->result.evaluations_to[i] = -1;
        s->result.rank_seconds_to[i] = NAN;
    }
}

void tri_score_fini(tri_score *s)
{
    free(s->seen);
    free(s->result.history);
    s->seen = NULL;
    s->result.history = NULL;
}

void tri_score_advance(tri_score *s, double now_s)
{
    s->result.rank_seconds += (double)s->busy * (now_s - s->now_s);
    s->result.virtual_s = now_s;
    s->now_s = now_s;
}

static tri_status grow_seen(tri_score *s, int64_t trial)
{
    int64_t n = s->n_seen ? s->n_seen : 64;
    unsigned char *seen;

    if (trial < s->n_seen) {
        return TRI_OK;
    }
    while (n <= trial) {
        n *= 2;
    }
    seen = realloc(s->seen, (size_t)n);
    if (seen == NULL) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for %lld trials", (long long)n);
    }
    memset(seen + s->n_seen, 0, (size_t)(n - s->n_seen));
    s->seen = seen;
    s->n_seen = n;
    return TRI_OK;
}

static tri_status grow_history(tri_score *s)
{
    int64_t n = s->capacity ? 2 * s->capacity : 64;
    tri_sim_point *history;

    if (s->result.n_history < s->capacity) {
        return TRI_OK;
    }
    history = tri_rows_grow(s->result.history,
                            (size_t)s->result.n_history * sizeof *history,
                            (size_t)n * sizeof *history);
    if (history == NULL) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a history of %lld runs",
                        (long long)n);
    }
    s->result.history = history;
    s->capacity = n;
    return TRI_OK;
}

/* A result after more resource than any before stands for all of those. */
static void note_best(tri_score *s, int64_t trial, int64_t resource,
                      double objective)
{
    tri_sim_result *r = &s->result;
    int further = resource > s->most;

    if (isnan(objective) || resource < s->most) {
        return;
    }
    if (further || isnan(r->best) || s->sign * objective < s->sign * r->best) {
        s->most = resource;
        r->best = objective;
        r->best_trial = trial;
    }
}

/* Within a share of the optimum, on the better side of the limit. */
static void note_close(tri_score *s, double objective)
{
    tri_sim_result *r = &s->result;

    for (int i = 0; i < 3; i++) {
        double limit = s->sign * r->optimum + shares[i] * fabs(r->optimum);

        if (r->evaluations_to[i] < 0 && s->sign * objective <= limit) {
            r->evaluations_to[i] = r->distinct;
            r->rank_seconds_to[i] = r->rank_seconds;
        }
    }
}

tri_status tri_score_add(tri_score *s, int64_t trial, int rung,
                         int64_t resource, double objective)
{
    int final = resource >= s->top;
    tri_sim_result *r = &s->result;

    TRI_TRY(grow_seen(s, trial));
    TRI_TRY(grow_history(s));
    r->distinct += !s->seen[trial];
    s->seen[trial] = 1;
    r->evaluations++;
    note_best(s, trial, final && s->top > 0 ? s->top : resource, objective);
    if (final) {
        note_close(s, objective);
    }
    r->history[r->n_history++] = (tri_sim_point){
            r->evaluations, s->now_s, trial, rung, objective, r->best};
    return TRI_OK;
}

void tri_score_take(tri_score *s, tri_sim_result *out)
{
    *out = s->result;
    s->result.history = NULL;
}

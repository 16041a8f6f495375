/*
 * The course of a search, recorded or simulated: how many configurations and
 * rank-seconds until one was within a share of the best.  Both are judged by
 * the same words: of the search's own runs, each known after what was measured.
 */
#include "src/app/what_if.h"

#include <math.h>
#include <stdlib.h>

#define SHARES TRI_WHAT_IF_SHARES

static const double limits[SHARES] = {0.01, 0.02, 0.05};

tri_status tri_what_if_way_init(tri_what_if_way *w, int repeats)
{
    size_t n = (size_t)repeats;

    w->numbers = calloc((2 * SHARES + 5) * n, sizeof *w->numbers);
    if (!w->numbers) {
        return TRI_FAIL(TRI_ENOMEM, "no memory to compare");
    }
    for (size_t i = 0; i < SHARES; i++) {
        w->evaluations[i] = w->numbers + i * n;
        w->rank_s[i] = w->numbers + (SHARES + i) * n;
    }
    w->runs = w->numbers + 2 * SHARES * n;
    w->all_rank_s = w->runs + n;
    w->virtual_s = w->all_rank_s + n;
    w->best = w->virtual_s + n;
    w->best_at = w->best + n;
    return TRI_OK;
}

/* ---- the course of a search -------------------------------------------- */

typedef struct ended {
    double end_s, objective;
    int64_t trial, resource; /* that it is known after */
} ended;

static int by_end(const void *a, const void *b)
{
    const ended *x = a;
    const ended *y = b;

    return x->end_s != y->end_s ? (x->end_s > y->end_s) - (x->end_s < y->end_s)
                                : (x->trial > y->trial) - (x->trial < y->trial);
}

/* Rank-seconds that runs of the search held until then. */
static double rank_seconds_until(const tri_ctl *ctl, double time_s)
{
    double sum = 0;

    for (int64_t i = 0; i < tri_ctl_n_runs(ctl); i++) {
        tri_run_view r;
        double end;

        tri_ctl_run(ctl, i, &r);
        end = isnan(r.end_s) || r.end_s > time_s ? time_s : r.end_s;
        if (r.phase == TRI_PHASE_SEARCH && end > r.start_s) {
            sum += (end - r.start_s) * r.n_ranks;
        }
    }
    return sum;
}

/* What a simulated run's result is a result of: of a run that is longer than
 * was measured the longest that was stands in, a point of an unfinished curve.
 * From the top on all is one. */
static int64_t known_after(const tri_what_if_source *s, const tri_ctl *ctl,
                           const tri_run_view *r)
{
    const tri_space *space = tri_ctl_study(ctl)->space;
    int64_t at = r->resource;
    int64_t i;

    if (ctl != s->ctl && s->top_resource &&
        tri_space_index(space, tri_ctl_config(ctl, r->trial), &i) == TRI_OK &&
        s->top_resource[i] < at) {
        at = s->top_resource[i];
    }
    return s->top > 0 && at > s->top ? s->top : at;
}

/* The runs of the search that ended with a result, or failed for good. */
static int64_t list_ended(const tri_what_if_source *s, const tri_ctl *ctl,
                          ended *list)
{
    int64_t n = 0;

    for (int64_t i = 0; i < tri_ctl_n_runs(ctl); i++) {
        tri_run_view r;

        tri_ctl_run(ctl, i, &r);
        if (r.phase == TRI_PHASE_SEARCH && r.state == TRI_RUN_ENDED &&
            (!isnan(r.objective) || r.status == TRI_RUN_FAILED)) {
            list[n++] = (ended){r.end_s, r.objective, r.trial,
                                known_after(s, ctl, &r)};
        }
    }
    qsort(list, (size_t)n, sizeof *list, by_end);
    return n;
}

/* Of the results after the most resource. */
static void note_best(const tri_what_if_source *s, tri_what_if_way *w,
                      const ended *list, int64_t n)
{
    int maximize = s->study->objective.maximize;
    double best = NAN;
    int64_t most = 0;

    for (int64_t k = 0; k < n; k++) {
        int64_t at = list[k].resource;

        if (isnan(list[k].objective) || at < most) {
            continue;
        }
        best = at > most  ? list[k].objective
               : maximize ? fmax(best, list[k].objective)
                          : fmin(best, list[k].objective);
        most = at;
    }
    w->best[w->n] = best;
    w->best_at[w->n] = (double)most;
}

static void note_close(const tri_what_if_source *s, tri_what_if_way *w,
                       const tri_ctl *ctl, const ended *e, int64_t distinct)
{
    int maximize = s->study->objective.maximize;

    for (int i = 0; i < SHARES; i++) {
        double slack = limits[i] * fabs(s->best);
        int close = maximize ? e->objective >= s->best - slack
                             : e->objective <= s->best + slack;

        if (close && e->resource >= s->top && isinf(w->evaluations[i][w->n])) {
            w->evaluations[i][w->n] = (double)distinct;
            w->rank_s[i][w->n] = rank_seconds_until(ctl, e->end_s);
        }
    }
}

/* Runs that were answered by a shorter one. */
static void count_stood_in(const tri_what_if_source *s, tri_what_if_way *w,
                           const tri_ctl *ctl)
{
    const tri_space *space = tri_ctl_study(ctl)->space;

    for (int64_t i = 0; s->top_resource && i < tri_ctl_n_runs(ctl); i++) {
        tri_run_view r;
        int64_t at;

        tri_ctl_run(ctl, i, &r);
        w->all_runs++;
        if (tri_space_index(space, tri_ctl_config(ctl, r.trial), &at) ==
            TRI_OK) {
            w->stood_in += r.resource > s->top_resource[at];
        }
    }
}

tri_status tri_what_if_way_add(const tri_what_if_source *s, tri_what_if_way *w,
                               const tri_ctl *ctl)
{
    ended *list = malloc(((size_t)tri_ctl_n_runs(ctl) + 1) * sizeof *list);
    unsigned char *seen = calloc((size_t)tri_ctl_n_trials(ctl) + 1, 1);
    int64_t distinct = 0;
    tri_progress now;
    int64_t n;

    if (!list || !seen) {
        free(list);
        free(seen);
        return TRI_FAIL(TRI_ENOMEM, "no memory to compare");
    }
    for (int i = 0; i < SHARES; i++) {
        w->evaluations[i][w->n] = w->rank_s[i][w->n] = INFINITY;
    }
    n = list_ended(s, ctl, list);
    for (int64_t k = 0; k < n; k++) {
        distinct += !seen[list[k].trial];
        seen[list[k].trial] = 1;
        note_close(s, w, ctl, &list[k], distinct);
    }
    note_best(s, w, list, n);
    tri_ctl_progress(ctl, &now); /* some may run still */
    w->runs[w->n] = (double)n;
    w->virtual_s[w->n] = n > 0 ? list[n - 1].end_s : 0;
    w->all_rank_s[w->n] = rank_seconds_until(ctl, now.time_s);
    w->n++;
    if (ctl != s->ctl) {
        count_stood_in(s, w, ctl);
    }
    free(list);
    free(seen);
    return TRI_OK;
}

/*
 * Finals: the best few and the baseline, measured again alone on the pool,
 * interleaved, each repeat in an order shuffled by the seed.  Repeats are cut
 * to the time that is left, at least two; where two at the top rung would not
 * fit, a lower rung is taken, though none below what a contender has reached.
 */
#include "src/ctl/state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define REPEATS_LEAST 2

void tri_ctl_finals_reset(tri_ctl *ctl)
{
    for (int i = 0; i < ctl->finals.n; i++) {
        free(ctl->finals.list[i].values);
        free(ctl->finals.list[i].repeats);
    }
    free(ctl->finals.list);
    free(ctl->finals.order);
    free(ctl->finals.blocks);
    ctl->finals = (tri_finals){0};
}

static int baseline_runs(const tri_ctl *ctl)
{
    return ctl->study->has_baseline && ctl->n_trials &&
           tri_ctl_has_standing(ctl, 0) && ctl->trials[0].ranks <= ctl->n_up;
}

static tri_status add_contender(tri_ctl *ctl, int64_t trial)
{
    tri_finals *f = &ctl->finals;
    tri_contender *c = &f->list[f->n];

    c->trial = trial;
    c->values = calloc((size_t)f->repeats + 1, sizeof *c->values);
    c->repeats = calloc((size_t)f->repeats + 1, sizeof *c->repeats);
    f->order[f->n] = f->n;
    f->n++;
    if (!c->values || !c->repeats) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for the finals");
    }
    return TRI_OK;
}

static tri_status list_contenders(tri_ctl *ctl, int64_t *leaders, int most)
{
    tri_finals *f = &ctl->finals;
    int n = tri_ctl_leaders(ctl, leaders, most, 1);
    int has = 0;

    f->list = calloc((size_t)n + 1, sizeof *f->list);
    f->order = calloc((size_t)n + 1, sizeof *f->order);
    f->blocks = calloc(((size_t)n + 1) * ((size_t)f->repeats + 1),
                       sizeof *f->blocks);
    if (!f->list || !f->order || !f->blocks) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for the finals");
    }
    for (int i = 0; i < n; i++) {
        TRI_TRY(add_contender(ctl, leaders[i]));
        has |= leaders[i] == 0;
    }
    if (!has && baseline_runs(ctl)) {
        TRI_TRY(add_contender(ctl, 0));
    }
    return TRI_OK;
}

static void shuffle(tri_ctl *ctl)
{
    tri_finals *f = &ctl->finals;
    tri_rng rng =
            tri_rng_stream(ctl->seed, (uint64_t)f->repeat, TRI_RNG_FINALS);

    for (int i = f->n - 1; i > 0; i--) {
        int k = (int)tri_rng_below(&rng, (uint64_t)i + 1);
        int t = f->order[i];

        f->order[i] = f->order[k];
        f->order[k] = t;
    }
}

static double predicted(const tri_ctl *ctl, int contender)
{
    return tri_ctl_predict(ctl, ctl->finals.list[contender].trial,
                           (double)ctl->finals.resource, 0);
}

/* How long one repeat of all contenders is predicted to take; NaN. */
static double repeat_s(const tri_ctl *ctl)
{
    double s = 0;

    for (int i = 0; i < ctl->finals.n; i++) {
        s += predicted(ctl, i);
    }
    return s;
}

static double time_left(const tri_ctl *ctl)
{
    return tri_ctl_finals_end(ctl) - ctl->now;
}

/* The rung of the finals is the top one, if two repeats of it fit. */
static void choose_rung(tri_ctl *ctl)
{
    tri_finals *f = &ctl->finals;
    int reached = 0, top = f->rung;

    for (int i = 0; i < f->n; i++) {
        int rung = ctl->trials[f->list[i].trial].top_rung;

        reached = rung > reached ? rung : reached;
    }
    f->resource = tri_sched_resource(ctl->sched, top);
    while (f->rung > reached &&
           repeat_s(ctl) * REPEATS_LEAST > time_left(ctl)) {
        double s = repeat_s(ctl);

        f->resource = tri_sched_resource(ctl->sched, f->rung - 1);
        if (!(repeat_s(ctl) < s)) { /* all of it is the start */
            f->resource = tri_sched_resource(ctl->sched, f->rung);
            break;
        }
        f->rung--;
    }
    f->lowered = f->rung < top;
}

tri_status tri_ctl_finals_begin(tri_ctl *ctl)
{
    tri_finals *f = &ctl->finals;
    int top = ctl->study->finals.top;
    int64_t *leaders;
    int n = tri_sched_n_rungs(ctl->sched);
    tri_status st;

    tri_ctl_finals_reset(ctl);
    ctl->phase = TRI_PHASE_FINALS;
    f->begun = 1;
    TRI_TRY(tri_ctl_touch_waiting(ctl));
    f->over = top == 0;
    if (f->over) {
        return TRI_OK;
    }
    leaders = calloc((size_t)top, sizeof *leaders);
    if (!leaders) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for the finals");
    }
    f->repeats = ctl->study->finals.repeats;
    f->rung = n ? n - 1 : 0;
    for (int64_t i = 0; !n && i < ctl->n_trials; i++) {
        f->rung = ctl->trials[i].top_rung > f->rung ? ctl->trials[i].top_rung
                                                    : f->rung;
    }
    st = list_contenders(ctl, leaders, top);
    free(leaders);
    choose_rung(ctl);
    /* the baseline alone has nobody to be compared with */
    f->over = !f->n ||
              (f->n == 1 && f->list[0].trial == 0 && ctl->study->has_baseline);
    shuffle(ctl);
    return st;
}

/* How many repeats there will have been by the end of the time, of those that
 * the study wants.  A cut is no promise: predictions made from short rungs may
 * prove too long, and what time they leave is used. */
static void plan(tri_ctl *ctl)
{
    tri_finals *f = &ctl->finals;
    int wanted = ctl->study->finals.repeats;
    double left = time_left(ctl);
    double each = repeat_s(ctl);
    int fit;

    f->repeats = wanted;
    if (!(each > 0) || !(left < each * (wanted - f->repeat))) {
        return;
    }
    fit = f->repeat + (left > 0 ? (int)(left / each) : 0);
    f->repeats = fit < REPEATS_LEAST ? REPEATS_LEAST : fit;
    f->repeats = f->repeats < wanted ? f->repeats : wanted;
}

static void next_repeat(tri_ctl *ctl)
{
    ctl->finals.at = 0;
    ctl->finals.repeat++;
    shuffle(ctl);
}

static tri_status start(tri_ctl *ctl, int contender)
{
    tri_finals *f = &ctl->finals;
    int64_t run;

    if (ctl->now + predicted(ctl, contender) > tri_ctl_drain_start(ctl)) {
        return tri_ctl_end(ctl, 3, 1,
                           "the finals would not end before the "
                           "deadline");
    }
    TRI_TRY(tri_ctl_start(ctl, f->list[contender].trial, TRI_PHASE_FINALS,
                          f->rung, f->resource, &run));
    ctl->lives[ctl->runs[run].live].contender = contender;
    return TRI_OK;
}

tri_status tri_ctl_finals_next(tri_ctl *ctl, int *over)
{
    tri_finals *f = &ctl->finals;

    while (!f->over) {
        int contender;

        if (f->at == f->n) {
            next_repeat(ctl);
        }
        if (f->at == 0 && !f->retried) {
            plan(ctl);
        }
        if (f->repeat >= f->repeats) {
            f->over = 1;
            break;
        }
        contender = f->order[f->at];
        if (ctl->trials[f->list[contender].trial].ranks <= ctl->n_up) {
            *over = 0;
            return start(ctl, contender);
        }
        f->at++;
        f->retried = 0;
    }
    *over = 1;
    return TRI_OK;
}

/* Ranks were found to be slow: what was measured on them is not to be compared
 * with what is measured without them.  Once; time allows fewer repeats then. */
static void begin_again(tri_ctl *ctl)
{
    tri_finals *f = &ctl->finals;

    for (int i = 0; i < f->n; i++) {
        f->list[i].n_values = 0;
        f->list[i].reference = 0;
    }
    f->begun_again = 1;
    f->at = f->repeat = f->retried = f->done = 0;
    shuffle(ctl);
}

/* The run that was repeated elsewhere counts, and not the repeat, unless it is
 * flagged: to take whichever is better would favour it. */
static tri_status settle_suspect(tri_ctl *ctl, int64_t run, double *value)
{
    tri_finals *f = &ctl->finals;
    int64_t suspect = f->suspect - 1;

    f->suspect = 0;
    if (suspect < 0) {
        return TRI_OK;
    }
    TRI_TRY(tri_ctl_judge(ctl, suspect, isnan(*value) ? -1 : run));
    if (ctl->runs[suspect].v.slow == TRI_SLOW_NOT) {
        *value = ctl->runs[suspect].v.objective;
    }
    return TRI_OK;
}

tri_status tri_ctl_finals_result(tri_ctl *ctl, const tri_live *live,
                                 double value, int again)
{
    tri_finals *f = &ctl->finals;
    tri_contender *c = &f->list[live->contender];
    int benched = ctl->n_benched;

    if (again) {
        return TRI_OK;
    }
    TRI_TRY(settle_suspect(ctl, live->run, &value));
    if (ctl->n_benched > benched && !f->begun_again) {
        begin_again(ctl);
        return TRI_OK;
    }
    if (!isnan(value)) {
        c->reference = c->reference ? c->reference : live->run + 1;
        c->repeats[c->n_values] = f->repeat;
        c->values[c->n_values++] = value;
        f->done++;
    } else if (!f->retried) {
        f->retried = 1;
        return TRI_OK;
    }
    f->retried = 0;
    f->at++;
    return TRI_OK;
}

tri_status tri_ctl_finals_finished(tri_ctl *ctl, const tri_live *live)
{
    tri_run_row *r = &ctl->runs[live->run];

    if (tri_ctl_finals_suspects(ctl, r)) {
        tri_ctl_finals_suspect(ctl, r);
        return tri_ctl_finals_result(ctl, live, NAN, 1);
    }
    return tri_ctl_finals_result(ctl, live, r->v.objective, 0);
}

/*
 * The answer: who stands where, and whether the winner really is better than
 * the baseline.  Pooled repeats of the finals where there are some, results of
 * the search otherwise.
 */
#include "src/ctl/state.h"

#include "trireme/num.h"
#include "trireme/stats.h"

#include <math.h>

#define LEVEL 0.95

int tri_ctl_has_standing(const tri_ctl *ctl, int64_t trial)
{
    const tri_trial_row *t = &ctl->trials[trial];

    return t->place != TRI_PLACE_FAILED && t->top_rung >= 0;
}

int tri_ctl_better(const tri_ctl *ctl, int64_t a, int64_t b)
{
    const tri_trial_row *x = &ctl->trials[a], *y = &ctl->trials[b];

    if (ctl->study->objective.learned && x->top_rung != y->top_rung) {
        return x->top_rung > y->top_rung;
    }
    if (x->objective < y->objective || x->objective > y->objective) {
        return (x->objective > y->objective) == ctl->study->objective.maximize;
    }
    return a < b;
}

/* Insert into the sorted list of at most max; returns its length. */
static int insert(const tri_ctl *ctl, int64_t *list, int n, int max,
                  int64_t trial)
{
    int at = n;

    if (n == max && !tri_ctl_better(ctl, trial, list[n - 1])) {
        return n;
    }
    at -= n == max;
    for (; at && tri_ctl_better(ctl, trial, list[at - 1]); at--) {
        list[at] = list[at - 1];
    }
    list[at] = trial;
    return n < max ? n + 1 : n;
}

int tri_ctl_leaders(const tri_ctl *ctl, int64_t *out, int max, int fitting)
{
    int n = 0;

    for (int64_t i = 0; max > 0 && i < ctl->n_trials; i++) {
        if (tri_ctl_has_standing(ctl, i) &&
            (!fitting || ctl->trials[i].ranks <= ctl->n_up)) {
            n = insert(ctl, out, n, max, i);
        }
    }
    return n;
}

void tri_ctl_find_best(tri_ctl *ctl)
{
    if (!tri_ctl_leaders(ctl, &ctl->best, 1, 0)) {
        ctl->best = -1;
    }
}

static int all_positive(const double *x, int n)
{
    for (int i = 0; i < n; i++) {
        if (!(x[i] > 0)) {
            return 0;
        }
    }
    return 1;
}

/* Mean and the square of its standard error. */
static void mean_of(const double *x, int n, int logs, double *mean,
                    double *error2)
{
    double sum = 0, squares = 0;

    for (int i = 0; i < n; i++) {
        sum += logs ? tri_log(x[i]) : x[i];
    }
    *mean = sum / n;
    for (int i = 0; i < n; i++) {
        double d = (logs ? tri_log(x[i]) : x[i]) - *mean;

        squares += d * d;
    }
    *error2 = n > 1 ? squares / (n - 1) / n : NAN;
}

void tri_ctl_pool_repeats(const double *x, int n, tri_standing *out)
{
    int logs = all_positive(x, n);
    double mean, error2, half;

    out->repeats = n;
    out->objective = out->lo = out->hi = NAN;
    if (!n) {
        return;
    }
    mean_of(x, n, logs, &mean, &error2);
    out->objective = logs ? tri_exp(mean) : mean;
    if (n < 2) {
        return;
    }
    half = tri_student_quantile(LEVEL, n - 1) * sqrt(error2);
    out->lo = logs ? tri_exp(mean - half) : mean - half;
    out->hi = logs ? tri_exp(mean + half) : mean + half;
}

/* ---- challengers against the baseline ------------------------------------ */

typedef struct comparison {
    tri_interval ratio; /* > 1 is better; NaN where values are not positive */
    int significant;
} comparison;

/* Welch's t on the values as they are: for objectives that have no ratio. */
static int differs(const tri_contender *a, const tri_contender *b, int maximize)
{
    double ma, ea, mb, eb, dof;

    if (a->n_values < 2 || b->n_values < 2) {
        return 0;
    }
    mean_of(a->values, a->n_values, 0, &ma, &ea);
    mean_of(b->values, b->n_values, 0, &mb, &eb);
    if (!(ea + eb > 0)) {
        return maximize ? ma > mb : ma < mb;
    }
    dof = (ea + eb) * (ea + eb) /
          (ea * ea / (a->n_values - 1) + eb * eb / (b->n_values - 1));
    return (maximize ? ma - mb : mb - ma) >
           tri_student_quantile(LEVEL, dof) * sqrt(ea + eb);
}

static comparison compare(const tri_ctl *ctl, const tri_contender *c,
                          const tri_contender *base)
{
    int maximize = ctl->study->objective.maximize;
    const tri_contender *a = maximize ? c : base;
    const tri_contender *b = maximize ? base : c;
    comparison out = {{NAN, NAN, NAN}, 0};

    if (!all_positive(a->values, a->n_values) ||
        !all_positive(b->values, b->n_values)) {
        out.significant = differs(c, base, maximize);
        return out;
    }
    if (a->n_values && b->n_values) {
        out.ratio = tri_ratio_interval(a->values, a->n_values, b->values,
                                       b->n_values);
    }
    out.significant = out.ratio.lo > 1;
    return out;
}

static void stand(const tri_ctl *ctl, const tri_contender *c, tri_standing *out)
{
    *out = (tri_standing){.trial = c->trial,
                          .ranks = ctl->trials[c->trial].ranks};
    tri_ctl_pool_repeats(c->values, c->n_values, out);
}

static int ahead(const tri_ctl *ctl, const tri_standing *a,
                 const tri_standing *b)
{
    if (!(a->objective < b->objective || a->objective > b->objective)) {
        return !isnan(a->objective) &&
               (isnan(b->objective) || a->trial < b->trial);
    }
    return (a->objective > b->objective) == ctl->study->objective.maximize;
}

static const tri_contender *base_of(const tri_ctl *ctl)
{
    const tri_finals *f = &ctl->finals;

    for (int i = 0; ctl->study->has_baseline && i < f->n; i++) {
        if (f->list[i].trial == 0) {
            return f->list[i].n_values ? &f->list[i] : NULL;
        }
    }
    return NULL;
}

static void answer_of_finals(const tri_ctl *ctl, tri_answer *out)
{
    const tri_finals *f = &ctl->finals;
    const tri_contender *base = base_of(ctl);
    comparison none = {{NAN, NAN, NAN}, 0}, best = none;

    out->finals = 1;
    if (base) {
        stand(ctl, base, &out->baseline);
        out->winner = out->baseline;
        best.ratio = (tri_interval){1, 1, 1};
    }
    for (int i = 0; i < f->n; i++) {
        const tri_contender *c = &f->list[i];
        comparison with = base && c != base ? compare(ctl, c, base) : none;
        tri_standing s;

        stand(ctl, c, &s);
        if (c == base || !c->n_values || (base && !with.significant)) {
            continue;
        }
        if (out->winner.trial < 0 || out->winner.trial == out->baseline.trial ||
            ahead(ctl, &s, &out->winner)) {
            out->winner = s;
            best = with;
        }
    }
    out->speedup = best.ratio.value;
    out->lo = best.ratio.lo;
    out->hi = best.ratio.hi;
    out->significant = best.significant;
}

static tri_standing standing_of(const tri_ctl *ctl, int64_t trial)
{
    const tri_trial_row *t = &ctl->trials[trial];

    return (tri_standing){.trial = trial,
                          .objective = t->objective,
                          .lo = t->lo,
                          .hi = t->hi,
                          .ranks = t->ranks,
                          .repeats = 1};
}

static int has_finals(const tri_ctl *ctl)
{
    for (int i = 0; i < ctl->finals.n; i++) {
        if (ctl->finals.list[i].n_values) {
            return 1;
        }
    }
    return 0;
}

void tri_ctl_answer(const tri_ctl *ctl, tri_answer *out)
{
    tri_standing nobody = {-1, NAN, NAN, NAN, 0, 0};

    *out = (tri_answer){.winner = nobody,
                        .baseline = nobody,
                        .speedup = NAN,
                        .lo = NAN,
                        .hi = NAN};
    if (!ctl->study) {
        return;
    }
    if (has_finals(ctl)) {
        answer_of_finals(ctl, out);
        return;
    }
    if (ctl->best >= 0) {
        out->winner = standing_of(ctl, ctl->best);
    }
    if (ctl->study->has_baseline && ctl->n_trials &&
        tri_ctl_has_standing(ctl, 0)) {
        out->baseline = standing_of(ctl, 0);
    }
}

/* The contenders with values, best first. */
static int top_of_finals(const tri_ctl *ctl, tri_standing *out, int max)
{
    int n = 0;

    for (int i = 0; max > 0 && i < ctl->finals.n; i++) {
        tri_standing s;
        int at;

        stand(ctl, &ctl->finals.list[i], &s);
        if (!s.repeats || (n == max && !ahead(ctl, &s, &out[n - 1]))) {
            continue;
        }
        n += n < max;
        for (at = n - 1; at && ahead(ctl, &s, &out[at - 1]); at--) {
            out[at] = out[at - 1];
        }
        out[at] = s;
    }
    return n;
}

static int is_listed(const tri_standing *list, int n, int64_t trial)
{
    for (int i = 0; i < n; i++) {
        if (list[i].trial == trial) {
            return 1;
        }
    }
    return 0;
}

/* The best trial that is not listed yet and behind `after`; -1. */
static int64_t next_best(const tri_ctl *ctl, const tri_standing *list, int n)
{
    int64_t best = -1;

    for (int64_t i = 0; i < ctl->n_trials; i++) {
        if (tri_ctl_has_standing(ctl, i) && !is_listed(list, n, i) &&
            (best < 0 || tri_ctl_better(ctl, i, best))) {
            best = i;
        }
    }
    return best;
}

int tri_ctl_top(const tri_ctl *ctl, tri_standing *out, int max)
{
    int n = ctl->study ? top_of_finals(ctl, out, max) : 0;

    while (ctl->study && n < max) {
        int64_t trial = next_best(ctl, out, n);

        if (trial < 0) {
            break;
        }
        out[n++] = standing_of(ctl, trial);
    }
    return n;
}

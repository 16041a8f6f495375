/*
 * The answer: who stands where, and whether the winner really is better than
 * the baseline.  Pooled repeats of the finals where there are some, results of
 * the search otherwise.
 */
#include "src/ctl/state.h"

#include "trireme/stats.h"

#include <math.h>

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

/* The noise that all contenders share; ratios where every value allows it. */
static tri_pooled noise_of(const tri_finals *f)
{
    tri_pooled p;
    int logs = 1;

    for (int i = 0; i < f->n; i++) {
        logs = logs && all_positive(f->list[i].values, f->list[i].n_values);
    }
    tri_pooled_init(&p, logs);
    for (int i = 0; i < f->n; i++) {
        if (f->list[i].n_values) {
            tri_pooled_add(&p, f->list[i].values, f->list[i].n_values);
        }
    }
    return p;
}

/* ---- challengers against the baseline ------------------------------------ */

/* What challengers are compared by: whole repeats, in which everybody was
 * measured in turn, if there are two; else every value. */
typedef struct evidence {
    tri_pooled noise;
    const double *blocks; /* n_blocks a contender; NULL: by their values */
    int n_blocks;
} evidence;

static const double *value_in(const tri_contender *c, int repeat)
{
    for (int i = 0; i < c->n_values; i++) {
        if (c->repeats[i] == repeat) {
            return &c->values[i];
        }
    }
    return NULL;
}

static int is_whole(const tri_finals *f, int repeat)
{
    for (int i = 0; i < f->n; i++) {
        if (!value_in(&f->list[i], repeat)) {
            return 0;
        }
    }
    return 1;
}

static evidence evidence_of(const tri_finals *f)
{
    evidence a = {.noise = noise_of(f)};
    int n = 0;

    for (int r = 0; r <= f->repeat; r++) {
        n += is_whole(f, r);
    }
    if (n < 2 || f->n < 2) {
        return a;
    }
    for (int r = 0, at = 0; r <= f->repeat; r++) {
        for (int i = 0; is_whole(f, r) && i < f->n; i++) {
            f->blocks[i * n + at] = *value_in(&f->list[i], r);
        }
        at += is_whole(f, r);
    }
    tri_pooled_init(&a.noise, a.noise.logs);
    tri_pooled_add_blocks(&a.noise, f->blocks, f->n, n);
    a.blocks = f->blocks;
    a.n_blocks = n;
    return a;
}

static tri_interval contrast(const evidence *in, const tri_finals *f,
                             const tri_contender *a, const tri_contender *b)
{
    if (in->blocks) {
        return tri_pooled_contrast(
                &in->noise, in->blocks + (a - f->list) * in->n_blocks,
                in->n_blocks, in->blocks + (b - f->list) * in->n_blocks,
                in->n_blocks);
    }
    return tri_pooled_contrast(&in->noise, a->values, a->n_values, b->values,
                               b->n_values);
}

typedef struct comparison {
    tri_interval ratio; /* > 1 is better; NaN where values are not positive */
    int significant;
} comparison;

static comparison compare(const tri_ctl *ctl, const evidence *in,
                          const tri_contender *c, const tri_contender *base)
{
    int maximize = ctl->study->objective.maximize;
    const tri_contender *a = maximize ? c : base;
    const tri_contender *b = maximize ? base : c;
    tri_interval between = contrast(in, &ctl->finals, a, b);
    comparison out = {{NAN, NAN, NAN}, between.lo > (in->noise.logs ? 1 : 0)};

    if (in->noise.logs) {
        out.ratio = between;
    }
    return out;
}

static void stand(const tri_ctl *ctl, const tri_pooled *noise,
                  const tri_contender *c, tri_standing *out)
{
    tri_interval mean = tri_pooled_mean(noise, c->values, c->n_values);

    *out = (tri_standing){.trial = c->trial,
                          .objective = mean.value,
                          .lo = mean.lo,
                          .hi = mean.hi,
                          .ranks = ctl->trials[c->trial].ranks,
                          .repeats = c->n_values,
                          .finals = 1,
                          .resource = ctl->finals.resource};
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

/* Challengers that are significantly better come before those that are not,
 * then the better mean. */
static void answer_of_finals(const tri_ctl *ctl, tri_answer *out)
{
    const tri_finals *f = &ctl->finals;
    const tri_contender *base = base_of(ctl);
    tri_pooled noise = noise_of(f);
    evidence in = evidence_of(f);
    comparison none = {{NAN, NAN, NAN}, 0}, best = none;

    out->finals = 1;
    for (int i = 0; i < f->n; i++) {
        const tri_contender *c = &f->list[i];
        comparison with = base && c != base ? compare(ctl, &in, c, base) : none;
        tri_standing s;

        if (c == base || !c->n_values || with.significant < best.significant) {
            continue;
        }
        stand(ctl, &noise, c, &s);
        if (out->challenger.trial < 0 || with.significant > best.significant ||
            ahead(ctl, &s, &out->challenger)) {
            out->challenger = s;
            best = with;
        }
    }
    out->winner = out->challenger;
    if (base) {
        stand(ctl, &noise, base, &out->baseline);
        out->winner = best.significant ? out->challenger : out->baseline;
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
                          .repeats = 1,
                          .resource =
                                  tri_sched_resource(ctl->sched, t->top_rung)};
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
    tri_standing nobody = {.trial = -1, .objective = NAN, .lo = NAN, .hi = NAN};

    *out = (tri_answer){.winner = nobody,
                        .baseline = nobody,
                        .challenger = nobody,
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
    tri_pooled noise = noise_of(&ctl->finals);
    int n = 0;

    for (int i = 0; max > 0 && i < ctl->finals.n; i++) {
        tri_standing s;
        int at;

        stand(ctl, &noise, &ctl->finals.list[i], &s);
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

/* ---- by ranks ------------------------------------------------------------ */

/* What a trial gave: in the finals, else in the search. */
static tri_standing value_of(const tri_ctl *ctl, const tri_pooled *noise,
                             int64_t trial)
{
    for (int i = 0; i < ctl->finals.n; i++) {
        if (ctl->finals.list[i].trial == trial) {
            tri_standing s;

            stand(ctl, noise, &ctl->finals.list[i], &s);
            if (s.repeats) {
                return s;
            }
        }
    }
    return standing_of(ctl, trial);
}

/* The answer itself is ahead of whatever was measured once. */
static int goes_before(const tri_ctl *ctl, const tri_standing *a,
                       const tri_standing *b, int64_t winner)
{
    if (a->trial == winner || b->trial == winner) {
        return a->trial == winner;
    }
    if (a->objective < b->objective || a->objective > b->objective) {
        return (a->objective > b->objective) == ctl->study->objective.maximize;
    }
    return a->trial < b->trial;
}

static int64_t winner_of(const tri_ctl *ctl)
{
    tri_answer a;

    tri_ctl_answer(ctl, &a);
    return a.finals ? a.winner.trial : -1;
}

int tri_ctl_top_on(const tri_ctl *ctl, int ranks, tri_standing *out, int max)
{
    tri_pooled noise = noise_of(&ctl->finals);
    int64_t winner = winner_of(ctl);
    int n = 0;

    for (int64_t i = 0; max > 0 && i < ctl->n_trials; i++) {
        tri_standing s;
        int at;

        if (ctl->trials[i].ranks != ranks || !tri_ctl_has_standing(ctl, i)) {
            continue;
        }
        s = value_of(ctl, &noise, i);
        if (n == max && !goes_before(ctl, &s, &out[n - 1], winner)) {
            continue;
        }
        n += n < max;
        for (at = n - 1; at && goes_before(ctl, &s, &out[at - 1], winner);
             at--) {
            out[at] = out[at - 1];
        }
        out[at] = s;
    }
    return n;
}

/* Where `ranks` stands, or would, in a list by their number. */
static int place_of(const tri_standing *list, int n, int ranks)
{
    int lo = 0;

    while (lo < n) {
        int mid = lo + (n - lo) / 2;

        if (list[mid].ranks < ranks) {
            lo = mid + 1;
        } else {
            n = mid;
        }
    }
    return lo;
}

/* Make room at `at` in a list of at most max; returns its length. */
static int make_room(tri_standing *list, int n, int max, int at)
{
    n += n < max;
    for (int i = n - 1; i > at; i--) {
        list[i] = list[i - 1];
    }
    return n;
}

int tri_ctl_by_ranks(const tri_ctl *ctl, tri_standing *out, int max)
{
    tri_pooled noise = noise_of(&ctl->finals);
    int64_t winner = winner_of(ctl);
    int n = 0;

    for (int64_t i = 0; i < ctl->n_trials; i++) {
        tri_standing s;
        int at;

        if (!tri_ctl_has_standing(ctl, i)) {
            continue;
        }
        s = value_of(ctl, &noise, i);
        at = place_of(out, n, s.ranks);
        if (at < n && out[at].ranks == s.ranks) {
            out[at] = goes_before(ctl, &s, &out[at], winner) ? s : out[at];
        } else if (at < max) {
            n = make_room(out, n, max, at);
            out[at] = s;
        }
    }
    return n;
}

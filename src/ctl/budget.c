/*
 * Budgets: trials, runs, time, and the predictions of how long a run takes by
 * which time is kept.  Decides what may start, never what should.
 *
 * A run is predicted from the seconds that a unit of resource took in the same
 * trial's last run, else in the median run of the study, and the median cost
 * of starting.  Before the first finished run nothing is predicted.
 */
#include "src/ctl/state.h"

#include <math.h>
#include <string.h>

#define ANSWER_S      5.0
#define RESERVE_LEAST 0.15
#define RESERVE_MOST  0.40
/* Of a job's time, for what runs have to finish in a drain. */
#define DRAIN_MOST 0.10

double tri_ctl_predict(const tri_ctl *ctl, int64_t trial, double length,
                       int in_place)
{
    double unit = trial >= 0 ? ctl->trials[trial].unit_s : NAN;
    double start = tri_running_median_value(&ctl->start_s);

    if (isnan(unit)) {
        unit = tri_running_median_value(&ctl->unit_s);
    }
    return unit * length + (in_place || isnan(start) ? 0 : start);
}

/* Whether there is any time by which something has to end. */
static int is_limited(const tri_ctl *ctl)
{
    return !isnan(ctl->deadline_s) || !isnan(ctl->max_time_s) ||
           ctl->study->budget.time_s != TRI_UNLIMITED;
}

double tri_ctl_foresee(const tri_ctl *ctl, int64_t trial, double length,
                       int in_place)
{
    return ctl->head >= 0 || is_limited(ctl)
                   ? tri_ctl_predict(ctl, trial, length, in_place)
                   : NAN;
}

double tri_ctl_length(const tri_ctl *ctl, int64_t trial, int rung)
{
    const tri_trial_row *t = trial >= 0 ? &ctl->trials[trial] : NULL;
    int64_t all = tri_sched_resource(ctl->sched, rung);

    if (t && ctl->study->objective.learned && *t->checkpoint &&
        t->checkpoint_rung < rung) {
        all -= tri_sched_resource(ctl->sched, t->checkpoint_rung);
    }
    return (double)all;
}

int tri_ctl_may_search(const tri_ctl *ctl)
{
    int64_t runs = ctl->study->budget.runs;

    return ctl->phase == TRI_PHASE_SEARCH && !ctl->draining &&
           !ctl->search_stopped && !ctl->complete &&
           !tri_ctl_is_hopeless(ctl) &&
           (runs == TRI_UNLIMITED || ctl->search_runs < runs);
}

int tri_ctl_may_create(const tri_ctl *ctl)
{
    int64_t trials = ctl->study->budget.trials;

    return !ctl->exhausted &&
           (trials == TRI_UNLIMITED || ctl->n_trials < trials);
}

int tri_ctl_time_allows(tri_ctl *ctl, double s)
{
    double end = ctl->now + (isnan(s) ? 0 : s);
    double drain, search;

    if (!is_limited(ctl)) {
        return 1;
    }
    drain = tri_ctl_drain_start(ctl);
    search = tri_ctl_search_end(ctl);
    if (end >= search && tri_ctl_opening_binds(ctl)) {
        ctl->opening_blocks = 1;
    }
    if (end <= search && (end > drain || ctl->now >= drain)) {
        ctl->deadline_blocks = 1;
    }
    return end <= drain && ctl->now < drain && end <= search &&
           ctl->now < search;
}

int tri_ctl_saves(const tri_ctl *ctl, int rung)
{
    const tri_study *s = ctl->study;
    int n = tri_sched_n_rungs(ctl->sched);

    if (ctl->phase != TRI_PHASE_SEARCH ||
        strcmp(s->checkpoints.policy, "never") == 0 ||
        (!s->objective.learned &&
         strcmp(s->checkpoints.policy, "always") != 0) ||
        ctl->checkpoint_bytes > s->checkpoints.max_bytes) {
        return TRI_SAVE_NOTHING;
    }
    return s->scheduler.kind == TRI_SCHED_NONE || (n && rung >= n - 1)
                   ? TRI_SAVE_DRAIN
                   : TRI_SAVE_RELEASE;
}

/* ---- time --------------------------------------------------------------- */

static int highest_rung(const tri_ctl *ctl)
{
    int n = tri_sched_n_rungs(ctl->sched);

    if (n) {
        return n - 1;
    }
    return ctl->best >= 0 ? ctl->trials[ctl->best].top_rung : 0;
}

/* What the finals are predicted to take; NaN. */
static double finals_s(const tri_ctl *ctl)
{
    double each = tri_ctl_predict(
            ctl, ctl->best,
            (double)tri_sched_resource(ctl->sched, highest_rung(ctl)), 0);
    int64_t n = ctl->study->finals.top + (ctl->study->has_baseline ? 1 : 0);

    n = n < ctl->n_trials ? n : ctl->n_trials;
    return each * (double)n * ctl->study->finals.repeats;
}

/* What is kept of `limit` for the finals. */
static double reserve(const tri_ctl *ctl, double limit)
{
    double s = finals_s(ctl);

    if (!ctl->study->finals.top) {
        return 0;
    }
    if (isnan(s) || s < RESERVE_LEAST * limit) {
        return RESERVE_LEAST * limit;
    }
    return s < RESERVE_MOST * limit ? s : RESERVE_MOST * limit;
}

static double budget_s(const tri_ctl *ctl)
{
    double s = ctl->study->budget.time_s;

    return s == TRI_UNLIMITED ? INFINITY : s;
}

static double max_time_s(const tri_ctl *ctl)
{
    return isnan(ctl->max_time_s) ? INFINITY : ctl->max_time_s;
}

/* When the search has to stop for the study's budget, and for --max-time. */
static double budget_end(const tri_ctl *ctl)
{
    double budget = budget_s(ctl);

    return budget < INFINITY ? ctl->idle_s + budget - reserve(ctl, budget)
                             : budget;
}

int tri_ctl_budget_is_left(const tri_ctl *ctl)
{
    int64_t runs = ctl->study->budget.runs;

    return (runs == TRI_UNLIMITED || ctl->search_runs < runs) &&
           ctl->now < budget_end(ctl);
}

static double opening_end(const tri_ctl *ctl)
{
    double most = max_time_s(ctl);

    return most < INFINITY ? ctl->open_s + most - reserve(ctl, most) : most;
}

double tri_ctl_search_end(const tri_ctl *ctl)
{
    double budget = budget_end(ctl);
    double most = opening_end(ctl);

    return budget < most ? budget : most;
}

int tri_ctl_opening_binds(const tri_ctl *ctl)
{
    return opening_end(ctl) < budget_end(ctl);
}

double tri_ctl_finals_end(const tri_ctl *ctl)
{
    double budget = ctl->idle_s + budget_s(ctl);
    double most = ctl->open_s + max_time_s(ctl);

    return budget < most ? budget : most;
}

double tri_ctl_drain_s(const tri_ctl *ctl)
{
    double s = ctl->longest_step_s + ctl->longest_save_s;
    double most = DRAIN_MOST * (ctl->deadline_s - ctl->open_s);

    if (s > most) { /* never where no deadline is known */
        s = most > 0 ? most : 0;
    }
    return tri_ctl_answer_s(ctl) + s;
}

double tri_ctl_drain_start(const tri_ctl *ctl)
{
    if (isnan(ctl->deadline_s)) {
        return INFINITY;
    }
    return ctl->deadline_s - tri_ctl_drain_s(ctl);
}

double tri_ctl_answer_s(const tri_ctl *ctl)
{
    return ctl->study->timeouts.grace_s + ANSWER_S;
}

/*
 * Invariants of the controller after every event.
 */
#include "tests/sim/invariants.h"

#include "tests/sim/fixture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_RUNGS 16

void tracker_init(tracker *t, const tri_study *study, int workers)
{
    memset(t, 0, sizeof *t);
    t->study = study;
    t->workers = workers;
}

void tracker_fini(tracker *t)
{
    free(t->run_state);
    free(t->left_rung);
    free(t->flying_run);
}

static void follow(tracker *t, const tri_ctl *ctl)
{
    int64_t runs = tri_ctl_n_runs(ctl);
    int64_t trials = tri_ctl_n_trials(ctl);

    assert_true(runs >= t->n_runs && trials >= t->n_trials);
    t->run_state = realloc(t->run_state, (size_t)runs + 1);
    t->left_rung =
            realloc(t->left_rung, ((size_t)trials + 1) * sizeof *t->left_rung);
    for (; t->n_runs < runs; t->n_runs++) {
        tri_run_view v;

        tri_ctl_run(ctl, t->n_runs, &v);
        t->search_runs += v.phase == TRI_PHASE_SEARCH;
        t->run_state[t->n_runs] = TRI_RUN_FORMING;
    }
    t->flying_run = realloc(t->flying_run,
                            ((size_t)trials + 1) * sizeof *t->flying_run);
    for (; t->n_trials < trials; t->n_trials++) {
        t->left_rung[t->n_trials] = -1;
        t->flying_run[t->n_trials] = -1;
    }
}

/* Runs go forward through their states only. */
static void check_run_states(tracker *t, const tri_ctl *ctl)
{
    const int64_t *changed;
    int n = tri_ctl_changed_runs(ctl, &changed);

    for (int i = 0; i < n; i++) {
        tri_run_view v;

        assert_true(i == 0 || changed[i] > changed[i - 1]);
        tri_ctl_run(ctl, changed[i], &v);
        assert_true(v.state >= (tri_run_state)t->run_state[changed[i]]);
        /* those that a drain ended are not counted */
        assert_true(v.attempt < t->study->failures.max_attempts +
                                        (v.epoch - 1) + t->interrupted);
        t->run_state[changed[i]] = (unsigned char)v.state;
    }
}

/* Each rank is held by one run at most, and by a run that names it. */
static int64_t check_ranks(const tracker *t, const tri_ctl *ctl)
{
    int64_t busy = 0;

    assert_true(tri_ctl_n_ranks(ctl) <= t->workers);
    for (int i = 0; i < tri_ctl_n_ranks(ctl); i++) {
        tri_rank_view rank;
        tri_run_view run;
        int named = 0;

        tri_ctl_rank(ctl, i, &rank);
        if (rank.run < 0) {
            continue;
        }
        tri_ctl_run(ctl, rank.run, &run);
        assert_true(run.state != TRI_RUN_ENDED);
        for (int k = 0; k < run.n_ranks; k++) {
            named += run.ranks[k] == rank.rank;
        }
        assert_int_equal(named, 1);
        busy++;
    }
    return busy;
}

static void check_flight(tracker *t, const tri_ctl *ctl)
{
    int64_t busy = check_ranks(t, ctl);
    int64_t flying = 0, held = 0, finals = 0;
    tri_progress p;

    for (int64_t i = 0; i < t->n_runs; i++) {
        tri_run_view v;

        if (t->run_state[i] == TRI_RUN_ENDED) {
            continue;
        }
        tri_ctl_run(ctl, i, &v);
        assert_true(t->flying_run[v.trial] < 0); /* one run a trial */
        t->flying_run[v.trial] = i;
        flying++;
        held += v.n_ranks;
        finals += v.phase == TRI_PHASE_FINALS;
    }
    for (int64_t i = 0; i < t->n_trials; i++) {
        t->flying_run[i] = -1;
    }
    tri_ctl_progress(ctl, &p);
    assert_int_equal(held, busy);
    assert_int_equal(p.ranks_busy, busy);
    assert_int_equal(p.running, flying);
    assert_true(finals == 0 || flying == 1); /* alone on the pool */
    t->finals_runs += finals;
}

static void check_budget(const tracker *t, const tri_ctl *ctl)
{
    tri_progress p;

    tri_ctl_progress(ctl, &p);
    assert_true(t->study->budget.trials < 0 ||
                p.trials <= t->study->budget.trials);
    assert_true(t->study->budget.runs < 0 ||
                t->search_runs - p.remeasured <= t->study->budget.runs);
}

static int64_t place_of(const tri_sched *s, int bracket, int rung,
                        int64_t trial, int64_t *n)
{
    int64_t place = -1;
    int64_t *ranking;

    *n = tri_sched_ranking(s, bracket, rung, NULL, 0);
    ranking = calloc((size_t)*n + 1, sizeof *ranking);
    tri_sched_ranking(s, bracket, rung, ranking, *n);
    for (int64_t i = 0; i < *n; i++) {
        place = ranking[i] == trial ? i : place;
    }
    free(ranking);
    return place;
}

/* Whether a promotion is judged by all results of the rung, at any time. */
static int promotes_by_results(const tracker *t)
{
    switch (t->study->scheduler.kind) {
    case TRI_SCHED_ASHA:
    case TRI_SCHED_ASHA_DELAYED:
    case TRI_SCHED_ASYNC_HYPERBAND:
    case TRI_SCHED_PASHA:
        return 1;
    default:
        return 0;
    }
}

/* Who has just been promoted is among the best floor(n / eta). */
static void check_promotion(tracker *t, const tri_ctl *ctl, int64_t trial)
{
    const tri_sched *s = tri_ctl_sched(ctl);
    tri_trial_view v;

    tri_ctl_trial(ctl, trial, &v);
    for (int rung = t->left_rung[trial] + 1; rung < MAX_RUNGS; rung++) {
        int64_t n, place;

        if (!tri_sched_was_promoted(s, trial, rung)) {
            continue;
        }
        if (promotes_by_results(t)) {
            place = place_of(s, v.bracket, rung, trial, &n);
            assert_true(place >= 0 && place < n / t->study->resource.eta);
        }
        t->left_rung[trial] = rung;
        t->promotions++;
    }
}

static void check_promotions(tracker *t, const tri_ctl *ctl)
{
    const int64_t *changed;
    int n = tri_ctl_changed_trials(ctl, &changed);

    for (int i = 0; i < n; i++) {
        check_promotion(t, ctl, changed[i]);
    }
}

/* Not even late arrivals make the promoted more than their share. */
static void check_shares(const tracker *t, const tri_ctl *ctl)
{
    tri_rung_view v[MAX_RUNGS];
    int n = tri_sched_rungs(tri_ctl_sched(ctl), v, MAX_RUNGS);

    for (int i = 0; i < n && i < MAX_RUNGS; i++) {
        assert_true(v[i].promoted <= v[i].results / t->study->resource.eta);
    }
}

tri_status check_invariants(void *ctx, const tri_event *event,
                            const tri_commands *commands, tri_ctl *ctl)
{
    tracker *t = ctx;

    (void)commands;
    assert_true(event->time_s >= t->last_s);
    t->last_s = event->time_s;
    t->requeued += event->kind == TRI_EV_LOST;
    t->interrupted += event->kind == TRI_EV_INTERRUPTED;
    follow(t, ctl);
    check_run_states(t, ctl);
    check_flight(t, ctl);
    check_budget(t, ctl);
    check_promotions(t, ctl);
    if (t->study->scheduler.kind == TRI_SCHED_ASHA_DELAYED) {
        check_shares(t, ctl);
    }
    return TRI_OK;
}

static int by_hash(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static void check_distinct(const tracker *t, const tri_ctl *ctl)
{
    size_t n = (size_t)t->n_trials;
    uint64_t *hashes = calloc(n + 1, sizeof *hashes);

    for (size_t i = 0; i < n; i++) {
        tri_trial_view v;

        tri_ctl_trial(ctl, (int64_t)i, &v);
        hashes[i] = tri_space_hash(tri_ctl_study(ctl)->space, v.config);
        assert_true(tri_space_valid(tri_ctl_study(ctl)->space, v.config, NULL));
    }
    qsort(hashes, n, sizeof *hashes, by_hash);
    for (size_t i = 1; i < n; i++) {
        assert_true(hashes[i] != hashes[i - 1]);
    }
    free(hashes);
}

void check_end(tracker *t, const tri_ctl *ctl)
{
    tri_progress p;

    tri_ctl_progress(ctl, &p);
    assert_int_equal(p.state, TRI_CTL_ENDED);
    assert_int_equal(p.running, 0);
    assert_int_equal(p.ranks_busy, 0);
    check_distinct(t, ctl);
}

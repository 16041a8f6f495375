/*
 * What a walltime may change and what not.  A study is drained after each of
 * its events in turn and goes on in another job.
 *
 * One worker: nothing changes.  Runs come in the same order, so that the
 * results are the same, one by one, for every scheduler and objective.
 *
 * Several workers: which promotions of asha and its asynchronous relatives come
 * to pass hangs on the order in which results arrive, and an interrupted run
 * arrives later.  What holds is that the same configurations are drawn, each
 * with the same result at its base rung (which asynchronous hyperband, too,
 * chooses by what has arrived), each (trial, rung) has at most one result, what
 * was there before the drain stays, and the study ends by itself.  Where a
 * rung's results are awaited together (none, sha, hyperband), the set of
 * (trial, rung) is the same, too.
 *
 * On fewer or more ranks: the same, but that configurations that no longer fit
 * are parked, and stay without a result.
 */
#include "tests/sim/fixture.h"
#include "tests/sim/invariants.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_RESULTS 256
#define MAX_RUNGS    8

static const char format[] = "study: walltime\n"
                             "seed: 5\n"
                             "model: {kind: synthetic, straggle: 0.3}\n"
                             "space:\n"
                             "  x: {int: [0, 60]}\n"
                             "  g: {choice: [%s]}\n"
                             "ranks: g\n"
                             "objective: %s\n"
                             "search: random\n"
                             "scheduler: %s\n"
                             "resource: {unit: steps, min: 1, max: 9, eta: 3}\n"
                             "budget: {trials: %d}\n"
                             "timeouts: {grace: 1 s}\n"
                             "finals: none\n";

static const char loss[] = "{minimize: loss}";
static const char rate[] = "{maximize: tokens_per_s, compare: total}";

static const char *const schedulers[] = {
        "asha", "asha-stop", "asha-delayed",    "sha",
        "none", "hyperband", "async-hyperband", "pasha"};

enum {
    N_SCHEDULERS = sizeof schedulers / sizeof *schedulers
};

typedef struct found { /* results of the search, in the order of their runs */
    int n;
    struct {
        int64_t trial;
        int rung;
        double objective;
    } at[MOST_RESULTS];
    int64_t n_trials, n_parked, repeated_steps, interrupted, saved;
    uint64_t configurations;
} found;

static tri_study *make(const char *sizes, const char *objective,
                       const char *scheduler, int trials)
{
    char yaml[1024];

    snprintf(yaml, sizeof yaml, format, sizes, objective, scheduler, trials);
    return read_study(yaml);
}

static void note_run(const tri_ctl *ctl, int64_t i, found *out)
{
    tri_run_view v;

    tri_ctl_run(ctl, i, &v);
    assert_int_equal(v.state, TRI_RUN_ENDED);
    out->interrupted += v.status == TRI_RUN_INTERRUPTED;
    out->saved += v.status == TRI_RUN_INTERRUPTED && *v.outcome.checkpoint;
    if (v.status != TRI_RUN_FINISHED) {
        return;
    }
    for (int k = 0; k < out->n; k++) { /* nothing twice */
        assert_false(out->at[k].trial == v.trial && out->at[k].rung == v.rung);
    }
    assert_true(out->n < MOST_RESULTS);
    out->at[out->n].trial = v.trial;
    out->at[out->n].rung = v.rung;
    out->at[out->n++].objective = v.objective;
}

static void note_all(const tri_ctl *ctl, found *out)
{
    tri_progress p;

    memset(out, 0, sizeof *out);
    out->n_trials = tri_ctl_n_trials(ctl);
    for (int64_t i = 0; i < tri_ctl_n_runs(ctl); i++) {
        note_run(ctl, i, out);
    }
    for (int64_t i = 0; i < out->n_trials; i++) {
        tri_trial_view v;

        tri_ctl_trial(ctl, i, &v);
        out->configurations ^=
                tri_space_hash(tri_ctl_study(ctl)->space, v.config) *
                (uint64_t)(2 * i + 1);
    }
    tri_ctl_progress(ctl, &p);
    out->n_parked = p.parked;
    out->repeated_steps = p.repeated_steps;
}

/* To the end, whatever happens on the way. */
static void run(const tri_study *study, tri_sim_settings *set, found *out,
                int64_t *n_events)
{
    tri_ctl *ctl = NULL;
    tri_sim_result r;
    tracker t;
    int most = set->resume_workers > set->workers ? set->resume_workers
                                                  : set->workers;

    tracker_init(&t, study, most);
    set->each = check_invariants;
    set->ctx = &t;
    simulate(study, set, &r, &ctl);
    assert_int_equal(r.end_status, 0);
    check_end(&t, ctl);
    note_all(ctl, out);
    assert_int_equal(r.repeated_steps, out->repeated_steps);
    if (n_events != NULL) {
        *n_events = r.n_events;
    }
    tracker_fini(&t);
    tri_sim_result_fini(&r);
    tri_ctl_destroy(ctl);
}

static int has(const found *f, int64_t trial, int rung)
{
    for (int i = 0; i < f->n; i++) {
        if (f->at[i].trial == trial && f->at[i].rung == rung) {
            return i + 1;
        }
    }
    return 0;
}

/* ---- one worker: nothing changes ----------------------------------------- */

static void assert_identical(const found *a, const found *b)
{
    assert_int_equal(a->n_trials, b->n_trials);
    assert_int_equal(a->configurations, b->configurations);
    assert_int_equal(a->n, b->n);
    for (int i = 0; i < a->n; i++) {
        assert_int_equal(a->at[i].trial, b->at[i].trial);
        assert_int_equal(a->at[i].rung, b->at[i].rung);
        assert_true(a->at[i].objective == b->at[i].objective);
    }
}

static void one_worker(const char *objective, const char *scheduler)
{
    tri_study *study = make("1", objective, scheduler, 12);
    tri_sim_settings set;
    found whole, cut;
    int64_t n;
    int64_t interrupted = 0;

    tri_sim_defaults(&set);
    set.workers = 1;
    run(study, &set, &whole, &n);
    assert_int_equal(whole.repeated_steps, 0);
    for (int64_t i = 1; i < n; i++) {
        set.drain_after = i;
        run(study, &set, &cut, NULL);
        assert_identical(&whole, &cut);
        interrupted += cut.interrupted;
    }
    assert_true(interrupted > 0);
    tri_study_destroy(study);
}

static void nothing_changes_for_one_worker(void **state)
{
    (void)state;
    for (int i = 0; i < N_SCHEDULERS; i++) {
        one_worker(loss, schedulers[i]);
        one_worker(rate, schedulers[i]);
    }
}

/* ---- several workers ---------------------------------------------------- */

/* The set of (trial, rung) is the same, whatever the order. */
static int is_settled(const char *scheduler)
{
    return strcmp(scheduler, "none") == 0 || strcmp(scheduler, "sha") == 0 ||
           strcmp(scheduler, "hyperband") == 0;
}

static int has_any(const found *f, int64_t trial)
{
    for (int rung = 0; rung < MAX_RUNGS; rung++) {
        if (has(f, trial, rung)) {
            return 1;
        }
    }
    return 0;
}

static void assert_alike(const found *whole, const found *cut,
                         const char *scheduler)
{
    int settled = is_settled(scheduler);
    int has_base = strcmp(scheduler, "async-hyperband") != 0;

    assert_int_equal(whole->n_trials, cut->n_trials);
    assert_int_equal(whole->configurations, cut->configurations);
    for (int i = 0; i < whole->n; i++) {
        int at = has(cut, whole->at[i].trial, whole->at[i].rung);

        if ((whole->at[i].rung == 0 && has_base) || settled) {
            assert_true(at > 0);
        }
        assert_true(has_any(cut, whole->at[i].trial));
        if (at > 0) { /* no noise: a result hangs on nothing else */
            assert_true(whole->at[i].objective == cut->at[at - 1].objective);
        }
    }
    if (settled) {
        assert_int_equal(whole->n, cut->n);
    }
}

/* What was known when the drain began. */
typedef struct before {
    tracker tracker;
    int64_t n_events, drain_after;
    found known;
} before;

static tri_status watch(void *ctx, const tri_event *event,
                        const tri_commands *commands, tri_ctl *ctl)
{
    before *b = ctx;

    if (++b->n_events == b->drain_after) {
        for (int64_t i = 0; i < tri_ctl_n_runs(ctl); i++) {
            tri_run_view v;

            tri_ctl_run(ctl, i, &v);
            if (v.state == TRI_RUN_ENDED) {
                note_run(ctl, i, &b->known);
            }
        }
    }
    return check_invariants(&b->tracker, event, commands, ctl);
}

static void cut_once(const tri_study *study, tri_sim_settings *set, before *b,
                     found *out)
{
    tri_ctl *ctl = NULL;
    tri_sim_result r;

    memset(b, 0, sizeof *b);
    b->drain_after = set->drain_after;
    tracker_init(&b->tracker, study,
                 set->resume_workers > set->workers ? set->resume_workers
                                                    : set->workers);
    set->each = watch;
    set->ctx = b;
    simulate(study, set, &r, &ctl);
    assert_int_equal(r.end_status, 0);
    check_end(&b->tracker, ctl);
    note_all(ctl, out);
    for (int i = 0; i < b->known.n; i++) { /* nothing is lost */
        int at = has(out, b->known.at[i].trial, b->known.at[i].rung);

        assert_true(at > 0);
        assert_true(b->known.at[i].objective == out->at[at - 1].objective);
    }
    tracker_fini(&b->tracker);
    tri_sim_result_fini(&r);
    tri_ctl_destroy(ctl);
}

static void several(const char *objective, const char *scheduler)
{
    static const int pools[] = {4, 2, 7};
    tri_study *study = make("1, 2", objective, scheduler, 14);
    tri_sim_settings set;
    found whole, cut;
    before b;
    int64_t n;

    tri_sim_defaults(&set);
    set.workers = 4;
    run(study, &set, &whole, &n);
    for (int64_t i = 1; i < n; i++) {
        set.drain_after = i;
        set.resume_workers = pools[i % 3];
        cut_once(study, &set, &b, &cut);
        assert_alike(&whole, &cut, scheduler);
        assert_int_equal(cut.n_parked, 0);
    }
    tri_study_destroy(study);
}

static void nothing_is_lost_on_several(void **state)
{
    (void)state;
    for (int i = 0; i < N_SCHEDULERS; i++) {
        several(loss, schedulers[i]);
        several(rate, schedulers[i]);
    }
}

static void what_does_not_fit_is_parked(void **state)
{
    tri_study *study = make("1, 3", loss, "asha", 14);
    tri_sim_settings set;
    found whole, cut;
    before b;
    int64_t n;
    int64_t parked = 0;

    (void)state;
    tri_sim_defaults(&set);
    set.workers = 6;
    run(study, &set, &whole, &n);
    assert_int_equal(whole.n_parked, 0);
    for (int64_t i = 1; i < n; i++) {
        set.drain_after = i;
        set.resume_workers = 2;
        cut_once(study, &set, &b, &cut);
        parked += cut.n_parked;
        for (int k = 0; k < cut.n; k++) { /* those that fit went on */
            assert_true(cut.at[k].trial < cut.n_trials);
        }
        if (cut.n_parked == 0) { /* all that were begun had ended */
            assert_true(cut.n >= b.known.n);
        }
    }
    assert_true(parked > 0);
    tri_study_destroy(study);
}

/* ---- waste -------------------------------------------------------------- */

/* A rate is measured anew; a loss goes on from the step that was reached. */
static void only_what_was_not_saved_is_waste(void **state)
{
    static const char *const objectives[] = {loss, rate};
    int64_t waste[2] = {0, 0};

    (void)state;
    for (int k = 0; k < 2; k++) {
        tri_study *study = make("1", objectives[k], "none", 6);
        tri_sim_settings set;
        found f;
        int64_t n;

        tri_sim_defaults(&set);
        set.workers = 2;
        set.straggle = 0.4;
        run(study, &set, &f, &n);
        for (int64_t i = 1; i < n; i++) {
            set.drain_after = i;
            run(study, &set, &f, NULL);
            waste[k] += f.repeated_steps;
        }
        tri_study_destroy(study);
    }
    assert_int_equal(waste[0], 0);
    assert_true(waste[1] > 0);
}

/* ---- a chain of jobs ---------------------------------------------------- */

static void jobs_end_before_their_walltime(void **state)
{
    tri_study *study = make("1", loss, "asha", 40);
    tri_sim_settings set;
    tri_sim_result whole, chain;

    (void)state;
    tri_sim_defaults(&set);
    set.workers = 3;
    simulate(study, &set, &whole, NULL);
    assert_int_equal(whole.jobs, 1);
    set.walltime_s = 20; /* 6 of which are for the drain */
    simulate(study, &set, &chain, NULL);
    assert_int_equal(chain.end_status, 0);
    assert_true(chain.jobs >= 2 && chain.jobs <= 10);
    assert_true(chain.virtual_s <= 20 * (double)chain.jobs);
    assert_true(chain.evaluations >= 40);
    tri_sim_result_fini(&whole);
    tri_sim_result_fini(&chain);
    tri_study_destroy(study);
}

/* A drain takes as long as checkpoints do, once one was written. */
static void a_drain_leaves_time_for_checkpoints(void **state)
{
    tri_study *study = make("1", loss, "asha", 30);
    tri_sim_settings set;
    found f;
    int64_t n;
    int64_t interrupted = 0;
    int64_t saved = 0;

    (void)state;
    tri_sim_defaults(&set);
    set.workers = 3;
    set.cost_s = 100;
    set.checkpoint_s = 20; /* timeouts.grace and 5 s are 6 */
    run(study, &set, &f, &n);
    for (int64_t i = n / 2; i < n; i++) {
        set.drain_after = i;
        run(study, &set, &f, NULL);
        interrupted += f.interrupted;
        saved += f.saved;
        assert_int_equal(f.repeated_steps, 0);
    }
    print_message("%lld of %lld interrupted runs saved\n", (long long)saved,
                  (long long)interrupted);
    assert_true(saved > interrupted / 2); /* the others had not begun */
    tri_study_destroy(study);
}

/* It does not go on for ever. */
static void a_walltime_too_short_for_a_run_ends(void **state)
{
    tri_study *study = make("1", rate, "none", 4);
    tri_sim_settings set;
    tri_sim_result r;

    (void)state;
    tri_sim_defaults(&set);
    set.workers = 2;
    set.walltime_s = 10; /* 4 s are left, a run takes 9 */
    simulate(study, &set, &r, NULL);
    assert_int_equal(r.end_status, 3);
    assert_int_equal(r.evaluations, 0);
    assert_int_equal(r.jobs, 1);
    assert_true(r.repeated_steps > 0);
    tri_sim_result_fini(&r);
    tri_study_destroy(study);

    study = make("1", loss, "none", 4); /* this one saves what it has */
    simulate(study, &set, &r, NULL);
    assert_int_equal(r.end_status, 0);
    assert_int_equal(r.evaluations, 4);
    assert_true(r.jobs > 2);
    tri_sim_result_fini(&r);
    tri_study_destroy(study);
}

/* A run that is predicted to outlast the job is not begun in it. */
static void what_cannot_end_is_not_begun(void **state)
{
    tri_study *study = make("1", rate, "none", 9);
    tri_sim_settings set;
    found f;

    (void)state;
    tri_sim_defaults(&set);
    set.workers = 1;
    set.walltime_s = 30; /* 24 for runs of 9 s or more: two fit */
    run(study, &set, &f, NULL);
    assert_int_equal(f.n, 9);
    print_message("%lld interrupted, %lld steps repeated\n",
                  (long long)f.interrupted, (long long)f.repeated_steps);
    assert_true(f.interrupted <= 2); /* straggling: not every guess is right */
    tri_study_destroy(study);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(nothing_changes_for_one_worker),
            cmocka_unit_test(nothing_is_lost_on_several),
            cmocka_unit_test(what_does_not_fit_is_parked),
            cmocka_unit_test(only_what_was_not_saved_is_waste),
            cmocka_unit_test(jobs_end_before_their_walltime),
            cmocka_unit_test(a_drain_leaves_time_for_checkpoints),
            cmocka_unit_test(a_walltime_too_short_for_a_run_ends),
            cmocka_unit_test(what_cannot_end_is_not_begun),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

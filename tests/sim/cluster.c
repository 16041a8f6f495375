/*
 * The virtual cluster: settings, stragglers, losses, failures, how rank-seconds
 * add up, and that the search does not depend on the cluster.
 */
#include "tests/sim/fixture.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define TRIALS 40

static tri_study *study_with(const char *model, const char *scheduler)
{
    char yaml[1024];

    snprintf(yaml, sizeof yaml,
             "study: cluster\n"
             "seed: 2\n"
             "model: %s\n"
             "space:\n"
             "  x: {float: [0, 1]}\n"
             "  g: {choice: [1, 2, 3]}\n"
             "ranks: g\n"
             "objective: {minimize: loss}\n"
             "search: random\n"
             "scheduler: %s\n"
             "resource: {unit: steps, min: 1, max: 16, eta: 4}\n"
             "budget: {trials: %d}\n"
             "finals: none\n",
             model, scheduler, TRIALS);
    return read_study(yaml);
}

static const char plain[] = "{kind: synthetic}";

/* ---- settings -------------------------------------------------------- */

static void refused(const tri_study *study, const tri_sim_settings *set)
{
    tri_sim_result r;
    tri_curve *c = NULL;

    must(tri_curve_create(study, 1, &c));
    assert_int_equal(tri_sim_run(study, c, set, &r, NULL), TRI_EINVAL);
    tri_curve_destroy(c);
}

static void settings_are_checked(void **state)
{
    tri_study *study = study_with(plain, "asha");
    tri_sim_settings good, set;

    (void)state;
    tri_sim_defaults(&good);
    set = good;
    set.workers = 0;
    refused(study, &set);
    set = good;
    set.straggle = -1;
    refused(study, &set);
    set.straggle = NAN;
    refused(study, &set);
    set = good;
    set.drop = 1;
    refused(study, &set);
    tri_study_destroy(study);
}

static tri_status refuse_the_tenth(void *ctx, const tri_event *event,
                                   const tri_commands *commands, tri_ctl *ctl)
{
    int *n = ctx;

    (void)event;
    (void)commands;
    (void)ctl;
    return ++*n == 10 ? TRI_FAIL(TRI_EIO, "enough") : TRI_OK;
}

static void a_callback_may_end_it(void **state)
{
    tri_study *study = study_with(plain, "asha");
    tri_sim_settings set;
    tri_sim_result r;
    tri_curve *c = NULL;
    tri_ctl *ctl = NULL;
    int n = 0;

    (void)state;
    tri_sim_defaults(&set);
    set.each = refuse_the_tenth;
    set.ctx = &n;
    must(tri_curve_create(study, 1, &c));
    assert_int_equal(tri_sim_run(study, c, &set, &r, &ctl), TRI_EIO);
    assert_null(ctl);
    assert_int_equal(n, 10);
    tri_curve_destroy(c);
    tri_study_destroy(study);
}

static void time_may_be_cut_short(void **state)
{
    tri_study *study = study_with(plain, "none");
    tri_sim_settings set;
    tri_sim_result r;

    (void)state;
    tri_sim_defaults(&set);
    set.max_virtual_s = 20;
    simulate(study, &set, &r, NULL);
    assert_int_equal(r.end_status, -1);
    assert_true(r.virtual_s == 20);
    assert_true(r.rank_seconds <= 20 * set.workers);
    for (int64_t i = 0; i < r.n_history; i++) {
        assert_true(r.history[i].virtual_s == 16);
    }
    tri_sim_result_fini(&r);
    tri_study_destroy(study);
}

/* ---- what runs cost -------------------------------------------------- */

static void rank_seconds_add_up(void **state)
{
    tri_study *study = study_with(plain, "none");
    tri_sim_settings set;
    tri_sim_result r;
    tri_ctl *ctl = NULL;
    double held = 0;

    (void)state;
    tri_sim_defaults(&set);
    set.workers = 5;
    simulate(study, &set, &r, &ctl);
    for (int64_t i = 0; i < tri_ctl_n_trials(ctl); i++) {
        tri_trial_view v;

        tri_ctl_trial(ctl, i, &v);
        held += 16.0 * v.ranks;
    }
    assert_int_equal(r.evaluations, TRIALS);
    assert_int_equal(r.distinct, TRIALS);
    assert_true(r.rank_seconds == held);
    assert_true(r.virtual_s * set.workers >= held);
    tri_sim_result_fini(&r);
    tri_ctl_destroy(ctl);
    tri_study_destroy(study);
}

static double seconds_of(const char *model, double straggle, double drop,
                         int64_t *lost)
{
    tri_study *study = study_with(model, "asha");
    tri_sim_settings set;
    tri_sim_result r;

    tri_sim_defaults(&set);
    set.straggle = straggle;
    set.drop = drop;
    simulate(study, &set, &r, NULL);
    assert_int_equal(r.end_status, 0);
    assert_int_equal(r.distinct, TRIALS);
    *lost = r.lost;
    tri_sim_result_fini(&r);
    tri_study_destroy(study);
    return r.virtual_s;
}

static void stragglers_and_losses_cost_time(void **state)
{
    int64_t lost;
    double alone = seconds_of(plain, 0, 0, &lost);

    (void)state;
    assert_int_equal(lost, 0);
    assert_true(seconds_of(plain, 0.5, 0, &lost) > alone);
    assert_true(seconds_of("{kind: synthetic, straggle: 0.5}", 0, 0, &lost) >
                alone);
    assert_true(seconds_of(plain, 0, 0.02, &lost) > alone);
    assert_true(lost > 0);
}

/* ---- events ---------------------------------------------------------- */

typedef struct counts {
    int of[TRI_EV_COUNT];
    int failures[TRIALS];
} counts;

static tri_status count(void *ctx, const tri_event *event,
                        const tri_commands *commands, tri_ctl *ctl)
{
    counts *c = ctx;
    tri_run_view v;

    (void)commands;
    c->of[event->kind]++;
    if (event->kind == TRI_EV_FAILED) {
        tri_ctl_run(ctl, event->u.outcome.run, &v);
        assert_int_equal(v.reason, TRI_REASON_BAD_EXIT);
        c->failures[v.trial]++;
    }
    return TRI_OK;
}

static void reports_are_sent_if_asked_for(void **state)
{
    tri_study *study = study_with(plain, "asha");
    tri_sim_settings set;
    tri_sim_result r;
    counts c = {.of = {0}};

    (void)state;
    tri_sim_defaults(&set);
    set.each = count;
    set.ctx = &c;
    simulate(study, &set, &r, NULL);
    assert_int_equal(c.of[TRI_EV_REPORT], 0);
    assert_int_equal(c.of[TRI_EV_OPEN], 1);
    assert_int_equal(c.of[TRI_EV_POOL], set.workers);
    assert_int_equal(c.of[TRI_EV_FINISHED], r.evaluations);
    tri_sim_result_fini(&r);
    c = (counts){.of = {0}};
    set.reports = 1;
    simulate(study, &set, &r, NULL);
    assert_int_equal(c.of[TRI_EV_REPORT], c.of[TRI_EV_FINISHED]);
    tri_sim_result_fini(&r);
    tri_study_destroy(study);
}

/* An injected failure is tried once more; a trial that fails again failed. */
static void failures_are_retried_once(void **state)
{
    tri_study *study = study_with("{kind: synthetic, fail: 0.3}", "none");
    tri_sim_settings set;
    tri_sim_result r;
    counts c = {.of = {0}};
    int twice = 0, once = 0;

    (void)state;
    tri_sim_defaults(&set);
    set.each = count;
    set.ctx = &c;
    simulate(study, &set, &r, NULL);
    for (int i = 0; i < TRIALS; i++) {
        assert_in_range(c.failures[i], 0, 2);
        once += c.failures[i] == 1;
        twice += c.failures[i] == 2;
    }
    assert_true(once > 0 && twice > 0);
    assert_int_equal(r.distinct, TRIALS - twice);
    tri_sim_result_fini(&r);
    tri_study_destroy(study);
}

/* ---- the search ------------------------------------------------------ */

/* With configurations of at most three ranks, random search is the same on any
 * cluster of three or more. */
static void the_search_is_the_study_s(void **state)
{
    static const int workers[] = {3, 5, 9};
    tri_study *study = study_with("{kind: synthetic, straggle: 1}", "asha");
    uint64_t first[10] = {0};

    (void)state;
    for (int w = 0; w < 3; w++) {
        tri_sim_settings set;
        tri_sim_result r;
        tri_ctl *ctl = NULL;

        tri_sim_defaults(&set);
        set.workers = workers[w];
        set.seed = (uint64_t)w;
        set.straggle = w;
        simulate(study, &set, &r, &ctl);
        for (int64_t i = 0; i < 10; i++) {
            tri_trial_view v;
            uint64_t hash;

            tri_ctl_trial(ctl, i, &v);
            hash = tri_space_hash(study->space, v.config);
            first[i] = w == 0 ? hash : first[i];
            assert_int_equal(hash, first[i]);
        }
        tri_sim_result_fini(&r);
        tri_ctl_destroy(ctl);
    }
    tri_study_destroy(study);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(settings_are_checked),
            cmocka_unit_test(a_callback_may_end_it),
            cmocka_unit_test(time_may_be_cut_short),
            cmocka_unit_test(rank_seconds_add_up),
            cmocka_unit_test(stragglers_and_losses_cost_time),
            cmocka_unit_test(reports_are_sent_if_asked_for),
            cmocka_unit_test(failures_are_retried_once),
            cmocka_unit_test(the_search_is_the_study_s),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * A study that is broken off after any of its events, in an orderly way or
 * not, and opened again, ends with the same configurations measured.
 */
#include "tests/sim/fixture.h"
#include "tests/sim/invariants.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char format[] = "study: cut\n"
                             "seed: 9\n"
                             "model: {kind: synthetic, straggle: 0.3}\n"
                             "space:\n"
                             "  x: {int: [0, 40]}\n"
                             "  g: {choice: [1, 2]}\n"
                             "ranks: g\n"
                             "objective: %s\n"
                             "search: random\n"
                             "scheduler: %s\n"
                             "resource: {unit: steps, min: 1, max: 9, eta: 3}\n"
                             "budget: {trials: 20}\n"
                             "finals: %s\n";

typedef struct ending {
    int64_t trials, measured, n_top, interrupted;
    uint64_t configurations; /* exclusive or of their hashes */
    uint64_t at_top;         /* the same of those with a result at the top */
} ending;

static ending end_of(const tri_ctl *ctl)
{
    ending e = {.trials = tri_ctl_n_trials(ctl)};

    for (int64_t i = 0; i < e.trials; i++) {
        uint64_t hash;
        tri_trial_view v;

        tri_ctl_trial(ctl, i, &v);
        hash = tri_space_hash(tri_ctl_study(ctl)->space, v.config);
        e.configurations ^= hash;
        e.measured += v.top_rung >= 0;
        e.at_top ^= v.top_rung == 2 ? hash : 0;
        e.n_top += v.top_rung == 2;
    }
    return e;
}

static ending run(const tri_study *study, tri_sim_settings *set,
                  int64_t *n_events)
{
    tri_ctl *ctl = NULL;
    tri_sim_result r;
    tracker t;
    ending e;

    tracker_init(&t, study, set->workers);
    set->each = check_invariants;
    set->ctx = &t;
    simulate(study, set, &r, &ctl);
    assert_int_equal(r.end_status, 0);
    check_end(&t, ctl);
    e = end_of(ctl);
    e.interrupted = t.interrupted;
    *n_events = r.n_events;
    tracker_fini(&t);
    tri_sim_result_fini(&r);
    tri_ctl_destroy(ctl);
    return e;
}

/* Timing decides which of asha's promotions come to pass, so there the number
 * at the top may differ by early promotions; with `none` nothing may. */
static void assert_same(const ending *a, const ending *b, int exact)
{
    assert_int_equal(a->trials, b->trials);
    assert_int_equal(a->measured, b->measured);
    assert_int_equal(a->configurations, b->configurations);
    if (exact) {
        assert_int_equal(a->at_top, b->at_top);
    } else {
        assert_true(b->n_top >= 1 && abs((int)(a->n_top - b->n_top)) <= 3);
    }
}

static void cut_everywhere(const char *objective, const char *scheduler,
                           const char *finals)
{
    int exact = strcmp(scheduler, "none") == 0;
    tri_sim_settings set;
    tri_study *study;
    char yaml[1024];
    int64_t whole, events, interrupted = 0;
    ending plain;

    snprintf(yaml, sizeof yaml, format, objective, scheduler, finals);
    study = read_study(yaml);
    tri_sim_defaults(&set);
    set.workers = 4;
    plain = run(study, &set, &whole);
    assert_int_equal(plain.trials, 20);
    for (int64_t cut = 1; cut < whole; cut++) {
        ending e;

        set.drain_after = cut;
        e = run(study, &set, &events);
        interrupted += e.interrupted;
        assert_same(&plain, &e, exact);
        set.drain_after = -1;
        set.crash_after = cut;
        e = run(study, &set, &events);
        assert_same(&plain, &e, exact);
        set.crash_after = -1;
    }
    print_message("%lld events, %lld runs interrupted in all\n",
                  (long long)whole, (long long)interrupted);
    assert_true(interrupted > whole);
    tri_study_destroy(study);
}

static void asha_with_checkpoints(void **state)
{
    (void)state;
    cut_everywhere("{minimize: loss}", "asha", "none");
}

static void asha_from_scratch(void **state)
{
    (void)state;
    cut_everywhere("{maximize: tokens_per_s, compare: total}", "asha",
                   "{top: 2, repeats: 2}");
}

static void every_configuration_in_full(void **state)
{
    (void)state;
    cut_everywhere("{minimize: loss}", "none", "none");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(asha_with_checkpoints),
            cmocka_unit_test(asha_from_scratch),
            cmocka_unit_test(every_configuration_in_full),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

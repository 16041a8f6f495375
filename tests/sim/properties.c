/*
 * Random studies on random clusters: the invariants hold after every event,
 * every study ends, and the same settings give the same result.
 */
#include "tests/sim/fixture.h"
#include "tests/sim/invariants.h"

#include <stdio.h>
#include <string.h>

#define SEED    4242u
#define STUDIES 120

static const char *const objectives[] = {"{minimize: loss}",
                                         "{maximize: tokens_per_s, "
                                         "compare: total}",
                                         "{minimize: step_s}"};
static const char *const schedulers[] = {
        "asha",      "asha",
        "none",      "{kind: asha, brackets: 2}",
        "asha-stop", "asha-delayed",
        "sha",       "{kind: sha, brackets: 1}",
        "hyperband", "async-hyperband",
        "pasha"};
static const char *const curves[] = {"bowl", "ridge", "crossing", "flat"};

static int pick(tri_rng *rng, int n)
{
    return (int)tri_rng_below(rng, (uint64_t)n);
}

/* Two brackets need two rungs. */
static const char *scheduler(tri_rng *rng, int max)
{
    const char *s =
            schedulers[pick(rng, sizeof schedulers / sizeof schedulers[0])];

    return max > 1 || !strstr(s, "brackets: 2") ? s : "asha";
}

static void random_study(tri_rng *rng, char *yaml, size_t bytes)
{
    int eta = 2 + pick(rng, 3);
    int max = 1 + pick(rng, 40);

    snprintf(yaml, bytes,
             "study: random\n"
             "seed: %d\n"
             "model: {kind: synthetic, curve: %s, noise: %.2f,\n"
             "        straggle: %.2f, fail: %.2f}\n"
             "space:\n"
             "  x: {float: [0, 1]}\n"
             "  g: {choice: [1, 2, 3, 4]}\n"
             "  k: {int: [0, 30]}\n"
             "constraints: [k %% g == 0]\n"
             "ranks: g\n"
             "objective: %s\n"
             "baseline: {x: 0.5, g: 1, k: 3}\n"
             "search: %s\n"
             "scheduler: %s\n"
             "resource: {unit: steps, min: 1, max: %d, eta: %d}\n"
             "budget: {trials: %d, runs: %d}\n"
             "finals: %s\n",
             pick(rng, 1000), curves[pick(rng, 4)], 0.1 * pick(rng, 3),
             0.3 * pick(rng, 3), 0.1 * pick(rng, 3), objectives[pick(rng, 3)],
             pick(rng, 2) ? "random" : "quasi", scheduler(rng, max), max, eta,
             5 + pick(rng, 60), 5 + pick(rng, 150),
             pick(rng, 2) ? "none" : "{top: 2, repeats: 2}");
}

static void random_cluster(tri_rng *rng, tri_sim_settings *set)
{
    tri_sim_defaults(set);
    set->workers = 4 + pick(rng, 9);
    set->straggle = 0.4 * pick(rng, 3);
    set->spread = 0.4 * pick(rng, 2);
    set->drop = 0.01 * pick(rng, 4);
    set->dropped = (tri_sim_dropped)pick(rng, 3);
    set->node_loss = pick(rng, 3) ? 0 : 0.002;
    set->node_down_s = 5 + pick(rng, 20);
    set->latency_s = 0.01 * pick(rng, 3);
    set->start_s = 0.3 * pick(rng, 3);
    set->checkpoint_s = 0.5 * pick(rng, 4);
    set->seed = tri_rng_u64(rng);
    set->reports = pick(rng, 2);
}

static void assert_same(const tri_sim_result *a, const tri_sim_result *b)
{
    assert_int_equal(a->n_events, b->n_events);
    assert_int_equal(a->n_history, b->n_history);
    for (int64_t i = 0; i < a->n_history; i++) {
        const tri_sim_point *p = &a->history[i];
        const tri_sim_point *q = &b->history[i];

        assert_int_equal(p->trial, q->trial);
        assert_int_equal(p->rung, q->rung);
        assert_memory_equal(&p->virtual_s, &q->virtual_s, sizeof(double));
        assert_memory_equal(&p->objective, &q->objective, sizeof(double));
    }
    assert_memory_equal(&a->rank_seconds, &b->rank_seconds, sizeof(double));
}

static void simulate_twice(uint64_t number, tracker *total)
{
    tri_rng rng = tri_rng_stream(SEED, number, TRI_RNG_TEST);
    tri_sim_settings set;
    tri_sim_result r, again;
    tri_study *study;
    tri_ctl *ctl = NULL;
    char yaml[2048];
    tracker t;

    random_study(&rng, yaml, sizeof yaml);
    random_cluster(&rng, &set);
    study = read_study(yaml);
    simulate(study, &set, &again, NULL);
    tracker_init(&t, study, set.workers);
    set.each = check_invariants;
    set.ctx = &t;
    simulate(study, &set, &r, &ctl);
    check_end(&t, ctl);
    /* 3: all hosts were down at once; 2: all trials were lost */
    assert_true(r.end_status == 0 || (r.end_status == 3 && set.node_loss > 0) ||
                (r.end_status == 2 && set.dropped == TRI_DROPPED_LOST));
    assert_same(&r, &again);
    total->promotions += t.promotions;
    total->finals_runs += t.finals_runs;
    total->requeued += t.requeued;
    tracker_fini(&t);
    tri_ctl_destroy(ctl);
    tri_sim_result_fini(&r);
    tri_sim_result_fini(&again);
    tri_study_destroy(study);
}

static void invariants_hold(void **state)
{
    tracker total = {0};

    (void)state;
    for (uint64_t i = 0; i < STUDIES; i++) {
        simulate_twice(i, &total);
    }
    print_message("%lld promotions, %lld losses, %lld events in finals\n",
                  (long long)total.promotions, (long long)total.requeued,
                  (long long)total.finals_runs);
    assert_true(total.promotions > 100);
    assert_true(total.requeued > 10);
    assert_true(total.finals_runs > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(invariants_hold),
    };

    print_message("seed %u\n", SEED);
    return cmocka_run_group_tests(tests, NULL, NULL);
}

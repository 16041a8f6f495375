/*
 * Searches that are led by a thinker, in virtual time: one that answers at
 * once, one that is slow, one that breaks; broken off after any event; and the
 * real one, which finds the optimum of a bowl sooner than quasi-random draws.
 */
#include "tests/sim/fixture.h"
#include "tests/sim/invariants.h"

#include "trireme/think.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char format[] = "study: think\n"
                             "seed: 9\n"
                             "model: {kind: synthetic, straggle: 0.3}\n"
                             "space:\n"
                             "  x: {int: [0, 40]}\n"
                             "  g: {choice: [1, 2]}\n"
                             "ranks: g\n"
                             "objective: {minimize: loss}\n"
                             "search: auto\n"
                             "scheduler: %s\n"
                             "resource: {unit: steps, min: 1, max: 9, eta: 3}\n"
                             "budget: {trials: 20}\n"
                             "finals: {top: 2, repeats: 2}\n";

/* Proposes anything, as many as are wanted. */
typedef struct dreamer {
    const tri_space *space;
    int64_t asked, fail_at;
    int told; /* records of the last answer's snapshot, of values */
    tri_proposal list[64];
    char texts[64][64];
} dreamer;

static int is_tried(const tri_snapshot *s, uint64_t hash)
{
    for (int64_t i = 0; i < s->n_tried; i++) {
        if (s->tried[i] == hash) {
            return 1;
        }
    }
    return 0;
}

static tri_status dream(void *ctx, const tri_snapshot *s, tri_ev_proposals *out)
{
    dreamer *d = ctx;
    tri_rng rng = tri_rng_stream(5, (uint64_t)s->number, TRI_RNG_TEST);
    tri_config c[8];

    if (++d->asked == d->fail_at) {
        return TRI_FAIL(TRI_ENOMEM, "no memory to dream");
    }
    assert_true(s->n_tried <= 20);
    d->told = s->n_records;
    for (int i = 0; i < s->wanted; i++) {
        do {
            must(tri_space_sample(d->space, &rng, c));
        } while (is_tried(s, tri_space_hash(d->space, c)));
        tri_space_print(d->space, c, d->texts[i], sizeof d->texts[i]);
        d->list[i] = (tri_proposal){d->texts[i], 1, 0, 2, NAN, 1, "dream"};
    }
    *out = (tri_ev_proposals){.snapshot = s->number,
                              .model = "dream",
                              .hyper = "",
                              .n_records = s->n_records,
                              .tau = NAN,
                              .fit_s = NAN,
                              .list = d->list,
                              .n_list = s->wanted};
    return TRI_OK;
}

/* ---- at once ------------------------------------------------------------ */

/* Follows a search: every trial that is created knows of every result. */
typedef struct follower {
    dreamer *thinker;
    int64_t created, by_model;
} follower;

static tri_status follow(void *ctx, const tri_event *event,
                         const tri_commands *commands, tri_ctl *ctl)
{
    follower *f = ctx;
    int64_t n = tri_ctl_n_trials(ctl);
    tri_snapshot *now;

    (void)event;
    (void)commands;
    for (; f->created < n; f->created++) {
        tri_trial_view t;

        tri_ctl_trial(ctl, f->created, &t);
        must(tri_ctl_snapshot(ctl, 0, 1, &now));
        f->by_model += strcmp(t.rule, "dream") == 0;
        assert_int_equal(now->n_records, f->thinker->told);
        tri_snapshot_destroy(now);
    }
    return TRI_OK;
}

static void every_result_is_known(void **state)
{
    static const char *const schedulers[] = {"none", "asha", "hyperband"};

    (void)state;
    for (int i = 0; i < 6; i++) {
        char yaml[1024];
        tri_study *study;
        tri_sim_settings set;
        tri_sim_result r;
        tri_ctl *ctl;
        dreamer d = {0};
        follower f = {.thinker = &d};

        snprintf(yaml, sizeof yaml, format, schedulers[i % 3]);
        study = read_study(yaml);
        d.space = study->space;
        tri_sim_defaults(&set);
        set.workers = i < 3 ? 2 : 7;
        set.think = dream;
        set.think_ctx = &d;
        set.each = follow;
        set.ctx = &f;
        simulate(study, &set, &r, &ctl);
        assert_int_equal(r.end_status, 0);
        assert_int_equal(f.created, 20);
        assert_int_equal(f.by_model, 20);
        /* once for each result, and where ranks were left */
        assert_true(d.asked <= r.evaluations + f.created);
        tri_sim_result_fini(&r);
        tri_ctl_destroy(ctl);
        tri_study_destroy(study);
    }
}

/* ---- slow, broken, broken off ------------------------------------------- */

static int64_t n_by_model(const tri_ctl *ctl)
{
    int64_t n = 0;

    for (int64_t i = 0; i < tri_ctl_n_trials(ctl); i++) {
        tri_trial_view t;

        tri_ctl_trial(ctl, i, &t);
        n += strcmp(t.origin, "model") == 0;
    }
    return n;
}

/* Run to the end with rules checked; returns how many trials were proposed. */
static int64_t run(const tri_study *study, tri_sim_settings *set,
                   int64_t *n_events, double *virtual_s)
{
    tri_ctl *ctl = NULL;
    tri_sim_result r;
    dreamer d = {.space = study->space};
    tracker t;
    int64_t n;

    tracker_init(&t, study, set->workers);
    set->each = check_invariants;
    set->ctx = &t;
    set->think = dream;
    set->think_ctx = &d;
    simulate(study, set, &r, &ctl);
    assert_int_equal(r.end_status, 0);
    check_end(&t, ctl);
    assert_int_equal(tri_ctl_n_trials(ctl), 20);
    n = n_by_model(ctl);
    *n_events = r.n_events;
    *virtual_s = r.virtual_s;
    tracker_fini(&t);
    tri_sim_result_fini(&r);
    tri_ctl_destroy(ctl);
    return n;
}

/* While it thinks the ranks go on: with what was proposed before, or drawn. */
static void a_slow_one_holds_nobody(void **state)
{
    char yaml[1024];
    tri_study *study;
    tri_sim_settings set;
    double at_once, slow, asleep;
    int64_t events;

    (void)state;
    snprintf(yaml, sizeof yaml, format, "none");
    study = read_study(yaml);
    tri_sim_defaults(&set);
    set.workers = 2;
    run(study, &set, &events, &at_once);
    set.think_s = 5; /* a run takes nine and more */
    assert_true(run(study, &set, &events, &slow) > 10);
    set.think_s = 1e6;
    assert_int_equal(run(study, &set, &events, &asleep), 0);
    print_message("%.1f s at once, %.1f s slow, %.1f s asleep\n", at_once, slow,
                  asleep);
    /* configurations differ, and so do sizes; idle they were not */
    assert_true(slow < 1.5 * at_once && asleep < 1.5 * at_once);
    tri_study_destroy(study);
}

static void a_broken_one_ends_it(void **state)
{
    char yaml[1024];
    tri_study *study;
    tri_curve *source;
    tri_sim_settings set;
    tri_sim_result r;
    dreamer d = {.fail_at = 3};

    (void)state;
    snprintf(yaml, sizeof yaml, format, "none");
    study = read_study(yaml);
    d.space = study->space;
    tri_sim_defaults(&set);
    set.think = dream;
    set.think_ctx = &d;
    must(tri_curve_create(study, 1, &source));
    assert_int_equal(tri_sim_run(study, source, &set, &r, NULL), TRI_ENOMEM);
    set.think_s = -1;
    assert_int_equal(tri_sim_run(study, source, &set, &r, NULL), TRI_EINVAL);
    tri_curve_destroy(source);
    tri_study_destroy(study);
}

static void broken_off_anywhere(void **state)
{
    static const double think_s[] = {0, 2.5, 0};
    static const char *const schedulers[] = {"asha", "asha", "none"};

    (void)state;
    for (int i = 0; i < 3; i++) {
        char yaml[1024];
        tri_study *study;
        tri_sim_settings set;
        int64_t whole, events;
        double s;

        snprintf(yaml, sizeof yaml, format, schedulers[i]);
        study = read_study(yaml);
        tri_sim_defaults(&set);
        set.workers = 4;
        set.think_s = think_s[i];
        run(study, &set, &whole, &s);
        for (int64_t cut = 1; cut < whole; cut++) {
            set.drain_after = cut;
            run(study, &set, &events, &s);
            set.drain_after = -1;
            set.crash_after = cut;
            run(study, &set, &events, &s);
            set.crash_after = -1;
        }
        tri_study_destroy(study);
    }
}

/* ---- the real one ------------------------------------------------------- */

static const char bowl[] =
        "study: bowl\nseed: %d\nmodel: {kind: synthetic}\n"
        "space: {a: {int: [0, 30]}, b: {int: [0, 30]}, c: {float: [0, 1]}}\n"
        "objective: {minimize: loss}\nsearch: %s\nscheduler: none\n"
        "resource: {min: 1, max: 4, eta: 4}\n"
        "budget: {trials: 60}\nfinals: none\n";

static tri_status really_think(void *ctx, const tri_snapshot *s,
                               tri_ev_proposals *out)
{
    return tri_thinker_answer(ctx, s, NULL, out);
}

/* Configurations until one within five per cent; 61 if there was none. */
static int64_t needed(const char *search, int seed)
{
    char yaml[1024];
    tri_study *study;
    tri_thinker *t;
    tri_sim_settings set;
    tri_sim_result r;
    int64_t n;

    snprintf(yaml, sizeof yaml, bowl, seed, search);
    study = read_study(yaml);
    must(tri_thinker_create(study, study->seed, NULL, 0, &t));
    tri_sim_defaults(&set);
    set.workers = 1;
    set.think = really_think;
    set.think_ctx = t;
    simulate(study, &set, &r, NULL);
    n = r.evaluations_to[0];
    tri_sim_result_fini(&r);
    tri_thinker_destroy(t);
    tri_study_destroy(study);
    return n < 0 ? 61 : n;
}

static void it_finds_the_bottom_of_a_bowl_sooner(void **state)
{
    int64_t model = 0, quasi = 0;

    (void)state;
    for (int seed = 1; seed <= 5; seed++) {
        int64_t a = needed("auto", seed), b = needed("quasi", seed);

        print_message("seed %d: %lld configurations, quasi %lld\n", seed,
                      (long long)a, (long long)b);
        model += a;
        quasi += b;
    }
    assert_true(2 * model < quasi);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(every_result_is_known),
            cmocka_unit_test(a_slow_one_holds_nobody),
            cmocka_unit_test(a_broken_one_ends_it),
            cmocka_unit_test(broken_off_anywhere),
            cmocka_unit_test(it_finds_the_bottom_of_a_bowl_sooner),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

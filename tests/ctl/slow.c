/*
 * Slow ranks: who is suspected, measured again elsewhere, flagged, acquitted
 * and benched; that nobody is where all are equally fast, nor for what is
 * learned; that budgets do not feel it.
 */
#include "trireme/slow.h"

#include "tests/ctl/world.h"
#include "trireme/rng.h"
#include "trireme/think.h"

#include <math.h>
#include <string.h>

#define SEED    20261130u
#define STUDIES 300

#define SPEED                                                                  \
    "study: t\nmodel: {kind: process, command: [train]}\n"                     \
    "space: {x: {int: [0, 9999]}, n: {choice: [1, 2]}}\n"                      \
    "constraints: [x >= 0]\nranks: n\nsearch: random\n"                        \
    "objective: {maximize: tokens_per_s, compare: total}\n"                    \
    "resource: {min: 1, max: 27, eta: 3}\nbudget: {trials: 120, runs: 150}\n"
#define FINALS                                                                 \
    "study: t\nmodel: {kind: process, command: [train]}\n"                     \
    "space: {x: {int: [0, 9999]}, n: {choice: [1, 2]}}\n"                      \
    "constraints: [x >= 0]\nranks: n\nsearch: random\n"                        \
    "objective: {maximize: tokens_per_s, compare: total}\n"                    \
    "resource: {min: 1, max: 9, eta: 3}\nbudget: {trials: 60}\n"               \
    "finals: {top: 3, repeats: 3}\n"
#define LEARNED                                                                \
    "study: t\nmodel: {kind: process, command: [train]}\n"                     \
    "space: {x: {int: [0, 9999]}, n: {choice: [1, 2]}}\n"                      \
    "constraints: [x >= 0]\nranks: n\nsearch: random\n"                        \
    "objective: {minimize: loss}\n"                                            \
    "resource: {min: 1, max: 27, eta: 3}\nbudget: {trials: 60}\n"

static void what_is_slower(void **state)
{
    const tri_speed y = {100, 98, 102}, none = {50, NAN, NAN};

    (void)state;
    assert_true(tri_slow_than((tri_speed){90, 88, 92}, y, 1));
    assert_false(tri_slow_than((tri_speed){91, 90, 92}, y, 1)); /* by a tenth */
    assert_false(tri_slow_than((tri_speed){80, 60, 99}, y, 1)); /* they meet */
    assert_false(tri_slow_than((tri_speed){110, 108, 112}, y, 1));
    assert_false(tri_slow_than(none, y, 1));
    assert_false(tri_slow_than(y, none, 1));
    assert_true(tri_slow_than((tri_speed){112, 110, 114}, y, 0)); /* seconds */
    assert_false(tri_slow_than((tri_speed){90, 88, 92}, y, 0));
}

typedef struct cluster {
    world w;
    tri_rng rng;
    int per_host;
    int slow; /* host, -1 */
    double pace;
    int finals_only; /* it becomes slow after the search */
} cluster;

static int is_on_slow(const cluster *c, const int32_t *ranks, int n)
{
    for (int i = 0; i < n; i++) {
        if (c->slow >= 0 && (ranks[i] - 1) / c->per_host == c->slow) {
            return 1;
        }
    }
    return 0;
}

static double speed(cluster *c, const wrun *r)
{
    double base = 50 + (double)(tri_rng_hash(&r->trial, sizeof r->trial) % 100);
    double noise = 1 + 0.02 * (tri_rng_unit(&c->rng) - 0.5);

    return base * noise *
           (is_on_slow(c, r->ranks, r->n_ranks) &&
                            (!c->finals_only || r->phase == TRI_PHASE_FINALS)
                    ? c->pace
                    : 1);
}

static void play_one(cluster *c)
{
    wrun *r = &c->w.runs[tri_rng_below(&c->rng, (uint64_t)c->w.n_runs)];

    c->w.now += 1;
    if (c->slow < 0 && c->finals_only && r->phase == TRI_PHASE_FINALS) {
        c->slow = (r->ranks[0] - 1) / c->per_host;
    }
    if (r->state == WRUN_SAVING) {
        world_paused(&c->w, r->run, "");
    } else {
        world_run(&c->w, r->run, speed(c, r));
    }
}

static void play(cluster *c)
{
    for (int n = 0; !c->w.ended; n++) {
        assert_true(n < 5000);
        play_one(c);
    }
}

static void begin(cluster *c, const char *study, int hosts, int per_host,
                  int slow, double pace)
{
    c->per_host = per_host;
    c->slow = slow;
    c->pace = pace;
    world_init(&c->w, study);
    c->w.interval = 0.02;
    world_begin(&c->w, hosts * per_host, per_host);
}

/* Whether the trial was measured at that rung on sound ranks, too. */
static int has_other(const cluster *c, const tri_run_view *v)
{
    for (int64_t k = 0; k < tri_ctl_n_runs(c->w.ctl); k++) {
        tri_run_view o;

        tri_ctl_run(c->w.ctl, k, &o);
        if (k != v->run && o.trial == v->trial && o.rung == v->rung &&
            o.slow == TRI_SLOW_NOT && !is_on_slow(c, o.ranks, o.n_ranks)) {
            return 1;
        }
    }
    return 0;
}

/* What became of the runs: flagged ones are of slow ranks, and each trial has
 * another run at its rung, on other ranks.  Returns how many. */
static int count_flagged(const cluster *c, int *n_repeats)
{
    int64_t n = tri_ctl_n_runs(c->w.ctl), searched = 0;
    int flagged = 0;

    *n_repeats = 0;
    for (int64_t i = 0; i < n; i++) {
        tri_run_view v;

        tri_ctl_run(c->w.ctl, i, &v);
        searched += v.phase == TRI_PHASE_SEARCH;
        *n_repeats += v.attempt > 0;
        assert_int_not_equal(v.slow, TRI_SLOW_SUSPECT);
        if (v.slow == TRI_SLOW_NOT) {
            continue;
        }
        flagged++;
        assert_true(is_on_slow(c, v.ranks, v.n_ranks));
        assert_true(has_other(c, &v));
    }
    /* of each 16 runs one may be repeated, and one more */
    assert_true(searched <= 150 + 150 / TRI_SLOW_RUNS + 1);
    return flagged;
}

/* Ranks that are benched, and among them those that only were in groups with
 * slow ones. */
static int count_benched(const cluster *c, int *n_innocent)
{
    tri_rank_view v;
    int n = 0;

    for (int i = 0; i < tri_ctl_n_ranks(c->w.ctl); i++) {
        int32_t rank;

        tri_ctl_rank(c->w.ctl, i, &v);
        rank = v.rank;
        if (v.state == TRI_RANK_BENCHED) {
            n++;
            *n_innocent += !is_on_slow(c, &rank, 1);
        }
    }
    return n;
}

static void only_what_is_slow_is_flagged(void **state)
{
    int flagged = 0, benched = 0, studies = 0, innocent = 0;

    (void)state;
    for (int i = 0; i < STUDIES; i++) {
        cluster c = {.rng = tri_rng_stream(SEED, (uint64_t)i, TRI_RNG_TEST)};
        int hosts = 2 + (int)tri_rng_below(&c.rng, 5);
        int per_host = 2 * (1 + (int)tri_rng_below(&c.rng, 2));
        int slow = (int)tri_rng_below(&c.rng, (uint64_t)hosts + 1) - 1;
        int repeats;

        begin(&c, SPEED, hosts, per_host, slow, 0.6);
        play(&c);
        flagged += count_flagged(&c, &repeats);
        assert_true(slow >= 0 || repeats <= hosts); /* a first check */
        repeats = count_benched(&c, &innocent);
        benched += repeats;
        studies += repeats > 0;
        if (i % 10 == 0) {
            world_retell(&c.w);
        }
        world_fini(&c.w);
    }
    assert_true(flagged > STUDIES); /* more than one a study */
    assert_true(studies > STUDIES / 2);
    assert_true(innocent < benched / 20);
    print_message("%d flagged, %d benched, %d innocent\n", flagged, benched,
                  innocent);
}

/* What was measured in each record is that of sound ranks: what was flagged is
 * not among them, for this study's search and, by the same way, for later ones
 * that are told of it. */
static void what_is_flagged_teaches_nobody(void **state)
{
    int n_flagged = 0;

    (void)state;
    for (int i = 0; i < 20; i++) {
        cluster c = {
                .rng = tri_rng_stream(SEED, 4000 + (uint64_t)i, TRI_RNG_TEST)};
        tri_snapshot *s = NULL;
        int64_t n_runs;
        int n_slow = 0;

        begin(&c, SPEED, 3, 2, 1, 0.6);
        play(&c);
        n_runs = tri_ctl_n_runs(c.w.ctl);
        for (int64_t k = 0; k < n_runs; k++) {
            tri_run_view v;

            tri_ctl_run(c.w.ctl, k, &v);
            n_flagged += v.slow == TRI_SLOW_FLAGGED;
            n_slow += v.slow == TRI_SLOW_NOT &&
                      is_on_slow(&c, v.ranks, v.n_ranks);
        }
        assert_int_equal(tri_ctl_snapshot(c.w.ctl, 0, 1, &s), TRI_OK);
        for (int k = 0; k < s->n_records; k++) {
            int64_t trial = s->records[k].trial;
            double base =
                    50 + (double)(tri_rng_hash(&trial, sizeof trial) % 100);

            n_slow -= s->records[k].objective < 0.95 * base;
        }
        assert_true(n_slow >= 0); /* only those that nobody found out */
        tri_snapshot_destroy(s);
        world_fini(&c.w);
    }
    assert_true(n_flagged >= 20);
}

/* A host that is slow from the start is found although no trial is promoted
 * there: by the first runs of each host. */
static void a_host_is_checked_by_its_first_run(void **state)
{
    static const char flat[] =
            "study: t\nmodel: {kind: process, command: [train]}\n"
            "space: {x: {int: [0, 9999]}}\nsearch: random\n"
            "objective: {maximize: tokens_per_s}\nfinals: none\n"
            "resource: {min: 3, max: 3}\nbudget: {trials: 120}\n";
    int n = 0;

    (void)state;
    for (int i = 0; i < 40; i++) {
        cluster c = {
                .rng = tri_rng_stream(SEED, 5000 + (uint64_t)i, TRI_RNG_TEST)};
        int innocent = 0;
        int benched, repeats;

        begin(&c, flat, 4, 1, (int)tri_rng_below(&c.rng, 4), 0.6);
        play(&c);
        count_flagged(&c, &repeats);
        benched = count_benched(&c, &innocent);
        assert_int_equal(innocent, 0);
        assert_in_range(benched, 0, 1);
        n += benched;
        world_retell(&c.w);
        world_fini(&c.w);
    }
    assert_true(n >= 38);
    print_message("%d of 40 benched\n", n);
}

/* The host where the finals begin becomes slow after the search:
 * their first runs are repeated elsewhere, its ranks benched, and the answer is
 * that of sound ranks. */
static void in_the_finals(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++) {
        cluster c = {
                .rng = tri_rng_stream(SEED, 2000 + (uint64_t)i, TRI_RNG_TEST),
                .finals_only = 1};
        int64_t flagged = 0;
        tri_answer a;
        double base;

        begin(&c, FINALS, 4, 2, -1, 0.6);
        play(&c);
        for (int64_t k = 0; k < tri_ctl_n_runs(c.w.ctl); k++) {
            tri_run_view v;

            tri_ctl_run(c.w.ctl, k, &v);
            flagged += v.slow == TRI_SLOW_FLAGGED;
            assert_true(v.slow == TRI_SLOW_NOT || v.phase == TRI_PHASE_FINALS);
        }
        tri_ctl_answer(c.w.ctl, &a);
        base = 50 +
               (double)(tri_rng_hash(&a.winner.trial, sizeof a.winner.trial) %
                        100);
        assert_true(flagged >= 1);
        assert_true(a.finals);
        assert_int_equal(a.winner.repeats, 3);
        assert_true(a.winner.objective > 0.97 * base);
        world_retell(&c.w);
        world_fini(&c.w);
    }
}

static void never_of_what_is_learned(void **state)
{
    cluster c = {.rng = tri_rng_stream(SEED, 1000, TRI_RNG_TEST)};
    int repeats;

    (void)state;
    begin(&c, LEARNED, 3, 2, 1, 3);
    play(&c);
    assert_int_equal(count_flagged(&c, &repeats), 0);
    assert_int_equal(repeats, 0);
    world_fini(&c.w);
}

/* The suspected run of two ranks whose trial waits to be measured again, -1. */
static int64_t find_waiting(const cluster *c)
{
    tri_run_view v, last = {.trial = -1};

    for (int64_t i = 0; i < tri_ctl_n_runs(c->w.ctl); i++) {
        tri_ctl_run(c->w.ctl, i, &v);
        if (v.slow == TRI_SLOW_SUSPECT && v.n_ranks == 2) {
            last = v;
        }
    }
    for (int i = 0; i < c->w.n_runs; i++) {
        if (c->w.runs[i].trial == last.trial) {
            return -1;
        }
    }
    return last.trial < 0 ? -1 : last.run;
}

/* All ranks but the first, with what runs on them. */
static void lose_ranks(cluster *c, int n)
{
    for (int i = 2; i <= n; i++) {
        if (c->w.holder[i] >= 0) {
            world_lost(&c->w, c->w.holder[i], TRI_REASON_RANK_LOST, i, 0);
        }
        world_rank(&c->w, i, TRI_RANK_DOWN);
    }
}

static int is_parked(const cluster *c, int64_t trial)
{
    tri_trial_view v;

    tri_ctl_trial(c->w.ctl, trial, &v);
    return v.state == TRI_TRIAL_PARKED;
}

/* What is left of the pool is too small to measure it again: what is suspected
 * is its trial's result. */
static void parked_it_stands(void **state)
{
    int n = 0;

    (void)state;
    for (int i = 0; i < 100; i++) {
        cluster c = {
                .rng = tri_rng_stream(SEED, 3000 + (uint64_t)i, TRI_RNG_TEST)};
        int64_t suspect = -1;
        tri_run_view r;
        tri_trial_view t;

        begin(&c, SPEED, 2, 2, 1, 0.6);
        while (!c.w.ended && (suspect = find_waiting(&c)) < 0) {
            play_one(&c);
        }
        if (suspect >= 0) {
            tri_ctl_run(c.w.ctl, suspect, &r);
            lose_ranks(&c, 4);
        }
        if (suspect >= 0 && is_parked(&c, r.trial)) {
            n++;
            play(&c);
            tri_ctl_run(c.w.ctl, suspect, &r);
            tri_ctl_trial(c.w.ctl, r.trial, &t);
            assert_int_equal(r.slow, TRI_SLOW_NOT);
            assert_true(t.objective == r.objective);
            assert_int_equal(t.top_rung, r.rung);
            world_retell(&c.w);
        }
        world_fini(&c.w);
    }
    assert_true(n >= 10);
    print_message("%d parked\n", n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(what_is_slower),
            cmocka_unit_test(only_what_is_slow_is_flagged),
            cmocka_unit_test(what_is_flagged_teaches_nobody),
            cmocka_unit_test(a_host_is_checked_by_its_first_run),
            cmocka_unit_test(in_the_finals),
            cmocka_unit_test(never_of_what_is_learned),
            cmocka_unit_test(parked_it_stands),
    };

    print_message("seed %u\n", SEED);
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Finals and the answer: who takes part, alone and interleaved, how many
 * repeats, failures, and whether a winner is one.
 */
#include "tests/ctl/world.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define RATE                                                                   \
    "study: t\nmodel: {kind: process, command: [train]}\n"                     \
    "space: {x: {int: [0, 99]}}\nconstraints: [x >= 0]\n"                      \
    "objective: {maximize: tokens_per_s}\n"                                    \
    "resource: {min: 1, max: 9, eta: 3}\nbudget: {trials: 6}\n"
#define LOSS                                                                   \
    "study: t\nmodel: {kind: synthetic}\n"                                     \
    "space: {x: {int: [0, 99]}}\nconstraints: [x >= 0]\n"                      \
    "objective: {minimize: loss}\n"                                            \
    "resource: {min: 1, max: 9, eta: 3}\nbudget: {trials: 6}\n"

static const double speed[] = {100, 110, 140, 90, 130, 120};

/* Play the search; trial i runs at speed[i]. */
static void search(world *w, const char *text, int ranks)
{
    int n = 0;

    world_init(w, text);
    world_begin(w, ranks, ranks);
    while (!w->ended && w->runs[0].phase == TRI_PHASE_SEARCH) {
        assert_true(++n < 200);
        if (w->runs[0].state == WRUN_SAVING) {
            world_paused(w, w->runs[0].run, "");
            continue;
        }
        w->now += 1;
        world_run(w, w->runs[0].run, speed[w->runs[0].trial]);
    }
}

/* Play the finals: `noise` of the value, up and down. */
static int finals(world *w, double noise, int64_t order[], int max)
{
    int n = 0;

    while (!w->ended) {
        int64_t trial = w->runs[0].trial;

        assert_true(n < max);
        assert_int_equal(w->n_runs, 1);
        assert_int_equal(w->runs[0].phase, TRI_PHASE_FINALS);
        /* the top rung, unless time is short */
        assert_true(w->runs[0].resource == 9 || !isnan(w->max_time_s));
        order[n] = trial;
        w->now += 1;
        world_run(w, w->runs[0].run,
                  speed[trial] * (1 + noise * ((n % 3) - 1)));
        n++;
    }
    return n;
}

static void the_best_and_the_baseline(void **state)
{
    world w;
    int64_t order[64];
    int seen[6] = {0};
    tri_answer a;
    tri_standing top[6];
    tri_progress p;

    (void)state;
    search(&w, RATE "baseline: {x: 50}\nfinals: {top: 2, repeats: 3}\n", 3);
    assert_false(w.ended);
    assert_int_equal(finals(&w, 0.001, order, 64), 9);
    for (int i = 0; i < 9; i++) {
        seen[order[i]]++;
        if (i % 3 == 0) { /* interleaved: each once a repeat */
            assert_int_equal(order[i] + order[i + 1] + order[i + 2], 0 + 2 + 4);
        }
    }
    assert_int_equal(seen[0], 3);
    assert_int_equal(seen[2], 3);
    assert_int_equal(seen[4], 3);
    assert_int_equal(w.status, 0);
    tri_ctl_answer(w.ctl, &a);
    assert_int_equal(a.finals, 1);
    assert_int_equal(a.winner.trial, 2);
    assert_int_equal(a.winner.repeats, 3);
    assert_int_equal(a.baseline.trial, 0);
    assert_true(a.significant);
    assert_true(fabs(a.speedup - 1.4) < 0.01);
    assert_true(a.lo > 1 && a.lo <= a.speedup && a.hi >= a.speedup);
    assert_true(fabs(a.winner.objective - 140) < 1 &&
                a.winner.lo < a.winner.objective &&
                a.winner.hi > a.winner.objective);
    assert_int_equal(tri_ctl_top(w.ctl, top, 6), 6);
    assert_int_equal(top[0].trial, 2);
    assert_int_equal(top[0].repeats, 3);
    assert_int_equal(top[1].trial, 4);
    assert_int_equal(top[2].trial, 0); /* finals before the search */
    assert_int_equal(top[3].trial, 5);
    assert_int_equal(tri_ctl_top(w.ctl, top, 1), 1);
    tri_ctl_progress(w.ctl, &p);
    assert_int_equal(p.finals_done, 9);
    assert_int_equal(p.finals_total, 9);
    world_retell(&w);
    world_fini(&w);
}

static void no_challenger_is_significantly_better(void **state)
{
    world w;
    int64_t order[64];
    tri_answer a;

    (void)state;
    search(&w, RATE "baseline: {x: 50}\nfinals: {top: 2, repeats: 3}\n", 1);
    finals(&w, 0.9, order, 64);
    tri_ctl_answer(w.ctl, &a);
    assert_int_equal(a.winner.trial, 0);
    assert_int_equal(a.baseline.trial, 0);
    assert_int_equal(a.significant, 0);
    assert_true(a.challenger.trial > 0 && a.challenger.repeats == 3);
    assert_true(a.lo < 1 && a.lo <= a.speedup && a.speedup <= a.hi);
    world_fini(&w);
}

/* Lower is better: baseline over winner. */
static void of_a_loss(void **state)
{
    world w;
    int64_t order[64];
    tri_answer a;

    (void)state;
    search(&w, LOSS "baseline: {x: 50}\nfinals: {top: 1, repeats: 4}\n", 2);
    assert_int_equal(finals(&w, 0.001, order, 64), 8);
    tri_ctl_answer(w.ctl, &a);
    assert_int_equal(a.winner.trial, 3);
    assert_true(fabs(a.speedup - 100.0 / 90) < 0.01);
    assert_true(a.significant);
    world_fini(&w);
}

static void without_a_baseline_the_best_wins(void **state)
{
    world w;
    int64_t order[64];
    tri_answer a;

    (void)state;
    search(&w, RATE "finals: {top: 2, repeats: 2}\n", 2);
    assert_int_equal(finals(&w, 0.001, order, 64), 4);
    tri_ctl_answer(w.ctl, &a);
    assert_int_equal(a.winner.trial, 2);
    assert_int_equal(a.baseline.trial, -1);
    assert_true(isnan(a.speedup));
    world_fini(&w);
}

static void none_and_nobody_to_compare_with(void **state)
{
    static const char *const texts[] = {
            RATE "baseline: {x: 50}\nfinals: none\n",
            "study: t\nmodel: {kind: synthetic}\n"
            "space: {x: {int: [0, 99]}}\nconstraints: [x >= 0]\n"
            "objective: {minimize: loss}\nbaseline: {x: 3}\n"
            "resource: {min: 1, max: 1}\nbudget: {trials: 1}\n"};

    (void)state;
    for (int i = 0; i < 2; i++) {
        world w;
        tri_answer a;

        search(&w, texts[i], 2);
        assert_true(w.ended);
        assert_int_equal(w.status, 0);
        tri_ctl_answer(w.ctl, &a);
        assert_int_equal(a.finals, 0);
        assert_int_equal(a.winner.trial, i ? 0 : 2);
        assert_int_equal(a.baseline.trial, 0);
        world_fini(&w);
    }
}

static void a_failed_run_is_repeated_once(void **state)
{
    world w;
    int64_t first, run, order[64];
    tri_answer a;

    (void)state;
    search(&w, RATE "finals: {top: 2, repeats: 2}\n", 2);
    first = w.runs[0].trial;
    run = w.runs[0].run;
    world_failed(&w, run, TRI_REASON_OOM);
    assert_int_equal(w.runs[0].trial, first);
    assert_int_equal(w.runs[0].attempt, 1);
    world_failed(&w, w.runs[0].run, TRI_REASON_OOM);
    assert_int_not_equal(w.runs[0].trial, first);
    assert_int_equal(finals(&w, 0.001, order, 64), 3);
    tri_ctl_answer(w.ctl, &a);
    assert_int_equal(a.winner.trial, 2);
    world_fini(&w);
}

static void repeats_are_cut_to_the_time(void **state)
{
    world w;
    char text[512];
    int64_t order[64];

    (void)state;
    snprintf(text, sizeof text, "%s", RATE "finals: {top: 2, repeats: 9}\n");
    search(&w, text, 1);
    world_fini(&w);
    /* the same with little time: what is left is for two repeats at least */
    world_init(&w, text);
    w.max_time_s = 12;
    world_begin(&w, 1, 1);
    while (!w.ended && w.runs[0].phase == TRI_PHASE_SEARCH) {
        w.now += 1;
        world_run(&w, w.runs[0].run, speed[w.runs[0].trial]);
    }
    assert_false(w.ended);
    assert_int_equal(finals(&w, 0, order, 64) % 2, 0);
    assert_int_equal(w.status, 0);
    assert_true(w.now <= 12 + 4);
    world_fini(&w);
}

/* What the runs of the search took says too much of the finals' time: what was
 * cut for it comes back as they turn out to be shorter. */
static void a_cut_is_no_promise(void **state)
{
    world w;
    int64_t order[64];
    tri_answer a;

    (void)state;
    world_init(&w, RATE "finals: {top: 2, repeats: 6}\n");
    w.max_time_s = 70;
    world_begin(&w, 1, 1);
    while (!w.ended && w.runs[0].phase == TRI_PHASE_SEARCH) {
        w.now += 4;
        world_run(&w, w.runs[0].run, speed[w.runs[0].trial]);
    }
    assert_false(w.ended);
    /* twelve runs of 4 s each, as it seems: there is time for nine */
    assert_true(70 - w.now < 12 * 4);
    assert_int_equal(finals(&w, 0, order, 64), 12);
    tri_ctl_answer(w.ctl, &a);
    assert_int_equal(a.winner.repeats, 6);
    assert_true(w.now <= 70);
    world_fini(&w);
}

/* Two repeats at the top rung would take far longer than there is time: the
 * finals are held at the highest rung that was reached. */
static void rung_is_cut_to_the_time(void **state)
{
    world w;
    tri_run_view v;
    int n = 0;

    (void)state;
    world_init(&w, "study: t\nmodel: {kind: process, command: [train]}\n"
                   "space: {x: {int: [0, 99]}}\nconstraints: [x >= 0]\n"
                   "objective: {maximize: tokens_per_s}\n"
                   "resource: {min: 1, max: 100000, eta: 10}\n"
                   "budget: {trials: 4}\nfinals: {top: 2, repeats: 5}\n");
    w.max_time_s = 20;
    world_begin(&w, 1, 1);
    while (!w.ended) {
        int64_t run = w.runs[0].run;

        assert_true(++n < 50);
        world_formed(&w, run);
        world_report(&w, run, 0.1);
        w.now += 1;
        world_finished(&w, run, (double)(100 + w.runs[0].trial));
    }
    tri_ctl_run(w.ctl, tri_ctl_n_runs(w.ctl) - 1, &v);
    assert_int_equal(v.phase, TRI_PHASE_FINALS);
    assert_int_equal(v.resource, 1);
    assert_true(w.now <= 20);
    assert_int_equal(w.status, 0);
    assert_non_null(strstr(w.why, "all that the time allowed"));
    world_fini(&w);
}

/* --max-time ends an opening, not the study: the next one searches on. */
static void more_time_is_used(void **state)
{
    world w;
    int64_t order[64], runs;

    (void)state;
    world_init(&w, RATE "finals: {top: 2, repeats: 2}\n");
    w.max_time_s = 6;
    world_begin(&w, 1, 1);
    while (!w.ended && w.runs[0].phase == TRI_PHASE_SEARCH) {
        w.now += 1;
        world_run(&w, w.runs[0].run, speed[w.runs[0].trial]);
    }
    finals(&w, 0, order, 64);
    assert_int_equal(w.status, 0);
    assert_true(w.resumable);
    runs = tri_ctl_n_runs(w.ctl);
    w.max_time_s = NAN;
    world_begin(&w, 1, 1);
    assert_int_equal(w.runs[0].phase, TRI_PHASE_SEARCH);
    while (!w.ended && w.runs[0].phase == TRI_PHASE_SEARCH) {
        w.now += 1;
        world_run(&w, w.runs[0].run, speed[w.runs[0].trial]);
    }
    assert_int_equal(finals(&w, 0, order, 64), 4);
    assert_int_equal(w.status, 0);
    assert_false(w.resumable);
    assert_true(tri_ctl_n_runs(w.ctl) > runs + 4);
    world_fini(&w);
}

/* Nor where that opening broke off in its finals. */
static void finals_cut_short_do_not_bind(void **state)
{
    world w;

    (void)state;
    world_init(&w, RATE "finals: {top: 2, repeats: 2}\n");
    w.max_time_s = 6;
    world_begin(&w, 1, 1);
    while (!w.ended && w.runs[0].phase == TRI_PHASE_SEARCH) {
        w.now += 1;
        world_run(&w, w.runs[0].run, speed[w.runs[0].trial]);
    }
    assert_false(w.ended);
    w.max_time_s = 100;
    world_begin(&w, 1, 1); /* killed: nothing was drained */
    assert_int_equal(w.runs[0].phase, TRI_PHASE_SEARCH);
    world_fini(&w);
}

static void interrupted_finals_go_on(void **state)
{
    world w;
    int64_t order[64], trial;
    tri_answer a;

    (void)state;
    search(&w, RATE "baseline: {x: 50}\nfinals: {top: 2, repeats: 2}\n", 2);
    world_run(&w, w.runs[0].run, speed[w.runs[0].trial]);
    trial = w.runs[0].trial;
    world_drain(&w, TRI_DRAIN_NOW);
    assert_int_equal(w.status, 3);
    world_begin(&w, 2, 2);
    assert_int_equal(w.runs[0].trial, trial);
    assert_int_equal(finals(&w, 0.001, order, 64), 5);
    assert_int_equal(w.status, 0);
    tri_ctl_answer(w.ctl, &a);
    assert_int_equal(a.winner.trial, 2);
    world_retell(&w);
    world_fini(&w);
}

/* One run takes a second a unit, nine in the finals. */
static void no_finals_close_to_the_deadline(void **state)
{
    world w;

    (void)state;
    world_init(&w, "study: t\nmodel: {kind: synthetic}\n"
                   "space: {x: {int: [0, 99]}}\n"
                   "objective: {minimize: loss}\nbudget: {trials: 2}\n"
                   "resource: {min: 1, max: 9, eta: 3}\n");
    w.deadline_s = 25; /* drains at 10 */
    world_begin(&w, 1, 1);
    for (int i = 0; i < 2; i++) {
        w.now += 1;
        world_finished(&w, i, i);
        world_paused(&w, i, "");
    }
    assert_true(w.ended);
    assert_int_equal(w.status, 3);
    assert_true(w.resumable);
    w.deadline_s = NAN;
    world_begin(&w, 1, 1);
    assert_int_equal(w.runs[0].phase, TRI_PHASE_FINALS);
    world_fini(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(the_best_and_the_baseline),
            cmocka_unit_test(no_challenger_is_significantly_better),
            cmocka_unit_test(of_a_loss),
            cmocka_unit_test(without_a_baseline_the_best_wins),
            cmocka_unit_test(none_and_nobody_to_compare_with),
            cmocka_unit_test(a_failed_run_is_repeated_once),
            cmocka_unit_test(repeats_are_cut_to_the_time),
            cmocka_unit_test(a_cut_is_no_promise),
            cmocka_unit_test(rung_is_cut_to_the_time),
            cmocka_unit_test(more_time_is_used),
            cmocka_unit_test(finals_cut_short_do_not_bind),
            cmocka_unit_test(interrupted_finals_go_on),
            cmocka_unit_test(no_finals_close_to_the_deadline)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

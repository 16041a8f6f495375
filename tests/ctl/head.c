/*
 * Groups of different sizes: the head, what may pass it, proposals, the
 * baseline that does not fit, and the same trials on pools of any size.
 */
#include "tests/ctl/world.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SPACE                                                                  \
    "study: t\nmodel: {kind: synthetic}\n"                                     \
    "space: {x: {int: [0, 99]}, g: {choice: [1, 2, 3, 4]}}\n"                  \
    "constraints: [x + g > 0]\nranks: g\nobjective: {minimize: loss}\n"        \
    "resource: {min: 1, max: 9, eta: 3}\nfinals: none\n"

static const char in_order[] = SPACE
        "budget: {trials: 8}\n"
        "start: [{x: 1, g: 3}, {x: 2, g: 2}, {x: 3, g: 1}, {x: 4, g: 1},\n"
        "        {x: 5, g: 1}, {x: 6, g: 4}]\n";

static const tri_cmd_assign *assigned(const world *w, int n)
{
    const tri_command *c = world_command(w, TRI_CMD_ASSIGN, n);

    assert_non_null(c);
    return &c->u.assign;
}

/* Three of four ranks are busy, the next needs two: it is the head. */
static void the_head_waits_and_small_ones_pass(void **state)
{
    world w;

    (void)state;
    world_init(&w, in_order);
    world_begin(&w, 4, 4);
    /* nothing is predicted yet: what fits passes */
    assert_int_equal(world_count(&w, TRI_CMD_ASSIGN), 2);
    assert_int_equal(assigned(&w, 0)->trial, 0);
    assert_int_equal(assigned(&w, 0)->n_ranks, 3);
    assert_int_equal(assigned(&w, 1)->trial, 2);
    assert_int_equal(assigned(&w, 1)->n_ranks, 1);
    assert_int_equal(tri_ctl_n_trials(w.ctl), 3);
    world_formed(&w, 0);
    world_formed(&w, 1);
    w.now = 10;
    world_finished(&w, 1, 5); /* ten seconds a unit; the first is due now */
    world_paused(&w, 1, "c");
    assert_int_equal(world_count(&w, TRI_CMD_ASSIGN), 0); /* none may pass */
    world_finished(&w, 0, 6);
    world_paused(&w, 0, "c");
    assert_int_equal(assigned(&w, 0)->trial, 1); /* the head, before others */
    assert_int_equal(assigned(&w, 1)->trial, 3);
    assert_int_equal(assigned(&w, 2)->trial, 4);
    world_fini(&w);
}

/* Three runs of ten seconds on three ranks each, then two ranks, then one each;
 * the pool has four. */
static void what_ends_before_the_head_starts_may_pass(void **state)
{
    static const char text[] = SPACE
            "budget: {trials: 9}\ncheckpoints: {policy: never}\n"
            "start: [{x: 1, g: 3}, {x: 2, g: 3}, {x: 3, g: 3}, {x: 4, g: 2},\n"
            "        {x: 5, g: 1}, {x: 6, g: 1}, {x: 7, g: 1}]\n";
    world w;
    tri_trial_view t;

    (void)state;
    world_init(&w, text);
    world_begin(&w, 4, 4);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(world_count(&w, TRI_CMD_ASSIGN), i < 2 ? 1 : 2);
        assert_int_equal(assigned(&w, 0)->trial, i);
        world_formed(&w, i);
        w.now += 10;
        if (i < 2) {
            world_finished(&w, i, 3 - i);
        }
    }
    /* Beside the third, the group of two was the head and a small one passed,
     * since it ends by then.  The third is the best of three, but with the
     * head there it may not go on in place: the head starts, the promotion is
     * the next head, until 40, and one more small one passes. */
    world_finished(&w, 2, 1);
    assert_int_equal(world_command(&w, TRI_CMD_VERDICT, 0)->u.verdict.verdict,
                     TRI_VERDICT_RELEASE);
    assert_int_equal(world_count(&w, TRI_CMD_ASSIGN), 2);
    assert_int_equal(assigned(&w, 0)->trial, 3);
    assert_int_equal(assigned(&w, 1)->trial, 5);
    tri_ctl_trial(w.ctl, 2, &t);
    assert_int_equal(t.state, TRI_TRIAL_PROMOTED);
    for (int i = 3; i < 6; i++) {
        world_formed(&w, i);
    }
    w.now = 39;
    world_finished(&w, 3, 9); /* a rank is free, but not for ten seconds */
    assert_int_equal(world_count(&w, TRI_CMD_ASSIGN), 0);
    w.now = 40;
    world_finished(&w, 4, 9);
    assert_int_equal(world_count(&w, TRI_CMD_ASSIGN), 1);
    assert_int_equal(assigned(&w, 0)->trial, 2);
    assert_int_equal(assigned(&w, 0)->rung, 1);
    world_retell(&w);
    world_fini(&w);
}

static void a_baseline_larger_than_the_pool_is_parked(void **state)
{
    static const char text[] = SPACE "budget: {trials: 3}\n"
                                     "baseline: {x: 1, g: 4}\n"
                                     "start: [{x: 2, g: 3}]\n";
    world w;
    tri_trial_view t;

    (void)state;
    world_init(&w, text);
    world_begin(&w, 2, 2);
    tri_ctl_trial(w.ctl, 0, &t);
    assert_string_equal(t.origin, "baseline");
    assert_int_equal(t.state, TRI_TRIAL_PARKED);
    assert_int_equal(assigned(&w, 0)->trial, 1);
    tri_ctl_trial(w.ctl, 1, &t);
    assert_string_equal(t.origin, "quasi"); /* the start does not fit */
    while (!w.ended) {
        world_run(&w, w.runs[0].run, 1);
        if (w.n_runs && w.runs[0].state == WRUN_SAVING) {
            world_paused(&w, w.runs[0].run, "");
        }
    }
    assert_int_equal(w.status, 0);
    world_fini(&w);
}

static void proposals_go_first(void **state)
{
    const tri_proposal list[] = {{"x=150 g=1", 1, 0, 2, 3, 0.5, "ei"},
                                 {"x=7 g=1", 1.5, 1, 2, 1e6, 0.9, "ei"},
                                 {"x=7 g=1", 1.5, 1, 2, 1e6, 0.9, "ei"},
                                 {"nonsense", 1, 1, 1, 1, 1, ""},
                                 {"x=9 g=4", 1, 1, 1, 1, 1, "large"},
                                 {"x=8 g=2", 2.5, 2, 3, 2e6, 0.8, "ei"}};
    tri_event e = {
            .kind = TRI_EV_PROPOSALS,
            .u.proposals = {
                    .model = "gp", .hyper = "", .list = list, .n_list = 6}};
    world w;
    tri_trial_view t;
    char text[64];

    (void)state;
    world_init(&w, SPACE "budget: {trials: 9}\n");
    world_open(&w);
    world_pool(&w, 3, 3);
    world_feed(&w, &e);
    assert_true(tri_ctl_n_trials(w.ctl) >= 2);
    tri_ctl_trial(w.ctl, 0, &t);
    tri_space_print(tri_ctl_study(w.ctl)->space, t.config, text, sizeof text);
    assert_string_equal(text, "x=7 g=1");
    assert_string_equal(t.origin, "model");
    assert_string_equal(t.rule, "ei");
    assert_true(t.predicted == 1.5 && t.predicted_lo == 1 &&
                t.predicted_hi == 2 && t.predicted_bytes == 1e6 &&
                t.p_feasible == 0.9);
    tri_ctl_trial(w.ctl, 1, &t);
    tri_space_print(tri_ctl_study(w.ctl)->space, t.config, text, sizeof text);
    assert_string_equal(text, "x=8 g=2");
    world_fini(&w);
}

static void first_ten(const char *text, int ranks, char out[10][64])
{
    world w;
    int n = 0;

    world_init(&w, text);
    w.seed = 42;
    world_begin(&w, ranks, 4);
    while (tri_ctl_n_trials(w.ctl) < 10) {
        assert_true(++n < 200);
        if (w.runs[0].state == WRUN_SAVING) {
            world_paused(&w, w.runs[0].run, "");
        } else {
            w.now += 1;
            world_run(&w, w.runs[0].run, n * 13 % 7);
        }
    }
    for (int i = 0; i < 10; i++) {
        tri_trial_view t;

        tri_ctl_trial(w.ctl, i, &t);
        tri_space_print(tri_ctl_study(w.ctl)->space, t.config, out[i], 64);
    }
    world_fini(&w);
}

static void the_same_trials_on_any_pool(void **state)
{
    static const char *const searches[] = {"random", "quasi"};

    (void)state;
    for (int s = 0; s < 2; s++) {
        char two[10][64] = {{0}}, four[10][64] = {{0}}, eight[10][64] = {{0}};
        char text[512];

        snprintf(text, sizeof text,
                 "study: t\nmodel: {kind: synthetic}\n"
                 "space: {x: {int: [0, 99]}, g: {choice: [1, 2]}}\n"
                 "constraints: [x + g > 0]\nranks: g\n"
                 "objective: {minimize: loss}\nsearch: %s\n"
                 "resource: {min: 1, max: 9, eta: 3}\nfinals: none\n"
                 "budget: {trials: 30}\n",
                 searches[s]);
        first_ten(text, 2, two);
        first_ten(text, 4, four);
        first_ten(text, 8, eight);
        assert_memory_equal(two, four, sizeof two);
        assert_memory_equal(two, eight, sizeof two);
    }
}

static void hosts_of_a_run(void **state)
{
    static const char text[] = SPACE "start: [{x: 1, g: 4}, {x: 2, g: 1}]\n"
                                     "budget: {trials: 2}\n";
    world w;
    char hosts[64];
    tri_rank_view r;

    (void)state;
    world_init(&w, text);
    world_begin(&w, 5, 2);
    tri_ctl_run_hosts(w.ctl, 0, hosts, sizeof hosts);
    assert_string_equal(hosts, "h0,h1");
    tri_ctl_run_hosts(w.ctl, 1, hosts, sizeof hosts);
    assert_string_equal(hosts, "h2");
    tri_ctl_run_hosts(w.ctl, 0, hosts, 4);
    assert_string_equal(hosts, "h0"); /* whole names only */
    tri_ctl_rank(w.ctl, 4, &r);
    assert_int_equal(r.rank, 5);
    assert_int_equal(r.run, 1);
    world_fini(&w);
}

/* Only failures so far: nothing is predicted, but a median run is known. */
static void patience_of_the_head_is_two_median_runs(void **state)
{
    static const char text[] = SPACE
            "budget: {trials: 20}\n"
            "start: [{x: 1, g: 3}, {x: 2, g: 2}, {x: 3, g: 1}, {x: 4, g: 1},\n"
            "        {x: 5, g: 1}, {x: 6, g: 1}, {x: 7, g: 1}]\n";
    world w;

    (void)state;
    world_init(&w, text);
    world_begin(&w, 4, 4);
    assert_int_equal(assigned(&w, 1)->trial, 2);
    w.now = 10; /* waited 10, the median run is 10 */
    world_failed(&w, 1, TRI_REASON_OOM);
    assert_int_equal(assigned(&w, 0)->trial, 3);
    w.now = 20; /* 20 and 10 */
    world_failed(&w, 2, TRI_REASON_OOM);
    assert_int_equal(assigned(&w, 0)->trial, 4);
    w.now = 21; /* 21 and 10: no longer */
    world_failed(&w, 3, TRI_REASON_OOM);
    assert_int_equal(world_count(&w, TRI_CMD_ASSIGN), 0);
    world_failed(&w, 0, TRI_REASON_OOM);
    assert_int_equal(assigned(&w, 0)->trial, 1);
    world_fini(&w);
}

/* A rank of a running group dies; what it ran is too large from then on. */
static void parked_while_it_runs(void **state)
{
    static const char text[] =
            SPACE "budget: {trials: 3}\nstart: [{x: 1, g: 2}, {x: 2, g: 1}]\n";
    world w;
    tri_trial_view t;

    (void)state;
    world_init(&w, text);
    world_begin(&w, 2, 2);
    world_formed(&w, 0);
    world_rank(&w, 1, TRI_RANK_DOWN);
    tri_ctl_trial(w.ctl, 0, &t);
    assert_int_equal(t.state, TRI_TRIAL_RUNNING); /* as far as is known */
    world_lost(&w, 0, TRI_REASON_RANK_LOST, 1, 1);
    tri_ctl_trial(w.ctl, 0, &t);
    assert_int_equal(t.state, TRI_TRIAL_PARKED);
    assert_int_equal(assigned(&w, 0)->trial, 1);
    world_run(&w, 1, 1);
    world_paused(&w, 1, "");
    assert_int_equal(assigned(&w, 0)->trial, 2);
    world_rank(&w, 1, TRI_RANK_UP);
    tri_ctl_trial(w.ctl, 0, &t);
    assert_int_equal(t.state, TRI_TRIAL_RUNNING); /* it waits for ranks */
    world_run(&w, 2, 1);
    world_paused(&w, 2, "");
    assert_int_equal(assigned(&w, 0)->trial, 0);
    world_fini(&w);
}

/* Nothing new fits two ranks; a third one comes. */
static void more_ranks_more_configurations(void **state)
{
    static const char text[] = "study: t\nmodel: {kind: synthetic}\n"
                               "space: {g: {choice: [1, 3]}}\nranks: g\n"
                               "objective: {minimize: loss}\n"
                               "resource: {min: 1, max: 9}\nfinals: none\n";
    world w;

    (void)state;
    world_init(&w, text);
    world_open(&w);
    world_pool(&w, 3, 3);
    world_rank(&w, 3, TRI_RANK_DOWN);
    world_clock(&w, 0);
    assert_int_equal(tri_ctl_n_trials(w.ctl), 1); /* with a rank to spare */
    world_rank(&w, 3, TRI_RANK_UP);
    assert_int_equal(tri_ctl_n_trials(w.ctl), 2);
    world_run(&w, 0, 1);
    world_paused(&w, 0, "");
    assert_int_equal(assigned(&w, 0)->n_ranks, 3);
    world_fini(&w);
}

/* What fails is parked no more. */
static void failed_is_not_parked(void **state)
{
    static const char text[] =
            SPACE "budget: {trials: 3}\nstart: [{x: 1, g: 2}, {x: 2, g: 1}]\n";
    world w;
    tri_progress p;
    tri_trial_view t;

    (void)state;
    world_init(&w, text);
    world_begin(&w, 2, 2);
    world_rank(&w, 1, TRI_RANK_DOWN);
    tri_ctl_progress(w.ctl, &p);
    assert_int_equal(p.parked, 1);
    world_failed(&w, 0, TRI_REASON_DIVERGED);
    tri_ctl_progress(w.ctl, &p);
    assert_int_equal(p.parked, 0);
    tri_ctl_trial(w.ctl, 0, &t);
    assert_int_equal(t.state, TRI_TRIAL_FAILED);
    world_fini(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(the_head_waits_and_small_ones_pass),
            cmocka_unit_test(what_ends_before_the_head_starts_may_pass),
            cmocka_unit_test(a_baseline_larger_than_the_pool_is_parked),
            cmocka_unit_test(proposals_go_first),
            cmocka_unit_test(the_same_trials_on_any_pool),
            cmocka_unit_test(hosts_of_a_run),
            cmocka_unit_test(patience_of_the_head_is_two_median_runs),
            cmocka_unit_test(parked_while_it_runs),
            cmocka_unit_test(more_ranks_more_configurations),
            cmocka_unit_test(failed_is_not_parked)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

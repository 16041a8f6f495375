/*
 * Questions to a thinker that answers by script: at once, late, twice, never,
 * wrongly.  What a snapshot tells.
 */
#include "tests/ctl/world.h"

#include "trireme/think.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define STUDY(rest)                                                            \
    "study: t\nmodel: {kind: synthetic}\n"                                     \
    "space: {x: {int: [0, 199]}, g: {choice: [1, 2, 4]}}\n"                    \
    "constraints: [x < 150 or g == 1]\nranks: g\n"                             \
    "objective: {minimize: loss}\n"                                            \
    "resource: {min: 1, max: 9, eta: 3}\nfinals: none\n" rest

#define NONE "scheduler: none\n"

/* "x=N g=G" with a prediction of N. */
static void answer(world *w, int64_t snapshot, const int *x, int n, int g)
{
    tri_proposal list[64];
    char texts[64][32];

    for (int i = 0; i < n; i++) {
        snprintf(texts[i], sizeof texts[i], "x=%d g=%d", x[i], g);
        list[i] = (tri_proposal){texts[i], x[i], x[i] - 1, x[i] + 1,
                                 1e6,      0.5,  "ei"};
    }
    world_proposals(w, snapshot, list, n);
}

static void answer_one(world *w, int64_t snapshot, int x)
{
    answer(w, snapshot, &x, 1, 1);
}

static const tri_cmd_think *question(const world *w)
{
    const tri_command *c = world_command(w, TRI_CMD_THINK, 0);

    return c ? &c->u.think : NULL;
}

static void expect_trial(const world *w, int64_t trial, const char *origin,
                         const char *config)
{
    tri_trial_view t;
    char text[64];

    assert_true(tri_ctl_n_trials(w->ctl) > trial);
    tri_ctl_trial(w->ctl, trial, &t);
    tri_space_print(tri_ctl_study(w->ctl)->space, t.config, text, sizeof text);
    assert_string_equal(t.origin, origin);
    if (config) {
        assert_string_equal(text, config);
    }
}

static void begin(world *w, const char *study, int ranks)
{
    world_init(w, study);
    w->thinks = 1;
    world_begin(w, ranks, 8);
}

static void end(world *w)
{
    world_retell(w);
    world_fini(w);
}

/* ---- when to ask -------------------------------------------------------- */

/* Where there is nothing to ask for, nothing is asked. */
static void who_is_not_asked(void **state)
{
    static const char *const studies[] = {STUDY(NONE "search: random\n"),
                                          STUDY(NONE "search: quasi\n"),
                                          STUDY(NONE "search: auto\n")};

    (void)state;
    for (int i = 0; i < 3; i++) {
        world w;

        world_init(&w, studies[i]);
        w.thinks = i < 2; /* the last has no thinker */
        world_begin(&w, 1, 1);
        assert_null(question(&w));
        assert_int_equal(world_count(&w, TRI_CMD_ASSIGN), 1);
        expect_trial(&w, 0, i ? "quasi" : "random", NULL);
        end(&w);
    }
}

/* The first configuration waits for the first answer, a second at most; each
 * later one follows from all results before it. */
static void the_first_waits(void **state)
{
    world w;

    (void)state;
    begin(&w, STUDY(NONE), 1);
    assert_int_equal(question(&w)->snapshot, 1);
    assert_int_equal(question(&w)->wanted, 1);
    assert_int_equal(world_count(&w, TRI_CMD_ASSIGN), 0);
    assert_true(tri_ctl_next_deadline(w.ctl) == 1);
    answer_one(&w, 1, 7);
    assert_int_equal(world_count(&w, TRI_CMD_ASSIGN), 1);
    expect_trial(&w, 0, "model", "x=7 g=1");
    for (int i = 1; i < 9; i++) {
        w.now += 10;
        world_run(&w, w.runs[0].run, 100 - i);
        assert_int_equal(question(&w)->snapshot, 1 + i);
        assert_int_equal(world_count(&w, TRI_CMD_ASSIGN), 0);
        /* a hundredth of the median run: of ten seconds, but for the first */
        assert_true(tri_ctl_next_deadline(w.ctl) <= w.now + 0.1000001);
        answer_one(&w, 1 + i, 10 + i);
        assert_int_equal(world_count(&w, TRI_CMD_ASSIGN), 1);
    }
    expect_trial(&w, 8, "model", "x=18 g=1");
    end(&w);
}

/* No answer: after a second without any result, a draw of our own. */
static void nobody_answers(void **state)
{
    world w;

    (void)state;
    begin(&w, STUDY(NONE "budget: {trials: 3}\n"), 1);
    w.now = 0.9;
    world_clock(&w, 0);
    assert_int_equal(world_count(&w, TRI_CMD_ASSIGN), 0);
    w.now = 1;
    world_clock(&w, 0);
    assert_int_equal(world_count(&w, TRI_CMD_ASSIGN), 1);
    expect_trial(&w, 0, "quasi", NULL);
    for (int i = 0; i < 2; i++) {
        w.now += 10;
        world_run(&w, w.runs[0].run, 1);
        assert_int_equal(world_count(&w, TRI_CMD_ASSIGN), 0);
        w.now = tri_ctl_next_deadline(w.ctl);
        world_clock(&w, 0);
        assert_int_equal(world_count(&w, TRI_CMD_ASSIGN), 1);
    }
    w.now += 10;
    world_run(&w, w.runs[0].run, 1);
    assert_int_equal(w.ended, 1);
    assert_int_equal(w.asked, 1); /* one question was out all the time */
    end(&w);
}

/* What comes late was made with fewer results, and is better than nothing. */
static void a_late_answer(void **state)
{
    const int two[] = {31, 32};
    world w;

    (void)state;
    begin(&w, STUDY(NONE), 1);
    answer_one(&w, 1, 7);
    w.now = 10;
    world_run(&w, w.runs[0].run, 1);
    w.now = tri_ctl_next_deadline(w.ctl); /* the wait is over */
    world_clock(&w, 0);
    expect_trial(&w, 1, "quasi", NULL);
    w.now = 15;
    answer(&w, 2, two, 2, 1);
    assert_int_equal(world_count(&w, TRI_CMD_ASSIGN), 0);
    w.now = 20;
    world_run(&w, w.runs[0].run, 1);
    assert_int_equal(question(&w)->snapshot, 3);
    assert_int_equal(world_count(&w, TRI_CMD_ASSIGN), 0);
    w.now = tri_ctl_next_deadline(w.ctl);
    world_clock(&w, 0);
    expect_trial(&w, 2, "model", "x=31 g=1");
    /* the answer to the third question makes the rest of the second's void */
    answer_one(&w, 3, 40);
    w.now = 30;
    world_run(&w, w.runs[0].run, 1);
    w.now = tri_ctl_next_deadline(w.ctl);
    world_clock(&w, 0);
    expect_trial(&w, 3, "model", "x=40 g=1");
    end(&w);
}

/* An answer to an older question than the one whose proposals are there. */
static void a_stale_answer(void **state)
{
    world w;

    (void)state;
    begin(&w, STUDY(NONE), 1);
    answer_one(&w, 1, 7);
    w.now = 10;
    world_run(&w, w.runs[0].run, 1);
    answer_one(&w, 2, 8);
    w.now = 20;
    world_run(&w, w.runs[0].run, 1);
    answer_one(&w, 1, 99); /* once more: nobody wants it now */
    assert_int_equal(world_count(&w, TRI_CMD_ASSIGN), 0);
    answer_one(&w, 3, 9);
    expect_trial(&w, 2, "model", "x=9 g=1");
    end(&w);
}

/* Configurations that cannot be tried are left out, whoever proposes them. */
static void wrong_answers(void **state)
{
    const tri_proposal list[] = {{"x=150 g=2", 1, 1, 1, 1, 1, "invalid"},
                                 {"nonsense", 1, 1, 1, 1, 1, ""},
                                 {"x=1 g=4", 1, 1, 1, 1, 1, "too large"},
                                 {"x=3 g=1", 1, 0, 2, NAN, 1, "random"},
                                 {"x=3 g=1", 1, 0, 2, NAN, 1, "twice"},
                                 {"x=4 g=1", 1, 0, 2, NAN, 1, "warm"}};
    world w;
    tri_trial_view t;

    (void)state;
    begin(&w, STUDY(NONE), 2);
    world_proposals(&w, 1, list, 6);
    expect_trial(&w, 0, "random", "x=3 g=1");
    expect_trial(&w, 1, "warm", "x=4 g=1");
    tri_ctl_trial(w.ctl, 0, &t);
    assert_string_equal(t.rule, "random");
    assert_true(t.predicted == 1 && t.predicted_lo == 0 && t.predicted_hi == 2);
    /* all of it useless: what the thinker does not know we draw ourselves */
    w.now = 10;
    world_run(&w, w.runs[0].run, 1);
    world_proposals(&w, 2, list, 6);
    expect_trial(&w, 2, "quasi", NULL);
    assert_null(question(&w));
    end(&w);
}

static void an_empty_answer(void **state)
{
    world w;

    (void)state;
    begin(&w, STUDY(NONE), 3);
    assert_int_equal(question(&w)->wanted, 3);
    world_proposals(&w, 1, NULL, 0);
    assert_int_equal(world_count(&w, TRI_CMD_ASSIGN), 3);
    expect_trial(&w, 2, "quasi", NULL);
    assert_null(question(&w)); /* nothing has changed */
    w.now = 10;
    world_run(&w, w.runs[0].run, 1);
    assert_int_equal(question(&w)->snapshot, 2);
    end(&w);
}

/* More ranks than proposals: it is asked for the rest. */
static void not_enough(void **state)
{
    world w;

    (void)state;
    begin(&w, STUDY(NONE), 3);
    answer_one(&w, 1, 7);
    assert_int_equal(world_count(&w, TRI_CMD_ASSIGN), 1);
    assert_int_equal(question(&w)->snapshot, 2);
    answer_one(&w, 2, 8);
    answer_one(&w, 3, 9);
    expect_trial(&w, 2, "model", "x=9 g=1");
    assert_null(question(&w));
    end(&w);
}

/* Promotions and the user's own points wait for nobody. */
static void what_does_not_wait(void **state)
{
    world w;
    const int four[] = {1, 2, 3, 4};

    (void)state;
    begin(&w,
          STUDY("baseline: {x: 100, g: 1}\nstart: [{x: 101, g: 1}]\n"
                "checkpoints: {policy: never}\n"),
          2);
    assert_int_equal(question(&w)->snapshot, 1); /* ahead of need */
    assert_int_equal(world_count(&w, TRI_CMD_ASSIGN), 2);
    expect_trial(&w, 1, "start", "x=101 g=1");
    answer(&w, 1, four, 2, 1);
    w.now = 10;
    world_run(&w, w.runs[0].run, 5); /* known, but the proposals are older */
    assert_int_equal(question(&w)->snapshot, 2);
    answer(&w, 2, four, 2, 1);
    expect_trial(&w, 2, "model", "x=1 g=1");
    w.now = 20;
    world_run(&w, w.runs[0].run, 4);
    answer(&w, 3, four, 2, 1);
    w.now = 30;
    world_run(&w, w.runs[0].run, 3); /* three results: one goes on */
    assert_int_equal(w.n_runs, 2);
    assert_int_equal(question(&w)->snapshot, 4); /* it is told, though */
    end(&w);
}

/* A question without an answer when the job dies is asked again. */
static void resumed_while_thinking(void **state)
{
    world w;

    (void)state;
    begin(&w, STUDY(NONE), 1);
    answer_one(&w, 1, 7);
    w.now = 10;
    world_run(&w, w.runs[0].run, 1);
    assert_int_equal(w.question, 2);
    world_begin(&w, 1, 1);
    assert_int_equal(question(&w)->snapshot, 3);
    answer_one(&w, 3, 8);
    expect_trial(&w, 1, "model", "x=8 g=1");
    world_begin(&w, 1, 1); /* with a run under way, which goes first */
    assert_int_equal(world_count(&w, TRI_CMD_ASSIGN), 1);
    assert_int_equal(question(&w)->snapshot, 4);
    w.thinks = 0; /* and none in the last opening */
    world_begin(&w, 1, 1);
    w.now = 20;
    world_run(&w, w.runs[0].run, 1);
    expect_trial(&w, 2, "quasi", NULL);
    end(&w);
}

/* A drain does not wait, and neither does the end of the search. */
static void drained_while_waiting(void **state)
{
    world w;

    (void)state;
    begin(&w, STUDY(NONE), 1);
    world_drain(&w, TRI_DRAIN_SIGNAL);
    assert_int_equal(w.ended, 1);
    assert_int_equal(w.status, 3);
    world_begin(&w, 1, 1);
    assert_int_equal(w.question, 2);
    answer_one(&w, 2, 7);
    end(&w);
    begin(&w, STUDY(NONE "budget: {time: 0.5 s}\n"), 1);
    w.now = tri_ctl_next_deadline(w.ctl);
    world_clock(&w, 0);
    assert_int_equal(w.ended, 1);
    end(&w);
}

/* As many as fit, no more than there is budget for, 64 at most. */
static void how_many(void **state)
{
    static const struct {
        const char *study;
        int ranks, wanted;
    } cases[] = {{STUDY(NONE), 5, 5},
                 {STUDY(NONE "budget: {trials: 3}\n"), 5, 3},
                 {STUDY(NONE), 64, 64}};

    (void)state;
    for (int i = 0; i < 3; i++) {
        world w;

        begin(&w, cases[i].study, cases[i].ranks);
        assert_int_equal(question(&w)->wanted, cases[i].wanted);
        world_fini(&w);
    }
}

/* ---- what it is told ---------------------------------------------------- */

static const tri_record *record(const tri_snapshot *s, int64_t trial,
                                int64_t resource)
{
    for (int i = 0; i < s->n_records; i++) {
        if (s->records[i].trial == trial &&
            s->records[i].resource == resource) {
            return &s->records[i];
        }
    }
    return NULL;
}

static void a_snapshot(void **state)
{
    world w;
    tri_snapshot *s;

    (void)state;
    begin(&w,
          "study: t\nmodel: {kind: synthetic}\n"
          "space: {x: {int: [0, 199]}}\nobjective: {minimize: loss}\n"
          "memory: 1 GiB\nresource: {min: 1, max: 9, eta: 3}\n"
          "checkpoints: {policy: never}\nfinals: none\n"
          "start: [{x: 1}, {x: 2}, {x: 3}, {x: 4}, {x: 5}]\n",
          4);
    w.now = 1;
    world_run(&w, 0, 5);
    world_run(&w, 1, 4);
    w.peak_bytes = 777;
    world_failed(&w, 2, TRI_REASON_OOM);
    world_run(&w, 3, 3); /* the third result: trial 3 goes on */
    assert_int_equal(tri_ctl_snapshot(w.ctl, 12, 7, &s), TRI_OK);
    assert_int_equal(s->number, 12);
    assert_int_equal(s->wanted, 7);
    assert_int_equal(s->resource, 9);
    assert_int_equal(s->base, 1);
    assert_int_equal(s->max_ranks, 4);
    assert_true(s->memory_bytes == 1024.0 * 1024 * 1024);
    assert_int_equal(s->n_records, 4);
    assert_true(record(s, 0, 1)->objective == 5);
    assert_true(record(s, 1, 1)->objective == 4);
    assert_int_equal(record(s, 2, 1)->failed, TRI_REASON_OOM);
    assert_true(record(s, 2, 1)->peak_bytes == 777);
    assert_true(record(s, 3, 1)->objective == 3);
    assert_int_equal(record(s, 3, 1)->config[0].u.i, 4);
    assert_int_equal(s->n_tried, tri_ctl_n_trials(w.ctl));
    assert_true(s->n_pending >= 1);
    assert_int_equal(s->pending[0][0].u.i, 5);
    tri_snapshot_destroy(s);
    world_fini(&w);
}

/* Repeats of one resource are one record; losses are none. */
static void repeats_and_losses(void **state)
{
    world w;
    tri_snapshot *s;
    double value = 1;

    (void)state;
    begin(&w,
          "study: t\nmodel: {kind: synthetic}\n"
          "space: {x: {int: [0, 199]}}\nobjective: {minimize: loss}\n"
          "scheduler: none\nresource: {min: 1, max: 9, eta: 3}\n"
          "budget: {trials: 2}\nstart: [{x: 1}, {x: 2}]\n"
          "finals: {top: 2, repeats: 3}\n",
          1);
    world_formed(&w, 0);
    world_lost(&w, 0, TRI_REASON_NODE_LOST, -1, 1);
    assert_int_equal(tri_ctl_snapshot(w.ctl, 1, 1, &s), TRI_OK);
    assert_int_equal(s->n_records, 0);
    assert_int_equal(s->n_pending, 1);
    tri_snapshot_destroy(s);
    while (!w.ended) {
        w.now += 1;
        world_run(&w, w.runs[0].run, value++);
    }
    assert_int_equal(tri_ctl_n_runs(w.ctl), 9);
    assert_int_equal(tri_ctl_snapshot(w.ctl, 1, 1, &s), TRI_OK);
    assert_int_equal(s->n_records, 2);
    assert_int_equal(s->n_pending, 0);
    assert_int_equal(s->base, 9);
    for (int t = 0; t < 2; t++) {
        double sum = 0;

        for (int i = 0; i < 9; i++) {
            tri_run_view v;

            tri_ctl_run(w.ctl, i, &v);
            sum += v.trial == t && !isnan(v.objective) ? v.objective : 0;
        }
        assert_true(fabs(record(s, t, 9)->objective - sum / 4) < 1e-12);
    }
    tri_snapshot_destroy(s);
    world_fini(&w);
}

/* On another class of machines nothing of the first is told. */
static void another_class(void **state)
{
    world w;
    tri_snapshot *s;

    (void)state;
    world_init(&w, STUDY(NONE "start: [{x: 1, g: 1}]\n"));
    w.thinks = 1;
    w.machine_class = "a";
    world_begin(&w, 1, 1);
    w.now = 10;
    world_run(&w, 0, 5);
    w.machine_class = "b";
    world_begin(&w, 1, 1);
    assert_int_equal(tri_ctl_snapshot(w.ctl, 1, 1, &s), TRI_OK);
    assert_int_equal(s->n_records, 0);
    assert_int_equal(s->n_pending, 1);
    tri_snapshot_destroy(s);
    world_fini(&w);
}

/* Rows of earlier studies are kept for the thinker, by file and class. */
static void warm_rows(void **state)
{
    static const tri_warm_row first[] = {
            {"x=1 g=1", 9, 5, 100, 0, "a", "one.h5"},
            {"x=200 g=1", 9, 5, 100, 0, "a", "one.h5"}, /* not of the space */
            {"x=160 g=2", 9, 5, 100, 0, "a", "one.h5"}, /* not valid */
            {"x=2 g=4", 3, NAN, NAN, TRI_REASON_OOM, "a", "one.h5"},
            {"x=3 g=1", 9, 7, NAN, 0, "b", "two.h5"}};
    static const tri_warm_row second[] = {
            {"x=4 g=1", 9, 8, NAN, 0, "a", "two.h5"}};
    const tri_warm_row *rows;
    tri_warm_records *list;
    world w;
    int n;

    (void)state;
    world_init(&w, STUDY(NONE));
    w.machine_class = "a";
    w.warm = first;
    w.n_warm = 5;
    world_begin(&w, 1, 1);
    w.warm = second;
    w.n_warm = 1;
    world_begin(&w, 1, 1);
    assert_int_equal(tri_ctl_warm(w.ctl, &rows), 6);
    assert_string_equal(rows[5].config, "x=4 g=1");
    assert_int_equal(tri_ctl_warm_records(w.ctl, &list, &n), TRI_OK);
    assert_int_equal(n, 3);
    assert_string_equal(list[0].source, "one.h5");
    assert_int_equal(list[0].n, 2);
    assert_true(list[0].same_class);
    assert_true(list[0].records[0].objective == 5 &&
                list[0].records[0].peak_bytes == 100);
    assert_int_equal(list[0].records[1].failed, TRI_REASON_OOM);
    assert_int_equal(list[0].records[1].ranks, 4);
    assert_false(list[1].same_class);
    assert_true(list[2].same_class);
    assert_int_equal(list[2].records[0].config[0].u.i, 4);
    tri_warm_records_destroy(list, n);
    end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(who_is_not_asked),
                                       cmocka_unit_test(the_first_waits),
                                       cmocka_unit_test(nobody_answers),
                                       cmocka_unit_test(a_late_answer),
                                       cmocka_unit_test(a_stale_answer),
                                       cmocka_unit_test(wrong_answers),
                                       cmocka_unit_test(an_empty_answer),
                                       cmocka_unit_test(not_enough),
                                       cmocka_unit_test(what_does_not_wait),
                                       cmocka_unit_test(resumed_while_thinking),
                                       cmocka_unit_test(drained_while_waiting),
                                       cmocka_unit_test(how_many),
                                       cmocka_unit_test(a_snapshot),
                                       cmocka_unit_test(repeats_and_losses),
                                       cmocka_unit_test(another_class),
                                       cmocka_unit_test(warm_rows)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

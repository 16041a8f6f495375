/*
 * What of a process's reports is a result, and what a person is told where it
 * is none.
 */
#include "mpi_workers/process_result.h"

#include "tests/tri_cmocka.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static tri_study *read_study(const char *objective, const char *unit)
{
    char text[512];
    tri_study *s = NULL;

    snprintf(text, sizeof text,
             "study: p\nmodel: {kind: process, command: [train]}\n"
             "space: {x: {int: [0, 3]}}\nobjective: {minimize: %s}\n"
             "resource: {unit: %s, min: 2}\n",
             objective, unit);
    assert_int_equal(tri_study_parse(text, strlen(text), "p", NULL, NULL, &s),
                     TRI_OK);
    return s;
}

/* `n` steps of 8 samples and 100 tokens. */
static tri_heard hear(int n)
{
    tri_heard h = {.names = "step, foo"};

    for (int i = 1; i <= n; i++) {
        tri_news_line line = {.step = i,
                              .steps = 1,
                              .tokens = 100,
                              .samples = 8,
                              .loss = 1,
                              .own = NAN};

        tri_heard_add(&h, &line);
    }
    return h;
}

static void expect(const tri_heard *h, const tri_study *s, int64_t resource,
                   int ended, const char *why)
{
    char said[400] = "";

    assert_int_equal(
            tri_heard_is_result(h, s, resource, ended, said, sizeof said),
            why[0] == 0);
    assert_string_equal(said, why);
}

static void the_whole_resource(void **state)
{
    static const char *const units[] = {"steps", "samples", "tokens",
                                        "seconds"};
    static const int64_t whole[] = {5, 40, 500, 0};
    char why[200];

    (void)state;
    for (int i = 0; i < 4; i++) {
        tri_study *s = read_study("loss", units[i]);
        tri_heard h = hear(5);

        expect(&h, s, whole[i], 1, "");
        if (whole[i] > 0) {
            snprintf(why, sizeof why,
                     "the process of rank 1 ended with status 0 after %lld of "
                     "%lld %s",
                     (long long)whole[i], (long long)whole[i] + 1, units[i]);
            expect(&h, s, whole[i] + 1, 1, why);
            expect(&h, s, whole[i] + 1, -1, "");
        }
        tri_study_destroy(s);
    }
}

static void what_the_objective_needs(void **state)
{
    static const char *const objectives[] = {"loss", "tokens_per_s",
                                             "samples_per_s", "accuracy"};
    static const char *const whys[] = {
            "no line had \"loss\"; they had step, foo",
            "no line had \"tokens\", which the objective needs; they had step, "
            "foo",
            "no line had \"samples\", which the objective needs; they had "
            "step, foo",
            "no line had \"accuracy\"; they had step, foo"};
    tri_news_line line = {.step = 2, .steps = 2, .loss = NAN, .own = NAN};
    tri_study *s;
    tri_heard h = {.names = "step, foo"};

    (void)state;
    tri_heard_add(&h, &line);
    for (int i = 0; i < 4; i++) {
        tri_heard full = hear(2);

        line.steps = 0;
        line.own = 0.5;
        tri_heard_add(&full, &line);
        s = read_study(objectives[i], "steps");
        expect(&h, s, 2, -1, whys[i]);
        expect(&full, s, 2, 0, "");
        tri_study_destroy(s);
    }
    s = read_study("loss", "steps");
    expect(&h, s, 3, 0,
           "the process of rank 0 ended with status 0 after 2 of 3 steps; no "
           "line had \"loss\"; they had step, foo");
    tri_study_destroy(s);
    s = read_study("step_s", "steps");
    expect(&h, s, 2, 0, "");
    tri_study_destroy(s);
}

/* The key was there: what it had was of no use. */
static void what_is_no_number(void **state)
{
    static const char *const objectives[] = {"loss", "tokens_per_s",
                                             "accuracy"};
    static const char *const whys[] = {
            "no \"loss\" in its lines was a number",
            "no \"tokens\" in its lines was a number above 0 and below 1e18, "
            "which the objective needs",
            "no \"accuracy\" in its lines was a number"};
    tri_news_line line = {.step = 2, .steps = 2, .loss = NAN, .own = NAN};
    tri_heard h = {.names = "tokens, step, accuracy, loss"};

    (void)state;
    tri_heard_add(&h, &line);
    for (int i = 0; i < 3; i++) {
        tri_study *s = read_study(objectives[i], "steps");

        expect(&h, s, 2, -1, whys[i]);
        tri_study_destroy(s);
    }
}

static void a_resource_that_is_not_counted(void **state)
{
    tri_study *s = read_study("loss", "tokens");
    tri_news_line line = {.steps = 1, .samples = 8, .loss = 1, .own = NAN};
    tri_heard h = {.names = "loss"};
    char why[200] = "";

    (void)state;
    for (int i = 1; i < 100; i++) {
        line.step = i;
        tri_heard_add(&h, &line);
    }
    assert_true(tri_heard_is_counted(&h, s, why, sizeof why));
    tri_heard_add(&h, &line);
    assert_false(tri_heard_is_counted(&h, s, why, sizeof why));
    assert_string_equal(why, "no line had \"tokens\", by which the resource is "
                             "counted; they had loss");
    line.tokens = 1;
    tri_heard_add(&h, &line);
    assert_true(tri_heard_is_counted(&h, s, why, sizeof why));
    tri_study_destroy(s);
}

/* Five steps beyond a checkpoint of 20. */
static void after_a_checkpoint(void **state)
{
    tri_study *s = read_study("loss", "samples");
    tri_heard h = {.names = "step, foo"};

    (void)state;
    for (int i = 21; i <= 25; i++) {
        tri_news_line line = {
                .step = i, .steps = 1, .samples = 8, .loss = 1, .own = NAN};

        tri_heard_add(&h, &line);
    }
    expect(&h, s, 200, 0, "");
    expect(&h, s, 201, 0,
           "the process of rank 0 ended with status 0 after 200 of 201 "
           "samples");
    tri_study_destroy(s);
}

static void steps_that_cannot_be_meant(void **state)
{
    tri_study *steps = read_study("loss", "steps");
    tri_study *seconds = read_study("loss", "seconds");

    (void)state;
    assert_int_equal(tri_heard_step_limit(steps, 23, 20), 1046);
    assert_int_equal(tri_heard_step_limit(steps, -1, 500), 2000);
    assert_true(tri_heard_step_limit(steps, INT64_MAX, INT64_MAX) == INT64_MAX);
    assert_true(tri_heard_step_limit(seconds, -1, 5) == INT64_MAX);
    tri_study_destroy(steps);
    tri_study_destroy(seconds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(the_whole_resource),
            cmocka_unit_test(what_the_objective_needs),
            cmocka_unit_test(what_is_no_number),
            cmocka_unit_test(a_resource_that_is_not_counted),
            cmocka_unit_test(after_a_checkpoint),
            cmocka_unit_test(steps_that_cannot_be_meant),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

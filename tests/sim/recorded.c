/*
 * Recorded results as a curve source: repeats combined, resources between
 * recorded ones, what is missing, when the optimum is known, and whole
 * simulations of studies that could not run here.
 */
#include "tests/sim/fixture.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char yaml[] = "study: process\n"
                           "seed: 3\n"
                           "model: {kind: process, command: [./train, '{a}']}\n"
                           "space:\n"
                           "  a: {choice: [1, 2, 4]}\n"
                           "  b: {choice: [x, y]}\n"
                           "constraints: [a < 4 or b == x]\n"
                           "ranks: a\n"
                           "objective: {%s}\n"
                           "resource: {unit: steps, min: 1, max: 9, eta: 3}\n"
                           "search: random\n"
                           "budget: {trials: 20}\n"
                           "finals: none\n";

static tri_study *process_study(const char *objective)
{
    char text[1024];

    snprintf(text, sizeof text, yaml, objective);
    return read_study(text);
}

static tri_curve *source_of(const tri_study *study, const char *csv)
{
    tri_recorded r;
    tri_curve *c = NULL;

    tri_recorded_init(&r, study);
    must(tri_recorded_read(&r, csv, strlen(csv), "r.csv"));
    must(tri_curve_create_recorded(study, &r, 2, &c));
    tri_recorded_fini(&r); /* not kept */
    return c;
}

static tri_curve_point at(const tri_study *study, const tri_curve *c,
                          const char *text, int64_t from, int64_t to)
{
    tri_config config[2];
    tri_curve_point p;

    must(tri_space_parse(study->space, text, config));
    tri_curve_at(c, config, 1, from, to, &p);
    return p;
}

static void repeats_are_combined(void **state)
{
    tri_study *study = process_study("minimize: loss");
    tri_curve *c = source_of(study, "a,b,loss,failed\n"
                                    "1,x,5,0\n1,y,9,1\n1,x,1,1\n"
                                    "1,x,nan,0\n1,x,8,0\n1,y,9,1\n"
                                    "2,x,nan,0\n");
    tri_curve_point p = at(study, c, "a=1 b=x", 1, 9);

    (void)state;
    assert_true(p.objective == 6.5 && p.duration_s == 16);
    assert_false(p.failed || p.final_failure || p.missing);
    p = at(study, c, "a=1 b=y", 0, 3);
    assert_true(p.failed && p.final_failure && !p.missing);
    assert_true(isnan(p.objective));
    p = at(study, c, "a=2 b=x", 0, 3); /* it diverged */
    assert_true(isnan(p.objective) && !p.failed);
    p = at(study, c, "a=2 b=y", 0, 3);
    assert_true(p.failed && p.final_failure && p.missing);
    assert_true(isnan(p.objective) && p.duration_s == 6);
    tri_curve_destroy(c);
    tri_study_destroy(study);
}

static void resources_take_the_nearest(void **state)
{
    static const struct {
        int64_t resource;
        double objective;
    } expected[] = {{1, 7}, {2, 7}, {3, 7}, {4, 7}, {8, 7}, {9, 4}, {50, 4}};
    tri_study *study = process_study("minimize: loss");
    tri_recorded r;
    tri_curve *c = NULL;
    int used;

    (void)state;
    tri_recorded_init(&r, study);
    must(tri_recorded_add_row(&r, "b=y a=2", &used));
    assert_true(used);
    must(tri_recorded_add(&r, 9, 4, 0));
    must(tri_recorded_add_row(&r, "a=3 b=y", &used));
    assert_false(used);
    must(tri_recorded_add_row(&r, "a=2 b=y", &used));
    must(tri_recorded_add(&r, 3, 7, 0));
    must(tri_recorded_add_row(&r, "a=1 b=y", &used));
    must(tri_recorded_add(&r, 1, 8, 0));
    must(tri_recorded_add(&r, 3, NAN, 1)); /* out of memory from there on */
    must(tri_curve_create_recorded(study, &r, 1, &c));
    tri_recorded_fini(&r);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        tri_curve_point p = at(study, c, "a=2 b=y", 0, expected[i].resource);

        assert_true(p.objective == expected[i].objective && !p.failed);
    }
    assert_true(at(study, c, "a=1 b=y", 0, 2).objective == 8);
    assert_true(at(study, c, "a=1 b=y", 0, 9).final_failure);
    tri_curve_destroy(c);
    tri_study_destroy(study);
}

/* Each point by its own time, where that is known; repeats by their median. */
static void runs_last_as_recorded(void **state)
{
    tri_study *study = process_study("minimize: loss");
    tri_recorded r;
    tri_curve *c = NULL;
    int used;

    (void)state;
    tri_recorded_init(&r, study);
    must(tri_recorded_add_row(&r, "b=y a=2", &used));
    must(tri_recorded_add(&r, 3, 7, 0));
    tri_recorded_took(&r, 0.5);
    must(tri_recorded_add(&r, 3, 7, 0));
    tri_recorded_took(&r, 1.5);
    must(tri_recorded_add(&r, 9, 4, 0));
    must(tri_curve_create_recorded(study, &r, 2, &c));
    tri_recorded_fini(&r);
    assert_true(at(study, c, "a=2 b=y", 0, 3).duration_s == 3);
    assert_true(at(study, c, "a=2 b=y", 1, 4).duration_s == 3);
    assert_true(at(study, c, "a=2 b=y", 0, 9).duration_s == 18);
    tri_curve_destroy(c);
    tri_study_destroy(study);
}

static void nothing_recorded_is_refused(void **state)
{
    tri_study *study = process_study("minimize: loss");
    tri_recorded r;
    tri_curve *c = NULL;

    (void)state;
    tri_recorded_init(&r, study);
    assert_int_equal(tri_curve_create_recorded(study, &r, 1, &c), TRI_EEMPTY);
    assert_null(c);
    tri_study_destroy(study);
}

#define ALL                                                                    \
    "a,b,tokens_per_s\n1,x,10\n1,y,nan\n2,x,16\n2,y,18\n4,x,30\n4,y,1000\n"

static void the_optimum_needs_all(void **state)
{
    tri_study *total = process_study("maximize: tokens_per_s, compare: total");
    tri_study *rank =
            process_study("maximize: tokens_per_s, compare: per_rank");
    tri_curve *c = source_of(total, ALL);

    (void)state;
    assert_true(tri_curve_optimum(c) == 30); /* 4, y is not valid */
    tri_curve_destroy(c);
    c = source_of(rank, ALL);
    assert_true(tri_curve_optimum(c) == 10);
    tri_curve_destroy(c);
    c = source_of(total, "a,b,tokens_per_s\n1,x,10\n1,y,nan\n2,x,16\n2,y,18\n"
                         "4,y,1000\n");
    assert_true(isnan(tri_curve_optimum(c)));
    tri_curve_destroy(c);
    tri_study_destroy(total);
    tri_study_destroy(rank);
}

/* A configuration that was stopped early may have been the best. */
static void the_optimum_needs_the_ends(void **state)
{
    tri_study *study = process_study("minimize: loss");
    static const char *const all[] = {"a=1 b=x", "a=1 b=y", "a=2 b=x",
                                      "a=2 b=y", "a=4 b=x"};

    (void)state;
    for (int last = 3; last <= 9; last += 6) {
        tri_recorded r;
        tri_curve *c = NULL;
        int used;

        tri_recorded_init(&r, study);
        for (int i = 0; i < 5; i++) {
            must(tri_recorded_add_row(&r, all[i], &used));
            must(tri_recorded_add(&r, i == 4 ? last : 9, 10 - i, 0));
        }
        must(tri_curve_create_recorded(study, &r, 1, &c));
        if (last == 9) {
            assert_true(tri_curve_optimum(c) == 6);
        } else {
            assert_true(isnan(tri_curve_optimum(c)));
        }
        tri_curve_destroy(c);
        tri_recorded_fini(&r);
    }
    tri_study_destroy(study);
}

static void run(const tri_study *study, const char *csv, tri_sim_result *out)
{
    tri_sim_settings settings;
    tri_curve *c = source_of(study, csv);

    tri_sim_defaults(&settings);
    must(tri_sim_run(study, c, &settings, out, NULL));
    tri_curve_destroy(c);
}

static void any_study_is_simulated(void **state)
{
    tri_study *study = process_study("maximize: tokens_per_s, compare: total");
    tri_sim_result r;

    (void)state;
    run(study, ALL, &r);
    assert_int_equal(r.distinct, 5);
    assert_int_equal(r.missing, 0);
    assert_true(r.best == 30 && r.optimum == 30);
    assert_true(r.evaluations_to[0] >= 1 && r.evaluations_to[0] <= 5);
    tri_sim_result_fini(&r);
    run(study, "a,b,tokens_per_s\n2,x,16\n2,y,18\n4,y,1000\n", &r);
    assert_int_equal(r.distinct, 5);
    assert_int_equal(r.missing, 3);
    assert_true(r.best == 18 && isnan(r.optimum));
    assert_int_equal(r.evaluations_to[2], -1);
    tri_sim_result_fini(&r);
    tri_study_destroy(study);
}

/* An optimum that is given counts instead of the source's own. */
static void an_optimum_may_be_given(void **state)
{
    tri_study *study = process_study("maximize: tokens_per_s, compare: total");
    tri_curve *c = source_of(study, ALL);
    tri_sim_settings settings;
    tri_sim_result r;

    (void)state;
    tri_sim_defaults(&settings);
    settings.optimum = 29.9;
    must(tri_sim_run(study, c, &settings, &r, NULL));
    assert_true(r.optimum == 29.9);
    assert_true(r.evaluations_to[0] >= 1);
    tri_sim_result_fini(&r);
    settings.optimum = 40;
    must(tri_sim_run(study, c, &settings, &r, NULL));
    assert_int_equal(r.evaluations_to[2], -1);
    tri_sim_result_fini(&r);
    tri_curve_destroy(c);
    tri_study_destroy(study);
}

/* Early stopping sees what was recorded at each rung: after 1, 3, 9. */
static void curves_are_followed(void **state)
{
    tri_study *study = process_study("minimize: loss");
    tri_sim_result r;
    int promoted = 0;

    (void)state;
    run(study,
        "a,b,step_0,step_1,step_2,step_3\n"
        "1,x,19,18,15,14\n1,y,16,28,25,24\n2,x,17,38,35,34\n"
        "2,y,18,48,45,44\n4,x,10,58,55,54\n",
        &r);
    assert_int_equal(r.distinct, 5);
    assert_true(r.optimum == 14);
    for (int64_t i = 0; i < r.n_history; i++) {
        int v = (int)r.history[i].objective;

        promoted += r.history[i].rung == 1;
        assert_true(r.history[i].rung == 0   ? v >= 10 && v <= 19
                    : r.history[i].rung == 1 ? v % 10 == 5
                                             : v % 10 == 4);
    }
    assert_true(promoted >= 1);
    tri_sim_result_fini(&r);
    tri_study_destroy(study);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(repeats_are_combined),
            cmocka_unit_test(resources_take_the_nearest),
            cmocka_unit_test(runs_last_as_recorded),
            cmocka_unit_test(nothing_recorded_is_refused),
            cmocka_unit_test(the_optimum_needs_all),
            cmocka_unit_test(the_optimum_needs_the_ends),
            cmocka_unit_test(any_study_is_simulated),
            cmocka_unit_test(an_optimum_may_be_given),
            cmocka_unit_test(curves_are_followed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

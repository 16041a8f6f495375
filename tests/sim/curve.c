/*
 * What runs of synthetic and table studies measure: noise, straggling and
 * failures by run, the direction of the objective, recorded rows.
 */
#include "tests/sim/fixture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RUNS 20000

static const char rest[] = "space:\n"
                           "  x: {float: [0, 1]}\n"
                           "  y: {float: [0, 1]}\n"
                           "ranks: 1\n"
                           "resource: {unit: steps, min: 1, max: 16, eta: 4}\n"
                           "budget: {trials: 10}\n"
                           "finals: none\n";

static tri_study *synthetic(const char *model, const char *objective)
{
    char yaml[1024];

    snprintf(yaml, sizeof yaml,
             "study: test\nseed: 3\nmodel: %s\nobjective: %s\n%s", model,
             objective, rest);
    return read_study(yaml);
}

static tri_curve *source(const tri_study *study, double cost_s)
{
    tri_curve *c = NULL;

    must(tri_curve_create(study, cost_s, &c));
    return c;
}

static tri_config *sample(const tri_study *study)
{
    tri_config *c = calloc((size_t)tri_space_n_params(study->space), sizeof *c);
    tri_rng rng = tri_rng_stream(1, 1, TRI_RNG_TEST);

    must(tri_space_sample(study->space, &rng, c));
    return c;
}

static void plain_runs_cost_their_resource(void **state)
{
    tri_study *study = synthetic("{kind: synthetic}", "{minimize: loss}");
    tri_curve *c = source(study, 0.5);
    tri_config *config = sample(study);
    tri_curve_point p;

    (void)state;
    tri_curve_at(c, config, 7, 4, 16, &p);
    assert_true(p.duration_s == 6);
    assert_true(p.objective == tri_curve_value(c, config, 16));
    assert_true(p.objective > tri_curve_optimum(c));
    assert_false(p.failed || p.final_failure);
    free(config);
    tri_curve_destroy(c);
    tri_study_destroy(study);
}

static void the_study_s_cost_wins(void **state)
{
    tri_study *study =
            synthetic("{kind: synthetic, cost: 2 s}", "{minimize: loss}");
    tri_curve *c = source(study, 0.5);
    tri_config *config = sample(study);
    tri_curve_point p;

    (void)state;
    tri_curve_at(c, config, 7, 0, 3, &p);
    assert_true(p.duration_s == 6);
    free(config);
    tri_curve_destroy(c);
    tri_study_destroy(study);
}

static void maximising_negates(void **state)
{
    tri_study *down = synthetic("{kind: synthetic}", "{minimize: loss}");
    tri_study *up = synthetic("{kind: synthetic}", "{maximize: tokens_per_s}");
    tri_curve *a = source(down, 1);
    tri_curve *b = source(up, 1);
    tri_config *config = sample(down);

    (void)state;
    assert_true(tri_curve_value(a, config, 8) ==
                -tri_curve_value(b, config, 8));
    assert_true(tri_curve_optimum(a) == -tri_curve_optimum(b));
    assert_true(tri_curve_optimum(a) > 0);
    free(config);
    tri_curve_destroy(a);
    tri_curve_destroy(b);
    tri_study_destroy(down);
    tri_study_destroy(up);
}

/* Means over many runs, within four standard errors. */
static void runs_are_drawn_as_asked(void **state)
{
    tri_study *study =
            synthetic("{kind: synthetic, noise: 0.1, straggle: 0.5, fail: 0.2}",
                      "{minimize: loss}");
    tri_curve *c = source(study, 1);
    tri_config *config = sample(study);
    double value = tri_curve_value(c, config, 16);
    double noise = 0, square = 0, slow = 0;
    int failed = 0;

    (void)state;
    for (int64_t run = 0; run < RUNS; run++) {
        tri_curve_point p, again;

        tri_curve_at(c, config, run, 0, 16, &p);
        tri_curve_at(c, config, run, 0, 16, &again);
        assert_memory_equal(&p.duration_s, &again.duration_s, sizeof(double));
        failed += p.failed;
        if (p.failed) {
            assert_true(isnan(p.objective) && !p.final_failure);
            continue;
        }
        assert_true(p.duration_s >= 16);
        noise += p.objective / value - 1;
        square += (p.objective / value - 1) * (p.objective / value - 1);
        slow += p.duration_s / 16 - 1;
    }
    assert_true(fabs(failed - 0.2 * RUNS) < 4 * sqrt(0.16 * RUNS));
    assert_true(fabs(noise / (RUNS - failed)) < 4 * 0.1 / sqrt(0.8 * RUNS));
    assert_true(fabs(sqrt(square / (RUNS - failed)) - 0.1) < 0.003);
    /* E|N(0,S)| = S sqrt(2/pi) */
    assert_true(fabs(slow / (RUNS - failed) - 0.5 * 0.7979) < 0.01);
    free(config);
    tri_curve_destroy(c);
    tri_study_destroy(study);
}

static void other_models_have_no_curves(void **state)
{
    tri_study *study = synthetic("{kind: synthetic}", "{minimize: loss}");
    tri_curve *c = NULL;

    (void)state;
    study->model.kind = TRI_MODEL_PROCESS;
    assert_int_equal(tri_curve_create(study, 1, &c), TRI_EUNBUILT);
    study->model.kind = TRI_MODEL_SYNTHETIC;
    tri_study_destroy(study);
}

/* The study reader names unknown curves at their place in the file; who makes
 * a study otherwise is told too. */
static void unknown_curves_are_refused(void **state)
{
    tri_study *study = synthetic("{kind: synthetic}", "{minimize: loss}");
    const char *known = study->model.u.synthetic.curve;
    tri_curve *c = NULL;

    (void)state;
    study->model.u.synthetic.curve = "bump";
    assert_int_equal(tri_curve_create(study, 1, &c), TRI_EUNKNOWN);
    assert_non_null(strstr(tri_error_last()->sentence, "bowl"));
    study->model.u.synthetic.curve = known;
    tri_study_destroy(study);
}

/* ---- tables ---------------------------------------------------------- */

static const char table_yaml[] =
        "study: table\n"
        "model: {kind: table, file: t.csv, parameters: [gpus, tp],\n"
        "        objective: rate, failed: failed}\n"
        "space: table\n"
        "ranks: gpus\n"
        "objective: {maximize: tokens_per_s, compare: %s}\n"
        "resource: {unit: steps, min: 1, max: 4, eta: 4}\n"
        "budget: {trials: 10}\n"
        "finals: none\n";

static const char table_csv[] = "gpus,tp,failed,rate\n"
                                "2,1,0,10\n"
                                "4,1,0,16\n"
                                "4,2,1,nan\n"
                                "2,2,1,nan\n"
                                "2,2,0,7\n"
                                "2,2,0,9\n";

static tri_study *table_study(const char *compare)
{
    char yaml[1024];

    snprintf(yaml, sizeof yaml, table_yaml, compare);
    return read_table_study(yaml, table_csv);
}

static tri_curve_point answer(const tri_study *study, const tri_curve *c,
                              const char *text)
{
    tri_config config[2];
    tri_curve_point p;

    must(tri_space_parse(study->space, text, config));
    tri_curve_at(c, config, 0, 0, 4, &p);
    return p;
}

static void tables_answer_their_rows(void **state)
{
    tri_study *study = table_study("total");
    tri_curve *c = source(study, 5);
    tri_curve_point p = answer(study, c, "gpus=2 tp=1");

    (void)state;
    assert_true(p.objective == 10 && p.duration_s == 1 && !p.failed);
    /* the median of the finite ones */
    p = answer(study, c, "gpus=2 tp=2");
    assert_true(p.objective == 8 && !p.failed);
    p = answer(study, c, "gpus=4 tp=2");
    assert_true(p.failed && p.final_failure && isnan(p.objective));
    assert_true(tri_curve_optimum(c) == 16);
    tri_curve_destroy(c);
    tri_study_destroy(study);
}

static void the_optimum_compares_as_the_study(void **state)
{
    tri_study *study = table_study("per_rank");
    tri_curve *c = source(study, 5);

    (void)state;
    assert_true(tri_curve_optimum(c) == 5);
    tri_curve_destroy(c);
    tri_study_destroy(study);
}

static void recorded_curves_have_columns(void **state)
{
    tri_study *study = read_table_study(
            "study: curves\n"
            "model: {kind: table, file: t.csv, parameters: [lr],\n"
            "        objective: step_2, curve: step_}\n"
            "space: table\n"
            "objective: {minimize: loss}\n"
            "resource: {unit: steps, min: 1, max: 3, eta: 3}\n"
            "budget: {trials: 10}\n"
            "finals: none\n",
            "lr,step_0,step_1,step_2\n0.5,9,6,5\n0.25,8,7,nan\n");
    tri_curve *c = source(study, 2);
    tri_config config[1];
    tri_curve_point p;

    (void)state;
    must(tri_space_parse(study->space, "lr=0.5", config));
    tri_curve_at(c, config, 0, 0, 1, &p);
    assert_true(p.objective == 9 && p.duration_s == 2);
    tri_curve_at(c, config, 0, 1, 3, &p);
    assert_true(p.objective == 5 && p.duration_s == 4);
    must(tri_space_parse(study->space, "lr=0.25", config));
    tri_curve_at(c, config, 0, 0, 2, &p);
    assert_true(p.objective == 7 && !p.failed);
    tri_curve_at(c, config, 0, 0, 3, &p);
    assert_true(isnan(p.objective));
    assert_true(tri_curve_optimum(c) == 5);
    tri_curve_destroy(c);
    tri_study_destroy(study);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(plain_runs_cost_their_resource),
            cmocka_unit_test(the_study_s_cost_wins),
            cmocka_unit_test(maximising_negates),
            cmocka_unit_test(runs_are_drawn_as_asked),
            cmocka_unit_test(other_models_have_no_curves),
            cmocka_unit_test(unknown_curves_are_refused),
            cmocka_unit_test(tables_answer_their_rows),
            cmocka_unit_test(the_optimum_compares_as_the_study),
            cmocka_unit_test(recorded_curves_have_columns),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

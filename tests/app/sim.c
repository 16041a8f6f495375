/*
 * trireme sim: the shape of its answer, and what it refuses.
 */
#include "tests/app/cli.h"

#include <stdio.h>
#include <string.h>

static void shape(void **state)
{
    const cli_ran *ran;
    json_t *o;
    json_t *history;
    json_t *point;

    (void)state;
    cli_write("bowl.yaml", cli_synthetic);
    ran = cli_run("sim bowl.yaml --workers 3 --seed 5 --json");
    assert_int_equal(ran->status, 0);
    o = cli_json(ran);
    history = json_object_get(o, "history");
    assert_int_equal(json_array_size(history),
                     json_integer_value(json_object_get(o, "evaluations")));
    assert_true(json_array_size(history) >= 12);
    point = json_array_get(history, json_array_size(history) - 1);
    assert_int_equal(json_array_size(point), 6);
    assert_true(json_real_value(json_array_get(point, 5)) ==
                json_real_value(json_object_get(o, "best")));
    assert_true(json_is_real(json_object_get(o, "virtual_s")));
    assert_true(json_is_real(json_object_get(o, "rank_seconds")));
    assert_non_null(
            json_object_get(json_object_get(o, "evaluations_to"), "1%"));
    assert_non_null(
            json_object_get(json_object_get(o, "rank_seconds_to"), "5%"));
    assert_true(json_is_string(json_object_get(o, "ended_by")));
    assert_true(json_object_size(json_object_get(o, "rules")) > 0);
    json_decref(o);
}

static void same_seed_same_answer(void **state)
{
    json_t *a;
    json_t *b;
    json_t *c;

    (void)state;
    cli_write("bowl.yaml", cli_synthetic);
    a = cli_json(cli_run("sim bowl.yaml --workers 3 --seed 5 --straggle 0.5 "
                         "--drop 0.001 --json"));
    b = cli_json(cli_run("sim bowl.yaml --workers 3 --seed 5 --straggle 0.5 "
                         "--drop 0.001 --json"));
    c = cli_json(cli_run("sim bowl.yaml --workers 3 --seed 6 --straggle 0.5 "
                         "--drop 0.001 --json"));
    assert_true(json_equal(a, b));
    assert_false(json_equal(a, c));
    json_decref(a);
    json_decref(b);
    json_decref(c);
}

/* A study whose search is led by a thinker, in a file of that name. */
static void write_led(const char *file, const char *search)
{
    char text[512];

    snprintf(text, sizeof text,
             "study: led\nseed: 4\nmodel: {kind: synthetic}\n"
             "space: {a: {int: [0, 30]}, b: {int: [0, 30]}}\n"
             "objective: {minimize: loss}\nscheduler: none\n"
             "resource: {min: 1, max: 4, eta: 4}\n"
             "search: %s\nbudget: {trials: 20}\nfinals: none\n",
             search);
    cli_write(file, text);
}

static void thinking(void **state)
{
    json_t *at_once;
    json_t *slow;
    json_t *none;
    json_t *quasi;

    (void)state;
    write_led("led.yaml", "auto");
    write_led("quasi.yaml", "quasi");
    at_once = cli_json(cli_run("sim led.yaml --workers 2 --json"));
    slow = cli_json(cli_run("sim led.yaml --workers 2 --think 1e6 --json"));
    none = cli_json(cli_run("sim led.yaml --workers 2 --think none --json"));
    quasi = cli_json(cli_run("sim quasi.yaml --workers 2 --json"));
    assert_true(json_equal(none, quasi));
    assert_false(json_equal(at_once, quasi));
    /* never heard: the first configuration waited a second, no other ran
     * otherwise */
    assert_true(json_equal(json_object_get(slow, "best"),
                           json_object_get(quasi, "best")));
    assert_true(json_real_value(json_object_get(slow, "virtual_s")) >
                json_real_value(json_object_get(quasi, "virtual_s")));
    assert_true(json_real_value(json_object_get(slow, "virtual_s")) <
                1.1 * json_real_value(json_object_get(quasi, "virtual_s")));
    assert_int_equal(cli_run("sim led.yaml --workers 2 --think x")->status, 1);
    json_decref(at_once);
    json_decref(slow);
    json_decref(none);
    json_decref(quasi);
}

/* What ended a search, and which rules its configurations come from. */
static void ended_by(void **state)
{
    static const struct {
        const char *budget, *by;
        int finals;
    } rows[] = {{"{trials: 20}", "trials", 0},
                {"{runs: 20}", "runs", 0},
                {"{trials: 900, time: 30 s}", "time", 1},
                {"{}", "space", 0}};
    char text[512];

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        json_t *o;

        snprintf(text, sizeof text,
                 "study: e\nmodel: {kind: synthetic, cost: 1}\n"
                 "space: {a: {int: [0, 9]}, b: {int: [0, 9]}}\n"
                 "objective: {minimize: loss}\nsearch: random\n"
                 "resource: {min: 1, max: 3, eta: 3}\nbudget: %s\n"
                 "finals: %s\n",
                 rows[i].budget,
                 rows[i].finals ? "{top: 2, repeats: 2}" : "none");
        cli_write("ended.yaml", text);
        o = cli_json(cli_run("sim ended.yaml --workers 2 --json"));
        assert_string_equal(json_string_value(json_object_get(o, "ended_by")),
                            rows[i].by);
        assert_int_equal(json_integer_value(json_object_get(o, "finals")) > 0,
                         rows[i].finals);
        assert_int_equal(json_real_value(json_object_get(o, "finals_s")) > 0,
                         rows[i].finals);
        assert_int_equal(json_integer_value(json_object_get(
                                 json_object_get(o, "rules"), "random")),
                         json_integer_value(json_object_get(o, "distinct")));
        json_decref(o);
    }
    assert_non_null(strstr(cli_run("sim ended.yaml --workers 2")->out,
                           "ended by      nothing left to try; no finals\n"));
    assert_non_null(strstr(cli_run("sim ended.yaml --plan")->out, "ended by"));
}

static void options_without_effect(void **state)
{
    static const char *const rows[][2] = {
            {"--plan --warm nope.h5", "--warm is of no use to a plan"},
            {"--plan --think 3", "--think is of no use to a plan"},
            {"--workers 2 --dropped lost", "--dropped is of no use without"},
            {"--workers 2 --node-down 9", "--node-down is of no use without"},
            {"--workers 2 --cost 9", "--cost is of no use to a study that"},
            {"--workers 2 --warm=", "--warm takes the name of a study file"},
    };

    (void)state;
    cli_write("cost.yaml", "study: c\nmodel: {kind: synthetic, cost: 1}\n"
                           "space: {a: {int: [0, 9]}}\n"
                           "objective: {minimize: loss}\n");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        cli_expect_sentence(cli_run("sim cost.yaml %s", rows[i][0]), 1,
                            rows[i][1]);
    }
}

static const char gpt_results[] = "dp,tp,micro_batch,tokens_per_s,failed\n"
                                  "1,1,1,100,0\n"
                                  "1,1,2,120,0\n"
                                  "1,2,1,150,0\n"
                                  "1,2,2,nan,1\n"
                                  "2,1,1,190,0\n"
                                  "2,1,1,210,0\n"
                                  "2,1,2,170,0\n"
                                  "2,2,1,220,0\n";

/* A training study on results measured elsewhere. */
static void recorded_results(void **state)
{
    char csv[1024];
    json_t *o;

    (void)state;
    cli_write("gpt.yaml", cli_gpt);
    snprintf(csv, sizeof csv, "%s2,2,2,230,0\n", gpt_results);
    cli_write("all.csv", csv);
    o = cli_json(cli_run("sim gpt.yaml --workers 4 --curves all.csv --json"));
    assert_int_equal(json_integer_value(json_object_get(o, "missing")), 0);
    assert_true(json_real_value(json_object_get(o, "optimum")) == 230);
    assert_true(json_real_value(json_object_get(o, "best")) <= 230);
    json_decref(o);
    o = cli_json(cli_run("sim gpt.yaml --workers 4 --json --curves all.csv"));
    assert_int_equal(json_integer_value(json_object_get(o, "distinct")), 4);
    json_decref(o);
}

static const char every_layout[] =
        "study: all\n"
        "model: {kind: process, command: [./train, '{dp}', '{tp}']}\n"
        "space: {dp: {choice: [1, 2]}, tp: {choice: [1, 2]},\n"
        "        micro_batch: {choice: [1, 2]}}\n"
        "ranks: dp * tp\n"
        "objective: {maximize: tokens_per_s, compare: total}\n"
        "resource: {unit: steps, min: 2, max: 4, eta: 2}\n"
        "budget: {trials: 20}\n"
        "finals: none\n";

static void missing_results(void **state)
{
    const cli_ran *ran;
    json_t *o;

    (void)state;
    cli_write("all.yaml", every_layout);
    cli_write("some.csv", gpt_results);
    ran = cli_run("sim all.yaml --workers 4 --curves some.csv --json");
    assert_int_equal(ran->status, 0);
    assert_int_equal(cli_lines(ran->err), 1);
    assert_non_null(strstr(ran->err, "some.csv has no result for 1 of the 8 "
                                     "configurations"));
    o = cli_json(ran);
    assert_int_equal(json_integer_value(json_object_get(o, "missing")), 1);
    assert_true(json_real_value(json_object_get(o, "best")) == 220);
    assert_true(json_is_null(json_object_get(o, "optimum")));
    json_decref(o);
    o = cli_json(cli_run("sim bowl.yaml --workers 3 --json"));
    assert_null(json_object_get(o, "missing"));
    json_decref(o);
}

/* A table with curves, and the same file given as --curves. */
static void results_are_a_table_s(void **state)
{
    json_t *a;
    json_t *b;

    (void)state;
    cli_write("lr.csv", "lr,step_0,step_1,step_2\n0.5,9,6,5\n0.25,8,7,nan\n"
                        "0.125,7,4,2\n0.125,7,6,4\n0.1,nan,nan,nan\n");
    cli_write("lr.yaml", "study: lr\n"
                         "model: {kind: table, file: lr.csv,\n"
                         "        parameters: [lr], objective: step_2,\n"
                         "        curve: step_}\n"
                         "space: table\n"
                         "objective: {minimize: loss}\n"
                         "resource: {unit: steps, min: 1, max: 3, eta: 3}\n"
                         "search: random\n"
                         "budget: {trials: 10}\n"
                         "finals: none\n");
    a = cli_json(cli_run("sim lr.yaml --workers 2 --json"));
    b = cli_json(cli_run("sim lr.yaml --workers 2 --json --curves lr.csv"));
    assert_true(json_real_value(json_object_get(b, "optimum")) == 3);
    assert_int_equal(json_object_del(b, "missing"), 0);
    assert_true(json_equal(a, b));
    json_decref(a);
    json_decref(b);
}

static void bad_results(void **state)
{
    (void)state;
    cli_write("all.yaml", every_layout);
    cli_write("slip.csv", "dp,tp,micro_bach,tokens_per_s\n1,1,1,5\n");
    cli_expect_sentence(
            cli_run("sim all.yaml --workers 4 --curves slip.csv"), 1,
            "slip.csv:1:1: the table has no column \"micro_batch\"; did you "
            "mean \"micro_bach\"?");
    cli_write("cell.csv", "dp,tp,micro_batch,tokens_per_s\n1,1,1,5\n"
                          "1,1,2,5o\n");
    cli_expect_sentence(
            cli_run("sim all.yaml --workers 4 --curves cell.csv"), 1,
            "cell.csv:3:1: column \"tokens_per_s\": found \"5o\", expected a "
            "number");
    cli_expect_json_error(
            cli_run("sim all.yaml --workers 4 --curves cell.csv --json"), 1,
            "type", "5o");
    cli_write("other.csv", "dp,tp,micro_batch,tokens_per_s\n9,1,1,5\n");
    cli_expect_sentence(cli_run("sim all.yaml --workers 4 --curves other.csv"),
                        2, "other.csv records no configuration");
    cli_expect_sentence(cli_run("sim all.yaml --workers 4 --curves no.csv"), 1,
                        "no.csv cannot be read");
    cli_expect_sentence(cli_run("sim all.yaml --workers 4 --curves no.h5"), 1,
                        "no study at no.h5");
}

/* Jobs of a minute: several, and the last one ends the study. */
static void walltimes(void **state)
{
    json_t *o;

    (void)state;
    cli_write("long.yaml", "study: long\n"
                           "model: {kind: synthetic, cost: 2}\n"
                           "space: {a: {int: [1, 99]}}\n"
                           "ranks: 1\n"
                           "objective: {minimize: loss}\n"
                           "resource: {unit: steps, min: 1, max: 9, eta: 3}\n"
                           "search: random\n"
                           "budget: {trials: 60}\n"
                           "finals: none\n");
    o = cli_json(cli_run("sim long.yaml --workers 2 --walltime 1min --json"));
    assert_true(json_integer_value(json_object_get(o, "jobs")) > 2);
    assert_true(json_integer_value(json_object_get(o, "evaluations")) > 60);
    assert_true(json_is_integer(json_object_get(o, "repeated_steps")));
    json_decref(o);
    assert_non_null(strstr(
            cli_run("sim long.yaml --workers 2 --walltime 9h")->out, "jobs "));
    cli_expect_sentence(cli_run("sim long.yaml --workers 2 --walltime 16"), 3,
                        "for the deadline");
    cli_expect_sentence(cli_run("sim long.yaml --workers 2 --walltime never"),
                        1, "--walltime takes a duration");
}

static void refusals(void **state)
{
    (void)state;
    cli_write("bowl.yaml", cli_synthetic);
    cli_write("gpt.yaml", cli_gpt);
    cli_expect_sentence(cli_run("sim bowl.yaml"), 1, "--workers N is missing");
    cli_expect_sentence(cli_run("sim gpt.yaml --workers 2"), 1,
                        "a model of kind gpt cannot be simulated");
    cli_expect_sentence(cli_run("sim none.yaml --workers 2"), 1, "none.yaml");
    cli_expect_sentence(cli_run("sim bowl.yaml --workers 2 --dropped gone"), 1,
                        "requeued, resumed or lost, not 'gone'");
    cli_write("wide.yaml", "study: wide\n"
                           "model: {kind: synthetic, fail: 1}\n"
                           "space: {a: {int: [1, 4]}}\n"
                           "ranks: 4 * a\n"
                           "objective: {minimize: loss}\n"
                           "budget: {trials: 4}\n");
    cli_expect_sentence(cli_run("sim wide.yaml --workers 3"), 2,
                        "needs 4 ranks, and --workers gives 3");
    cli_expect_sentence(cli_run("sim wide.yaml --workers 8"), 2,
                        "no run finished");
    cli_expect_json_error(cli_run("sim gpt.yaml --workers 2 --json"), 1,
                          "not-built", "gpt");
}

static void every_scheduler(void **state)
{
    static const char *const names[] = {"asha",  "asha-stop", "asha-delayed",
                                        "sha",   "none",      "async-hyperband",
                                        "pasha", "hyperband"};

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char study[512];
        const cli_ran *ran;
        json_t *o;

        snprintf(study, sizeof study,
                 "study: s\nmodel: {kind: synthetic}\n"
                 "space: {x: {float: [0, 1]}}\nobjective: {minimize: loss}\n"
                 "search: quasi\nresource: {min: 1, max: 9, eta: 3}\n"
                 "scheduler: %s\n"
                 "budget: {trials: 27}\nfinals: none\n",
                 names[i]);
        cli_write("s.yaml", study);
        ran = cli_run("sim s.yaml --workers 4 --spread 0.2 --straggle 0.3 "
                      "--latency 0.01 --start 0.1 --drop 0.01 "
                      "--dropped resumed --json");
        assert_int_equal(ran->status, 0);
        o = cli_json(ran);
        assert_int_equal(json_integer_value(json_object_get(o, "distinct")),
                         27);
        json_decref(o);
    }
}

static double number_of(const json_t *rows, size_t row, const char *key)
{
    return json_number_value(json_object_get(json_array_get(rows, row), key));
}

static void plans(void **state)
{
    json_t *o, *rows;

    (void)state;
    cli_write("gpt.yaml", cli_gpt);
    o = cli_json(cli_run("sim gpt.yaml --plan --workers 8 --cost 2 --json"));
    rows = json_object_get(o, "plan");
    assert_int_equal(json_array_size(rows), 4);
    assert_true(number_of(rows, 0, "ranks") == 1);
    assert_true(number_of(rows, 3, "ranks") == 8);
    assert_true(number_of(rows, 3, "configurations") >=
                number_of(rows, 0, "configurations"));
    json_decref(o);
    cli_write("bowl.yaml", cli_synthetic);
    o = cli_json(cli_run("sim bowl.yaml --plan --json"));
    rows = json_object_get(o, "plan");
    assert_int_equal(json_array_size(rows), 6); /* 1 to 32 */
    assert_true(number_of(rows, 3, "virtual_s") <
                number_of(rows, 0, "virtual_s"));
    assert_true(number_of(rows, 3, "busy") <= number_of(rows, 0, "busy"));
    json_decref(o);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(shape),
            cmocka_unit_test(same_seed_same_answer),
            cmocka_unit_test(thinking),
            cmocka_unit_test(ended_by),
            cmocka_unit_test(options_without_effect),
            cmocka_unit_test(recorded_results),
            cmocka_unit_test(missing_results),
            cmocka_unit_test(results_are_a_table_s),
            cmocka_unit_test(bad_results),
            cmocka_unit_test(every_scheduler),
            cmocka_unit_test(plans),
            cmocka_unit_test(walltimes),
            cmocka_unit_test(refusals),
    };
    int failed;

    if (cli_init(argc, argv) != 0) {
        return 1;
    }
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    cli_fini();
    return failed;
}

/*
 * trireme sim: the shape of its answer, and what it refuses.
 */
#include "tests/app/cli.h"

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

static void refusals(void **state)
{
    (void)state;
    cli_write("bowl.yaml", cli_synthetic);
    cli_write("gpt.yaml", cli_gpt);
    cli_expect_sentence(cli_run("sim bowl.yaml"), 1, "--workers N is missing");
    cli_expect_sentence(cli_run("sim gpt.yaml --workers 2"), 1,
                        "a model of kind gpt cannot be simulated");
    cli_expect_sentence(cli_run("sim none.yaml --workers 2"), 1, "none.yaml");
    cli_expect_sentence(cli_run("sim bowl.yaml --workers 2 --curves c.csv"), 1,
                        "not built yet");
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

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(shape),
            cmocka_unit_test(same_seed_same_answer),
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

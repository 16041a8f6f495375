/*
 * trireme predict: what is expected, what was measured, what is outside the
 * data and what is refused.
 */
#include "tests/app/record.h"

#include <stdio.h>
#include <string.h>

#define GOOD  "dp=1,mb=8,act=off,lr=0.01"
#define POOR  "dp=1,mb=8,act=off,lr=0.9"
#define LARGE "dp=2,mb=16,act=off,lr=0.01"

static const json_t *row(const json_t *o, size_t i)
{
    const json_t *r = json_array_get(record_at(o, "predictions"), i);

    assert_non_null(r);
    return r;
}

static int warns(const json_t *r, const char *of)
{
    const json_t *list = record_at(r, "warnings");

    for (size_t i = 0; i < json_array_size(list); i++) {
        if (strstr(json_string_value(json_array_get(list, i)), of)) {
            return 1;
        }
    }
    return 0;
}

static void several_are_several_rows(void **state)
{
    json_t *o = record_ask("predict proc.h5 --set " GOOD " --set " POOR
                           " --set " LARGE);

    (void)state;
    assert_int_equal(json_array_size(record_at(o, "predictions")), 3);
    assert_true(record_number(o, "resource") == 18);
    for (size_t i = 0; i < 3; i++) {
        const json_t *r = row(o, i);

        assert_true(record_number(r, "lo") <= record_number(r, "predicted"));
        assert_true(record_number(r, "predicted") <= record_number(r, "hi"));
        assert_true(json_is_null(record_at(r, "measured")));
    }
    assert_true(record_number(row(o, 0), "predicted") <
                record_number(row(o, 1), "predicted"));
    assert_true(record_number(row(o, 0), "p_feasible") >
                record_number(row(o, 2), "p_feasible"));
    assert_true(record_number(row(o, 2), "ranks") == 2);
    json_decref(o);
}

static void what_was_measured_stands_beside(void **state)
{
    json_t *o = record_ask("predict proc.h5 --set dp=2,mb=4,act=1B,lr=0.001 "
                           "--set dp=2,mb=32,act=off,lr=0.1");
    const json_t *measured = record_at(row(o, 0), "measured");

    (void)state;
    assert_true(record_number(measured, "trial") == 0);
    assert_true(record_number(measured, "resource") == 18); /* the finals */
    assert_true(record_number(measured, "objective") > 1);
    assert_true(json_is_null(record_at(measured, "failed")));
    measured = record_at(row(o, 1), "measured");
    assert_string_equal(record_text(measured, "failed"), "bad-exit");
    json_decref(o);
}

static void a_shorter_run_is_worse(void **state)
{
    json_t *top = record_ask("predict proc.h5 --set " GOOD);
    json_t *low = record_ask("predict proc.h5 --resource 2 --set " GOOD);

    (void)state;
    assert_true(record_number(low, "resource") == 2);
    assert_true(record_number(row(low, 0), "predicted") >
                record_number(row(top, 0), "predicted"));
    json_decref(top);
    json_decref(low);
}

/* All with mb=32 failed, or were worth nothing. */
static void outside_the_data_is_warned_of(void **state)
{
    json_t *o = record_ask("predict proc.h5 --resource 1000 --set " GOOD
                           " --set 'dp=1,mb=32,act=\"x,y\",lr=0.01'");

    (void)state;
    assert_true(warns(row(o, 0), "1000 steps is outside the data"));
    assert_false(warns(row(o, 0), "lr="));
    assert_true(warns(row(o, 1), "mb=32 is outside the data"));
    json_decref(o);
}

static void what_is_not_valid_is_refused(void **state)
{
    (void)state;
    cli_expect_sentence(cli_run("predict proc.h5 --set dp=1,mb=1,lr=0.1"), 1,
                        "refused by 'dp * mb >= 2': dp=1 mb=1");
    cli_expect_json_error(
            cli_run("predict proc.h5 --json --set dp=1,mb=1,lr=0.1"), 1,
            "invalid", "refused by");
    cli_expect_sentence(cli_run("predict proc.h5 --set dp=1,mb=8,lr=0.1"), 1,
                        "no value is given for \"act\"");
    cli_expect_sentence(cli_run("predict proc.h5 --set dp=3"), 1, "\"dp\"");
    cli_expect_sentence(cli_run("predict proc.h5 --set dpp=3"), 1,
                        "did you mean \"dp\"?");
    cli_expect_sentence(cli_run("predict proc.h5 --set " GOOD " --resource 0"),
                        1, "--resource takes a whole number from 1");
    cli_expect_sentence(cli_run("predict proc.h5"), 1,
                        "--set ASSIGNMENTS is missing");
    cli_expect_sentence(cli_run("predict no.h5 --set dp=1"), 1, "no.h5");
}

/* The page, explain and predict count predictions alike. */
static void all_count_the_same(void **state)
{
    json_t *o = record_ask("predict proc.h5 --set " GOOD);
    const json_t *said = record_at(o, "coverage");
    json_t *drawn;
    const cli_ran *ran = cli_run("report proc.h5 -o -");
    const char *data = strstr(ran->out, "\"calibration\":");
    json_error_t e;

    (void)state;
    assert_non_null(data);
    drawn = json_loads(strchr(data, ':') + 1, JSON_DISABLE_EOF_CHECK, &e);
    assert_non_null(drawn);
    assert_true(record_number(said, "predictions") ==
                record_number(drawn, "same"));
    assert_true(record_number(said, "inside") ==
                record_number(drawn, "inside"));
    json_decref(drawn);
    json_decref(o);
}

static void people_read_it_too(void **state)
{
    const cli_ran *ran = cli_run("predict proc.h5 --set " GOOD);

    (void)state;
    assert_int_equal(ran->status, 0);
    assert_non_null(strstr(ran->out, "expected  loss "));
    assert_non_null(strstr(ran->out, "measured  never"));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(several_are_several_rows),
            cmocka_unit_test(what_was_measured_stands_beside),
            cmocka_unit_test(a_shorter_run_is_worse),
            cmocka_unit_test(outside_the_data_is_warned_of),
            cmocka_unit_test(what_is_not_valid_is_refused),
            cmocka_unit_test(all_count_the_same),
            cmocka_unit_test(people_read_it_too),
    };
    int failed;

    if (cli_init(argc, argv) != 0) {
        return 1;
    }
    record_make();
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    cli_fini();
    return failed;
}

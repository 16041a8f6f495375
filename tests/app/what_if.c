/*
 * replay --with: the search of a record again with other settings, on what it
 * measured, on its table, and what is refused.
 */
#include "tests/app/record.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const json_t *way(const json_t *o, size_t i)
{
    const json_t *w = json_array_get(record_at(o, "comparison"), i);

    assert_non_null(w);
    return w;
}

static const json_t *settings(const json_t *o, size_t i)
{
    return record_at(way(o, i), "settings");
}

static double to(const json_t *w, const char *what, const char *share)
{
    const json_t *v = record_at(record_at(w, what), share);

    return json_is_null(v) ? INFINITY : json_number_value(v);
}

/* Shares that are wider are come to no later. */
static void check_order(const json_t *w)
{
    static const char *const whats[] = {"evaluations_to", "rank_seconds_to"};

    for (int i = 0; i < 2; i++) {
        assert_true(to(w, whats[i], "5%") <= to(w, whats[i], "2%"));
        assert_true(to(w, whats[i], "2%") <= to(w, whats[i], "1%"));
    }
}

static void a_record_is_searched_again(void **state)
{
    json_t *o = record_ask("replay proc.h5 --repeats 3 --with eta=2,workers=5 "
                           "--with scheduler=none,search=quasi,seed=9");
    const json_t *source = record_at(o, "source");

    (void)state;
    assert_string_equal(record_text(source, "kind"), "record");
    assert_true(record_number(source, "configurations") == RECORD_TRIALS);
    assert_true(record_number(source, "to_the_top") >= 1);
    assert_int_equal(json_array_size(record_at(o, "comparison")), 4);
    assert_true(json_is_null(settings(o, 0)));
    assert_string_equal(record_text(settings(o, 1), "scheduler"), "asha");
    assert_true(record_number(settings(o, 1), "workers") == 2);
    assert_true(record_number(settings(o, 1), "seed") == 2);
    assert_true(record_number(settings(o, 2), "eta") == 2);
    assert_true(record_number(settings(o, 2), "workers") == 5);
    assert_string_equal(record_text(settings(o, 3), "scheduler"), "none");
    assert_string_equal(record_text(settings(o, 3), "search"), "quasi");
    assert_true(record_number(way(o, 1), "repeats") == 3);
    for (size_t i = 0; i < 4; i++) {
        check_order(way(o, i));
    }
    /* all that was measured, once each, to the top */
    assert_true(record_number(way(o, 3), "runs") == RECORD_TRIALS);
    assert_true(fabs(record_number(way(o, 3), "best") -
                     record_number(o, "best")) < 1e-12);
    assert_true(to(way(o, 3), "evaluations_to", "1%") <= RECORD_TRIALS);
    json_decref(o);
}

/* All numbers are of one source, what the search measured; so a search that
 * came to the top came to the best of what is known there. */
static void the_best_is_in_reach(void **state)
{
    json_t *o = record_ask("replay proc.h5 --repeats 2 --with "
                           "scheduler=none,search=quasi");
    double best = record_number(o, "best");
    double top = record_number(way(o, 2), "best_resource");

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        assert_true(record_number(way(o, i), "best_resource") <= top);
        if (record_number(way(o, i), "best_resource") == top) {
            assert_true(record_number(way(o, i), "best") >= best - 1e-12);
        }
        assert_true(isfinite(record_number(way(o, i), "rank_seconds")));
    }
    assert_true(isfinite(to(way(o, 0), "evaluations_to", "1%")));
    assert_true(isfinite(to(way(o, 2), "evaluations_to", "1%")));
    json_decref(o);
}

/* What it went by in seconds is what the record's runs lasted. */
static void rank_seconds_are_the_records(void **state)
{
    json_t *o = record_ask("replay proc.h5 --repeats 1 --with eta=3");
    double went = record_number(way(o, 0), "rank_seconds");
    double again = record_number(way(o, 1), "rank_seconds");

    (void)state;
    print_message("%g rank-seconds, and simulated %g\n", went, again);
    assert_true(again > 0.1 * went && again < 10 * went);
    /* the settings are the record's, so the two are the same search */
    assert_true(json_equal(record_at(way(o, 1), "rank_seconds_to"),
                           record_at(way(o, 2), "rank_seconds_to")));
    json_decref(o);
}

static void the_same_question_has_one_answer(void **state)
{
    const char *ask = "replay proc.h5 --repeats 2 --with search=random";
    json_t *a = record_ask(ask);
    json_t *b = record_ask(ask);

    (void)state;
    assert_true(json_equal(a, b));
    json_decref(a);
    json_decref(b);
}

static void a_table_answers_for_all(void **state)
{
    json_t *o;

    (void)state;
    cli_write("toy.yaml",
              "study: toy\n"
              "seed: 1\n"
              "model:\n"
              "  kind: table\n"
              "  file: toy.csv\n"
              "  parameters: [gpus, dp, tp, pp, micro_batch]\n"
              "  objective: tokens_per_s\n"
              "  failed: failed\n"
              "  second: 0\n"
              "space: table\n"
              "constraints:\n"
              "  - min(gpus, dp) >= 1\n"
              "  - pp in [1, 2, 4, 8]\n"
              "ranks: max(1, gpus // 8)\n"
              "objective: {maximize: tokens_per_s, compare: total}\n"
              "search: random\n"
              "resource: {unit: steps, min: 1, max: 1, eta: 4}\n"
              "budget: {trials: 40}\n"
              "finals: none\n");
    assert_int_equal(cli_mpirun(3, "tune toy.yaml -q --table " TRI_SOURCE_DIR
                                   "/models/table/toy.csv")
                             ->status,
                     0);
    o = record_ask("replay toy.h5 --with seed=4 --with search=auto");
    assert_string_equal(record_text(record_at(o, "source"), "kind"), "table");
    assert_true(record_number(record_at(o, "source"), "configurations") > 90);
    assert_true(fabs(record_number(o, "best") - 12475.6) < 1e-6);
    assert_true(record_number(way(o, 1), "runs") == 40);
    assert_true(json_is_null(record_at(way(o, 0), "rank_seconds")));
    /* a model finds it with fewer than random draws */
    assert_true(to(way(o, 3), "evaluations_to", "2%") <
                to(way(o, 1), "evaluations_to", "2%"));
    json_decref(o);
}

static void slips_are_told(void **state)
{
    static const struct {
        const char *with, *sentence;
    } slips[] = {
            {"etta=2", "unknown key 'etta'; did you mean eta?"},
            {"colour=2", "there are scheduler,"},
            {"eta", "--with takes KEY=VALUE,..., not 'eta'"},
            {"eta=1", "eta takes a whole number from 2, not '1'"},
            {"workers=many", "workers takes a whole number from 1"},
            {"random_share=2", "random_share takes a number from 0 to 1"},
            {"search=rendom", "did you mean \"random\"?"},
            {"scheduler=hyperbnd", "did you mean \"hyperband\"?"},
            {"scheduler='{kind: sha}'", "scheduler takes a name"},
            {"min=20", "--with: "},
    };

    (void)state;
    for (size_t i = 0; i < sizeof slips / sizeof *slips; i++) {
        cli_expect_sentence(cli_run("replay proc.h5 --with %s", slips[i].with),
                            1, slips[i].sentence);
    }
    cli_expect_sentence(cli_run("replay proc.h5 --refit --with eta=2"), 1,
                        "--refit and --with are two questions");
    cli_expect_sentence(cli_run("replay proc.h5 --with eta=2 --repeats 0"), 1,
                        "--repeats takes a whole number from 1");
}

static void people_read_it_too(void **state)
{
    const cli_ran *ran =
            cli_run("replay proc.h5 --repeats 1 --with search=random");

    (void)state;
    assert_int_equal(ran->status, 0);
    assert_non_null(strstr(ran->out, "as it went"));
    assert_non_null(strstr(ran->out, "as recorded"));
    assert_non_null(strstr(ran->out, "search=random: "));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(a_record_is_searched_again),
            cmocka_unit_test(the_best_is_in_reach),
            cmocka_unit_test(rank_seconds_are_the_records),
            cmocka_unit_test(the_same_question_has_one_answer),
            cmocka_unit_test(a_table_answers_for_all),
            cmocka_unit_test(slips_are_told),
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

/*
 * trireme explain, of trials and of a study, ended and live.
 */
#include "tests/app/record.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Each trial is asked for once. */
static json_t *asked[RECORD_TRIALS];

static json_t *explain(int64_t trial)
{
    char command[64];

    if (!asked[trial]) {
        snprintf(command, sizeof command, "explain proc.h5 %d", (int)trial);
        asked[trial] = record_ask(command);
    }
    return json_incref(asked[trial]);
}

/* The first trial of that origin. */
static json_t *explain_first(const char *origin)
{
    for (int64_t i = 0; i < RECORD_TRIALS; i++) {
        json_t *o = explain(i);

        if (strcmp(record_text(o, "origin"), origin) == 0) {
            return o;
        }
        json_decref(o);
    }
    fail_msg("no trial of origin %s", origin);
    return NULL;
}

/* ---- trials ---------------------------------------------------------- */

static void the_baseline_says_so(void **state)
{
    json_t *o = explain(0);

    (void)state;
    assert_string_equal(record_text(o, "origin"), "baseline");
    assert_non_null(strstr(record_text(o, "why"), "baseline"));
    assert_true(json_is_null(record_at(o, "proposal")));
    assert_non_null(
            strstr(record_text(record_at(o, "finals"), "part"), "baseline"));
    assert_true(record_number(record_at(o, "cost"), "finals_runs") >= 2);
    json_decref(o);
}

/* Of each promoted rung: the place was within the cut at that moment, and the
 * next rung follows. */
static void check_rungs(const json_t *rungs)
{
    for (size_t i = 0; i < json_array_size(rungs); i++) {
        const json_t *r = json_array_get(rungs, i);
        const json_t *at = record_at(r, "at_promotion");

        assert_true(record_number(r, "rung") == (double)i);
        assert_true(record_number(record_at(r, "then"), "place") >= 1);
        assert_true(record_number(record_at(r, "then"), "results") <=
                    record_number(record_at(r, "now"), "results"));
        if (json_is_true(record_at(r, "promoted"))) {
            assert_true(record_number(at, "place") <= record_number(at, "cut"));
            assert_true(record_number(at, "cut") ==
                        floor(record_number(at, "results") / 3));
            assert_true(record_number(r, "promoted_s") >=
                        record_number(r, "result_s"));
        } else {
            assert_true(json_is_null(at));
            assert_int_equal(i, json_array_size(rungs) - 1);
        }
    }
}

/* How many finished runs had more ranks than cores, as the record has it. */
static void rates_that_say_little_are_marked(void **state)
{
    const cli_ran *ran = cli_run("export proc.h5 --table runs --format json");
    json_t *best, *status;
    char *text = strdup(ran->out);
    int over = 0;

    (void)state;
    assert_non_null(text);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        json_t *run = json_loads(line, 0, NULL);

        assert_non_null(run);
        over += strcmp(record_text(run, "status"), "finished") == 0 &&
                record_number(run, "oversubscribed") > 0;
        json_decref(run);
    }
    free(text);
    best = record_ask("best proc.h5");
    status = record_ask("status proc.h5");
    assert_true(record_number(best, "oversubscribed") == over);
    assert_true(record_number(status, "oversubscribed") == over);
    assert_true((strstr(cli_run("best proc.h5")->out, "\ncores ") != NULL) ==
                (over > 0));
    json_decref(best);
    json_decref(status);
}

/* What is predicted is the result of the top rung: at a lower one there is
 * nothing to compare. */
static void results_below_the_top_are_not_compared(void **state)
{
    int compared = 0;

    (void)state;
    for (int trial = 0; trial < RECORD_TRIALS; trial++) {
        const char *said = cli_run("explain proc.h5 %d", trial)->out;

        if (strstr(said, "\nmeasured  ") && strstr(said, " at rung ")) {
            const char *line = strstr(said, "\nmeasured  ") + 1;
            const char *end = strchr(line, '\n');
            const char *below = strstr(line, " at rung ");
            const char *than = strstr(line, "interval");

            assert_true(below > end || !than || than > end);
            compared += below < end;
        }
    }
    assert_true(compared > 0);
}

static void rungs_are_decided_by_their_cuts(void **state)
{
    size_t most = 0;

    (void)state;
    for (int64_t i = 0; i < RECORD_TRIALS; i++) {
        json_t *o = explain(i);
        const json_t *rungs = record_at(o, "rungs");

        check_rungs(rungs);
        most = json_array_size(rungs) > most ? json_array_size(rungs) : most;
        if (json_array_size(rungs) == 3) {
            assert_string_equal(record_text(o, "stopped"),
                                "it reached the top rung");
        }
        json_decref(o);
    }
    assert_int_equal(most, 3);
}

/* What the record's tables say of each trial. */
static void costs_are_those_of_the_runs(void **state)
{
    double rank_s[RECORD_TRIALS] = {0};
    int runs[RECORD_TRIALS] = {0};
    char *line = strtok(
            cli_run("export proc.h5 --table runs --format json")->out, "\n");

    (void)state;
    for (; line; line = strtok(NULL, "\n")) {
        json_t *r = json_loads(line, 0, NULL);
        int t = (int)record_number(r, "trial");

        rank_s[t] += record_number(r, "ranks") *
                     (record_number(r, "end_s") - record_number(r, "start_s"));
        runs[t]++;
        json_decref(r);
    }
    for (int i = 0; i < RECORD_TRIALS; i++) {
        json_t *o = explain(i);
        const json_t *cost = record_at(o, "cost");

        assert_true(fabs(record_number(cost, "rank_seconds") - rank_s[i]) <
                    1e-9);
        assert_true(record_number(cost, "runs") == runs[i]);
        json_decref(o);
    }
}

static void proposals_are_found_in_the_journal(void **state)
{
    json_t *o = explain_first("model");
    const json_t *p;

    (void)state;
    p = record_at(o, "proposal");
    assert_true(record_number(p, "event") > 0);
    assert_true(record_number(p, "snapshot") >= 1);
    assert_true(strlen(record_text(p, "rule")) > 0);
    assert_true(strlen(record_text(p, "predictor")) > 0);
    assert_true(strlen(record_text(o, "why")) > strlen(record_text(p, "rule")));
    json_decref(o);
}

static void failures_have_their_sentence(void **state)
{
    json_t *o = explain(1);

    (void)state;
    assert_string_equal(record_text(o, "state"), "failed");
    assert_string_equal(record_text(o, "reason"), "bad-exit");
    assert_non_null(strstr(record_text(o, "stopped"), "out of room"));
    assert_true(record_number(record_at(o, "cost"), "runs") == 2);
    json_decref(o);
}

static void trials_that_are_not_are_told(void **state)
{
    (void)state;
    cli_expect_sentence(cli_run("explain proc.h5 99"), 1,
                        "there is no trial 99; the last one is 23");
    cli_expect_sentence(cli_run("explain proc.h5 best"), 1,
                        "TRIAL is a trial's number from 0, not 'best'");
    cli_expect_sentence(cli_run("explain proc.h5 1 2"), 1,
                        "one argument too many: '2'");
    cli_expect_sentence(cli_run("explain"), 1, "FILE.h5 is missing");
    cli_expect_sentence(cli_run("explain no.h5"), 1, "no.h5");
    cli_expect_json_error(cli_run("explain proc.h5 99 --json"), 1, "not-found",
                          "no trial 99");
}

/* ---- the study ---------------------------------------------------------- */

static void a_study_says_what_comes_next(void **state)
{
    json_t *o = record_ask("explain proc.h5 --top 3");
    const json_t *list = record_at(o, "configurations");
    const json_t *first = json_array_get(list, 0);

    (void)state;
    assert_non_null(strstr(record_text(o, "next"), "the study has ended"));
    assert_int_equal(json_array_size(list), 3);
    assert_true(record_number(first, "lo") <=
                record_number(first, "predicted"));
    assert_true(record_number(first, "predicted") <=
                record_number(first, "hi"));
    assert_true(record_number(first, "p_feasible") <= 1);
    assert_string_not_equal(record_text(record_at(o, "model"), "predictor"),
                            "none");
    assert_int_equal(json_array_size(record_at(o, "rungs")), 3);
    assert_true(record_number(json_array_get(record_at(o, "rungs"), 0),
                              "may_go_on") >= 1);
    json_decref(o);
}

static const json_t *class_of(const json_t *o, const char *name)
{
    const json_t *list = record_at(o, "failures");

    for (size_t i = 0; i < json_array_size(list); i++) {
        if (strcmp(record_text(json_array_get(list, i), "class"), name) == 0) {
            return json_array_get(list, i);
        }
    }
    fail_msg("no failures of class %s", name);
    return NULL;
}

static const json_t *effect_of(const json_t *o, const char *parameter)
{
    const json_t *list = record_at(o, "effects");

    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *e = json_array_get(list, i);

        if (strcmp(record_text(e, "parameter"), parameter) == 0) {
            return e;
        }
    }
    fail_msg("no effect of %s", parameter);
    return NULL;
}

/* The loss is made by lr most of all; the feature tells the failures.  What ran
 * goes by when results came in, so that no share is certain. */
static void it_says_what_counts(void **state)
{
    json_t *o = record_ask("explain proc.h5");
    const json_t *lr = effect_of(o, "lr");
    const json_t *failed = class_of(o, "bad-exit");
    const char *condition;

    (void)state;
    assert_true(record_number(lr, "share") > 0.1);
    assert_true(record_number(lr, "best_median") <
                record_number(lr, "worst_median"));
    assert_true(record_number(failed, "trials") >= 2);
    assert_true(record_number(failed, "alike") == 0);
    condition = json_string_value(
            json_array_get(record_at(failed, "conditions"), 0));
    assert_non_null(condition);
    print_message("all have %s\n", condition);
    json_decref(o);
}

static void people_read_it_too(void **state)
{
    const cli_ran *ran = cli_run("explain proc.h5");

    (void)state;
    assert_int_equal(ran->status, 0);
    assert_non_null(strstr(ran->out, "promotions"));
    assert_non_null(strstr(ran->out, "what failed"));
    ran = cli_run("explain proc.h5 0");
    assert_int_equal(ran->status, 0);
    assert_non_null(strstr(ran->out, "place 1 of 1"));
    assert_non_null(strstr(ran->out, "rank-seconds"));
}

/* ---- while it runs --------------------------------------------------- */

static const char slow_table[] =
        "study: live\n"
        "model: {kind: table, file: live.csv, parameters: [x, y],\n"
        "        objective: v, second: 40 ms}\n"
        "space: table\n"
        "objective: {maximize: v}\n"
        "search: random\n"
        "resource: {unit: steps, min: 1, max: 1}\n"
        "budget: {trials: 36}\n"
        "finals: none\n";

static void write_live(void)
{
    char csv[1024] = "x,y,v\n";

    for (int i = 0; i < 36; i++) {
        snprintf(csv + strlen(csv), sizeof csv - strlen(csv), "%d,%d,%d\n",
                 i / 6, i % 6, (i / 6) * 10 - (i % 6));
    }
    cli_write("live.csv", csv);
    cli_write("live.yaml", slow_table);
}

static void a_live_study_is_explained(void **state)
{
    const struct timespec moment = {0, 50000000};
    int seen = 0;

    (void)state;
    write_live();
    cli_start(2, "tune live.yaml -q");
    for (int i = 0; i < 200 && !seen; i++) {
        const cli_ran *ran = cli_run("explain live.h5 0");

        seen = ran->status == 0 && strstr(ran->out, "proposed");
        nanosleep(&moment, NULL);
    }
    assert_true(seen);
    assert_int_equal(cli_run("explain live.h5")->status, 0);
    assert_int_equal(cli_await(), 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(the_baseline_says_so),
            cmocka_unit_test(rates_that_say_little_are_marked),
            cmocka_unit_test(results_below_the_top_are_not_compared),
            cmocka_unit_test(rungs_are_decided_by_their_cuts),
            cmocka_unit_test(costs_are_those_of_the_runs),
            cmocka_unit_test(proposals_are_found_in_the_journal),
            cmocka_unit_test(failures_have_their_sentence),
            cmocka_unit_test(trials_that_are_not_are_told),
            cmocka_unit_test(a_study_says_what_comes_next),
            cmocka_unit_test(it_says_what_counts),
            cmocka_unit_test(people_read_it_too),
            cmocka_unit_test(a_live_study_is_explained),
    };
    int failed;

    if (cli_init(argc, argv) != 0) {
        return 1;
    }
    record_make();
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    for (int i = 0; i < RECORD_TRIALS; i++) {
        json_decref(asked[i]);
    }
    cli_fini();
    return failed;
}

/*
 * Openings that end badly, and what the commands say of them then: overtaken,
 * refused before anything is made, a baseline that fails.
 */
#include "tests/app/cli.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void expect_text(const cli_ran *ran, int status, const char *needle)
{
    int found = strstr(ran->out, needle) || strstr(ran->err, needle);

    if (ran->status != status || !found) {
        print_message("status %d, no '%s':\n%s%s\n", ran->status, needle,
                      ran->out, ran->err);
    }
    assert_int_equal(ran->status, status);
    assert_true(found);
}

/* No study file, no journal, no .exit. */
static void expect_nothing(const char *name)
{
    char pattern[256];
    glob_t found;

    snprintf(pattern, sizeof pattern, "%s.h5*", name);
    assert_int_equal(glob(pattern, 0, NULL, &found), GLOB_NOMATCH);
}

/* ---- overtaken --------------------------------------------------------- */

static void await_runs(const char *file)
{
    for (int i = 0; i < 600; i++) {
        const cli_ran *ran = cli_run("status %s --json", file);

        if (ran->status == 0) {
            json_t *o = cli_json(ran);
            json_int_t runs = json_integer_value(json_object_get(o, "runs"));

            json_decref(o);
            if (runs > 2) {
                return;
            }
        }
        usleep(50000);
    }
    fail_msg("no runs in %s", file);
}

/* The second says what it does, the first ends long before its budget. */
static void a_second_opening_overtakes(void **state)
{
    const cli_ran *ran;

    (void)state;
    cli_write("long.yaml", "study: long\n"
                           "model: {kind: synthetic, cost: 0.2}\n"
                           "space: {x: {int: [1, 2000]}}\n"
                           "objective: {minimize: loss}\n"
                           "resource: {unit: steps, min: 1, max: 9, eta: 3}\n"
                           "search: quasi\n"
                           "budget: {trials: 1500}\n"
                           "finals: none\n");
    cli_start(3, "tune long.yaml");
    await_runs("long.h5");
    ran = cli_mpirun(3, "tune long.yaml --resume --max-time 2");
    expect_text(ran, 0, "it is overtaken and will stop");
    assert_int_equal(cli_await(), 4);
    assert_true(cli_says("first.err", "another opening holds the study"));
    assert_true(cli_says("first.out", "overtaken"));
    assert_false(cli_says("first.out", "go on with --resume"));
    assert_int_equal(cli_run("replay long.h5")->status, 0);
}

/* ---- a damaged journal ------------------------------------------------- */

/* Copy a file, with one wrong bit half-way. */
static void copy_flipped(const char *from, const char *to)
{
    static char data[1 << 20];
    FILE *in = fopen(from, "rbe");
    FILE *out = fopen(to, "wbe");
    size_t n;

    assert_non_null(in);
    assert_non_null(out);
    n = fread(data, 1, sizeof data, in);
    assert_true(n > 1000);
    data[n / 2] ^= 8;
    assert_int_equal(fwrite(data, 1, n, out), n);
    fclose(in);
    assert_int_equal(fclose(out), 0);
}

static void damage_is_said_and_recovered_from(void **state)
{
    (void)state;
    cli_write("flip.yaml", "study: flip\n"
                           "model: {kind: synthetic, cost: 0.02}\n"
                           "space: {x: {int: [1, 2000]}}\n"
                           "objective: {minimize: loss}\n"
                           "resource: {unit: steps, min: 1, max: 9, eta: 3}\n"
                           "budget: {trials: 60}\n"
                           "finals: none\n");
    cli_start(3, "tune flip.yaml -o good.h5");
    await_runs("good.h5");
    copy_flipped("good.h5.journal.1", "flip.h5.journal.1");
    expect_text(cli_run("status flip.h5"), 0, "damaged: events");
    expect_text(cli_run("export flip.h5 --table events"), 0, "damaged");
    expect_text(cli_run("replay flip.h5"), 4, "cannot be trusted");
    expect_text(cli_mpirun(3, "tune flip.yaml"), 1, "exists already");
    expect_text(cli_mpirun(3, "tune flip.yaml --resume"), 4,
                "`trireme recover flip.h5`");
    assert_int_equal(access("flip.h5.journal.1", F_OK), 0);
    expect_text(cli_run("recover flip.h5"), 0, "flip.h5.damaged.1");
    assert_int_equal(access("flip.h5.damaged.1", F_OK), 0);
    assert_int_not_equal(access("flip.h5.journal.1", F_OK), 0);
    expect_text(cli_run("replay flip.h5"), 0, "every decision is the same");
    expect_text(cli_mpirun(3, "tune flip.yaml --resume"), 0, "60 trials");
    assert_int_equal(access("flip.h5.damaged.1", F_OK), 0);
    assert_int_equal(cli_await(), 0);
    assert_int_equal(cli_run("replay good.h5")->status, 0);
}

/* ---- before anything is made ------------------------------------------- */

/* Seen only when the first configuration is drawn: the study that was begun
 * for it goes again, and the corrected one needs no other name. */
static void a_search_that_cannot_begin_leaves_nothing(void **state)
{
    const cli_ran *ran;

    (void)state;
    cli_write("needle.yaml", "study: needle\n"
                             "model: {kind: synthetic}\n"
                             "space: {a: {float: [0, 1]}}\n"
                             "constraints: [a * 1000000000000 < 1]\n"
                             "objective: {minimize: loss}\n"
                             "search: random\n"
                             "budget: {trials: 2}\n");
    ran = cli_mpirun(2, "tune needle.yaml");
    assert_int_not_equal(ran->status, 0);
    expect_nothing("needle");
}

/* ---- a baseline that fails --------------------------------------------- */

static void a_failing_baseline_is_named(void **state)
{
    const cli_ran *ran;
    json_t *o;
    double best;

    (void)state;
    cli_write("low.sh", "if [ \"$1\" -lt 2 ]; then\n"
                        "    echo starting >&2\n"
                        "    echo \"$1 is too low\" >&2\n"
                        "    exit 1\n"
                        "fi\n"
                        "for i in 1 2 3 4 5 6 7 8; do\n"
                        "    echo \"{\\\"step\\\": $i, \\\"loss\\\": 0.$1}\"\n"
                        "done\n");
    cli_write("low.yaml", "study: low\n"
                          "model: {kind: process, command: [sh, low.sh, "
                          "'{x}']}\n"
                          "space: {x: {int: [1, 4]}}\n"
                          "objective: {minimize: loss}\n"
                          "baseline: {x: 1}\n"
                          "resource: {unit: steps, min: 1, max: 1}\n"
                          "budget: {trials: 4}\n"
                          "finals: {top: 1, repeats: 2}\n");
    ran = cli_mpirun(2, "tune low.yaml -q");
    expect_text(ran, 0, "verdict   the baseline (trial 0) failed: bad-exit");
    expect_text(ran, 0,
                "standard error of run 0 (trial 0)\n    starting\n"
                "    1 is too low\n");
    o = cli_json(cli_run("best low.h5 --json"));
    best = json_number_value(
            json_object_get(json_object_get(o, "winner"), "objective"));
    json_decref(o);
    o = cli_json(cli_run("status low.h5 --json"));
    assert_float_equal(best,
                       json_number_value(json_object_get(
                               json_object_get(o, "best"), "objective")),
                       1e-6);
    assert_string_equal(json_string_value(json_object_get(
                                json_object_get(o, "best"), "from")),
                        "finals");
    json_decref(o);
    ran = cli_run("status low.h5");
    expect_text(ran, 0, "(winner of the finals)");
    expect_text(ran, 0, "1 is too low");
}

/* ---- drained ----------------------------------------------------------- */

/* What waits for the next opening is not running. */
static void nothing_runs_after_the_end(void **state)
{
    json_t *o;
    json_t *rungs;

    (void)state;
    cli_write("cut.yaml", "study: cut\n"
                          "model: {kind: synthetic, cost: 0.1}\n"
                          "space: {x: {int: [1, 50]}}\n"
                          "objective: {minimize: loss}\n"
                          "resource: {unit: steps, min: 1, max: 9, eta: 3}\n"
                          "search: quasi\n"
                          "budget: {trials: 40}\n"
                          "finals: none\n");
    assert_int_equal(cli_signalled(3, "USR1", 1.5, "tune cut.yaml")->status, 3);
    o = cli_json(cli_run("status cut.h5 --json"));
    rungs = json_object_get(o, "rungs");
    assert_int_equal(json_integer_value(json_object_get(o, "running")), 0);
    for (size_t i = 0; i < json_array_size(rungs); i++) {
        assert_int_equal(json_integer_value(json_object_get(
                                 json_array_get(rungs, i), "running")),
                         0);
    }
    json_decref(o);
}

static int count(const char *text, const char *needle)
{
    int n = 0;

    while ((text = strstr(text, needle))) {
        text += strlen(needle);
        n++;
    }
    return n;
}

/* A budget is not spent on one mistake; once it is mended, all is measured. */
static void failures_all_alike_end_it(void **state)
{
    const cli_ran *ran;

    (void)state;
    cli_write("alike.yaml", "study: alike\n"
                            "model: {kind: process, command: [sh, run.sh]}\n"
                            "space: {x: {int: [1, 40]}}\n"
                            "objective: {minimize: loss}\n"
                            "baseline: {x: 20}\n"
                            "resource: {unit: steps, min: 4, max: 4}\n"
                            "budget: {trials: 12}\n"
                            "finals: none\n");
    cli_write("run.sh", "sleep 0.2\n"
                        "echo 'ModuleNotFoundError: no foo' >&2; exit 1\n");
    ran = cli_mpirun(2, "tune alike.yaml");
    expect_text(ran, 2, "given up: 8 runs of 8 trials failed alike");
    assert_non_null(strstr(ran->out, "go on with --resume"));
    assert_non_null(strstr(ran->out, "'sh' is /"));
    assert_int_equal(count(ran->err, "failed: import-error"), 1);
    assert_non_null(strstr(ran->err, "ModuleNotFoundError: no foo (the "
                                     "program is /"));
    assert_true(cli_says("alike.h5.exit", "\"resumable\": true"));
    cli_write("run.sh", "for i in 1 2 3 4 5 6 7; do\n"
                        "  echo \"{\\\"step\\\": $i, \\\"loss\\\": 1}\"\n"
                        "done\n");
    ran = cli_mpirun(2, "tune alike.yaml --resume");
    expect_text(ran, 0, "done: 12 trials, 20 runs");
    assert_non_null(strstr(ran->err, "its 8 trials are measured again"));
    assert_null(strstr(ran->out, "failed"));
    assert_int_equal(cli_run("replay alike.h5")->status, 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(a_second_opening_overtakes),
            cmocka_unit_test(damage_is_said_and_recovered_from),
            cmocka_unit_test(a_search_that_cannot_begin_leaves_nothing),
            cmocka_unit_test(a_failing_baseline_is_named),
            cmocka_unit_test(nothing_runs_after_the_end),
            cmocka_unit_test(failures_all_alike_end_it),
    };
    int failed;

    if (cli_init(argc, argv) != 0) {
        return 1;
    }
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    cli_fini();
    return failed;
}

/*
 * Plugins as users run them: what check says of one that cannot be used, a real
 * kernel tuned, one that hangs.
 */
#include "tests/app/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void write_study(const char *library, const char *rest)
{
    char text[2048];

    snprintf(text, sizeof text,
             "study: plugin\nseed: 1\n"
             "model: {kind: plugin, library: %s, options: {n: 192}}\n%s",
             library, rest);
    cli_write("plugin.yaml", text);
}

static const char small[] = "space: {x: {int: [0, 3]}}\n"
                            "objective: {minimize: loss}\n";

static void what_check_says(void **state)
{
    (void)state;
    write_study(TRI_PLUGINS "/ways.so", small);
    assert_int_equal(cli_run("check plugin.yaml")->status, 0);
    write_study("gone.so", small);
    cli_expect_sentence(cli_run("check plugin.yaml --list 1"), 1,
                        "plugin.yaml: the plugin ./gone.so cannot be read: No "
                        "such file");
    write_study(TRI_PLUGINS "/no_close.so", small);
    cli_expect_json_error(cli_run("check plugin.yaml --json"), 1, "invalid",
                          "has no function trireme_trial_close");
    write_study(TRI_PLUGINS "/next_version.so", small);
    cli_expect_json_error(cli_run("check plugin.yaml --json"), 1, "version",
                          "is built for version 2");
    write_study(TRI_PLUGINS "/loads_exit_at_once.so", small);
    cli_expect_sentence(cli_run("check plugin.yaml"), 1,
                        "ended the process as it was loaded, with status 3");
    cli_write("text.so", "int main;\n");
    write_study("text.so", small);
    cli_expect_json_error(cli_run("check plugin.yaml --json"), 1, "io",
                          "cannot be loaded: file too short");
}

static void what_tune_says(void **state)
{
    const cli_ran *ran;

    (void)state;
    write_study(TRI_PLUGINS "/other_mpi.so", small);
    ran = cli_mpirun(2, "tune plugin.yaml");
    assert_int_equal(ran->status, 1);
    assert_non_null(strstr(ran->err, "is built with another MPI library"));
}

/* Panels of one column are many times slower, whatever the machine. */
static void a_kernel_is_tuned(void **state)
{
    const cli_ran *ran;
    json_t *o;
    json_t *winner;
    json_t *c;

    (void)state;
    write_study(TRI_MATMUL,
                "space:\n"
                "  p: {int: [1, 2]}\n"
                "  q: {int: [1, 2]}\n"
                "  block: {choice: [1, 32, 96]}\n"
                "  broadcast: {choice: [tree, ring], when: p * q > 1}\n"
                "ranks: p * q\n"
                "objective: {minimize: step_s}\n"
                "baseline: {p: 1, q: 1, block: 1}\n"
                "resource: {unit: steps, min: 4, max: 16, eta: 4}\n"
                "budget: {trials: 14, time: 60 s}\n"
                "finals: {top: 2, repeats: 3}\n");
    ran = cli_mpirun(5, "tune plugin.yaml -o matmul.h5");
    if (ran->status != 0) {
        print_message("%s%s", ran->out, ran->err);
    }
    assert_int_equal(ran->status, 0);
    o = cli_json(cli_run("best matmul.h5 --json"));
    winner = json_object_get(o, "winner");
    c = json_object_get(winner, "configuration");
    assert_true(json_integer_value(json_object_get(c, "block")) > 1);
    assert_true(json_number_value(json_object_get(winner, "objective")) > 0);
    assert_true(json_is_true(
            json_object_get(json_object_get(o, "speedup"), "significant")));
    json_decref(o);
    o = cli_json(cli_run("status matmul.h5 --json"));
    assert_int_equal(json_object_size(json_object_get(o, "failures")), 0);
    json_decref(o);
}

/* Its ranks are lost, the others do the rest, and the job ends. */
static void one_that_hangs(void **state)
{
    const cli_ran *ran;
    json_t *o;

    (void)state;
    write_study(TRI_PLUGINS "/ways.so",
                "space: {x: {int: [0, 9]}, way: {choice: [good, hangs]}}\n"
                "constraints: [\"(x == 0) == (way == 'hangs')\"]\n"
                "objective: {minimize: loss}\n"
                "resource: {unit: steps, min: 2, max: 2}\n"
                "budget: {trials: 10}\nfinals: none\nsearch: random\n"
                "timeouts: {startup: 5 s, progress: 1 s, grace: 0.5 s}\n");
    /* mpirun's own status says nothing where ranks cannot finalize */
    ran = cli_mpirun(4, "tune plugin.yaml -o hangs.h5");
    assert_non_null(strstr(ran->out, "done: 10 trials"));
    assert_true(cli_says("hangs.h5.exit", "\"status\": 0"));
    o = cli_json(cli_run("status hangs.h5 --json"));
    assert_int_equal(json_integer_value(json_object_get(
                             json_object_get(o, "failures"), "hung")),
                     2);
    assert_int_equal(json_integer_value(json_object_get(
                             json_object_get(o, "ranks"), "struck")),
                     2);
    json_decref(o);
}

/* So does the rank of one that crashes or calls exit, twice; then that is
 * final. */
static void expect_struck_twice(const char *way, const char *said)
{
    const cli_ran *ran;
    const char *struck;
    char rest[512];
    char end[64];

    snprintf(end, sizeof end, "%s.h5.exit", way);
    snprintf(rest, sizeof rest,
             "space: {x: {int: [0, 9]}, way: {choice: [good, %s]}}\n"
             "constraints: [\"(x == 0) == (way == '%s')\"]\n"
             "objective: {minimize: loss}\n"
             "resource: {unit: steps, min: 2, max: 2}\n"
             "budget: {trials: 10}\nfinals: none\nsearch: random\n",
             way, way);
    write_study(TRI_PLUGINS "/ways.so", rest);
    ran = cli_mpirun(4, "tune plugin.yaml -o %s.h5", way);
    assert_non_null(strstr(ran->out, "done: 10 trials"));
    assert_non_null(strstr(ran->out, said));
    assert_true(cli_says(end, "\"status\": 0"));
    struck = strstr(ran->err, "is struck from the pool");
    assert_non_null(struck);
    struck = strstr(struck + 1, "is struck from the pool");
    assert_non_null(struck);
    assert_null(strstr(struck + 1, "is struck from the pool"));
    assert_null(strstr(ran->out, "is damaged"));
}

static void one_that_crashes(void **state)
{
    (void)state;
    expect_struck_twice("crashes", "crashed in run_until on rank 0");
}

static void one_that_calls_exit(void **state)
{
    (void)state;
    expect_struck_twice("exits", "called exit in run_until on rank 0");
}

/* Nobody can say who ended the job, but a study that is resumed ends. */
static void one_that_ends_the_job(void **state)
{
    json_t *o;

    (void)state;
    write_study(TRI_PLUGINS "/ways.so",
                "space: {x: {int: [0, 3]}, way: {choice: [good, leaves]}}\n"
                "constraints: [\"(x == 0) == (way == 'leaves')\"]\n"
                "objective: {minimize: loss}\n"
                "resource: {unit: steps, min: 2, max: 2}\n"
                "budget: {trials: 4}\nfinals: none\nsearch: random\n"
                "failures: {max_attempts: 1}\n");
    /* as ever: rank 0 gets the time to say how it ended */
    setenv("OMPI_MCA_odls_base_sigkill_timeout", "1", 1);
    cli_mpirun(2, "tune plugin.yaml -o leaves.h5 --resume");
    assert_true(cli_says("leaves.h5.exit", "\"status\": 3"));
    /* who sees it first, mpirun or rank 0, says how often it is tried */
    for (int i = 0; i < 4 && !cli_says("leaves.h5.exit", "\"status\": 0");
         i++) {
        cli_mpirun(2, "tune plugin.yaml -o leaves.h5 --resume");
    }
    assert_true(cli_says("leaves.h5.exit", "\"status\": 0"));
    setenv("OMPI_MCA_odls_base_sigkill_timeout", "0", 1);
    o = cli_json(cli_run("status leaves.h5 --json"));
    assert_int_equal(json_integer_value(json_object_get(o, "failed")), 1);
    json_decref(o);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(what_check_says),
            cmocka_unit_test(what_tune_says),
            cmocka_unit_test(a_kernel_is_tuned),
            cmocka_unit_test(one_that_hangs),
            cmocka_unit_test(one_that_crashes),
            cmocka_unit_test(one_that_calls_exit),
            cmocka_unit_test(one_that_ends_the_job),
    };
    int failed;

    if (cli_init(argc, argv) != 0) {
        return 1;
    }
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    cli_fini();
    return failed;
}

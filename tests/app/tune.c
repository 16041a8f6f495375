/*
 * trireme tune and the commands that read its record, under mpirun.
 */
#include "tests/app/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The first line of standard error: mpirun adds its own notice about a rank
 * that returned a status, after a line of dashes. */
static void expect_first_line(const cli_ran *ran, int status,
                              const char *needle)
{
    size_t len = strcspn(ran->err, "\n");
    const char *at = strstr(ran->err, needle);
    const char *dashes = strstr(ran->err, "\n----");

    if (ran->status != status || !at || at > ran->err + len) {
        print_message("status %d: %s\n", ran->status, ran->err);
    }
    assert_int_equal(ran->status, status);
    assert_non_null(at);
    assert_true(at < ran->err + len);
    /* nothing of ours after it */
    assert_true(ran->err[len] == '\0' || ran->err[len + 1] == '\0' ||
                dashes == ran->err + len);
}

static void whole_study(void **state)
{
    const cli_ran *ran;

    (void)state;
    cli_write("bowl.yaml", cli_synthetic);
    ran = cli_mpirun(4, "tune bowl.yaml -o bowl.h5");
    if (ran->status != 0) {
        print_message("%s%s", ran->out, ran->err);
    }
    assert_int_equal(ran->status, 0);
    assert_non_null(strstr(ran->out, "finals\nwinner"));
    assert_non_null(strstr(ran->out, "verdict"));
    assert_non_null(strstr(ran->out, "lower than the baseline ["));
    assert_non_null(strstr(ran->out, "study file bowl.h5"));
    assert_int_equal(access("bowl.h5.exit", F_OK), 0);
}

static void best_of_it(void **state)
{
    json_t *o = cli_json(cli_run("best bowl.h5 --top 3 --json"));
    json_t *winner = json_object_get(o, "winner");
    json_t *speedup = json_object_get(o, "speedup");

    (void)state;
    assert_true(json_is_integer(json_object_get(winner, "trial")));
    assert_true(json_is_integer(
            json_object_get(json_object_get(winner, "configuration"), "x")));
    assert_true(json_is_number(json_object_get(winner, "objective")));
    assert_int_equal(json_integer_value(json_object_get(winner, "ranks")), 1);
    assert_int_equal(json_integer_value(json_object_get(
                             json_object_get(o, "baseline"), "trial")),
                     0);
    assert_true(json_is_number(json_object_get(speedup, "value")));
    assert_true(json_is_boolean(json_object_get(speedup, "significant")));
    assert_int_equal(json_array_size(json_object_get(o, "top")), 3);
    json_decref(o);
    assert_int_equal(cli_run("best bowl.h5")->status, 0);
}

static void status_of_it(void **state)
{
    json_t *o = cli_json(cli_run("status bowl.h5 --json"));
    json_t *rungs = json_object_get(o, "rungs");

    (void)state;
    assert_string_equal(json_string_value(json_object_get(o, "state")), "done");
    assert_int_equal(json_integer_value(json_object_get(o, "epoch")), 1);
    assert_int_equal(json_integer_value(json_object_get(o, "trials")), 12);
    assert_true(json_array_size(rungs) >= 2);
    assert_non_null(json_object_get(json_array_get(rungs, 0), "promoted"));
    assert_int_equal(json_integer_value(json_object_get(
                             json_object_get(o, "ranks"), "total")),
                     3);
    assert_true(json_is_object(json_object_get(o, "failures")));
    assert_true(json_is_null(json_object_get(o, "deadline_s")));
    assert_true(json_is_number(json_object_get(o, "age_s")));
    json_decref(o);
    assert_int_equal(cli_run("status bowl.h5")->status, 0);
}

static void replay_of_it(void **state)
{
    const cli_ran *ran = cli_run("replay bowl.h5 --json");
    json_t *o = cli_json(ran);

    (void)state;
    assert_int_equal(ran->status, 0);
    assert_int_equal(json_integer_value(json_object_get(o, "mismatches")), 0);
    assert_true(json_is_null(json_object_get(o, "first_mismatch")));
    assert_true(json_integer_value(json_object_get(o, "events")) > 20);
    assert_true(json_integer_value(json_object_get(o, "commands")) > 20);
    json_decref(o);
}

static void export_of_it(void **state)
{
    const cli_ran *ran;
    char *end;
    json_t *row;

    (void)state;
    ran = cli_run("export bowl.h5 --table trials");
    assert_int_equal(ran->status, 0);
    assert_int_equal(cli_lines(ran->out), 13);
    assert_memory_equal(ran->out, "trial,created_s,origin,state,ranks,", 35);
    ran = cli_run("export bowl.h5 --table runs --format json");
    assert_int_equal(ran->status, 0);
    end = strchr(ran->out, '\n');
    assert_non_null(end);
    *end = '\0';
    row = json_loads(ran->out, 0, NULL);
    assert_non_null(row);
    assert_string_equal(json_string_value(json_object_get(row, "status")),
                        "finished");
    assert_true(json_is_null(json_object_get(row, "tokens_per_s")));
    json_decref(row);
    ran = cli_run("export bowl.h5 --table reports");
    assert_int_equal(ran->status, 0);
    assert_memory_equal(ran->out, "run,seq,step,time_s,", 20);
    ran = cli_run("export bowl.h5 --table models");
    assert_int_equal(ran->status, 0);
    assert_memory_equal(ran->out, "seq,time_s,snapshot,n,predictor,", 32);
    ran = cli_run("export bowl.h5 --table events");
    assert_int_equal(ran->status, 0);
    assert_memory_equal(ran->out, "seq,time_s,kind,offset,bytes,digest\n", 36);
}

/* A study of another kind, answered by what was measured. */
static void simulated_on_it(void **state)
{
    json_t *best = cli_json(cli_run("best bowl.h5 --json"));
    json_t *o;

    (void)state;
    cli_write("other.yaml",
              "study: other\n"
              "model: {kind: process, command: [./train, '{x}', '{y}']}\n"
              "space: {y: {choice: [c, b, a]}, x: {int: [1, 20]}}\n"
              "objective: {minimize: loss}\n"
              "resource: {unit: steps, min: 1, max: 9, eta: 3}\n"
              "search: random\n"
              "budget: {trials: 1000}\n"
              "finals: none\n");
    o = cli_json(cli_run("sim other.yaml --workers 4 --curves bowl.h5 --json"));
    assert_int_equal(json_integer_value(json_object_get(o, "distinct")), 60);
    assert_int_equal(json_integer_value(json_object_get(o, "missing")), 48);
    assert_true(json_real_value(json_object_get(o, "best")) <=
                json_real_value(json_object_get(json_object_get(best, "winner"),
                                                "objective")));
    assert_true(json_is_null(json_object_get(o, "optimum")));
    json_decref(o);
    json_decref(best);
    o = cli_json(cli_run("sim bowl.yaml --workers 3 --curves bowl.h5 --json"));
    assert_int_equal(json_integer_value(json_object_get(o, "missing")), 0);
    json_decref(o);
    cli_write("acc.yaml", "study: acc\n"
                          "model: {kind: process, command: [./train]}\n"
                          "space: {y: {choice: [a, b]}, xx: {int: [1, 20]}}\n"
                          "objective: {maximize: loss}\n");
    cli_expect_sentence(cli_run("sim acc.yaml --workers 3 --curves bowl.h5"), 1,
                        "bowl.h5 has no parameter \"xx\"");
}

static void a_record_is_not_overwritten(void **state)
{
    (void)state;
    expect_first_line(cli_mpirun(3, "tune bowl.yaml -o bowl.h5"), 1,
                      "bowl.h5 exists already; go on with --resume, or name "
                      "another file with -o");
    cli_write("other.yaml", cli_gpt);
    cli_write("text.txt", "long enough for one sequence, and more\n");
    expect_first_line(cli_mpirun(3, "tune other.yaml -o bowl.h5 --resume -q"),
                      1, "bowl.h5");
    expect_first_line(
            cli_mpirun(3, "tune bowl.yaml -o bowl.h5 --resume --seed 4 -q"), 1,
            "--seed 4 differs from 3");
    cli_write("text.h5", "no study at all\n");
    expect_first_line(cli_mpirun(3, "tune bowl.yaml -o text.h5 --resume -q"), 1,
                      "text.h5");
    expect_first_line(cli_mpirun(3, "tune bowl.yaml -o no/where.h5 -q"), 1,
                      "no/where.h5");
}

/* The optimum of seed 3 is x = 4, y = a. */
static void a_good_baseline_stands(void **state)
{
    const cli_ran *ran;
    json_t *o;

    (void)state;
    cli_write("good.yaml",
              "study: good\n"
              "seed: 3\n"
              "model: {kind: synthetic, cost: 0.0005}\n"
              "space: {x: {int: [1, 20]}, y: {choice: [a, b, c]}}\n"
              "objective: {minimize: loss}\n"
              "baseline: {x: 4, y: a}\n"
              "resource: {unit: steps, min: 1, max: 9, eta: 3}\n"
              "search: random\n"
              "budget: {trials: 12}\n"
              "finals: {top: 2, repeats: 3}\n");
    ran = cli_mpirun(3, "tune good.yaml -q");
    assert_int_equal(ran->status, 0);
    assert_non_null(strstr(ran->out, "the baseline stands (best challenger, "
                                     "trial "));
    o = cli_json(cli_run("best good.h5 --json"));
    assert_int_equal(json_integer_value(json_object_get(
                             json_object_get(o, "winner"), "trial")),
                     0);
    assert_true(json_is_false(
            json_object_get(json_object_get(o, "speedup"), "significant")));
    json_decref(o);
}

static void done_already(void **state)
{
    const cli_ran *ran = cli_mpirun(3, "tune bowl.yaml -o bowl.h5 --resume");

    (void)state;
    assert_int_equal(ran->status, 0);
    assert_int_equal(access("bowl.h5", F_OK), 0);
}

/* cost: seconds a unit, so long that a signal comes in between */
static void write_slow(void)
{
    cli_write("slow.yaml", "study: slow\n"
                           "model: {kind: synthetic, cost: 0.05}\n"
                           "space: {x: {int: [1, 50]}}\n"
                           "objective: {minimize: loss}\n"
                           "resource: {unit: steps, min: 1, max: 9, eta: 3}\n"
                           "search: quasi\n"
                           "budget: {trials: 40}\n"
                           "finals: none\n");
}

static void check_state(const char *file, const char *state, int epoch)
{
    json_t *o = cli_json(cli_run("status %s --json", file));

    assert_string_equal(json_string_value(json_object_get(o, "state")), state);
    assert_int_equal(json_integer_value(json_object_get(o, "epoch")), epoch);
    json_decref(o);
}

static void a_drained_study_goes_on(void **state)
{
    const cli_ran *ran;
    json_t *o;

    (void)state;
    write_slow();
    ran = cli_signalled(3, "USR1", 1.2, "tune slow.yaml --json");
    assert_int_equal(ran->status, 3);
    o = cli_json(ran);
    assert_true(json_is_true(json_object_get(o, "resumable")));
    assert_string_equal(json_string_value(json_object_get(o, "file")),
                        "slow.h5");
    json_decref(o);
    check_state("slow.h5", "interrupted", 1);
    ran = cli_mpirun(4, "tune slow.yaml --resume --json -q");
    assert_int_equal(ran->status, 0);
    o = cli_json(ran);
    assert_true(json_is_null(json_object_get(o, "speedup")));
    assert_true(json_is_null(json_object_get(o, "baseline")));
    assert_int_equal(json_integer_value(json_object_get(o, "trials")), 40);
    json_decref(o);
    check_state("slow.h5", "done", 2);
    assert_int_equal(cli_run("replay slow.h5")->status, 0);
}

static void a_terminated_study_is_broken_off_in_order(void **state)
{
    (void)state;
    write_slow();
    cli_signalled(3, "TERM", 0.8, "tune slow.yaml -o term.h5 -q");
    assert_int_equal(access("term.h5.exit", F_OK), 0);
    check_state("term.h5", "interrupted", 1);
    assert_int_equal(cli_run("recover term.h5")->status, 0);
    assert_int_equal(cli_run("export term.h5 --table runs")->status, 0);
}

static void bad_starts(void **state)
{
    (void)state;
    cli_write("wide.yaml", "study: wide\n"
                           "model: {kind: synthetic}\n"
                           "space: {a: {int: [1, 4]}}\n"
                           "ranks: 4 * a\n"
                           "objective: {minimize: loss}\n"
                           "budget: {trials: 2}\n");
    expect_first_line(cli_mpirun(3, "tune wide.yaml"), 2, "needs 4 ranks");
    expect_first_line(cli_mpirun(1, "tune bowl.yaml -o b.h5"), 1,
                      "one rank only");
    cli_expect_sentence(cli_run("tune bowl.yaml -o b.h5"), 1, "one rank only");
    expect_first_line(cli_mpirun(3, "tune none.yaml"), 1, "none.yaml");
    cli_write("later.yaml", "study: later\n"
                            "model: {kind: synthetic}\n"
                            "space: {a: {int: [1, 4]}}\n"
                            "scheduler: {kind: hyperband, bracket: 1}\n"
                            "objective: {minimize: loss}\n"
                            "budget: {trials: 2}\n");
    expect_first_line(cli_mpirun(3, "tune later.yaml"), 1,
                      "no such key with hyperband");
    cli_write("empty.yaml", "study: empty\n"
                            "model: {kind: synthetic}\n"
                            "space: {a: {int: [1, 4]}}\n"
                            "constraints: [a > 7]\n"
                            "objective: {minimize: loss}\n");
    expect_first_line(cli_mpirun(3, "tune empty.yaml"), 2, "'a > 7'");
    cli_write("float0.yaml", "study: float0\n"
                             "model: {kind: synthetic}\n"
                             "space: {a: {float: [0, 1]}}\n"
                             "constraints: [a > 1.5]\n"
                             "objective: {minimize: loss}\n");
    expect_first_line(cli_mpirun(3, "tune float0.yaml"), 2, "'a > 1.5'");
    assert_int_not_equal(access("float0.h5", F_OK), 0);
    assert_int_not_equal(access("float0.exit", F_OK), 0);
    cli_write("words.yaml", "study: words\n"
                            "model:\n"
                            "  kind: process\n"
                            "  command: [train, \"--x={y}\"]\n"
                            "space: {x: {int: [0, 3]}}\n"
                            "objective: {minimize: loss}\n");
    expect_first_line(cli_mpirun(3, "tune words.yaml"), 1,
                      "words.yaml:4:20: unknown placeholder {y}");
    assert_int_not_equal(access("words.h5", F_OK), 0);
    expect_first_line(cli_mpirun(3, "tune bowl.yaml --bogus"), 1, "--bogus");
    expect_first_line(cli_mpirun(3, "tune bowl.yaml --warm none.h5 -o b.h5"), 1,
                      "none.h5");
    assert_int_not_equal(access("b.h5", F_OK), 0);
}

static void apart(void **state)
{
    (void)state;
    setenv("SLURM_NTASKS", "4", 1);
    cli_expect_sentence(cli_run("tune bowl.yaml -o b.h5"), 1,
                        "Slurm started 4 tasks but each is a world of its own");
    unsetenv("SLURM_NTASKS");
}

static void no_record(void **state)
{
    static const char *const commands[] = {"status", "best", "replay",
                                           "export --table runs", "recover"};

    (void)state;
    cli_write("text.h5", "no study at all\n");
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        cli_expect_sentence(cli_run("%s none.h5", commands[i]), 1, "none.h5");
        cli_expect_sentence(cli_run("%s text.h5", commands[i]), 1, "text.h5");
        cli_expect_json_error(cli_run("%s none.h5 --json", commands[i]), 1,
                              "not-found", "none.h5");
    }
    cli_expect_json_error(cli_run("status none.h5 --json"), 1, "not-found",
                          "none.h5");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(whole_study),
            cmocka_unit_test(best_of_it),
            cmocka_unit_test(status_of_it),
            cmocka_unit_test(replay_of_it),
            cmocka_unit_test(export_of_it),
            cmocka_unit_test(simulated_on_it),
            cmocka_unit_test(a_record_is_not_overwritten),
            cmocka_unit_test(a_good_baseline_stands),
            cmocka_unit_test(done_already),
            cmocka_unit_test(a_drained_study_goes_on),
            cmocka_unit_test(a_terminated_study_is_broken_off_in_order),
            cmocka_unit_test(bad_starts),
            cmocka_unit_test(apart),
            cmocka_unit_test(no_record),
    };
    int failed;

    if (cli_init(argc, argv) != 0) {
        return 1;
    }
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    cli_fini();
    return failed;
}

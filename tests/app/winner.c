/*
 * best --emit on records: names from the record or from a study file, JSON,
 * and no winner.
 */
#include "tests/app/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char study[] =
        "study: own\n"
        "seed: 4\n"
        "model:\n"
        "  kind: process\n"
        "  command: [sh, '{study_dir}/steps.sh', '{size}', 'of {rank}']\n"
        "space: {size: {choice: [1]}, micro_batch: {choice: [8]},\n"
        "        odd: {choice: [3]}}\n"
        "ranks: 2\n"
        "objective: {minimize: loss}\n"
        "resource: {unit: steps, min: 2, max: 2, eta: 2}\n"
        "budget: {trials: 1}\n"
        "finals: none\n";

static const char steps[] =
        "for i in 1 2 3 4 5; do echo \"{\\\"step\\\": $i, \\\"loss\\\": 1}\"; "
        "done\n";

static const char all_failed[] =
        "study: failed\n"
        "model: {kind: table, file: failed.csv, parameters: [x],\n"
        "        objective: y, failed: f, second: 0}\n"
        "space: table\n"
        "objective: {minimize: loss}\n"
        "finals: none\n";

static const char *text_of(const json_t *o, const char *key)
{
    const char *text = json_string_value(json_object_get(o, key));

    return text ? text : "";
}

static void tune_once(void)
{
    const cli_ran *ran;

    cli_write("own.yaml", study);
    cli_write("steps.sh", steps);
    ran = cli_mpirun(3, "tune own.yaml -q");
    if (ran->status != 0) {
        print_message("%s%s", ran->out, ran->err);
    }
    assert_int_equal(ran->status, 0);
}

static void a_winner_is_emitted(void **state)
{
    const cli_ran *ran;
    json_t *o;

    (void)state;
    tune_once();
    ran = cli_run("best own.h5 --emit megatron");
    assert_int_equal(ran->status, 0);
    assert_string_equal(ran->out, "--micro-batch-size 8\n");
    assert_non_null(strstr(ran->err, "odd = 3 has no name in megatron"));
    ran = cli_run("best own.h5 --emit torchrun");
    assert_non_null(strstr(ran->out, "--nproc_per_node=2"));
    assert_non_null(strstr(ran->out, "exec sh ./steps.sh 1 'of '\"$RANK\"\n"));
    o = cli_json(cli_run("best own.h5 --emit slurm --json"));
    assert_string_equal(text_of(o, "format"), "slurm");
    assert_int_equal(json_integer_value(json_object_get(o, "nodes")), 1);
    assert_int_equal(json_integer_value(json_object_get(o, "ranks")), 2);
    assert_non_null(strstr(text_of(o, "text"), "#SBATCH --ntasks-per-node=2"));
    json_decref(o);
    o = cli_json(cli_run("best own.h5 --emit deepspeed --json"));
    assert_int_equal(json_integer_value(
                             json_object_get(json_object_get(o, "settings"),
                                             "train_micro_batch_size_per_gpu")),
                     8);
    json_decref(o);
}

/* Names may come after the search, from another file or at a resume. */
static void names_come_later(void **state)
{
    char named[2048];
    const cli_ran *ran;

    (void)state;
    snprintf(named, sizeof named,
             "%semit: {megatron: {odd: '--odd {odd}x', size: ''}}\n", study);
    cli_write("named.yaml", named);
    ran = cli_run("best own.h5 --emit megatron --study named.yaml");
    assert_int_equal(ran->status, 0);
    assert_string_equal(ran->out, "--micro-batch-size 8\n--odd 3x\n");
    ran = cli_mpirun(3, "tune named.yaml --resume -q");
    assert_int_equal(ran->status, 0);
    assert_non_null(strstr(ran->out, "done already"));
}

static void no_winner_is_status_2(void **state)
{
    (void)state;
    cli_write("failed.csv", "x,y,f\n1,1,1\n2,1,1\n");
    cli_write("failed.yaml", all_failed);
    assert_int_equal(cli_mpirun(2, "tune failed.yaml -q")->status, 2);
    cli_expect_sentence(cli_run("best failed.h5 --emit torchrun"), 2,
                        "has no winner to emit");
    cli_expect_json_error(cli_run("best failed.h5 --emit slurm --json"), 2,
                          "empty", "none of its 2 configurations");
}

static void wrong_usage(void **state)
{
    (void)state;
    cli_expect_sentence(cli_run("best own.h5 --emit slrm"), 1,
                        "did you mean slurm?");
    cli_expect_sentence(cli_run("best own.h5 --study own.yaml"), 1,
                        "--study goes with --emit");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(a_winner_is_emitted),
            cmocka_unit_test(names_come_later),
            cmocka_unit_test(no_winner_is_status_2),
            cmocka_unit_test(wrong_usage),
    };
    int failed;

    if (cli_init(argc, argv) != 0) {
        return 1;
    }
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    cli_fini();
    return failed;
}

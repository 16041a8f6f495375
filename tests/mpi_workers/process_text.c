/*
 * What a user's process is given: arguments from templates, and an environment
 * in which it does not take itself for a rank of this job.
 */
#include "mpi_workers/process.h"
#include "mpi_workers/process_env.h"
#include "mpi_workers/process_template.h"

#include "tests/tri_cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char text[] =
        "study: p\nseed: 42\n"
        "model:\n"
        "  kind: process\n"
        "  command: [train, \"--lr={lr}\"]\n"
        "  env: {DATA: \"{study_dir}/data\", RANK: overridden}\n"
        "  keep_env: [SLURM_PROCID]\n"
        "space:\n"
        "  lr: {choice: [0.003, 1.0]}\n"
        "  n: {int: [1, 4]}\n"
        "  schedule: {choice: [gpipe, \"two words; $(rm x)\"], when: n > 1}\n"
        "ranks: n\n"
        "objective: {minimize: loss}\n";

static tri_study *study;
static tri_config config[8];

static const tri_facts facts = {.rank = 1,
                                .world_size = 4,
                                .local_rank = 1,
                                .local_world_size = 2,
                                .run = 17,
                                .trial = 5,
                                .resource = 19,
                                .rung = 2,
                                .attempt = 1,
                                .epoch = 3,
                                .seed = 42,
                                .master_addr = "node7",
                                .master_port = 23456,
                                .study_dir = "/home/me/studies"};

static int setup(void **state)
{
    (void)state;
    assert_int_equal(
            tri_study_parse(text, strlen(text), "p.yaml", NULL, NULL, &study),
            TRI_OK);
    assert_int_equal(tri_space_parse(study->space,
                                     "lr=0.003 n=4 "
                                     "schedule=\"two words; $(rm x)\"",
                                     config),
                     TRI_OK);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    tri_study_destroy(study);
    return 0;
}

static void check(const char *from, const char *expected)
{
    char *got;

    assert_int_equal(tri_template_expand(from, study, config, &facts, &got),
                     TRI_OK);
    assert_string_equal(got, expected);
    free(got);
}

static void templates(void **state)
{
    (void)state;
    check("", "");
    check("plain", "plain");
    check("--lr={lr}", "--lr=0.003");
    check("{run}.{trial}.{rank}/{world_size}", "17.5.1/4");
    check("{resource} {rung} {attempt} {epoch} {seed}", "19 2 1 3 42");
    check("{master_addr}:{master_port}", "node7:23456");
    check("{study_dir}/x.py", "/home/me/studies/x.py");
    check("{schedule}", "two words; $(rm x)"); /* one argument, unquoted */
    check("{{\"a\": {n}}}", "{\"a\": 4}");
    check("a } b", "a } b");
}

static void inactive_is_empty(void **state)
{
    tri_config one[8];
    char *got;

    (void)state;
    assert_int_equal(tri_space_parse(study->space, "lr=1.0 n=1", one), TRI_OK);
    assert_int_equal(
            tri_template_expand("[{schedule}]", study, one, &facts, &got),
            TRI_OK);
    assert_string_equal(got, "[]");
    free(got);
}

/* The command of a study in one line; "|" between arguments. */
static void command(const char *model, const char *assignments,
                    const char *expected)
{
    char study_text[1024];
    char line[512] = "";
    tri_config one[8];
    tri_study *s = NULL;
    char **argv = NULL;

    snprintf(study_text, sizeof study_text,
             "study: p\nmodel: {kind: process, %s}\n"
             "space:\n"
             "  zero: {choice: [0, 1, 2]}\n"
             "  bucket: {int: [1, 4], when: zero > 0}\n"
             "  part: {int: [1, 4], when: zero > 1}\n"
             "objective: {minimize: loss}\n",
             model);
    assert_int_equal(tri_study_parse(study_text, strlen(study_text), "p.yaml",
                                     NULL, NULL, &s),
                     TRI_OK);
    assert_int_equal(tri_space_parse(s->space, assignments, one), TRI_OK);
    assert_int_equal(tri_template_argv(s, one, &facts, &argv), TRI_OK);
    for (int i = 0; argv[i]; i++) {
        strcat(strcat(line, i ? "|" : ""), argv[i]);
    }
    assert_string_equal(line, expected);
    tri_template_argv_free(argv);
    tri_study_destroy(s);
}

static void inactive_arguments_are_left_out(void **state)
{
    static const char grouped[] =
            "command: [run, [--bucket, '{bucket}'], [--part, '{part}', "
            "--zero], '--b={bucket}', '{part}{zero}', end]";

    (void)state;
    command(grouped, "zero=2 bucket=3 part=4",
            "run|--bucket|3|--part|4|--zero|--b=3|42|end");
    command(grouped, "zero=1 bucket=3", "run|--bucket|3|--b=3|end");
    command(grouped, "zero=0", "run|end");
    command("command: [run, '{bucket}']", "zero=0", "run");
    command("command: [run, ['{bucket}', a], [b, '{bucket}']]", "zero=0",
            "run");
    command("command: [run, \"\", '{zero}']", "zero=0", "run||0");
    command("shell: true, command: 'run --bucket={bucket} \"$HOME\"'", "zero=0",
            "/bin/sh|-c|run --bucket= \"$HOME\"");
}

static void wrong_templates(void **state)
{
    static const char *const wrong[] = {"{nosuch}", "{lr",   "{}",
                                        "{ lr }",   "{lr}{", "${HOME}"};
    char *got = NULL;

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(tri_template_check(wrong[i], study), TRI_EINVAL);
        assert_int_equal(
                tri_template_expand(wrong[i], study, config, &facts, &got),
                TRI_EINVAL);
    }
    assert_null(got);
    assert_int_equal(tri_process_check(study), TRI_OK);
}

/* The value of `name` in env; NULL if it is not there; once at most. */
static const char *value_of(char **env, const char *name)
{
    const char *value = NULL;
    size_t n = strlen(name);

    for (int i = 0; env[i]; i++) {
        if (strncmp(env[i], name, n) == 0 && env[i][n] == '=') {
            assert_null(value);
            value = env[i] + n + 1;
        }
    }
    return value;
}

static void environment(void **state)
{
    char *from[] = {(char[]){"PATH=/bin"},
                    (char[]){"RANK=77"},
                    (char[]){"OMPI_COMM_WORLD_RANK=3"},
                    (char[]){"OMPI_UNIVERSE_SIZE=9"},
                    (char[]){"OMPI_APP_CTX_NUM_PROCS=9"},
                    (char[]){"OMPI_MCA_orte_x=1"},
                    (char[]){"OMPI_MCA_ess_y=1"},
                    (char[]){"OMPI_MCA_ess=pmi"},
                    (char[]){"OMPI_MCA_pmix_z=1"},
                    (char[]){"OMPI_MCA_btl=tcp"},
                    (char[]){"PMIX_RANK=3"},
                    (char[]){"PMI_SIZE=4"},
                    (char[]){"SLURM_STEP_ID=0"},
                    (char[]){"SLURM_PROCID=3"},
                    (char[]){"SLURM_LOCALID=3"},
                    (char[]){"SLURM_JOB_ID=12"},
                    (char[]){"CUDA_VISIBLE_DEVICES=1"},
                    NULL};
    static const char *const gone[] = {"OMPI_COMM_WORLD_RANK",
                                       "OMPI_UNIVERSE_SIZE",
                                       "OMPI_APP_CTX_NUM_PROCS",
                                       "OMPI_MCA_orte_x",
                                       "OMPI_MCA_ess_y",
                                       "OMPI_MCA_ess",
                                       "OMPI_MCA_pmix_z",
                                       "PMIX_RANK",
                                       "PMI_SIZE",
                                       "SLURM_STEP_ID",
                                       "SLURM_LOCALID"};
    static const char *const there[][2] = {
            {"PATH", "/bin"},
            {"OMPI_MCA_btl", "tcp"},
            {"SLURM_PROCID", "3"}, /* keep_env */
            {"SLURM_JOB_ID", "12"},
            {"CUDA_VISIBLE_DEVICES", "1"},
            {"WORLD_SIZE", "4"},
            {"LOCAL_RANK", "1"},
            {"LOCAL_WORLD_SIZE", "2"},
            {"MASTER_ADDR", "node7"},
            {"MASTER_PORT", "23456"},
            {"TRIREME_RESOURCE", "19"},
            {"TRIREME_TRIAL", "5"},
            {"TRIREME_RUN", "17"},
            {"TRIREME_SEED", "42"},
            {"TRIREME_LR", "0.003"},
            {"TRIREME_SCHEDULE", "two words; $(rm x)"},
            {"DATA", "/home/me/studies/data"},
            {"RANK", "overridden"}}; /* the study's word is last */
    char **env;

    (void)state;
    assert_int_equal(tri_env_build(from, study, config, &facts, &env), TRI_OK);
    for (size_t i = 0; i < sizeof gone / sizeof gone[0]; i++) {
        assert_null(value_of(env, gone[i]));
    }
    for (size_t i = 0; i < sizeof there / sizeof there[0]; i++) {
        assert_non_null(value_of(env, there[i][0]));
        assert_string_equal(value_of(env, there[i][0]), there[i][1]);
    }
    tri_env_free(env);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(templates),
            cmocka_unit_test(inactive_is_empty),
            cmocka_unit_test(inactive_arguments_are_left_out),
            cmocka_unit_test(wrong_templates),
            cmocka_unit_test(environment),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}

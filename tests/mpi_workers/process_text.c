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
                                .group_rank = 1,
                                .n_hosts = 2,
                                .hosts = "node7,node8",
                                .host_slots = "node7:2,node8:2",
                                .scratch = "/scratch/17",
                                .device_variable = "CUDA_VISIBLE_DEVICES",
                                .device = "2,0",
                                .master_port = 23456,
                                .study_dir = "/home/me/studies",
                                .checkpoint_dir = "/kept/p.r17.a1.e3.ckpt",
                                .resume_dir = "/kept/p.r9.a0.e2.ckpt",
                                .resume_step = 13};

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
    check("{checkpoint_dir} {resume_dir} {resume_step}",
          "/kept/p.r17.a1.e3.ckpt /kept/p.r9.a0.e2.ckpt 13");
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

static int is_there(char **env, const char *name)
{
    return value_of(env, name) != NULL;
}

/* Names as Open MPI 4.1.4, its PMIx 4.2 and Slurm 22.05 set them; what is of
 * the job, the site or the user stays. */
static void the_launchers_variables_go(void **state)
{
    static const char *const gone[] = {
            "OMPI_APP_CTX_NUM_PROCS",
            "OMPI_COMMAND",
            "OMPI_COMM_WORLD_LOCAL_RANK",
            "OMPI_COMM_WORLD_LOCAL_SIZE",
            "OMPI_COMM_WORLD_NODE_RANK",
            "OMPI_COMM_WORLD_RANK",
            "OMPI_COMM_WORLD_SIZE",
            "OMPI_FILE_LOCATION",
            "OMPI_FIRST_RANKS",
            "OMPI_MCA_ess",
            "OMPI_MCA_ess_base_jobid",
            "OMPI_MCA_ess_base_vpid",
            "OMPI_MCA_initial_wdir",
            "OMPI_MCA_orte_app_num",
            "OMPI_MCA_orte_bound_at_launch",
            "OMPI_MCA_orte_ess_node_rank",
            "OMPI_MCA_orte_ess_num_procs",
            "OMPI_MCA_orte_hnp_uri",
            "OMPI_MCA_orte_jobfam_session_dir",
            "OMPI_MCA_orte_launch",
            "OMPI_MCA_orte_local_daemon_uri",
            "OMPI_MCA_orte_num_nodes",
            "OMPI_MCA_orte_precondition_transports",
            "OMPI_MCA_orte_tmpdir_base",
            "OMPI_MCA_orte_top_session_dir",
            "OMPI_MCA_pmix",
            "OMPI_NUM_APP_CTX",
            "OMPI_UNIVERSE_SIZE",
            "PMIX_BFROP_BUFFER_TYPE",
            "PMIX_DSTORE_21_BASE_PATH",
            "PMIX_GDS_MODULE",
            "PMIX_HOSTNAME",
            "PMIX_ID",
            "PMIX_MCA_mca_base_component_show_load_errors",
            "PMIX_NAMESPACE",
            "PMIX_RANK",
            "PMIX_SECURITY_MODE",
            "PMIX_SERVER_TMPDIR",
            "PMIX_SERVER_URI21",
            "PMIX_SYSTEM_TMPDIR",
            "PMIX_VERSION",
            "PMI_RANK",
            "PMI_SIZE",
            "PMI_FD",
            "SLURM_STEP_ID",
            "SLURM_STEPID",
            "SLURM_STEP_NODELIST",
            "SLURM_STEP_NUM_NODES",
            "SLURM_STEP_NUM_TASKS",
            "SLURM_STEP_TASKS_PER_NODE",
            "SLURM_STEP_LAUNCHER_PORT",
            "SLURM_STEP_RESV_PORTS",
            "SLURM_STEP_GPUS",
            "SLURM_LOCALID",
            "SLURM_NODEID",
            "SLURM_GTIDS",
            "SLURM_TASK_PID",
            "SLURM_SRUN_COMM_HOST",
            "SLURM_SRUN_COMM_PORT",
            "SLURM_CPU_BIND",
            "SLURM_CPU_BIND_LIST",
            "SLURM_CPU_BIND_TYPE",
            "SLURM_CPU_BIND_VERBOSE",
            "SLURM_MEM_BIND",
            "SLURM_MPI_TYPE",
            "SLURM_PMIXP_ABORT_AGENT_PORT",
            "SLURM_PMIX_MAPPING_SERV",
            "SLURM_LAUNCH_NODE_IPADDR",
            "SLURM_DISTRIBUTION",
            "SLURM_UMASK",
            "SLURM_NTASKS",
            "SLURM_NPROCS",
            "SLURM_NTASKS_PER_NODE",
            "SLURM_GPUS_PER_TASK",
            "SLURM_TOPOLOGY_ADDR",
            "SLURM_TOPOLOGY_ADDR_PATTERN"};
    static const char *const kept[] = {"PATH",
                                       "HOME",
                                       "OMP_NUM_THREADS",
                                       "OMP_PLACES",
                                       "OMPI_ALLOW_RUN_AS_ROOT",
                                       "OMPI_MCA_btl",
                                       "OMPI_MCA_btl_tcp_if_include",
                                       "OMPI_MCA_rmaps_base_oversubscribe",
                                       "OMPI_MCA_plm_slurm_args",
                                       "PMIXLESS",
                                       "CUDA_VISIBLE_DEVICES",
                                       "SLURM_PROCID" /* keep_env */,
                                       "SLURM_JOB_ID",
                                       "SLURM_JOBID",
                                       "SLURM_JOB_NODELIST",
                                       "SLURM_NODELIST",
                                       "SLURM_NNODES",
                                       "SLURM_JOB_NUM_NODES",
                                       "SLURM_TASKS_PER_NODE",
                                       "SLURM_JOB_CPUS_PER_NODE",
                                       "SLURM_CPUS_PER_TASK",
                                       "SLURM_CPUS_ON_NODE",
                                       "SLURM_GPUS_ON_NODE",
                                       "SLURM_SUBMIT_DIR",
                                       "SLURM_CONF",
                                       "SLURM_OVERLAP",
                                       "SLURMD_NODENAME"};
    enum {
        N_GONE = sizeof gone / sizeof gone[0],
        N_KEPT = sizeof kept / sizeof kept[0]
    };
    char *from[N_GONE + N_KEPT + 1] = {NULL};
    char **env;

    (void)state;
    for (int i = 0; i < N_GONE + N_KEPT; i++) {
        assert_true(asprintf(&from[i], "%s=x",
                             i < N_GONE ? gone[i] : kept[i - N_GONE]) > 0);
    }
    assert_int_equal(tri_env_scrub(from, &study->model.u.process, "M=1", &env),
                     TRI_OK);
    for (int i = 0; i < N_GONE; i++) {
        assert_false(is_there(env, gone[i]));
    }
    for (int i = 0; i < N_KEPT; i++) {
        assert_true(is_there(env, kept[i]));
    }
    assert_true(is_there(env, "M"));
    for (int i = 0; from[i]; i++) {
        free(from[i]);
    }
    tri_env_free(env);
}

/* Whether `name` is `value` in env; NULL: is not there. */
static void expect(char **env, const char *name, const char *value)
{
    if (value) {
        assert_true(is_there(env, name));
        assert_string_equal(value_of(env, name), value);
    } else {
        assert_false(is_there(env, name));
    }
}

static void environment(void **state)
{
    char *from[] = {(char[]){"PATH=/bin"},
                    (char[]){"RANK=77"},
                    (char[]){"OMPI_MCA_btl=tcp"},
                    (char[]){"SLURM_PROCID=3"},
                    (char[]){"CUDA_VISIBLE_DEVICES=0,1,2,3"},
                    (char[]){"BASH_FUNC_module%%=() {  eval $1\n}"},
                    NULL};
    static const char *const there[][2] = {
            {"PATH", "/bin"},
            {"OMPI_MCA_btl", "tcp"},
            {"SLURM_PROCID", "3"},
            {"BASH_FUNC_module%%", "() {  eval $1\n}"},
            {"WORLD_SIZE", "4"},
            {"LOCAL_RANK", "1"},
            {"LOCAL_WORLD_SIZE", "2"},
            {"GROUP_RANK", "1"},
            {"MASTER_ADDR", "node7"},
            {"MASTER_PORT", "23456"},
            {"CUDA_VISIBLE_DEVICES", "2,0"},
            {"PYTHONUNBUFFERED", "1"},
            {"TRIREME_RESOURCE", "19"},
            {"TRIREME_TRIAL", "5"},
            {"TRIREME_RUN", "17"},
            {"TRIREME_RUNG", "2"},
            {"TRIREME_ATTEMPT", "1"},
            {"TRIREME_SEED", "42"},
            {"TRIREME_CHECKPOINT_DIR", "/kept/p.r17.a1.e3.ckpt"},
            {"TRIREME_RESUME_DIR", "/kept/p.r9.a0.e2.ckpt"},
            {"TRIREME_RESUME_STEP", "13"},
            {"TRIREME_HOSTS", "node7,node8"},
            {"TRIREME_HOST_SLOTS", "node7:2,node8:2"},
            {"TRIREME_SCRATCH", "/scratch/17"},
            {"TRIREME_LR", "0.003"},
            {"TRIREME_SCHEDULE", "two words; $(rm x)"},
            {"TRIREME_CONFIG", "{\"lr\": 0.003, \"n\": 4, \"schedule\": \"two "
                               "words; $(rm x)\"}"},
            {"DATA", "/home/me/studies/data"},
            {"RANK", "overridden"}}; /* the study's word is last */
    char **env;

    (void)state;
    assert_int_equal(tri_env_build(from, study, config, &facts, &env), TRI_OK);
    for (size_t i = 0; i < sizeof there / sizeof there[0]; i++) {
        expect(env, there[i][0], there[i][1]);
    }
    tri_env_free(env);
}

/* What a launcher gives its processes is not there for it to contradict. */
static void a_leader_has_no_rank(void **state)
{
    static const char plain[] = "study: p\n"
                                "model: {kind: process, command: [mpirun, "
                                "train], launch: leader}\n"
                                "space: {n: {int: [1, 4]}, m: {int: [1, 2], "
                                "when: n > 2}}\n"
                                "ranks: n\nobjective: {minimize: loss}\n";
    char *from[] = {(char[]){"PYTHONUNBUFFERED="},
                    (char[]){"CUDA_VISIBLE_DEVICES=0,1"}, NULL};
    tri_facts none_set = facts;
    tri_study *s = NULL;
    tri_config one[8];
    char **env;

    (void)state;
    none_set.device_variable = NULL;
    assert_int_equal(
            tri_study_parse(plain, strlen(plain), "p.yaml", NULL, NULL, &s),
            TRI_OK);
    assert_int_equal(tri_space_parse(s->space, "n=2", one), TRI_OK);
    assert_int_equal(tri_env_build(from, s, one, &none_set, &env), TRI_OK);
    expect(env, "RANK", NULL);
    expect(env, "LOCAL_RANK", NULL);
    expect(env, "LOCAL_WORLD_SIZE", NULL);
    expect(env, "GROUP_RANK", NULL);
    expect(env, "WORLD_SIZE", "4");
    expect(env, "MASTER_PORT", "23456");
    expect(env, "CUDA_VISIBLE_DEVICES", "0,1"); /* as inherited */
    expect(env, "PYTHONUNBUFFERED", "");        /* as the user said */
    expect(env, "TRIREME_CONFIG", "{\"n\": 2, \"m\": null}");
    tri_env_free(env);
    tri_study_destroy(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(templates),
            cmocka_unit_test(inactive_is_empty),
            cmocka_unit_test(inactive_arguments_are_left_out),
            cmocka_unit_test(wrong_templates),
            cmocka_unit_test(the_launchers_variables_go),
            cmocka_unit_test(environment),
            cmocka_unit_test(a_leader_has_no_rank),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}

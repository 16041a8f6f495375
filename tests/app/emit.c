/*
 * What `best --emit` writes, against golden files: of studies of every kind,
 * for every format.  TRI_GOLDEN_WRITE=1 writes the files anew; read the
 * difference before it is kept.
 */
#include "src/app/emit.h"
#include "tests/tri_cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GOLDEN TRI_SOURCE_DIR "/tests/app/golden/"

typedef struct winner { /* a study, and what won it */
    const char *name, *yaml, *config;
    int ranks, counts[4], n_hosts, most;
} winner;

static const winner gpt = {
        "gpt",
        "study: gpt laptop\n"
        "model: {kind: gpt, layers: 4, hidden: 128, heads: 4, sequence: 64}\n"
        "space:\n"
        "  dp: {int: [1, 8]}\n"
        "  tp: {choice: [1, 2, 4]}\n"
        "  pp: {choice: [1, 2, 4]}\n"
        "  micro_batch: {int: [1, 32], log2: true}\n"
        "  zero: {choice: [0, 1, 2, 3]}\n"
        "  schedule: {choice: [gpipe, 1f1b], when: pp > 1}\n"
        "  recompute: {choice: [none, selective, full]}\n"
        "  global_batch: 64\n"
        "objective: {maximize: tokens_per_s, compare: total}\n",
        "dp=2 tp=2 pp=2 micro_batch=4 zero=1 schedule=gpipe recompute=full",
        8,
        {4, 4},
        2,
        4};

static const winner trainer = {
        "trainer",
        "study: trainer\n"
        "seed: 7\n"
        "model:\n"
        "  kind: process\n"
        "  command: [python3, '{study_dir}/train.py', --lr, '{lr}',\n"
        "            --micro-batch, '{micro_batch}', [--bucket, '{bucket}']]\n"
        "  env: {NCCL_DEBUG: WARN}\n"
        "space:\n"
        "  lr: {choice: [0.001, 0.0003]}\n"
        "  micro_batch: {int: [1, 32], log2: true}\n"
        "  big: {choice: [true, false]}\n"
        "  bucket: {choice: [25, 100], when: big}\n"
        "  zero: {choice: [0, 1, 2, 3]}\n"
        "  threads: {int: [1, 8], log2: true}\n"
        "ranks: 2\n"
        "objective: {minimize: loss}\n"
        "resource: {unit: steps, min: 20, max: 320, eta: 4}\n"
        "emit:\n"
        "  torchrun: {zero: --zero-stage, big: --big}\n"
        "  deepspeed:\n"
        "    zero: {3: zero_optimization.stage=3 "
        "zero_optimization.offload_param.device=cpu}\n"
        "    bucket: zero_optimization.reduce_bucket_size\n"
        "    big: bf16.enabled\n"
        "  megatron: {bucket: '--ddp-bucket-size {bucket}000000', big: ''}\n",
        "lr=0.0003 micro_batch=8 big=false zero=3 threads=4",
        2,
        {2},
        1,
        2};

/* Words that a shell would take apart, facts of ranks, folders. */
static const winner awkward = {
        "awkward",
        "study: \"awk$ward; rm -rf\"\n"
        "model:\n"
        "  kind: process\n"
        "  command: [./show, '{note}', 'a={rank} of {world_size}', '', '~',\n"
        "            '{study_dir}', '{{{n}}}']\n"
        "  env: {WHO: \"it's {local_rank}\", PLAIN: '{note}'}\n"
        "  cwd: 'sub dir'\n"
        "space:\n"
        "  note: {choice: [\"it's $HOME `id` \\\"x\\\" \\\\ *\", other]}\n"
        "  n: {int: [1, 9]}\n"
        "ranks: 4\n"
        "objective: {minimize: loss}\n",
        "note=\"it's $HOME `id` \\\"x\\\" \\\\ *\" n=3",
        4,
        {3, 1},
        2,
        3};

/* An interpreter of its own; what the resource counts. */
static const winner python = {
        "python",
        "study: python\n"
        "model:\n"
        "  kind: process\n"
        "  command: [/opt/venv/bin/python3.11, -u, train.py, --dp, '{dp}']\n"
        "space:\n"
        "  dp: {choice: [1, 2]}\n"
        "  recompute: {choice: [selective, full]}\n"
        "  method: {choice: [uniform], when: recompute == full}\n"
        "ranks: dp\n"
        "objective: {maximize: tokens_per_s, compare: total}\n"
        "resource: {unit: tokens, min: 20000, max: 320000, eta: 4}\n"
        "emit:\n"
        "  megatron: {recompute: --recompute-granularity,\n"
        "             method: '--recompute-method {method} "
        "--recompute-num-layers 1'}\n",
        "dp=1 recompute=full method=uniform",
        1,
        {1},
        1,
        1};

static const winner script = {
        "script",
        "study: script\n"
        "model:\n"
        "  kind: process\n"
        "  shell: true\n"
        "  command: 'python3 -m train --lr {lr} | tee log.{rank}'\n"
        "  devices: ['0,1', '2,3']\n"
        "  setup:\n"
        "    shell: [bash, -l]\n"
        "    run: |\n"
        "      module load cuda\n"
        "      source env/bin/activate\n"
        "space:\n"
        "  lr: {choice: [0.001, 0.0003]}\n"
        "ranks: 8\n"
        "objective: {minimize: loss}\n",
        "lr=0.001",
        8,
        {4, 4},
        2,
        4};

/* A folder for each process, in which it works. */
static const winner scratch = {"scratch",
                               "study: scratch\n"
                               "model:\n"
                               "  kind: process\n"
                               "  shell: true\n"
                               "  scratch: 'tmp dir/{run}'\n"
                               "  cwd: '{scratch}'\n"
                               "  command: 'pwd >$TRIREME_SCRATCH/x; "
                               "{study_dir}/a.out {b} {scratch}'\n"
                               "space:\n"
                               "  Big: {choice: [\"it's\", '1']}\n"
                               "  b: {choice: [64, 128]}\n"
                               "  c: {choice: [1, 2], when: b == 128}\n"
                               "ranks: 2\n"
                               "objective: {minimize: step_s}\n",
                               "Big=\"it's\" b=64",
                               2,
                               {2},
                               1,
                               2};

static const winner leader = {
        "leader",
        "study: leader\n"
        "model:\n"
        "  kind: process\n"
        "  launch: leader\n"
        "  command: [mpirun, --host, '{host_slots}', -n, '{world_size}',\n"
        "            ./a.out, -b, '{b}']\n"
        "space:\n"
        "  b: {choice: [64, 128]}\n"
        "ranks: 8\n"
        "objective: {minimize: step_s}\n",
        "b=64",
        8,
        {4, 4},
        2,
        4};

static const char csv[] = "model,gpus,dp,tp,pp,zero,mbs,grad_acc,gbs,rate\n"
                          "llama-1B,64,8,4,2,1,2,16,256,12\n"
                          "llama-1B,8,8,1,1,0,2,16,256,11\n";

static const winner table = {
        "table",
        "study: nanotron\n"
        "model:\n"
        "  kind: table\n"
        "  file: runs.csv\n"
        "  parameters: [model, gpus, dp, tp, pp, zero, mbs, grad_acc, gbs]\n"
        "  objective: rate\n"
        "space: table\n"
        "ranks: 1\n"
        "objective: {maximize: rate}\n"
        "emit:\n"
        "  megatron: {model: ''}\n"
        "  deepspeed: {pp: '', model: ''}\n",
        "model=llama-1B gpus=64 dp=8 tp=4 pp=2 zero=1 mbs=2 grad_acc=16 "
        "gbs=256",
        64,
        {0},
        0,
        8};

static const winner *const winners[] = {&gpt,    &trainer, &awkward, &python,
                                        &script, &scratch, &leader,  &table};

/* ---- making -------------------------------------------------------------- */

static tri_status give(void *ctx, const char *path, char **data, size_t *bytes)
{
    (void)ctx;
    (void)path;
    *bytes = strlen(csv);
    *data = strdup(csv);
    return TRI_OK;
}

static void must(tri_status st)
{
    if (st != TRI_OK) {
        fail_msg("%s", tri_error_last()->sentence);
    }
}

static void emit_winner(const winner *w, tri_emit_format format,
                        tri_emitted *out)
{
    tri_config config[32];
    tri_emit_job job = {.trial = 17, .run = 40, .resource = 320, .epoch = 1};
    tri_study *study = NULL;

    must(tri_study_parse(w->yaml, strlen(w->yaml), "models/my.yaml", give, NULL,
                         &study));
    must(tri_space_parse(study->space, w->config, config));
    job.study = job.names = study;
    job.config = config;
    job.ranks = w->ranks;
    tri_emit_place(&job, w->counts, w->n_hosts, w->most);
    must(tri_emit(&job, format, out));
    tri_study_destroy(study);
}

/* The text, and the notes behind it. */
static char *print_all(const tri_emitted *e)
{
    size_t bytes = 0;
    char *text = NULL;
    FILE *f = open_memstream(&text, &bytes);

    assert_non_null(f);
    fputs(e->text, f);
    for (size_t i = 0; i < json_array_size(e->notes); i++) {
        fprintf(f, "NOTE %s\n", json_string_value(json_array_get(e->notes, i)));
    }
    fclose(f);
    return text;
}

/* ---- golden files -------------------------------------------------------- */

static char *slurp(const char *path)
{
    FILE *f = fopen(path, "r");
    char *text = calloc(1, 1 << 16);
    size_t n = f ? fread(text, 1, (1 << 16) - 1, f) : 0;

    text[n] = '\0';
    if (f) {
        fclose(f);
    }
    return text;
}

static void spit(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");

    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static int compare(const winner *w, tri_emit_format format)
{
    char path[512];
    tri_emitted e;
    char *got, *want;
    int same;

    snprintf(path, sizeof path, GOLDEN "%s.%s", w->name,
             tri_emit_format_name(format));
    emit_winner(w, format, &e);
    got = print_all(&e);
    if (getenv("TRI_GOLDEN_WRITE")) {
        spit(path, got);
    }
    want = slurp(path);
    same = strcmp(got, want) == 0;
    if (!same) {
        print_message("%s differs; now it is:\n%s", path, got);
    }
    free(got);
    free(want);
    tri_emitted_fini(&e);
    return same;
}

static void golden_files(void **state)
{
    int differ = 0;

    (void)state;
    for (size_t i = 0; i < sizeof winners / sizeof *winners; i++) {
        for (int f = TRI_EMIT_TORCHRUN; f <= TRI_EMIT_SLURM; f++) {
            differ += !compare(winners[i], (tri_emit_format)f);
        }
    }
    assert_int_equal(differ, 0);
}

/* ---- what is emitted is what it says ------------------------------------- */

static void deepspeed_is_json(void **state)
{
    tri_emitted e;
    json_t *o;

    (void)state;
    for (size_t i = 0; i < sizeof winners / sizeof *winners; i++) {
        emit_winner(winners[i], TRI_EMIT_DEEPSPEED, &e);
        o = json_loads(e.text, JSON_REJECT_DUPLICATES, NULL);
        assert_true(json_is_object(o));
        json_decref(o);
        tri_emitted_fini(&e);
    }
}

static int has(const char *program)
{
    char command[128];

    snprintf(command, sizeof command, "command -v %s >/dev/null 2>&1", program);
    return system(command) == 0;
}

static void shells_take_it(void **state)
{
    static const tri_emit_format formats[] = {TRI_EMIT_TORCHRUN,
                                              TRI_EMIT_SLURM};
    char path[] = "/tmp/trireme-emit-XXXXXX";
    char command[256];
    int fd = mkstemp(path);
    tri_emitted e;

    (void)state;
    assert_true(fd >= 0);
    close(fd);
    for (size_t i = 0; i < sizeof winners / sizeof *winners; i++) {
        for (int f = 0; f < 2; f++) {
            emit_winner(winners[i], formats[f], &e);
            spit(path, e.text);
            snprintf(command, sizeof command, "bash -n %s", path);
            assert_int_equal(system(command), 0);
            /* a line to be pasted is not to end the shell with its cd */
            snprintf(command, sizeof command,
                     "shellcheck -s bash -e SC1091%s %s",
                     f == 0 ? " -e SC2164" : "", path);
            if (!has("shellcheck")) {
                print_message("shellcheck is not installed: not asked\n");
            } else if (system(command) != 0) {
                fail_msg("%s: shellcheck objects", winners[i]->name);
            }
            tri_emitted_fini(&e);
        }
    }
    unlink(path);
}

/* ---- the script at work -------------------------------------------------- */

/* A batch script among a srun and a scontrol that only show what they are
 * given; the trainer too. */
static const char stage[] =
        "set -e\n"
        "mkdir -p bin 'models/sub dir'\n"
        "cat > bin/scontrol <<'EOF'\n"
        "#!/bin/bash\n"
        "echo node1; echo node2\n"
        "EOF\n"
        "cat > bin/srun <<'EOF'\n"
        "#!/bin/bash\n"
        "for SLURM_PROCID in 0 1; do\n"
        "    export SLURM_PROCID SLURM_LOCALID=$SLURM_PROCID SLURM_NODEID=0\n"
        "    \"$@\"\n"
        "done\n"
        "EOF\n"
        "cat > 'models/sub dir/show' <<'EOF'\n"
        "#!/bin/bash\n"
        "printf '[%s]' \"$@\" \"$WHO\" \"$PLAIN\" \"$MASTER_ADDR\" "
        "\"$MASTER_PORT\" \"${PWD##*/}\"\n"
        "echo\n"
        "EOF\n"
        "chmod +x bin/* 'models/sub dir/show'\n"
        "PATH=$PWD/bin:$PATH SLURM_JOB_ID=7 SLURM_JOB_NODELIST='node[1-2]' "
        "bash job\n";

static void ranks_get_every_word(void **state)
{
    char folder[] = "/tmp/trireme-emit-XXXXXX";
    char old[512], want[1024];
    const char note[] = "it's $HOME `id` \"x\" \\ *";
    tri_emitted e;
    char *got;
    size_t n = 0;

    (void)state;
    assert_non_null(getcwd(old, sizeof old));
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    emit_winner(&awkward, TRI_EMIT_SLURM, &e);
    spit("job", e.text);
    spit("stage", stage);
    assert_int_equal(system("bash stage > out"), 0);
    for (int rank = 0; rank < 2; rank++) {
        n += (size_t)snprintf(want + n, sizeof want - n,
                              "[%s][a=%d of 4][][~][%s/models][{3}][it's %d]"
                              "[%s][node1][10007][sub dir]\n",
                              note, rank, folder, rank, note);
    }
    got = slurp("out");
    assert_string_equal(got, want);
    free(got);
    tri_emitted_fini(&e);
    assert_int_equal(chdir(old), 0);
    snprintf(want, sizeof want, "rm -r %s", folder);
    assert_int_equal(system(want), 0);
}

/* ---- names that contradict each other ------------------------------------ */

static void contradictions_are_errors(void **state)
{
    static const char yaml[] =
            "study: s\n"
            "model: {kind: synthetic}\n"
            "space: {a: {int: [1, 9]}, b: {int: [1, 9]}}\n"
            "objective: {minimize: loss}\n"
            "emit: {deepspeed: {a: zero.stage, b: zero.%s}}\n";
    static const char *const names[] = {"stage", "stage.x"};
    char text[512];
    tri_config config[2];

    (void)state;
    for (int i = 0; i < 2; i++) {
        tri_emit_job job = {.ranks = 1, .nodes = 1, .per_node = 1};
        tri_study *study = NULL;
        tri_emitted e;

        snprintf(text, sizeof text, yaml, names[i]);
        must(tri_study_parse(text, strlen(text), "s.yaml", NULL, NULL, &study));
        must(tri_space_parse(study->space, "a=1 b=2", config));
        job.study = job.names = study;
        job.config = config;
        assert_int_equal(tri_emit(&job, TRI_EMIT_DEEPSPEED, &e), TRI_EINVAL);
        assert_non_null(strstr(tri_error_last()->sentence, "set twice"));
        tri_study_destroy(study);
    }
}

/* What stands behind a line break in a comment would be run. */
static void line_breaks_are_no_options(void **state)
{
    static const char yaml[] =
            "study: s\n"
            "model: {kind: process, command: [a]}\n"
            "space: {w: {choice: [\"x\\ntouch here\", y]}, n: 1}\n"
            "objective: {minimize: loss}\n"
            "emit: {slurm: {%s}}\n";
    static const char *const names[] = {"w: --job-name", "n: '--comment {w}'"};
    char text[512];
    tri_config config[2];

    (void)state;
    for (int i = 0; i < 2; i++) {
        tri_emit_job job = {
                .ranks = 1, .nodes = 1, .per_node = 1, .assumed = ""};
        tri_study *study = NULL;
        tri_emitted e;

        snprintf(text, sizeof text, yaml, names[i]);
        must(tri_study_parse(text, strlen(text), "s.yaml", NULL, NULL, &study));
        must(tri_space_parse(study->space, "w=\"x\ntouch here\"", config));
        job.study = job.names = study;
        job.config = config;
        assert_int_equal(tri_emit(&job, TRI_EMIT_SLURM, &e), TRI_EINVAL);
        assert_non_null(strstr(tri_error_last()->sentence, "line break"));
        tri_study_destroy(study);
    }
}

static void uneven_hosts_are_made_even(void **state)
{
    static const int uneven[] = {5, 1};
    static const int even[] = {3, 3};
    tri_emit_job job = {.ranks = 6};

    (void)state;
    tri_emit_place(&job, even, 2, 5);
    assert_int_equal(job.nodes, 2);
    assert_int_equal(job.per_node, 3);
    tri_emit_place(&job, uneven, 2, 5); /* 3 of at most 5 divide 6 */
    assert_int_equal(job.nodes, 2);
    assert_int_equal(job.per_node, 3);
    assert_non_null(strstr(job.assumed, "assumed"));
    job.ranks = 7;
    tri_emit_place(&job, NULL, 0, 5);
    assert_int_equal(job.nodes, 7);
    assert_int_equal(job.per_node, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(golden_files),
            cmocka_unit_test(deepspeed_is_json),
            cmocka_unit_test(shells_take_it),
            cmocka_unit_test(ranks_get_every_word),
            cmocka_unit_test(line_breaks_are_no_options),
            cmocka_unit_test(contradictions_are_errors),
            cmocka_unit_test(uneven_hosts_are_made_even),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

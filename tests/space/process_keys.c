/*
 * The keys of model kind process beside its command: their forms, defaults,
 * and what is refused, where and why.
 */
#include "tests/tri_cmocka.h"
#include "trireme/pattern.h"
#include "trireme/study.h"

#include <stdio.h>
#include <string.h>

static tri_status read(const char *keys, tri_study **out)
{
    char text[2048];

    snprintf(text, sizeof text,
             "study: p\n"
             "model:\n"
             "  kind: process\n"
             "  command: [train]\n"
             "  %s\n"
             "space: {lr: {choice: [0.1, 0.2]}}\n"
             "objective: {minimize: latency_s}\n",
             keys);
    *out = NULL;
    return tri_study_parse(text, strlen(text), "p.yaml", NULL, NULL, out);
}

static tri_study *read_ok(const char *keys)
{
    tri_study *s;

    if (read(keys, &s) != TRI_OK) {
        print_error("%s\n%s\n", keys, tri_error_last()->sentence);
    }
    assert_non_null(s);
    return s;
}

static void defaults(void **state)
{
    tri_study *s = read_ok("shell: false");
    const tri_process_spec *p = &s->model.u.process;

    (void)state;
    assert_null(p->setup.text);
    assert_int_equal(p->setup.n_shell, 1);
    assert_string_equal(p->setup.shell[0], "bash");
    assert_null(p->log.dir);
    assert_int_equal(p->log.keep, 20);
    assert_int_equal(p->log.max_bytes, 1 << 20);
    assert_null(p->cwd);
    assert_null(p->scratch);
    assert_int_equal(p->devices.how, TRI_DEVICES_AUTO);
    assert_null(p->devices.variable);
    assert_null(p->metrics.trainer);
    assert_int_equal(p->metrics.n_patterns, 0);
    assert_int_equal(p->resume, 0);
    assert_int_equal(p->leader, 0);
    tri_study_destroy(s);
}

static void setups(void **state)
{
    tri_study *s = read_ok("setup: \"module load x; conda activate ${Y}\"");
    const tri_process_spec *p = &s->model.u.process;

    (void)state;
    assert_string_equal(p->setup.text, "module load x; conda activate ${Y}");
    assert_string_equal(p->setup.shell[0], "bash");
    tri_study_destroy(s);
    s = read_ok("setup: {shell: [bash, -l], run: make}");
    p = &s->model.u.process;
    assert_string_equal(p->setup.text, "make");
    assert_int_equal(p->setup.n_shell, 2);
    assert_string_equal(p->setup.shell[1], "-l");
    tri_study_destroy(s);
    s = read_ok("setup: {shell: zsh, run: make}");
    p = &s->model.u.process;
    assert_int_equal(p->setup.n_shell, 1);
    assert_string_equal(p->setup.shell[0], "zsh");
    tri_study_destroy(s);
}

static void logs(void **state)
{
    tri_study *s = read_ok("log_dir: logs");
    const tri_process_spec *p = &s->model.u.process;

    (void)state;
    assert_string_equal(p->log.dir, "logs");
    assert_int_equal(p->log.keep, 20);
    tri_study_destroy(s);
    s = read_ok("log_dir: {dir: l, keep: 3, max_bytes: 16 MiB}");
    p = &s->model.u.process;
    assert_string_equal(p->log.dir, "l");
    assert_int_equal(p->log.keep, 3);
    assert_int_equal(p->log.max_bytes, 16 << 20);
    tri_study_destroy(s);
    s = read_ok("log_dir: {dir: l, keep: all, max_bytes: unlimited}");
    p = &s->model.u.process;
    assert_int_equal(p->log.keep, 0);
    assert_int_equal(p->log.max_bytes, 0);
    tri_study_destroy(s);
}

static void devices(void **state)
{
    static const struct {
        const char *key;
        int how, n;
        const char *last, *variable;
    } rows[] = {
            {"devices: auto", TRI_DEVICES_AUTO, 0, NULL, NULL},
            {"devices: none", TRI_DEVICES_NONE, 0, NULL, NULL},
            {"devices: [0, 1, \"2,3\"]", TRI_DEVICES_MAP, 3, "2,3", NULL},
            {"devices: {map: [GPU-1a/0], variable: HIP_VISIBLE_DEVICES}",
             TRI_DEVICES_MAP, 1, "GPU-1a/0", "HIP_VISIBLE_DEVICES"},
            {"devices: {map: none, variable: ZE_AFFINITY_MASK}",
             TRI_DEVICES_NONE, 0, NULL, "ZE_AFFINITY_MASK"},
            {"devices: {variable: ROCR_VISIBLE_DEVICES}", TRI_DEVICES_AUTO, 0,
             NULL, "ROCR_VISIBLE_DEVICES"},
    };
    size_t i;

    (void)state;
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        tri_study *s = read_ok(rows[i].key);
        const tri_process_spec *p = &s->model.u.process;
        assert_int_equal(p->devices.how, rows[i].how);
        assert_int_equal(p->devices.n_map, rows[i].n);
        if (rows[i].variable) {
            assert_string_equal(p->devices.variable, rows[i].variable);
        } else {
            assert_null(p->devices.variable);
        }
        if (rows[i].n > 0) {
            assert_string_equal(p->devices.map[rows[i].n - 1], rows[i].last);
        }
        tri_study_destroy(s);
    }
}

static void metrics(void **state)
{
    static const struct {
        const char *key, *trainer;
        int n;
    } rows[] = {
            {"metrics: megatron-lm", "megatron-lm", 0},
            {"metrics: {patterns: nanotron}", "nanotron", 0},
            {"metrics: {trainer: torchtitan}", "torchtitan", 0},
            {"metrics: {trainer: deepspeed, patterns: {loss: 'l=(\\d+)'}}",
             "deepspeed", 1},
            {"metrics: {patterns: {loss: 'l=(\\d+)', step_ms: '(\\d+) ms',\n"
             "    latency_s: '(?:a|b) (.*)', latency_ms: '(.)',\n"
             "    tokens_per_s_per_rank: 'tps: ([0-9,]+)'}}",
             NULL, 5},
    };
    size_t i;

    (void)state;
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        tri_study *s = read_ok(rows[i].key);
        const tri_process_spec *p = &s->model.u.process;
        if (rows[i].trainer) {
            assert_string_equal(p->metrics.trainer, rows[i].trainer);
        } else {
            assert_null(p->metrics.trainer);
        }
        assert_int_equal(p->metrics.n_patterns, rows[i].n);
        tri_study_destroy(s);
    }
    for (i = 0; (int)i < tri_n_trainers(); i++) {
        char key[80];
        snprintf(key, sizeof key, "metrics: %s", tri_trainer_at((int)i)->name);
        tri_study_destroy(read_ok(key));
    }
}

static void refused(void **state)
{
    static const struct {
        const char *keys;
        tri_status status;
        int line, column;
        const char *says;
    } rows[] = {
            {"setup: {shell: bash}", TRI_ETYPE, 5, 10, "with the key run"},
            {"setup: []", TRI_ETYPE, 5, 10, "expected a map"},
            {"setup: {run: \"\"}", TRI_ETYPE, 5, 16, "expected a text"},
            {"setup: {run: x, shel: y}", TRI_EUNKNOWN, 5, 19,
             "did you mean \"shell\""},
            {"setup: {run: x, shell: bash -l}", TRI_ETYPE, 5, 26, "[bash, -l]"},
            {"setup: {run: x, shell: []}", TRI_ETYPE, 5, 26, "[bash, -l]"},
            {"log_dir: {keep: 1}", TRI_ETYPE, 5, 12, "with the key dir"},
            {"log_dir: {dir: x, keep: 0}", TRI_ERANGE, 5, 27, "from 1"},
            {"log_dir: {dir: x, keep: none}", TRI_ETYPE, 5, 27, "integer"},
            {"log_dir: {dir: x, keep: []}", TRI_ETYPE, 5, 27, "or all"},
            {"log_dir: {dir: x, max_bytes: 1 KiB}", TRI_ETYPE, 5, 32,
             "at least 4 KiB"},
            {"log_dir: {dir: x, size: 1}", TRI_EUNKNOWN, 5, 21, "max_bytes"},
            {"devices: []", TRI_ETYPE, 5, 12, "auto, none or a list"},
            {"devices: aut", TRI_ETYPE, 5, 12, "auto, none or a list"},
            {"devices: [\"0, 1\"]", TRI_ETYPE, 5, 13, "commas"},
            {"devices: [\"\"]", TRI_ETYPE, 5, 13, "commas"},
            {"devices: [\"1,,2\"]", TRI_ETYPE, 5, 13, "commas"},
            {"devices: [[1]]", TRI_ETYPE, 5, 13, "a text"},
            {"devices: {maps: [0]}", TRI_EUNKNOWN, 5, 13, "\"map\""},
            {"devices: {variable: A-B}", TRI_ETYPE, 5, 23, "a variable"},
            {"devices: {variable: 1}", TRI_ETYPE, 5, 23, "a variable"},
            {"env: {A-B: c}", TRI_EINVAL, 5, 9, "no name of a variable"},
            {"env: {1A: c}", TRI_EINVAL, 5, 9, "no name of a variable"},
            {"keep_env: [\"SLURM_*X\"]", TRI_ETYPE, 5, 14, "a variable"},
            {"keep_env: [A=b]", TRI_ETYPE, 5, 14, "a variable"},
            {"cwd: \"{nosuch}\"", TRI_EUNKNOWN, 5, 8, "{nosuch}"},
            {"cwd: \"{rank\"", TRI_EPARSE, 5, 8, "not closed"},
            {"cwd: \"{scratch}\"", TRI_EINVAL, 5, 8, "model.scratch"},
            {"scratch: \"/tmp/{rnk}\"", TRI_EUNKNOWN, 5, 12,
             "did you mean \"rank\""},
            {"scratch: \"{scratch}\"", TRI_ETYPE, 5, 12, "itself"},
            {"launch: leaders", TRI_ETYPE, 5, 11, "did you mean \"leader\""},
            {"resume: checkpoints", TRI_ETYPE, 5, 11, "\"checkpoint\""},
            {"metrics: megatron", TRI_ETYPE, 5, 12, "megatron-lm"},
            {"metrics: {trainer: nanotrn}", TRI_ETYPE, 5, 22,
             "did you mean \"nanotron\""},
            {"metrics: {patterns: torchtita}", TRI_ETYPE, 5, 23,
             "did you mean \"torchtitan\""},
            {"metrics: {trainer: deepspeed, patterns: nanotron}", TRI_ETYPE, 5,
             43, "a map"},
            {"metrics: {pattern: {}}", TRI_EUNKNOWN, 5, 13, "\"patterns\""},
            {"metrics: {patterns: {los: '(x)'}}", TRI_EUNKNOWN, 5, 24,
             "did you mean \"loss\""},
            {"metrics: {patterns: {latency: '(x)'}}", TRI_EUNKNOWN, 5, 24,
             "nothing uses \"latency\""},
            {"metrics: {patterns: {loss_per_rank: '(x)'}}", TRI_EUNKNOWN, 5, 24,
             "nothing uses"},
            {"metrics: {patterns: {loss: 'x'}}", TRI_EPARSE, 5, 30,
             "has 0 groups"},
            {"metrics: {patterns: {loss: '(x)(y)'}}", TRI_EPARSE, 5, 30,
             "has 2 groups"},
            {"metrics: {patterns: {loss: '(x'}}", TRI_EPARSE, 5, 30,
             "no regular expression: missing closing parenthesis at "
             "character 3"},
            {"metrics: {patterns: {loss: '(*UTF)(x)'}}", TRI_EPARSE, 5, 30,
             "no regular expression"},
            {"metrics: {patterns: {loss: [x]}}", TRI_ETYPE, 5, 30, "a text"},
    };
    size_t i;

    (void)state;
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        tri_study *s;
        tri_status st = read(rows[i].keys, &s);
        const tri_error *e = tri_error_last();
        if (st != rows[i].status || e->line != rows[i].line ||
            e->column != rows[i].column || !strstr(e->sentence, rows[i].says)) {
            print_error("%s\n%d %d:%d: %s\n", rows[i].keys, st, e->line,
                        e->column, e->sentence);
        }
        assert_int_equal(st, rows[i].status);
        assert_int_equal(e->line, rows[i].line);
        assert_int_equal(e->column, rows[i].column);
        assert_non_null(strstr(e->sentence, rows[i].says));
        assert_null(s);
    }
}

/* Names that a process would take for another. */
static void names_of_processes(void **state)
{
    static const struct {
        const char *kind, *space, *objective;
        tri_status status;
        int line, column;
        const char *says;
    } rows[] = {
            {"process", "{lr: {int: [1, 2]}, LR: 3}", "loss", TRI_EEXIST, 3, 28,
             "it and \"lr\" in one variable"},
            {"process", "{lr: {int: [1, 2]}, lrs: 3}", "loss", TRI_OK, 0, 0,
             ""},
            {"synthetic", "{lr: {int: [1, 2]}, LR: 3}", "loss", TRI_OK, 0, 0,
             ""},
            {"process", "{lr: {int: [1, 2]}}", "step", TRI_ETYPE, 4, 23,
             "something else"},
            {"process", "{lr: {int: [1, 2]}}", "peak_bytes", TRI_ETYPE, 4, 23,
             "for subject_to"},
            {"process", "{lr: {int: [1, 2]}}", "lr", TRI_ETYPE, 4, 23,
             "a parameter has this name"},
            {"process", "{lr: {int: [1, 2]}}", "accuracy", TRI_OK, 0, 0, ""}};
    char text[600];

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tri_study *s = NULL;
        tri_status st;

        snprintf(text, sizeof text,
                 "study: p\nmodel: {kind: %s%s}\nspace: %s\n"
                 "objective: {minimize: %s}\n",
                 rows[i].kind,
                 strcmp(rows[i].kind, "process") == 0 ? ", command: [train]"
                                                      : "",
                 rows[i].space, rows[i].objective);
        st = tri_study_parse(text, strlen(text), "p", NULL, NULL, &s);
        if (st != rows[i].status) {
            fail_msg("%s%s", text, tri_error_last()->sentence);
        }
        if (st != TRI_OK) {
            assert_int_equal(tri_error_last()->line, rows[i].line);
            assert_int_equal(tri_error_last()->column, rows[i].column);
            assert_non_null(strstr(tri_error_last()->sentence, rows[i].says));
        }
        tri_study_destroy(s);
    }
}

/* A number of ranks that nobody takes for one. */
static void forgotten_ranks(void **state)
{
    static const struct {
        const char *model, *more;
        int n_notes;
    } rows[] = {{"{kind: process, command: [train]}", "", 1},
                {"{kind: plugin, library: a.so}", "", 1},
                {"{kind: process, command: [train]}", "ranks: n_ranks\n", 0},
                {"{kind: synthetic}", "", 0}};
    char text[600];

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tri_study *s = NULL;
        snprintf(text, sizeof text,
                 "study: p\nmodel: %s\nspace: {n_ranks: {int: [1, 2]}}\n"
                 "objective: {minimize: loss}\n%s",
                 rows[i].model, rows[i].more);
        assert_int_equal(
                tri_study_parse(text, strlen(text), "p", NULL, NULL, &s),
                TRI_OK);
        assert_int_equal(s->n_notes, rows[i].n_notes);
        if (s->n_notes) {
            assert_non_null(strstr(s->notes[0], "expected ranks: n_ranks"));
        }
        tri_study_destroy(s);
    }
}

/* What the study needs and no pattern gives is said. */
static void what_patterns_do_not_give(void **state)
{
    static const struct {
        const char *metrics, *objective, *unit, *note;
    } rows[] = {
            {"megatron-lm", "step_s", "steps", NULL},
            {"megatron-lm", "samples_per_s", "samples", NULL},
            {"megatron-lm", "tokens_per_s", "tokens", NULL}, /* of forks */
            {"nanotron", "loss", "tokens", NULL},
            {"torchtitan", "mfu", "steps", NULL},
            {"deepspeed", "loss", "steps",
             "model.metrics: no pattern gives loss, which the objective needs; "
             "unless it comes in JSON lines too, every run fails: add a "
             "pattern"},
            {"{trainer: deepspeed, patterns: {loss: 'l(.)'}}", "loss", "steps",
             NULL},
            {"deepspeed", "samples_per_s", "tokens",
             "model.metrics: no pattern gives tokens or its rate, by which the "
             "resource is "
             "counted; unless it comes in JSON lines too, every run fails: add "
             "a pattern, or count it in steps"},
            {"{patterns: {step: 's(.)'}}", "tokens_per_s", "steps",
             "model.metrics: no pattern gives tokens or its rate, which the "
             "objective needs; unless it comes in JSON lines too, every run "
             "fails: add a pattern, or minimize step_s where"},
            {"{patterns: {tokens_per_s_per_rank: 's(.)'}}", "tokens_per_s",
             "tokens", NULL},
            {"{patterns: {latency_ms: 's(.)'}}", "latency_s", "steps", NULL},
            {"{patterns: {step: 's(.)'}}", "latency_s", "steps",
             "model.metrics: no pattern gives latency_s, which"},
    };
    char text[600];

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tri_study *s = NULL;
        snprintf(text, sizeof text,
                 "study: p\nmodel: {kind: process, command: [train], metrics: "
                 "%s}\nspace: {lr: {choice: [1, 2]}}\nobjective: {minimize: "
                 "%s}\nresource: {unit: %s, min: 4}\n",
                 rows[i].metrics, rows[i].objective, rows[i].unit);
        if (tri_study_parse(text, strlen(text), "p", NULL, NULL, &s)) {
            fail_msg("%s\n%s", text, tri_error_last()->sentence);
        }
        if (s->n_notes != (rows[i].note != NULL)) {
            print_error("%s%s\n", text, s->n_notes ? s->notes[0] : "");
        }
        assert_int_equal(s->n_notes, rows[i].note != NULL);
        assert_int_equal(s->n_unbuilt, 0);
        if (rows[i].note) {
            assert_non_null(strstr(s->notes[0], rows[i].note));
        }
        tri_study_destroy(s);
    }
}

static void templates(void **state)
{
    (void)state;
    tri_study_destroy(
            read_ok("launch: leader\n"
                    "  cwd: \"{scratch}/{run}\"\n"
                    "  scratch: \"/tmp/{trial}.{attempt}\"\n"
                    "  env: {A: \"{hosts} {host_slots}{host_file} {device}\",\n"
                    "    B: \"{checkpoint_dir}{resume_dir}\",\n"
                    "    C: \"{group_rank}{n_hosts}{resume_step}\"}"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(defaults),
            cmocka_unit_test(setups),
            cmocka_unit_test(logs),
            cmocka_unit_test(devices),
            cmocka_unit_test(metrics),
            cmocka_unit_test(refused),
            cmocka_unit_test(names_of_processes),
            cmocka_unit_test(forgotten_ranks),
            cmocka_unit_test(what_patterns_do_not_give),
            cmocka_unit_test(templates)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

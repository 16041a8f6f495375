/*
 * trireme check: shapes of its answers, and every kind of bad study.
 */
#include "tests/app/cli.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static json_int_t whole(const json_t *o, const char *key)
{
    json_t *v = json_object_get(o, key);

    if (!json_is_integer(v)) {
        print_message("%s is not a whole number\n", key);
    }
    assert_true(json_is_integer(v));
    return json_integer_value(v);
}

static const char *const rules = "study: rules\n"
                                 "model: {kind: synthetic}\n"
                                 "space:\n"
                                 "  a: {int: [1, 4]}\n"
                                 "  b: {choice: [1, 2, 3]}\n"
                                 "constraints:\n"
                                 "  - a * b <= 6\n"
                                 "ranks: a\n"
                                 "objective: {minimize: loss}\n"
                                 "budget: {trials: 5}\n";

static void shape(void **state)
{
    const cli_ran *ran;
    json_t *o;
    json_t *rule;

    (void)state;
    cli_write("rules.yaml", rules);
    ran = cli_run("check rules.yaml --json");
    assert_int_equal(ran->status, 0);
    o = cli_json(ran);
    assert_int_equal(whole(o, "valid"), 9);
    assert_int_equal(whole(o, "raw"), 12);
    assert_int_equal(json_array_size(json_object_get(o, "rules")), 1);
    rule = json_array_get(json_object_get(o, "rules"), 0);
    assert_non_null(
            strstr(json_string_value(json_object_get(rule, "rule")), "a * b"));
    assert_int_equal(whole(rule, "refused"), 3);
    assert_int_equal(whole(json_object_get(o, "ranks"), "min"), 1);
    assert_int_equal(whole(json_object_get(o, "ranks"), "max"), 4);
    assert_int_equal(json_array_size(json_object_get(o, "errors")), 0);
    json_decref(o);
    ran = cli_run("check rules.yaml");
    assert_int_equal(ran->status, 0);
    assert_non_null(strstr(ran->out, "9 of 12 points"));
}

static void why(void **state)
{
    const cli_ran *ran;
    json_t *o;

    (void)state;
    cli_write("rules.yaml", rules);
    ran = cli_run("check rules.yaml --json --why a=4,b=3");
    assert_int_equal(ran->status, 0);
    o = cli_json(ran);
    assert_true(json_is_false(json_object_get(o, "valid")));
    assert_int_equal(whole(o, "line"), 7);
    assert_non_null(
            strstr(json_string_value(json_object_get(o, "values")), "a=4"));
    json_decref(o);
    o = cli_json(cli_run("check rules.yaml --json --why a=2,b=3"));
    assert_true(json_is_true(json_object_get(o, "valid")));
    assert_true(json_is_null(json_object_get(o, "rule")));
    json_decref(o);
    ran = cli_run("check rules.yaml --why a=4,b=3"); /* it is an answer */
    assert_int_equal(ran->status, 0);
    assert_non_null(strstr(ran->out, "refused by"));
    cli_expect_sentence(cli_run("check rules.yaml --why a=9,b=3"), 1, "9");
    cli_expect_sentence(cli_run("check rules.yaml --why c=1"), 1, "c");
}

static void list(void **state)
{
    const cli_ran *ran;
    json_t *o;

    (void)state;
    cli_write("rules.yaml", rules);
    ran = cli_run("check rules.yaml --list 4");
    assert_int_equal(ran->status, 0);
    assert_int_equal(cli_lines(ran->out), 4);
    assert_memory_equal(ran->out, "a=1 b=1\n", 8);
    o = cli_json(cli_run("check rules.yaml --json --list=100"));
    assert_int_equal(json_array_size(json_object_get(o, "list")), 9);
    json_decref(o);
}

static void ranks(void **state)
{
    json_t *o;

    (void)state;
    cli_write("rules.yaml", rules);
    o = cli_json(cli_run("check rules.yaml --json --ranks 2"));
    assert_int_equal(whole(json_object_get(o, "fits"), "valid"), 6);
    json_decref(o);
    cli_write("wide.yaml", "study: wide\n"
                           "model: {kind: synthetic}\n"
                           "space: {a: {int: [1, 4]}}\n"
                           "ranks: 4 * a\n"
                           "objective: {minimize: loss}\n");
    cli_expect_sentence(cli_run("check wide.yaml --ranks 3"), 2,
                        "no valid configuration fits in 3 ranks; the smallest "
                        "needs 4");
    cli_expect_json_error(cli_run("check wide.yaml --ranks 3 --json"), 2,
                          "empty", "fits in 3 ranks");
}

static void empty_set(void **state)
{
    const cli_ran *ran;
    json_t *o;

    (void)state;
    cli_write("empty.yaml", "study: empty\n"
                            "model: {kind: synthetic}\n"
                            "space: {a: {int: [1, 4]}}\n"
                            "constraints: [a < 4, a > 7]\n"
                            "objective: {minimize: loss}\n");
    cli_expect_sentence(cli_run("check empty.yaml"), 2,
                        "the tightest rule is 'a > 7'");
    ran = cli_run("check empty.yaml --json");
    cli_expect_json_error(ran, 2, "empty", "'a > 7'");
    o = cli_json(ran);
    assert_int_equal(whole(o, "valid"), 0);
    assert_int_equal(json_array_size(json_object_get(o, "errors")), 1);
    json_decref(o);
}

/* The same of a continuous space: by check and sim alike. */
static void empty_continuous_set(void **state)
{
    static const char *const commands[] = {"check", "sim --workers 4"};
    char line[64];

    (void)state;
    cli_write("float0.yaml", "study: float0\n"
                             "model: {kind: synthetic}\n"
                             "space: {a: {float: [0, 1]}}\n"
                             "constraints: [a < 2, a > 1.5]\n"
                             "objective: {minimize: loss}\n");
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        snprintf(line, sizeof line, "%s float0.yaml", commands[i]);
        cli_expect_sentence(cli_run(line), 2, "the tightest rule is 'a > 1.5'");
    }
    cli_expect_json_error(cli_run("check float0.yaml --json"), 2, "empty",
                          "which alone refuses 100 %");
    assert_int_not_equal(access("float0.h5", F_OK), 0);
    assert_int_not_equal(access("float0.exit", F_OK), 0);
    cli_write("equal.yaml", "study: equal\n"
                            "model: {kind: synthetic}\n"
                            "space: {a: {float: [0, 1]}, b: {float: [0, 1]}}\n"
                            "constraints: [a == b]\n"
                            "objective: {minimize: loss}\n");
    cli_expect_sentence(cli_run("check equal.yaml"), 2,
                        "no valid configuration was found in 100000 draws; the "
                        "tightest rule is 'a == b'");
}

static void continuous(void **state)
{
    const cli_ran *ran;

    (void)state;
    cli_write("float.yaml", "study: float\n"
                            "model: {kind: synthetic}\n"
                            "space: {a: {float: [0, 1]}, n: {int: [1, 4]}}\n"
                            "constraints: [a * n > 0.5]\n"
                            "ranks: n\n"
                            "objective: {minimize: loss}\n");
    ran = cli_run("check float.yaml --ranks 2");
    assert_int_equal(ran->status, 0);
    assert_non_null(strstr(ran->out, "valid     infinitely many (continuous "
                                     "parameters)"));
    assert_non_null(strstr(ran->out, "not counted"));
    assert_non_null(strstr(ran->out, "infinitely many configurations in 2"));
}

/* A study with one line replaced. */
static void write_with(const char *name, const char *line)
{
    char text[1024];

    snprintf(text, sizeof text,
             "study: bad\n"
             "model: {kind: synthetic}\n"
             "space: {a: {int: [1, 4]}}\n"
             "objective: {minimize: loss}\n"
             "%s\n",
             line);
    cli_write(name, text);
}

static void bad_files(void **state)
{
    static const struct {
        const char *line, *needle;
    } rows[] = {
            {"bugdet: {trials: 3}", "budget"},
            {"budget: {trials: many}", "bad.yaml:5:"},
            {"budget: 3", "bad.yaml:5:"},
            {"seed: -1", "bad.yaml:5:"},
            {"seed: 1\nseed: 2", "bad.yaml:6:"},
            {"resource: {unit: furlongs}", "bad.yaml:5:"},
            {"constraints: [a <]", "bad.yaml:5:"},
            {"constraints: [b == 1]", "bad.yaml:5:"},
            {"constraints: [a + 1]", "bad.yaml:5:"},
            {"baseline: {a: 9}", "bad.yaml:5:"},
            {"finals: {top: 3", "bad.yaml:"},
            {"features: {f: 1/0}", "bad.yaml:5:15: "},
            {"features: {a: a + 1}", "bad.yaml:5:"},
            {"ranks: a * 9000000000000000000", "bad.yaml:5:8: "},
            {"ranks: a - 1", "is 0 at a=1"},
            {"notes: [unclosed", "bad.yaml:"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        write_with("bad.yaml", rows[i].line);
        cli_expect_sentence(cli_run("check bad.yaml"), 1, rows[i].needle);
    }
}

static void bad_places_in_json(void **state)
{
    const cli_ran *ran;
    json_t *o;

    (void)state;
    write_with("bad.yaml", "bugdet: {trials: 3}");
    ran = cli_run("check bad.yaml --json");
    cli_expect_json_error(ran, 1, "unknown-key", "bugdet");
    o = cli_json(ran);
    assert_string_equal(json_string_value(json_object_get(o, "file")),
                        "bad.yaml");
    assert_int_equal(whole(o, "line"), 5);
    assert_int_equal(whole(o, "column"), 1);
    assert_int_equal(json_array_size(json_object_get(o, "errors")), 1);
    json_decref(o);
}

static void unreadable_files(void **state)
{
    const cli_ran *ran;
    json_t *o;

    (void)state;
    cli_expect_sentence(cli_run("check none.yaml"), 1,
                        "none.yaml cannot be read: No such file");
    ran = cli_run("check none.yaml --json");
    cli_expect_json_error(ran, 1, "io", "none.yaml");
    o = cli_json(ran);
    assert_string_equal(json_string_value(json_object_get(o, "file")),
                        "none.yaml");
    assert_true(json_is_null(json_object_get(o, "line")));
    json_decref(o);
    cli_expect_sentence(cli_run("check ."), 1, "cannot be read");
    cli_write("zero.yaml", "");
    cli_expect_sentence(cli_run("check zero.yaml"), 1, "zero.yaml");
    cli_write("binary.yaml", "\x01\x02\xff\xfe{{{");
    cli_expect_sentence(cli_run("check binary.yaml"), 1, "binary.yaml");
    cli_write("list.yaml", "- 1\n- 2\n");
    cli_expect_sentence(cli_run("check list.yaml"), 1, "list.yaml");
}

static void missing_data(void **state)
{
    (void)state;
#ifndef TRI_HAVE_MPI
    print_message("skipped: this build trains nothing\n");
    skip();
#endif
    cli_write("gpt.yaml", cli_gpt);
    cli_expect_sentence(cli_run("check gpt.yaml"), 1,
                        "text.txt cannot be opened");
    cli_write("text.txt", "short");
    cli_expect_sentence(cli_run("check gpt.yaml"), 1,
                        "fewer than one sequence");
    cli_write("text.txt", "long enough for one sequence, and more\n");
    assert_int_equal(cli_run("check gpt.yaml")->status, 0);
}

/* What the command names and this host lacks is noted, and no error. */
static void commands_that_are_not_there(void **state)
{
    static const struct {
        const char *model, *note; /* NULL: none */
    } rows[] = {
            {"command: [pythn3, train.py]", "no 'pythn3' in PATH"},
            {"command: [sh, train.py]", NULL}, /* not known to run one */
            {"command: [python3, -u, here.py]", NULL},
            {"command: [python3, -u, -X, dev, gone.py, here.py]",
             "'gone.py' is not there on this host, seen from the present "
             "folder"},
            {"command: [python3, '{study_dir}/here.py']", NULL},
            {"command: [python3, '{study_dir}/gone.py']", "gone.py' is not"},
            {"command: [python3, 'x{x}.py']", NULL},
            {"command: [python3, -m, train, gone.yaml]", NULL},
            {"command: [torchrun, --nnodes, 1, gone.py]", "'torchrun'"},
            {"command: [./here.py]", "'./here.py' cannot be executed"},
            {"command: [bin/gone]", "'bin/gone' is not there"},
            {"command: [here.sh]", "written ./here.sh"},
            {"command: [./here.sh]", NULL},
            {"command: 'gone.py {x}', shell: true", NULL},
            {"command: [gone], setup: module load it", NULL},
            {"command: [gone], env: {PATH: /opt/bin}", NULL},
            {"command: [sh], cwd: gone", "model.cwd: the folder"},
            {"command: [./here.sh], cwd: sub", "seen from"},
            {"command: [python3, inner.py], cwd: sub", NULL},
            {"command: [python3, here.py], cwd: sub",
             "write {study_dir}/ before it"}};
    char text[600];

    (void)state;
    cli_write("here.py", "");
    cli_write("here.sh", "#!/bin/sh\n");
    assert_int_equal(chmod("here.sh", 0755), 0);
    assert_int_equal(mkdir("sub", 0755), 0);
    cli_write("sub/inner.py", "");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const cli_ran *ran;

        if (rows[i].note && strstr(rows[i].note, "torchrun") &&
            access("/usr/bin/torchrun", X_OK) == 0) {
            continue;
        }
        snprintf(text, sizeof text,
                 "study: t\nmodel: {kind: process, %s}\n"
                 "space: {x: {int: [1, 4]}}\nobjective: {minimize: loss}\n",
                 rows[i].model);
        cli_write("command.yaml", text);
        ran = cli_run("check command.yaml");
        if (ran->status != 0 ||
            (rows[i].note ? !strstr(ran->out, rows[i].note)
                          : strstr(ran->out, "\nnote ") != NULL)) {
            fail_msg("%s: %s%s", rows[i].model, ran->out, ran->err);
        }
    }
    unlink("sub/inner.py");
    rmdir("sub");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(shape),
            cmocka_unit_test(commands_that_are_not_there),
            cmocka_unit_test(why),
            cmocka_unit_test(list),
            cmocka_unit_test(ranks),
            cmocka_unit_test(empty_set),
            cmocka_unit_test(empty_continuous_set),
            cmocka_unit_test(continuous),
            cmocka_unit_test(bad_files),
            cmocka_unit_test(bad_places_in_json),
            cmocka_unit_test(unreadable_files),
            cmocka_unit_test(missing_data),
    };
    int failed;

    if (cli_init(argc, argv) != 0) {
        return 1;
    }
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    cli_fini();
    return failed;
}

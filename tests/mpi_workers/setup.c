/*
 * The study's setup: what it leaves in the environment, and how it fails.
 */
#include "mpi_workers/setup.h"

#include "mpi_workers/pause.h"
#include "mpi_workers/process_env.h"
#include "tests/tri_cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *from[] = {(char[]){"PATH=/usr/bin:/bin"}, (char[]){"OLD=1"},
                       (char[]){"GONE=1"}, NULL};

static tri_status run(const char *const *shell, int n, const char *text,
                      double limit_s, char ***env)
{
    const tri_process_spec spec = {
            .setup = {.shell = shell, .n_shell = n, .text = text}};

    return tri_setup_run(&spec, from, limit_s, 0.1, env);
}

/* The value of `name`, NULL if it is not there. */
static const char *value_of(char **env, const char *name)
{
    size_t n = strlen(name);

    for (int i = 0; env[i]; i++) {
        if (strncmp(env[i], name, n) == 0 && env[i][n] == '=') {
            return env[i] + n + 1;
        }
    }
    return NULL;
}

static void what_it_exports_is_left(void **state)
{
    static const char text[] =
            "export OLD=2 NEW='two\nlines; \"quoted\"' EMPTY=\n"
            "unset GONE\n"
            "not_exported=1\n"
            "greet() { echo \"hello $1\"; }\n"
            "export -f greet\n"
            "echo much on standard output; echo and more >&2\n"
            "cd /\n";
    char **env;

    (void)state;
    assert_int_equal(run(NULL, 0, text, 30, &env), TRI_OK);
    assert_string_equal(value_of(env, "PATH"), "/usr/bin:/bin");
    assert_string_equal(value_of(env, "OLD"), "2");
    assert_string_equal(value_of(env, "NEW"), "two\nlines; \"quoted\"");
    assert_string_equal(value_of(env, "EMPTY"), "");
    assert_null(value_of(env, "GONE"));
    assert_null(value_of(env, "not_exported"));
    assert_null(value_of(env, "trireme_status"));
    assert_null(value_of(env, "_"));
    assert_null(value_of(env, "SHLVL"));
    assert_non_null(strstr(value_of(env, "BASH_FUNC_greet%%"), "hello $1"));
    tri_env_free(env);
}

static void another_shell(void **state)
{
    static const char *const sh[] = {"/bin/sh", "-u"};
    char **env;

    (void)state;
    assert_int_equal(run(sh, 2, "A=it\\'s; export A", 30, &env), TRI_OK);
    assert_string_equal(value_of(env, "A"), "it's");
    tri_env_free(env);
}

/* `text` fails, and the sentence has `words`. */
static void fails(const char *text, double limit_s, const char *words)
{
    char **env = NULL;

    assert_int_equal(run(NULL, 0, text, limit_s, &env), TRI_EINVAL);
    assert_null(env);
    assert_non_null(strstr(tri_error_last()->sentence, words));
}

static void failures_say_why(void **state)
{
    static const char *const none[] = {"/no/such/shell"};
    char **env = NULL;

    (void)state;
    fails("true\nno_such_module load x", 30, "status 127");
    fails("echo it is missing >&2; exit 3", 30, "status 3: it is missing");
    fails("set -e\nfalse\ntrue", 30, "status 1");
    fails("exit 0", 30, "left no environment");
    fails("kill -9 $$", 30, "signal 9");
    fails("if", 30, "syntax error");
    fails("echo begun >&2; sleep 600", 0.3, "was not done within");
    assert_int_equal(run(none, 1, "true", 30, &env), TRI_EINFEASIBLE);
}

static void texts_are_read_as_variables(void **state)
{
    static const char text[] = "A=1\0_=x\0no variable\0=odd\0B=\0C=cut";
    char **env;

    (void)state;
    assert_int_equal(tri_setup_read(text, sizeof text - 1, &env), TRI_OK);
    assert_string_equal(env[0], "A=1");
    assert_string_equal(env[1], "B=");
    assert_null(env[2]);
    tri_env_free(env);
    assert_int_equal(tri_setup_read("", 0, &env), TRI_OK);
    assert_null(env[0]);
    tri_env_free(env);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(what_it_exports_is_left),
            cmocka_unit_test(another_shell),
            cmocka_unit_test(failures_say_why),
            cmocka_unit_test(texts_are_read_as_variables),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Runs the program in a shell and reads back what it printed.
 */
#include "tests/app/cli.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

const char *const cli_synthetic =
        "study: bowl\n"
        "seed: 3\n"
        "model: {kind: synthetic, cost: 0.0005}\n"
        "space:\n"
        "  x: {int: [1, 20]}\n"
        "  y: {choice: [a, b, c]}\n"
        "objective: {minimize: loss}\n"
        "baseline: {x: 1, y: a}\n"
        "resource: {unit: steps, min: 1, max: 9, eta: 3}\n"
        "search: random\n"
        "budget: {trials: 12}\n"
        "finals: {top: 2, repeats: 3}\n";

const char *const cli_gpt =
        "study: small\n"
        "model: {kind: gpt, layers: 2, hidden: 16, heads: 2, sequence: 8,\n"
        "        vocab: 256, data: text.txt}\n"
        "space:\n"
        "  dp: {choice: [1, 2]}\n"
        "  tp: {choice: [1, 2]}\n"
        "  micro_batch: {choice: [1, 2]}\n"
        "  global_batch: 4\n"
        "ranks: dp * tp\n"
        "objective: {maximize: tokens_per_s, compare: total}\n"
        "resource: {unit: steps, min: 2, max: 4, eta: 2}\n"
        "budget: {trials: 4}\n"
        "finals: none\n";

static struct {
    char folder[256], program[1024], mpirun[1024];
    cli_ran ran;
} cli;

int cli_init(int argc, char **argv)
{
    const char *tmp = getenv("TMPDIR");

    if (argc < 3) {
        fprintf(stderr, "usage: %s TRIREME MPIRUN\n", argv[0]);
        return -1;
    }
    snprintf(cli.program, sizeof cli.program, "%s", argv[1]);
    snprintf(cli.mpirun, sizeof cli.mpirun, "%s", argv[2]);
    /* mpirun waits so long for its other ranks after one returned a status */
    setenv("OMPI_MCA_odls_base_sigkill_timeout", "0", 1);
    snprintf(cli.folder, sizeof cli.folder, "%s/trireme-cli-XXXXXX",
             tmp ? tmp : "/tmp");
    if (!mkdtemp(cli.folder) || chdir(cli.folder) != 0) {
        perror(cli.folder);
        return -1;
    }
    return 0;
}

void cli_fini(void)
{
    char command[512];

    free(cli.ran.out);
    free(cli.ran.err);
    snprintf(command, sizeof command, "rm -rf '%s'", cli.folder);
    if (chdir("/") != 0 || system(command) != 0) {
        perror(command);
    }
}

void cli_write(const char *name, const char *text)
{
    FILE *f = fopen(name, "w");

    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static char *slurp(const char *name)
{
    FILE *f = fopen(name, "r");
    char *text = calloc(1, 1 << 20);
    size_t n;

    assert_non_null(f);
    assert_non_null(text);
    n = fread(text, 1, (1 << 20) - 1, f);
    text[n] = '\0';
    fclose(f);
    return text;
}

static const cli_ran *run(const char *prefix, const char *args)
{
    char command[8192];
    int st;

    snprintf(command, sizeof command, "%s '%s' %s >out 2>err </dev/null",
             prefix, cli.program, args);
    st = system(command);
    free(cli.ran.out);
    free(cli.ran.err);
    cli.ran.status = WIFEXITED(st) ? WEXITSTATUS(st) : 256 + WTERMSIG(st);
    cli.ran.out = slurp("out");
    cli.ran.err = slurp("err");
    return &cli.ran;
}

const cli_ran *cli_run(const char *fmt, ...)
{
    char args[4096];
    va_list list;

    va_start(list, fmt);
    vsnprintf(args, sizeof args, fmt, list);
    va_end(list);
    return run("", args);
}

const cli_ran *cli_mpirun(int n, const char *fmt, ...)
{
    char args[4096];
    char prefix[2048];
    va_list list;

    va_start(list, fmt);
    vsnprintf(args, sizeof args, fmt, list);
    va_end(list);
    snprintf(prefix, sizeof prefix, "'%s' -n %d", cli.mpirun, n);
    return run(prefix, args);
}

const cli_ran *cli_signalled(int n, const char *signal, double after_s,
                             const char *args)
{
    char prefix[2048];

    snprintf(prefix, sizeof prefix,
             "timeout --foreground --preserve-status -k 20 -s %s %g '%s' "
             "-mca odls_base_sigkill_timeout 1 -n %d",
             signal, after_s, cli.mpirun, n);
    return run(prefix, args);
}

/* A test waits no longer than this for what it started. */
#define WAIT_S 120

void cli_start(int n, const char *args)
{
    char command[8192];

    assert_true(remove("first.rc") == 0 || access("first.rc", F_OK) != 0);
    snprintf(command, sizeof command,
             "{ '%s' -n %d '%s' %s >first.out 2>first.err </dev/null; "
             "echo $? >first.tmp; mv first.tmp first.rc; } &",
             cli.mpirun, n, cli.program, args);
    assert_int_equal(system(command), 0);
}

int cli_await(void)
{
    char *text;
    int status;

    for (int i = 0; i < 20 * WAIT_S && access("first.rc", F_OK) != 0; i++) {
        usleep(50000);
    }
    text = slurp("first.rc");
    status = (int)strtol(text, NULL, 10);
    free(text);
    return status;
}

int cli_says(const char *name, const char *needle)
{
    char *text = slurp(name);
    int found = strstr(text, needle) != NULL;

    if (!found) {
        print_message("%s:\n%s\n", name, text);
    }
    free(text);
    return found;
}

json_t *cli_json(const cli_ran *ran)
{
    json_error_t why;
    json_t *doc = json_loads(ran->out, 0, &why);

    if (!doc) {
        print_message("not JSON: %s\n%s\n%s\n", why.text, ran->out, ran->err);
    }
    assert_non_null(doc);
    return doc;
}

int cli_lines(const char *text)
{
    int n = 0;

    for (; *text; text++) {
        n += *text == '\n';
    }
    return n;
}

void cli_expect_sentence(const cli_ran *ran, int status, const char *needle)
{
    if (ran->status != status || cli_lines(ran->err) != 1 ||
        !strstr(ran->err, needle)) {
        print_message("status %d, standard error:\n%s", ran->status, ran->err);
    }
    assert_int_equal(ran->status, status);
    assert_int_equal(cli_lines(ran->err), 1);
    assert_non_null(strstr(ran->err, needle));
}

void cli_expect_json_error(const cli_ran *ran, int status, const char *code,
                           const char *needle)
{
    json_t *doc = cli_json(ran);
    const char *sentence = json_string_value(json_object_get(doc, "error"));

    assert_int_equal(ran->status, status);
    assert_non_null(sentence);
    if (!strstr(sentence, needle)) {
        print_message("error: %s\n", sentence);
    }
    assert_non_null(strstr(sentence, needle));
    assert_string_equal(json_string_value(json_object_get(doc, "code")), code);
    assert_non_null(json_object_get(doc, "file"));
    assert_non_null(json_object_get(doc, "line"));
    assert_non_null(json_object_get(doc, "column"));
    assert_string_equal(ran->err, "");
    json_decref(doc);
}

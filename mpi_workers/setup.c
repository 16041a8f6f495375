/*
 * Runs the setup through its shell and reads back the environment.
 */
#include "mpi_workers/setup.h"

#include "mpi_workers/child.h"
#include "mpi_workers/pause.h"
#include "mpi_workers/process_env.h"
#include "mpi_workers/wait.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* An environment that is longer cannot be given to a process. */
#define MOST_BYTES (8u << 20)
#define SLICE_S    0.05

/* The text is $1, so that a quote in it is no danger; not behind &&, where its
 * own `set -e` would have no effect. */
static const char script[] = "eval \"$1\"\n"
                             "trireme_status=$?\n"
                             "[ \"$trireme_status\" -eq 0 ] || "
                             "exit \"$trireme_status\"\n"
                             "unset trireme_status\n"
                             "exec /usr/bin/env -0 >&3\n";

typedef struct heard {
    char *data;
    size_t bytes;
    int failed; /* no memory, or far too much */
} heard;

static void on_output(void *ctx, tri_stream stream, const char *bytes, size_t n)
{
    heard *h = ctx;
    char *grown;

    if (stream != TRI_STREAM_FD || h->failed) {
        return;
    }
    grown = h->bytes + n < MOST_BYTES ? realloc(h->data, h->bytes + n + 1)
                                      : NULL;
    if (!grown) {
        h->failed = 1;
        return;
    }
    h->data = grown;
    memcpy(h->data + h->bytes, bytes, n);
    h->bytes += n;
    h->data[h->bytes] = 0;
}

/* ---- the environment that it printed ------------------------------------ */

/* What the shell sets for itself. */
static int is_of_shell(const char *variable)
{
    return strncmp(variable, "_=", 2) == 0 ||
           strncmp(variable, "SHLVL=", 6) == 0 ||
           strncmp(variable, "OLDPWD=", 7) == 0;
}

static int is_variable(const char *text)
{
    return text[0] != '=' && strchr(text, '=') && !is_of_shell(text);
}

tri_status tri_setup_read(const char *text, size_t bytes, char ***out)
{
    const char *end = text + bytes;
    size_t room = 1;
    size_t n = 0;
    char **env;

    for (size_t i = 0; i < bytes; i++) {
        room += text[i] == 0;
    }
    env = calloc(room, sizeof *env);
    for (const char *at = text; env && at < end;) {
        const char *stop = memchr(at, 0, (size_t)(end - at));

        if (!stop) {
            break; /* cut off */
        }
        if (is_variable(at)) {
            env[n] = strdup(at);
            if (!env[n++]) {
                tri_env_free(env);
                env = NULL;
            }
        }
        at = stop + 1;
    }
    if (!env) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for an environment");
    }
    *out = env;
    return TRI_OK;
}

/* ---- running it --------------------------------------------------------- */

/* The end of its standard error on one line, at most `bytes` long. */
static void print_tail(tri_child *c, char *buf, size_t bytes)
{
    size_t n;
    const char *tail = tri_child_stderr(c, &n);
    size_t from;
    size_t used = 0;

    while (n > 0 && (unsigned char)tail[n - 1] <= ' ') {
        n--;
    }
    from = n + 1 > bytes ? n + 1 - bytes : 0;
    for (size_t i = from; i < n; i++) {
        unsigned char b = (unsigned char)tail[i];

        buf[used++] = b < ' ' || b == 127 ? ' ' : (char)b;
    }
    buf[used] = 0;
}

static tri_status fail(tri_child *c, const char *what, int number)
{
    char tail[300];
    char how[80];

    print_tail(c, tail, sizeof tail);
    snprintf(how, sizeof how, what, number);
    return TRI_FAIL(TRI_EINVAL, "model.setup %s%s%s", how, tail[0] ? ": " : "",
                    tail);
}

static tri_status judge(tri_child *c, const heard *h, double limit_s)
{
    tri_child_end end;

    if (tri_wait_abandoned) {
        return fail(c, "was ended: this rank got a signal to end", 0);
    }
    if (!tri_child_ended(c, &end)) {
        return fail(c, "was not done within %d s (timeouts.startup)",
                    (int)limit_s);
    }
    if (WIFSIGNALED(end.wait_status)) {
        return fail(c, "was ended by signal %d", WTERMSIG(end.wait_status));
    }
    if (WEXITSTATUS(end.wait_status) != 0) {
        return fail(c, "ended with status %d", WEXITSTATUS(end.wait_status));
    }
    if (h->failed) {
        return fail(c, "left an environment of over %d MiB",
                    (int)(MOST_BYTES >> 20));
    }
    if (h->bytes == 0) {
        return fail(c,
                    "left no environment: it must neither exit by itself "
                    "nor close descriptor %d",
                    3);
    }
    return TRI_OK;
}

static tri_status hear(tri_child *c, double limit_s, char ***out)
{
    double end_s = tri_now() + limit_s;
    heard h = {0};
    tri_status st;

    while (!tri_child_ended(c, NULL) && tri_now() < end_s &&
           !tri_wait_abandoned) {
        tri_child_hear(c, SLICE_S, on_output, &h);
    }
    st = judge(c, &h, limit_s);
    if (st == TRI_OK) {
        st = tri_setup_read(h.data, h.bytes, out);
    }
    free(h.data);
    return st;
}

tri_status tri_setup_run(const tri_process_spec *spec, char *const *from,
                         double limit_s, double grace_s, char ***out)
{
    const char *const bash[] = {"bash"};
    const char *const *shell = spec->setup.n_shell ? spec->setup.shell : bash;
    int n = spec->setup.n_shell ? spec->setup.n_shell : 1;
    tri_child_spec child = {.env = from};
    tri_child *c = NULL;
    char **argv;
    tri_status st;

    argv = calloc((size_t)n + 5, sizeof *argv);
    if (!argv) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a command");
    }
    for (int i = 0; i < n; i++) {
        argv[i] = (char *)(uintptr_t)shell[i];
    }
    argv[n] = (char *)(uintptr_t) "-c";
    argv[n + 1] = (char *)(uintptr_t)script;
    argv[n + 2] = (char *)(uintptr_t) "setup";
    argv[n + 3] = (char *)(uintptr_t)(spec->setup.text ? spec->setup.text : "");
    child.argv = argv;
    st = tri_child_spawn(&child, &c);
    free(argv);
    TRI_TRY(st);
    st = hear(c, limit_s, out);
    if (st != TRI_OK) { /* the end of it may fail in turn */
        tri_error error = *tri_error_last();

        tri_child_destroy(c, grace_s);
        return tri_error_set(st, error.src_file, error.src_line, "%s",
                             error.sentence);
    }
    tri_child_destroy(c, 0);
    return TRI_OK;
}

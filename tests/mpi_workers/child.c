/*
 * Children: output, ends of all kinds, and nothing left behind.
 */
#include "mpi_workers/child.h"

#include "mpi_workers/pause.h"
#include "mpi_workers/process.h"
#include "tests/tri_cmocka.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char said[1 << 16];
static size_t n_said;

static void on_output(void *ctx, tri_stream stream, const char *bytes, size_t n)
{
    (void)ctx;
    if (stream == TRI_STREAM_ERR) {
        return;
    }
    for (size_t i = 0; i < n && n_said + 1 < sizeof said; i++) {
        said[n_said++] = bytes[i];
    }
    said[n_said] = 0;
}

static tri_child *start(const char *script)
{
    char *argv[] = {(char[]){"/bin/sh"}, (char[]){"-c"}, strdup(script), NULL};
    char *env[] = {(char[]){"PATH=/usr/bin:/bin"}, (char[]){"WHO=me"}, NULL};
    tri_child_spec spec = {.argv = argv, .env = env, .cwd = "/"};
    tri_child *c = NULL;

    n_said = 0;
    said[0] = 0;
    assert_int_equal(tri_child_spawn(&spec, &c), TRI_OK);
    free(argv[2]);
    return c;
}

/* Hear it to its end (a minute at most); the wait status. */
static int finish(tri_child *c)
{
    double limit = tri_now() + 60;
    tri_child_end end = {.wait_status = -1};

    while (!tri_child_ended(c, &end) && tri_now() < limit) {
        tri_child_hear(c, 0.01, on_output, NULL);
    }
    assert_true(tri_child_ended(c, &end));
    return end.wait_status;
}

static int n_descriptors(void)
{
    DIR *dir = opendir("/proc/self/fd");
    int n = 0;

    assert_non_null(dir);
    while (readdir(dir)) {
        n++;
    }
    closedir(dir);
    return n;
}

static void output_environment_and_folder(void **state)
{
    tri_child *c = start("echo $WHO; pwd; echo complaint >&2; exit 3");
    size_t n;
    const char *tail;
    int status;

    (void)state;
    status = finish(c);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 3);
    assert_string_equal(said, "me\n/\n");
    tail = tri_child_stderr(c, &n);
    assert_int_equal(n, strlen("complaint\n"));
    assert_memory_equal(tail, "complaint\n", n);
    tri_child_destroy(c, 0);
}

static void the_last_of_stderr_is_kept(void **state)
{
    tri_child *c = start("i=0; while [ $i -lt 3000 ]; do echo line $i >&2; "
                         "i=$((i+1)); done");
    size_t n;
    const char *tail;

    (void)state;
    finish(c);
    tail = tri_child_stderr(c, &n);
    assert_int_equal(n, TRI_STDERR_BYTES);
    assert_memory_equal(tail + n - 10, "line 2999\n", 10);
    tri_child_destroy(c, 0);
}

static void missing_command(void **state)
{
    char *argv[] = {(char[]){"/no/such/command"}, NULL};
    char *env[] = {NULL};
    tri_child_spec spec = {.argv = argv, .env = env};
    tri_child *c;

    (void)state;
    assert_int_equal(tri_child_spawn(&spec, &c), TRI_EINFEASIBLE);
    assert_non_null(strstr(tri_error_last()->sentence, "/no/such/command"));
}

static void term_is_heeded(void **state)
{
    tri_child *c = start("trap 'echo bye; exit 5' TERM; echo up; "
                         "while :; do sleep 0.05; done");
    int status;

    (void)state;
    while (!strstr(said, "up")) {
        tri_child_hear(c, 0.1, on_output, NULL);
    }
    tri_child_term(c);
    status = finish(c);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 5);
    assert_non_null(strstr(said, "bye"));
    tri_child_destroy(c, 0);
}

static int is_gone(pid_t pid)
{
    char path[64];
    char text[256] = "";
    FILE *f;

    if (kill(pid, 0) != 0 && errno == ESRCH) {
        return 1;
    }
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    f = fopen(path, "r");
    if (f) { /* a zombie of init's is gone for us */
        size_t n = fread(text, 1, sizeof text - 1, f);

        text[n] = 0;
        fclose(f);
    }
    return !f || strstr(text, ") Z ") != NULL;
}

static int goes(pid_t pid)
{
    for (int i = 0; i < 500; i++) {
        if (is_gone(pid)) {
            return 1;
        }
        usleep(10000);
    }
    return 0;
}

/* One that ignores TERM, with a grandchild that does so too. */
static void the_group_is_killed(void **state)
{
    tri_child *c = start("trap '' TERM; sleep 1000 & echo $!; sleep 1000");
    pid_t grandchild;

    (void)state;
    while (!strchr(said, '\n')) {
        tri_child_hear(c, 0.1, on_output, NULL);
    }
    grandchild = (pid_t)atoi(said);
    assert_true(grandchild > 1);
    tri_child_destroy(c, 0.1);
    assert_true(goes(grandchild));
}

/* The process ends, its grandchild holds the pipes open. */
static void grandchildren_do_not_keep_us(void **state)
{
    tri_child *c = start("sleep 1000 & echo $!; exit 0");
    int status;

    (void)state;
    status = finish(c);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_true(goes((pid_t)atoi(said)));
    tri_child_destroy(c, 0);
}

/* Two that leave the group, one of them a daemon whose parents are gone, and
 * which heed nothing; and this process's own child, which has no part in it. */
static void who_leaves_the_group_is_killed(void **state)
{
    pid_t own = fork();
    tri_child *c;
    int first;
    int second;

    (void)state;
    if (own == 0) {
        pause();
        _exit(0);
    }
    assert_true(own > 0);
    c = start("setsid sh -c 'trap \"\" HUP TERM; echo $$; exec sleep 1000' & "
              "(setsid sh -c 'sh -c \"sleep 1000; :\" & echo $!; "
              "exec >/dev/null; wait' &) ; "
              "sleep 1000");
    while (sscanf(said, "%d %d ", &first, &second) < 2) {
        tri_child_hear(c, 0.1, on_output, NULL);
    }
    assert_false(is_gone(first));
    assert_false(is_gone(second));
    tri_child_destroy(c, 0.1);
    assert_true(is_gone(first));
    assert_true(is_gone(second));
    assert_false(is_gone(own));
    kill(own, SIGKILL);
    assert_int_equal(waitpid(-1, NULL, 0), own);
    assert_true(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
}

/* From a signal handler, too. */
static void kill_all_finds_who_left(void **state)
{
    tri_child *c = start("setsid sh -c 'echo $$; exec sleep 1000' & "
                         "sleep 1000");
    int pid;
    int status;

    (void)state;
    while (sscanf(said, "%d ", &pid) < 1) {
        tri_child_hear(c, 0.1, on_output, NULL);
    }
    tri_child_kill_all();
    assert_true(is_gone(pid));
    status = finish(c);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    tri_child_destroy(c, 0);
    assert_true(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
}

static void nothing_is_left(void **state)
{
    int before = n_descriptors();

    (void)state;
    for (int i = 0; i < 50; i++) {
        tri_child *c = start(i % 2 ? "exit 1" : "sleep 100");

        if (i % 2) {
            finish(c);
        }
        tri_child_destroy(c, 1);
    }
    assert_int_equal(n_descriptors(), before);
    assert_true(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
}

static void kill_all_is_at_once(void **state)
{
    tri_child *c = start("trap '' TERM; echo up; sleep 1000");
    int status;

    (void)state;
    while (!strstr(said, "up")) {
        tri_child_hear(c, 0.1, on_output, NULL);
    }
    tri_child_kill_all();
    status = finish(c);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    tri_child_destroy(c, 0);
}

static void classes_of_ends(void **state)
{
    char buf[128];

    (void)state;
    assert_int_equal(tri_process_class(0, buf, sizeof buf), TRI_REASON_NONE);
    assert_int_equal(tri_process_class(1 << 8, buf, sizeof buf),
                     TRI_REASON_BAD_EXIT);
    assert_string_equal(buf, "ended with status 1");
    assert_int_equal(tri_process_class(127 << 8, buf, sizeof buf),
                     TRI_REASON_IMPORT_ERROR);
    assert_int_equal(tri_process_class(137 << 8, buf, sizeof buf),
                     TRI_REASON_OOM_HOST);
    assert_int_equal(tri_process_class(SIGKILL, buf, sizeof buf),
                     TRI_REASON_OOM_HOST);
    assert_non_null(strstr(buf, "host memory"));
    assert_int_equal(tri_process_class(SIGSEGV, buf, sizeof buf),
                     TRI_REASON_BAD_EXIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(output_environment_and_folder),
            cmocka_unit_test(the_last_of_stderr_is_kept),
            cmocka_unit_test(missing_command),
            cmocka_unit_test(term_is_heeded),
            cmocka_unit_test(the_group_is_killed),
            cmocka_unit_test(grandchildren_do_not_keep_us),
            cmocka_unit_test(who_leaves_the_group_is_killed),
            cmocka_unit_test(kill_all_finds_who_left),
            cmocka_unit_test(nothing_is_left),
            cmocka_unit_test(kill_all_is_at_once),
            cmocka_unit_test(classes_of_ends),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

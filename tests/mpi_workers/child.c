/*
 * Children: output, ends of all kinds, and nothing left behind.
 */
#include "mpi_workers/child.h"

#include "mpi_workers/pause.h"
#include "tests/survivors.h"
#include "tests/tri_cmocka.h"

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

static tri_child *start_logged(const char *script, const char *log,
                               uint64_t log_max)
{
    char *argv[] = {(char[]){"/bin/sh"}, (char[]){"-c"}, strdup(script), NULL};
    char *env[] = {(char[]){"PATH=/usr/bin:/bin"}, (char[]){"WHO=me"}, NULL};
    tri_child_spec spec = {.argv = argv,
                           .env = env,
                           .cwd = "/",
                           .log = log,
                           .log_max = log_max};
    tri_child *c = NULL;

    n_said = 0;
    said[0] = 0;
    assert_int_equal(tri_child_spawn(&spec, &c), TRI_OK);
    free(argv[2]);
    return c;
}

static tri_child *start(const char *script)
{
    return start_logged(script, NULL, 0);
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
    argv[0] = (char[]){"/etc/passwd"};
    assert_int_equal(tri_child_spawn(&spec, &c), TRI_EINFEASIBLE);
    assert_non_null(strstr(tri_error_last()->sentence, "Permission denied"));
    argv[0] = (char[]){"/bin/true"};
    spec.cwd = "/no/such/folder";
    assert_int_equal(tri_child_spawn(&spec, &c), TRI_EINFEASIBLE);
    assert_non_null(strstr(tri_error_last()->sentence, "/no/such/folder"));
}

/* ---- streams ------------------------------------------------------------ */

static size_t n_of[3];

static void count(void *ctx, tri_stream stream, const char *bytes, size_t n)
{
    (void)ctx;
    (void)bytes;
    n_of[stream] += n;
}

static void count_to_end(tri_child *c)
{
    double limit = tri_now() + 60;

    memset(n_of, 0, sizeof n_of);
    while (!tri_child_ended(c, NULL) && tri_now() < limit) {
        tri_child_hear(c, 0.1, count, NULL);
    }
    assert_true(tri_child_ended(c, NULL));
}

static void three_streams(void **state)
{
    tri_child *c = start("printf 1; printf 22 >&2; printf 333 >&3");

    (void)state;
    count_to_end(c);
    assert_int_equal(n_of[TRI_STREAM_OUT], 1);
    assert_int_equal(n_of[TRI_STREAM_ERR], 2);
    assert_int_equal(n_of[TRI_STREAM_FD], 3);
    tri_child_destroy(c, 0);
}

/* It has its four, whatever is open here, and nothing to read. */
static void descriptors_are_its_own(void **state)
{
    int fds[40];
    tri_child *c;

    (void)state;
    for (int i = 0; i < 40; i++) { /* not close-on-exec, as some of MPI's */
        fds[i] = dup(2);
        assert_true(fds[i] >= 0);
    }
    c = start("cat | wc -c; cd /proc/self/fd; echo [0-9]*");
    finish(c);
    tri_child_destroy(c, 0);
    for (int i = 0; i < 40; i++) {
        close(fds[i]);
    }
    /* the shell itself may hold one more while it looks for names */
    if (strcmp(said, "0\n0 1 2 3\n") != 0) {
        assert_string_equal(said, "0\n0 1 2 3 4\n");
    }
}

/* Far more than any pipe holds, on each stream; nobody reads it but us, and
 * nothing of it is kept. */
static void a_flood_holds_nobody_up(void **state)
{
    static const char *const scripts[] = {"head -c 100000000 /dev/zero",
                                          "head -c 20000000 /dev/zero >&2",
                                          "head -c 20000000 /dev/zero >&3"};
    static const size_t bytes[] = {100000000, 20000000, 20000000};

    (void)state;
    for (int i = 0; i < 3; i++) {
        tri_child *c = start(scripts[i]);

        count_to_end(c);
        assert_int_equal(n_of[i], bytes[i]);
        tri_child_destroy(c, 0);
    }
}

/* One call takes its time, not the whole flood. */
static void a_flood_does_not_keep_the_caller(void **state)
{
    tri_child *c = start("cat /dev/zero");
    int calls = 0;

    (void)state;
    memset(n_of, 0, sizeof n_of);
    while (n_of[TRI_STREAM_OUT] < 50000000) {
        size_t before = n_of[TRI_STREAM_OUT];

        assert_true(tri_child_hear(c, 10, count, NULL));
        assert_true(n_of[TRI_STREAM_OUT] > before);
        calls++;
    }
    assert_true(calls >= 2);
    assert_false(tri_child_ended(c, NULL));
    tri_child_destroy(c, 0);
}

/* ---- logs --------------------------------------------------------------- */

static char log_path[64];

static char *read_log(size_t *n)
{
    static char text[1 << 20];
    FILE *f = fopen(log_path, "r");

    assert_non_null(f);
    *n = fread(text, 1, sizeof text - 1, f);
    text[*n] = 0;
    fclose(f);
    remove(log_path);
    return text;
}

static void logs_hold_both_streams(void **state)
{
    tri_child *c;
    size_t n;

    (void)state;
    snprintf(log_path, sizeof log_path, "/tmp/trireme-child-%d.log",
             (int)getpid());
    c = start_logged("echo one; sleep 0.01; echo two >&2; echo three >&3",
                     log_path, 0);
    finish(c);
    tri_child_destroy(c, 0);
    assert_string_equal(read_log(&n), "one\ntwo\n");
    c = start_logged("echo one; echo two >&2; echo last", log_path, 1000);
    finish(c);
    tri_child_destroy(c, 0);
    read_log(&n);
    assert_int_equal(n, strlen("one\ntwo\nlast\n"));
}

static void long_logs_lack_the_middle(void **state)
{
    tri_child *c = start_logged("i=1000; while [ $i -lt 2000 ]; do "
                                "echo line $i; i=$((i+1)); done",
                                log_path, 1000);
    static const char left_out[] = "\n[trireme: 9000 bytes left out]\n";
    const char *text;
    size_t n;

    (void)state;
    finish(c);
    tri_child_destroy(c, 0);
    text = read_log(&n);
    assert_int_equal(n, 1000 + strlen(left_out));
    assert_memory_equal(text, "line 1000\nline 1001\n", 20);
    assert_memory_equal(text + 500, left_out, strlen(left_out));
    assert_memory_equal(text + n - 500, "line 1950\n", 10);
    assert_memory_equal(text + n - 10, "line 1999\n", 10);
}

static void a_log_that_cannot_be(void **state)
{
    tri_child *c = start_logged("echo on", "/no/such/folder/log", 0);

    (void)state;
    finish(c);
    assert_string_equal(said, "on\n");
    tri_child_destroy(c, 0);
}

/* ---- what is known of an end -------------------------------------------- */

/* A grandchild's memory counts, and so does one that is over. */
static void memory_is_known(void **state)
{
    static const char script[] =
            "sh -c 'x=$(head -c 30000000 /dev/zero | tr \"\\\\0\" a); "
            ": $x'; exit 0";
    tri_child *c = start(script);
    tri_child_end end = {0};

    (void)state;
    finish(c);
    assert_true(tri_child_ended(c, &end));
    assert_true(end.rss > 30000000);
    assert_true(end.memory_limit > 0);
    if (end.oom_kills_known) {
        assert_int_equal(end.oom_kills, 0);
    }
    tri_child_destroy(c, 0);
    c = start(
            "sh -c 'x=$(head -c 30000000 /dev/zero | tr \"\\\\0\" a); echo up; "
            "sleep 1000' & wait");
    while (!strstr(said, "up")) {
        tri_child_hear(c, 0.1, on_output, NULL);
    }
    assert_true(tri_child_rss(c) > 30000000);
    tri_child_destroy(c, 0);
}

static void signals_are_passed_on(void **state)
{
    tri_child *c = start("trap 'exit 9' USR1; echo up; "
                         "while :; do sleep 0.01; done");
    int status;

    (void)state;
    while (!strstr(said, "up")) {
        tri_child_hear(c, 0.1, on_output, NULL);
    }
    tri_child_signal(c, SIGUSR1);
    status = finish(c);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 9);
    tri_child_destroy(c, 0);
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
    int before = tri_descriptors();

    (void)state;
    for (int i = 0; i < 50; i++) {
        tri_child *c = start(i % 2 ? "exit 1" : "sleep 100");

        if (i % 2) {
            finish(c);
        }
        tri_child_destroy(c, 1);
    }
    assert_int_equal(tri_descriptors(), before);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(output_environment_and_folder),
            cmocka_unit_test(the_last_of_stderr_is_kept),
            cmocka_unit_test(missing_command),
            cmocka_unit_test(three_streams),
            cmocka_unit_test(descriptors_are_its_own),
            cmocka_unit_test(a_flood_holds_nobody_up),
            cmocka_unit_test(a_flood_does_not_keep_the_caller),
            cmocka_unit_test(logs_hold_both_streams),
            cmocka_unit_test(long_logs_lack_the_middle),
            cmocka_unit_test(a_log_that_cannot_be),
            cmocka_unit_test(memory_is_known),
            cmocka_unit_test(signals_are_passed_on),
            cmocka_unit_test(term_is_heeded),
            cmocka_unit_test(the_group_is_killed),
            cmocka_unit_test(grandchildren_do_not_keep_us),
            cmocka_unit_test(who_leaves_the_group_is_killed),
            cmocka_unit_test(kill_all_finds_who_left),
            cmocka_unit_test(nothing_is_left),
            cmocka_unit_test(kill_all_is_at_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

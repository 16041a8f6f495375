/*
 * Guards: whoever dies, and however, nothing of a command is left; and the
 * guard ends as its command does.
 */
#include "mpi_workers/guard.h"

#include "mpi_workers/child.h"
#include "mpi_workers/orphans.h"
#include "mpi_workers/pause.h"
#include "tests/survivors.h"
#include "tests/tri_cmocka.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

static char mark[64], mark_variable[80];
static char said[1 << 12];
static size_t n_said;

static void on_output(void *ctx, tri_stream stream, const char *bytes, size_t n)
{
    (void)ctx;
    if (stream == TRI_STREAM_OUT && n_said + n < sizeof said) {
        memcpy(said + n_said, bytes, n);
        n_said += n;
        said[n_said] = 0;
    }
}

static tri_child *start(const char *script)
{
    char *argv[] = {(char[]){"/bin/sh"}, (char[]){"-c"}, strdup(script), NULL};
    char *env[] = {(char[]){"PATH=/usr/bin:/bin"}, mark_variable, NULL};
    tri_child_spec spec = {.argv = argv, .env = env};
    tri_child *c = NULL;

    n_said = 0;
    said[0] = 0;
    assert_int_equal(tri_child_spawn(&spec, &c), TRI_OK);
    free(argv[2]);
    return c;
}

/* Hear it until it has printed the line "up". */
static void await_up(tri_child *c)
{
    double limit = tri_now() + 60;

    while (!strstr(said, "up\n") && tri_now() < limit) {
        tri_child_hear(c, 0.1, on_output, NULL);
    }
    assert_non_null(strstr(said, "up\n"));
}

static int finish(tri_child *c)
{
    double limit = tri_now() + 60;
    tri_child_end end = {.wait_status = -1};

    while (!tri_child_ended(c, &end) && tri_now() < limit) {
        tri_child_hear(c, 0.1, on_output, NULL);
    }
    assert_true(tri_child_ended(c, NULL));
    return end.wait_status;
}

static int set_up(void **state)
{
    static int n;

    (void)state;
    snprintf(mark, sizeof mark, "trireme-guard-%d-%d", (int)getpid(), n++);
    snprintf(mark_variable, sizeof mark_variable, "MARK=%s", mark);
    return 0;
}

/* ---- the worker dies ---------------------------------------------------- */

/* Trainers of all kinds; each says "up" when all of it is there. */
static const char *const trainers[] = {
        "echo up; exec sleep 1000",
        "trap '' TERM HUP INT; echo up; while :; do sleep 1000; done",
        /* a tree, of which a part is stopped */
        "sh -c 'sleep 1000 & kill -STOP $$; :' & sleep 0.1; echo up; wait",
        "echo up; kill -STOP $$; :",
        /* a session of its own that heeds nothing */
        "setsid sh -c 'trap \"\" TERM HUP; echo up; while :; do sleep 1000; "
        "done' & wait",
        /* a daemon: two forks, a session, no terminal, nobody's child */
        "(setsid sh -c '(trap \"\" TERM HUP; echo up; exec >/dev/null 2>&1 "
        "3>&-; while :; do sleep 1000; done) & exit 0' &) ; sleep 1000",
        /* a process group of its own, as shells with job control make */
        "set -m; sleep 1000 & sleep 1000 & echo up; wait",
};

/* A worker that starts a trainer, says so, and sits there.  As all that is
 * forked here, it dies with the test. */
static pid_t fork_worker(const char *script)
{
    int pair[2];
    char byte = 0;
    pid_t worker;

    assert_int_equal(pipe(pair), 0);
    worker = fork();
    assert_true(worker >= 0);
    if (worker == 0) {
        tri_child *c;

        prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
        c = start(script);
        await_up(c);
        if (write(pair[1], "x", 1) != 1) {
            _exit(1);
        }
        for (;;) {
            pause();
        }
    }
    close(pair[1]);
    assert_int_equal(read(pair[0], &byte, 1), 1);
    close(pair[0]);
    return worker;
}

/* What it leaves may be handed to this process. */
static void kill_worker(pid_t worker)
{
    kill(worker, SIGKILL);
    assert_int_equal(waitpid(worker, NULL, 0), worker);
    assert_int_equal(tri_survivors_last(mark), 0);
    while (waitpid(-1, NULL, WNOHANG) > 0) {
    }
}

static void a_killed_worker_leaves_nobody(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof trainers / sizeof *trainers; i++) {
        pid_t worker = fork_worker(trainers[i]);

        print_message("%s\n", trainers[i]);
        assert_true(tri_survivors(mark) >= 2); /* the guard, and its command */
        kill_worker(worker);
    }
}

/* Whoever kills all that is called trireme kills the worker alone. */
static void the_guard_has_another_name(void **state)
{
    char path[64];
    char name[64] = "";
    pid_t worker = fork_worker(trainers[0]);
    FILE *f = NULL;
    int n;

    (void)state;
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)worker,
             (int)worker);
    f = fopen(path, "r");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%d", &n), 1);
    fclose(f);
    snprintf(path, sizeof path, "/proc/%d/comm", n);
    f = fopen(path, "r");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%63s", name), 1);
    fclose(f);
    assert_string_equal(name, "tri-guard");
    kill_worker(worker);
}

/* ---- the guard dies ----------------------------------------------------- */

/* The guard is this process's only child. */
static pid_t guard_of_child(void)
{
    pid_t pids[8];

    assert_int_equal(tri_orphans_children(pids, 8), 1);
    return pids[0];
}

static void a_killed_guard_leaves_nobody(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof trainers / sizeof *trainers; i++) {
        tri_child *c = start(trainers[i]);
        int status;

        await_up(c);
        kill(guard_of_child(), SIGKILL);
        status = finish(c);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        assert_int_equal(tri_survivors_last(mark), 0);
        tri_child_destroy(c, 0);
        assert_true(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
    }
}

/* Where the worker cannot be the second line, the command still dies with its
 * guard. */
static void a_command_dies_with_its_guard(void **state)
{
    pid_t worker = fork_worker(trainers[0]);
    pid_t pids[8];

    (void)state;
    kill(worker, SIGSTOP);
    assert_int_equal(tri_orphans_scan(worker, pids, 8), 1);
    kill(pids[0], SIGKILL);
    assert_int_equal(tri_survivors_last(mark), 0);
    kill_worker(worker);
}

static void a_stopped_guard_ends(void **state)
{
    tri_child *c = start(trainers[1]);

    (void)state;
    await_up(c);
    kill(guard_of_child(), SIGSTOP);
    tri_child_destroy(c, 0.05);
    assert_int_equal(tri_survivors_last(mark), 0);
    assert_true(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
}

/* ---- the command ends --------------------------------------------------- */

static void ends_are_told_exactly(void **state)
{
    static const int codes[] = {0, 1, 3, 126, 127, 137, 255};
    static const int signals[] = {SIGTERM, SIGKILL, SIGSEGV, SIGABRT,
                                  SIGBUS,  SIGFPE,  SIGUSR1, SIGPIPE};
    char script[64];
    tri_child *c;
    int status;

    (void)state;
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        snprintf(script, sizeof script, "exit %d", codes[i]);
        c = start(script);
        status = finish(c);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), codes[i]);
        tri_child_destroy(c, 0);
    }
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        snprintf(script, sizeof script, "ulimit -c 0; kill -%d $$", signals[i]);
        c = start(script);
        status = finish(c);
        assert_true(WIFSIGNALED(status));
        assert_int_equal(WTERMSIG(status), signals[i]);
        tri_child_destroy(c, 0);
    }
    assert_int_equal(tri_survivors_last(mark), 0);
}

static void what_it_leaves_is_killed(void **state)
{
    tri_child *c = start(
            "(setsid sh -c 'trap \"\" TERM HUP; echo up; exec sleep 1000' "
            "&); while ! [ -e /proc/$PPID/exe ]; do :; done; exit 4");
    int status = finish(c);

    (void)state;
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 4);
    assert_int_equal(tri_survivors(mark), 0);
    tri_child_destroy(c, 0);
}

/* ---- by hand ------------------------------------------------------------ */

/* Run the guard as a program; its wait status. */
static int by_hand(const char *const *arguments)
{
    char *env[] = {(char[]){"PATH=/usr/bin:/bin"}, mark_variable, NULL};
    char path[PATH_MAX];
    char *argv[16] = {path};
    pid_t pid;
    int status;

    assert_int_equal(tri_guard_find(path, sizeof path), TRI_OK);
    for (int i = 0; arguments[i]; i++) {
        argv[i + 1] = (char *)(uintptr_t)arguments[i];
    }
    assert_int_equal(posix_spawn(&pid, path, NULL, NULL, argv, env), 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

#define BY_HAND(...) by_hand((const char *[]){__VA_ARGS__, NULL})

static void statuses_by_hand(void **state)
{
    int status = BY_HAND("--", "sh", "-c", "exit 3");

    (void)state;
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 3);
    status = BY_HAND("sh", "-c", "kill -9 $$");
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    status = BY_HAND("sh", "-c", "ulimit -c 0; kill -SEGV $$");
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    assert_false(WCOREDUMP(status));
    status = BY_HAND("--chdir", "/proc", "sh", "-c", "[ $PWD = /proc ]");
    assert_int_equal(status, 0);
    status = BY_HAND("/no/such/command");
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 127);
    status = BY_HAND("/etc/passwd");
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 126);
    status = BY_HAND("--chdir", "/no/such/folder", "true");
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 127);
    status = BY_HAND("--no-such-option", "true");
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    status = BY_HAND("--");
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
}

/* A signal to it reaches the command; its own parent's end, too. */
static void signals_by_hand(void **state)
{
    char path[PATH_MAX];
    char script[PATH_MAX + 200];
    int status;

    (void)state;
    assert_int_equal(tri_guard_find(path, sizeof path), TRI_OK);
    status = BY_HAND("sh", "-c",
                     "trap 'exit 6' USR1; kill -USR1 $PPID; "
                     "while :; do sleep 0.01; done");
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 6);
    status = BY_HAND("sh", "-c", "kill -TERM $PPID; exec sleep 1000");
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    snprintf(script, sizeof script,
             "'%s' sh -c 'trap \"\" TERM; setsid sleep 1000 & kill -9 $0; "
             "sleep 1000' $$ & wait",
             path);
    status = BY_HAND("sh", "-c", script);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    assert_int_equal(tri_survivors_last(mark), 0);
}

/* Of a command that is long looked for and not found, by a worker that is gone:
 * there is nobody to tell, which is no reason to crash.  With TERM ignored the
 * search goes on to its end. */
static void a_refusal_that_nobody_awaits(void **state)
{
    static const char nowhere[] = "/no/such:";
    static char path[sizeof "PATH=" + 8000 * (sizeof nowhere - 1)];
    char *env[] = {path, mark_variable, NULL};
    char guard[PATH_MAX], number[16];
    char *argv[] = {guard,          (char[]){"--control"}, number,
                    (char[]){"--"}, (char[]){"not-there"}, NULL};
    int pair[2], status;
    pid_t pid;

    (void)state;
    snprintf(path, sizeof path, "PATH=");
    for (size_t n = strlen(path); n + sizeof nowhere <= sizeof path;
         n += sizeof nowhere - 1) {
        memcpy(path + n, nowhere, sizeof nowhere);
    }
    assert_int_equal(tri_guard_find(guard, sizeof guard), TRI_OK);
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
    snprintf(number, sizeof number, "%d", pair[1]);
    assert_int_equal(fcntl(pair[0], F_SETFD, FD_CLOEXEC), 0);
    signal(SIGTERM, SIG_IGN);
    assert_int_equal(posix_spawn(&pid, guard, NULL, NULL, argv, env), 0);
    signal(SIGTERM, SIG_DFL);
    close(pair[0]);
    close(pair[1]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 127);
}

/* ---- finding things ----------------------------------------------------- */

static void a_guard_that_is_nowhere(void **state)
{
    char *argv[] = {(char[]){"true"}, NULL};
    char *env[] = {NULL};
    tri_child_spec spec = {.argv = argv, .env = env};
    int before = tri_descriptors();
    tri_child *c;

    (void)state;
    setenv("TRIREME_GUARD", "/no/such/guard", 1);
    assert_int_equal(tri_child_spawn(&spec, &c), TRI_EIO);
    assert_non_null(strstr(tri_error_last()->sentence, "/no/such/guard"));
    setenv("TRIREME_GUARD", "/bin/true", 1);
    assert_int_equal(tri_child_spawn(&spec, &c), TRI_EIO);
    assert_non_null(strstr(tri_error_last()->sentence, "'true'"));
    unsetenv("TRIREME_GUARD");
    assert_int_equal(tri_descriptors(), before);
    assert_true(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
}

/* With and without the kernel's list of children. */
static void children_are_found(void **state)
{
    pid_t pids[3], listed[8], scanned[8];

    (void)state;
    for (int i = 0; i < 3; i++) {
        pids[i] = fork();
        if (pids[i] == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
            pause();
            _exit(0);
        }
    }
    assert_int_equal(tri_orphans_children(listed, 8), 3);
    assert_int_equal(tri_orphans_scan(getpid(), scanned, 8), 3);
    assert_int_equal(tri_orphans_children(listed, 2), 2);
    for (int i = 0; i < 3; i++) {
        int seen = 0;

        for (int j = 0; j < 3; j++) {
            seen += scanned[j] == pids[i];
        }
        assert_int_equal(seen, 1);
        kill(pids[i], SIGKILL);
        waitpid(pids[i], NULL, 0);
    }
    assert_int_equal(tri_orphans_scan(getpid(), scanned, 8), 0);
}

#define MARKED(test) cmocka_unit_test_setup(test, set_up)

int main(void)
{
    const struct CMUnitTest tests[] = {
            MARKED(a_killed_worker_leaves_nobody),
            MARKED(the_guard_has_another_name),
            MARKED(a_killed_guard_leaves_nobody),
            MARKED(a_command_dies_with_its_guard),
            MARKED(a_stopped_guard_ends),
            MARKED(ends_are_told_exactly),
            MARKED(what_it_leaves_is_killed),
            MARKED(statuses_by_hand),
            MARKED(signals_by_hand),
            MARKED(a_refusal_that_nobody_awaits),
            MARKED(a_guard_that_is_nowhere),
            MARKED(children_are_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

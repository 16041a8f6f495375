/*
 * Sweepers: what a killed worker had on disk goes, and what it started too,
 * even where the guards were killed with it.
 */
#include "mpi_workers/sweeper.h"

#include "mpi_workers/child.h"
#include "mpi_workers/orphans.h"
#include "mpi_workers/pause.h"
#include "mpi_workers/remove.h"
#include "tests/survivors.h"
#include "tests/tri_cmocka.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

static char root[] = "/tmp/sweeper-XXXXXX";
static char mark[64], mark_variable[80];

/* root/name */
static const char *at(const char *name)
{
    static char path[8][600];
    static int i;

    i = (i + 1) % 8;
    snprintf(path[i], sizeof path[i], "%s/%s", root, name);
    return path[i];
}

static int is_there(const char *path)
{
    struct stat info;

    return lstat(path, &info) == 0;
}

static void make_file(const char *path)
{
    int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    close(fd);
}

/* Half a minute at most. */
static int is_gone_soon(const char *path)
{
    for (int i = 0; i < 3000 && is_there(path); i++) {
        usleep(10000);
    }
    return !is_there(path);
}

static int set_up(void **state)
{
    static int n;

    (void)state;
    snprintf(mark, sizeof mark, "sweeper-%d-%d", (int)getpid(), n++);
    snprintf(mark_variable, sizeof mark_variable, "MARK=%s", mark);
    return 0;
}

/* ---- a worker ------------------------------------------------------------ */

static void hear_up(void *ctx, tri_stream stream, const char *bytes, size_t n)
{
    (void)stream;
    *(int *)ctx |= memmem(bytes, n, "up\n", 3) != NULL;
}

/* A command under a guard, with the sweeper's mark and the test's. */
static void start(const tri_sweeper *s, const char *script)
{
    char *argv[] = {(char[]){"/bin/sh"}, (char[]){"-c"}, strdup(script), NULL};
    char *env[] = {(char[]){"PATH=/usr/bin:/bin"}, mark_variable,
                   strdup(tri_sweeper_mark(s)), NULL};
    tri_child_spec spec = {.argv = argv, .env = env};
    tri_child *c = NULL;
    int up = 0;

    assert_int_equal(tri_child_spawn(&spec, &c), TRI_OK);
    while (!up) {
        tri_child_hear(c, 0.1, hear_up, &up);
    }
}

typedef void (*worker_fn)(tri_sweeper *s);

/* A worker that opens a sweeper, does `work`, says so, and sits there until it
 * is killed. */
static pid_t fork_worker(worker_fn work)
{
    int pair[2];
    char byte = 0;
    pid_t worker;

    assert_int_equal(pipe(pair), 0);
    worker = fork();
    assert_true(worker >= 0);
    if (worker == 0) {
        tri_sweeper *s = NULL;

        prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
        assert_int_equal(tri_sweeper_open(&s), TRI_OK);
        work(s);
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

static void kill_worker(pid_t worker)
{
    kill(worker, SIGKILL);
    assert_int_equal(waitpid(worker, NULL, 0), worker);
}

/* ---- folders and files -------------------------------------------------- */

static void have_a_folder_and_a_file(tri_sweeper *s)
{
    mkdir(at("above"), 0700);
    mkdir(at("above/own"), 0700);
    mkdir(at("above/own/1.0"), 0700);
    tri_sweeper_add(s, at("above/own/1.0"), 1);
    make_file(at("above/own/1.0/a"));
    mkdir(at("above/own/1.0/sub"), 0700);
    make_file(at("above/own/1.0/sub/b"));
    assert_int_equal(symlink(root, at("above/own/1.0/link")), 0);
    make_file(at("hosts"));
    tri_sweeper_add(s, at("hosts"), 0);
}

static void what_a_killed_worker_had_goes(void **state)
{
    (void)state;
    kill_worker(fork_worker(have_a_folder_and_a_file));
    assert_true(is_gone_soon(at("above/own")));
    assert_true(is_gone_soon(at("hosts")));
    assert_true(is_there(at("above"))); /* one folder above it, no more */
}

static void lose_a_folder(tri_sweeper *s)
{
    mkdir(at("lost"), 0700);
    tri_sweeper_add(s, at("lost"), 0);
    assert_int_equal(rmdir(at("lost")), 0); /* and it was not told */
    mkdir(at("told"), 0700);
    tri_sweeper_add(s, at("told"), 0);
    tri_sweeper_forget(s, at("told"));
    make_file(at("last"));
    tri_sweeper_add(s, at("last"), 0);
}

static void what_is_not_its_own_stays(void **state)
{
    pid_t worker = fork_worker(lose_a_folder);

    (void)state;
    mkdir(at("lost"), 0700); /* another one */
    kill_worker(worker);
    assert_true(is_gone_soon(at("last")));
    assert_true(is_there(at("lost")));
    assert_true(is_there(at("told")));
}

static void one_without_work_ends_at_once(void **state)
{
    tri_sweeper *s = NULL;
    int before = tri_descriptors();
    pid_t pids[4];

    (void)state;
    make_file(at("mine"));
    assert_int_equal(tri_sweeper_open(&s), TRI_OK);
    assert_int_equal(tri_orphans_children(pids, 4), 1);
    tri_sweeper_add(s, at("mine"), 0);
    kill(pids[0], SIGTERM); /* is nothing to it */
    tri_sweeper_forget(s, at("mine"));
    tri_sweeper_close(s);
    assert_true(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
    assert_int_equal(tri_descriptors(), before);
    assert_true(is_there(at("mine")));
    tri_sweeper_add(NULL, at("mine"), 0);
    tri_sweeper_forget(NULL, at("mine"));
    tri_sweeper_close(NULL);
}

/* ---- processes ---------------------------------------------------------- */

static void have_a_daemon(tri_sweeper *s)
{
    mkdir(at("busy"), 0700);
    tri_sweeper_add(s, at("busy"), 0);
    start(s, "(setsid sh -c 'trap \"\" TERM HUP; echo up; exec >/dev/null 2>&1 "
             "3>&-; while :; do sleep 1000; done' &) ; sleep 1000");
}

/* All that is above the command, at once. */
static void guard_and_worker_together(void **state)
{
    pid_t worker = fork_worker(have_a_daemon);
    pid_t pids[8];
    int n = tri_orphans_scan(worker, pids, 8);

    (void)state;
    assert_int_equal(n, 2); /* the sweeper, and the guard */
    kill(worker, SIGSTOP);
    for (int i = 0; i < n; i++) {
        if (tri_has_mark(pids[i], mark)) {
            kill(pids[i], SIGKILL);
        }
    }
    kill_worker(worker);
    assert_int_equal(tri_survivors_last(mark), 0);
    assert_true(is_gone_soon(at("busy")));
}

/* Whoever kills all whose command line tells of the tuner or of the trainer,
 * kills neither of them. */
static void their_command_lines_tell_nothing(void **state)
{
    pid_t worker = fork_worker(have_a_daemon);
    pid_t pids[8];
    int n = tri_orphans_scan(worker, pids, 8);

    (void)state;
    assert_int_equal(n, 2);
    for (int i = 0; i < n; i++) {
        char path[64];
        char text[4096];
        size_t bytes;
        FILE *f;

        snprintf(path, sizeof path, "/proc/%d/cmdline", (int)pids[i]);
        f = fopen(path, "r");
        assert_non_null(f);
        bytes = fread(text, 1, sizeof text, f);
        fclose(f);
        assert_true(bytes > 0 && strncmp(text, "tri-", 4) == 0);
        assert_null(memmem(text, bytes, "trireme", 7));
        assert_null(memmem(text, bytes, "sleep", 5));
    }
    kill_worker(worker);
    assert_int_equal(tri_survivors_last(mark), 0);
    assert_true(is_gone_soon(at("busy")));
}

static int make_root(void **state)
{
    (void)state;
    return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state)
{
    (void)state;
    return tri_remove_path(root, 10);
}

#define MARKED(test) cmocka_unit_test_setup(test, set_up)

int main(void)
{
    const struct CMUnitTest tests[] = {
            MARKED(what_a_killed_worker_had_goes),
            MARKED(what_is_not_its_own_stays),
            MARKED(one_without_work_ends_at_once),
            MARKED(guard_and_worker_together),
            MARKED(their_command_lines_tell_nothing),
    };

    return cmocka_run_group_tests(tests, make_root, remove_root);
}

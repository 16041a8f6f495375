/*
 * A child process, its guard, and the pipes between.  Knows nothing of trials.
 */
#include "mpi_workers/child.h"

#include "mpi_workers/child_log.h"
#include "mpi_workers/child_tree.h"
#include "mpi_workers/guard.h"
#include "mpi_workers/memory_events.h"
#include "mpi_workers/orphans.h"
#include "mpi_workers/pause.h"
#include "mpi_workers/place.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* A rank has one child, and another while the first is being replaced. */
#define MOST_CHILDREN 4
#define N_STREAMS     3
/* Read of one pipe at a time, and after the end, when no writer is left but
 * one that is stuck in the system. */
#define MOST_BYTES (1u << 20)
#define LAST_BYTES (64u << 20)
/* A pipe that gives so much at once is a flood: then more is waited for, so
 * that it is not held up by what the caller does between two calls. */
#define FLOOD_BYTES  32768
#define FLOOD_S      0.010
#define FLOOD_WAIT_S 0.001
/* A killed process that does not go is stuck in the system. */
#define STUCK_S 5.0
/* A guard says at once how the start went, if exec is at once. */
#define START_S 10.0

typedef struct ring {
    size_t at; /* where it goes on */
    int is_full;
    char bytes[TRI_STDERR_BYTES];
    char in_order[TRI_STDERR_BYTES];
} ring;

struct tri_child {
    pid_t guard, command;
    int control;        /* socket */
    int fds[N_STREAMS]; /* -1 once at their end */
    int ended, was_told;
    tri_child_end end;
    uint64_t kills; /* before it was started */
    tri_child_log *log;
    ring err;
};

/* For signal handlers: the guards, and the sockets to them. */
static volatile sig_atomic_t guards[MOST_CHILDREN];
static volatile sig_atomic_t controls[MOST_CHILDREN];

static void note(pid_t from, pid_t to, int control)
{
    for (int i = 0; i < MOST_CHILDREN; i++) {
        if (guards[i] == from) {
            controls[i] = control;
            guards[i] = (sig_atomic_t)to;
            return;
        }
    }
}

static int is_any(void)
{
    for (int i = 0; i < MOST_CHILDREN; i++) {
        if (guards[i] > 0) {
            return 1;
        }
    }
    return 0;
}

static void tell(int control, int signo)
{
    unsigned char byte = (unsigned char)signo;

    send(control, &byte, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* Whether it has ended, which is seen without reaping it. */
static int has_ended(pid_t pid)
{
    siginfo_t info;

    memset(&info, 0, sizeof info);
    return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
           info.si_pid == pid;
}

void tri_child_kill_all(void)
{
    if (!is_any()) {
        return;
    }
    for (int i = 0; i < MOST_CHILDREN; i++) {
        if (guards[i] > 0) {
            tell(controls[i], SIGKILL);
            kill((pid_t)guards[i], SIGCONT);
        }
    }
    for (int i = 0; i < MOST_CHILDREN; i++) {
        for (int j = 0; guards[i] > 0 && j < 1000; j++) {
            if (has_ended((pid_t)guards[i])) {
                break;
            }
            poll(NULL, 0, 1);
        }
        if (guards[i] > 0) {
            kill((pid_t)guards[i], SIGKILL);
        }
    }
    tri_orphans_kill(guards, MOST_CHILDREN);
}

/* ---- start ------------------------------------------------------------- */

/* Ours are the first of each pair; all are close-on-exec. */
typedef struct pairs {
    int of[N_STREAMS + 1][2]; /* the last: the control socket */
} pairs;

static void close_side(const pairs *p, int side, int n)
{
    for (int i = 0; i < n; i++) {
        close(p->of[i][side]);
    }
}

static tri_status open_pairs(pairs *p)
{
    int i;

    for (i = 0; i <= N_STREAMS; i++) {
        int rc = i < N_STREAMS
                         ? pipe2(p->of[i], O_CLOEXEC)
                         : socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0,
                                      p->of[i]);

        if (rc != 0) {
            int error = errno;

            close_side(p, 0, i);
            close_side(p, 1, i);
            return TRI_FAIL(TRI_EIO, "no pipe for a process: %s",
                            strerror(error));
        }
        if (i < N_STREAMS) {
            fcntl(p->of[i][0], F_SETFL, O_NONBLOCK);
        }
    }
    return TRI_OK;
}

/* What the guard is started with; the array is malloc'd, its texts borrowed. */
static char **guard_argv(const tri_child_spec *spec)
{
    static char name[] = TRI_GUARD_NAME, control[] = "--control", fd[12],
                chdir_to[] = "--chdir", end[] = "--";
    int n = 0;
    int at = 0;
    char **argv;

    while (spec->argv[n]) {
        n++;
    }
    argv = calloc((size_t)n + 7, sizeof *argv);
    if (!argv) {
        return NULL;
    }
    snprintf(fd, sizeof fd, "%d", TRI_GUARD_CONTROL_FD);
    argv[at++] = name;
    argv[at++] = control;
    argv[at++] = fd;
    if (spec->cwd) {
        argv[at++] = chdir_to;
        argv[at++] = (char *)(uintptr_t)spec->cwd;
    }
    argv[at++] = end;
    memcpy(argv + at, spec->argv, (size_t)n * sizeof *argv);
    return argv;
}

/* The pairs were opened in order, so each number is beyond those that it is
 * copied over before. */
static void set_files(posix_spawn_file_actions_t *files, const pairs *p)
{
    posix_spawn_file_actions_init(files);
    posix_spawn_file_actions_addopen(files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(files, p->of[TRI_STREAM_OUT][1], 1);
    posix_spawn_file_actions_adddup2(files, p->of[TRI_STREAM_ERR][1], 2);
    posix_spawn_file_actions_adddup2(files, p->of[TRI_STREAM_FD][1],
                                     TRI_CHILD_FD);
    posix_spawn_file_actions_adddup2(files, p->of[N_STREAMS][1],
                                     TRI_GUARD_CONTROL_FD);
    posix_spawn_file_actions_addclosefrom_np(files, TRI_GUARD_CONTROL_FD + 1);
}

/* A group of its own, no blocked or ignored signals, and of descriptors only
 * the five: MPI's are not all close-on-exec. */
static int spawn(const char *path, char *const *argv, char *const *env,
                 const pairs *p, pid_t *pid)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    sigset_t none;
    sigset_t all;
    int rc;

    set_files(&files, p);
    posix_spawnattr_init(&attr);
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attr, &none);
    posix_spawnattr_setsigdefault(&attr, &all);
    posix_spawnattr_setpgroup(&attr, 0);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP |
                                            POSIX_SPAWN_SETSIGMASK |
                                            POSIX_SPAWN_SETSIGDEF);
    rc = posix_spawn(pid, path, &files, &attr, argv, env);
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&files);
    return rc;
}

/* `env` and `mark`, which says what descriptor TRI_CHILD_FD is: launchers close
 * what they do not know, and the number is then anybody's.  Owned; its texts
 * are not. */
static char **marked_env(char *const *env, const pairs *p, char *mark,
                         size_t bytes)
{
    struct stat pipe_of_it;
    char **marked;
    size_t n = 0;

    while (env[n]) {
        n++;
    }
    marked = calloc(n + 2, sizeof *marked);
    if (marked) {
        memcpy(marked, env, n * sizeof *marked);
        if (fstat(p->of[TRI_STREAM_FD][1], &pipe_of_it) == 0) {
            snprintf(mark, bytes, "TRIREME_FD_INODE=%llu",
                     (unsigned long long)pipe_of_it.st_ino);
            marked[n] = mark;
        }
    }
    return marked;
}

static tri_status spawn_guard(const tri_child_spec *spec, const pairs *p,
                              pid_t *pid)
{
    char path[PATH_MAX];
    char mark[64];
    char **argv;
    char **env;
    int rc = ENOMEM;

    TRI_TRY(tri_guard_find(path, sizeof path));
    argv = guard_argv(spec);
    env = marked_env(spec->env, p, mark, sizeof mark);
    if (!is_any()) {
        tri_orphans_adopt();
    }
    if (argv && env) {
        rc = spawn(path, argv, env, p, pid);
    }
    free(argv);
    free(env);
    if (rc != 0) {
        return TRI_FAIL(TRI_EIO, "%s cannot be run: %s", path, strerror(rc));
    }
    return TRI_OK;
}

/* What the guard says next; 0 where it says nothing within `wait_s`. */
static int hear_guard(const tri_child *c, double wait_s, tri_guard_word *word)
{
    struct pollfd fd = {c->control, POLLIN, 0};
    double limit = tri_now() + wait_s;
    double left = wait_s;

    do {
        if (poll(&fd, 1, (int)(left * 1000)) == 1) {
            return recv(c->control, word, sizeof *word, MSG_DONTWAIT) ==
                   (ssize_t)sizeof *word;
        }
        left = limit - tri_now();
    } while (left > 0);
    return 0;
}

/* Whether it runs. */
static tri_status hear_start(tri_child *c, const tri_child_spec *spec)
{
    tri_guard_word word;

    if (!hear_guard(c, START_S, &word)) {
        return TRI_FAIL(TRI_EIO, "the guard of '%s' did not start it",
                        spec->argv[0]);
    }
    if (word.kind == TRI_GUARD_STARTED) {
        c->command = word.value;
        return TRI_OK;
    }
    if (word.kind == TRI_GUARD_NO_FOLDER) {
        return TRI_FAIL(TRI_EINFEASIBLE,
                        "'%s' cannot be run in %s, which cannot be entered: %s",
                        spec->argv[0], spec->cwd, strerror(word.value));
    }
    return TRI_FAIL(TRI_EINFEASIBLE, "'%s' cannot be run%s%s: %s",
                    spec->argv[0], spec->cwd ? " in " : "",
                    spec->cwd ? spec->cwd : "", strerror(word.value));
}

tri_status tri_child_spawn(const tri_child_spec *spec, tri_child **out)
{
    tri_child *c = calloc(1, sizeof *c);
    tri_status st;
    pairs p;

    if (!c) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a process");
    }
    st = open_pairs(&p);
    if (st != TRI_OK) {
        free(c);
        return st;
    }
    c->end.memory_limit = tri_place_memory();
    c->end.oom_kills_known = tri_memory_kills(&c->kills);
    st = spawn_guard(spec, &p, &c->guard);
    close_side(&p, 1, N_STREAMS + 1);
    if (st != TRI_OK) {
        close_side(&p, 0, N_STREAMS + 1);
        free(c);
        return st;
    }
    for (int i = 0; i < N_STREAMS; i++) {
        c->fds[i] = p.of[i][0];
    }
    c->control = p.of[N_STREAMS][0];
    note(0, c->guard, c->control);
    st = hear_start(c, spec);
    if (st != TRI_OK) {
        tri_child_destroy(c, 0);
        return st;
    }
    c->log = spec->log ? tri_child_log_open(spec->log, spec->log_max) : NULL;
    *out = c;
    return TRI_OK;
}

/* ---- hear -------------------------------------------------------------- */

static void keep_tail(ring *r, const char *bytes, size_t n)
{
    if (n > sizeof r->bytes) {
        bytes += n - sizeof r->bytes;
        n = sizeof r->bytes;
        r->is_full = 1;
    }
    while (n > 0) {
        size_t part = sizeof r->bytes - r->at;

        part = n < part ? n : part;
        memcpy(r->bytes + r->at, bytes, part);
        r->at += part;
        bytes += part;
        n -= part;
        if (r->at == sizeof r->bytes) {
            r->at = 0;
            r->is_full = 1;
        }
    }
}

static void take(tri_child *c, tri_stream stream, const char *bytes, size_t n,
                 tri_output_fn each, void *ctx)
{
    if (stream != TRI_STREAM_FD) {
        tri_child_log_write(c->log, bytes, n);
    }
    if (stream == TRI_STREAM_ERR) {
        keep_tail(&c->err, bytes, n);
    }
    if (each) {
        each(ctx, stream, bytes, n);
    }
}

/* Read what is there; returns how much, closing at the end. */
static size_t drain(tri_child *c, tri_stream stream, tri_output_fn each,
                    void *ctx)
{
    size_t most = c->ended ? LAST_BYTES : MOST_BYTES;
    int *fd = &c->fds[stream];
    char buf[65536];
    size_t total = 0;

    while (*fd >= 0 && total < most) {
        ssize_t n = read(*fd, buf, sizeof buf);

        if (n > 0) {
            total += (size_t)n;
            take(c, stream, buf, (size_t)n, each, ctx);
        } else if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
            break;
        } else {
            close(*fd);
            *fd = -1;
        }
    }
    return total;
}

/* The descriptor first, since what is on it makes standard output of no
 * account; a progress bar on standard error before what belongs to it. */
static size_t drain_all(tri_child *c, tri_output_fn each, void *ctx)
{
    size_t n = 0;

    for (int i = N_STREAMS - 1; i >= 0; i--) {
        n += drain(c, (tri_stream)i, each, ctx);
    }
    return n;
}

/* What the guard said at its end; one that was killed said nothing, and what
 * it guarded is ours to end. */
static void learn_end(tri_child *c, int guard_status)
{
    tri_guard_word word;
    uint64_t kills;

    c->end.wait_status = guard_status;
    while (hear_guard(c, 0, &word)) {
        if (word.kind == TRI_GUARD_ENDED) {
            c->was_told = 1;
            c->end.wait_status = word.value;
            c->end.rss = word.rss > c->end.rss ? word.rss : c->end.rss;
        }
    }
    if (!c->was_told) {
        if (c->command > 0) {
            kill(-c->command, SIGKILL);
        }
        tri_orphans_kill(guards, MOST_CHILDREN);
    }
    c->end.oom_kills_known = c->end.oom_kills_known && tri_memory_kills(&kills);
    c->end.oom_kills = c->end.oom_kills_known ? kills - c->kills : 0;
}

/* See whether it has ended; the guard goes last. */
static void look(tri_child *c)
{
    int status = 0;
    pid_t pid;

    if (c->ended) {
        return;
    }
    do {
        pid = waitpid(c->guard, &status, WNOHANG);
    } while (pid < 0 && errno == EINTR);
    if (pid != 0) {
        c->ended = 1;
        note(c->guard, 0, -1);
        learn_end(c, pid == c->guard ? status : SIGKILL);
    }
}

/* The end is awaited too: the guard's end of the socket goes with it. */
static void wait_for_output(const tri_child *c, double wait_s)
{
    struct pollfd fds[N_STREAMS + 1];
    int ms = (int)(wait_s * 1000) + 1;

    if (wait_s <= 0) {
        return;
    }
    for (int i = 0; i < N_STREAMS; i++) {
        fds[i] = (struct pollfd){c->fds[i], POLLIN, 0};
    }
    fds[N_STREAMS] = (struct pollfd){c->control, POLLIN, 0};
    poll(fds, N_STREAMS + 1, ms);
    if (fds[N_STREAMS].revents) { /* its last words; now it ends */
        tri_sleep(50e-6);
    }
}

int tri_child_hear(tri_child *c, double wait_s, tri_output_fn each, void *ctx)
{
    double start = tri_now();
    size_t total = 0;

    for (;;) {
        double now;
        size_t n;

        look(c); /* first: what it wrote before its end is then there */
        n = drain_all(c, each, ctx);
        total += n;
        now = tri_now();
        if (c->ended) {
            return 1;
        }
        if (total > 0 && (n < FLOOD_BYTES || now - start >= FLOOD_S)) {
            return 1;
        }
        if (total == 0 && now - start >= wait_s) {
            return 0;
        }
        wait_for_output(c, total > 0 ? FLOOD_WAIT_S : start + wait_s - now);
    }
}

int tri_child_ended(const tri_child *c, tri_child_end *end)
{
    if (c->ended && end) {
        *end = c->end;
    }
    return c->ended;
}

uint64_t tri_child_rss(tri_child *c)
{
    if (!c->ended) {
        uint64_t rss = tri_child_tree_rss(c->command);

        c->end.rss = rss > c->end.rss ? rss : c->end.rss;
    }
    return c->end.rss;
}

const char *tri_child_stderr(tri_child *c, size_t *bytes)
{
    ring *r = &c->err;
    size_t old = r->is_full ? sizeof r->bytes - r->at : 0;

    memcpy(r->in_order, r->bytes + r->at, old);
    memcpy(r->in_order + old, r->bytes, r->at);
    *bytes = old + r->at;
    return r->in_order;
}

/* ---- end --------------------------------------------------------------- */

void tri_child_signal(tri_child *c, int signo)
{
    if (!c->ended) {
        tell(c->control, signo);
    }
}

void tri_child_term(tri_child *c)
{
    tri_child_signal(c, SIGTERM);
}

/* Hear it for `wait_s`, or to its end. */
static void see_it_end(tri_child *c, double wait_s)
{
    double limit = tri_now() + wait_s;
    double left = wait_s;

    while (!c->ended && left > 0) {
        tri_child_hear(c, left, NULL, NULL);
        left = limit - tri_now();
    }
}

void tri_child_destroy(tri_child *c, double grace_s)
{
    if (!c) {
        return;
    }
    if (!c->ended && grace_s > 0) {
        tri_child_term(c);
        see_it_end(c, grace_s);
    }
    if (!c->ended) {
        tri_child_signal(c, SIGKILL);
        kill(c->guard, SIGCONT);
        see_it_end(c, STUCK_S);
    }
    if (!c->ended) { /* the second line: what it guards is handed to us */
        kill(c->guard, SIGKILL);
        see_it_end(c, 1);
        note(c->guard, 0, -1);
    }
    for (int i = 0; i < N_STREAMS; i++) {
        if (c->fds[i] >= 0) {
            close(c->fds[i]);
        }
    }
    close(c->control);
    tri_child_log_close(c->log);
    free(c);
}

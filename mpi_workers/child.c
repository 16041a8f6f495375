/*
 * A child process and its two pipes.  Knows nothing of trials.
 */
#include "mpi_workers/child.h"

#include "mpi_workers/orphans.h"
#include "mpi_workers/pause.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* A rank has one child, and another while the first is being replaced. */
#define MOST_CHILDREN 4
/* Heard of a pipe after the end: who left the group may write for ever. */
#define LAST_BYTES (64u << 20)
/* What is read at a time while it lives. */
#define MOST_BYTES (32u << 10)
/* A killed process that does not go is stuck in the system. */
#define STUCK_S 5.0

struct tri_child {
    pid_t pid;
    int out, err; /* -1 once at their end */
    int ended;
    int status;
    uint64_t rss;
    size_t err_at; /* where the ring goes on */
    int err_full;
    char ring[TRI_STDERR_BYTES];
    char tail[TRI_STDERR_BYTES]; /* the ring in order */
};

static volatile sig_atomic_t groups[MOST_CHILDREN];

static void note(pid_t from, pid_t to)
{
    for (int i = 0; i < MOST_CHILDREN; i++) {
        if (groups[i] == from) {
            groups[i] = (sig_atomic_t)to;
            return;
        }
    }
}

static int is_any(void)
{
    for (int i = 0; i < MOST_CHILDREN; i++) {
        if (groups[i] > 0) {
            return 1;
        }
    }
    return 0;
}

void tri_child_kill_all(void)
{
    if (!is_any()) {
        return;
    }
    for (int i = 0; i < MOST_CHILDREN; i++) {
        if (groups[i] > 0) {
            kill(-(pid_t)groups[i], SIGKILL);
        }
    }
    tri_orphans_kill(groups, MOST_CHILDREN);
}

/* ---- start ------------------------------------------------------------- */

static void close_pair(int pair[2])
{
    close(pair[0]);
    close(pair[1]);
}

static tri_status open_pipes(int out[2], int err[2])
{
    if (pipe2(out, O_CLOEXEC) != 0) {
        return TRI_FAIL(TRI_EIO, "no pipe for a process: %s", strerror(errno));
    }
    if (pipe2(err, O_CLOEXEC) != 0) {
        close_pair(out);
        return TRI_FAIL(TRI_EIO, "no pipe for a process: %s", strerror(errno));
    }
    fcntl(out[0], F_SETFL, O_NONBLOCK);
    fcntl(err[0], F_SETFL, O_NONBLOCK);
    return TRI_OK;
}

/* A group of its own, no blocked or ignored signals, and of descriptors only
 * the three: MPI's are not all close-on-exec. */
static int spawn(const tri_child_spec *spec, int out, int err, pid_t *pid)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    sigset_t none;
    sigset_t all;
    int rc;

    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, out, 1);
    posix_spawn_file_actions_adddup2(&files, err, 2);
    posix_spawn_file_actions_addclosefrom_np(&files, 3);
    if (spec->cwd) {
        posix_spawn_file_actions_addchdir_np(&files, spec->cwd);
    }
    posix_spawnattr_init(&attr);
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attr, &none);
    posix_spawnattr_setsigdefault(&attr, &all);
    posix_spawnattr_setpgroup(&attr, 0);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP |
                                            POSIX_SPAWN_SETSIGMASK |
                                            POSIX_SPAWN_SETSIGDEF);
    rc = posix_spawnp(pid, spec->argv[0], &files, &attr, spec->argv, spec->env);
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&files);
    return rc;
}

tri_status tri_child_spawn(const tri_child_spec *spec, tri_child **out)
{
    tri_child *c = calloc(1, sizeof *c);
    int from[2];
    int err[2];
    tri_status st;
    int rc;

    if (!c) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a process");
    }
    st = open_pipes(from, err);
    if (st != TRI_OK) {
        free(c);
        return st;
    }
    if (!is_any()) {
        tri_orphans_adopt();
    }
    rc = spawn(spec, from[1], err[1], &c->pid);
    close(from[1]);
    close(err[1]);
    if (rc != 0) {
        close(from[0]);
        close(err[0]);
        free(c);
        return TRI_FAIL(TRI_EINFEASIBLE, "'%s' cannot be run%s%s: %s",
                        spec->argv[0], spec->cwd ? " in " : "",
                        spec->cwd ? spec->cwd : "", strerror(rc));
    }
    note(0, c->pid);
    c->out = from[0];
    c->err = err[0];
    *out = c;
    return TRI_OK;
}

/* ---- hear -------------------------------------------------------------- */

static void keep_tail(tri_child *c, const char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        c->ring[c->err_at++] = bytes[i];
        if (c->err_at == sizeof c->ring) {
            c->err_at = 0;
            c->err_full = 1;
        }
    }
}

/* Read what is there, at most `most` bytes at a time so that a flood on one
 * pipe does not keep the caller; returns how much, closing at the end. */
static size_t drain(tri_child *c, int *fd, size_t most, tri_output_fn each,
                    void *ctx)
{
    char buf[16384];
    size_t total = 0;

    while (*fd >= 0 && total < most) {
        ssize_t n = read(*fd, buf, sizeof buf);

        if (n > 0) {
            total += (size_t)n;
            if (fd == &c->out) {
                each(ctx, TRI_STREAM_OUT, buf, (size_t)n);
            } else {
                keep_tail(c, buf, (size_t)n);
            }
        } else if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
            break;
        } else {
            close(*fd);
            *fd = -1;
        }
    }
    return total;
}

/* See whether it has ended, without reaping: the number of its group stays
 * taken until all of the group are killed. */
static void look(tri_child *c)
{
    siginfo_t info;

    if (c->ended) {
        return;
    }
    memset(&info, 0, sizeof info);
    if (waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
        info.si_pid == c->pid) {
        c->ended = 1;
        kill(-c->pid, SIGKILL); /* whoever it left behind */
        note(c->pid, 0);
        while (waitpid(c->pid, &c->status, 0) < 0 && errno == EINTR) {
        }
        if (!is_any()) {
            tri_orphans_kill(NULL, 0);
        }
    }
}

static void wait_for_output(const tri_child *c, double wait_s)
{
    struct pollfd fds[2] = {{c->out, POLLIN, 0}, {c->err, POLLIN, 0}};

    if (wait_s <= 0) {
        return;
    }
    if (c->out < 0 && c->err < 0) {
        tri_sleep(wait_s < 1e-3 ? wait_s : 1e-3);
    } else {
        poll(fds, 2, (int)(wait_s * 1000) + 1);
    }
}

int tri_child_hear(tri_child *c, double wait_s, tri_output_fn each, void *ctx)
{
    double end = tri_now() + wait_s;

    for (;;) {
        size_t n;

        look(c); /* first: what it wrote before its end is then there */
        n = drain(c, &c->out, c->ended ? LAST_BYTES : MOST_BYTES, each, ctx);
        n += drain(c, &c->err, c->ended ? LAST_BYTES : MOST_BYTES, each, ctx);
        if (c->ended || n > 0 || tri_now() >= end) {
            return c->ended || n > 0;
        }
        wait_for_output(c, end - tri_now());
    }
}

int tri_child_ended(const tri_child *c, tri_child_end *end)
{
    if (c->ended && end) {
        *end = (tri_child_end){.wait_status = c->status, .rss = c->rss};
    }
    return c->ended;
}

uint64_t tri_child_rss(tri_child *c)
{
    char path[64];
    char line[256];
    unsigned long kib;
    FILE *f;

    snprintf(path, sizeof path, "/proc/%d/status", (int)c->pid);
    f = c->ended ? NULL : fopen(path, "re");
    while (f && fgets(line, sizeof line, f)) {
        if (sscanf(line, "VmHWM: %lu kB", &kib) == 1 &&
            (uint64_t)kib << 10 > c->rss) {
            c->rss = (uint64_t)kib << 10;
        }
    }
    if (f) {
        fclose(f);
    }
    return c->rss;
}

const char *tri_child_stderr(tri_child *c, size_t *bytes)
{
    size_t old = c->err_full ? sizeof c->ring - c->err_at : 0;

    memcpy(c->tail, c->ring + c->err_at, old);
    memcpy(c->tail + old, c->ring, c->err_at);
    *bytes = old + c->err_at;
    return c->tail;
}

/* ---- end --------------------------------------------------------------- */

static void ignore(void *ctx, tri_stream stream, const char *bytes, size_t n)
{
    (void)ctx;
    (void)stream;
    (void)bytes;
    (void)n;
}

void tri_child_term(tri_child *c)
{
    if (!c->ended) {
        kill(-c->pid, SIGTERM);
        kill(-c->pid, SIGCONT); /* a stopped one could not act on it */
    }
}

void tri_child_destroy(tri_child *c, double grace_s)
{
    double end = tri_now() + grace_s;

    if (!c) {
        return;
    }
    tri_child_term(c);
    while (!c->ended && tri_now() < end) {
        tri_child_hear(c, 0.01, ignore, NULL);
    }
    if (!c->ended) {
        kill(-c->pid, SIGKILL);
    }
    end = tri_now() + STUCK_S;
    while (!c->ended && tri_now() < end) {
        tri_child_hear(c, 0.01, ignore, NULL);
    }
    if (c->out >= 0) {
        close(c->out);
    }
    if (c->err >= 0) {
        close(c->err);
    }
    free(c);
}

/*
 * The worker's side of the sweeper.
 */
#include "mpi_workers/sweeper.h"

#include "mpi_workers/guard.h"
#include "mpi_workers/pause.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* One that has nothing to do ends at once. */
#define END_S 2.0

struct tri_sweeper {
    pid_t pid;
    int fd;
    int n_kept; /* paths that were added and not forgotten */
    char mark[64];
};

static void tell(const tri_sweeper *s, const char *text, size_t bytes)
{
    send(s->fd, text, bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* ---- start -------------------------------------------------------------- */

/* Another's mark must not be ours, on any host that shares processes. */
static void make_mark(tri_sweeper *s)
{
    unsigned long long r[2] = {0, 0};

    if (getrandom(r, sizeof r, GRND_NONBLOCK) != (ssize_t)sizeof r) {
        r[0] = (unsigned long long)(1e9 * tri_now());
    }
    snprintf(s->mark, sizeof s->mark, TRI_SWEEPER_MARK "=%d-%016llx%016llx",
             (int)getpid(), r[0], r[1]);
}

/* In a group of its own, with no descriptor but the socket, and nothing in its
 * environment. */
static int spawn(const char *path, int fd, pid_t *pid)
{
    char *argv[] = {(char[]){"tri-sweep"}, (char[]){"--sweep"}, (char[]){"3"},
                    NULL};
    char *env[] = {NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    int rc;

    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, fd, 3);
    for (int i = 0; i < 3; i++) {
        posix_spawn_file_actions_addopen(&files, i, "/dev/null", O_RDWR, 0);
    }
    posix_spawn_file_actions_addclosefrom_np(&files, 4);
    posix_spawnattr_init(&attr);
    posix_spawnattr_setpgroup(&attr, 0);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP);
    rc = posix_spawn(pid, path, &files, &attr, argv, env);
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&files);
    return rc;
}

static tri_status start(tri_sweeper *s)
{
    char path[PATH_MAX];
    int pair[2];
    int rc;

    TRI_TRY(tri_guard_find(path, sizeof path));
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
        return TRI_FAIL(TRI_EIO, "no socket for a sweeper: %s",
                        strerror(errno));
    }
    rc = spawn(path, pair[1], &s->pid);
    close(pair[1]);
    if (rc != 0) {
        close(pair[0]);
        return TRI_FAIL(TRI_EIO, "%s cannot be run: %s", path, strerror(rc));
    }
    s->fd = pair[0];
    return TRI_OK;
}

tri_status tri_sweeper_open(tri_sweeper **out)
{
    tri_sweeper *s = calloc(1, sizeof *s);
    char text[80];
    tri_status st;

    if (!s) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a sweeper");
    }
    make_mark(s);
    st = start(s);
    if (st != TRI_OK) {
        free(s);
        return st;
    }
    snprintf(text, sizeof text, "=%s", s->mark);
    tell(s, text, strlen(text));
    *out = s;
    return TRI_OK;
}

/* ---- what it is told ----------------------------------------------------- */

const char *tri_sweeper_mark(const tri_sweeper *s)
{
    return s->mark;
}

static void tell_with(const tri_sweeper *s, char *text, size_t bytes, int fd)
{
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof fd)];
    } control;
    struct iovec part = {text, bytes};
    struct msghdr m = {.msg_iov = &part,
                       .msg_iovlen = 1,
                       .msg_control = &control,
                       .msg_controllen = sizeof control};

    memset(&control, 0, sizeof control);
    control.header = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof fd),
                                      .cmsg_level = SOL_SOCKET,
                                      .cmsg_type = SCM_RIGHTS};
    memcpy(CMSG_DATA(&control.header), &fd, sizeof fd);
    sendmsg(s->fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void tri_sweeper_add(tri_sweeper *s, const char *path, int n_above)
{
    char text[PATH_MAX + 2];
    int fd = s && path ? open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC) : -1;

    if (fd >= 0) {
        int n = snprintf(text, sizeof text, "+%c%s",
                         n_above < 127 ? n_above + 1 : 127, path);

        tell_with(s, text, (size_t)n, fd);
        close(fd);
    }
    if (s && path) {
        s->n_kept++;
    }
}

void tri_sweeper_forget(tri_sweeper *s, const char *path)
{
    char text[PATH_MAX + 2];

    if (s && path) {
        int n = snprintf(text, sizeof text, "-%s", path);

        tell(s, text, (size_t)n);
        s->n_kept--;
    }
}

void tri_sweeper_close(tri_sweeper *s)
{
    double limit = tri_now() + END_S;
    int orderly;

    if (!s) {
        return;
    }
    orderly = s->n_kept <= 0;
    if (orderly) {
        tell(s, ".", 1);
    }
    close(s->fd);
    while (orderly && waitpid(s->pid, NULL, WNOHANG) == 0 &&
           tri_now() < limit) {
        tri_sleep(1e-4);
    }
    free(s);
}

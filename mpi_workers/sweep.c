/*
 * The sweeper's own side: remembers what its worker has, and clears up when
 * that is gone.
 */
#include "mpi_workers/sweeper.h"

#include "mpi_workers/guard.h"
#include "mpi_workers/pause.h"
#include "mpi_workers/remove.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* Guards that live need so long for what they guard. */
#define GUARDS_S (TRI_GUARD_GRACE_MS / 1000.0 + 0.75)
/* A killed process that does not go is stuck in the system. */
#define STUCK_S 10.0
/* Between two looks. */
#define LOOK_S 0.05
/* Who begins another program is not seen for a moment. */
#define LOOKS 2
/* Of an environment. */
#define MOST_BYTES (1u << 20)

typedef struct left { /* a path; its folder or file is held by `fd`, so that
                       * another of the same name is not taken for it */
    int fd, n_above;  /* fd 0: no entry */
    char path[PATH_MAX];
} left;

typedef struct sweep {
    int orderly; /* the worker said that nothing is to do */
    char mark[80];
    left paths[TRI_SWEEP_PATHS];
} sweep;

/* ---- what the worker says ------------------------------------------------ */

/* Takes the descriptor. */
static void add(sweep *w, int fd, int n_above, const char *path)
{
    for (int i = 0; i < TRI_SWEEP_PATHS; i++) {
        left *l = &w->paths[i];

        if (l->fd <= 0) {
            l->fd = fd;
            l->n_above = n_above;
            snprintf(l->path, sizeof l->path, "%s", path);
            return;
        }
    }
    close(fd);
}

static void forget(sweep *w, const char *path)
{
    for (int i = 0; i < TRI_SWEEP_PATHS; i++) {
        left *l = &w->paths[i];

        if (l->fd > 0 && strcmp(l->path, path) == 0) {
            close(l->fd);
            l->fd = 0;
            return;
        }
    }
}

/* A message, and the descriptor that came with it, or 0. */
static ssize_t receive(int fd, char *text, size_t bytes, int *with)
{
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof *with)];
    } control;
    struct iovec part = {text, bytes};
    struct msghdr m = {.msg_iov = &part,
                       .msg_iovlen = 1,
                       .msg_control = &control,
                       .msg_controllen = sizeof control};
    ssize_t n = recvmsg(fd, &m, MSG_CMSG_CLOEXEC);

    *with = 0;
    if (n > 0 && CMSG_FIRSTHDR(&m) && control.header.cmsg_type == SCM_RIGHTS) {
        memcpy(with, CMSG_DATA(&control.header), sizeof *with);
    }
    return n;
}

static void listen_to(sweep *w, int fd)
{
    char text[PATH_MAX + 2];
    int with;
    ssize_t n;

    while ((n = receive(fd, text, sizeof text - 1, &with)) != 0) {
        if (n < 0 && errno != EINTR) {
            return;
        }
        text[n > 0 ? n : 0] = 0;
        if (text[0] == '=') {
            snprintf(w->mark, sizeof w->mark, "%.79s", text + 1);
        } else if (text[0] == '+' && n > 2 && with > 0) {
            add(w, with, text[1] - 1, text + 2);
        } else if (text[0] == '-') {
            forget(w, text + 1);
        } else if (text[0] == '.') {
            w->orderly = 1;
        }
    }
}

/* ---- processes ----------------------------------------------------------- */

static int has_mark(int pid, const char *mark)
{
    static char text[MOST_BYTES];
    char path[64];
    size_t n = 0;
    ssize_t more;
    int fd;

    snprintf(path, sizeof path, "/proc/%d/environ", pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return 0; /* another user's, or gone */
    }
    while (n < sizeof text &&
           (more = read(fd, text + n, sizeof text - n)) > 0) {
        n += (size_t)more;
    }
    close(fd);
    return memmem(text, n, mark, strlen(mark)) != NULL;
}

/* How many there are, killed where `kills`. */
static int look(const char *mark, int kills)
{
    DIR *dir = opendir("/proc");
    const struct dirent *e;
    int n = 0;

    while (dir && (e = readdir(dir))) {
        int pid = (int)strtol(e->d_name, NULL, 10);

        if (pid > 0 && pid != getpid() && has_mark(pid, mark)) {
            n++;
            if (kills) {
                kill(pid, SIGKILL);
            }
        }
    }
    if (dir) {
        closedir(dir);
    }
    return n;
}

static void clear_processes(const char *mark)
{
    double start = tri_now();
    int n_empty = 0;

    while (mark[0] && n_empty < LOOKS && tri_now() - start < STUCK_S) {
        int n = look(mark, tri_now() - start > GUARDS_S);

        n_empty = n == 0 ? n_empty + 1 : 0;
        tri_sleep(LOOK_S);
    }
}

/* ---- folders and files --------------------------------------------------- */

static int is_same(const left *l)
{
    struct stat then;
    struct stat now;

    return fstat(l->fd, &then) == 0 && lstat(l->path, &now) == 0 &&
           then.st_dev == now.st_dev && then.st_ino == now.st_ino;
}

static void clear_paths(sweep *w)
{
    double end = tri_now() + TRI_SWEEP_S - STUCK_S;

    for (int i = 0; i < TRI_SWEEP_PATHS; i++) {
        left *l = &w->paths[i];

        if (l->fd > 0 && is_same(l) &&
            tri_remove_path(l->path, end - tri_now()) == 0) {
            tri_remove_parents(l->path, l->n_above);
        }
    }
}

/* ---- all ----------------------------------------------------------------- */

static void ignore_signals(void)
{
    sigset_t all;

    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
}

int tri_sweep(int fd)
{
    static sweep w;

    prctl(PR_SET_NAME, "tri-sweep", 0, 0, 0);
    ignore_signals();
    if (chdir("/") != 0) {
        return 1;
    }
    listen_to(&w, fd);
    if (!w.orderly) {
        clear_processes(w.mark);
        clear_paths(&w);
    }
    return 0;
}

/*
 * Finds, kills and reaps adopted descendants.
 */
#include "mpi_workers/orphans.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

/* Looked at in one round; the next one sees more. */
#define MOST_CHILDREN 256
/* A round a millisecond. */
#define ROUNDS 1000

static char list_path[64];
static pid_t strangers[MOST_CHILDREN];
static int n_strangers;

/* The numbers in text[0, n): a list cut short loses its last one. */
static int read_numbers(const char *text, size_t n, int whole, pid_t *out)
{
    pid_t pid = 0;
    int found = 0;

    for (size_t i = 0; i < n && found < MOST_CHILDREN; i++) {
        if (text[i] >= '0' && text[i] <= '9') {
            pid = 10 * pid + (text[i] - '0');
        } else if (pid > 0) {
            out[found++] = pid;
            pid = 0;
        }
    }
    if (pid > 0 && whole && found < MOST_CHILDREN) {
        out[found++] = pid;
    }
    return found;
}

/* Children of the main thread: orphans are handed to it, too. */
static int list_children(pid_t *out)
{
    char text[4096];
    size_t n = 0;
    ssize_t more;
    int fd = open(list_path, O_RDONLY | O_CLOEXEC);

    if (fd < 0) {
        return 0;
    }
    while (n < sizeof text &&
           (more = read(fd, text + n, sizeof text - n)) > 0) {
        n += (size_t)more;
    }
    close(fd);
    return read_numbers(text, n, n < sizeof text, out);
}

void tri_orphans_adopt(void)
{
    snprintf(list_path, sizeof list_path, "/proc/self/task/%ld/children",
             (long)getpid());
    n_strangers = list_children(strangers);
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

static int is_stranger(pid_t pid)
{
    for (int i = 0; i < n_strangers; i++) {
        if (strangers[i] == pid) {
            return 1;
        }
    }
    return 0;
}

static int is_spared(const volatile sig_atomic_t *spared, int n, pid_t pid)
{
    for (int i = 0; i < n; i++) {
        if ((pid_t)spared[i] == pid) {
            return 1;
        }
    }
    return 0;
}

static int has_ended(pid_t pid)
{
    siginfo_t info;

    memset(&info, 0, sizeof info);
    return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
           info.si_pid == pid;
}

/* One round; returns how many there were that may have left children to us
 * since. */
static int sweep(const volatile sig_atomic_t *spared, int n)
{
    pid_t pids[MOST_CHILDREN];
    int left = 0;
    int found;

    for (int i = 0; i < n; i++) {
        left += spared[i] > 0 && !has_ended((pid_t)spared[i]);
    }
    found = list_children(pids);
    for (int i = 0; i < found; i++) {
        if (!is_stranger(pids[i]) && !is_spared(spared, n, pids[i])) {
            kill(pids[i], SIGKILL);
            waitpid(pids[i], NULL, WNOHANG);
            left++;
        }
    }
    return left;
}

void tri_orphans_kill(const volatile sig_atomic_t *spared, int n)
{
    for (int i = 0; i < ROUNDS && sweep(spared, n) > 0; i++) {
        poll(NULL, 0, 1);
    }
}

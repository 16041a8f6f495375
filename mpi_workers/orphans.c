/*
 * Finds, kills and reaps adopted descendants.
 */
#include "mpi_workers/orphans.h"

#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Looked at in one round; the next one sees more. */
#define MOST_CHILDREN 256
/* A round a millisecond. */
#define ROUNDS 1000

static pid_t strangers[MOST_CHILDREN];
static int n_strangers;

/* ---- who there is ------------------------------------------------------- */

/* Read a small file; how many bytes, -1 where it cannot be opened. */
static int read_file(const char *path, char *text, int size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    int n = 0;
    ssize_t more;

    if (fd < 0) {
        return -1;
    }
    while (n < size && (more = read(fd, text + n, (size_t)(size - n))) > 0) {
        n += (int)more;
    }
    close(fd);
    return n;
}

/* The number at the start of text[0, n); -1: there is none. */
static pid_t number_at(const char *text, int n)
{
    pid_t pid = -1;

    for (int i = 0; i < n && text[i] >= '0' && text[i] <= '9'; i++) {
        pid = 10 * (pid < 0 ? 0 : pid) + (text[i] - '0');
    }
    return pid;
}

/* "before", a number in decimal and "after" into path: snprintf is not for
 * signal handlers. */
static void name_path(char *path, const char *before, pid_t pid,
                      const char *after)
{
    char digits[16];
    int n = 0;

    while (*before) {
        *path++ = *before++;
    }
    do {
        digits[n++] = (char)('0' + pid % 10);
        pid /= 10;
    } while (pid > 0);
    while (n > 0) {
        *path++ = digits[--n];
    }
    while ((*path++ = *after++)) {
    }
}

/* The numbers in a list that may be cut short, and then lacks its last one. */
static int read_numbers(const char *text, int n, int whole, pid_t *out,
                        int most)
{
    int found = 0;
    int from = 0;

    for (int i = 0; i < n && found < most; i++) {
        if (text[i] == ' ' || (whole && i == n - 1)) {
            pid_t pid = number_at(text + from, n - from);

            from = i + 1;
            if (pid > 0) {
                out[found++] = pid;
            }
        }
    }
    return found;
}

int tri_orphans_children(pid_t *out, int most)
{
    char path[64];
    char text[4096];
    int n;

    name_path(path, "/proc/self/task/", getpid(), "/children");
    n = read_file(path, text, sizeof text);
    if (n < 0) {
        return tri_orphans_scan(getpid(), out, most);
    }
    return read_numbers(text, n, n < (int)sizeof text, out, most);
}

static pid_t parent_of(pid_t pid)
{
    char path[64];
    char text[512];
    const char *close_bracket;
    int n;

    name_path(path, "/proc/", pid, "/stat");
    n = read_file(path, text, sizeof text);
    close_bracket = n > 0 ? memrchr(text, ')', (size_t)n) : NULL;
    if (!close_bracket || close_bracket + 4 >= text + n) {
        return -1;
    }
    return number_at(close_bracket + 4, (int)(text + n - close_bracket) - 4);
}

struct entry { /* of getdents64; readdir is not for signal handlers */
    uint64_t inode;
    int64_t offset;
    unsigned short length;
    unsigned char type;
    char name[];
};

int tri_orphans_scan(pid_t parent, pid_t *out, int most)
{
    _Alignas(struct entry) char entries[4096];
    int fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int found = 0;
    long n;

    while (fd >= 0 &&
           (n = syscall(SYS_getdents64, fd, entries, sizeof entries)) > 0) {
        for (long at = 0; at < n && found < most;) {
            const struct entry *e = (const void *)(entries + at);
            pid_t pid = number_at(e->name, 10);

            if (pid > 0 && parent_of(pid) == parent) {
                out[found++] = pid;
            }
            at += e->length;
        }
    }
    if (fd >= 0) {
        close(fd);
    }
    return found;
}

/* ---- adoption and end --------------------------------------------------- */

void tri_orphans_adopt(void)
{
    n_strangers = tri_orphans_children(strangers, MOST_CHILDREN);
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

static int is_let_alone(pid_t pid, const volatile sig_atomic_t *spared, int n)
{
    for (int i = 0; i < n_strangers; i++) {
        if (strangers[i] == pid) {
            return 1;
        }
    }
    for (int i = 0; i < n; i++) {
        if ((pid_t)spared[i] == pid) {
            return 1;
        }
    }
    return 0;
}

/* One round; returns how many there were that may have left children to us
 * since. */
static int sweep(const volatile sig_atomic_t *spared, int n)
{
    pid_t pids[MOST_CHILDREN];
    int found = tri_orphans_children(pids, MOST_CHILDREN);
    int left = 0;

    for (int i = 0; i < found; i++) {
        if (!is_let_alone(pids[i], spared, n)) {
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

/*
 * Removes trees by descriptors, within a time.
 */
#include "mpi_workers/remove.h"

#include "mpi_workers/pause.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A tree deeper than this is left. */
#define MOST_DEPTH 200

typedef struct removal {
    double end_s;
    dev_t device;
    int error; /* the first one */
} removal;

static void note_error(removal *r, int error)
{
    if (r->error == 0) {
        r->error = error;
    }
}

static void remove_within(removal *r, int fd, int depth);

static void remove_entry(removal *r, int at, const char *name, int depth)
{
    struct stat info;
    int fd;

    if (unlinkat(at, name, 0) == 0 || errno == ENOENT) {
        return;
    }
    if (errno != EISDIR && errno != EPERM) {
        note_error(r, errno);
        return;
    }
    fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && errno == EACCES && fchmodat(at, name, 0700, 0) == 0) {
        fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    }
    if (fd < 0) {
        note_error(r, errno);
        return;
    }
    if (fstat(fd, &info) != 0 || info.st_dev != r->device ||
        depth > MOST_DEPTH) {
        note_error(r, depth > MOST_DEPTH ? ELOOP : EXDEV);
        close(fd);
        return;
    }
    if ((info.st_mode & 0300) != 0300) {
        fchmod(fd, 0700); /* its entries could not be removed */
    }
    remove_within(r, fd, depth);
    if (unlinkat(at, name, AT_REMOVEDIR) != 0) {
        note_error(r, errno);
    }
}

/* Remove what is in the folder `fd`, taken. */
static void remove_within(removal *r, int fd, int depth)
{
    DIR *dir = fdopendir(fd);
    struct dirent *e;

    if (!dir) {
        note_error(r, errno);
        close(fd);
        return;
    }
    while (r->error != ETIME && (e = readdir(dir))) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) {
            continue;
        }
        if (tri_now() > r->end_s) {
            r->error = ETIME;
        } else {
            remove_entry(r, dirfd(dir), e->d_name, depth + 1);
        }
    }
    closedir(dir);
}

int tri_remove_path(const char *path, double limit_s)
{
    removal r = {.end_s = tri_now() + limit_s};
    struct stat info;

    if (lstat(path, &info) != 0) {
        return errno == ENOENT ? 0 : errno;
    }
    r.device = info.st_dev;
    remove_entry(&r, AT_FDCWD, path, 0);
    return r.error;
}

void tri_remove_parents(const char *path, int n)
{
    char above[PATH_MAX];

    snprintf(above, sizeof above, "%s", path);
    for (; n > 0; n--) {
        char *slash = strrchr(above, '/');

        if (!slash || slash == above) {
            return;
        }
        *slash = 0;
        if (rmdir(above) != 0 && errno != ENOENT) {
            return; /* another may have removed it */
        }
    }
}

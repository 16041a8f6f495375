/*
 * Names, listing and fencing.  Knows nothing of what is in the files.
 */
#include "src/store/files.h"

#include "src/store/sys.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Room for what is put behind the path. */
#define SUFFIX_BYTES 64

static const struct {
    const char *before, *after;
} forms[] = {
        [TRI_FILE_JOURNAL] = {".journal.", ""},
        [TRI_FILE_TABLES] = {".", ".tmp"},
        [TRI_FILE_EXIT_TEMP] = {".exit.", ".tmp"},
        [TRI_FILE_DAMAGED] = {".damaged.", ""},
        [TRI_FILE_SUMMARY] = {".status.", ""},
};

tri_status tri_files_init(tri_files *files, const char *path)
{
    size_t n = strlen(path);
    const char *slash;

    if (n == 0 || n > sizeof files->path - SUFFIX_BYTES) {
        return TRI_FAIL(TRI_EINVAL, "a study file's name of %zu bytes", n);
    }
    if (path[n - 1] == '/') {
        return TRI_FAIL(TRI_EINVAL, "%s names a folder", path);
    }
    memcpy(files->path, path, n + 1);
    slash = strrchr(files->path, '/');
    files->base = slash ? slash + 1 : files->path;
    if (!slash) {
        strcpy(files->dir, ".");
    } else if (slash == files->path) {
        strcpy(files->dir, "/");
    } else {
        n = (size_t)(slash - files->path);
        memcpy(files->dir, files->path, n);
        files->dir[n] = '\0';
    }
    return TRI_OK;
}

void tri_files_name(const tri_files *files, tri_file_kind kind, int epoch,
                    char out[TRI_PATH_BYTES])
{
    int n = snprintf(out, TRI_PATH_BYTES, "%s", files->path);

    snprintf(out + n, TRI_PATH_BYTES - (size_t)n, "%s%d%s", forms[kind].before,
             epoch, forms[kind].after);
}

void tri_files_exit(const tri_files *files, char out[TRI_PATH_BYTES])
{
    int n = snprintf(out, TRI_PATH_BYTES, "%s", files->path);

    snprintf(out + n, TRI_PATH_BYTES - (size_t)n, ".exit");
}

/* The epoch in a file's name, 0 if it is not of this kind. */
static int epoch_of(const tri_files *files, tri_file_kind kind,
                    const char *name)
{
    size_t base = strlen(files->base);
    size_t before = strlen(forms[kind].before);
    char *end;
    long epoch;

    if (strncmp(name, files->base, base) != 0 ||
        strncmp(name + base, forms[kind].before, before) != 0) {
        return 0;
    }
    name += base + before;
    if (*name < '1' || *name > '9') {
        return 0;
    }
    errno = 0;
    epoch = strtol(name, &end, 10);
    if (errno || epoch >= INT_MAX || strcmp(end, forms[kind].after) != 0) {
        return 0;
    }
    return (int)epoch;
}

static int by_number(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;

    return (x > y) - (x < y);
}

static tri_status push_epoch(int **epochs, int *n, int epoch)
{
    int *grown = realloc(*epochs, (size_t)(*n + 1) * sizeof *grown);

    if (!grown) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a list of files");
    }
    grown[(*n)++] = epoch;
    *epochs = grown;
    return TRI_OK;
}

static tri_status collect(const tri_files *files, tri_file_kind kind, DIR *dir,
                          int **epochs, int *n)
{
    struct dirent *entry;

    while ((errno = 0, entry = readdir(dir))) {
        int epoch = epoch_of(files, kind, entry->d_name);

        if (epoch > 0) {
            TRI_TRY(push_epoch(epochs, n, epoch));
        }
    }
    if (errno) {
        return tri_sys_fail(TRI_EIO, "list", files->dir);
    }
    return TRI_OK;
}

tri_status tri_files_list(const tri_files *files, tri_file_kind kind,
                          int **epochs, int *n)
{
    DIR *dir = opendir(files->dir);
    int *list = NULL;
    int count = 0;
    tri_status st;

    if (!dir) {
        return tri_sys_fail(errno == ENOENT ? TRI_ENOTFOUND : TRI_EIO, "list",
                            files->dir);
    }
    st = collect(files, kind, dir, &list, &count);
    closedir(dir);
    if (st != TRI_OK) {
        free(list);
        return st;
    }
    if (count > 0) {
        qsort(list, (size_t)count, sizeof *list, by_number);
    }
    *epochs = list;
    *n = count;
    return TRI_OK;
}

static tri_status fenced(int epoch)
{
    return TRI_FAIL(TRI_EFENCED,
                    "another opening holds the study: this one, epoch %d, is "
                    "overtaken",
                    epoch);
}

/* A later opening has folded it in; unless the folder is gone, of which nobody
 * else is to blame. */
static tri_status own_is_gone(const tri_files *files, int epoch)
{
    struct stat info;

    if (stat(files->dir, &info) != 0) {
        return tri_sys_fail(TRI_EIO, "find the folder", files->dir);
    }
    return fenced(epoch);
}

tri_status tri_files_fence(const tri_files *files, int epoch, int fd)
{
    char own[TRI_PATH_BYTES];
    struct stat by_name, by_fd;
    int *epochs = NULL;
    int n = 0;
    int last;

    tri_files_name(files, TRI_FILE_JOURNAL, epoch, own);
    if (fstat(fd, &by_fd) != 0) {
        return tri_sys_fail(TRI_EIO, "look at", own);
    }
    if (stat(own, &by_name) != 0) {
        return own_is_gone(files, epoch);
    }
    if (by_name.st_ino != by_fd.st_ino || by_name.st_dev != by_fd.st_dev) {
        return fenced(epoch);
    }
    TRI_TRY(tri_files_list(files, TRI_FILE_JOURNAL, &epochs, &n));
    last = n > 0 ? epochs[n - 1] : 0;
    free(epochs);
    return last > epoch ? fenced(epoch) : TRI_OK;
}

tri_status tri_files_remove(const tri_files *files, int epoch, int fd,
                            const char *path)
{
    TRI_TRY(tri_files_fence(files, epoch, fd));
    if (tri_sys_now->unlink(path) != 0 && errno != ENOENT) {
        return tri_sys_fail(TRI_EIO, "remove", path);
    }
    return TRI_OK;
}

void tri_files_hold(int fd)
{
    flock(fd, LOCK_EX | LOCK_NB);
}

static int is_locked(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    int locked;

    if (fd < 0) {
        return 0;
    }
    locked = flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    close(fd);
    return locked;
}

tri_status tri_files_held(const tri_files *files, int *held)
{
    char path[TRI_PATH_BYTES];
    int *epochs = NULL;
    int n = 0;

    *held = 0;
    TRI_TRY(tri_files_list(files, TRI_FILE_JOURNAL, &epochs, &n));
    while (n-- > 0 && !*held) {
        tri_files_name(files, TRI_FILE_JOURNAL, epochs[n], path);
        *held = is_locked(path);
    }
    free(epochs);
    return TRI_OK;
}

tri_status tri_files_rename(const tri_files *files, int epoch, int fd,
                            const char *from, const char *to)
{
    TRI_TRY(tri_files_fence(files, epoch, fd));
    if (tri_sys_now->rename(from, to) != 0) {
        return tri_sys_fail(TRI_EIO, "rename", from);
    }
    return TRI_OK;
}

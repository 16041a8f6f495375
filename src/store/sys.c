/*
 * System calls with their errors as statuses.  Knows nothing of studies.
 */
#include "src/store/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int real_create(const char *path, int exclusive)
{
    int how = exclusive ? O_EXCL : O_TRUNC;

    return open(path, O_RDWR | O_CREAT | O_CLOEXEC | how, 0666);
}

const tri_sys tri_sys_real = {real_create, pwrite, fsync,
                              ftruncate,   rename, unlink};
const tri_sys *tri_sys_now = &tri_sys_real;

tri_status tri_sys_fail(tri_status other, const char *what, const char *path)
{
    int e = errno;
    tri_status st = e == ENOSPC || e == EDQUOT ? TRI_ENOSPACE : other;

    return TRI_FAIL(st, "cannot %s %s: %s", what, path, strerror(e));
}

tri_status tri_sys_write_all(int fd, const void *data, size_t bytes,
                             uint64_t at, const char *path)
{
    const char *from = data;

    while (bytes > 0) {
        ssize_t n = tri_sys_now->pwrite(fd, from, bytes, (off_t)at);

        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return tri_sys_fail(TRI_EIO, "write", path);
        }
        from += n;
        at += (uint64_t)n;
        bytes -= (size_t)n;
    }
    return TRI_OK;
}

tri_status tri_sys_sync(int fd, const char *path)
{
    if (tri_sys_now->fsync(fd) != 0) {
        return tri_sys_fail(TRI_EIO, "sync", path);
    }
    return TRI_OK;
}

static tri_status sync_opened(const char *path, int flags, int is_dir)
{
    int fd = open(path, flags | O_CLOEXEC);
    int failed, saved;

    if (fd < 0) {
        return tri_sys_fail(TRI_EIO, "open", path);
    }
    failed = tri_sys_now->fsync(fd) != 0;
    saved = errno;
    close(fd);
    errno = saved;
    /* some file systems cannot sync a folder, and need not */
    if (failed && !(is_dir && (saved == EINVAL || saved == EROFS))) {
        return tri_sys_fail(TRI_EIO, "sync", path);
    }
    return TRI_OK;
}

tri_status tri_sys_sync_dir(const char *dir)
{
    return sync_opened(dir, O_RDONLY | O_DIRECTORY, 1);
}

tri_status tri_sys_sync_path(const char *path)
{
    return sync_opened(path, O_RDONLY, 0);
}

static tri_status read_all(int fd, const char *path, unsigned char *data,
                           size_t size, size_t *bytes)
{
    size_t done = 0;

    while (done < size) {
        ssize_t n = read(fd, data + done, size - done);

        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return tri_sys_fail(TRI_EIO, "read", path);
        }
        if (n == 0) {
            break;
        }
        done += (size_t)n;
    }
    *bytes = done;
    return TRI_OK;
}

static tri_status read_opened(int fd, const char *path, unsigned char **data,
                              size_t *bytes)
{
    struct stat info;
    unsigned char *buf;
    tri_status st;

    if (fstat(fd, &info) != 0) {
        return tri_sys_fail(TRI_EIO, "look at", path);
    }
    if (!S_ISREG(info.st_mode)) {
        return TRI_FAIL(TRI_EIO, "%s is not a file", path);
    }
    buf = malloc((size_t)info.st_size + 1);
    if (!buf) {
        return TRI_FAIL(TRI_ENOMEM, "no memory to read %s", path);
    }
    st = read_all(fd, path, buf, (size_t)info.st_size, bytes);
    if (st != TRI_OK) {
        free(buf);
        return st;
    }
    *data = buf;
    return TRI_OK;
}

tri_status tri_sys_read(const char *path, unsigned char **data, size_t *bytes)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    tri_status st;

    if (fd < 0) {
        return tri_sys_fail(errno == ENOENT ? TRI_ENOTFOUND : TRI_EIO, "open",
                            path);
    }
    st = read_opened(fd, path, data, bytes);
    close(fd);
    return st;
}

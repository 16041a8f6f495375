/*
 * Copies output to a file of bounded size.
 */
#include "mpi_workers/child_log.h"

#include "trireme/log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct tri_child_log {
    int fd;         /* -1: given up */
    uint64_t room;  /* left for the beginning */
    uint64_t after; /* bytes that came once it was full */
    size_t end_bytes, end_at;
    char *end; /* ring; NULL: no limit */
};

/* Since the last log that was written whole, one was not: a folder or a disk
 * that has no room is the same for all runs. */
static int was_warned;

static void warn(const char *what, const char *path, int error)
{
    if (!was_warned) {
        TRI_LOG(TRI_LOG_WARN, "%s%s: %s; not said of others until one works",
                what, path, strerror(error));
    }
    was_warned = 1;
}

tri_child_log *tri_child_log_open(const char *path, uint64_t max)
{
    tri_child_log *log = calloc(1, sizeof *log);
    uint64_t end = max / 2 < TRI_LOG_END_BYTES ? max / 2 : TRI_LOG_END_BYTES;

    if (log) {
        log->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
        log->room = max ? max - end : UINT64_MAX;
        log->end_bytes = (size_t)end;
        log->end = max ? malloc(log->end_bytes + 1) : NULL;
    }
    if (!log || log->fd < 0 || (max && !log->end)) {
        warn("output is not copied to ", path, errno);
        tri_child_log_close(log);
        return NULL;
    }
    return log;
}

static void put(tri_child_log *log, const char *bytes, size_t n)
{
    while (n > 0 && log->fd >= 0) {
        ssize_t done = write(log->fd, bytes, n);

        if (done > 0) {
            bytes += done;
            n -= (size_t)done;
        } else if (done == 0 || errno != EINTR) {
            warn("the log of a process ends early", "", errno);
            close(log->fd);
            log->fd = -1;
        }
    }
}

/* Only the last of it can matter. */
static void keep_end(tri_child_log *log, const char *bytes, size_t n)
{
    log->after += n;
    if (n > log->end_bytes) {
        bytes += n - log->end_bytes;
        n = log->end_bytes;
    }
    while (n > 0) {
        size_t part = log->end_bytes - log->end_at;

        part = n < part ? n : part;
        memcpy(log->end + log->end_at, bytes, part);
        log->end_at = (log->end_at + part) % log->end_bytes;
        bytes += part;
        n -= part;
    }
}

void tri_child_log_write(tri_child_log *log, const char *bytes, size_t n)
{
    size_t first;

    if (!log || log->fd < 0) {
        return;
    }
    first = n < log->room ? n : (size_t)log->room;
    put(log, bytes, first);
    if (log->end) {
        log->room -= first;
        keep_end(log, bytes + first, n - first);
    }
}

static void put_end(tri_child_log *log)
{
    uint64_t left_out;
    char line[80];

    if (log->after <= log->end_bytes) {
        put(log, log->end, (size_t)log->after);
        return;
    }
    left_out = log->after - log->end_bytes;
    snprintf(line, sizeof line, "\n[trireme: %" PRIu64 " bytes left out]\n",
             left_out);
    put(log, line, strlen(line));
    put(log, log->end + log->end_at, log->end_bytes - log->end_at);
    put(log, log->end, log->end_at);
}

void tri_child_log_close(tri_child_log *log)
{
    if (!log) {
        return;
    }
    if (log->fd >= 0 && log->end) {
        put_end(log);
    }
    if (log->fd >= 0) {
        was_warned = 0;
        close(log->fd);
    }
    free(log->end);
    free(log);
}

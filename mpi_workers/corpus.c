/*
 * Reading a text file.
 */
#include "mpi_workers/corpus.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LICENSES "/usr/share/common-licenses/"

static const char *const builtin[] = {
        LICENSES "GPL-3",    LICENSES "GPL-2",   LICENSES "GFDL-1.3",
        LICENSES "LGPL-2.1", LICENSES "MPL-2.0", LICENSES "Apache-2.0",
        LICENSES "GFDL-1.2"};

#define N_BUILTIN ((int)(sizeof builtin / sizeof builtin[0]))

static const char *first_builtin(void)
{
    int i;

    for (i = 0; i < N_BUILTIN; i++) {
        if (access(builtin[i], R_OK) == 0) {
            return builtin[i];
        }
    }
    return builtin[0];
}

/* How many bytes it has, within the limits. */
static tri_status measure(int fd, const char *path, int64_t least, int64_t *out)
{
    struct stat st;

    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        return TRI_FAIL(TRI_EDATA, "%s is not a regular file", path);
    }
    if (st.st_size <= least) {
        return TRI_FAIL(TRI_EDATA,
                        "%s has %lld bytes, fewer than one sequence and the "
                        "byte after it (%lld)",
                        path, (long long)st.st_size, (long long)least + 1);
    }
    if (st.st_size > TRI_CORPUS_MOST_BYTES) {
        return TRI_FAIL(TRI_EDATA,
                        "%s has %lld bytes; each rank holds the text, and "
                        "more than %lld are not taken",
                        path, (long long)st.st_size,
                        (long long)TRI_CORPUS_MOST_BYTES);
    }
    *out = st.st_size;
    return TRI_OK;
}

static tri_status fill(int fd, const char *path, unsigned char *bytes,
                       int64_t n)
{
    int64_t at = 0;

    while (at < n) {
        ssize_t got = read(fd, bytes + at, (size_t)(n - at));

        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return TRI_FAIL(TRI_EDATA, "%s cannot be read: %s", path,
                            strerror(errno));
        }
        if (got == 0) {
            return TRI_FAIL(TRI_EDATA, "%s became shorter while it was read",
                            path);
        }
        at += got;
    }
    return TRI_OK;
}

static tri_status read_all(int fd, const char *path, int64_t least,
                           tri_corpus *out)
{
    unsigned char *bytes;
    int64_t n = 0;
    tri_status st;

    TRI_TRY(measure(fd, path, least, &n));
    bytes = malloc((size_t)n + 1); /* an empty one is not NULL */
    if (!bytes) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for the %lld bytes of %s",
                        (long long)n, path);
    }
    st = fill(fd, path, bytes, n);
    if (st != TRI_OK) {
        free(bytes);
        return st;
    }
    *out = (tri_corpus){.bytes = bytes, .n = n};
    return TRI_OK;
}

tri_status tri_corpus_open(const char *path, int64_t least, tri_corpus *out)
{
    const char *name = path ? path : first_builtin();
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    tri_status st;

    if (fd < 0) {
        return TRI_FAIL(TRI_EDATA, "%s cannot be opened: %s", name,
                        strerror(errno));
    }
    st = read_all(fd, name, least, out);
    close(fd);
    return st;
}

void tri_corpus_close(tri_corpus *corpus)
{
    free((void *)(uintptr_t)corpus->bytes);
    *corpus = (tri_corpus){0};
}

/*
 * Mapping a text file.
 */
#include "mpi_workers/corpus.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
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

static tri_status map(int fd, const char *path, int64_t least, tri_corpus *out)
{
    struct stat st;
    void *p;

    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        return TRI_FAIL(TRI_EDATA, "%s is not a regular file", path);
    }
    if (st.st_size <= least) {
        return TRI_FAIL(TRI_EDATA,
                        "%s has %lld bytes, fewer than one sequence and the "
                        "byte after it (%lld)",
                        path, (long long)st.st_size, (long long)least + 1);
    }
    p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (p == MAP_FAILED) {
        return TRI_FAIL(TRI_EDATA, "%s cannot be read: %s", path,
                        strerror(errno));
    }
    *out = (tri_corpus){.bytes = p, .n = st.st_size};
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
    st = map(fd, name, least, out);
    close(fd);
    return st;
}

void tri_corpus_close(tri_corpus *corpus)
{
    if (corpus->bytes) {
        munmap((void *)(uintptr_t)corpus->bytes, (size_t)corpus->n);
    }
    *corpus = (tri_corpus){0};
}

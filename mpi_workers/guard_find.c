/*
 * Finds the guard's program, and others that are installed with it.
 */
#include "mpi_workers/guard.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Folder of the running program, "." where the system does not say. */
static void own_folder(char *folder, size_t bytes)
{
    ssize_t n = readlink("/proc/self/exe", folder, bytes - 1);
    char *slash;

    folder[n > 0 ? n : 0] = 0;
    slash = strrchr(folder, '/');
    if (slash) {
        *slash = 0;
    } else {
        snprintf(folder, bytes, ".");
    }
}

tri_status tri_guard_find_program(const char *name, char *path, size_t bytes)
{
    char folder[PATH_MAX];

    own_folder(folder, sizeof folder);
    snprintf(path, bytes, "%s/%s", folder, name);
    if (access(path, X_OK) == 0) {
        return TRI_OK;
    }
    snprintf(path, bytes, "%s/" TRI_GUARD_LIBEXEC "/%s", folder, name);
    if (access(path, X_OK) == 0) {
        return TRI_OK;
    }
    snprintf(path, bytes, TRI_GUARD_BUILT "/%s", name);
    if (access(path, X_OK) == 0) {
        return TRI_OK;
    }
    return TRI_FAIL(TRI_EIO,
                    "the program %s is neither in %s nor in "
                    "%s/" TRI_GUARD_LIBEXEC,
                    name, folder, folder);
}

tri_status tri_guard_find(char *path, size_t bytes)
{
    const char *named = getenv("TRIREME_GUARD");

    if (named && *named) {
        snprintf(path, bytes, "%s", named);
        if (access(path, X_OK) == 0) {
            return TRI_OK;
        }
        return TRI_FAIL(TRI_EIO, "TRIREME_GUARD names '%s': %s", named,
                        strerror(errno));
    }
    if (tri_guard_find_program(TRI_GUARD_NAME, path, bytes) == TRI_OK) {
        return TRI_OK;
    }
    return TRI_FAIL(TRI_EIO, "%.300s; set TRIREME_GUARD to its path",
                    tri_error_last()->sentence);
}

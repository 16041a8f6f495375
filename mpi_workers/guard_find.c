/*
 * Finds the guard's program.
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

tri_status tri_guard_find(char *path, size_t bytes)
{
    const char *named = getenv("TRIREME_GUARD");
    char folder[PATH_MAX];

    if (named && *named) {
        snprintf(path, bytes, "%s", named);
        if (access(path, X_OK) == 0) {
            return TRI_OK;
        }
        return TRI_FAIL(TRI_EIO, "TRIREME_GUARD names '%s': %s", named,
                        strerror(errno));
    }
    own_folder(folder, sizeof folder);
    snprintf(path, bytes, "%s/" TRI_GUARD_NAME, folder);
    if (access(path, X_OK) == 0) {
        return TRI_OK;
    }
    snprintf(path, bytes, "%s/" TRI_GUARD_LIBEXEC "/" TRI_GUARD_NAME, folder);
    if (access(path, X_OK) == 0) {
        return TRI_OK;
    }
    snprintf(path, bytes, "%s", TRI_GUARD_BUILT);
    if (access(path, X_OK) == 0) {
        return TRI_OK;
    }
    return TRI_FAIL(TRI_EIO,
                    "the program " TRI_GUARD_NAME " is neither in %s nor in "
                    "%s/" TRI_GUARD_LIBEXEC "; set TRIREME_GUARD to its path",
                    folder, folder);
}

/*
 * trireme guard: becomes the small program that runs a command so that nothing
 * of it is left behind.
 */
#include "src/app/app.h"

#include "mpi_workers/guard.h"

#include <stdio.h>
#include <string.h>

#ifdef TRI_HAVE_MPI

#include <errno.h>
#include <limits.h>
#include <unistd.h>

int tri_app_guard(int argc, char **argv)
{
    char path[PATH_MAX];

    (void)argc;
    if (tri_guard_find(path, sizeof path) == TRI_OK) {
        execv(path, argv);
        TRI_FAIL(TRI_EIO, "%s cannot be run: %s", path, strerror(errno));
    }
    return tri_app_fail();
}

#else

int tri_app_guard(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--help") == 0) {
        fputs(TRI_GUARD_HELP, stdout);
        return 0;
    }
    TRI_FAIL(TRI_EUNBUILT,
             "this trireme was built without MPI; guard needs it");
    return tri_app_fail();
}

#endif

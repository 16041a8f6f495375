/*
 * From a wait status to a class of failure.
 */
#include "mpi_workers/process.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

tri_reason tri_process_class(int wait_status, char *buf, size_t bytes)
{
    int code;

    buf[0] = 0;
    if (WIFSIGNALED(wait_status)) {
        code = WTERMSIG(wait_status);
        snprintf(buf, bytes, "was killed by signal %d (%s)%s", code,
                 strsignal(code),
                 code == SIGKILL ? ", likely for want of host memory" : "");
        return code == SIGKILL ? TRI_REASON_OOM_HOST : TRI_REASON_BAD_EXIT;
    }
    code = WEXITSTATUS(wait_status);
    if (code == 0) {
        return TRI_REASON_NONE;
    }
    if (code == 126 || code == 127) {
        snprintf(buf, bytes, "ended with status %d: the command was not %s",
                 code, code == 127 ? "found" : "allowed to run");
        return TRI_REASON_IMPORT_ERROR;
    }
    snprintf(buf, bytes, "ended with status %d", code);
    /* a shell's report of a child killed by a signal */
    return code == 128 + SIGKILL ? TRI_REASON_OOM_HOST : TRI_REASON_BAD_EXIT;
}

/*
 * The guard: a small program, trireme-guard, through which every process of a
 * user's is started.  It needs only libc and is up in a millisecond.  It
 *
 *  - starts the command in a process group of the command's own, with PDEATHSIG
 *    set, so that the command dies even with a guard that is killed;
 *  - is the reaper of whatever descends from the command (child subreaper), so
 *    that daemons too are its children once their parents are gone;
 *  - passes signals on to the command's group;
 *  - sees the end of whoever started it, by the end of file on the control
 *    socket and by PDEATHSIG: then TERM to the group, and TRI_GUARD_GRACE_MS
 *    later KILL to all descendants;
 *  - once the command has ended, kills and reaps all that it left behind, says
 *    how it ended, and ends in the same way itself.
 *
 * Started by hand (`trireme guard COMMAND...`) it does the same without a
 * control socket.
 *
 * A worker has one end of the control socket (SOCK_SEQPACKET), the guard the
 * other, as descriptor TRI_GUARD_CONTROL_FD.  To the guard go single bytes:
 * the number of a signal for the group, SIGKILL meaning all descendants at
 * once.  From it come words: first STARTED or a refusal, and at the very end
 * ENDED, when nobody of the command's is left.
 */
#ifndef TRI_MPI_WORKERS_GUARD_H
#define TRI_MPI_WORKERS_GUARD_H

#include "trireme/status.h"

#include <stddef.h>
#include <stdint.h>

#define TRI_GUARD_NAME       "trireme-guard"
#define TRI_GUARD_CONTROL_FD 4
/* Between TERM and KILL when the worker has died. */
#define TRI_GUARD_GRACE_MS 250

typedef enum tri_guard_kind {
    TRI_GUARD_STARTED = 0x54524901, /* value: the command's process number */
    TRI_GUARD_NO_FOLDER,            /* value: errno of chdir */
    TRI_GUARD_NO_COMMAND,           /* value: errno of exec */
    TRI_GUARD_ENDED                 /* value: as of waitpid */
} tri_guard_kind;

typedef struct tri_guard_word {
    int32_t kind;
    int32_t value;
    uint64_t rss; /* ended: largest resident size of the command and of what
                   * it waited for, bytes */
} tri_guard_word;

/*
 * Where the guard is: the file that TRIREME_GUARD names; else beside this
 * program, or in the libexec folder of its installation; else where it was
 * built.  [out] path.  TRI_EIO where it is nowhere, or TRIREME_GUARD is no
 * program.
 */
tri_status tri_guard_find(char *path, size_t bytes);

/* The same for another small program of ours, without TRIREME_GUARD. */
tri_status tri_guard_find_program(const char *name, char *path, size_t bytes);

/* What --help says, also in a build that has no guard. */
#define TRI_GUARD_HELP                                                         \
    "Usage: trireme guard [--chdir DIR] [--control FD] [--] COMMAND "          \
    "[ARG...]\n"                                                               \
    "Runs a command so that nothing of it outlives its starter: whatever "     \
    "descends from\n"                                                          \
    "it, daemons too, is killed when it ends, or when the starter does.  "     \
    "Signals are\n"                                                            \
    "passed on to the command, and its exit status is the guard's.  "          \
    "Workers start the\n"                                                      \
    "processes of trials through it.\n\n"                                      \
    "  --chdir DIR   start the command in DIR\n"                               \
    "  --control FD  a socket of the worker's (internal)\n"                    \
    "  --help        this text\n"

#endif

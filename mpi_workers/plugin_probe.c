/*
 * Tries a plugin's library in another process.
 */
#include "mpi_workers/plugin_probe.h"

#include "mpi_workers/guard.h"
#include "mpi_workers/pause.h"
#include "mpi_workers/plugin_load.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* For a library to be loaded, from a slow file system too. */
#define PROBE_S 10.0
#define LOOK_S  0.002

extern char **environ;

/* What tri_plugin_check found last. */
static struct {
    char path[TRI_PLUGIN_PATH];
    int saves;
} checked;

/* A group of its own, no blocked or ignored signals; of descriptors standard
 * error, and `out` where it belongs. */
static int spawn(const char *program, const char *library, int out, pid_t *pid)
{
    char name[] = TRI_PLUGIN_PROGRAM;
    char *argv[] = {name, (char *)(uintptr_t)library, NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    sigset_t none, all;
    int rc;

    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, out, TRI_PLUGIN_FOUND_FD);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addclosefrom_np(&files, TRI_PLUGIN_FOUND_FD + 1);
    posix_spawnattr_init(&attr);
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attr, &none);
    posix_spawnattr_setsigdefault(&attr, &all);
    posix_spawnattr_setpgroup(&attr, 0);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP |
                                            POSIX_SPAWN_SETSIGMASK |
                                            POSIX_SPAWN_SETSIGDEF);
    rc = posix_spawn(pid, program, &files, &attr, argv, environ);
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&files);
    return rc;
}

/* [out] *ended: its wait status, -1: it had to be ended. */
static void wait_for(pid_t pid, double limit_s, int *ended)
{
    double until = tri_now() + limit_s;
    pid_t rc;

    do {
        rc = waitpid(pid, ended, WNOHANG);
        if (rc == 0) {
            tri_sleep(LOOK_S);
        }
    } while ((rc == 0 && tri_now() < until) || (rc < 0 && errno == EINTR));
    kill(-pid, SIGKILL); /* whatever it started, too */
    if (rc == 0) {
        kill(pid, SIGKILL);
        while (waitpid(pid, ended, 0) < 0 && errno == EINTR) {
        }
        *ended = -1;
    }
}

static tri_status judge_end(const char *path, int ended, double limit_s)
{
    if (ended == -1) {
        return TRI_FAIL(TRI_EINVAL,
                        "the plugin %s was not loaded in %g s: code of its "
                        "own, which runs then, does not end",
                        path, limit_s);
    }
    if (WIFSIGNALED(ended)) {
        return TRI_FAIL(TRI_EINVAL,
                        "the plugin %s ended the process as it was loaded: "
                        "signal %d (%s)",
                        path, WTERMSIG(ended), strsignal(WTERMSIG(ended)));
    }
    return TRI_FAIL(TRI_EINVAL,
                    "the plugin %s ended the process as it was loaded, with "
                    "status %d",
                    path, WEXITSTATUS(ended));
}

/* What it wrote to `in`, or how it ended. */
static tri_status judge(const char *path, int in, int ended, double limit_s,
                        int *saves)
{
    tri_plugin_found found;

    if (read(in, &found, sizeof found) != (ssize_t)sizeof found) {
        return judge_end(path, ended, limit_s);
    }
    if (found.status != TRI_OK) {
        return TRI_FAIL(found.status == TRI_EPEER ? TRI_EINVAL
                                                  : (tri_status)found.status,
                        "%.*s", (int)sizeof found.sentence - 1, found.sentence);
    }
    *saves = found.saves;
    return TRI_OK;
}

/* Both ends beyond the descriptors that the other process has; what it leaves
 * behind may hold the one, and is not waited for. */
static int open_pipe(int ends[2])
{
    int low[2];

    if (pipe2(low, O_CLOEXEC | O_NONBLOCK) != 0) {
        return -1;
    }
    for (int i = 0; i < 2; i++) {
        ends[i] = fcntl(low[i], F_DUPFD_CLOEXEC, TRI_PLUGIN_FOUND_FD + 1);
        close(low[i]);
    }
    if (ends[0] < 0 || ends[1] < 0) {
        close(ends[0] < 0 ? ends[1] : ends[0]);
        return -1;
    }
    return 0;
}

tri_status tri_plugin_probe(const char *path, double limit_s, int *saves)
{
    char program[PATH_MAX];
    int ends[2];
    int ended = 0;
    tri_status st;
    pid_t pid;
    int rc;

    TRI_TRY(tri_guard_find_program(TRI_PLUGIN_PROGRAM, program,
                                   sizeof program));
    if (open_pipe(ends) != 0) {
        return TRI_FAIL(TRI_ENOMEM, "no pipe to try the plugin %s: %s", path,
                        strerror(errno));
    }
    rc = spawn(program, path, ends[1], &pid);
    close(ends[1]);
    if (rc != 0) {
        st = TRI_FAIL(TRI_ENOMEM, "no process to try the plugin %s: %s", path,
                      strerror(rc));
    } else {
        wait_for(pid, limit_s, &ended);
        st = judge(path, ends[0], ended, limit_s, saves);
    }
    close(ends[0]);
    return st;
}

tri_status tri_plugin_check(const tri_study *study)
{
    char path[TRI_PLUGIN_PATH];
    int saves = 0;

    if (study->model.kind != TRI_MODEL_PLUGIN) {
        return TRI_OK;
    }
    tri_plugin_path(study, path);
    TRI_TRY(tri_plugin_probe(path, PROBE_S, &saves));
    memcpy(checked.path, path, sizeof path);
    checked.saves = saves;
    return TRI_OK;
}

int tri_plugin_saves(const tri_study *study)
{
    char path[TRI_PLUGIN_PATH];
    tri_plugin plugin;

    tri_plugin_path(study, path);
    if (strcmp(path, checked.path) == 0) {
        return checked.saves;
    }
    return tri_plugin_load(path, &plugin) == TRI_OK && plugin.checkpoint;
}

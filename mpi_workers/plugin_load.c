/*
 * Loads the library of a plugin study.
 */
#include "mpi_workers/plugin_load.h"

#include "mpi_workers/pause.h"
#include "mpi_workers/plugin_crash.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* For a library to be loaded, from a slow file system too. */
#define PROBE_S 10.0
#define LOOK_S  0.002

/* The loader's own message names the library too: once is enough. */
static const char *loader_says(const char *path)
{
    const char *said = dlerror();
    size_t n = strlen(path);

    if (!said) {
        return "the loader does not say why";
    }
    return strncmp(said, path, n) == 0 && strncmp(said + n, ": ", 2) == 0
                   ? said + n + 2
                   : said;
}

static tri_status open_library(const char *path, void **out)
{
    struct stat is;

    if (stat(path, &is) != 0 || access(path, R_OK) != 0) {
        return TRI_FAIL(TRI_EIO, "the plugin %s cannot be read: %s", path,
                        strerror(errno));
    }
    if (!S_ISREG(is.st_mode)) {
        return TRI_FAIL(TRI_EIO, "the plugin %s is no file", path);
    }
    *out = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!*out) {
        return TRI_FAIL(TRI_EIO, "the plugin %s cannot be loaded: %s", path,
                        loader_says(path));
    }
    return TRI_OK;
}

static tri_status find(void *library, const char *path, const char *name,
                       void *out)
{
    void *symbol = dlsym(library, name);

    if (!symbol) {
        return TRI_FAIL(TRI_EINVAL,
                        "the plugin %s has no function %s; trireme/trial.h, "
                        "which it should include, says what it is",
                        path, name);
    }
    memcpy(out, &symbol, sizeof symbol);
    return TRI_OK;
}

static tri_status check_abi(const char *path, int32_t abi)
{
    int version = abi / 256;
    int handle = abi % 256;

    if (version != TRIREME_TRIAL_VERSION) {
        return TRI_FAIL(TRI_EVERSION,
                        "the plugin %s is built for version %d of "
                        "trireme/trial.h (trireme_trial_abi is %d); this "
                        "trireme has version %d",
                        path, version, (int)abi, TRIREME_TRIAL_VERSION);
    }
    if (handle != (int)sizeof(MPI_Comm)) {
        return TRI_FAIL(TRI_EINVAL,
                        "the plugin %s is built with another MPI library: its "
                        "communicators have %d bytes, those of this trireme %d",
                        path, handle, (int)sizeof(MPI_Comm));
    }
    return TRI_OK;
}

static tri_status load(const char *path, tri_plugin *out)
{
    int32_t (*abi)(void) = NULL;
    tri_plugin found = {0};
    void *library = NULL;

    TRI_TRY(open_library(path, &library));
    TRI_TRY(find(library, path, "trireme_trial_abi", &abi));
    TRI_TRY(check_abi(path, abi()));
    TRI_TRY(find(library, path, "trireme_trial_open", &found.open));
    TRI_TRY(find(library, path, "trireme_trial_run_until", &found.run_until));
    TRI_TRY(find(library, path, "trireme_trial_close", &found.close));
    if (dlsym(library, "trireme_trial_checkpoint")) {
        TRI_TRY(find(library, path, "trireme_trial_checkpoint",
                     &found.checkpoint));
    }
    *out = found;
    return TRI_OK;
}

typedef struct loading {
    const char *path;
    tri_plugin *out;
} loading;

static int call_load(void *arg)
{
    const loading *l = arg;

    return (int)load(l->path, l->out);
}

tri_status tri_plugin_load(const char *path, tri_plugin *out)
{
    loading l = {path, out};
    int code = 0;
    int signo = tri_plugin_guarded(call_load, &l, &code);

    if (signo == TRI_PLUGIN_EXITED) {
        return TRI_FAIL(TRI_EPEER, "the plugin %s called exit as it was loaded",
                        path);
    }
    if (signo != 0) {
        return TRI_FAIL(TRI_EPEER,
                        "the plugin %s crashed as it was loaded: signal %d "
                        "(%s)",
                        path, signo, strsignal(signo));
    }
    return (tri_status)code;
}

/* ---- in another process ------------------------------------------------- */

/* What it found, in memory that both share. */
typedef struct finding {
    int is_done;
    tri_status st;
    char sentence[512];
} finding;

/* Does not return: it ends by a signal, since what is registered for the end of
 * the process is the parent's. */
static void probe_here(const char *path, finding *f)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    tri_plugin plugin;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setpgid(0, 0);
    dup2(null, 0);
    dup2(null, 1);
    f->st = tri_plugin_load(path, &plugin);
    if (f->st != TRI_OK) {
        snprintf(f->sentence, sizeof f->sentence, "%s",
                 tri_error_last()->sentence);
    }
    f->is_done = 1;
    for (;;) {
        kill(getpid(), SIGKILL);
    }
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

static tri_status judge(const char *path, const finding *f, int ended,
                        double limit_s)
{
    if (f->is_done) {
        return f->st == TRI_OK
                       ? TRI_OK
                       : TRI_FAIL(f->st == TRI_EPEER ? TRI_EINVAL : f->st, "%s",
                                  f->sentence);
    }
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

tri_status tri_plugin_probe(const char *path, double limit_s)
{
    finding *f = mmap(NULL, sizeof *f, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int ended = 0;
    tri_status st;
    pid_t pid;

    if (f == MAP_FAILED) {
        return TRI_FAIL(TRI_ENOMEM, "no memory to try the plugin %s", path);
    }
    pid = fork();
    if (pid == 0) {
        probe_here(path, f);
    }
    if (pid < 0) {
        st = TRI_FAIL(TRI_ENOMEM, "no process to try the plugin %s: %s", path,
                      strerror(errno));
    } else {
        wait_for(pid, limit_s, &ended);
        st = judge(path, f, ended, limit_s);
    }
    munmap(f, sizeof *f);
    return st;
}

/* ---- of a study -----------------------------------------------------------
 */

/* Without a slash the loader would look elsewhere. */
static void find_path(const tri_study *study, char path[PATH_MAX + 2])
{
    char within[PATH_MAX];

    tri_study_resolve(study, study->model.u.plugin.library, within,
                      sizeof within);
    snprintf(path, PATH_MAX + 2, "%s%s", strchr(within, '/') ? "" : "./",
             within);
}

tri_status tri_plugin_of(const tri_study *study, tri_plugin *out)
{
    char path[PATH_MAX + 2];

    find_path(study, path);
    return tri_plugin_load(path, out);
}

tri_status tri_plugin_check(const tri_study *study)
{
    char path[PATH_MAX + 2];

    if (study->model.kind != TRI_MODEL_PLUGIN) {
        return TRI_OK;
    }
    find_path(study, path);
    return tri_plugin_probe(path, PROBE_S);
}

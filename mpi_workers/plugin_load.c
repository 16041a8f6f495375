/*
 * Loads the library of a plugin study.
 */
#include "mpi_workers/plugin_load.h"

#include "mpi_workers/plugin_crash.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* ---- of a study --------------------------------------------------------- */

void tri_plugin_path(const tri_study *study, char path[TRI_PLUGIN_PATH])
{
    char within[PATH_MAX];

    tri_study_resolve(study, study->model.u.plugin.library, within,
                      sizeof within);
    snprintf(path, TRI_PLUGIN_PATH, "%s%s", strchr(within, '/') ? "" : "./",
             within);
}

tri_status tri_plugin_of(const tri_study *study, tri_plugin *out)
{
    char path[TRI_PLUGIN_PATH];

    tri_plugin_path(study, path);
    return tri_plugin_load(path, out);
}

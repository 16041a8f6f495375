/*
 * A plugin's library: found, loaded, its version and functions checked.  Knows
 * nothing of trials, and makes no call of MPI.
 *
 * A library stays loaded to the end of the process, since a library with
 * threads or thread-local variables cannot be taken out safely.
 */
#ifndef TRI_MPI_WORKERS_PLUGIN_LOAD_H
#define TRI_MPI_WORKERS_PLUGIN_LOAD_H

#include "trireme/study.h"
#include "trireme/trial.h"

#include <limits.h>

typedef struct tri_plugin {
    int (*open)(const trireme_trial_setup *setup, trireme_trial **out);
    int (*run_until)(trireme_trial *trial, int64_t step,
                     trireme_trial_report_fn report, void *ctx);
    int (*checkpoint)(trireme_trial *trial, const char *path); /* or NULL */
    void (*close)(trireme_trial *trial, int32_t together);
} tri_plugin;

/* Load the library at `path`, as the study names it.  [out] out.  TRI_EIO: it
 * cannot be read or loaded; TRI_EINVAL: a function is missing, or it is built
 * for another MPI; TRI_EVERSION; TRI_EPEER: code of its own, which runs in
 * loading, crashes (plugin_crash.h).  The sentence names the library. */
tri_status tri_plugin_load(const char *path, tri_plugin *out);

/* Where the library of a plugin study is: with a slash, since without one the
 * loader would look elsewhere. */
#define TRI_PLUGIN_PATH (PATH_MAX + 2)
void tri_plugin_path(const tri_study *study, char path[TRI_PLUGIN_PATH]);

/* The library of a plugin study. */
tri_status tri_plugin_of(const tri_study *study, tri_plugin *out);

#endif

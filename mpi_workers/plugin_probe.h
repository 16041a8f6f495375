/*
 * Whether a plugin's library can be loaded, found in another process: code of
 * its own runs in loading, and may hang, crash or exit.  Rank 0 asks this way,
 * and never loads a library itself.
 *
 * The other process is the program trireme-plugin, which is started by
 * posix_spawn: a fork copies the pages of a process that has devices map them.
 * It is given the library's path, and writes what it found (tri_plugin_found)
 * to the descriptor TRI_PLUGIN_FOUND_FD.
 */
#ifndef TRI_MPI_WORKERS_PLUGIN_PROBE_H
#define TRI_MPI_WORKERS_PLUGIN_PROBE_H

#include "trireme/status.h"
#include "trireme/study.h"

#include <stdint.h>

#define TRI_PLUGIN_PROGRAM  "trireme-plugin"
#define TRI_PLUGIN_FOUND_FD 3

typedef struct tri_plugin_found {
    int32_t status; /* of tri_plugin_load */
    int32_t saves;  /* it has trireme_trial_checkpoint */
    char sentence[512];
} tri_plugin_found;

/* Load the library at `path` there; the process is ended where it takes longer
 * than `limit_s`: that, and crashes, are TRI_EINVAL; else as tri_plugin_load.
 * [out] *saves: whether it has checkpoints.  What the library prints then is
 * not shown, but for a backtrace.  TRI_EIO, TRI_ENOMEM: nothing can be tried.
 */
tri_status tri_plugin_probe(const char *path, double limit_s, int *saves);

/* Whether a study's plugin can be used, by tri_plugin_probe; TRI_OK for other
 * models. */
tri_status tri_plugin_check(const tri_study *study);

/* Whether a study's plugin has checkpoints: as the last check in this process
 * found, or where there was none, by loading it. */
int tri_plugin_saves(const tri_study *study);

#endif

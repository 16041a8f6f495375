/*
 * A plugin's functions, called: what they return and say, from the codes of
 * trireme/trial.h to statuses, classes and sentences; and what they do not live
 * to return.  No call of MPI.
 */
#ifndef TRI_MPI_WORKERS_PLUGIN_CALL_H
#define TRI_MPI_WORKERS_PLUGIN_CALL_H

#include "mpi_workers/plugin_load.h"
#include "trireme/event.h"

/* What was said and not yet used: the plugin's say writes here. */
typedef struct tri_plugin_words {
    char said[200]; /* "" if nothing */
} tri_plugin_words;

/* trireme_trial_setup's say; `ctx`: tri_plugin_words.  A sentence that another
 * follows goes to the log. */
void tri_plugin_say(void *ctx, const char *sentence);

/*
 * What `code`, returned by the plugin's function `name` on rank `rank` of the
 * group, means: TRI_OK, or a status with its sentence; [out] *reason: the
 * class, TRI_REASON_NONE to go by the status.  Uses up what was said: after a
 * success it goes to the log.
 */
tri_status tri_plugin_outcome(int code, const char *name, int rank,
                              tri_plugin_words *words, tri_reason *reason);

/* A plugin's trial on this rank. */
typedef struct tri_plugin_caller {
    tri_plugin plugin;
    trireme_trial *theirs; /* of its open */
    int rank;              /* in the group, for sentences */
    tri_plugin_words words;
} tri_plugin_caller;

/*
 * As the functions of trireme/trial.h, their codes as tri_plugin_outcome has
 * them; TRI_EPEER where they crash: this rank is then to be struck.  [out]
 * reason; *ended: there is nothing further to do.
 */
tri_status tri_plugin_call_open(tri_plugin_caller *c,
                                const trireme_trial_setup *setup,
                                tri_reason *reason);
tri_status tri_plugin_call_run_until(tri_plugin_caller *c, int64_t step,
                                     trireme_trial_report_fn report, void *ctx,
                                     int *ended, tri_reason *reason);
tri_status tri_plugin_call_checkpoint(tri_plugin_caller *c, const char *path);
tri_status tri_plugin_call_close(tri_plugin_caller *c, int together);

#endif

/*
 * What a plugin's functions return, and what they say: from the codes of
 * trireme/trial.h to statuses, classes and sentences.  No MPI.
 */
#ifndef TRI_MPI_WORKERS_PLUGIN_CALL_H
#define TRI_MPI_WORKERS_PLUGIN_CALL_H

#include "trireme/event.h"
#include "trireme/status.h"

#include <stdint.h>

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

#endif

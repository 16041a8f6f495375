/*
 * A study's configuration and options as a plugin sees them: names with typed
 * values (trireme/trial.h).  Pure but for memory.
 */
#ifndef TRI_MPI_WORKERS_PLUGIN_VALUES_H
#define TRI_MPI_WORKERS_PLUGIN_VALUES_H

#include "trireme/study.h"
#include "trireme/trial.h"

typedef struct tri_plugin_values tri_plugin_values;

/* `config`: NULL: none.  Names are borrowed from the study.  [out] owned.
 * TRI_ENOMEM. */
tri_status tri_plugin_values_create(const tri_study *study,
                                    const tri_config *config,
                                    tri_plugin_values **out);
void tri_plugin_values_destroy(tri_plugin_values *v);
/* Fill in parameters and options; borrowed until destroy. */
void tri_plugin_values_give(const tri_plugin_values *v,
                            trireme_trial_setup *setup);

#endif

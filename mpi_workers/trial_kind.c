/*
 * The kinds of trials, by model.
 */
#include "mpi_workers/trial_kind.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The progress limit where the study says auto, as rank 0 has it. */
#define PROGRESS_LEAST_S 30.0
#define PROGRESS_STEPS   5.0

static const struct {
    tri_model_kind model;
    const tri_trial_ops *ops;
} kinds[] = {
        {TRI_MODEL_GPT, &tri_trial_engine},
        {TRI_MODEL_MLP, &tri_trial_engine},
        {TRI_MODEL_DLRM, &tri_trial_engine},
        {TRI_MODEL_SYNTHETIC, &tri_trial_synthetic},
        {TRI_MODEL_TABLE, &tri_trial_synthetic},
        {TRI_MODEL_PROCESS, &tri_trial_process},
        {TRI_MODEL_PLUGIN, &tri_trial_plugin},
};

const tri_trial_ops *tri_trial_kind(tri_model_kind model)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (kinds[i].model == model) {
            return kinds[i].ops;
        }
    }
    return NULL;
}

double tri_trial_patience(const tri_study *study, double slowest_s)
{
    double progress = study->timeouts.progress_s;

    if (!(progress > 0)) {
        progress = fmax(PROGRESS_LEAST_S, PROGRESS_STEPS * slowest_s);
    }
    if (slowest_s <= 0) {
        progress = fmax(progress, study->timeouts.startup_s);
    }
    return progress + study->timeouts.grace_s;
}

void tri_trial_study_dir(const tri_study *study, char *buf)
{
    char relative[PATH_MAX];

    tri_study_resolve(study, ".", relative, sizeof relative);
    if (!realpath(relative, buf)) {
        memcpy(buf, relative, sizeof relative);
    }
}

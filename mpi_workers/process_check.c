/*
 * What is known of a study's process model before any process is started.
 */
#include "mpi_workers/process.h"

#include "mpi_workers/process_template.h"

tri_status tri_process_check(const tri_study *study)
{
    const tri_process_spec *spec = &study->model.u.process;

    if (study->model.kind != TRI_MODEL_PROCESS) {
        return TRI_OK;
    }
    for (int i = 0; i < spec->n_argv; i++) {
        TRI_TRY(tri_template_check(spec->argv[i], study));
    }
    for (int i = 0; i < spec->n_env; i++) {
        TRI_TRY(tri_template_check(spec->env[i].value, study));
    }
    if (spec->scratch) {
        TRI_TRY(tri_template_check(spec->scratch, study));
    }
    return TRI_OK;
}

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
    if (spec->leader) {
        return TRI_FAIL(TRI_EUNBUILT, "model.launch: leader is not built yet");
    }
    if (spec->setup.text) {
        return TRI_FAIL(TRI_EUNBUILT, "model.setup is not built yet; put it "
                                      "into the command with shell: true");
    }
    if (spec->metrics.n_patterns > 0) {
        return TRI_FAIL(TRI_EUNBUILT,
                        "model.metrics.patterns are not built yet; print JSON "
                        "lines on standard output");
    }
    return TRI_OK;
}

/*
 * From a resource to steps.
 */
#include "mpi_workers/goal.h"

/* At most so many leading steps are warm-up by rule. */
#define WARMUP_STEPS 3

static int is_curve(const tri_study *study)
{
    return study->model.kind == TRI_MODEL_SYNTHETIC ||
           study->model.kind == TRI_MODEL_TABLE;
}

int tri_goal_warmup(const tri_study *study)
{
    return is_curve(study) ? 0 : WARMUP_STEPS;
}

/* Units of one step of a built-in model; 0 for other models. */
static int64_t units_a_step(const tri_study *study, const tri_layout *layout,
                            tri_unit unit)
{
    int64_t batch = layout->global_batch > 0 ? layout->global_batch : 1;

    if (study->model.kind == TRI_MODEL_GPT) {
        return unit == TRI_UNIT_TOKENS ? batch * study->model.u.gpt.sequence
                                       : batch;
    }
    if (study->model.kind == TRI_MODEL_MLP ||
        study->model.kind == TRI_MODEL_DLRM) {
        return batch;
    }
    return 0;
}

tri_status tri_goal_set(const tri_study *study, const tri_layout *layout,
                        int64_t resource, tri_goal *out)
{
    tri_unit unit = study->resource.unit;
    int warmup = tri_goal_warmup(study);
    int64_t a_step;

    if (is_curve(study) || unit == TRI_UNIT_STEPS) {
        *out = (tri_goal){warmup, resource + warmup, unit, 0};
        return TRI_OK;
    }
    if (unit == TRI_UNIT_EPOCHS) {
        return TRI_FAIL(TRI_EINFEASIBLE,
                        "resource.unit epochs needs the size of the data, "
                        "which is not known; use steps, samples or tokens");
    }
    a_step = unit == TRI_UNIT_SECONDS ? 0 : units_a_step(study, layout, unit);
    if (a_step > 0) {
        *out = (tri_goal){warmup, (resource + a_step - 1) / a_step + warmup,
                          unit, 0};
    } else {
        *out = (tri_goal){warmup, -1, unit, (double)resource};
    }
    return TRI_OK;
}

int tri_goal_reached(const tri_goal *goal, const tri_measure *m)
{
    if (goal->step >= 0) {
        return 0;
    }
    switch (goal->unit) {
    case TRI_UNIT_SECONDS:
        return tri_measure_steps(m) > 0 &&
               tri_measure_seconds(m) >= goal->amount;
    case TRI_UNIT_TOKENS:
        return tri_measure_tokens(m) >= goal->amount;
    case TRI_UNIT_SAMPLES:
        return tri_measure_samples(m) >= goal->amount;
    default:
        return 0;
    }
}

/*
 * Reads an assignment: the same text must give the same configuration on
 * every rank.
 */
#include "mpi_workers/run.h"
#include "mpi_workers/trial_kind.h"

#include <stdlib.h>
#include <string.h>

/* Each once: they stand in the order of the mesh. */
static int is_twice(const int32_t *ranks, int i)
{
    for (int k = 0; k < i; k++) {
        if (ranks[k] == ranks[i]) {
            return 1;
        }
    }
    return 0;
}

static tri_status copy_ranks(tri_assignment *a, const tri_worker *w,
                             const tri_cmd_assign *assign)
{
    int among = 0;

    if (assign->n_ranks < 1) {
        return TRI_FAIL(TRI_EINVAL, "an assignment without ranks");
    }
    for (int i = 0; i < assign->n_ranks; i++) {
        int32_t rank = assign->ranks[i];

        if (rank < 1 || rank >= w->world.size || is_twice(assign->ranks, i)) {
            return TRI_FAIL(TRI_EINVAL, "an assignment with rank %d",
                            (int)rank);
        }
        among = among || rank == w->world.rank;
    }
    if (!among) {
        return TRI_FAIL(TRI_EINVAL, "an assignment for others");
    }
    a->n_ranks = assign->n_ranks;
    a->ranks = malloc((size_t)a->n_ranks * sizeof *a->ranks);
    if (!a->ranks) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for an assignment");
    }
    memcpy(a->ranks, assign->ranks, (size_t)a->n_ranks * sizeof *a->ranks);
    return TRI_OK;
}

static int is_built_in(const tri_study *study)
{
    return study->model.kind == TRI_MODEL_GPT ||
           study->model.kind == TRI_MODEL_MLP ||
           study->model.kind == TRI_MODEL_DLRM;
}

static tri_status read_config(tri_assignment *a, const tri_worker *w,
                              const tri_cmd_assign *assign)
{
    const tri_space *space = w->study->space;
    size_t n = (size_t)tri_space_n_params(space);

    a->config = calloc(n + 1, sizeof *a->config);
    if (!a->config) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a configuration");
    }
    TRI_TRY(tri_space_parse(space, assign->config, a->config));
    if (tri_space_hash(space, a->config) != assign->config_hash) {
        return TRI_FAIL(TRI_EINFEASIBLE,
                        "rank %d reads the configuration '%s' otherwise than "
                        "rank 0",
                        w->world.rank, assign->config);
    }
    if (is_built_in(w->study)) {
        TRI_TRY(tri_study_layout(w->study, a->config, &a->layout));
    }
    if (!tri_trial_kind(w->study->model.kind)) {
        return TRI_FAIL(TRI_EUNBUILT, "trials of the model %s are not built",
                        tri_model_name(w->study->model.kind));
    }
    return TRI_OK;
}

static tri_status fill(tri_assignment *a, const tri_worker *w,
                       const tri_cmd_assign *assign)
{
    TRI_TRY(copy_ranks(a, w, assign));
    TRI_TRY(read_config(a, w, assign));
    if (assign->checkpoint && assign->checkpoint[0]) {
        a->checkpoint = strdup(assign->checkpoint);
        if (!a->checkpoint) {
            return TRI_FAIL(TRI_ENOMEM, "no memory for an assignment");
        }
    }
    return TRI_OK;
}

tri_status tri_assignment_init(tri_assignment *a, const tri_worker *w,
                               const tri_cmd_assign *assign)
{
    tri_assignment next = {.run = assign->run,
                           .trial = assign->trial,
                           .resource = assign->resource,
                           .rung = assign->rung,
                           .bracket = assign->bracket,
                           .attempt = assign->attempt,
                           .phase = assign->phase,
                           .checkpoint_step = assign->checkpoint_step,
                           .save = assign->save,
                           .until_precision = assign->until_precision};
    tri_status st = fill(&next, w, assign);

    if (st != TRI_OK) {
        tri_assignment_fini(&next);
        return st;
    }
    *a = next;
    return TRI_OK;
}

void tri_assignment_fini(tri_assignment *a)
{
    free(a->ranks);
    free(a->config);
    free(a->checkpoint);
    memset(a, 0, sizeof *a);
}

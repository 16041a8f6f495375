/*
 * Pipeline parallelism: the interpreter of schedules (schedule.h).  It runs
 * the operations of one stage on a model, with messages to the stages beside
 * it; it does not know which schedule it runs, nor what the model computes.
 */
#ifndef TRI_MPI_WORKERS_PP_H
#define TRI_MPI_WORKERS_PP_H

#include "mpi_workers/schedule.h"
#include "trireme/model.h"

#include <mpi.h>
#include <stdint.h>

typedef struct tri_pipeline {
    const tri_model_ops *ops;
    tri_model *model;
    const tri_schedule *schedule;
    MPI_Comm comm; /* of the axis; MPI_COMM_NULL: one stage */
    int stage, stages, m;
    MPI_Request *requests; /* 4 x slots */
    tri_status *link;      /* shared with the group's collectives (coll.h) */
    int entangled;         /* MPI may still write into the model's ports */
} tri_pipeline;

/* Borrows model, schedule (of `stage` in a pipeline of that shape) and, set
 * before the first run, comm and link until fini.  [out] `out`.  TRI_ENOMEM. */
tri_status tri_pipeline_init(const tri_model_ops *ops, tri_model *model,
                             const tri_schedule_shape *shape, int stage,
                             const tri_schedule *schedule, tri_pipeline *out);
void tri_pipeline_fini(tri_pipeline *p);
/*
 * All micro-batches of step `step`, forward and backward: micro-batch k has
 * the samples from first_sample + k x micro_batch on.  Where the link breaks
 * the rest is left out; returns *link.
 */
tri_status tri_pipeline_run(tri_pipeline *p, int64_t step, int64_t first_sample,
                            int micro_batch);

#endif

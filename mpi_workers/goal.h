/*
 * How far a run goes: its resource in the study's unit as steps, or as an
 * amount that the leader counts.  Pure.
 *
 * steps, and every unit of synthetic and table trials: as they are.  samples
 * and tokens of built-in models: rounded up to whole steps of the layout's
 * global batch (times the sequence); of processes: counted as reported.
 * seconds: the first step's end after that much measured time.  epochs:
 * refused, as the size of the data is not known to the run.
 */
#ifndef TRI_MPI_WORKERS_GOAL_H
#define TRI_MPI_WORKERS_GOAL_H

#include "mpi_workers/measure.h"
#include "trireme/study.h"

typedef struct tri_goal {
    int warmup;    /* steps by rule, extra */
    int64_t step;  /* last step to do, warm-up included; -1: counted */
    tri_unit unit; /* what is counted */
    double amount;
} tri_goal;

/* Warm-up steps by rule for a study's trials. */
int tri_goal_warmup(const tri_study *study);
/* [out] out.  `layout` is read for built-in models.  TRI_EINFEASIBLE. */
tri_status tri_goal_set(const tri_study *study, const tri_layout *layout,
                        int64_t resource, tri_goal *out);
/* Whether a goal that is counted is reached. */
int tri_goal_reached(const tri_goal *goal, const tri_measure *m);

#endif

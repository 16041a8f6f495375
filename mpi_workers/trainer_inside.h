/*
 * The inside of a trainer, shared by trainer.c (building) and step.c.
 */
#ifndef TRI_MPI_WORKERS_TRAINER_INSIDE_H
#define TRI_MPI_WORKERS_TRAINER_INSIDE_H

#include "mpi_workers/coll.h"
#include "mpi_workers/pp.h"
#include "mpi_workers/tp.h"
#include "mpi_workers/trainer.h"
#include "mpi_workers/zero.h"

struct tri_trainer {
    tri_layout layout;
    tri_coord at;
    tri_schedule_shape shape; /* of the pipeline */
    tri_schedule schedule;    /* of this stage */
    tri_adamw optimizer;
    double clip;
    tri_coll_way way;
    tri_mesh mesh;
    tri_coll tensor, data, tied; /* axes */
    tri_coll all;                /* the group */
    tri_status link;             /* of what joins the ranks: none of it works
                                  * any more once it is not TRI_OK */
    struct tri_share *shares;    /* of the group, for the agreement */
    tri_tp tp;
    tri_products products;      /* over the tensor axis, by tp */
    tri_products products_used; /* the model's: those, or with pokes */
    const tri_model_ops *ops;
    tri_model *model;
    const tri_tensors *table; /* of the model */
    tri_pipeline pipeline;
    tri_embed embed;
    tri_region *region;
    tri_zero zero;   /* parameters and what belongs to them */
    tri_watch watch; /* of the model's units, by zero */
    uint64_t seed;
    int64_t steps; /* done */
    double norm, first_loss;
    tri_status complaint;
};

/* Memory of the step's agreement.  TRI_ENOMEM. */
tri_status tri_step_open(tri_trainer *t);
void tri_step_close(tri_trainer *t);

#endif

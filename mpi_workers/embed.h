/*
 * Embedding shards in a trainer: the data axis as a model asks for it
 * (tri_axis), and what a step does about parameters of which it touches few
 * rows (tri_model_ops.sparse).  All but open does nothing for a model without.
 */
#ifndef TRI_MPI_WORKERS_EMBED_H
#define TRI_MPI_WORKERS_EMBED_H

#include "mpi_workers/coll.h"
#include "trireme/model.h"

typedef struct tri_embed {
    tri_axis axis;
    const tri_model_ops *ops; /* NULL: before alloc */
    tri_model *model;
    tri_real *params; /* flat array of the model's sparse table */
    double sumsq;     /* of the gradients of a step that this rank owns */
} tri_embed;

/* Borrows `data`, which may be opened later.  `parts` and `part`: the axis, and
 * this rank's place on it. */
void tri_embed_open(tri_embed *e, tri_coll *data, int parts, int part);
/* The tables' memory; a dry region only counts.  TRI_EOOM. */
tri_status tri_embed_alloc(tri_embed *e, const tri_model_ops *ops,
                           tri_model *model, tri_region *region);
/* Initial values, and the model is told where they are. */
void tri_embed_start(tri_embed *e, uint64_t seed);
/* Collective over the data axis, at the end of a step: e->sumsq; and then,
 * which is not, the update. */
void tri_embed_end(tri_embed *e);
void tri_embed_update(tri_embed *e, double coefficient);

#endif

/*
 * Who holds what: the arithmetic of layouts.  Pure; it knows no communicator
 * and no memory.
 */
#ifndef TRI_MPI_WORKERS_SHARD_H
#define TRI_MPI_WORKERS_SHARD_H

#include "trireme/study.h"

/* Parts of the network on one stage (virtual), at most. */
#define TRI_MAX_CHUNKS 64

/* A rank's place in the mesh: rank = tp_i + tp (dp_i + dp pp_i). */
typedef struct tri_coord {
    int dp, tp, pp;
} tri_coord;

tri_coord tri_shard_coord(const tri_layout *l, int rank);
int tri_shard_rank(const tri_layout *l, tri_coord c);
/* Ranks of a layout. */
int tri_shard_ranks(const tri_layout *l);
/* Micro-batches of a step on one rank. */
int tri_shard_micro_batches(const tri_layout *l);
/* First sample, within the global batch, of micro-batch `k` of data rank
 * `dp_i`. */
int64_t tri_shard_sample(const tri_layout *l, int dp_i, int k);
/*
 * Layers [first, first + n) of part `part` of the layout's pp x virtual.  Split
 * `even`: as even as can be; where it does not divide, the earlier parts have
 * one more, since the last has the head.  Split `cost`: so that the dearest
 * part is as cheap as can be, embedding and head counted, by an estimate of
 * their multiplications; each has a layer at least.  layers >= parts.
 */
void tri_shard_layers(const tri_gpt_spec *g, const tri_layout *l, int part,
                      int *first, int *n);
/*
 * Whether the engine can run this layout of this model on `ranks` ranks.
 * TRI_EINFEASIBLE, and the sentence names the rule that refuses.
 */
tri_status tri_shard_check(const tri_model_spec *model, const tri_layout *l,
                           int ranks);

#endif

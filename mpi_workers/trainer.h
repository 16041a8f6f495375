/*
 * The trainer: one model in one layout on the ranks of a group, stepped.
 *
 * A step runs the pipeline over the micro-batches, reduces gradients, agrees
 * with one small reduction (loss, norm, status, the leader's word) and only
 * then updates the parameters, so all ranks leave at the same boundary.
 * All memory is one region of exactly the predicted size; after create
 * nothing is allocated.
 *
 * It reads no file and no study: text and numbers are given.
 */
#ifndef TRI_MPI_WORKERS_TRAINER_H
#define TRI_MPI_WORKERS_TRAINER_H

#include "models/data/criteo.h"
#include "models/optim/optim.h"
#include "mpi_workers/ckpt.h"
#include "mpi_workers/coll.h"
#include "mpi_workers/embed.h"
#include "mpi_workers/mesh.h"
#include "mpi_workers/trial_kind.h"
#include "trireme/model.h"

typedef struct tri_trainer tri_trainer;

typedef struct tri_trainer_setup {
    const tri_model_spec *model; /* built in; borrowed until create ends */
    tri_layout layout;
    uint64_t seed;
    tri_adamw optimizer;
    double clip;               /* norm; <= 0: none */
    const unsigned char *text; /* gpt; borrowed until destroy */
    int64_t text_bytes;
    const tri_criteo *samples; /* dlrm; NULL: synthetic; as text */
    uint64_t quota_bytes;      /* a rank; 0: no limit */
    double limit_s;   /* of making communicators, for the watchdog; 0: no */
    tri_coll_way way; /* through which its collectives go */
} tri_trainer_setup;

/*
 * Bytes that rank `rank` of the layout will have in use, by a dry run of the
 * code that lays memory out.  Not collective.  [out] `bytes`.
 * TRI_EINFEASIBLE, TRI_ENOMEM.
 */
tri_status tri_trainer_predict(const tri_trainer_setup *setup, int rank,
                               uint64_t *bytes);
/* The same by kind: parameters, gradients, optimizer state, activations,
 * workspace and messages (what is passed on to, or comes from, other ranks;
 * what the collectives of a host share is not a rank's, and not in it). */
tri_status tri_trainer_predict_kinds(const tri_trainer_setup *setup, int rank,
                                     tri_memory *out);
/*
 * Collective over `group` (borrowed until destroy), same status on every
 * rank.  [out] `out`: owned.  TRI_EINFEASIBLE with the rule, TRI_EOOM over
 * quota, TRI_EDATA without enough text, TRI_ENOMEM, TRI_ECOMM.
 */
tri_status tri_trainer_create(const tri_trainer_setup *setup, MPI_Comm group,
                              tri_trainer **out);
/*
 * Collective.  One optimizer step; `word` is read on rank 0 and comes out on
 * all.  TRI_ENAN where loss or gradient is not finite, TRI_EDIVERGED where the
 * loss is a hundred times that of the first step (nothing is updated), or the
 * status of a rank in trouble, the same on every rank.  Of scope group where a
 * rank is gone or was waited for in vain: only destroy is left then, which
 * leaves the communicators as they are.
 */
tri_status tri_trainer_step(tri_trainer *t, int word, tri_step *out);
/* A local error of this rank: the next step reports it on all.  The sentence
 * is the thread's last error at the time of that step. */
void tri_trainer_complain(tri_trainer *t, tri_status st);
/* Collective; NULL is allowed. */
void tri_trainer_destroy(tri_trainer *t);

/* ---- ckpt_trainer.c: checkpoints (ckpt.h) -------------------------------- */

/* Collective, between steps: parameters, the optimizer's state and how far it
 * has come.  `configuration`: for readers of the file.  [out] bytes: of the
 * file, on rank 0.  Status as of tri_ckpt_save; the trainer goes on. */
tri_status tri_trainer_save(tri_trainer *t, const char *path, tri_ckpt_way way,
                            const char *configuration, uint64_t *bytes);
/* Collective, before the first step: go on from `path`, whatever layout it was
 * written in.  Status as of tri_ckpt_load, and TRI_EMALFORMED for one of
 * another seed; after a failure only destroy is left. */
tri_status tri_trainer_load(tri_trainer *t, const char *path);
/* Steps done. */
int64_t tri_trainer_steps(const tri_trainer *t);

/* Views for tests.  Borrowed until destroy. */
const tri_tensors *tri_trainer_tensors(const tri_trainer *t);
const tri_mesh *tri_trainer_mesh(const tri_trainer *t);
/* The flat array of parameters; NULL in ZeRO 3, where a rank has a part. */
tri_real *tri_trainer_params(tri_trainer *t);
/* Collective over the data axis: all parameters of this stage, and the
 * gradients of the last step (reduced, before clipping), into out[count of the
 * table].  TRI_ECOMM and its like, of scope group. */
tri_status tri_trainer_whole_params(tri_trainer *t, tri_real *out);
tri_status tri_trainer_whole_grads(tri_trainer *t, tri_real *out);
/* Embedding tables, and their table (ops->sparse). */
const tri_embed *tri_trainer_embed(const tri_trainer *t);
uint64_t tri_trainer_high_water(const tri_trainer *t);
/* [out] `out`: the high water by kind, as tri_trainer_predict_kinds. */
void tri_trainer_kinds(const tri_trainer *t, tri_memory *out);
/* Global norm of the gradient of the last step, before clipping. */
double tri_trainer_norm(const tri_trainer *t);
/* Trainers alive in this process, for leak tests. */
int tri_trainers_alive(void);

#endif

/*
 * Checkpoints of the engine: the state of a training in a canonical form that
 * knows no layout (ckpt_file.h), written and read by the ranks of a group.
 *
 * Each rank says which parts of which tensors it holds; a tensor of the file is
 * put together of the parts of those who own them, and any rank of any layout
 * reads what it holds of it.  So a training goes on in another layout.
 *
 * A file is written as NAME.part, synced and renamed: it is there whole or not
 * at all.  Its checksums are verified on what was read into the ranks' memory.
 *
 * Two ways of writing: gathered, in pieces, to the group's first rank, by
 * messages that are waited for with an end; or each rank its own hyperslabs
 * through MPI-IO, whose waits have no end: only where nobody outlives a dead
 * rank anyway, and where HDF5 is the parallel one.  Both give the same file.
 * Reading is each rank's own and takes no MPI.
 */
#ifndef TRI_MPI_WORKERS_CKPT_H
#define TRI_MPI_WORKERS_CKPT_H

#include "mpi_workers/ckpt_file.h"

/* A part of a tensor that this rank holds.  All borrowed. */
typedef struct tri_ckpt_part {
    const char *set; /* "parameters", or an array of the optimizer's state */
    const tri_tensor *tensor;
    int64_t from, n; /* local elements [from, from + n) of it */
    tri_real *at;    /* are here */
    int owned;       /* this rank's to save; of exactly one rank, each element
                      */
} tri_ckpt_part;

typedef enum tri_ckpt_way {
    TRI_CKPT_GATHERED,
    TRI_CKPT_MPIO,
    TRI_CKPT_AUTO /* MPI-IO for what is large, gathered below */
} tri_ckpt_way;

/* Collective over `comm`; same status on every rank.  [out] bytes: of the file,
 * on rank 0 (0 elsewhere).  TRI_EIO, TRI_ENOMEM; scope group. */
tri_status tri_ckpt_save(MPI_Comm comm, const char *path, tri_ckpt_way way,
                         const tri_ckpt_head *head, const tri_ckpt_part *parts,
                         int n, uint64_t *bytes);
/*
 * Collective over `comm`; same status on every rank.  Reads into all parts;
 * [out] head.  On failure the parts hold anything.  TRI_ENOTFOUND, TRI_EVERSION
 * or TRI_EMALFORMED, and the sentence says what is wrong with the file; scope
 * group.
 */
tri_status tri_ckpt_load(MPI_Comm comm, const char *path,
                         const tri_ckpt_part *parts, int n,
                         tri_ckpt_head *head);

#endif

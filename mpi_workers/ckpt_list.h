/*
 * What the ranks of a group hold of a checkpoint: each one's list, and the
 * first rank's of all.
 */
#ifndef TRI_MPI_WORKERS_CKPT_LIST_H
#define TRI_MPI_WORKERS_CKPT_LIST_H

#include "mpi_workers/ckpt.h"

/* How long another rank may be silent while it writes or reads. */
#define TRI_CKPT_PATIENCE_S 120.0

/* A part that a rank owns. */
typedef struct tri_ckpt_entry {
    char set[TRI_CKPT_SET];
    char name[TRI_TENSOR_NAME];
    uint32_t id;
    int32_t rank;
    tri_cut cut;
    uint64_t sum; /* its checksum */
    tri_real *at; /* on its own rank */
} tri_ckpt_entry;

/* In the order of set, id, name, rank and place. */
typedef struct tri_ckpt_list {
    tri_ckpt_entry *at;
    int n;
} tri_ckpt_list;

/* What this rank owns, with checksums.  [out] owned: tri_ckpt_list_fini.
 * TRI_ENOMEM. */
tri_status tri_ckpt_list_own(int rank, const tri_ckpt_part *parts, int n,
                             tri_ckpt_list *out);
/* Collective: on rank 0 of `comm` out is everybody's, elsewhere empty.
 * [out] owned.  Scope group; TRI_ENOMEM on rank 0. */
tri_status tri_ckpt_list_gather(MPI_Comm comm, const tri_ckpt_list *own,
                                tri_ckpt_list *out);
/* Collective: rank 0's list on all.  `out` of rank 0 is `all` itself.
 * [out] owned elsewhere. */
tri_status tri_ckpt_list_share(MPI_Comm comm, const tri_ckpt_list *all,
                               tri_ckpt_list *out);
void tri_ckpt_list_fini(tri_ckpt_list *list);
/* The end of the dataset that begins at entry `i`. */
int tri_ckpt_list_next(const tri_ckpt_list *list, int i);
/* Whether entries [i, end) are all of their tensor.  TRI_EDATA. */
tri_status tri_ckpt_list_check(const tri_ckpt_list *list, int i, int end);
/* The checksum of the dataset of entries [i, end). */
uint64_t tri_ckpt_list_sum(const tri_ckpt_list *list, int i, int end);

#endif

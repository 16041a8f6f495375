/*
 * The folder of checkpoints, checkpoints.dir: what is called how in it, and
 * whose it is.  Rank 0 claims the names of its study there by a small file,
 * which tells it too whether other hosts see the same folder.  No MPI.
 */
#ifndef TRI_MPI_WORKERS_CHECKPOINT_DIR_H
#define TRI_MPI_WORKERS_CHECKPOINT_DIR_H

#include "trireme/study.h"

/* Whether runs of this study may write checkpoints there. */
int tri_checkpoint_may_be(const tri_study *study);
/* STUDY.rRUN.aATTEMPT.eEPOCH.ckpt */
void tri_checkpoint_name(const tri_study *study, int64_t run, int attempt,
                         int epoch, char *name, size_t bytes);
/* Behind the name of what is still being written. */
#define TRI_PART ".part"
/* Whether `name` is one that a study of this name gives, or one that is being
 * written or removed; only then may it be. */
int tri_checkpoint_is_name(const tri_study *study, const char *name);
/* The absolute path of `name`; "": of the folder. */
void tri_checkpoint_path(const tri_study *study, const char *name, char *path,
                         size_t bytes);

/*
 * Claim the folder for the record at `record` (absolute), whose opening began
 * at `opened_s`; makes the folder where there is none.  `exists`: whether there
 * is a record at a path.  TRI_EINVAL: it cannot be written, or another record
 * that still exists has checkpoints of this name in it; the sentence says so
 * and names the key.
 */
tri_status tri_checkpoint_claim(const tri_study *study, const char *record,
                                double opened_s,
                                int (*exists)(const char *path));
/* Whether the claim of that opening is seen here, within `limit_s`. */
int tri_checkpoint_sees(const tri_study *study, double opened_s,
                        double limit_s);
/* Give the claim up: none are left. */
void tri_checkpoint_disclaim(const tri_study *study);

#endif

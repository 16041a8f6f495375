/*
 * Directory trees: made, weighed and removed, never following a symbolic link
 * out of them.  A remover does the removing (tri_remove_tree) on a thread of
 * its own, so that nobody waits for a large tree or a slow file system.  Knows
 * nothing of what is in them.  No MPI.
 */
#ifndef TRI_MPI_WORKERS_TREE_H
#define TRI_MPI_WORKERS_TREE_H

#include "trireme/status.h"

#include <stddef.h>
#include <stdint.h>

/* Directories within one another that are followed. */
#define TRI_TREE_DEEP 64
/* For a checkpoint to be weighed: far less than the silence that costs a
 * rank. */
#define TRI_TREE_WEIGH_S 3.0

/* Make the directories above `path` where they are not there.  0, or -1 with
 * errno. */
int tri_tree_make_parents(const char *path);
/* Bytes and number of the files in the tree at `path`, of those that are seen
 * within `limit_s` seconds (the first at least): a rank that takes long here is
 * silent meanwhile.  0, or -1 with errno. */
int tri_tree_weigh(const char *path, double limit_s, uint64_t *bytes,
                   int64_t *n);
typedef struct tri_remover tri_remover;

/* Behind the name of what is being removed. */
#define TRI_GONE ".gone"

/* [out] owned.  No thread is started before there is something to do.
 * TRI_ENOMEM. */
tri_status tri_remover_create(tri_remover **out);
/* Remove `path`, soon: from now on it is called path.gone, so that it is not
 * taken for whole (one that is called so already keeps its name).  What cannot
 * be removed is warned of. */
void tri_remover_add(tri_remover *r, const char *path);
/* Whether all that was added is dealt with. */
int tri_remover_is_idle(tri_remover *r);
/* Wait for the rest at most `limit_s`; what is then left stays. */
void tri_remover_destroy(tri_remover *r, double limit_s);

#endif

/*
 * Regularised evolution (Real et al., AAAI 2019): the newest trials are the
 * population, whatever they are worth, so that age ends every one of them; the
 * best of a few drawn ones has a child that differs from it in one parameter,
 * and in what must follow from that.
 *
 * A child is a walk along its parent with one choice of its own, so that it is
 * valid, and near: a parameter that the change leaves possible is kept.
 *
 * No state: answers depend on the seed and the snapshot only.
 */
#ifndef TRI_SRC_PROPOSE_EVOLVE_H
#define TRI_SRC_PROPOSE_EVOLVE_H

#include "src/propose/think_internal.h"

/* Trials alive, and how many of them compete to be a parent. */
#define TRI_EVOLVE_POPULATION 40
#define TRI_EVOLVE_TOURNAMENT 10
/* Before so many have a result, configurations are random. */
#define TRI_EVOLVE_FIRST 10

/*
 * At most `wanted` new configurations: children first, then random ones, where
 * there are too few parents or children would be doubles.  What is
 * too likely to fail by `c` is drawn again, and taken only where all was. [out]
 * at[wanted]: their places in the pool, where they are now taken; how many are
 * children, and how many there are.  TRI_ENOMEM.
 */
tri_status tri_evolve(tri_pool *pool, const tri_snapshot *s, int maximize,
                      const tri_caution *c, uint64_t seed, int wanted,
                      int64_t *at, int *n_children, int *n);

/* A valid configuration near `parent`, not equal to it; `out` is other memory.
 * TRI_ENOTFOUND where none was drawn. */
tri_status tri_evolve_mutate(tri_walk *w, const tri_space *space,
                             const tri_config *parent, tri_rng *rng,
                             tri_config *out);

#endif

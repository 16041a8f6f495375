/*
 * Spaces and records for the tests of proposers that think.
 */
#ifndef TRI_TESTS_PROPOSE_WORLD_H
#define TRI_TESTS_PROPOSE_WORLD_H

#include "src/propose/think_internal.h"

/* n integers, p0 of 4 values, p1 of 5, p2 of 6, and so on; no constraint. */
tri_space *tri_world_product(int n);
/* dp * tp * pp == 16, ranks = their product over `over`; virtual from 1 to 4
 * where pp > 1 and micro, declared first, in powers of two up to 8; words. */
tri_space *tri_world_mesh(void);
/* rate, a logarithmic float; a, a float, and b with a * b <= 1; c, a float
 * where b > 2; wide, up to a million. */
tri_space *tri_world_floats(void);

/* A cost of points of a product: a part for each value, `couple` times a part
 * for each pair of neighbours, in deviations; drawn by `seed`. */
double tri_world_cost(const tri_config *c, int n, double couple, uint64_t seed);

#define TRI_STORY_MOST 1024

/* What was tried, in order, and the question about it. */
typedef struct tri_story {
    const tri_space *space;
    tri_encoding *encoding;
    tri_pool pool;
    int n; /* records, a trial each unless said */
    tri_record records[TRI_STORY_MOST];
    int64_t n_tried;
    uint64_t tried[TRI_STORY_MOST];
    tri_snapshot snapshot;
    double best; /* the lowest objective, NaN */
    int max_ranks;
} tri_story;

/* Empty; takes the space. */
void tri_story_init(tri_story *s, tri_space *space);
void tri_story_fini(tri_story *s);
/* Add a record, as a trial of its own; returns it, to be changed. */
tri_record *tri_story_add(tri_story *s, const tri_config *c, double objective);
/* Ask anew, with the pool refreshed; `wanted` at most 64. */
void tri_story_ask(tri_story *s, int wanted);
/* Configuration i of the pool, checked to be valid, new and small enough. */
void tri_story_get(tri_story *s, int64_t at, tri_config *out);

#endif

/*
 * Spaces and samples for the tests of predictors.
 */
#ifndef TRI_TESTS_PREDICT_WORLD_H
#define TRI_TESTS_PREDICT_WORLD_H

#include "trireme/predict.h"

/* a: 1 .. 64 in powers of two; b: 0 .. 10; c: words red, green, blue; d: float
 * in [0, 1] where c is not red; feature ab = a * b. */
tri_space *tri_world_space(void);

typedef struct tri_world {
    tri_space *space;
    tri_encoding *e;
    int n, width;
    double *x;        /* n x width */
    double *y;        /* a smooth function of the configuration and resource */
    double *resource; /* 1, 4 or 16 */
    tri_config *c;    /* n x n_params */
} tri_world;

/* n samples, their resources all 16 unless `rungs`. */
void tri_world_init(tri_world *w, int n, int rungs, uint64_t seed);
void tri_world_fini(tri_world *w);
tri_samples tri_world_samples(const tri_world *w, int n, int rungs);

#endif

/*
 * The plain reference that the exact engine is held to: every raw point is
 * made, `when` and constraints are evaluated, and what is left is sorted as
 * the space numbers it.
 */
#ifndef TRI_TESTS_SPACE_BRUTE_H
#define TRI_TESTS_SPACE_BRUTE_H

#include "trireme/space.h"

#define BRUTE_PARAMS 8

typedef struct brute {
    int n; /* parameters */
    tri_domain domains[BRUTE_PARAMS];
    const char *when[BRUTE_PARAMS]; /* NULL: always */
    const char *names[BRUTE_PARAMS];
    const char *constraints[BRUTE_PARAMS];
    int n_constraints;
    const char *ranks; /* NULL: none */
    /* results of brute_solve */
    tri_config *points; /* distinct, in order: count x n */
    int64_t count;
    double raw;
    int rank_lo, rank_hi;         /* 0 of an empty set */
    double refused[BRUTE_PARAMS]; /* raw points that one constraint refuses */
} brute;

/* Fill points, count, raw, refused.  Every expression must evaluate. */
void brute_solve(brute *b);
void brute_free(brute *b);
/* The space of the same parameters; fails the test on an error. */
tri_space *brute_space(const brute *b);

#endif

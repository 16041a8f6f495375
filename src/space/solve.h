/*
 * From constraints to a decision diagram, by depth-first search over the
 * levels with propagation (intervals, divisibility) and a memo of
 * sub-problems.  Knows nothing of files, names of rules or components.
 */
#ifndef TRI_SPACE_SOLVE_H
#define TRI_SPACE_SOLVE_H

#include "src/space/diagram.h"
#include "src/space/forest.h"

/* A condition on the levels: node `node` of `expr` must be true, or, for
 * when_level >= 0, must be true exactly where that level is active. */
typedef struct tri_goal {
    const tri_expr *expr;
    int node;
    int rule;       /* the caller's number, handed back on failure */
    int when_level; /* -1: a constraint */
} tri_goal;

typedef struct tri_solve_in {
    const tri_level *levels;
    int n_levels;
    const tri_goal *goals;
    int n_goals;
    tri_binding bind;
    const tri_expr *objective; /* its range is wanted; NULL: none */
    int weighted;              /* an inactive arc counts as all its values */
    int errors_refuse;         /* a failing goal is false, not a failure */
    int64_t max_work;          /* arcs looked at; beyond it TRI_ETOOLARGE */
} tri_solve_in;

/*
 * Solve.  [out] `out`: owned by the caller on success (tri_dd_fini); its root
 * is TRI_DD_NONE where nothing is valid.  [out] `rule`: on failure the goal
 * that is to blame, -1 if none.  TRI_EDIVZERO, TRI_EOVERFLOW, TRI_ETYPE,
 * TRI_ERANGE of a goal at a point that all others allow; TRI_ETOOLARGE;
 * TRI_ENOMEM.
 */
tri_status tri_solve(const tri_solve_in *in, tri_dd *out, int *rule);

#endif

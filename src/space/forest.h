/*
 * The constraints of one component of the space, compiled for the solver:
 * variables are levels, what is constant is folded, and chains of integer
 * sums, products, minima and maxima are re-ordered by level, so that what is
 * known of a chain at any level is one number.  Two partial assignments that
 * leave the same numbers leave the same sub-problem.
 */
#ifndef TRI_SPACE_FOREST_H
#define TRI_SPACE_FOREST_H

#include "src/space/node.h"
#include "trireme/space.h"

/* What is known of a value without all its variables. */
typedef struct tri_abstract {
    unsigned types; /* it can have */
    int may_fail;   /* or be an error */
    int known;      /* unless an error, it is `value` */
    tri_value value;
    int64_t lo, hi;   /* integers only (no real among types); saturated */
    int64_t multiple; /* divides it; 0: it is 0 */
    double dlo, dhi;  /* numbers */
} tri_abstract;

/* One parameter as the solver sees it. */
typedef struct tri_level {
    int param;
    const tri_domain *domain;
    int64_t n; /* values */
    int may_inactive;
    int placeholder;  /* a float in no constraint: one arc for all of it */
    tri_abstract any; /* whatever value it takes */
} tri_level;

typedef struct tri_cnode {
    tri_op op;
    int a, b, c;
    int level; /* the last one it depends on, -1: constant */
    unsigned types;
} tri_cnode;

typedef struct tri_forest {
    tri_cnode *nodes; /* nodes 0..n_levels are the levels' variables */
    tri_value *value; /* of constants; of others while solving */
    size_t n, cap, cap_value;
} tri_forest;

/* How variables of expressions map: to a level, or else to a fixed value. */
typedef struct tri_binding {
    const int *level_of; /* by variable; -1: fixed */
    const tri_value *fixed;
} tri_binding;

tri_status tri_forest_init(tri_forest *f, int n_levels);
void tri_forest_fini(tri_forest *f);
/* Compile node `at` of `expr`.  [out] its node in the forest. */
tri_status tri_forest_add(tri_forest *f, const tri_binding *bind,
                          const tri_expr *expr, int at, int *out);
tri_status tri_forest_op(tri_forest *f, tri_op op, int a, int b, int c,
                         unsigned types, int *out);
tri_status tri_forest_const(tri_forest *f, tri_value v, int *out);
/* The value of a node whose operands have theirs. */
tri_value tri_forest_apply(const tri_forest *f, int at);

/* ---- abstract.c ------------------------------------------------------ */

tri_abstract tri_abstract_of(tri_value v);
tri_abstract tri_abstract_op(tri_op op, const tri_abstract *a,
                             const tri_abstract *b);
tri_abstract tri_abstract_join(const tri_abstract *a, const tri_abstract *b);
/* Whether the two can be equal. */
int tri_abstract_meet(const tri_abstract *a, const tri_abstract *b);
/* Of all values of a domain, and inactive where that is possible. */
tri_abstract tri_abstract_domain(const tri_domain *d, int64_t n,
                                 int may_inactive);

/* Value number i < n of a domain. */
tri_value tri_domain_at(const tri_domain *d, int64_t i);
/* How many values a finite domain has, -1: float. */
int64_t tri_domain_count(const tri_domain *d);
/* The index of a value; -1 if it is not one of the domain's. */
int64_t tri_domain_index(const tri_domain *d, tri_value v);

#endif

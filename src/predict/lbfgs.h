/*
 * Minimises a smooth function within bounds: limited-memory BFGS with
 * projection (Nocedal and Wright, Numerical Optimization, 2006, algorithms 7.4
 * and 7.5; variables that stand at a bound with the gradient pointing outward
 * are left out of the step).  Backtracking by Armijo's rule.  Deterministic.
 */
#ifndef TRI_SRC_PREDICT_LBFGS_H
#define TRI_SRC_PREDICT_LBFGS_H

/* The value at x[n]; [out] g[n].  A value that is not finite is refused by the
 * line search. */
typedef double (*tri_objective_fn)(void *ctx, const double *x, double *g);

/* From x[n] (moved into the bounds) to a minimum in x, at most `evaluations`
 * calls; returns the value there.  n <= TRI_LBFGS_MOST. */
#define TRI_LBFGS_MOST 512
double tri_lbfgs(tri_objective_fn f, void *ctx, int n, const double *lo,
                 const double *hi, int evaluations, double *x);

#endif

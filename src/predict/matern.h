/*
 * The Matern correlation 5/2, M(u) = (1 + u + u^2 / 3) e^-u with u the root of
 * five times the squared distance, of one point with many.
 */
#ifndef TRI_SRC_PREDICT_MATERN_H
#define TRI_SRC_PREDICT_MATERN_H

/* row[n]: in, -2 z z_j for each of the many; out, M.  `square`, other[n]: the
 * points' squared lengths. */
void tri_matern(int n, double square, const double *other, double *row);
/* As well slope[n] = 5/3 (1 + u) e^-u: of M by half the squared distance, but
 * for its sign. */
void tri_matern_slopes(int n, double square, const double *other, double *row,
                       double *slope);

#endif

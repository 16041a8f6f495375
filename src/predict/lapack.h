/*
 * The few routines of LAPACK that are used, by their Fortran names (OpenBLAS
 * brings them without a header of its own).  Matrices are row by row here: the
 * lower triangle of one is the upper of what LAPACK sees.
 */
#ifndef TRI_SRC_PREDICT_LAPACK_H
#define TRI_SRC_PREDICT_LAPACK_H

/* NOLINTBEGIN(readability-identifier-naming): Fortran names them */
void dpotrf_(const char *uplo, const int *n, double *a, const int *lda,
             int *info);
void dpotri_(const char *uplo, const int *n, double *a, const int *lda,
             int *info);
void dtrtri_(const char *uplo, const char *diag, const int *n, double *a,
             const int *lda, int *info);
/* NOLINTEND(readability-identifier-naming) */

/* Cholesky factor of the lower triangle of a[n][ld] in place; 0 where it is
 * not positive definite.  The upper triangle is left as it was. */
static inline int tri_cholesky(double *a, int n, int ld)
{
    int info = 0;

    if (n > 0) {
        dpotrf_("U", &n, a, &ld, &info);
    }
    return info == 0;
}

/* From the factor: the lower triangle of the inverse, in place. */
static inline int tri_cholesky_invert(double *a, int n, int ld)
{
    int info = 0;

    dpotri_("U", &n, a, &ld, &info);
    return info == 0;
}

/* The inverse of the factor, in place. */
static inline int tri_triangle_invert(double *a, int n, int ld)
{
    int info = 0;

    if (n > 0) {
        dtrtri_("U", "N", &n, a, &ld, &info);
    }
    return info == 0;
}

#endif

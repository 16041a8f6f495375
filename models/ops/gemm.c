/*
 * The one door to BLAS.  Which library and how many threads are known here
 * only.
 */
#include "models/ops/ops.h"

#include <cblas.h>

#ifdef TRI_REAL_DOUBLE
#define GEMM cblas_dgemm
#else
#define GEMM cblas_sgemm
#endif

void tri_gemm(int ta, int tb, int64_t m, int64_t n, int64_t k, tri_real alpha,
              const tri_real *a, int64_t lda, const tri_real *b, int64_t ldb,
              tri_real beta, tri_real *c, int64_t ldc)
{
    GEMM(CblasRowMajor, ta ? CblasTrans : CblasNoTrans,
         tb ? CblasTrans : CblasNoTrans, (blasint)m, (blasint)n, (blasint)k,
         alpha, a, (blasint)lda, b, (blasint)ldb, beta, c, (blasint)ldc);
}

void tri_gemm_one_thread(void)
{
    openblas_set_num_threads(1);
}

const char *tri_gemm_kernel(void)
{
    return openblas_get_corename();
}

/*
 * Joint draws of a Gaussian process's values, for Thompson sampling.
 */
#include "src/predict/gp.h"
#include "src/predict/lapack.h"
#include "trireme/rng.h"

#include <cblas.h>
#include <stdlib.h>

/* A joint draw of more points is a draw of each by itself. */
#define DRAW_MOST 1024

/* The factor of the joint covariance, into k[n][n], and the means. */
static tri_status factor_joint(const tri_model *m, tri_gp_block *b, double *k,
                               double *mean)
{
    tri_gp_points mine = tri_gp_rows(m, 0, m->n);
    int n = b->p.n;

    tri_gp_scale(&m->form, m->theta, &b->p);
    tri_gp_cross(&m->form, m->theta, &b->p, &b->p, k, n);
    tri_gp_cross(&m->form, m->theta, &b->p, &mine, b->k, m->n);
    for (int i = 0; i < n; i++) {
        mean[i] = m->mean + cblas_ddot(m->n, b->k + (size_t)i * (size_t)m->n, 1,
                                       m->alpha, 1);
    }
    cblas_dtrmm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit,
                n, m->n, 1, m->inverse, m->room, b->k, m->n);
    cblas_dsyrk(CblasRowMajor, CblasLower, CblasNoTrans, n, m->n, -1, b->k,
                m->n, 1, k, n);
    for (int i = 0; i < n; i++) {
        k[(size_t)i * (size_t)n + (size_t)i] += 1e-6;
    }
    if (!tri_cholesky(k, n, n)) {
        return TRI_FAIL(TRI_EINTERNAL, "a joint covariance is singular");
    }
    return TRI_OK;
}

/* out[many][n], normal numbers: in, independent; out, mean + factor x them. */
static tri_status draw_each(const tri_model *m, const double *x, int n,
                            double resource, int many, double *out)
{
    double *mean = malloc(2 * (size_t)n * sizeof *mean);

    if (!mean) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a draw");
    }
    tri_gp_predict(m, x, n, resource, mean, mean + n);
    for (int d = 0; d < many; d++) {
        for (int i = 0; i < n; i++) {
            double *z = &out[(size_t)d * (size_t)n + (size_t)i];

            *z = mean[i] + mean[n + i] * *z;
        }
    }
    free(mean);
    return TRI_OK;
}

static tri_status draw_together(const tri_model *m, const double *x, int n,
                                double resource, int many, double *out)
{
    double *share, *k, *mean;
    tri_gp_block b;
    tri_status st;

    if (!tri_gp_block_init(&b, &m->form, n, m->n, 2 + n)) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a draw");
    }
    share = b.more;
    mean = share + n;
    k = mean + n;
    b.p.x = x;
    b.p.share = share;
    for (int i = 0; i < n; i++) {
        share[i] = m->form.has_resource ? resource / m->top : 1;
    }
    st = factor_joint(m, &b, k, mean);
    if (st == TRI_OK) {
        cblas_dtrmm(CblasRowMajor, CblasRight, CblasLower, CblasTrans,
                    CblasNonUnit, many, n, 1, k, n, out, n);
        for (int d = 0; d < many; d++) {
            cblas_daxpy(n, 1, mean, 1, out + (size_t)d * (size_t)n, 1);
        }
    }
    tri_gp_block_fini(&b);
    return st;
}

tri_status tri_gp_draws(const tri_model *m, const double *x, int n,
                        double resource, uint64_t seed, int many, double *out)
{
    for (int d = 0; d < many; d++) {
        tri_rng rng = tri_rng_stream(seed + (uint64_t)d, 0, TRI_RNG_EXPLORE);

        for (int i = 0; i < n; i++) {
            out[(size_t)d * (size_t)n + (size_t)i] = tri_rng_normal(&rng);
        }
    }
    return n > DRAW_MOST ? draw_each(m, x, n, resource, many, out)
                         : draw_together(m, x, n, resource, many, out);
}

tri_status tri_gp_draw(const tri_model *m, const double *x, int n,
                       double resource, uint64_t seed, double *out)
{
    return tri_gp_draws(m, x, n, resource, seed, 1, out);
}

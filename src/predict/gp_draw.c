/*
 * One joint draw of a Gaussian process's values, for Thompson sampling.
 */
#include "src/predict/gp.h"
#include "src/predict/lapack.h"
#include "trireme/rng.h"

#include <cblas.h>
#include <stdlib.h>

/* A joint draw of more points is a draw of each by itself. */
#define DRAW_MOST 1024

/* mean + (factor of the joint covariance) z */
static tri_status draw_joint(const tri_model *m, tri_gp_block *b, double *k,
                             const double *z, double *out)
{
    tri_gp_points mine = tri_gp_rows(m, 0, m->n);
    int n = b->p.n;

    tri_gp_scale(&m->form, m->theta, &b->p);
    tri_gp_cross(&m->form, m->theta, &b->p, &b->p, k, n);
    tri_gp_cross(&m->form, m->theta, &b->p, &mine, b->k, m->n);
    for (int i = 0; i < n; i++) {
        out[i] = m->mean + cblas_ddot(m->n, b->k + (size_t)i * (size_t)m->n, 1,
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
    for (int i = 0; i < n; i++) {
        out[i] += cblas_ddot(i + 1, k + (size_t)i * (size_t)n, 1, z, 1);
    }
    return TRI_OK;
}

static tri_status draw_each(const tri_model *m, const double *x, int n,
                            double resource, const double *z, double *out)
{
    double *sd = malloc((size_t)n * sizeof *sd);

    if (!sd) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a draw");
    }
    tri_gp_predict(m, x, n, resource, out, sd);
    for (int i = 0; i < n; i++) {
        out[i] += sd[i] * z[i];
    }
    free(sd);
    return TRI_OK;
}

static tri_status draw_with(const tri_model *m, const double *x, int n,
                            double resource, const double *z, double *out)
{
    double *share;
    tri_gp_block b;
    tri_status st;

    if (n > DRAW_MOST) {
        return draw_each(m, x, n, resource, z, out);
    }
    if (!tri_gp_block_init(&b, &m->form, n, m->n, 1 + n)) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a draw");
    }
    share = b.more;
    b.p.x = x;
    b.p.share = share;
    for (int i = 0; i < n; i++) {
        share[i] = m->form.has_resource ? resource / m->top : 1;
    }
    st = draw_joint(m, &b, share + n, z, out);
    tri_gp_block_fini(&b);
    return st;
}

tri_status tri_gp_draw(const tri_model *m, const double *x, int n,
                       double resource, uint64_t seed, double *out)
{
    tri_rng rng = tri_rng_stream(seed, 0, TRI_RNG_EXPLORE);
    double *z = malloc(((size_t)n + 1) * sizeof *z);
    tri_status st;

    if (!z) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a draw");
    }
    for (int i = 0; i < n; i++) {
        z[i] = tri_rng_normal(&rng);
    }
    st = draw_with(m, x, n, resource, z, out);
    free(z);
    return st;
}

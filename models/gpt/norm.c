/*
 * The norm of a model: layer norm or RMSNorm.
 */
#include "models/gpt/stage.h"

void tri_gpt_norm(const tri_model *m, const norm *n, const tri_real *x,
                  tri_real *y, tri_real *mean, tri_real *rstd)
{
    if (m->shape.rms) {
        tri_rms_forward(m->mine, m->shape.hidden, x, n->g, y, rstd);
    } else {
        tri_norm_forward(m->mine, m->shape.hidden, x, n->g, n->b, y, mean,
                         rstd);
    }
}

void tri_gpt_norm_back(const tri_model *m, const norm *n, const tri_real *x,
                       const tri_real *mean, const tri_real *rstd,
                       const tri_real *dy, tri_real *dx)
{
    if (m->shape.rms) {
        tri_rms_backward(m->mine, m->shape.hidden, x, n->g, rstd, dy, dx,
                         n->dg);
    } else {
        tri_norm_backward(m->mine, m->shape.hidden, x, n->g, mean, rstd, dy, dx,
                          n->dg, n->db);
    }
}

/*
 * AdamW in one pass over the flat arrays.
 */
#include "models/optim/optim.h"

#include "models/ops/ops.h"

#include <math.h>

typedef struct scalars {
    tri_real beta1, beta2, rate, root, eps, keep, coefficient;
} scalars;

TRI_KERNEL(static void, update,
           (const scalars *s, int64_t n, const tri_real *restrict g,
            tri_real *restrict p, tri_real *restrict m, tri_real *restrict v),
           (s, n, g, p, m, v))
{
    const scalars c = *s;
    int64_t i;

    for (i = 0; i < n; i++) {
        tri_real gi = g[i] * c.coefficient;
        tri_real mi = c.beta1 * m[i] + (1 - c.beta1) * gi;
        tri_real vi = c.beta2 * v[i] + (1 - c.beta2) * gi * gi;

        m[i] = mi;
        v[i] = vi;
#ifdef TRI_REAL_DOUBLE
        p[i] = c.keep * p[i] - c.rate * mi / (sqrt(vi) * c.root + c.eps);
#else
        p[i] = c.keep * p[i] - c.rate * mi / (sqrtf(vi) * c.root + c.eps);
#endif
    }
}

void tri_adamw_part(const tri_adamw *opt, const tri_tensors *table,
                    int64_t step, double coefficient, int64_t first,
                    int64_t count, const tri_real *grads, tri_real *params,
                    tri_real *m, tri_real *v)
{
    double c1 = 1 - pow(opt->beta1, (double)step);
    double c2 = 1 - pow(opt->beta2, (double)step);
    scalars s = {.beta1 = (tri_real)opt->beta1,
                 .beta2 = (tri_real)opt->beta2,
                 .rate = (tri_real)(opt->lr / c1),
                 .root = (tri_real)(1 / sqrt(c2)),
                 .eps = (tri_real)opt->eps,
                 .coefficient = (tri_real)coefficient};

    for (int k = 0; k < table->n; k++) {
        const tri_tensor *t = &table->at[k];
        int64_t from, n = tri_tensor_within(t, first, count, &from);
        int64_t at = t->offset + from - first;
        int decays = !(t->flags & TRI_TENSOR_NO_DECAY);

        s.keep = (tri_real)(decays ? 1 - opt->lr * opt->weight_decay : 1.0);
        if (n > 0) {
            update(&s, n, grads + at, params + at, m + at, v + at);
        }
    }
}

void tri_adamw_update(const tri_adamw *opt, const tri_tensors *table,
                      int64_t step, double coefficient, const tri_real *grads,
                      tri_real *params, tri_real *m, tri_real *v)
{
    tri_adamw_part(opt, table, step, coefficient, 0, table->count, grads,
                   params, m, v);
}

double tri_clip_coefficient(double norm, double clip)
{
    if (clip <= 0 || norm <= clip) {
        return 1;
    }
    return clip / (norm + 1e-6);
}

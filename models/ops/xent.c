/*
 * Softmax cross-entropy, loss and gradient in two passes in place, so that
 * ranks which hold a slice of the vocabulary each can meet between them.
 *
 * With top_r and sum_r of part r, the whole row has top = max top_r and
 * sum = sum_r e^(top_r - top) sum_r.
 */
#include "models/ops/ops.h"

#include "models/ops/vmath.h"

#include <math.h>

enum {
    TOP,
    SUM,
    AT /* the logit of the target; 0 where another part has it */
};

TRI_KERNEL(void, tri_xent_begin,
           (const tri_vocab *v, int64_t rows, const int32_t *target,
            tri_real *logits, tri_real *stats),
           (v, rows, target, logits, stats))
{
    tri_real *mine = stats + v->part * rows * TRI_XENT_STATS;
    int64_t r, j;

    for (r = 0; r < rows; r++) {
        tri_real *restrict x = logits + r * v->width;
        tri_real top = v->n > 0 ? x[0] : (tri_real)-1e30, sum = 0;
        int64_t at = target[r] - v->first;

        for (j = 1; j < v->n; j++) {
            top = x[j] > top ? x[j] : top;
        }
        mine[r * TRI_XENT_STATS + AT] = at >= 0 && at < v->n ? x[at] : 0;
        for (j = 0; j < v->n; j++) {
            x[j] = tri_vexp(x[j] - top);
            sum += x[j];
        }
        for (j = v->n; j < v->width; j++) {
            x[j] = 0;
        }
        mine[r * TRI_XENT_STATS + TOP] = top;
        mine[r * TRI_XENT_STATS + SUM] = sum;
    }
}

/* The whole of row `r`, in the order of parts. */
static void merge(const tri_vocab *v, int64_t rows, int64_t r,
                  const tri_real *stats, tri_real *out)
{
    int k;

    for (k = 0; k < TRI_XENT_STATS; k++) {
        out[k] = stats[r * TRI_XENT_STATS + k];
    }
    for (k = 1; k < v->parts; k++) {
        const tri_real *s = stats + (k * rows + r) * TRI_XENT_STATS;
        tri_real top = s[TOP] > out[TOP] ? s[TOP] : out[TOP];

        out[SUM] = out[SUM] * tri_vexp(out[TOP] - top) +
                   s[SUM] * tri_vexp(s[TOP] - top);
        out[TOP] = top;
        out[AT] += s[AT];
    }
}

TRI_KERNEL(static void, times, (tri_real *restrict x, int64_t n, tri_real by),
           (x, n, by))
{
    int64_t j;

    for (j = 0; j < n; j++) {
        x[j] *= by;
    }
}

double tri_xent_end(const tri_vocab *v, int64_t rows, const int32_t *target,
                    tri_real scale, const tri_real *stats, tri_real *logits)
{
    double loss = 0;
    int64_t r;

    for (r = 0; r < rows; r++) {
        tri_real *x = logits + r * v->width;
        tri_real top = stats[(v->part * rows + r) * TRI_XENT_STATS + TOP];
        tri_real all[TRI_XENT_STATS];
        int64_t at = target[r] - v->first;

        merge(v, rows, r, stats, all);
        times(x, v->n, scale / all[SUM] * tri_vexp(top - all[TOP]));
        if (at >= 0 && at < v->n) {
            x[at] -= scale;
        }
        loss += log((double)all[SUM]) + (double)all[TOP] - (double)all[AT];
    }
    return loss;
}

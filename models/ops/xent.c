/*
 * Softmax cross-entropy, loss and gradient in one pass in place.
 */
#include "models/ops/ops.h"

#include "models/ops/vmath.h"

#include <math.h>

TRI_CLONES
double tri_xent(int64_t rows, int64_t V, const int32_t *target, tri_real scale,
                tri_real *logits)
{
    double loss = 0;
    int64_t r, j;

    for (r = 0; r < rows; r++) {
        tri_real *restrict x = logits + r * V;
        tri_real top = x[0], sum = 0, inv, at = x[target[r]];

        for (j = 1; j < V; j++) {
            top = x[j] > top ? x[j] : top;
        }
        for (j = 0; j < V; j++) {
            x[j] = tri_vexp(x[j] - top);
            sum += x[j];
        }
        inv = scale / sum;
        for (j = 0; j < V; j++) {
            x[j] *= inv;
        }
        x[target[r]] -= scale;
        loss += log((double)sum) + (double)top - (double)at;
    }
    return loss;
}

/*
 * Token and position embeddings.
 */
#include "models/ops/ops.h"

TRI_CLONES
void tri_embed_forward(int64_t rows, int64_t T, int64_t h, const int32_t *token,
                       const tri_real *restrict wte,
                       const tri_real *restrict wpe, tri_real *restrict y)
{
    int64_t r, i;

    for (r = 0; r < rows; r++) {
        const tri_real *e = wte + token[r] * h, *p = wpe + r % T * h;

        for (i = 0; i < h; i++) {
            y[r * h + i] = e[i] + p[i];
        }
    }
}

TRI_CLONES
void tri_embed_backward(int64_t rows, int64_t T, int64_t h,
                        const int32_t *token, const tri_real *restrict dy,
                        tri_real *restrict dwte, tri_real *restrict dwpe)
{
    int64_t r, i;

    for (r = 0; r < rows; r++) {
        tri_real *e = dwte + token[r] * h, *p = dwpe + r % T * h;

        for (i = 0; i < h; i++) {
            e[i] += dy[r * h + i];
            p[i] += dy[r * h + i];
        }
    }
}

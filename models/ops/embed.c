/*
 * Token and position embeddings.
 */
#include "models/ops/ops.h"

TRI_KERNEL(static void, row_copy,
           (tri_real *restrict y, const tri_real *restrict x, int64_t h),
           (y, x, h))
{
    int64_t i;

    for (i = 0; i < h; i++) {
        y[i] = x[i];
    }
}

void tri_embed_forward(int64_t rows, int64_t h, int64_t first, int64_t n,
                       const int32_t *token, const tri_real *wte, tri_real *y)
{
    int64_t r, i;

    for (r = 0; r < rows; r++) {
        int64_t at = token[r] - first;

        if (at >= 0 && at < n) {
            row_copy(y + r * h, wte + at * h, h);
            continue;
        }
        for (i = 0; i < h; i++) {
            y[r * h + i] = 0;
        }
    }
}

void tri_embed_backward(int64_t rows, int64_t h, int64_t first, int64_t n,
                        const int32_t *token, const tri_real *dy,
                        tri_real *dwte)
{
    int64_t r;

    for (r = 0; r < rows; r++) {
        int64_t at = token[r] - first;

        if (at >= 0 && at < n) {
            tri_vector_add(dy + r * h, h, dwte + at * h);
        }
    }
}

void tri_positions_forward(int64_t rows, int64_t row, int64_t T, int64_t h,
                           const tri_real *wpe, tri_real *y)
{
    int64_t r;

    for (r = 0; r < rows; r++) {
        tri_vector_add(wpe + (row + r) % T * h, h, y + r * h);
    }
}

void tri_positions_backward(int64_t rows, int64_t row, int64_t T, int64_t h,
                            const tri_real *dy, tri_real *dwpe)
{
    int64_t r;

    for (r = 0; r < rows; r++) {
        tri_vector_add(dy + r * h, h, dwpe + (row + r) % T * h);
    }
}

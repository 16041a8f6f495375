/*
 * Kernels of embedding bags and of their interaction.
 */
#include "models/dlrm/bags.h"

#include "models/ops/ops.h"

#include <string.h>

#define AHEAD 8 /* ids whose rows are asked for before they are read */
#define LINE  64

static void ask_for(const tri_plan_shard *s, const tri_real *table, int32_t id)
{
    int64_t row = id - s->row;
    int64_t i;

    if (row >= 0 && row < s->rows) {
        const char *at = (const char *)(table + row * s->cols);

        for (i = 0; i < s->cols * (int64_t)sizeof *table; i += LINE) {
            __builtin_prefetch(at + i);
        }
    }
}

TRI_KERNEL(void, tri_bag_add,
           (int cols, const tri_real *restrict x, tri_real *restrict y),
           (cols, x, y))
{
    int i;

    for (i = 0; i < cols; i++) {
        y[i] += x[i];
    }
}

TRI_KERNEL(void, tri_bag_axpy,
           (int cols, tri_real a, const tri_real *restrict x,
            tri_real *restrict y),
           (cols, a, x, y))
{
    int i;

    for (i = 0; i < cols; i++) {
        y[i] += a * x[i];
    }
}

TRI_KERNEL(static void, squares, (int cols, const tri_real *x, double *out),
           (cols, x, out))
{
    tri_real sum = 0;
    int i;

    for (i = 0; i < cols; i++) {
        sum += x[i] * x[i];
    }
    *out = (double)sum;
}

double tri_bag_squares(int cols, const tri_real *x)
{
    double sum = 0;

    squares(cols, x, &sum);
    return sum;
}

void tri_bag_forward(const tri_plan_shard *s, const tri_real *table, int64_t n,
                     int pooling, const int32_t *ids, tri_real *out, int64_t ld)
{
    int64_t i;
    int p;

    for (i = 0; i < n; i++) {
        tri_real *to = out + i * ld;
        int found = 0;

        if (i + AHEAD < n) {
            for (p = 0; p < pooling; p++) {
                ask_for(s, table, ids[(i + AHEAD) * pooling + p]);
            }
        }
        for (p = 0; p < pooling; p++) {
            int64_t row = ids[i * pooling + p] - s->row;

            if (row < 0 || row >= s->rows) {
                continue;
            }
            if (found++) {
                tri_bag_add(s->cols, table + row * s->cols, to);
            } else {
                memcpy(to, table + row * s->cols, (size_t)s->cols * sizeof *to);
            }
        }
        if (!found) {
            memset(to, 0, (size_t)s->cols * sizeof *to);
        }
    }
}

/* ---- sorting ------------------------------------------------------------- */

#define DIGIT 11
#define KINDS (1 << DIGIT)

uint64_t *tri_bag_sort(uint64_t *keys, uint64_t *work, int64_t n, int64_t rows)
{
    int64_t places[KINDS], i;
    int shift, d;

    for (shift = 32; shift < 64 && rows >> (shift - 32); shift += DIGIT) {
        int64_t at = 0;
        uint64_t *other = work;

        memset(places, 0, sizeof places);
        for (i = 0; i < n; i++) {
            places[keys[i] >> shift & (KINDS - 1)]++;
        }
        for (d = 0; d < KINDS; d++) {
            int64_t count = places[d];

            places[d] = at;
            at += count;
        }
        for (i = 0; i < n; i++) {
            other[places[keys[i] >> shift & (KINDS - 1)]++] = keys[i];
        }
        work = keys;
        keys = other;
    }
    return keys;
}

/* ---- interaction --------------------------------------------------------- */

/* Of a batch, so that the path is chosen once for it. */
TRI_KERNEL(void, tri_pairs_forward,
           (int64_t n, int F, int D, const tri_real *restrict x, int64_t ld,
            tri_real *restrict z),
           (n, F, D, x, ld, z))
{
    int64_t s;
    int i, j, k;

    for (s = 0; s < n; s++) {
        const tri_real *one = x + s * F * D;
        tri_real *to = z + s * ld;

        for (i = 1; i < F; i++) {
            for (j = 0; j < i; j++) {
                const tri_real *a = one + (int64_t)i * D;
                const tri_real *b = one + (int64_t)j * D;
                tri_real sum = 0;

                for (k = 0; k < D; k++) {
                    sum += a[k] * b[k];
                }
                *to++ = sum;
            }
        }
    }
}

TRI_KERNEL(void, tri_pairs_backward,
           (int64_t n, int F, int D, const tri_real *restrict x,
            const tri_real *restrict dz, int64_t ld, tri_real *restrict dx),
           (n, F, D, x, dz, ld, dx))
{
    int64_t s;
    int i, j, k;

    for (s = 0; s < n; s++) {
        const tri_real *one = x + s * F * D, *d = dz + s * ld;
        tri_real *to = dx + s * F * D;

        for (k = 0; k < F * D; k++) {
            to[k] = 0;
        }
        for (i = 1; i < F; i++) {
            for (j = 0; j < i; j++) {
                tri_real g = *d++;

                TRI_IVDEP
                for (k = 0; k < D; k++) {
                    to[i * D + k] += g * one[j * D + k];
                    to[j * D + k] += g * one[i * D + k];
                }
            }
        }
    }
}

/* ---- behind a product: one pass ------------------------------------------ */

TRI_KERNEL(void, tri_bias_relu,
           (const tri_real *restrict b, int64_t rows, int64_t n,
            tri_real *restrict y),
           (b, rows, n, y))
{
    int64_t r, i;

    for (r = 0; r < rows; r++) {
        for (i = 0; i < n; i++) {
            tri_real sum = y[r * n + i] + b[i];

            y[r * n + i] = sum > 0 ? sum : 0;
        }
    }
}

TRI_KERNEL(void, tri_bias_relu_back,
           (const tri_real *restrict y, int64_t rows, int64_t n,
            tri_real *restrict dx, tri_real *restrict db),
           (y, rows, n, dx, db))
{
    int64_t r, i;

    for (r = 0; r < rows; r++) {
        for (i = 0; i < n; i++) {
            tri_real d = dx[r * n + i];

            d = y[r * n + i] > 0 ? d : 0;
            dx[r * n + i] = d;
            db[i] += d;
        }
    }
}

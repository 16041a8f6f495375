/*
 * Causal self-attention, a head of a sample at a time, in blocks of query
 * rows: a block meets only the keys up to its last row, which saves half of
 * the work, and never more than a block of scores exists.  Backward makes the
 * probabilities again from the scores and the kept lse, as FlashAttention
 * does (Dao et al. 2022).
 */
#include "models/ops/ops.h"

#include "models/ops/vmath.h"

#include <math.h>
#include <string.h>

#define BLOCK 64 /* query rows */

typedef struct head {
    const tri_real *q, *k, *v; /* first row; stride ld */
    int64_t ld;
    int64_t out; /* offset in out and dout; stride ld_out */
    int64_t ld_out;
    int64_t lse; /* offset in lse */
    uint64_t mask;
    int64_t mask_row; /* of its first row */
} head;

int64_t tri_attention_work(int64_t T)
{
    return 2 * BLOCK * T;
}

static head head_of(const tri_attention *a, const tri_real *qkv, int64_t sample,
                    int64_t h)
{
    int64_t width = a->H * a->s;
    const tri_real *row = qkv + sample * a->T * 3 * width + h * a->s;

    return (head){.q = row,
                  .k = row + width,
                  .v = row + 2 * width,
                  .ld = 3 * width,
                  .out = sample * a->T * width + h * a->s,
                  .ld_out = width,
                  .lse = (sample * a->H + h) * a->T,
                  .mask = a->dropout > 0 ? a->masks[sample] : 0,
                  .mask_row = (a->first + h) * a->T};
}

/* The mask of rows [first, first + rows) on rows of probabilities or of their
 * gradients. */
static void mask(const tri_attention *a, const head *h, int64_t first,
                 int64_t rows, int64_t keys, tri_real *p)
{
    int64_t r;

    for (r = 0; r < rows && a->dropout > 0; r++) {
        tri_dropout(a->dropout, h->mask, h->mask_row + first + r, keys,
                    p + r * a->T);
    }
}

/* Scores of row `i` over keys 0..i to probabilities; returns the lse.  Keys
 * i + 1..n get 0. */
static inline tri_real softmax_row(tri_real *restrict p, int64_t i, int64_t n)
{
    tri_real top = p[0], sum = 0, inv;
    int64_t j;

    for (j = 1; j <= i; j++) {
        top = p[j] > top ? p[j] : top;
    }
    for (j = 0; j <= i; j++) {
        p[j] = tri_vexp(p[j] - top);
        sum += p[j];
    }
    inv = (tri_real)1 / sum;
    for (j = 0; j <= i; j++) {
        p[j] *= inv;
    }
    for (; j < n; j++) {
        p[j] = 0;
    }
    return top + (tri_real)log((double)sum);
}

TRI_KERNEL(static void, softmax_block,
           (tri_real * p, int64_t T, int64_t first, int64_t rows, int64_t keys,
            tri_real *lse),
           (p, T, first, rows, keys, lse))
{
    int64_t r;

    for (r = 0; r < rows; r++) {
        lse[first + r] = softmax_row(p + r * T, first + r, keys);
    }
}

void tri_attention_forward(const tri_attention *a, const tri_real *qkv,
                           tri_real *out, tri_real *lse)
{
    tri_real scale = (tri_real)(1 / sqrt((double)a->s));
    int64_t n, i;

    for (n = 0; n < a->samples * a->H; n++) {
        head h = head_of(a, qkv, n / a->H, n % a->H);

        for (i = 0; i < a->T; i += BLOCK) {
            int64_t rows = a->T - i < BLOCK ? a->T - i : BLOCK;
            int64_t keys = i + rows;

            tri_gemm(0, 1, rows, keys, a->s, scale, h.q + i * h.ld, h.ld, h.k,
                     h.ld, 0, a->work, a->T);
            softmax_block(a->work, a->T, i, rows, keys, lse + h.lse);
            mask(a, &h, i, rows, keys, a->work);
            tri_gemm(0, 0, rows, a->s, keys, 1, a->work, a->T, h.v, h.ld, 0,
                     out + h.out + i * h.ld_out, h.ld_out);
        }
    }
}

/* p: scores to probabilities; dp: their gradients to scale x those of the
 * scores, with delta = sum of dout x out of the row. */
TRI_KERNEL(static void, score_grads,
           (int64_t T, int64_t first, int64_t rows, int64_t keys,
            const tri_real *lse, const tri_real *delta, tri_real scale,
            tri_real *p, tri_real *dp),
           (T, first, rows, keys, lse, delta, scale, p, dp))
{
    int64_t r, j;

    for (r = 0; r < rows; r++) {
        tri_real *restrict pr = p + r * T, *restrict dr = dp + r * T;
        int64_t i = first + r;

        for (j = 0; j <= i; j++) {
            pr[j] = tri_vexp(pr[j] - lse[i]);
            dr[j] = scale * pr[j] * (dr[j] - delta[r]);
        }
        for (; j < keys; j++) {
            pr[j] = 0;
            dr[j] = 0;
        }
    }
}

TRI_KERNEL(static void, row_dots,
           (int64_t rows, int64_t s, int64_t ld, const tri_real *x,
            const tri_real *y, tri_real *dot),
           (rows, s, ld, x, y, dot))
{
    int64_t r, i;

    for (r = 0; r < rows; r++) {
        tri_real sum = 0;

        for (i = 0; i < s; i++) {
            sum += x[r * ld + i] * y[r * ld + i];
        }
        dot[r] = sum;
    }
}

static void head_backward(const tri_attention *a, const head *h,
                          const tri_real *out, const tri_real *lse,
                          const tri_real *dout, tri_real *dq)
{
    tri_real scale = (tri_real)(1 / sqrt((double)a->s));
    tri_real *p = a->work, *dp = a->work + BLOCK * a->T;
    tri_real *dk = dq + h->ld_out, *dv = dq + 2 * h->ld_out;
    tri_real delta[BLOCK];
    int64_t i, r;

    for (r = 0; r < a->T; r++) {
        memset(dk + r * h->ld, 0, (size_t)a->s * sizeof *dk);
        memset(dv + r * h->ld, 0, (size_t)a->s * sizeof *dv);
    }
    for (i = 0; i < a->T; i += BLOCK) {
        int64_t rows = a->T - i < BLOCK ? a->T - i : BLOCK;
        int64_t keys = i + rows;
        const tri_real *d = dout + h->out + i * h->ld_out;
        const tri_real *q = h->q + i * h->ld;

        row_dots(rows, a->s, h->ld_out, d, out + h->out + i * h->ld_out, delta);
        tri_gemm(0, 1, rows, keys, a->s, scale, q, h->ld, h->k, h->ld, 0, p,
                 a->T);
        tri_gemm(0, 1, rows, keys, a->s, 1, d, h->ld_out, h->v, h->ld, 0, dp,
                 a->T);
        mask(a, h, i, rows, keys, dp);
        score_grads(a->T, i, rows, keys, lse + h->lse, delta, scale, p, dp);
        tri_gemm(0, 0, rows, a->s, keys, 1, dp, a->T, h->k, h->ld, 0,
                 dq + i * h->ld, h->ld);
        tri_gemm(1, 0, keys, a->s, rows, 1, dp, a->T, q, h->ld, 1, dk, h->ld);
        mask(a, h, i, rows, keys, p);
        tri_gemm(1, 0, keys, a->s, rows, 1, p, a->T, d, h->ld_out, 1, dv,
                 h->ld);
    }
}

void tri_attention_backward(const tri_attention *a, const tri_real *qkv,
                            const tri_real *out, const tri_real *lse,
                            const tri_real *dout, tri_real *dqkv)
{
    int64_t n;

    for (n = 0; n < a->samples * a->H; n++) {
        head h = head_of(a, qkv, n / a->H, n % a->H);

        head_backward(a, &h, out, lse, dout, dqkv + (h.q - qkv));
    }
}

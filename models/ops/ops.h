/*
 * Operations of which models are built: forward and backward pairs on plain
 * arrays, row-major, without allocation and without knowledge of networks.
 *
 * Letters: T sequence length, h width of a row, H heads, s width of a head,
 * V vocabulary, rows the number of rows (samples times T).
 *
 * Backward functions add to the gradients of parameters (dw, dg, db) and, but
 * where it is said, write those of inputs.
 */
#ifndef TRI_MODELS_OPS_H
#define TRI_MODELS_OPS_H

#include "models/ops/path.h"
#include "trireme/model.h"

/* For kernels that are not yet TRI_KERNEL's. */
#define TRI_CLONES

/* Before a loop whose arrays are the same or apart: no element is used after
 * another one was written. */
#if defined(__clang__)
#define TRI_IVDEP _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define TRI_IVDEP _Pragma("GCC ivdep")
#else
#define TRI_IVDEP
#endif

/* c (m x n) = alpha a b + beta c, where a is m x k (or its transpose with
 * ta: k x m in memory), b is k x n (tb: n x k).  ld*: row strides. */
void tri_gemm(int ta, int tb, int64_t m, int64_t n, int64_t k, tri_real alpha,
              const tri_real *a, int64_t lda, const tri_real *b, int64_t ldb,
              tri_real beta, tri_real *c, int64_t ldc);
/* One BLAS thread in this process; parallelism is ranks. */
void tri_gemm_one_thread(void);
/* The kernel set that BLAS chose for this processor.  Static storage. */
const char *tri_gemm_kernel(void);

/* y = x w^T (+ b where l->b). */
void tri_linear_forward(const tri_linear *l, int64_t rows, const tri_real *x,
                        tri_real *y);
/* dw += dy^T x, db += column sums of dy, dx = dy w (skipped where NULL). */
void tri_linear_backward(const tri_linear *l, int64_t rows, const tri_real *x,
                         const tri_real *dy, tri_real *dx);
/* y[r] += b for every row of width n. */
void tri_bias_add(const tri_real *b, int64_t rows, int64_t n, tri_real *y);
/* y += x over n elements. */
void tri_vector_add(const tri_real *x, int64_t n, tri_real *y);
/* The sum of squares, in double. */
double tri_sumsq(const tri_real *x, int64_t n);

/* Layer normalisation over rows of width h: y = (x - mean) rstd g + b, with
 * eps 1e-5; mean and rstd are kept for backward. */
void tri_norm_forward(int64_t rows, int64_t h, const tri_real *x,
                      const tri_real *g, const tri_real *b, tri_real *y,
                      tri_real *mean, tri_real *rstd);
/* Adds to dg, db and to dx (the residual stream gathers gradients). */
void tri_norm_backward(int64_t rows, int64_t h, const tri_real *x,
                       const tri_real *g, const tri_real *mean,
                       const tri_real *rstd, const tri_real *dy, tri_real *dx,
                       tri_real *dg, tri_real *db);

/* RMSNorm: y = x rstd g, with rstd of the mean square.  Backward as above. */
void tri_rms_forward(int64_t rows, int64_t h, const tri_real *x,
                     const tri_real *g, tri_real *y, tri_real *rstd);
void tri_rms_backward(int64_t rows, int64_t h, const tri_real *x,
                      const tri_real *g, const tri_real *rstd,
                      const tri_real *dy, tri_real *dx, tri_real *dg);

/* SwiGLU: rows of x are f gates and f values, those of y f products
 * gate sigmoid(gate) value. */
void tri_swiglu_forward(int64_t rows, int64_t f, const tri_real *x,
                        tri_real *y);
void tri_swiglu_backward(int64_t rows, int64_t f, const tri_real *x,
                         const tri_real *dy, tri_real *dx);

/* Rotary positions.  table: T x s, the cosines and sines of each position; s
 * is even.  Turns the first `heads` heads of each row (row r is at position r
 * mod T; ld: their stride), or turns them back, which is also the gradient. */
void tri_rope_table(int64_t T, int64_t s, tri_real *table);
void tri_rope(int64_t rows, int64_t T, int64_t heads, int64_t s, int64_t ld,
              const tri_real *table, int back, tri_real *x);

/* GELU in its tanh form (Hendrycks and Gimpel 2016), n elements. */
void tri_gelu_forward(int64_t n, const tri_real *x, tri_real *y);
/* dx = dy gelu'(x); dx may be dy. */
void tri_gelu_backward(int64_t n, const tri_real *x, const tri_real *dy,
                       tri_real *dx);

/*
 * Dropout: each element of row `row`, n wide, is 0 with probability `rate`
 * (< 1), else divided by 1 - rate.  Which ones depends on (key, row, column)
 * alone, and the key on what it is made of: `place` (< 2^20) is where in the
 * network.  It is its own gradient.
 */
uint64_t tri_mask_key(uint64_t seed, int64_t step, int64_t sample,
                      int64_t place);
void tri_dropout(double rate, uint64_t key, int64_t row, int64_t n,
                 tri_real *x);

/* Causal attention over the rows of `samples` sequences.  qkv: rows x [3][H]
 * [s]; out: rows x [H][s]; lse: samples x H x T, the logarithm of the sum of
 * exponentials of each row of scores, all that backward needs of them.
 * Probabilities are dropped with `dropout`; head h here is head first + h of
 * the layer, and row i of its mask is row (first + h) T + i of the sample's. */
typedef struct tri_attention {
    int64_t samples, T, H, s;
    tri_real *work; /* tri_attention_work elements */
    double dropout; /* 0: none */
    int64_t first;
    const uint64_t *masks; /* keys, of each sample */
} tri_attention;
int64_t tri_attention_work(int64_t T);
void tri_attention_forward(const tri_attention *a, const tri_real *qkv,
                           tri_real *out, tri_real *lse);
void tri_attention_backward(const tri_attention *a, const tri_real *qkv,
                            const tri_real *out, const tri_real *lse,
                            const tri_real *dout, tri_real *dqkv);

/* y[r] = wte[token[r] - first], 0 where that is not one of the `n` rows of
 * the embedding that are here. */
void tri_embed_forward(int64_t rows, int64_t h, int64_t first, int64_t n,
                       const int32_t *token, const tri_real *wte, tri_real *y);
/* Adds to dwte, row by row in order. */
void tri_embed_backward(int64_t rows, int64_t h, int64_t first, int64_t n,
                        const int32_t *token, const tri_real *dy,
                        tri_real *dwte);
/* y[r] += wpe[(row + r) mod T], and dwpe += dy, row by row in order. */
void tri_positions_forward(int64_t rows, int64_t row, int64_t T, int64_t h,
                           const tri_real *wpe, tri_real *y);
void tri_positions_backward(int64_t rows, int64_t row, int64_t T, int64_t h,
                            const tri_real *dy, tri_real *dwpe);

/* A slice of a vocabulary: columns first..first + n of it, in rows of `width`;
 * the columns behind them are padding and no part of it.  It is one of `parts`
 * slices. */
typedef struct tri_vocab {
    int64_t width, first, n;
    int parts, part;
} tri_vocab;
/*
 * Softmax cross-entropy of rows of logits against target[r] (of the whole
 * vocabulary).  begin: turns the logits into exponentials and puts what the
 * other slices must know of them at stats[part]; the caller then gathers
 * stats[parts][rows][TRI_XENT_STATS].  end: returns the sum of losses, the
 * same in every slice, and turns the logits into scale x their gradients,
 * those of the padding into 0.
 */
#define TRI_XENT_STATS 3
void tri_xent_begin(const tri_vocab *v, int64_t rows, const int32_t *target,
                    tri_real *logits, tri_real *stats);
double tri_xent_end(const tri_vocab *v, int64_t rows, const int32_t *target,
                    tri_real scale, const tri_real *stats, tri_real *logits);

#endif

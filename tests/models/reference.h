/*
 * Plain C forms of the operations, in double, by their definitions: what the
 * kernels are held against.
 */
#ifndef TRI_TESTS_MODELS_REFERENCE_H
#define TRI_TESTS_MODELS_REFERENCE_H

#include <stdint.h>

/* c = alpha a b + beta c, all row-major without padding; ta, tb transpose. */
void ref_gemm(int ta, int tb, int m, int n, int k, double alpha,
              const double *a, const double *b, double beta, double *c);
void ref_norm(int rows, int h, const double *x, const double *g,
              const double *b, double *y);
void ref_norm_back(int rows, int h, const double *x, const double *g,
                   const double *dy, double *dx, double *dg, double *db);
double ref_gelu(double x);
double ref_gelu_slope(double x);
/* Causal attention as tri_attention; p: room for samples x H x T x T. */
void ref_attention(int samples, int T, int H, int s, const double *qkv,
                   double *out, double *p);
void ref_attention_back(int samples, int T, int H, int s, const double *qkv,
                        const double *p, const double *dout, double *dqkv);
double ref_xent(int rows, int V, const int32_t *target, double scale,
                double *logits);
/* One AdamW update of one weight. */
void ref_adamw(double lr, double b1, double b2, double eps, double decay,
               int step, double g, double *p, double *m, double *v);

#endif

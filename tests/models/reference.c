/*
 * The definitions, one loop a sum.
 */
#include "tests/models/reference.h"

#include <math.h>
#include <string.h>

void ref_gemm(int ta, int tb, int m, int n, int k, double alpha,
              const double *a, const double *b, double beta, double *c)
{
    int i, j, l;

    for (i = 0; i < m; i++) {
        for (j = 0; j < n; j++) {
            double sum = 0;

            for (l = 0; l < k; l++) {
                sum += (ta ? a[l * m + i] : a[i * k + l]) *
                       (tb ? b[j * k + l] : b[l * n + j]);
            }
            c[i * n + j] = alpha * sum + beta * c[i * n + j];
        }
    }
}

static void moments(int h, const double *x, double *mean, double *rstd)
{
    double m = 0, v = 0;
    int i;

    for (i = 0; i < h; i++) {
        m += x[i] / h;
    }
    for (i = 0; i < h; i++) {
        v += (x[i] - m) * (x[i] - m) / h;
    }
    *mean = m;
    *rstd = 1 / sqrt(v + 1e-5);
}

void ref_norm(int rows, int h, const double *x, const double *g,
              const double *b, double *y)
{
    int r, i;

    for (r = 0; r < rows; r++) {
        double mean, rstd;

        moments(h, x + r * h, &mean, &rstd);
        for (i = 0; i < h; i++) {
            y[r * h + i] = (x[r * h + i] - mean) * rstd * g[i] + b[i];
        }
    }
}

/* By the Jacobian of the row, element by element. */
void ref_norm_back(int rows, int h, const double *x, const double *g,
                   const double *dy, double *dx, double *dg, double *db)
{
    int r, i, j;

    for (r = 0; r < rows; r++) {
        const double *xr = x + r * h, *dyr = dy + r * h;
        double mean, rstd;

        moments(h, xr, &mean, &rstd);
        for (j = 0; j < h; j++) {
            double nj = (xr[j] - mean) * rstd;

            dg[j] += dyr[j] * nj;
            db[j] += dyr[j];
            for (i = 0; i < h; i++) {
                double ni = (xr[i] - mean) * rstd;

                dx[r * h + i] += dyr[j] * g[j] * rstd *
                                 ((i == j) - 1.0 / h - ni * nj / h);
            }
        }
    }
}

#define ROOT 0.79788456080286535588

double ref_gelu(double x)
{
    return 0.5 * x * (1 + tanh(ROOT * (x + 0.044715 * x * x * x)));
}

double ref_gelu_slope(double x)
{
    double t = tanh(ROOT * (x + 0.044715 * x * x * x));

    return 0.5 * (1 + t) +
           0.5 * x * (1 - t * t) * ROOT * (1 + 3 * 0.044715 * x * x);
}

/* Element d of q (0), k (1) or v (2) of head h at position t of sample b. */
#define QKV(b, t, which, h, d)                                                 \
    ((((size_t)(b) * (size_t)T + (size_t)(t)) * 3 + (which)) * (size_t)H *     \
             (size_t)s +                                                       \
     (size_t)(h) * (size_t)s + (size_t)(d))
#define OUT(b, t, h, d)                                                        \
    (((size_t)(b) * (size_t)T + (size_t)(t)) * (size_t)H * (size_t)s +         \
     (size_t)(h) * (size_t)s + (size_t)(d))
#define P(b, h, t, u)                                                          \
    ((((size_t)(b) * (size_t)H + (size_t)(h)) * (size_t)T + (size_t)(t)) *     \
             (size_t)T +                                                       \
     (size_t)(u))

static double dot(int s, const double *x, const double *y)
{
    double sum = 0;
    int d;

    for (d = 0; d < s; d++) {
        sum += x[d] * y[d];
    }
    return sum;
}

static void softmax(int n, double *x)
{
    double sum = 0;
    int i;

    for (i = 0; i < n; i++) {
        x[i] = exp(x[i]);
        sum += x[i];
    }
    for (i = 0; i < n; i++) {
        x[i] /= sum;
    }
}

void ref_attention(int samples, int T, int H, int s, const double *qkv,
                   double *out, double *p)
{
    int b, h, t, u, d;

    for (b = 0; b < samples; b++) {
        for (h = 0; h < H; h++) {
            for (t = 0; t < T; t++) {
                double *row = p + P(b, h, t, 0);

                for (u = 0; u <= t; u++) {
                    row[u] = dot(s, qkv + QKV(b, t, 0, h, 0),
                                 qkv + QKV(b, u, 1, h, 0)) /
                             sqrt(s);
                }
                softmax(t + 1, row);
                for (d = 0; d < s; d++) {
                    out[OUT(b, t, h, d)] = 0;
                    for (u = 0; u <= t; u++) {
                        out[OUT(b, t, h, d)] +=
                                row[u] * qkv[QKV(b, u, 2, h, d)];
                    }
                }
            }
        }
    }
}

/* One row of probabilities, by the Jacobian of softmax. */
static void row_back(int T, int H, int s, int b, int h, int t,
                     const double *qkv, const double *row, const double *dout,
                     double *dqkv)
{
    int u, w, d;

    for (u = 0; u <= t; u++) {
        double ds = 0;

        for (w = 0; w <= t; w++) {
            double dp =
                    dot(s, dout + OUT(b, t, h, 0), qkv + QKV(b, w, 2, h, 0));

            ds += dp * row[w] * ((u == w) - row[u]);
        }
        for (d = 0; d < s; d++) {
            dqkv[QKV(b, t, 0, h, d)] += ds * qkv[QKV(b, u, 1, h, d)] / sqrt(s);
            dqkv[QKV(b, u, 1, h, d)] += ds * qkv[QKV(b, t, 0, h, d)] / sqrt(s);
            dqkv[QKV(b, u, 2, h, d)] += row[u] * dout[OUT(b, t, h, d)];
        }
    }
}

void ref_attention_back(int samples, int T, int H, int s, const double *qkv,
                        const double *p, const double *dout, double *dqkv)
{
    int b, h, t;

    memset(dqkv, 0,
           (size_t)samples * (size_t)T * 3 * (size_t)(H * s) * sizeof *dqkv);
    for (b = 0; b < samples; b++) {
        for (h = 0; h < H; h++) {
            for (t = 0; t < T; t++) {
                row_back(T, H, s, b, h, t, qkv, p + P(b, h, t, 0), dout, dqkv);
            }
        }
    }
}

double ref_xent(int rows, int V, const int32_t *target, double scale,
                double *logits)
{
    double loss = 0;
    int r, j;

    for (r = 0; r < rows; r++) {
        double *x = logits + r * V;

        softmax(V, x);
        loss -= log(x[target[r]]);
        for (j = 0; j < V; j++) {
            x[j] = scale * (x[j] - (j == target[r]));
        }
    }
    return loss;
}

void ref_adamw(double lr, double b1, double b2, double eps, double decay,
               int step, double g, double *p, double *m, double *v)
{
    double mh, vh;

    *m = b1 * *m + (1 - b1) * g;
    *v = b2 * *v + (1 - b2) * g * g;
    mh = *m / (1 - pow(b1, step));
    vh = *v / (1 - pow(b2, step));
    *p -= lr * decay * *p;
    *p -= lr * mh / (sqrt(vh) + eps);
}

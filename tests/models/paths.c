/*
 * The kernels on every path that this processor has, at every length up to a
 * few vectors and on numbers at the edge: denormals, infinities, NaN.  Held to
 * the C library in double.  Built in float and in double.
 */
#include "models/ops/ops.h"
#include "models/ops/vmath.h"
#include "models/optim/optim.h"
#include "trireme/rng.h"

#include "tests/models/each_path.h"
#include "tests/tri_cmocka.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
    MOST = 67 /* four vectors of 16 and some */
};

static const double bound = sizeof(tri_real) == 8 ? 1e-13 : 2e-6;
/* What may be 0 instead. */
static const double least = sizeof(tri_real) == 8 ? 0 : 3e-38;
static const double most = sizeof(tri_real) == 8 ? DBL_MAX : (double)FLT_MAX;

TRI_KERNEL(static void, exps, (int64_t n, const tri_real *x, tri_real *y),
           (n, x, y))
{
    for (int64_t i = 0; i < n; i++) {
        y[i] = tri_vexp(x[i]);
    }
}

/* Numbers of which any kernel makes a number again. */
static void fill(tri_real *x, int n, unsigned key)
{
    static const double odd[] = {0,     -0.0, 1e-40, -1e-40, 1e-45, 30,
                                 -30,   90,   -90,   1e-20,  200,   -200,
                                 1e-38, 88.5, -87.2, -103};
    tri_rng rng = tri_rng_stream(7, key, TRI_RNG_TEST);
    int i;

    for (i = 0; i < n; i++) {
        x[i] = (tri_real)(i % 3 ? tri_rng_normal(&rng)
                                : odd[tri_rng_below(&rng, 16)]);
    }
}

static void near(const char *what, int n, int i, double x, double ref)
{
    double off = bound * (1 + 8 * (double)(sizeof(tri_real) == 4)) * fabs(ref);

    if (isnan(ref) ? !isnan(x)
                   : !(x == ref || fabs(x - ref) <= off + least ||
                       (fabs(ref) > most && fabs(x) > most))) {
        fail_msg("%s, element %d of %d: %.9g is not %.9g", what, i, n, x, ref);
    }
}

static void test_exp(void **state)
{
    tri_real x[4096], y[4096];
    int i;

    (void)state;
    for (i = 0; i < 4096; i++) {
        x[i] = (tri_real)(-110 + i * (220.0 / 4096));
    }
    x[5] = (tri_real)INFINITY;
    x[6] = (tri_real)-INFINITY;
    x[7] = (tri_real)NAN;
    x[8] = (tri_real)1e-42;
    x[9] = (tri_real)88.72;
    x[10] = (tri_real)-1e30;
    exps(4096, x, y);
    for (i = 0; i < 4096; i++) {
        near("exp", 4096, i, (double)y[i], exp((double)x[i]));
    }
}

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

/* 2 sqrt(2/pi) (x + 0.044715 x^3) and its slope. */
static double inner(double x)
{
    return 2 * sqrt(2 / M_PI) * (x + 0.044715 * x * x * x);
}

static double inner_slope(double x)
{
    return 2 * sqrt(2 / M_PI) * (1 + 3 * 0.044715 * x * x);
}

/* Where x is large the slope is a small difference of large numbers. */
static void close_to(const char *what, int n, int i, tri_real x, double ref)
{
    if (!(fabs((double)x - ref) <= 8 * bound * (1 + fabs(ref)))) {
        fail_msg("%s, element %d of %d: %.9g is not %.9g", what, i, n,
                 (double)x, ref);
    }
}

static void test_activations(void **state)
{
    tri_real x[2 * MOST], dy[MOST], y[MOST], d[2 * MOST];
    int n, i;

    (void)state;
    for (n = 1; n <= MOST; n++) {
        fill(x, 2 * n, (unsigned)n), fill(dy, n, 100);
        tri_gelu_forward(n, x, y);
        tri_gelu_backward(n, x, dy, d);
        for (i = 0; i < n; i++) {
            double v = (double)x[i], s = sigmoid(inner(v));

            close_to("gelu", n, i, y[i], v * s);
            close_to("gelu back", n, i, d[i],
                     (double)dy[i] * (s + v * s * (1 - s) * inner_slope(v)));
        }
        tri_swiglu_forward(1, n, x, y);
        tri_swiglu_backward(1, n, x, dy, d);
        for (i = 0; i < n; i++) {
            double g = (double)x[i], u = (double)x[n + i], s = sigmoid(g);

            close_to("swiglu", n, i, y[i], g * s * u);
            close_to("swiglu dg", n, i, d[i],
                     (double)dy[i] * u * s * (1 + g * (1 - s)));
            close_to("swiglu du", n, i, d[n + i], (double)dy[i] * g * s);
        }
    }
}

/* One NaN or infinity stays in its element, or its row. */
static void test_nan_passes(void **state)
{
    tri_real x[MOST], y[MOST], dy[MOST], d[MOST];
    int at, i;

    (void)state;
    for (at = 0; at < MOST; at++) {
        fill(x, MOST, 3), fill(dy, MOST, 4);
        x[at] = (tri_real)NAN;
        tri_gelu_forward(MOST, x, y);
        tri_gelu_backward(MOST, x, dy, d);
        for (i = 0; i < MOST; i++) {
            assert_int_equal(isnan((double)y[i]) != 0, i == at);
            assert_int_equal(isnan((double)d[i]) != 0, i == at);
        }
        memset(y, 0, sizeof y);
        tri_vector_add(x, MOST, y);
        for (i = 0; i < MOST; i++) {
            assert_int_equal(isnan((double)y[i]) != 0, i == at);
        }
        assert_true(isnan(tri_sumsq(x, MOST)));
        x[at] = (tri_real)INFINITY;
        assert_true(isinf(tri_sumsq(x, MOST)));
    }
}

static void test_rows_with_nan(void **state)
{
    tri_real x[3 * MOST], g[MOST], b[MOST], y[3 * MOST], mean[3], rstd[3];
    int at, r;

    (void)state;
    fill(g, MOST, 1), fill(b, MOST, 2);
    for (at = 0; at < MOST; at += 5) {
        fill(x, 3 * MOST, 3);
        x[MOST + at] = (tri_real)NAN;
        tri_norm_forward(3, MOST, x, g, b, y, mean, rstd);
        for (r = 0; r < 3; r++) {
            assert_int_equal(isnan((double)y[r * MOST]) != 0, r == 1);
        }
        tri_rms_forward(3, MOST, x, g, y, rstd);
        for (r = 0; r < 3; r++) {
            assert_int_equal(isnan((double)y[r * MOST]) != 0, r == 1);
        }
    }
}

static double norm_of(int n, const tri_real *x, double *rstd)
{
    double mean = 0, v = 0;
    int i;

    for (i = 0; i < n; i++) {
        mean += (double)x[i] / n;
    }
    for (i = 0; i < n; i++) {
        v += ((double)x[i] - mean) * ((double)x[i] - mean) / n;
    }
    *rstd = 1 / sqrt(v + 1e-5);
    return mean;
}

/* Rows of every width; of denormals alone as well. */
static void test_norm_widths(void **state)
{
    tri_real x[MOST], g[MOST], b[MOST], y[MOST], mean, rstd;
    double m, s;
    int n, i;

    (void)state;
    for (n = 1; n <= MOST; n++) {
        fill(x, n, (unsigned)n), fill(g, n, 1), fill(b, n, 2);
        for (i = 0; n % 7 == 0 && i < n; i++) {
            x[i] = (tri_real)1e-41;
        }
        m = norm_of(n, x, &s);
        tri_norm_forward(1, n, x, g, b, &y[0], &mean, &rstd);
        for (i = 0; i < n; i++) {
            double ref = ((double)x[i] - m) * s;

            /* of the row's size, where it cancels */
            if (!(fabs((double)y[i] - (ref * (double)g[i] + (double)b[i])) <=
                  32 * bound * ((9 + fabs(ref)) * (1 + fabs((double)g[i]))))) {
                fail_msg("norm, element %d of %d: %.9g", i, n, (double)y[i]);
            }
        }
    }
}

/* Loss and gradient of rows of every width, with logits of minus infinity and
 * of any size. */
static void test_xent_widths(void **state)
{
    tri_real x[MOST], was[MOST], stats[TRI_XENT_STATS];
    int n, i;

    (void)state;
    for (n = 2; n <= MOST; n++) {
        tri_vocab v = {.width = n, .n = n, .parts = 1};
        int32_t target = n / 2;
        double top, sum = 0, loss;

        fill(x, n, (unsigned)n);
        x[n - 1 - (n - 1 == target)] = (tri_real)-INFINITY;
        memcpy(was, x, sizeof x);
        top = -INFINITY;
        for (i = 0; i < n; i++) {
            top = fmax(top, (double)x[i]);
        }
        for (i = 0; i < n; i++) {
            sum += exp((double)x[i] - top);
        }
        tri_xent_begin(&v, 1, &target, x, stats);
        loss = tri_xent_end(&v, 1, &target, 1, stats, x);
        near("loss", n, 0, loss, log(sum) + top - (double)was[target]);
        for (i = 0; i < n; i++) {
            double p = exp((double)was[i] - top) / sum;

            close_to("xent", n, i, x[i], p - (i == target));
        }
    }
}

static void test_xent_nan(void **state)
{
    tri_real x[MOST], stats[TRI_XENT_STATS];
    int at;

    (void)state;
    for (at = 0; at < MOST; at++) {
        tri_vocab v = {.width = MOST, .n = MOST, .parts = 1};
        int32_t target = 3;

        fill(x, MOST, 9);
        x[at] = (tri_real)NAN;
        tri_xent_begin(&v, 1, &target, x, stats);
        assert_true(isnan(tri_xent_end(&v, 1, &target, 1, stats, x)));
    }
}

static void test_attention_nan(void **state)
{
    enum {
        T = 70,
        S = 5
    };
    tri_real qkv[T * 3 * S], out[T * S], lse[T], work[2 * 64 * T];
    tri_attention a = {.samples = 1, .T = T, .H = 1, .s = S, .work = work};
    int t;

    (void)state;
    assert_int_equal(tri_attention_work(T), 2 * 64 * T);
    for (t = 0; t < T * 3 * S; t++) {
        qkv[t] = (tri_real)(t % 11) / 11;
    }
    qkv[33 * 3 * S + S] = (tri_real)NAN; /* a key */
    tri_attention_forward(&a, qkv, out, lse);
    for (t = 0; t < T; t++) {
        assert_int_equal(isnan((double)out[t * S]) != 0, t >= 33);
    }
}

static void test_adamw_lengths(void **state)
{
    const tri_adamw opt = {1e-2, 0.9, 0.95, 1e-8, 0.1};
    tri_real g[MOST], p[MOST], m[MOST], v[MOST];
    int n, i;

    (void)state;
    for (n = 1; n <= MOST; n++) {
        tri_tensors table = {0};
        tri_tensor t = {.name = "t", .shape = {n}, .n_dims = 1, .split = -1};
        tri_real was[MOST];

        assert_int_equal(tri_tensors_add(&table, &t), TRI_OK);
        fill(g, MOST, (unsigned)n), fill(p, MOST, 1);
        memset(m, 0, sizeof m), memset(v, 0, sizeof v);
        memcpy(was, p, sizeof p);
        g[n / 2] = (tri_real)NAN;
        tri_adamw_update(&opt, &table, 1, 0.5, g, p, m, v);
        for (i = 0; i < MOST; i++) {
            double d = (double)g[i] * 0.5;
            double ref = i >= n ? (double)was[i]
                                : (double)was[i] * (1 - 1e-3) -
                                          1e-2 * d / (fabs(d) + 1e-8);

            if (i == n / 2) {
                assert_true(isnan((double)p[i]));
            } else {
                close_to("adamw", n, i, p[i], ref);
            }
        }
        tri_tensors_fini(&table);
    }
}

/* A mask is the same on every path, element by element. */
static void test_dropout_is_one(void **state)
{
    tri_path now = tri_path_now();
    tri_real x[MOST], y[MOST];
    int n, i;

    (void)state;
    for (n = 1; n <= MOST; n++) {
        for (i = 0; i < n; i++) {
            x[i] = y[i] = 1;
        }
        tri_dropout(0.3, 12345, 6, n, x);
        tri_path_use(TRI_PATH_BASE);
        tri_dropout(0.3, 12345, 6, n, y);
        tri_path_use(now);
        assert_memory_equal(x, y, (size_t)n * sizeof *x);
    }
}

static void test_no_more_than_there_is(void **state)
{
    tri_path now = tri_path_now();

    (void)state;
    tri_path_use(TRI_PATHS);
    assert_int_equal(tri_path_now(), tri_path_best());
    tri_path_use(now);
    assert_string_equal(tri_path_name(TRI_PATH_AVX2), "avx2");
    assert_string_equal(tri_path_name(TRI_PATHS), "none");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(test_exp),
            cmocka_unit_test(test_activations),
            cmocka_unit_test(test_nan_passes),
            cmocka_unit_test(test_rows_with_nan),
            cmocka_unit_test(test_norm_widths),
            cmocka_unit_test(test_xent_widths),
            cmocka_unit_test(test_xent_nan),
            cmocka_unit_test(test_attention_nan),
            cmocka_unit_test(test_adamw_lengths),
            cmocka_unit_test(test_dropout_is_one),
            cmocka_unit_test(test_no_more_than_there_is),
    };

    run_on_each_path(tests);
}

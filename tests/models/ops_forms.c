/*
 * The kernels of the second form of the transformer, each against its
 * definition: RMSNorm, SwiGLU, rotary positions; and dropout.  Built in
 * float and in double.
 */
#include "models/ops/ops.h"
#include "tests/models/each_path.h"
#include "trireme/rng.h"

#include "tests/tri_cmocka.h"

#include <math.h>

static const double bound = sizeof(tri_real) == 8 ? 1e-12 : 2e-5;

enum {
    ROWS = 7,
    W = 37 /* of a row */
};

static void draw(unsigned key, int n, tri_real *x)
{
    tri_rng rng = tri_rng_stream(5, key, TRI_RNG_TEST);
    int i;

    for (i = 0; i < n; i++) {
        x[i] = (tri_real)tri_rng_normal(&rng);
    }
}

static void near(tri_real x, double ref)
{
    if (!(fabs((double)x - ref) <= bound * (1 + fabs(ref)))) {
        fail_msg("%.12g is not %.12g", (double)x, ref);
    }
}

static double rstd_of(const tri_real *x)
{
    double sum = 0;
    int i;

    for (i = 0; i < W; i++) {
        sum += (double)x[i] * (double)x[i];
    }
    return 1 / sqrt(sum / W + 1e-5);
}

/* By the Jacobian of the row, element by element. */
static double rms_dx(const tri_real *x, const tri_real *g, const tri_real *dy,
                     int i)
{
    double s = rstd_of(x), sum = 0;
    int j;

    for (j = 0; j < W; j++) {
        double ni = (double)x[i] * s, nj = (double)x[j] * s;

        sum += (double)(dy[j] * g[j]) * s * ((i == j) - ni * nj / W);
    }
    return sum;
}

static void test_rms(void **state)
{
    tri_real x[ROWS * W], g[W], y[ROWS * W], dy[ROWS * W], rstd[ROWS];
    tri_real dx[ROWS * W], before[ROWS * W], dg[W] = {0};
    int r, i;

    (void)state;
    draw(1, ROWS * W, x), draw(2, W, g), draw(3, ROWS * W, dy);
    draw(4, ROWS * W, dx), draw(4, ROWS * W, before);
    tri_rms_forward(ROWS, W, x, g, y, rstd);
    tri_rms_backward(ROWS, W, x, g, rstd, dy, dx, dg);
    for (i = 0; i < W; i++) {
        double sum = 0;

        for (r = 0; r < ROWS; r++) {
            double n = (double)x[r * W + i] * rstd_of(x + r * W);

            sum += (double)dy[r * W + i] * n;
            near(y[r * W + i], n * (double)g[i]);
            near(dx[r * W + i], (double)before[r * W + i] +
                                        rms_dx(x + r * W, g, dy + r * W, i));
        }
        near(dg[i], sum);
    }
}

static double swiglu(double g, double u)
{
    return g / (1 + exp(-g)) * u;
}

static void test_swiglu(void **state)
{
    tri_real x[ROWS * 2 * W], y[ROWS * W], dy[ROWS * W], dx[ROWS * 2 * W];
    const double h = 1e-4;
    int r, i;

    (void)state;
    draw(1, ROWS * 2 * W, x), draw(2, ROWS * W, dy);
    tri_swiglu_forward(ROWS, W, x, y);
    tri_swiglu_backward(ROWS, W, x, dy, dx);
    for (r = 0; r < ROWS; r++) {
        for (i = 0; i < W; i++) {
            double g = (double)x[r * 2 * W + i];
            double u = (double)x[r * 2 * W + W + i];
            double d = (double)dy[r * W + i];
            double slope = (8 * (swiglu(g + h, u) - swiglu(g - h, u)) -
                            (swiglu(g + 2 * h, u) - swiglu(g - 2 * h, u))) /
                           (12 * h);

            near(y[r * W + i], swiglu(g, u));
            near(dx[r * 2 * W + W + i], d * swiglu(g, 1));
            assert_true(fabs((double)dx[r * 2 * W + i] - d * slope) <
                        fmax(bound, 1e-9) * 10);
        }
    }
}

/* Against rotation by the angle itself; turning back restores; the product of
 * a query and a key depends on their distance alone. */
static void test_rope(void **state)
{
    enum {
        T = 5,
        H = 2,
        S = 6,
        LD = 3 * H * S, /* the last third is not turned */
        N = 2 * T       /* two sequences */
    };
    tri_real table[T * S], x[N * LD], y[N * LD];
    double dot[2] = {0};
    int r, h, i;

    (void)state;
    draw(1, N * LD, x), draw(1, N * LD, y);
    tri_rope_table(T, S, table);
    tri_rope(N, T, 2 * H, S, LD, table, 0, y);
    for (r = 0; r < N; r++) {
        for (h = 0; h < 3 * H; h++) {
            const tri_real *a = x + r * LD + h * S, *b = y + r * LD + h * S;

            for (i = 0; i < S / 2; i++) {
                double w = h < 2 * H ? r % T * pow(10000, -2.0 * i / S) : 0;

                near(b[i],
                     (double)a[i] * cos(w) - (double)a[i + S / 2] * sin(w));
                near(b[i + S / 2],
                     (double)a[i] * sin(w) + (double)a[i + S / 2] * cos(w));
            }
        }
    }
    tri_rope(N, T, 2 * H, S, LD, table, 1, y);
    for (i = 0; i < N * LD; i++) {
        near(y[i], (double)x[i]);
    }
    for (i = 0; i < S; i++) { /* one vector at 1 and 3, another at 2 and 4 */
        y[1 * LD + i] = y[2 * LD + i] = x[i];
        y[3 * LD + i] = y[4 * LD + i] = x[LD + i];
    }
    tri_rope(N, T, 2 * H, S, LD, table, 0, y);
    for (i = 0; i < S; i++) {
        dot[0] += (double)(y[1 * LD + i] * y[3 * LD + i]);
        dot[1] += (double)(y[2 * LD + i] * y[4 * LD + i]);
    }
    near((tri_real)dot[0], dot[1]);
}

/* The share of zeros is the rate, in rows and in columns; the rest is scaled;
 * neighbours, rows and keys are independent of each other; and a part of a row
 * has the mask that the whole has. */
static void test_dropout(void **state)
{
    enum {
        N = 400
    };
    static tri_real x[N][N];
    uint64_t key = tri_mask_key(1, 2, 3, 4);
    double zeros = 0, pairs = 0, rows = 0, worst = 0, expected = 0.3 * 0.3;
    tri_real part[N / 2];
    int r, i;

    (void)state;
    for (r = 0; r < N; r++) {
        double of_row = 0;

        for (i = 0; i < N; i++) {
            x[r][i] = 1;
        }
        tri_dropout(0.3, key, r, N, x[r]);
        for (i = 0; i < N; i++) {
            assert_true(x[r][i] == 0 || fabs((double)x[r][i] - 1 / 0.7) < 1e-6);
            of_row += x[r][i] == 0;
            pairs += i && x[r][i] == 0 && x[r][i - 1] == 0;
            rows += r && x[r][i] == 0 && x[r - 1][i] == 0;
        }
        zeros += of_row;
        worst = fmax(worst, fabs(of_row / N - 0.3));
    }
    /* five standard deviations of N x N draws, and of N */
    assert_true(fabs(zeros / (N * N) - 0.3) < 5 * 0.46 / N);
    assert_true(fabs(pairs / (N * N) - expected) < 8 * 0.3 / N);
    assert_true(fabs(rows / (N * N) - expected) < 8 * 0.3 / N);
    assert_true(worst < 5 * 0.46 / 20);
    for (i = 0; i < N / 2; i++) {
        part[i] = 1;
    }
    tri_dropout(0.3, key, 7, N / 2, part);
    assert_memory_equal(part, x[7], sizeof part);
    assert_true(tri_mask_key(1, 2, 3, 5) != key);
    assert_true(tri_mask_key(1, 2, 4, 4) != key);
    assert_true(tri_mask_key(1, 3, 3, 4) != key);
    assert_true(tri_mask_key(2, 2, 3, 4) != key);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(test_rms),
            cmocka_unit_test(test_swiglu),
            cmocka_unit_test(test_rope),
            cmocka_unit_test(test_dropout),
    };

    run_on_each_path(tests);
}

/*
 * Every kernel against its plain definition (reference.c), with sizes that
 * are no multiple of a vector or a block.  Built in float and in double.
 */
#include "models/ops/ops.h"
#include "models/data/data.h"
#include "models/ops/vmath.h"
#include "models/optim/optim.h"
#include "tests/models/each_path.h"
#include "tests/models/reference.h"
#include "trireme/rng.h"

#include "tests/tri_cmocka.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double bound = sizeof(tri_real) == 8 ? 1e-12 : 3e-6;

/* The same random numbers in both precisions. */
typedef struct pair {
    int n;
    tri_real *x;
    double *ref;
} pair;

static pair make(int n, unsigned key)
{
    tri_rng rng = tri_rng_stream(1, key, TRI_RNG_TEST);
    pair p = {.n = n,
              .x = malloc((size_t)n * sizeof(tri_real)),
              .ref = malloc((size_t)n * sizeof(double))};
    int i;

    assert_non_null(p.x);
    assert_non_null(p.ref);
    for (i = 0; i < n; i++) {
        p.x[i] = (tri_real)tri_rng_normal(&rng);
        p.ref[i] = (double)p.x[i];
    }
    return p;
}

/* Equal to `bound` relative to the largest element. */
static void check(const char *what, const pair *p)
{
    double top = 1e-30;
    int i;

    for (i = 0; i < p->n; i++) {
        top = fmax(top, fabs(p->ref[i]));
    }
    for (i = 0; i < p->n; i++) {
        if (!(fabs((double)p->x[i] - p->ref[i]) <= 8 * bound * top)) {
            fail_msg("%s: element %d is %.9g, not %.9g", what, i,
                     (double)p->x[i], p->ref[i]);
        }
    }
}

static void drop(pair *p)
{
    free(p->x);
    free(p->ref);
}

static void test_gemm(void **state)
{
    enum {
        M = 13,
        N = 29,
        K = 17
    };
    pair a = make(M * K, 1), b = make(K * N, 2);
    int ta, tb;

    (void)state;
    for (ta = 0; ta < 2; ta++) {
        for (tb = 0; tb < 2; tb++) {
            pair c = make(M * N, 3);

            tri_gemm(ta, tb, M, N, K, 2, a.x, ta ? M : K, b.x, tb ? K : N, 3,
                     c.x, N);
            ref_gemm(ta, tb, M, N, K, 2, a.ref, b.ref, 3, c.ref);
            check("gemm", &c);
            drop(&c);
        }
    }
    drop(&a);
    drop(&b);
}

static void test_linear(void **state)
{
    enum {
        ROWS = 11,
        IN = 19,
        OUT = 7
    };
    pair x = make(ROWS * IN, 1), w = make(OUT * IN, 2), b = make(OUT, 3);
    pair dy = make(ROWS * OUT, 4), dw = make(OUT * IN, 5), db = make(OUT, 6);
    pair y = make(ROWS * OUT, 7), dx = make(ROWS * IN, 8);
    tri_linear l = {
            .in = IN, .out = OUT, .w = w.x, .b = b.x, .dw = dw.x, .db = db.x};
    int r, j;

    (void)state;
    tri_linear_forward(&l, ROWS, x.x, y.x);
    ref_gemm(0, 1, ROWS, OUT, IN, 1, x.ref, w.ref, 0, y.ref);
    tri_linear_backward(&l, ROWS, x.x, dy.x, dx.x);
    ref_gemm(1, 0, OUT, IN, ROWS, 1, dy.ref, x.ref, 1, dw.ref);
    ref_gemm(0, 0, ROWS, IN, OUT, 1, dy.ref, w.ref, 0, dx.ref);
    for (r = 0; r < ROWS; r++) {
        for (j = 0; j < OUT; j++) {
            y.ref[r * OUT + j] += b.ref[j];
            db.ref[j] += dy.ref[r * OUT + j];
        }
    }
    check("y", &y);
    check("dx", &dx);
    check("dw", &dw);
    check("db", &db);
    drop(&x), drop(&w), drop(&b), drop(&dy), drop(&dw), drop(&db), drop(&y);
    drop(&dx);
}

static void test_norm(void **state)
{
    enum {
        ROWS = 9,
        H = 37
    };
    pair x = make(ROWS * H, 1), g = make(H, 2), b = make(H, 3);
    pair y = make(ROWS * H, 4), dy = make(ROWS * H, 5);
    pair dx = make(ROWS * H, 6), dg = make(H, 7), db = make(H, 8);
    tri_real mean[ROWS], rstd[ROWS];

    (void)state;
    tri_norm_forward(ROWS, H, x.x, g.x, b.x, y.x, mean, rstd);
    ref_norm(ROWS, H, x.ref, g.ref, b.ref, y.ref);
    tri_norm_backward(ROWS, H, x.x, g.x, mean, rstd, dy.x, dx.x, dg.x, db.x);
    ref_norm_back(ROWS, H, x.ref, g.ref, dy.ref, dx.ref, dg.ref, db.ref);
    check("y", &y);
    check("dx", &dx);
    check("dg", &dg);
    check("db", &db);
    drop(&x), drop(&g), drop(&b), drop(&y), drop(&dy), drop(&dx), drop(&dg);
    drop(&db);
}

static void test_gelu(void **state)
{
    enum {
        N = 1003
    };
    pair x = make(N, 1), y = make(N, 2), dy = make(N, 3), dx = make(N, 3);
    int i;

    (void)state;
    for (i = 0; i < N; i++) {
        x.x[i] *= 4;
        x.ref[i] *= 4;
        y.ref[i] = ref_gelu(x.ref[i]);
        dx.ref[i] = dy.ref[i] * ref_gelu_slope(x.ref[i]);
    }
    tri_gelu_forward(N, x.x, y.x);
    tri_gelu_backward(N, x.x, dx.x, dx.x); /* in place */
    check("y", &y);
    check("dx", &dx);
    drop(&x), drop(&y), drop(&dy), drop(&dx);
}

static void attention(int samples, int T, int H, int s)
{
    int n = samples * T * H * s;
    pair qkv = make(3 * n, 1), out = make(n, 2), dout = make(n, 3);
    pair dqkv = make(3 * n, 4);
    double *p = malloc(sizeof *p * (size_t)(samples * H * T * T));
    tri_real *lse = malloc(sizeof *lse * (size_t)(samples * H * T));
    tri_attention a = {.samples = samples, .T = T, .H = H, .s = s};

    a.work = malloc(sizeof *a.work * (size_t)tri_attention_work(T));
    assert_true(p && lse && a.work);
    tri_attention_forward(&a, qkv.x, out.x, lse);
    ref_attention(samples, T, H, s, qkv.ref, out.ref, p);
    tri_attention_backward(&a, qkv.x, out.x, lse, dout.x, dqkv.x);
    ref_attention_back(samples, T, H, s, qkv.ref, p, dout.ref, dqkv.ref);
    check("out", &out);
    check("dqkv", &dqkv);
    free(p);
    free(lse);
    free(a.work);
    drop(&qkv), drop(&out), drop(&dout), drop(&dqkv);
}

static void test_attention(void **state)
{
    (void)state;
    attention(1, 1, 1, 4);
    attention(2, 13, 3, 5);
    attention(1, 64, 2, 8);
    attention(1, 150, 1, 8); /* blocks of queries, and a rest */
}

/* Slice `k` of `parts` of a vocabulary of V, `width` columns each. */
static tri_vocab slice_of(int V, int parts, int width, int k)
{
    tri_vocab v = {.width = width, .parts = parts, .part = k};

    v.first = width * k < V ? width * k : V;
    v.n = V - v.first < width ? V - v.first : width;
    return v;
}

/* Columns of `whole` (rows of V) that a slice has, with 7 for padding. */
static void cut(const tri_vocab *v, int rows, int V, const tri_real *whole,
                tri_real *x)
{
    int r, j;

    for (r = 0; r < rows; r++) {
        for (j = 0; j < v->width; j++) {
            x[r * v->width + j] =
                    j < v->n ? whole[r * V + v->first + j] : (tri_real)7;
        }
    }
}

/* The other way round; padding must be 0. */
static void paste(const tri_vocab *v, int rows, int V, const tri_real *x,
                  tri_real *whole)
{
    int r, j;

    for (r = 0; r < rows; r++) {
        for (j = 0; j < v->n; j++) {
            whole[r * V + v->first + j] = x[r * v->width + j];
        }
        for (; j < v->width; j++) {
            assert_true(x[r * v->width + j] == 0);
        }
    }
}

/* Rows of V logits in `parts` slices of `width` columns, one after the other;
 * every slice must give the same loss, and the padding no gradient. */
static double xent(int rows, int V, int parts, int width, const int32_t *target,
                   tri_real scale, tri_real *x)
{
    tri_real *all = calloc((size_t)(parts * rows * width), sizeof *all);
    tri_real *stats =
            calloc((size_t)(parts * rows * TRI_XENT_STATS), sizeof *stats);
    double loss = 0;
    int k;

    assert_true(all && stats);
    for (k = 0; k < parts; k++) {
        tri_vocab v = slice_of(V, parts, width, k);

        cut(&v, rows, V, x, all + k * rows * width);
        tri_xent_begin(&v, rows, target, all + k * rows * width, stats);
    }
    for (k = 0; k < parts; k++) {
        tri_vocab v = slice_of(V, parts, width, k);
        double mine = tri_xent_end(&v, rows, target, scale, stats,
                                   all + k * rows * width);

        assert_true(k == 0 || mine == loss || isnan(loss));
        loss = mine;
        paste(&v, rows, V, all + k * rows * width, x);
    }
    free(all);
    free(stats);
    return loss;
}

/* The whole vocabulary, slices with padding, and slices with nothing else. */
static void test_xent(void **state)
{
    enum {
        ROWS = 21,
        V = 67
    };
    static const int splits[][2] = {{1, V}, {1, 80}, {2, 48}, {3, 32}, {7, 16}};
    int32_t target[ROWS];
    size_t i;
    int r;

    (void)state;
    for (r = 0; r < ROWS; r++) {
        target[r] = r * 31 % V;
    }
    for (i = 0; i < sizeof splits / sizeof splits[0]; i++) {
        pair x = make(ROWS * V, 1);
        double loss = xent(ROWS, V, splits[i][0], splits[i][1], target,
                           (tri_real)0.25, x.x);
        double ref = ref_xent(ROWS, V, target, 0.25, x.ref);

        assert_true(fabs(loss - ref) <= 8 * bound * ref);
        check("gradient", &x);
        drop(&x);
    }
}

/* Logits far apart neither overflow nor lose the loss. */
static void test_xent_extremes(void **state)
{
    int32_t target = 1;
    int parts;

    (void)state;
    for (parts = 1; parts <= 2; parts++) {
        tri_real x[4] = {1000, -1000, 0, 1000};
        double loss = xent(1, 4, parts, 4 / parts, &target, 1, x);

        assert_true(fabs(loss - (2000 + log(2))) < 1e-3);
    }
    for (parts = 1; parts <= 2; parts++) {
        tri_real x[4] = {(tri_real)NAN, -1000, 0, 1000};

        assert_true(isnan(xent(1, 4, parts, 4 / parts, &target, 1, x)));
    }
}

/* Whole, and in two slices that add up. */
static void test_embed(void **state)
{
    enum {
        ROWS = 10,
        T = 5,
        H = 19,
        V = 4,
        ROW = 3 /* of a sequence, where these begin */
    };
    pair wte = make(V * H, 1), wpe = make(T * H, 2), y = make(ROWS * H, 3);
    pair dy = make(ROWS * H, 4), dwte = make(V * H, 5), dwpe = make(T * H, 6);
    int32_t token[ROWS] = {0, 3, 3, 1, 0, 3, 3, 1, 1, 0};
    tri_real rest[ROWS * H];
    int r, i;

    (void)state;
    for (r = 0; r < ROWS; r++) {
        for (i = 0; i < H; i++) {
            y.ref[r * H + i] =
                    wte.ref[token[r] * H + i] + wpe.ref[(ROW + r) % T * H + i];
            dwte.ref[token[r] * H + i] += dy.ref[r * H + i];
            dwpe.ref[(ROW + r) % T * H + i] += dy.ref[r * H + i];
        }
    }
    tri_embed_forward(ROWS, H, 0, 2, token, wte.x, y.x);
    tri_embed_forward(ROWS, H, 2, 2, token, wte.x + 2 * H, rest);
    tri_vector_add(rest, ROWS * H, y.x);
    tri_positions_forward(ROWS, ROW, T, H, wpe.x, y.x);
    tri_embed_backward(ROWS, H, 0, 1, token, dy.x, dwte.x);
    tri_embed_backward(ROWS, H, 1, 3, token, dy.x, dwte.x + H);
    tri_positions_backward(ROWS, ROW, T, H, dy.x, dwpe.x);
    check("y", &y);
    check("dwte", &dwte);
    check("dwpe", &dwpe);
    drop(&wte), drop(&wpe), drop(&y), drop(&dy), drop(&dwte), drop(&dwpe);
}

static void test_exp(void **state)
{
    double worst = 0;
    int i;

    (void)state;
    for (i = 0; i < 12700; i++) {
        double x = -86.5 + 0.0137 * i;
        tri_real y = tri_vexp((tri_real)x);
        double ref = exp((double)(tri_real)x);

        worst = fmax(worst, fabs((double)y - ref) / ref);
    }
    print_message("exp: largest relative error %.2g\n", worst);
    assert_true(worst <= (sizeof(tri_real) == 8 ? 1e-15 : 2.5e-7));
    assert_true(isnan((double)tri_vexp((tri_real)NAN)));
    assert_true(tri_vexp((tri_real)-1e30) < (tri_real)1e-37);
}

/* Two tensors, one without decay; several updates. */
static void test_adamw(void **state)
{
    enum {
        N = 33,
        STEPS = 4
    };
    tri_tensors table = {0};
    tri_tensor t = {.id = 1, .n_dims = 1, .shape = {N}, .split = -1};
    tri_adamw opt = {.lr = 0.1,
                     .beta1 = 0.9,
                     .beta2 = 0.95,
                     .eps = 1e-8,
                     .weight_decay = 0.3};
    int n, i, k, step;
    pair p, m, v;

    (void)state;
    assert_int_equal(tri_tensors_add(&table, &t), TRI_OK);
    t.flags = TRI_TENSOR_NO_DECAY;
    assert_int_equal(tri_tensors_add(&table, &t), TRI_OK);
    n = (int)table.count;
    p = make(n, 1), m = make(n, 2), v = make(n, 3);
    memset(m.x, 0, (size_t)n * sizeof *m.x);
    memset(v.x, 0, (size_t)n * sizeof *v.x);
    memset(m.ref, 0, (size_t)n * sizeof *m.ref);
    memset(v.ref, 0, (size_t)n * sizeof *v.ref);
    for (step = 1; step <= STEPS; step++) {
        pair g = make(n, 10 + (unsigned)step);

        for (k = 0; k < 2; k++) {
            for (i = 0; i < N; i++) {
                int64_t e = table.at[k].offset + i;

                ref_adamw(0.1, 0.9, 0.95, 1e-8, k ? 0 : 0.3, step,
                          0.5 * g.ref[e], &p.ref[e], &m.ref[e], &v.ref[e]);
            }
        }
        tri_adamw_update(&opt, &table, step, 0.5, g.x, p.x, m.x, v.x);
        drop(&g);
    }
    check("p", &p);
    drop(&p), drop(&m), drop(&v);
    tri_tensors_fini(&table);
}

static void test_clip(void **state)
{
    (void)state;
    assert_true(tri_clip_coefficient(0.5, 1) == 1);
    assert_true(tri_clip_coefficient(5, 0) == 1);
    assert_true(fabs(tri_clip_coefficient(4, 1) - 0.25) < 1e-6);
}

/* A sample depends on (seed, step, number) alone; bytes are folded. */
static void test_text(void **state)
{
    unsigned char bytes[50];
    tri_text text = {.bytes = bytes, .n = sizeof bytes, .seed = 4};
    int32_t out[8];
    int i, seen[43] = {0}, distinct = 0;

    (void)state;
    for (i = 0; i < 50; i++) {
        bytes[i] = (unsigned char)(200 + i);
    }
    for (i = 0; i < 1000; i++) {
        int64_t at = tri_text_place(&text, i, 3, 7);

        assert_in_range(at, 0, 42);
        assert_int_equal(at, tri_text_place(&text, i, 3, 7));
        distinct += !seen[at];
        seen[at] = 1;
    }
    assert_int_equal(distinct, 43);
    tri_text_tokens(&text, 2, 8, 10, out);
    assert_int_equal(out[0], 202 % 10);
    tri_text_tokens(&text, 2, 8, 300, out);
    assert_int_equal(out[7], 209);
}

/* Whatever the split, the parts hold the whole tensor's initial numbers. */
static void test_init_of_shards(void **state)
{
    tri_tensor t = {.id = 7,
                    .n_dims = 3,
                    .shape = {3, 6, 5},
                    .split = -1,
                    .init = TRI_INIT_NORMAL,
                    .std = 2};
    tri_tensors whole = {0};
    tri_real all[96], part[96];
    int parts, k, seen = 0;
    int64_t i;

    (void)state;
    assert_int_equal(tri_tensors_add(&whole, &t), TRI_OK);
    tri_tensors_init(&whole, 3, all);
    t.split = 1;
    for (parts = 2; parts <= 6; parts += parts == 3 ? 3 : 1) {
        for (k = 0; k < parts; k++) {
            tri_tensors shard = {0};

            t.len = 6 / parts;
            t.first = k * t.len;
            assert_int_equal(tri_tensors_add(&shard, &t), TRI_OK);
            assert_int_equal(shard.at[0].count, 90 / parts);
            tri_tensors_init(&shard, 3, part);
            for (i = 0; i < shard.at[0].count; i++, seen++) {
                int64_t g = tri_tensor_global(&shard.at[0], i);

                assert_in_range(g, 0, 89);
                assert_true(part[i] == all[g]);
            }
            tri_tensors_fini(&shard);
        }
    }
    assert_int_equal(seen, 3 * 90);
    tri_tensors_fini(&whole);
}

static void test_init_is_bell_shaped(void **state)
{
    enum {
        N = 20000
    };
    tri_tensor t = {.n_dims = 1,
                    .shape = {N},
                    .split = -1,
                    .init = TRI_INIT_NORMAL,
                    .std = 3};
    tri_tensors table = {0};
    tri_real *x = malloc((N + TRI_TENSOR_ALIGN) * sizeof *x);
    double sum = 0, squares = 0, within = 0;
    int i;

    (void)state;
    assert_non_null(x);
    assert_int_equal(tri_tensors_add(&table, &t), TRI_OK);
    tri_tensors_init(&table, 8, x);
    for (i = 0; i < N; i++) {
        sum += (double)x[i];
        squares += (double)x[i] * (double)x[i];
        within += fabs((double)x[i]) < 3;
    }
    assert_true(fabs(sum / N) < 0.1);
    assert_true(fabs(sqrt(squares / N) - 3) < 0.05);
    assert_true(fabs(within / N - 0.67) < 0.03);
    free(x);
    tri_tensors_fini(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(test_gemm),
            cmocka_unit_test(test_linear),
            cmocka_unit_test(test_norm),
            cmocka_unit_test(test_gelu),
            cmocka_unit_test(test_attention),
            cmocka_unit_test(test_xent),
            cmocka_unit_test(test_xent_extremes),
            cmocka_unit_test(test_embed),
            cmocka_unit_test(test_exp),
            cmocka_unit_test(test_adamw),
            cmocka_unit_test(test_clip),
            cmocka_unit_test(test_text),
            cmocka_unit_test(test_init_of_shards),
            cmocka_unit_test(test_init_is_bell_shaped),
    };

    run_on_each_path(tests);
}

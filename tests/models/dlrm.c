/*
 * DLRM on one rank: gradients against finite differences, those of the tables
 * through what row-wise Adagrad makes of them; and it learns.
 */
#include "models/dlrm/dlrm.h"
#include "models/optim/optim.h"

#include "tests/tri_cmocka.h"

#include <math.h>
#include <string.h>

#define BATCH 12
#define LR    0.05

static tri_model *model;
static tri_region *region;
static const tri_tensors *table, *sparse;
static tri_real *arrays[4]; /* parameters, gradients, m, v */
static tri_real *rows;

static const tri_dlrm_shape shape = {.dense = 5,
                                     .tables = 3,
                                     .dim = 8,
                                     .pooling = 2,
                                     .rows = {7, 30, 100},
                                     .n_bottom = 1,
                                     .bottom = {11},
                                     .n_top = 1,
                                     .top = {9},
                                     .zipf = 1.1,
                                     .lr = LR};

static tri_real *take(int64_t n)
{
    void *p = NULL;

    assert_int_equal(tri_region_alloc(region, (uint64_t)n * sizeof(tri_real),
                                      "test", &p),
                     TRI_OK);
    return p;
}

static int open_model(void **state)
{
    tri_place place = {.stages = 1,
                       .micro_batch = 4,
                       .slots = 1,
                       .global_batch = BATCH,
                       .products = tri_products_serial()};
    int i;

    (void)state;
    assert_int_equal(tri_dlrm_create(&shape, &place, 3, &model), TRI_OK);
    assert_int_equal(tri_region_create((uint64_t)1 << 22, 0, &region), TRI_OK);
    table = tri_dlrm_ops.tensors(model);
    sparse = tri_dlrm_ops.sparse(model);
    for (i = 0; i < 4; i++) {
        arrays[i] = take(table->count);
    }
    rows = take(sparse->count);
    assert_int_equal(tri_dlrm_ops.alloc(model, region), TRI_OK);
    tri_tensors_init(table, 3, arrays[0]);
    tri_tensors_init(sparse, 3, rows);
    for (int64_t k = 0; k < sparse->count; k++) {
        rows[k] *= 4; /* the interaction matters */
    }
    tri_dlrm_ops.bind(model, arrays[0], arrays[1]);
    tri_dlrm_ops.bind_sparse(model, rows);
    return 0;
}

static int close_model(void **state)
{
    (void)state;
    tri_dlrm_ops.destroy(model);
    tri_region_destroy(region);
    return tri_models_alive();
}

static double run_step(int64_t step)
{
    int i;

    memset(arrays[1], 0, (size_t)table->count * sizeof(tri_real));
    for (i = 0; i < BATCH; i += 4) {
        tri_dlrm_ops.load(model, 0, step, i);
        tri_dlrm_ops.forward(model, 0);
        tri_dlrm_ops.backward(model, 0);
    }
    return tri_dlrm_ops.take_loss(model);
}

/* Derivative of the loss of step 0 by *x. */
static double derivative(tri_real *x)
{
    const double h = 1e-5;
    tri_real keep = *x;
    double up, down;

    *x = keep + h;
    up = run_step(0);
    *x = keep - h;
    down = run_step(0);
    *x = keep;
    return (up - down) / (2 * h);
}

static void test_dense_gradients(void **state)
{
    int64_t i;
    int k;

    (void)state;
    for (k = 0; k < table->n; k++) {
        for (i = 0; i < table->at[k].count; i += 3) {
            int64_t e = table->at[k].offset + i;
            double g = derivative(&arrays[0][e]);

            (void)run_step(0);
            assert_true(fabs(g - (double)arrays[1][e]) < 1e-8);
        }
    }
}

/* A row moves by lr g / sqrt(mean of g^2), one that no sample has does not. */
static void test_rows_move(void **state)
{
    static tri_real before[2000];
    static double g[2000];
    double squares = 0, owned, moved = 0;
    int64_t n = sparse->count, i, r;
    int k, c;

    (void)state;
    assert_true(n <= 2000);
    for (i = 0; i < n; i++) {
        before[i] = rows[i];
        g[i] = derivative(&rows[i]);
        squares += g[i] * g[i];
    }
    (void)run_step(0);
    owned = tri_dlrm_ops.sparse_end(model);
    assert_true(fabs(owned - squares) < 1e-6 * squares);
    tri_dlrm_ops.sparse_update(model, 0.5);
    for (k = 0; k < sparse->n; k++) {
        for (r = 0; r < shape.rows[k]; r++) {
            int64_t at = sparse->at[k].offset + r * shape.dim;
            double mean = 0;

            for (c = 0; c < shape.dim; c++) {
                mean += g[at + c] * g[at + c] / shape.dim;
            }
            for (c = 0; c < shape.dim; c++) {
                double want = mean > 1e-16
                                      ? -LR * g[at + c] / (sqrt(mean) + 2e-8)
                                      : 0;
                double is = (double)rows[at + c] - (double)before[at + c];

                moved += fabs(is);
                assert_true(mean > 1e-16 ? fabs(is - want) < 1e-5 : is == 0);
            }
        }
    }
    assert_true(moved > 0);
    memcpy(rows, before, (size_t)n * sizeof *rows);
}

static void test_learns(void **state)
{
    tri_adamw opt = {.lr = 0.01, .beta1 = 0.9, .beta2 = 0.95, .eps = 1e-8};
    double first = 0, last = 0;
    int step;

    (void)state;
    for (step = 0; step < 1000; step++) {
        double loss = run_step(step);

        first += step < 100 ? loss / 100 : 0;
        last += step >= 900 ? loss / 100 : 0;
        (void)tri_dlrm_ops.sparse_end(model);
        tri_adamw_update(&opt, table, step + 1, 1, arrays[1], arrays[0],
                         arrays[2], arrays[3]);
        tri_dlrm_ops.sparse_update(model, 1);
    }
    print_message("loss %.3f, then %.3f\n", first, last);
    assert_true(last < 0.85 * first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_dense_gradients),
                                       cmocka_unit_test(test_rows_move),
                                       cmocka_unit_test(test_learns)};

    return cmocka_run_group_tests(tests, open_model, close_model);
}

/*
 * The smallest model: gradients against finite differences, and it learns.
 */
#include "models/mlp/mlp.h"
#include "models/optim/optim.h"
#include "trireme/rng.h"

#include "tests/tri_cmocka.h"

#include <math.h>
#include <string.h>

static tri_model *model;
static tri_region *region;
static const tri_tensors *table;
static tri_real *arrays[4]; /* parameters, gradients, m, v */

static int open_model(void **state)
{
    tri_mlp_shape shape = {.inputs = 5, .hidden = 9, .layers = 2, .outputs = 3};
    tri_place place = {.stages = 1,
                       .micro_batch = 4,
                       .slots = 1,
                       .global_batch = 8,
                       .products = tri_products_serial()};
    int i;

    (void)state;
    assert_int_equal(tri_mlp_create(&shape, &place, 3, &model), TRI_OK);
    assert_int_equal(tri_region_create((uint64_t)1 << 22, 0, &region), TRI_OK);
    table = tri_mlp_ops.tensors(model);
    for (i = 0; i < 4; i++) {
        void *p = NULL;

        assert_int_equal(
                tri_region_alloc(region,
                                 (uint64_t)table->count * sizeof(tri_real),
                                 "test", &p),
                TRI_OK);
        arrays[i] = p;
    }
    assert_int_equal(tri_mlp_ops.alloc(model, region), TRI_OK);
    tri_tensors_init(table, 3, arrays[0]);
    tri_mlp_ops.bind(model, arrays[0], arrays[1]);
    return 0;
}

static int close_model(void **state)
{
    (void)state;
    tri_mlp_ops.destroy(model);
    tri_region_destroy(region);
    return tri_models_alive();
}

static double run_step(int64_t step)
{
    int i;

    memset(arrays[1], 0, (size_t)table->count * sizeof(tri_real));
    for (i = 0; i < 8; i += 4) {
        tri_mlp_ops.load(model, 0, step, i);
        tri_mlp_ops.forward(model, 0);
        tri_mlp_ops.backward(model, 0);
    }
    return tri_mlp_ops.take_loss(model);
}

static void test_gradients(void **state)
{
    const double h = 1e-4;
    int64_t i;
    int k;

    (void)state;
    for (k = 0; k < table->n; k++) {
        for (i = 0; i < table->at[k].count; i += 3) {
            int64_t e = table->at[k].offset + i;
            tri_real keep = arrays[0][e];
            double up, down, g;

            arrays[0][e] = keep + h;
            up = run_step(0);
            arrays[0][e] = keep - h;
            down = run_step(0);
            arrays[0][e] = keep;
            (void)run_step(0);
            g = (double)arrays[1][e];
            assert_true(fabs((up - down) / (2 * h) - g) < 1e-7);
        }
    }
}

static void test_learns(void **state)
{
    tri_adamw opt = {.lr = 0.01, .beta1 = 0.9, .beta2 = 0.95, .eps = 1e-8};
    double first = 0, last = 0;
    int step;

    (void)state;
    for (step = 0; step < 400; step++) {
        double loss = run_step(step);

        first += step < 20 ? loss / 20 : 0;
        last += step >= 380 ? loss / 20 : 0;
        tri_adamw_update(&opt, table, step + 1, 1, arrays[1], arrays[0],
                         arrays[2], arrays[3]);
    }
    print_message("loss %.3f, then %.3f\n", first, last);
    assert_true(last < 0.5 * first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_gradients),
                                       cmocka_unit_test(test_learns)};

    return cmocka_run_group_tests(tests, open_model, close_model);
}

/*
 * The transformer on one rank, in double precision: its gradients are those
 * of finite differences, gradients of micro-batches add up to those of the
 * whole batch, and training learns.
 */
#include "models/gpt/gpt.h"
#include "models/optim/optim.h"
#include "trireme/rng.h"

#include "tests/tri_cmocka.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct fixture {
    tri_model *model;
    const tri_tensors *table;
    tri_region *region;
    tri_real *params, *grads, *m, *v;
    int micro_batch, global_batch;
    unsigned char text[400];
} fixture;

static const tri_gpt_shape tiny = {.layers = 2,
                                   .hidden = 12,
                                   .heads = 3,
                                   .sequence = 7,
                                   .vocab = 11,
                                   .ffn = 20,
                                   .tied = 1};

static void *floats(fixture *f)
{
    void *p = NULL;

    assert_int_equal(
            tri_region_alloc(f->region,
                             (uint64_t)f->table->count * sizeof(tri_real),
                             "test", &p),
            TRI_OK);
    return p;
}

static void open_watched(fixture *f, const tri_gpt_shape *shape,
                         int micro_batch, int global_batch,
                         const tri_watch *watch)
{
    tri_rng rng = tri_rng_stream(3, 1, TRI_RNG_TEST);
    tri_place place = {.stages = 1,
                       .micro_batch = micro_batch,
                       .slots = 1,
                       .global_batch = global_batch,
                       .products = tri_products_serial(),
                       .watch = watch};
    tri_gpt_part all = {0, shape->layers};
    tri_text text = {.bytes = f->text, .n = sizeof f->text, .seed = 5};
    size_t i;

    f->micro_batch = micro_batch;
    f->global_batch = global_batch;
    for (i = 0; i < sizeof f->text; i++) {
        f->text[i] = (unsigned char)(i % 7 + tri_rng_below(&rng, 3));
    }
    assert_int_equal(tri_gpt_create(shape, &place, &all, &text, &f->model),
                     TRI_OK);
    f->table = tri_gpt_ops.tensors(f->model);
    assert_int_equal(tri_region_create((uint64_t)64 << 20, 0, &f->region),
                     TRI_OK);
    f->params = floats(f);
    f->grads = floats(f);
    f->m = floats(f);
    f->v = floats(f);
    assert_int_equal(tri_gpt_ops.alloc(f->model, f->region), TRI_OK);
    tri_tensors_init(f->table, 9, f->params);
    tri_gpt_ops.bind(f->model, f->params, f->grads);
}

static void open_model(fixture *f, const tri_gpt_shape *shape, int micro_batch,
                       int global_batch)
{
    open_watched(f, shape, micro_batch, global_batch, NULL);
}

static void close_model(fixture *f)
{
    tri_gpt_ops.destroy(f->model);
    tri_region_destroy(f->region);
    assert_int_equal(tri_models_alive(), 0);
}

/* Loss of step `step`; grads hold its gradient. */
static double run_step(fixture *f, int64_t step)
{
    int i;

    memset(f->grads, 0, (size_t)f->table->count * sizeof *f->grads);
    for (i = 0; i < f->global_batch; i += f->micro_batch) {
        tri_gpt_ops.load(f->model, 0, step, i);
        tri_gpt_ops.forward(f->model, 0);
        tri_gpt_ops.backward(f->model, 0);
    }
    return tri_gpt_ops.take_loss(f->model);
}

static double max_norm(const tri_real *x, int64_t n)
{
    double top = 0;
    int64_t i;

    for (i = 0; i < n; i++) {
        top = fabs((double)x[i]) > top ? fabs((double)x[i]) : top;
    }
    return top;
}

/* Fourth-order central difference of the loss along parameter *p. */
static double difference(fixture *f, tri_real *p)
{
    const double h = 1e-3;
    tri_real keep = *p;
    double d1, d2;

    *p = keep + h;
    d1 = run_step(f, 0);
    *p = keep - h;
    d1 -= run_step(f, 0);
    *p = keep + 2 * h;
    d2 = run_step(f, 0);
    *p = keep - 2 * h;
    d2 -= run_step(f, 0);
    *p = keep;
    return (8 * d1 - d2) / (12 * h);
}

/* Parameters far from their small initial values, so that nothing is nearly
 * linear. */
static void shake(fixture *f)
{
    tri_rng rng = tri_rng_stream(17, 0, TRI_RNG_TEST);
    int64_t i;

    for (i = 0; i < f->table->count; i++) {
        f->params[i] += 0.2 * tri_rng_normal(&rng);
    }
}

static void check_tensor(fixture *f, const tri_tensor *t, const tri_real *grads,
                         tri_rng *rng)
{
    double top = max_norm(grads + t->offset, t->count);
    int i;

    assert_true(top > 0);
    for (i = 0; i < 8; i++) {
        int64_t e = t->offset + (int64_t)tri_rng_below(rng, (uint64_t)t->count);
        double d = difference(f, f->params + e);

        if (fabs(d - (double)grads[e]) > 1e-8 * top) {
            fail_msg("%s: element %lld: %.12g is not the difference %.12g",
                     t->name, (long long)(e - t->offset), (double)grads[e], d);
        }
    }
}

static void check_gradients(const tri_gpt_shape *shape)
{
    fixture f = {0};
    tri_rng rng = tri_rng_stream(23, 0, TRI_RNG_TEST);
    tri_real *grads;
    int k;

    open_model(&f, shape, 2, 4);
    shake(&f);
    grads = malloc((size_t)f.table->count * sizeof *grads);
    assert_non_null(grads);
    assert_true(run_step(&f, 0) > 0);
    memcpy(grads, f.grads, (size_t)f.table->count * sizeof *grads);
    for (k = 0; k < f.table->n; k++) {
        check_tensor(&f, &f.table->at[k], grads, &rng);
    }
    free(grads);
    close_model(&f);
}

static void test_gradients_tied(void **state)
{
    (void)state;
    check_gradients(&tiny);
}

static void test_gradients_untied(void **state)
{
    tri_gpt_shape shape = tiny;

    (void)state;
    shape.tied = 0;
    check_gradients(&shape);
}

/* LLaMA's form, and each of its parts alone. */
static void test_gradients_of_forms(void **state)
{
    int part;

    (void)state;
    for (part = 0; part <= 4; part++) {
        tri_gpt_shape shape = tiny;

        shape.layers = part == 0 ? 2 : 1;
        shape.tied = part != 0;
        shape.rms = part == 0 || part == 1;
        shape.swiglu = part == 0 || part == 2;
        shape.rope = part == 0 || part == 3;
        shape.no_bias = part == 0 || part == 4;
        check_gradients(&shape);
    }
}

static void test_gradients_dropped(void **state)
{
    tri_gpt_shape shape = tiny;

    (void)state;
    shape.dropout = 0.3;
    check_gradients(&shape);
    shape.sequence = 75;
    shape.layers = 1;
    check_gradients(&shape);
}

static void test_gradients_long(void **state)
{
    tri_gpt_shape shape = tiny;

    (void)state;
    shape.sequence = 75; /* more than a block of attention, and no multiple */
    shape.layers = 1;
    check_gradients(&shape);
}

static void test_micro_batches_add_up(void **state)
{
    fixture a = {0}, b = {0};
    int64_t i;
    double top;

    (void)state;
    open_model(&a, &tiny, 6, 6);
    open_model(&b, &tiny, 1, 6);
    assert_true(fabs(run_step(&a, 3) - run_step(&b, 3)) < 1e-13);
    top = max_norm(a.grads, a.table->count);
    for (i = 0; i < a.table->count; i++) {
        assert_true(fabs((double)(a.grads[i] - b.grads[i])) <= 1e-13 * top);
    }
    tri_gpt_ops.destroy(a.model);
    tri_region_destroy(a.region);
    close_model(&b);
}

/* ---- units ------------------------------------------------------------- */

/* Each unit lives elsewhere, and is scratched when it is not announced. */
typedef struct watcher {
    fixture f;
    tri_real *params, *home;
    int units, calls, alive[8];
} watcher;

static void place_unit(watcher *w, int unit, int64_t *first, int64_t *count)
{
    tri_tensors_unit(w->f.table, unit, first, count);
    assert_true(*count > 0 && *count % TRI_TENSOR_ALIGN == 0);
}

static void before(void *ctx, int unit, int back)
{
    watcher *w = ctx;
    int64_t first, count;

    (void)back;
    assert_in_range(unit, 0, w->units - 1);
    place_unit(w, unit, &first, &count);
    memcpy(w->params + first, w->home + first, (size_t)count * sizeof *w->home);
    w->alive[unit] = 1;
    w->calls++;
}

static void after(void *ctx, int unit, int back)
{
    watcher *w = ctx;
    int64_t first, count, i;

    (void)back;
    assert_true(w->alive[unit]);
    w->alive[unit] = 0;
    place_unit(w, unit, &first, &count);
    for (i = 0; i < count; i++) {
        w->params[first + i] = (tri_real)NAN;
    }
}

/* A model whose units are where they are only while they are announced gives
 * the same gradients. */
static void check_units(int tied)
{
    watcher w = {0};
    tri_watch watch = {.ctx = &w, .before = before, .after = after};
    tri_gpt_shape shape = tiny;
    fixture plain = {0};
    size_t bytes;
    int unit;

    shape.tied = tied;
    open_model(&plain, &shape, 2, 4);
    run_step(&plain, 0);
    open_watched(&w.f, &shape, 2, 4, &watch);
    bytes = (size_t)w.f.table->count * sizeof *w.params;
    w.units = tri_tensors_units(w.f.table);
    assert_int_equal(w.units, shape.layers + 2);
    w.home = w.f.params;
    w.params = calloc(1, bytes);
    assert_non_null(w.params);
    for (unit = 0; unit < w.units; unit++) {
        int64_t first, count;

        place_unit(&w, unit, &first, &count);
        tri_gpt_ops.bind_unit(w.f.model, unit, w.params + first,
                              w.f.grads + first);
    }
    run_step(&w.f, 0);
    assert_true(w.calls >= 2 * 2 * w.units);
    for (unit = 0; unit < w.units; unit++) {
        assert_false(w.alive[unit]);
    }
    assert_memory_equal(w.f.grads, plain.grads, bytes);
    free(w.params);
    tri_gpt_ops.destroy(plain.model);
    tri_region_destroy(plain.region);
    close_model(&w.f);
}

static void test_units(void **state)
{
    (void)state;
    check_units(0);
    check_units(1);
}

static void test_learns(void **state)
{
    fixture f = {0};
    tri_adamw opt = {.lr = 0.01,
                     .beta1 = 0.9,
                     .beta2 = 0.95,
                     .eps = 1e-8,
                     .weight_decay = 0.01};
    double first = 0, last = 0;
    int step;

    (void)state;
    open_model(&f, &tiny, 4, 8);
    for (step = 0; step < 60; step++) {
        double norm;

        last = run_step(&f, step);
        first = step ? first : last;
        norm = sqrt(tri_tensors_sumsq(f.table, f.grads, 0));
        tri_adamw_update(&opt, f.table, step + 1, tri_clip_coefficient(norm, 1),
                         f.grads, f.params, f.m, f.v);
    }
    print_message("loss %.3f, then %.3f\n", first, last);
    assert_true(fabs(first - log(11)) < 0.1);
    assert_true(last < 0.75 * first);
    close_model(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(test_gradients_tied),
            cmocka_unit_test(test_gradients_untied),
            cmocka_unit_test(test_gradients_of_forms),
            cmocka_unit_test(test_gradients_dropped),
            cmocka_unit_test(test_gradients_long),
            cmocka_unit_test(test_micro_batches_add_up),
            cmocka_unit_test(test_units),
            cmocka_unit_test(test_learns),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Parts of tensors: runs, boxes and checksums of random cuts are those of the
 * whole, element by element.
 */
#include "mpi_workers/ckpt_cut.h"

#include "tests/tri_cmocka.h"
#include "trireme/rng.h"

#include <stdlib.h>
#include <string.h>

static int64_t below(tri_rng *rng, int64_t n)
{
    return (int64_t)tri_rng_below(rng, (uint64_t)n);
}

/* A tensor of up to four dimensions, some of them one long, cut or not. */
static tri_tensor draw(tri_rng *rng)
{
    tri_tensor t = {.n_dims = 1 + (int)below(rng, 4), .split = -1};
    int64_t n = 1;

    for (int i = 0; i < t.n_dims; i++) {
        t.shape[i] = 1 + below(rng, 5);
        n *= t.shape[i];
    }
    t.count = n;
    if (below(rng, 4)) {
        t.split = (int)below(rng, t.n_dims);
        t.first = below(rng, t.shape[t.split] + 1);
        t.len = below(rng, t.shape[t.split] - t.first + 1);
        t.count = n / t.shape[t.split] * t.len;
    }
    return t;
}

typedef struct seen {
    const tri_tensor *t;
    int64_t next, end; /* local */
    int64_t lo, hi;    /* of the whole */
    int64_t n;
} seen;

static void see_run(void *ctx, int64_t local, int64_t global, int64_t n)
{
    seen *s = ctx;

    assert_true(n > 0 && local >= s->next && local + n <= s->end);
    assert_true(global >= s->lo && global + n <= s->hi);
    for (int64_t i = 0; i < n; i++) {
        assert_int_equal(tri_tensor_global(s->t, local + i), global + i);
    }
    s->next = local + n;
    s->n += n;
}

static int see_box(void *ctx, const int64_t *start, const int64_t *count,
                   int64_t at, int64_t n)
{
    seen *s = ctx;
    int64_t many = 1;

    for (int i = 0; i < s->t->n_dims; i++) {
        assert_true(count[i] > 0 && start[i] >= 0 &&
                    start[i] + count[i] <= s->t->shape[i]);
        many *= count[i];
    }
    assert_int_equal(many, n);
    assert_int_equal(at, s->n);
    for (int64_t k = 0; k < n; k++) { /* its elements in order */
        int64_t left = k;
        int64_t index[TRI_TENSOR_DIMS];
        int64_t global = 0;

        for (int i = s->t->n_dims - 1; i >= 0; i--) {
            index[i] = start[i] + left % count[i];
            left /= count[i];
        }
        for (int i = 0; i < s->t->n_dims; i++) {
            global = global * s->t->shape[i] + index[i];
        }
        assert_int_equal(tri_tensor_global(s->t, s->next + k), global);
    }
    s->next += n;
    s->n += n;
    return 0;
}

static void cuts(void **state)
{
    tri_rng rng = tri_rng_stream(5, 0, TRI_RNG_TEST);

    (void)state;
    for (int round = 0; round < 3000; round++) {
        tri_tensor t = draw(&rng);
        int64_t from = below(&rng, t.count + 1);
        tri_cut c = tri_cut_of(&t, from, below(&rng, t.count - from + 1));
        int64_t whole = tri_cut_whole(&c);
        int64_t lo = below(&rng, whole);
        int64_t n = 1 + below(&rng, whole - lo);
        int64_t inside = 0;
        seen s = {.t = &t,
                  .next = from,
                  .end = from + c.n,
                  .lo = lo,
                  .hi = lo + n};

        for (int64_t i = from; i < from + c.n; i++) {
            int64_t g = tri_tensor_global(&t, i);

            inside += g >= lo && g < lo + n;
        }
        tri_cut_runs(&c, lo, n, see_run, &s);
        assert_int_equal(s.n, inside);
        s = (seen){.t = &t, .next = from};
        assert_int_equal(tri_cut_own_boxes(&c, see_box, &s), 0);
        assert_int_equal(s.n, c.n);
    }
}

/* The parts' sums are the whole's; another bit or another place is another
 * sum. */
static void sums(void **state)
{
    tri_tensor t = {.n_dims = 3, .split = -1, .shape = {3, 8, 5}, .count = 120};
    tri_real x[120];
    tri_real part[120];
    tri_cut all = tri_cut_of(&t, 0, 120);
    uint64_t sum;
    uint64_t parts = 0;

    (void)state;
    for (int i = 0; i < 120; i++) {
        x[i] = (tri_real)i / 7;
    }
    sum = tri_cut_sum(&all, x);
    t.split = 1;
    for (t.first = 0; t.first < 8; t.first += t.len) {
        t.len = t.first ? 3 : 2;
        t.count = 15 * t.len;
        for (int64_t i = 0; i < t.count; i++) {
            part[i] = x[tri_tensor_global(&t, i)];
        }
        all = tri_cut_of(&t, 0, 11);
        parts += tri_cut_sum(&all, part);
        all = tri_cut_of(&t, 11, t.count - 11);
        parts += tri_cut_sum(&all, part + 11);
    }
    assert_true(parts == sum);
    t = (tri_tensor){.n_dims = 1, .split = -1, .shape = {120}, .count = 120};
    all = tri_cut_of(&t, 0, 120);
    assert_true(tri_cut_sum(&all, x) == sum);
    x[3] = -x[3];
    assert_true(tri_cut_sum(&all, x) != sum);
    x[3] = x[4];
    x[4] = (tri_real)3 / 7;
    assert_true(tri_cut_sum(&all, x) != sum);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(cuts),
                                       cmocka_unit_test(sums)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

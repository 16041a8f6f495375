/*
 * After its first step a trainer allocates nothing.  Two proofs: the linker
 * sends every allocation call of our own code through the counters below; and
 * on a group of one rank the C library's heap does not change by a byte,
 * whoever asks.
 */
#include "mpi_workers/trainer.h"

#include "tests/tri_cmocka.h"

#include <malloc.h>
#include <stdio.h>
#include <sys/mman.h>

static long calls;

/* NOLINTBEGIN(readability-identifier-naming): the linker's names */
void *__real_malloc(size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_malloc(size_t n)
{
    calls++;
    return __real_malloc(n);
}

void *__real_calloc(size_t n, size_t each);
void *__wrap_calloc(size_t n, size_t each);
void *__wrap_calloc(size_t n, size_t each)
{
    calls++;
    return __real_calloc(n, each);
}

void *__real_realloc(void *p, size_t n);
void *__wrap_realloc(void *p, size_t n);
void *__wrap_realloc(void *p, size_t n)
{
    calls++;
    return __real_realloc(p, n);
}

void *__real_mmap(void *at, size_t n, int prot, int flags, int fd, off_t off);
void *__wrap_mmap(void *at, size_t n, int prot, int flags, int fd, off_t off);
void *__wrap_mmap(void *at, size_t n, int prot, int flags, int fd, off_t off)
{
    calls++;
    return __real_mmap(at, n, prot, flags, fd, off);
}

int __real_mprotect(void *at, size_t n, int prot);
int __wrap_mprotect(void *at, size_t n, int prot);
int __wrap_mprotect(void *at, size_t n, int prot)
{
    calls++;
    return __real_mprotect(at, n, prot);
}

/* NOLINTEND(readability-identifier-naming) */

static unsigned char text[1000];
static const tri_model_spec model = {.kind = TRI_MODEL_GPT,
                                     .u.gpt = {.layers = 4,
                                               .hidden = 32,
                                               .heads = 4,
                                               .sequence = 16,
                                               .vocab = 64,
                                               .ffn = 64,
                                               .tied = 1}};

/* The rest of a layout. */
typedef struct shape {
    int dp, tp, pp, schedule, chunks, by_rows, zero, recompute, overlap;
} shape;

static tri_trainer *open_trainer(MPI_Comm comm, shape z)
{
    tri_trainer_setup s = {.model = &model,
                           .layout = {.dp = z.dp,
                                      .tp = z.tp,
                                      .pp = z.pp,
                                      .virtual_stages = z.chunks,
                                      .sequence_parallel = z.by_rows,
                                      .micro_batch = 1,
                                      .global_batch = 8,
                                      .schedule = z.schedule,
                                      .zero = z.zero,
                                      .recompute = z.recompute,
                                      .overlap = z.overlap,
                                      .threads = 1},
                           .seed = 1,
                           .optimizer = {1e-3, 0.9, 0.95, 1e-8, 0.01},
                           .clip = 1,
                           .text = text,
                           .text_bytes = sizeof text};
    tri_trainer *t = NULL;
    tri_step step;

    calls = 0;
    assert_int_equal(tri_trainer_create(&s, comm, &t), TRI_OK);
    assert_true(calls > 0); /* the counters are in place */
    assert_int_equal(tri_trainer_step(t, 0, &step), TRI_OK);
    return t;
}

static void no_calls_of_ours(void **state)
{
    static const shape shapes[] = {
            {4, 1, 1, 1, 1, 0, 0, 0, 0}, {1, 4, 1, 1, 1, 0, 0, 1, 0},
            {1, 1, 4, 1, 1, 0, 0, 2, 0}, {2, 1, 2, 0, 1, 0, 1, 0, 0},
            {1, 2, 2, 1, 1, 1, 0, 0, 0}, {2, 1, 2, 2, 2, 0, 0, 0, 1},
            {2, 2, 1, 1, 1, 1, 2, 0, 0}, {4, 1, 1, 1, 1, 0, 3, 1, 1},
            {4, 1, 1, 1, 1, 0, 1, 1, 2}, {2, 1, 2, 1, 1, 0, 1, 1, 1}};
    tri_step step;
    size_t i;
    int k;

    (void)state;
    for (i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        tri_trainer *t = open_trainer(MPI_COMM_WORLD, shapes[i]);

        calls = 0;
        for (k = 0; k < 4; k++) {
            assert_int_equal(tri_trainer_step(t, 0, &step), TRI_OK);
        }
        assert_int_equal(calls, 0);
        tri_trainer_destroy(t);
    }
}

static void heap_stands_still(void **state)
{
    tri_trainer *t =
            open_trainer(MPI_COMM_SELF, (shape){1, 1, 1, 1, 1, 0, 0, 0, 0});
    struct mallinfo2 before, after;
    tri_step step;
    int k;

    (void)state;
    before = mallinfo2();
    for (k = 0; k < 4; k++) {
        assert_int_equal(tri_trainer_step(t, 0, &step), TRI_OK);
    }
    after = mallinfo2();
    assert_int_equal(before.uordblks, after.uordblks);
    assert_int_equal(before.hblkhd, after.hblkhd);
    assert_int_equal(before.arena, after.arena);
    tri_trainer_destroy(t);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_calls_of_ours),
                                       cmocka_unit_test(heap_stands_still)};
    int failed, rank;
    size_t i;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (i = 0; i < sizeof text; i++) {
        text[i] = (unsigned char)(i % 23);
    }
    if (rank > 0 && !freopen("/dev/null", "w", stdout)) {
        return 1;
    }
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    MPI_Finalize();
    return failed != 0;
}

/*
 * Pipeline schedules for many depths and numbers of micro-batches: the proof
 * holds, slots and order are as promised; and lists that are wrong are found.
 */
#include "mpi_workers/schedule.h"

#include "tests/tri_cmocka.h"

#include <stdlib.h>
#include <string.h>

#define MAX_STAGES 16

static tri_schedule_shape make(tri_schedule_kind kind, int stages, int chunks,
                               int m, tri_schedule *at)
{
    tri_schedule_shape shape = {kind, stages, chunks, m};
    int s;

    for (s = 0; s < stages; s++) {
        assert_int_equal(tri_schedule_init(&shape, s, &at[s]), TRI_OK);
    }
    return shape;
}

static void drop(tri_schedule *at, int stages)
{
    int s;

    for (s = 0; s < stages; s++) {
        tri_schedule_fini(&at[s]);
    }
}

/* The largest number of micro-batches of a chunk (-1: of all) between their F
 * and their B. */
static int most_alive(const tri_schedule *s, int chunk)
{
    int i, alive = 0, most = 0;

    for (i = 0; i < s->n; i++) {
        if (chunk < 0 || s->ops[i].chunk == chunk) {
            alive += s->ops[i].kind == TRI_OP_F;
            alive -= s->ops[i].kind == TRI_OP_B;
        }
        most = alive > most ? alive : most;
    }
    return most;
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* What a stage keeps alive at most. */
static int expected(tri_schedule_shape z, int stage)
{
    int behind = z.stages - 1 - stage;

    return z.kind == TRI_SCHEDULE_GPIPE ? z.m
           : z.chunks == 1              ? least(z.m, behind + 1)
                                        : least(z.m * z.chunks,
                                                2 * behind + (z.chunks - 1) * z.stages + 1);
}

static void check_one(tri_schedule_kind kind, int stages, int chunks, int m)
{
    tri_schedule at[MAX_STAGES];
    tri_schedule_shape shape = make(kind, stages, chunks, m, at);
    int s, c;

    if (tri_schedule_check(at, &shape) != TRI_OK) {
        fail_msg("kind %d, %d stages, %d chunks, %d micro-batches: %s",
                 (int)kind, stages, chunks, m, tri_error_last()->sentence);
    }
    for (s = 0; s < stages; s++) {
        int slots = 0;

        for (c = 0; c < chunks; c++) {
            slots += most_alive(&at[s], c);
        }
        assert_int_equal(at[s].slots, slots);
        assert_int_equal(most_alive(&at[s], -1), expected(shape, s));
        assert_true(at[s].n <= 6 * m * chunks);
    }
    drop(at, stages);
}

static void all_are_proven(void **state)
{
    int stages, chunks, m;

    (void)state;
    for (stages = 1; stages <= 9; stages++) {
        for (m = 1; m <= 24; m++) {
            check_one(TRI_SCHEDULE_GPIPE, stages, 1, m);
            check_one(TRI_SCHEDULE_1F1B, stages, 1, m);
            check_one(TRI_SCHEDULE_INTERLEAVED, stages, 1, m);
        }
    }
    for (stages = 2; stages <= 8; stages++) {
        for (chunks = 2; chunks <= 5; chunks++) {
            for (m = stages; m <= 4 * stages; m += stages) {
                check_one(TRI_SCHEDULE_INTERLEAVED, stages, chunks, m);
            }
        }
    }
    check_one(TRI_SCHEDULE_1F1B, MAX_STAGES, 1, 64);
    check_one(TRI_SCHEDULE_GPIPE, MAX_STAGES, 1, 64);
    check_one(TRI_SCHEDULE_INTERLEAVED, MAX_STAGES, 4, 64);
}

/* With one chunk interleaved is 1f1b. */
static void one_chunk_is_1f1b(void **state)
{
    tri_schedule a[4], b[4];
    int s;

    (void)state;
    make(TRI_SCHEDULE_1F1B, 4, 1, 8, a);
    make(TRI_SCHEDULE_INTERLEAVED, 4, 1, 8, b);
    for (s = 0; s < 4; s++) {
        assert_int_equal(a[s].n, b[s].n);
        assert_memory_equal(a[s].ops, b[s].ops,
                            (size_t)a[s].n * sizeof *a[s].ops);
    }
    drop(a, 4);
    drop(b, 4);
}

/* Leaving out or doubling any one operation is found. */
static void every_hole_is_found(void **state)
{
    static const int kinds[][2] = {{TRI_SCHEDULE_GPIPE, 1},
                                   {TRI_SCHEDULE_1F1B, 1},
                                   {TRI_SCHEDULE_INTERLEAVED, 2}};
    int kind, s, i;

    (void)state;
    for (kind = 0; kind < 3; kind++) {
        tri_schedule at[3];
        tri_schedule_shape shape = make((tri_schedule_kind)kinds[kind][0], 3,
                                        kinds[kind][1], 6, at);

        for (s = 0; s < 3; s++) {
            for (i = 0; i < at[s].n; i++) {
                tri_schedule whole = at[s], less = whole;

                less.n--;
                less.ops = malloc((size_t)whole.n * sizeof *less.ops);
                assert_non_null(less.ops);
                memcpy(less.ops, whole.ops, (size_t)i * sizeof *less.ops);
                memcpy(less.ops + i, whole.ops + i + 1,
                       (size_t)(whole.n - i - 1) * sizeof *less.ops);
                at[s] = less;
                assert_int_equal(tri_schedule_check(at, &shape), TRI_EINTERNAL);
                less.ops[less.n] = less.ops[i ? i - 1 : 0];
                at[s].n++;
                assert_int_equal(tri_schedule_check(at, &shape), TRI_EINTERNAL);
                at[s] = whole;
                free(less.ops);
            }
        }
        assert_int_equal(tri_schedule_check(at, &shape), TRI_OK);
        drop(at, 3);
    }
}

static void set(tri_schedule *s, int n, const tri_op *ops, int slots)
{
    s->ops = malloc((size_t)n * sizeof *ops);
    assert_non_null(s->ops);
    memcpy(s->ops, ops, (size_t)n * sizeof *ops);
    s->n = n;
    s->slots = slots;
    s->chunk_of = calloc((size_t)slots, sizeof *s->chunk_of);
    assert_non_null(s->chunk_of);
}

/* Two stages, each of which waits for what the other does later. */
static void deadlock_is_found(void **state)
{
    static const tri_op first[] = {{TRI_OP_F, 0, 0, 0},
                                   {TRI_OP_RECV_B, 0, 0, 0},
                                   {TRI_OP_B, 0, 0, 0},
                                   {TRI_OP_SEND_F, 0, 0, 0}};
    static const tri_op second[] = {{TRI_OP_RECV_F, 0, 0, 0},
                                    {TRI_OP_F, 0, 0, 0},
                                    {TRI_OP_B, 0, 0, 0},
                                    {TRI_OP_SEND_B, 0, 0, 0}};
    tri_schedule_shape shape = {TRI_SCHEDULE_1F1B, 2, 1, 1};
    tri_schedule at[2];

    (void)state;
    set(&at[0], 4, first, 1);
    set(&at[1], 4, second, 1);
    assert_int_equal(tri_schedule_check(at, &shape), TRI_EINTERNAL);
    assert_non_null(strstr(tri_error_last()->sentence, "waits for ever"));
    drop(at, 2);
}

/* A slot where two micro-batches are alive, and one of another chunk. */
static void wrong_slots_are_found(void **state)
{
    tri_schedule_shape shape;
    tri_schedule at[2];
    int i;

    (void)state;
    shape = make(TRI_SCHEDULE_GPIPE, 2, 1, 3, at);
    for (i = 0; i < at[1].n; i++) {
        at[1].ops[i].slot %= 2;
    }
    assert_int_equal(tri_schedule_check(at, &shape), TRI_EINTERNAL);
    assert_non_null(strstr(tri_error_last()->sentence, "slot is not free"));
    drop(at, 2);
    shape = make(TRI_SCHEDULE_INTERLEAVED, 2, 2, 4, at);
    for (i = 0; i < at[0].n; i++) {
        at[0].ops[i].slot = at[0].slots - 1 - at[0].ops[i].slot;
    }
    assert_int_equal(tri_schedule_check(at, &shape), TRI_EINTERNAL);
    assert_non_null(strstr(tri_error_last()->sentence, "not of its chunk"));
    drop(at, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(all_are_proven),
            cmocka_unit_test(one_chunk_is_1f1b),
            cmocka_unit_test(every_hole_is_found),
            cmocka_unit_test(deadlock_is_found),
            cmocka_unit_test(wrong_slots_are_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

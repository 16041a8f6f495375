/*
 * Pipeline schedules for many depths and numbers of micro-batches: the proof
 * holds, slots and order are as promised; and lists that are wrong are found.
 */
#include "mpi_workers/schedule.h"

#include "tests/tri_cmocka.h"

#include <stdlib.h>
#include <string.h>

#define MAX_STAGES 16

static void make(tri_schedule_kind kind, int stages, int m, tri_schedule *at)
{
    int s;

    for (s = 0; s < stages; s++) {
        assert_int_equal(tri_schedule_init(kind, stages, s, m, &at[s]), TRI_OK);
    }
}

static void drop(tri_schedule *at, int stages)
{
    int s;

    for (s = 0; s < stages; s++) {
        tri_schedule_fini(&at[s]);
    }
}

/* The largest number of micro-batches between their F and their B. */
static int most_alive(const tri_schedule *s)
{
    int i, alive = 0, most = 0;

    for (i = 0; i < s->n; i++) {
        alive += s->ops[i].kind == TRI_OP_F;
        alive -= s->ops[i].kind == TRI_OP_B;
        most = alive > most ? alive : most;
    }
    return most;
}

static void check_one(tri_schedule_kind kind, int stages, int m)
{
    tri_schedule at[MAX_STAGES];
    int s;

    make(kind, stages, m, at);
    if (tri_schedule_check(at, stages, m) != TRI_OK) {
        fail_msg("kind %d, %d stages, %d micro-batches: %s", (int)kind, stages,
                 m, tri_error_last()->sentence);
    }
    for (s = 0; s < stages; s++) {
        int slots =
                kind == TRI_SCHEDULE_GPIPE || m < stages - s ? m : stages - s;

        assert_int_equal(at[s].slots, slots);
        assert_int_equal(most_alive(&at[s]), slots);
        assert_true(at[s].n <= 6 * m);
    }
    drop(at, stages);
}

static void all_are_proven(void **state)
{
    int stages, m;

    (void)state;
    for (stages = 1; stages <= 9; stages++) {
        for (m = 1; m <= 24; m++) {
            check_one(TRI_SCHEDULE_GPIPE, stages, m);
            check_one(TRI_SCHEDULE_1F1B, stages, m);
        }
    }
    check_one(TRI_SCHEDULE_1F1B, MAX_STAGES, 64);
    check_one(TRI_SCHEDULE_GPIPE, MAX_STAGES, 64);
}

/* Leaving out or doubling any one operation is found. */
static void every_hole_is_found(void **state)
{
    int kind, s, i;

    (void)state;
    for (kind = 0; kind < 2; kind++) {
        tri_schedule at[3];

        make((tri_schedule_kind)kind, 3, 4, at);
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
                assert_int_equal(tri_schedule_check(at, 3, 4), TRI_EINTERNAL);
                less.ops[less.n] = less.ops[i ? i - 1 : 0];
                at[s].n++;
                assert_int_equal(tri_schedule_check(at, 3, 4), TRI_EINTERNAL);
                at[s] = whole;
                free(less.ops);
            }
        }
        assert_int_equal(tri_schedule_check(at, 3, 4), TRI_OK);
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
}

/* Two stages, each of which waits for what the other does later. */
static void deadlock_is_found(void **state)
{
    static const tri_op first[] = {{TRI_OP_F, 0},
                                   {TRI_OP_RECV_B, 0},
                                   {TRI_OP_B, 0},
                                   {TRI_OP_SEND_F, 0}};
    static const tri_op second[] = {{TRI_OP_RECV_F, 0},
                                    {TRI_OP_F, 0},
                                    {TRI_OP_B, 0},
                                    {TRI_OP_SEND_B, 0}};
    tri_schedule at[2];

    (void)state;
    set(&at[0], 4, first, 1);
    set(&at[1], 4, second, 1);
    assert_int_equal(tri_schedule_check(at, 2, 1), TRI_EINTERNAL);
    assert_non_null(strstr(tri_error_last()->sentence, "waits for ever"));
    drop(at, 2);
}

/* One slot where two micro-batches are alive. */
static void slot_reuse_is_found(void **state)
{
    tri_schedule at[2];

    (void)state;
    make(TRI_SCHEDULE_GPIPE, 2, 3, at);
    at[1].slots = 2;
    assert_int_equal(tri_schedule_check(at, 2, 3), TRI_EINTERNAL);
    assert_non_null(strstr(tri_error_last()->sentence, "slot is not free"));
    drop(at, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(all_are_proven),
            cmocka_unit_test(every_hole_is_found),
            cmocka_unit_test(deadlock_is_found),
            cmocka_unit_test(slot_reuse_is_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * The planner, on problems drawn by a seed: every element of every table is
 * placed once (copies: once a rank), balance is within the bound of list
 * scheduling, the limit is kept, and given placements are followed.
 */
#include "models/dlrm/plan.h"
#include "trireme/rng.h"

#include "tests/tri_cmocka.h"

#include <string.h>

#define SEED  5u
#define MANY  3000
#define MOST  20
#define RANKS 9

typedef struct problem {
    tri_plan_problem p;
    int64_t rows[MOST];
    int placing[MOST];
} problem;

static void draw(tri_rng *rng, problem *out)
{
    tri_plan_problem *p = &out->p;
    int t, given = tri_rng_below(rng, 2) == 0;

    p->tables = 1 + (int)tri_rng_below(rng, MOST);
    p->dim = 1 + (int)tri_rng_below(rng, 100);
    p->pooling = 1 + (int)tri_rng_below(rng, 4);
    p->planner = (tri_planner)tri_rng_below(rng, 3);
    p->ranks = 1 + (int)tri_rng_below(rng, RANKS);
    p->batch = 1 + (int)tri_rng_below(rng, 512);
    p->real_bytes = 4;
    p->limit_bytes = 0;
    for (t = 0; t < p->tables; t++) {
        out->rows[t] =
                1 + (int64_t)tri_rng_below(rng, 1ull << tri_rng_below(rng, 16));
        out->placing[t] = given ? (int)tri_rng_below(rng, 5) : 0;
    }
    p->rows = out->rows;
    p->placing = out->placing;
}

/* Each rank's bytes by the shards are those that the plan says. */
static void check_bytes(const problem *q, const tri_plan *plan)
{
    uint64_t bytes[RANKS] = {0};
    int i, r;

    for (i = 0; i < plan->n_shards; i++) {
        const tri_plan_shard *s = &plan->shards[i];

        for (r = 0; r < q->p.ranks; r++) {
            if (s->rank == r || s->rank < 0) {
                bytes[r] += tri_plan_bytes(&q->p, s->rows, s->cols);
            }
        }
    }
    for (r = 0; r < q->p.ranks; r++) {
        assert_true(bytes[r] == plan->bytes[r]);
        assert_true(!q->p.limit_bytes || bytes[r] <= q->p.limit_bytes);
    }
}

/* Blocks follow one another by row or by column, on ranks of their own. */
static void check_table(const problem *q, const tri_plan *plan, int table)
{
    int64_t row = 0, cells = 0;
    unsigned ranks = 0;
    int i, col = 0;

    for (i = 0; i < plan->n_shards; i++) {
        const tri_plan_shard *s = &plan->shards[i];

        if (s->table != table) {
            continue;
        }
        cells += s->rows * s->cols;
        assert_true(s->rows == q->rows[table] || s->row == row);
        assert_true(s->cols == q->p.dim || s->col == col);
        row += s->rows;
        col += s->cols;
        if (s->rank >= 0) {
            assert_false(ranks >> s->rank & 1);
            ranks |= 1u << s->rank;
        }
    }
    assert_true(cells == q->rows[table] * q->p.dim);
    assert_true(plan->placing[table] != TRI_PLACE_PLANNED);
    assert_true(!q->placing[table] ||
                plan->placing[table] == (tri_placing)q->placing[table]);
}

static void every_table_is_placed_once(void **state)
{
    tri_rng rng = tri_rng_stream(SEED, 0, TRI_RNG_TEST);
    int i, t;

    (void)state;
    print_message("seed %u\n", SEED);
    for (i = 0; i < MANY; i++) {
        tri_plan plan, again;
        problem q;

        draw(&rng, &q);
        assert_int_equal(tri_plan_make(&q.p, &plan), TRI_OK);
        assert_int_equal(tri_plan_make(&q.p, &again), TRI_OK);
        assert_int_equal(plan.n_shards, again.n_shards);
        assert_memory_equal(plan.shards, again.shards,
                            (size_t)plan.n_shards * sizeof *plan.shards);
        for (t = 0; t < q.p.tables; t++) {
            check_table(&q, &plan, t);
        }
        check_bytes(&q, &plan);
        tri_plan_fini(&again);
        tri_plan_fini(&plan);
    }
}

/* Whoever is busiest was the least busy when its last table came: at most the
 * mean, and (1 - 1/ranks) of one table, above it. */
static void balance_is_that_of_list_scheduling(void **state)
{
    tri_rng rng = tri_rng_stream(SEED, 1, TRI_RNG_TEST);
    int i, t, r;

    (void)state;
    for (i = 0; i < MANY; i++) {
        double top = 0, sum = 0, largest = 0;
        tri_plan plan;
        problem q;

        draw(&rng, &q);
        memset(q.placing, 0, sizeof q.placing);
        q.p.planner = (tri_planner)(i % 2);
        assert_int_equal(tri_plan_make(&q.p, &plan), TRI_OK);
        for (r = 0; r < q.p.ranks; r++) {
            double load = q.p.planner == TRI_PLANNER_SIZE
                                  ? (double)plan.bytes[r]
                                  : plan.work[r];

            sum += load;
            top = load > top ? load : top;
        }
        for (t = 0; t < q.p.tables; t++) {
            double one =
                    q.p.planner == TRI_PLANNER_SIZE
                            ? (double)tri_plan_bytes(&q.p, q.rows[t], q.p.dim)
                            : sum / q.p.tables;

            largest = one > largest ? one : largest;
        }
        assert_true(top <= sum / q.p.ranks * (1 + 1e-12) +
                                   (1 - 1.0 / q.p.ranks) * largest);
        tri_plan_fini(&plan);
    }
}

static void the_limit_is_kept(void **state)
{
    tri_rng rng = tri_rng_stream(SEED, 2, TRI_RNG_TEST);
    int i, t, kept = 0, refused = 0;

    (void)state;
    for (i = 0; i < MANY; i++) {
        uint64_t all = 0;
        tri_plan plan;
        problem q;

        draw(&rng, &q);
        for (t = 0; t < q.p.tables; t++) {
            all += tri_plan_bytes(&q.p, q.rows[t], q.p.dim);
        }
        q.p.limit_bytes = 1 + all * (1 + tri_rng_below(&rng, 20)) / 10 /
                                      (uint64_t)q.p.ranks;
        if (tri_plan_make(&q.p, &plan) == TRI_OK) {
            check_bytes(&q, &plan);
            for (t = 0; t < q.p.tables; t++) {
                check_table(&q, &plan, t);
            }
            tri_plan_fini(&plan);
            kept++;
        } else {
            assert_non_null(strstr(tri_error_last()->sentence, "no place"));
            refused++;
        }
    }
    print_message("%d kept, %d refused\n", kept, refused);
    assert_true(kept > MANY / 10 && refused > MANY / 10);
}

/* What fits on no rank whole goes to all by rows. */
static void a_large_table_goes_by_rows(void **state)
{
    int64_t rows[2] = {1000, 10};
    tri_plan_problem p = {.tables = 2,
                          .dim = 16,
                          .pooling = 1,
                          .rows = rows,
                          .ranks = 4,
                          .batch = 8,
                          .real_bytes = 4,
                          .limit_bytes = 20000};
    tri_plan plan;

    (void)state;
    assert_int_equal(tri_plan_make(&p, &plan), TRI_OK);
    assert_int_equal(plan.placing[0], TRI_PLACE_ROW);
    assert_int_equal(plan.placing[1], TRI_PLACE_TABLE);
    assert_int_equal(plan.n_shards, 5);
    tri_plan_fini(&plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(every_table_is_placed_once),
            cmocka_unit_test(balance_is_that_of_list_scheduling),
            cmocka_unit_test(the_limit_is_kept),
            cmocka_unit_test(a_large_table_goes_by_rows)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * The planner of embedding tables: list scheduling on one measure a planner.
 */
#include "models/dlrm/plan.h"

#include <stdlib.h>
#include <string.h>

/* Backward of a lookup reads a row and its state and writes both: twice what
 * forward does, as cost models of the field have it. */
#define PASSES 3
/* A byte handed to another rank is written and read once more than one that is
 * looked up. */
#define HAND_OVER 2

typedef struct maker {
    const tri_plan_problem *p;
    tri_plan *plan;
    uint64_t *bytes; /* what a trial placing adds to each rank */
    double *work;
} maker;

uint64_t tri_plan_bytes(const tri_plan_problem *p, int64_t rows, int cols)
{
    return (uint64_t)rows * (uint64_t)(cols + 1) * (uint64_t)p->real_bytes;
}

static int column_parts(const tri_plan_problem *p)
{
    int units = (p->dim + TRI_PLAN_COLUMNS - 1) / TRI_PLAN_COLUMNS;

    return units < p->ranks ? units : p->ranks;
}

/* Columns [*col, *col + *cols) of part `part`: whole units, the earlier parts
 * have one more. */
static void columns(const tri_plan_problem *p, int part, int *col, int *cols)
{
    int units = (p->dim + TRI_PLAN_COLUMNS - 1) / TRI_PLAN_COLUMNS;
    int parts = column_parts(p), each = units / parts, more = units % parts;
    int first = part * each + (part < more ? part : more);
    int end = (first + each + (part < more)) * TRI_PLAN_COLUMNS;

    *col = first * TRI_PLAN_COLUMNS;
    *cols = (end < p->dim ? end : p->dim) - *col;
}

static void row_block(const tri_plan_problem *p, int table, int rank,
                      int64_t *row, int64_t *rows)
{
    int64_t all = p->rows[table], block = (all + p->ranks - 1) / p->ranks;

    *row = rank * block < all ? rank * block : all;
    *rows = *row + block < all ? block : all - *row;
}

/* ---- what a block costs a rank ------------------------------------------- */

/* The work of looking up `ids` ids a sample over `samples` samples in blocks of
 * `cols`, and of giving `given` elements away. */
static double work_of(const tri_plan_problem *p, double lookups, double given)
{
    return p->planner == TRI_PLANNER_COST ? PASSES * lookups + HAND_OVER * given
                                          : lookups;
}

/* Lookups of a whole table by all ranks, elements. */
static double all_lookups(const tri_plan_problem *p, int cols)
{
    return (double)p->ranks * p->batch * p->pooling * cols;
}

/* Elements that one rank hands to the others for everybody's samples. */
static double given(const tri_plan_problem *p, int cols)
{
    return (double)(p->ranks - 1) * p->batch * cols;
}

/* ---- trial placings ------------------------------------------------------ */

static double load(const maker *m, int rank)
{
    const tri_plan *plan = m->plan;

    return m->p->planner == TRI_PLANNER_SIZE ? (double)plan->bytes[rank]
                                             : plan->work[rank];
}

static void clear(maker *m)
{
    memset(m->bytes, 0, (size_t)m->p->ranks * sizeof *m->bytes);
    memset(m->work, 0, (size_t)m->p->ranks * sizeof *m->work);
}

static int has_room(const maker *m, int rank, uint64_t more)
{
    return !m->p->limit_bytes ||
           m->plan->bytes[rank] + m->bytes[rank] + more <= m->p->limit_bytes;
}

/* The least loaded rank with room that has nothing of the trial yet; -1. */
static int least(const maker *m, uint64_t more)
{
    int rank, best = -1;

    for (rank = 0; rank < m->p->ranks; rank++) {
        if (m->bytes[rank] == 0 && has_room(m, rank, more) &&
            (best < 0 || load(m, rank) < load(m, best))) {
            best = rank;
        }
    }
    return best;
}

/* Try parts of columns of a table on the least loaded ranks, one each. */
static int try_columns(maker *m, int table, int parts, int *ranks)
{
    const tri_plan_problem *p = m->p;
    int part;

    for (part = 0; part < parts; part++) {
        int col = 0, cols = p->dim, rank;
        uint64_t more;

        if (parts > 1) {
            columns(p, part, &col, &cols);
        }
        more = tri_plan_bytes(p, p->rows[table], cols);
        rank = least(m, more);
        if (rank < 0) {
            return 0;
        }
        m->bytes[rank] = more;
        m->work[rank] = work_of(p, all_lookups(p, cols), given(p, cols));
        ranks[part] = rank;
    }
    return 1;
}

static int try_everywhere(maker *m, int table, int copies)
{
    const tri_plan_problem *p = m->p;
    int rank;

    for (rank = 0; rank < p->ranks; rank++) {
        int64_t row = 0, rows = p->rows[table];
        double lookups = all_lookups(p, p->dim) / p->ranks;
        double gives = given(p, p->dim);
        uint64_t more;

        if (!copies) {
            row_block(p, table, rank, &row, &rows);
        }
        more = tri_plan_bytes(p, rows, p->dim);
        if (!has_room(m, rank, more)) {
            return 0;
        }
        m->bytes[rank] = more;
        m->work[rank] = work_of(p, lookups, gives);
        if (copies && p->planner == TRI_PLANNER_COST) {
            /* forward of its own samples, updates of everybody's, whose
             * gradients it takes in */
            m->work[rank] = lookups + (PASSES - 1) * all_lookups(p, p->dim) +
                            (double)HAND_OVER / 2 * given(p, p->dim);
        }
    }
    return 1;
}

/* What the ranks would have to do with `how`; 0 where there is no room.
 * ranks: of the blocks of columns. */
static int try_placing(maker *m, int table, tri_placing how, int *ranks)
{
    clear(m);
    switch (how) {
    case TRI_PLACE_TABLE:
        return try_columns(m, table, 1, ranks);
    case TRI_PLACE_COLUMN:
        return try_columns(m, table, column_parts(m->p), ranks);
    case TRI_PLACE_ROW:
    case TRI_PLACE_DATA:
        return try_everywhere(m, table, how == TRI_PLACE_DATA);
    default:
        return 0;
    }
}

static void commit(maker *m, int table, tri_placing how, const int *ranks)
{
    const tri_plan_problem *p = m->p;
    tri_plan *plan = m->plan;
    int parts = how == TRI_PLACE_COLUMN ? column_parts(p)
                : how == TRI_PLACE_ROW  ? p->ranks
                                        : 1;
    int part;

    plan->placing[table] = how;
    for (part = 0; part < p->ranks; part++) {
        plan->bytes[part] += m->bytes[part];
        plan->work[part] += m->work[part];
    }
    for (part = 0; part < parts; part++) {
        tri_plan_shard *s = &plan->shards[plan->n_shards++];

        *s = (tri_plan_shard){.table = table,
                              .rank = how == TRI_PLACE_DATA  ? -1
                                      : how == TRI_PLACE_ROW ? part
                                                             : ranks[part],
                              .rows = p->rows[table],
                              .cols = p->dim};
        if (how == TRI_PLACE_COLUMN && parts > 1) {
            columns(p, part, &s->col, &s->cols);
        }
        if (how == TRI_PLACE_ROW) {
            row_block(p, table, part, &s->row, &s->rows);
        }
    }
}

/* ---- the order, and the choice ------------------------------------------- */

/* Busiest rank after the trial, and the sum over all. */
static void outcome(const maker *m, double *top, double *sum)
{
    int rank;

    *top = *sum = 0;
    for (rank = 0; rank < m->p->ranks; rank++) {
        double w = m->plan->work[rank] + m->work[rank];

        *sum += w;
        *top = w > *top ? w : *top;
    }
}

static tri_placing cheapest(maker *m, int table, int *ranks)
{
    static const tri_placing ways[] = {TRI_PLACE_TABLE, TRI_PLACE_COLUMN,
                                       TRI_PLACE_ROW, TRI_PLACE_DATA};
    tri_placing best = TRI_PLACE_PLANNED;
    double best_top = 0, best_sum = 0, top, sum;
    int i;

    for (i = 0; i < 4; i++) {
        if (!try_placing(m, table, ways[i], ranks)) {
            continue;
        }
        outcome(m, &top, &sum);
        if (best == TRI_PLACE_PLANNED || top < best_top ||
            (top == best_top && sum < best_sum)) {
            best = ways[i];
            best_top = top;
            best_sum = sum;
        }
    }
    return best;
}

static tri_status place(maker *m, int table, tri_placing how, int *ranks)
{
    const tri_plan_problem *p = m->p;

    if (how == TRI_PLACE_PLANNED) {
        how = p->planner == TRI_PLANNER_COST ? cheapest(m, table, ranks)
                                             : TRI_PLACE_TABLE;
        if (how == TRI_PLACE_TABLE && !try_placing(m, table, how, ranks)) {
            how = TRI_PLACE_ROW;
        }
    }
    if (!try_placing(m, table, how, ranks)) {
        return TRI_FAIL(TRI_EOOM,
                        "embedding table %d (%lld x %d) has no place on %d "
                        "ranks under %.1f MiB each",
                        table, (long long)p->rows[table], p->dim, p->ranks,
                        (double)p->limit_bytes / 1048576);
    }
    commit(m, table, how, ranks);
    return TRI_OK;
}

/* Those with a given placing first: the planner fills in around them; its own
 * in order, or the largest first. */
static int next_table(const maker *m, const unsigned char *done, int planned)
{
    const tri_plan_problem *p = m->p;
    int t, best = -1;

    for (t = 0; t < p->tables; t++) {
        int is_planned = !p->placing || p->placing[t] == TRI_PLACE_PLANNED;

        if (!done[t] && is_planned == planned &&
            (best < 0 || (planned && p->planner != TRI_PLANNER_GREEDY &&
                          p->rows[t] > p->rows[best]))) {
            best = t;
        }
    }
    return best;
}

static tri_status place_all(maker *m, unsigned char *done, int *ranks)
{
    int planned, t;

    for (planned = 0; planned <= 1; planned++) {
        while ((t = next_table(m, done, planned)) >= 0) {
            tri_placing how =
                    planned ? TRI_PLACE_PLANNED : (tri_placing)m->p->placing[t];

            TRI_TRY(place(m, t, how, ranks));
            done[t] = 1;
        }
    }
    return TRI_OK;
}

static int by_table(const void *a, const void *b)
{
    const tri_plan_shard *x = a, *y = b;

    if (x->table != y->table) {
        return x->table < y->table ? -1 : 1;
    }
    if (x->row != y->row) {
        return x->row < y->row ? -1 : 1;
    }
    if (x->col != y->col) {
        return x->col < y->col ? -1 : 1;
    }
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

void tri_plan_fini(tri_plan *plan)
{
    free(plan->placing);
    free(plan->shards);
    free(plan->bytes);
    free(plan->work);
    *plan = (tri_plan){0};
}

tri_status tri_plan_make(const tri_plan_problem *p, tri_plan *out)
{
    size_t ranks = (size_t)p->ranks, tables = (size_t)p->tables;
    tri_plan plan = {.tables = p->tables,
                     .ranks = p->ranks,
                     .placing = calloc(tables, sizeof *plan.placing),
                     .shards = calloc(tables * ranks, sizeof *plan.shards),
                     .bytes = calloc(ranks, sizeof *plan.bytes),
                     .work = calloc(ranks, sizeof *plan.work)};
    maker m = {p, &plan, calloc(ranks, sizeof *m.bytes),
               calloc(ranks, sizeof *m.work)};
    unsigned char *done = calloc(tables, 1);
    int *chosen = calloc(ranks, sizeof *chosen);
    tri_status st;

    if (!plan.placing || !plan.shards || !plan.bytes || !plan.work ||
        !m.bytes || !m.work || !done || !chosen) {
        st = TRI_FAIL(TRI_ENOMEM, "no memory for a plan of %d tables",
                      p->tables);
    } else {
        st = place_all(&m, done, chosen);
    }
    free(m.bytes);
    free(m.work);
    free(done);
    free(chosen);
    if (st != TRI_OK) {
        tri_plan_fini(&plan);
        return st;
    }
    qsort(plan.shards, (size_t)plan.n_shards, sizeof *plan.shards, by_table);
    *out = plan;
    return TRI_OK;
}

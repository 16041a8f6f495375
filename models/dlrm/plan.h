/*
 * Which rank holds what of the embedding tables.
 *
 * A table is placed
 *   table-wise    whole on one rank, which pools for everybody's samples;
 *   row-wise      a block of rows on every rank, whose partial pools are
 * summed; column-wise   a block of columns on each of several ranks;
 *   data-parallel whole on every rank.
 * A table left to the planner is placed by it:
 *   greedy  table-wise, in the order given, to the rank with the least lookup
 *           work so far (elements read for a sample);
 *   size    table-wise, the largest first, to the rank with the fewest bytes
 *           (longest processing time first: within 4/3 of the best balance,
 *           Graham 1969);
 *   cost    each in the way that leaves the busiest rank least busy, dearest
 *           table first, by an estimate of the bytes that a step moves.
 * What would take a rank over `limit_bytes` is not done; a table that fits on
 * no rank whole goes row-wise.
 *
 * Pure: the same problem gives the same plan on every rank.
 */
#ifndef TRI_MODELS_DLRM_PLAN_H
#define TRI_MODELS_DLRM_PLAN_H

#include "trireme/status.h"

#include <stdint.h>

/* Columns that are not torn apart: a vector register of floats. */
#define TRI_PLAN_COLUMNS 16

/* As in tri_layout. */
typedef enum tri_placing {
    TRI_PLACE_PLANNED,
    TRI_PLACE_TABLE,
    TRI_PLACE_ROW,
    TRI_PLACE_COLUMN,
    TRI_PLACE_DATA
} tri_placing;

typedef enum tri_planner {
    TRI_PLANNER_GREEDY,
    TRI_PLANNER_SIZE,
    TRI_PLANNER_COST
} tri_planner;

typedef struct tri_plan_problem {
    int tables, dim, pooling; /* pooling: ids of a table in a sample */
    const int64_t *rows;      /* of each table */
    const int *placing;       /* of each table; NULL: all planned */
    tri_planner planner;
    int ranks, batch;     /* samples of a micro-batch on each rank */
    int real_bytes;       /* of an element */
    uint64_t limit_bytes; /* of tables and their state on a rank; 0: none */
} tri_plan_problem;

/* A block of a table.  rank -1: a copy on every rank. */
typedef struct tri_plan_shard {
    int table, rank;
    int64_t row, rows;
    int col, cols;
} tri_plan_shard;

typedef struct tri_plan {
    int tables;
    tri_placing *placing;   /* of each table, none planned any more */
    tri_plan_shard *shards; /* by table, then by row or column */
    int n_shards;
    int ranks;
    uint64_t *bytes; /* of each rank: tables and optimizer state */
    double *work;    /* of each rank: by the planner's own measure */
} tri_plan;

/* [out] `out`: tri_plan_fini.  TRI_EOOM where a table has no place under the
 * limit, TRI_ENOMEM. */
TRI_API tri_status tri_plan_make(const tri_plan_problem *p, tri_plan *out);
TRI_API void tri_plan_fini(tri_plan *plan);
/* Bytes of a block with its optimizer state, a number a row. */
TRI_API uint64_t tri_plan_bytes(const tri_plan_problem *p, int64_t rows,
                                int cols);

#endif

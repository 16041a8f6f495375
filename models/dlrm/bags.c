/*
 * Embedding bags over the data axis: who sends what, and the end of a step.
 */
#include "models/dlrm/bags.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_ID                                                               \
    1000u /* tensor ids of tables: behind those of the dense part */
#define EPS 1e-8

static int is_exchanged(tri_placing how)
{
    return how == TRI_PLACE_TABLE || how == TRI_PLACE_COLUMN;
}

static tri_placing how_of(const tri_bags *b, const tri_plan_shard *s)
{
    return b->plan.placing[s->table];
}

static int is_of(const tri_plan_shard *s, int rank)
{
    return s->rank == rank || s->rank < 0;
}

/* Ids of one block of a micro-batch; of a step. */
static int64_t per_block(const tri_bags *b)
{
    return (int64_t)b->B * b->P;
}

static int64_t per_step(const tri_bags *b)
{
    return per_block(b) * b->W * b->M;
}

/* ---- the plan ------------------------------------------------------------ */

static tri_status make_plan(tri_bags *b)
{
    const tri_dlrm_shape *s = b->shape;
    tri_plan_problem p = {.tables = s->tables,
                          .dim = s->dim,
                          .pooling = s->pooling,
                          .rows = s->rows,
                          .placing = s->placing,
                          .planner = s->planner,
                          .ranks = b->W,
                          .batch = b->B,
                          .real_bytes = (int)sizeof(tri_real),
                          .limit_bytes = s->limit_bytes};

    return tri_plan_make(&p, &b->plan);
}

static void number_tables(tri_bags *b)
{
    int t, pass;

    for (pass = 0; pass < 2; pass++) {
        for (t = 0; t < b->plan.tables; t++) {
            if (b->plan.placing[t] == (pass ? TRI_PLACE_DATA : TRI_PLACE_ROW)) {
                b->gathered[b->n_gathered++] = t;
            }
        }
        b->n_rows = pass ? b->n_rows : b->n_gathered;
    }
}

static int place_among(const int *list, int n, int table)
{
    int i;

    for (i = 0; i < n; i++) {
        if (list[i] == table) {
            return i;
        }
    }
    return -1;
}

/* Number of a table among those that are split by columns; -1. */
static int column_number(const tri_bags *b, int table)
{
    int t, n = 0;

    for (t = 0; t < table; t++) {
        n += b->plan.placing[t] == TRI_PLACE_COLUMN;
    }
    return b->plan.placing[table] == TRI_PLACE_COLUMN ? n : -1;
}

static tri_status add_tensor(tri_bags *b, const tri_plan_shard *s,
                             tri_placing how)
{
    int by_row = how == TRI_PLACE_ROW, by_column = how == TRI_PLACE_COLUMN;
    int64_t rows = b->shape->rows[s->table];
    tri_tensor t = {.id = FIRST_ID + (uint32_t)s->table,
                    .n_dims = 2,
                    .shape = {rows, b->D},
                    .split = by_row      ? 0
                             : by_column ? 1
                                         : -1,
                    .first = by_row ? s->row : s->col,
                    .len = by_row ? s->rows : s->cols,
                    .init = TRI_INIT_NORMAL,
                    .std = 1 / sqrt(3 * (double)rows),
                    .flags = TRI_TENSOR_NO_DECAY | TRI_TENSOR_TP_COPY |
                             (how == TRI_PLACE_DATA ? TRI_TENSOR_DP_COPY : 0)};

    snprintf(t.name, sizeof t.name, "table.%d", s->table);
    return tri_tensors_add(&b->table, &t);
}

static tri_status add_blocks(tri_bags *b)
{
    int i, rank;

    for (i = 0; i < b->plan.n_shards; i++) {
        const tri_plan_shard *s = &b->plan.shards[i];
        tri_placing how = how_of(b, s);

        if (is_of(s, b->w)) {
            b->blocks[b->n_blocks++] =
                    (tri_block){.shard = *s,
                                .how = how,
                                .gathered = place_among(
                                        b->gathered, b->n_gathered, s->table),
                                .column = column_number(b, s->table),
                                .before = b->width[b->w]};
            TRI_TRY(add_tensor(b, s, how));
        }
        for (rank = 0; rank < b->W; rank++) {
            b->n_of[rank] += is_of(s, rank);
            b->width[rank] += is_of(s, rank) && is_exchanged(how) ? s->cols : 0;
        }
    }
    for (i = 0; i < b->plan.tables; i++) {
        b->n_columns += b->plan.placing[i] == TRI_PLACE_COLUMN;
    }
    return TRI_OK;
}

/* What goes from whom to whom: bytes, and where it begins. */
static tri_status make_parcels(tri_bags *b)
{
    int64_t ids = per_block(b) * (int64_t)sizeof(int32_t);
    int64_t column = b->B * (int64_t)sizeof(tri_real);
    int64_t at[4] = {0}, most_ids = 0, most_vectors = 0;
    int *c = b->counts, W = b->W, rank, k;

    for (rank = 0; rank < W; rank++) {
        int64_t bytes[4] = {b->n_of[rank] * ids, b->n_of[b->w] * ids,
                            b->width[b->w] * column, b->width[rank] * column};

        for (k = 0; k < 4; k++) {
            if (at[k] + bytes[k] > INT_MAX) {
                return TRI_FAIL(TRI_EINFEASIBLE,
                                "micro_batch %d: more than 2 GiB of ids or "
                                "vectors are exchanged at a time",
                                b->B);
            }
            c[2 * k * W + rank] = (int)bytes[k];
            c[(2 * k + 1) * W + rank] = (int)at[k];
            at[k] += bytes[k];
        }
        most_ids = bytes[0] > most_ids ? bytes[0] : most_ids;
        most_vectors = bytes[3] > most_vectors ? bytes[3] : most_vectors;
    }
    b->ids_to = (tri_parcels){c, c + W};
    b->ids_from = (tri_parcels){c + 2 * W, c + 3 * W};
    b->out = (tri_parcels){c + 4 * W, c + 5 * W};
    b->in = (tri_parcels){c + 6 * W, c + 7 * W};
    b->most_ids = (int)most_ids;
    b->most_vectors = (int)most_vectors;
    return TRI_OK;
}

static tri_status make_room(tri_bags *b)
{
    size_t tables = (size_t)b->shape->tables, ranks = (size_t)b->W;

    b->blocks = calloc(tables, sizeof *b->blocks);
    b->n_of = calloc(ranks, sizeof *b->n_of);
    b->width = calloc(ranks, sizeof *b->width);
    b->gathered = calloc(tables, sizeof *b->gathered);
    b->counts = calloc(8 * ranks, sizeof *b->counts);
    return b->blocks && b->n_of && b->width && b->gathered && b->counts
                   ? TRI_OK
                   : TRI_FAIL(TRI_ENOMEM, "no memory for %d tables",
                              b->shape->tables);
}

tri_status tri_bags_init(tri_bags *b, const tri_dlrm_shape *shape,
                         const tri_place *place)
{
    *b = (tri_bags){.shape = shape,
                    .axis = place->axis ? place->axis : tri_axis_serial(),
                    .B = place->micro_batch,
                    .P = shape->pooling,
                    .D = shape->dim};
    b->W = b->axis->parts;
    b->w = b->axis->part;
    b->M = place->global_batch / (b->W * b->B);
    if ((int64_t)place->global_batch * b->P > INT_MAX) {
        return TRI_FAIL(TRI_EINFEASIBLE, "global_batch %d has too many ids",
                        place->global_batch);
    }
    TRI_TRY(make_room(b));
    TRI_TRY(make_plan(b));
    number_tables(b);
    TRI_TRY(add_blocks(b));
    return make_parcels(b);
}

void tri_bags_fini(tri_bags *b)
{
    tri_plan_fini(&b->plan);
    tri_tensors_fini(&b->table);
    free(b->blocks);
    free(b->n_of);
    free(b->width);
    free(b->gathered);
    free(b->counts);
}

/* ---- memory -------------------------------------------------------------- */

static tri_status take(tri_region *region, int64_t n, size_t each,
                       const char *what, void *out)
{
    void *p = NULL;

    TRI_TRY(tri_region_alloc(region, (uint64_t)n * each, what, &p));
    memcpy(out, &p, sizeof p);
    return TRI_OK;
}

#define TAKE(n, what, at)                                                      \
    TRI_TRY(take(region, (n), sizeof **(at), (what), (void *)(at)))

static tri_status alloc_block(tri_bags *b, tri_block *k, tri_region *region)
{
    int64_t most = per_step(b);

    most = k->shard.rows < most ? k->shard.rows : most;
    TAKE(k->shard.rows, "optimizer state", &k->state);
    TAKE(most, "gradients", &k->row);
    TAKE(most * k->shard.cols, "gradients", &k->sum);
    if (k->column < 0) {
        TAKE(most, "gradients", &k->squares);
    }
    return TRI_OK;
}

tri_status tri_bags_alloc(tri_bags *b, tri_region *region)
{
    int64_t ids = per_block(b), B = b->B, exchanged = 0;
    int i;

    for (i = 0; i < b->n_blocks; i++) {
        TRI_TRY(alloc_block(b, &b->blocks[i], region));
    }
    for (i = 0; i < b->W; i++) {
        exchanged += b->width[i];
    }
    TAKE(((int64_t)b->ids_to.at[b->W - 1] + b->ids_to.bytes[b->W - 1]) /
                 (int64_t)sizeof(int32_t),
         "messages", &b->sent);
    TAKE(ids * b->n_blocks * b->W * b->M, "activations", &b->ids);
    if (b->W > 1) {
        TAKE(exchanged * B, "messages", &b->vectors);
    }
    TAKE(b->width[b->w] * B * b->W * b->M, "activations", &b->pools);
    TAKE((int64_t)b->n_gathered * B * b->D * b->W * b->M, "activations",
         &b->sums);
    TAKE(b->n_columns * per_step(b), "gradients", &b->squares);
    TAKE(per_step(b), "gradients", &b->keys);
    TAKE(per_step(b), "gradients", &b->keys_2);
    return TRI_OK;
}

void tri_bags_bind(tri_bags *b, tri_real *params)
{
    int i;

    for (i = 0; i < b->n_blocks; i++) {
        tri_block *k = &b->blocks[i];

        k->table = params + b->table.at[i].offset;
        if (k->column >= 0) {
            k->squares = b->squares + k->column * per_step(b);
        }
    }
}

/* ---- a micro-batch ------------------------------------------------------- */

/* Of micro-batch j: ids, pools or gradients. */
static int32_t *ids_of(const tri_bags *b, int j)
{
    return b->ids + per_block(b) * b->n_blocks * b->W * j;
}

static tri_real *pools_of(const tri_bags *b, int j)
{
    return b->pools + b->width[b->w] * b->B * b->W * j;
}

static tri_real *sums_of(const tri_bags *b, int j)
{
    return b->sums + (int64_t)b->n_gathered * b->B * b->D * b->W * j;
}

static void send_ids(tri_bags *b, int j, const int32_t *ids)
{
    int32_t *to = b->sent;
    int rank, i;

    for (rank = 0; rank < b->W; rank++) {
        for (i = 0; i < b->plan.n_shards; i++) {
            const tri_plan_shard *s = &b->plan.shards[i];

            if (is_of(s, rank)) {
                memcpy(to, ids + s->table * per_block(b),
                       (size_t)per_block(b) * sizeof *to);
                to += per_block(b);
            }
        }
    }
    b->axis->exchange(b->axis->ctx, &b->ids_to, b->sent, &b->ids_from,
                      ids_of(b, j), b->most_ids);
}

/* Ids of block i that came from `rank`. */
static const int32_t *ids_from(const tri_bags *b, int j, int rank, int i)
{
    return ids_of(b, j) + (rank * (int64_t)b->n_blocks + i) * per_block(b);
}

static void pool(tri_bags *b, int j, tri_real *x, int64_t ld)
{
    int i, rank;

    for (i = 0; i < b->n_blocks; i++) {
        const tri_block *k = &b->blocks[i];

        if (k->how == TRI_PLACE_DATA || (b->W == 1 && is_exchanged(k->how))) {
            tri_bag_forward(
                    &k->shard, k->table, b->B, b->P, ids_from(b, j, b->w, i),
                    x + (k->shard.table + 1) * (int64_t)b->D + k->shard.col,
                    ld);
            continue;
        }
        for (rank = 0; rank < b->W; rank++) {
            tri_real *to =
                    is_exchanged(k->how)
                            ? pools_of(b, j) +
                                      b->B * (b->width[b->w] * rank + k->before)
                            : sums_of(b, j) + (rank * (int64_t)b->n_rows +
                                               k->gathered) *
                                                      b->B * b->D;

            tri_bag_forward(&k->shard, k->table, b->B, b->P,
                            ids_from(b, j, rank, i), to, k->shard.cols);
        }
    }
}

static void copy_rows(int64_t n, int cols, const tri_real *from,
                      int64_t from_ld, tri_real *to, int64_t to_ld)
{
    int64_t i;

    for (i = 0; i < n; i++) {
        memcpy(to + i * to_ld, from + i * from_ld, (size_t)cols * sizeof *to);
    }
}

/* Between the vectors of this rank's samples, by owner and block, and x. */
static void turn_vectors(const tri_bags *b, tri_real *vectors, tri_real *to,
                         const tri_real *from, int64_t ld)
{
    tri_real *at = vectors;
    int rank, i;

    for (rank = 0; rank < b->W; rank++) {
        for (i = 0; i < b->plan.n_shards; i++) {
            const tri_plan_shard *s = &b->plan.shards[i];
            int64_t place = (s->table + 1) * (int64_t)b->D + s->col;

            if (s->rank != rank || !is_exchanged(how_of(b, s))) {
                continue;
            }
            if (to) {
                copy_rows(b->B, s->cols, at, s->cols, to + place, ld);
            } else {
                copy_rows(b->B, s->cols, from + place, ld, at, s->cols);
            }
            at += (int64_t)b->B * s->cols;
        }
    }
}

void tri_bags_forward(tri_bags *b, int j, const int32_t *ids, tri_real *x)
{
    int64_t ld = (b->shape->tables + 1) * (int64_t)b->D;
    int64_t part = (int64_t)b->B * b->D;
    const tri_axis *axis = b->axis;
    int g;

    send_ids(b, j, ids);
    pool(b, j, x, ld);
    if (b->W > 1) { /* else pool() put them into x */
        axis->exchange(axis->ctx, &b->out, pools_of(b, j), &b->in, b->vectors,
                       b->most_vectors);
        turn_vectors(b, b->vectors, x, NULL, ld);
    }
    if (b->n_rows) {
        const tri_real *mine = sums_of(b, j) + part * b->n_rows * b->w;

        axis->scatter(axis->ctx, part * b->n_rows * b->W, sums_of(b, j));
        for (g = 0; g < b->n_rows; g++) {
            copy_rows(b->B, b->D, mine + part * g, b->D,
                      x + (b->gathered[g] + 1) * (int64_t)b->D, ld);
        }
    }
}

void tri_bags_backward(tri_bags *b, int j, const tri_real *dx)
{
    int64_t ld = (b->shape->tables + 1) * (int64_t)b->D;
    int64_t part = (int64_t)b->B * b->D;
    const tri_axis *axis = b->axis;
    int g;

    if (b->W == 1) { /* one rank's pools are laid out as its vectors */
        turn_vectors(b, pools_of(b, j), NULL, dx, ld);
    } else {
        turn_vectors(b, b->vectors, NULL, dx, ld);
        axis->exchange(axis->ctx, &b->in, b->vectors, &b->out, pools_of(b, j),
                       b->most_vectors);
    }
    if (b->n_gathered) {
        tri_real *mine = sums_of(b, j) + part * b->n_gathered * b->w;

        for (g = 0; g < b->n_gathered; g++) {
            copy_rows(b->B, b->D, dx + (b->gathered[g] + 1) * (int64_t)b->D, ld,
                      mine + part * g, b->D);
        }
        axis->gather(axis->ctx, part * b->n_gathered * b->W, sums_of(b, j));
    }
}

/* ---- the end of a step --------------------------------------------------- */

/* (row, place in the step) of every id of block i that is here. */
static int64_t collect(const tri_bags *b, int i)
{
    const tri_plan_shard *s = &b->blocks[i].shard;
    int64_t n = 0, e, group;

    for (group = 0; group < (int64_t)b->M * b->W; group++) {
        const int32_t *ids = b->ids + (group * b->n_blocks + i) * per_block(b);

        for (e = 0; e < per_block(b); e++) {
            int64_t row = ids[e] - s->row;

            if (ids[e] >= 0 && row >= 0 && row < s->rows) {
                b->keys[n++] = (uint64_t)row << 32 |
                               (uint64_t)(group * per_block(b) + e);
            }
        }
    }
    return n;
}

/* The gradient of the pool that the id at `place` of the step went into. */
static const tri_real *gradient(const tri_bags *b, const tri_block *k,
                                int64_t place)
{
    int64_t group = place / per_block(b), sample = place / b->P % b->B;

    if (is_exchanged(k->how)) {
        return b->pools + b->B * (b->width[b->w] * group + k->before) +
               sample * k->shard.cols;
    }
    return b->sums +
           ((group * b->n_gathered + k->gathered) * b->B + sample) * b->D;
}

static double sum_rows(const tri_bags *b, tri_block *k, const uint64_t *keys,
                       int64_t n)
{
    int cols = k->shard.cols;
    double all = 0;
    int64_t i;

    k->n = 0;
    for (i = 0; i < n; i++) {
        int32_t row = (int32_t)(keys[i] >> 32);
        const tri_real *g = gradient(b, k, (int64_t)(uint32_t)keys[i]);

        if (i > 0 && row == (int32_t)(keys[i - 1] >> 32)) {
            tri_bag_add(cols, g, k->sum + (k->n - 1) * cols);
        } else {
            k->row[k->n] = row;
            memcpy(k->sum + k->n * cols, g, (size_t)cols * sizeof *g);
            k->n++;
        }
    }
    for (i = 0; i < k->n; i++) {
        double squares = tri_bag_squares(cols, k->sum + i * cols);

        k->squares[i] = (tri_real)squares;
        all += squares;
    }
    return all;
}

double tri_bags_end(tri_bags *b)
{
    double all = 0;
    int i;

    if (b->n_columns) {
        memset(b->squares, 0,
               (size_t)(b->n_columns * per_step(b)) * sizeof *b->squares);
    }
    for (i = 0; i < b->n_blocks; i++) {
        tri_block *k = &b->blocks[i];
        int64_t n = collect(b, i);
        const uint64_t *keys =
                tri_bag_sort(b->keys, b->keys_2, n, k->shard.rows);
        double squares = sum_rows(b, k, keys, n);

        all += k->how == TRI_PLACE_DATA && b->w > 0 ? 0 : squares;
    }
    if (b->n_columns) { /* of whole rows: touched rows have the same order */
        b->axis->sum(b->axis->ctx, b->n_columns * per_step(b), b->squares);
    }
    return all;
}

/* Row-wise Adagrad: the mean square of a row's gradients is added to its
 * state. */
void tri_bags_update(tri_bags *b, double coefficient)
{
    double lr = b->shape->lr;
    int64_t u;
    int i;

    for (i = 0; i < b->n_blocks; i++) {
        tri_block *k = &b->blocks[i];
        int cols = k->shard.cols;

        for (u = 0; u < k->n; u++) {
            int64_t row = k->row[u];
            double mean =
                    (double)k->squares[u] / b->D * coefficient * coefficient;
            double rate;

            if (u + 4 < k->n) {
                __builtin_prefetch(k->table + k->row[u + 4] * (int64_t)cols, 1);
            }
            k->state[row] += (tri_real)mean;
            rate = lr * coefficient / (sqrt((double)k->state[row]) + EPS);
            tri_bag_axpy(cols, (tri_real)-rate, k->sum + u * cols,
                         k->table + row * cols);
        }
    }
}

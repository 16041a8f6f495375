/*
 * Growing: extremely randomised trees (Geurts, Ernst and Wehenkel, Machine
 * Learning 63, 2006), each fitted to what those before it in its sequence left
 * unexplained (Friedman, Annals of Statistics 29, 2001).
 *
 * At a node one cut a column is drawn uniformly over the column's range there,
 * and the cut that lowers the sum of squares most is made.  Trees by
 * themselves, averaged, need many more to follow a sum of effects.
 */
#include "src/predict/trees.h"
#include "trireme/rng.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A tree's share of what it explains; how deep one goes. */
#define RATE  0.3
#define DEPTH 6
/* A sequence learns from at most so many rows. */
#define MOST  20000
#define LANES TRI_TREES_LANES
/* Of a node with more rows so many, evenly, say which cut is the best. */
#define ASKED 1024
/* Rows that walk side by side. */
#define WALK 8

/* What any processor compares at a time. */
#define QUAD 4
typedef float quad __attribute__((vector_size(4 * QUAD)));
typedef int32_t mask __attribute__((vector_size(4 * QUAD)));
#define QUADS (LANES / QUAD)

typedef struct range { /* rows of a node still to be settled */
    int node, from, to, depth;
} range;

typedef struct grower {
    const tri_trees_data *d;
    tri_trees *t;
    float *rest;      /* n: of the values, what is not explained yet */
    int n_rows, *row; /* of the sequence; a node's rows stand together */
    /* of each column at a node: its range, the cut drawn, the sum of the
     * values at or below it, and their number */
    float *lo, *hi, *at, *sum, *count;
    range todo[DEPTH + 2];
    int n_todo;
    int few[ASKED];
    uint64_t state; /* of the tree's own draws */
} grower;

/* Splitmix64 (Steele, Lea and Flood, 2014), started by the tree's stream: a
 * counter-based draw would cost more than what it decides. */
static float draw(grower *g)
{
    uint64_t z = g->state += 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return (float)(z >> 40) * 0x1p-24f;
}

/* ---- passes over a node's rows ------------------------------------------ */

static quad load(const float *x)
{
    quad v;

    memcpy(&v, x, sizeof v);
    return v;
}

static quad choose(mask which, quad a, quad b)
{
    return (quad)(((mask)a & which) | ((mask)b & ~which));
}

static void find_range(const grower *g, const int *row, int n, int first)
{
    const float *x = g->d->x + first;
    size_t w = (size_t)g->d->stride;
    quad lo[QUADS], hi[QUADS];

    memcpy(lo, x + (size_t)row[0] * w, sizeof lo);
    memcpy(hi, lo, sizeof hi);
    for (int i = 1; i < n; i++) {
        for (int q = 0; q < QUADS; q++) {
            quad v = load(x + (size_t)row[i] * w + (size_t)(q * QUAD));

            lo[q] = choose(v < lo[q], v, lo[q]);
            hi[q] = choose(v > hi[q], v, hi[q]);
        }
    }
    memcpy(g->lo + first, lo, sizeof lo);
    memcpy(g->hi + first, hi, sizeof hi);
}

static void sum_below(const grower *g, const int *row, int n, int first)
{
    const float *x = g->d->x + first;
    size_t w = (size_t)g->d->stride;
    quad at[QUADS];
    quad sum[QUADS] = {0};
    mask count[QUADS] = {0};

    memcpy(at, g->at + first, sizeof at);
    for (int i = 0; i < n; i++) {
        float y = g->rest[row[i]];
        quad value = {y, y, y, y};

        for (int q = 0; q < QUADS; q++) {
            mask below =
                    load(x + (size_t)row[i] * w + (size_t)(q * QUAD)) <= at[q];

            sum[q] += (quad)((mask)value & below);
            count[q] -= below;
        }
    }
    memcpy(g->sum + first, sum, sizeof sum);
    for (int j = 0; j < LANES; j++) {
        int q = j / QUAD;

        g->count[first + j] = (float)count[q][j % QUAD];
    }
}

/* ---- a node ------------------------------------------------------------- */

static void draw_cuts(grower *g)
{
    for (int j = 0; j < g->d->stride; j++) {
        if (g->lo[j] < g->hi[j]) {
            float at = g->lo[j] + draw(g) * (g->hi[j] - g->lo[j]);

            g->at[j] = at < g->hi[j] ? at : g->lo[j];
        } else {
            g->at[j] = g->hi[j];
        }
    }
}

/* The column of the best of the cuts drawn; -1 where no column varies. */
static int best_cut(grower *g, const int *row, int n)
{
    float most = -1;
    float sum = 0;
    int best = -1;

    for (int i = 0; i < n; i++) {
        sum += g->rest[row[i]];
    }
    for (int j = 0; j < g->d->stride; j += LANES) {
        find_range(g, row, n, j);
    }
    draw_cuts(g);
    for (int j = 0; j < g->d->stride; j += LANES) {
        sum_below(g, row, n, j);
    }
    for (int j = 0; j < g->d->stride; j++) {
        float left = g->sum[j];
        float right = sum - left;
        float n_left = g->count[j];

        if (g->lo[j] < g->hi[j]) {
            float gain =
                    left * left / n_left + right * right / ((float)n - n_left);

            if (gain > most) {
                most = gain;
                best = j;
            }
        }
    }
    return best;
}

/* The column to cut at g->at; -1: none. */
static int find_cut(grower *g, const int *row, int n)
{
    if (n <= ASKED) {
        return best_cut(g, row, n);
    }
    for (int i = 0; i < ASKED; i++) {
        g->few[i] = row[(int64_t)i * n / ASKED];
    }
    return best_cut(g, g->few, ASKED);
}

/* Rows of the left child first; their number. */
static int part(const grower *g, int *row, int n, int column, float at)
{
    const float *x = g->d->x + column;
    size_t w = (size_t)g->d->stride;
    int left = 0;

    for (int i = 0; i < n; i++) {
        int r = row[i];

        row[i] = row[left];
        row[left] = r;
        left += x[(size_t)r * w] <= at;
    }
    return left;
}

static void make_leaf(grower *g, int node, const int *row, int n)
{
    double sum = 0;
    float value;

    for (int i = 0; i < n; i++) {
        sum += (double)g->rest[row[i]];
    }
    value = (float)(RATE * sum / n);
    g->t->node[node] =
            (tri_trees_node){.at = INFINITY, .child = node, .value = value};
    for (int i = 0; i < n; i++) {
        g->rest[row[i]] -= value;
    }
}

/* Two nodes more, side by side; -1 where there is no memory. */
static int add_children(tri_trees *t)
{
    if (t->n_nodes + 2 > t->room) {
        int room = 2 * t->room + 256;
        tri_trees_node *node = realloc(t->node, (size_t)room * sizeof *t->node);

        if (!node) {
            return -1;
        }
        t->node = node;
        t->room = room;
    }
    t->n_nodes += 2;
    return t->n_nodes - 2;
}

/* Divide the node on top of the list, or make it a leaf; 0: no memory. */
static int settle(grower *g)
{
    range r = g->todo[--g->n_todo];
    int *row = g->row + r.from;
    int n = r.to - r.from;
    int column = -1;
    int child, left;

    if (n >= g->t->split && r.depth < DEPTH &&
        !tri_is_cancelled(g->d->cancel)) {
        column = find_cut(g, row, n);
    }
    if (column < 0) {
        make_leaf(g, r.node, row, n);
        return 1; /* rows are the grower's; NOLINT(clang-analyzer-unix.*) */
    }
    child = add_children(g->t);
    if (child < 0) {
        return 0;
    }
    g->t->node[r.node] = (tri_trees_node){
            .at = g->at[column], .column = column, .child = child};
    left = part(g, row, n, column, g->at[column]);
    assert(left > 0 && left < n);
    g->todo[g->n_todo++] = (range){child + 1, r.from + left, r.to, r.depth + 1};
    g->todo[g->n_todo++] = (range){child, r.from, r.from + left, r.depth + 1};
    return 1;
}

/* ---- sequences ---------------------------------------------------------- */

/* The rows that a member learns from: of very many a random MOST. */
static void take_rows(grower *g, const int *fold, int left_out, tri_rng *rng)
{
    int n = 0;

    for (int i = 0; i < g->d->n; i++) {
        if (fold[i] != left_out) {
            g->row[n++] = i;
        }
    }
    for (int i = 0; i < MOST && n > MOST; i++) {
        int j = i + (int)tri_rng_below(rng, (uint64_t)(n - i));
        int swap = g->row[i];

        g->row[i] = g->row[j];
        g->row[j] = swap;
    }
    g->n_rows = n < MOST ? n : MOST;
}

/* 0: no memory. */
static int grow_one(grower *g, int *root)
{
    *root = add_children(g->t);
    if (*root < 0) {
        return 0;
    }
    g->t->node[*root + 1] = (tri_trees_node){0}; /* is never reached */
    g->todo[0] = (range){*root, 0, g->n_rows, 0};
    g->n_todo = 1;
    while (g->n_todo > 0) {
        if (!settle(g)) {
            return 0;
        }
    }
    return 1;
}

static int grow_sequence(grower *g, int k, const int *fold, int n_folds,
                         uint64_t seed)
{
    tri_rng rng = tri_rng_stream(seed, (uint64_t)k, TRI_RNG_INIT);

    take_rows(g, fold, n_folds > 1 ? k % n_folds : -2, &rng);
    memcpy(g->rest, g->d->y, (size_t)g->d->n * sizeof *g->rest);
    g->state = tri_rng_u64(&rng);
    for (int i = 0; i < g->t->rounds; i++) {
        if (!grow_one(g, &g->t->root[k * g->t->rounds + i])) {
            return 0;
        }
    }
    return 1;
}

tri_status tri_trees_grow(tri_trees *out, const tri_trees_data *data,
                          const int *fold, int n_folds, uint64_t seed)
{
    size_t w = (size_t)data->stride;
    size_t n = (size_t)data->n;
    grower g = {.d = data, .t = out};
    int ok;

    assert(n >= 1 && w % LANES == 0 && out->stride == data->stride);
    out->root =
            calloc((size_t)(out->n_members * out->rounds), sizeof *out->root);
    g.row = malloc(n * sizeof *g.row);
    g.rest = malloc((n + 5 * w) * sizeof *g.rest);
    ok = out->root && g.row && g.rest;
    if (ok) {
        g.lo = g.rest + n;
        g.hi = g.lo + w;
        g.at = g.hi + w;
        g.sum = g.at + w;
        g.count = g.sum + w;
    }
    for (int k = 0; ok && k < out->n_members; k++) {
        ok = grow_sequence(&g, k, fold, n_folds, seed);
    }
    free(g.row);
    free(g.rest);
    return ok ? TRI_OK
              : TRI_FAIL(TRI_ENOMEM, "no memory for trees of %d samples",
                         data->n);
}

void tri_trees_fini(tri_trees *t)
{
    free(t->node);
    free(t->root);
    t->node = NULL;
    t->root = NULL;
}

/* ---- use ---------------------------------------------------------------- */

/* Rows go down together, so that one's cache miss hides another's. */
static void walk_few(const tri_trees *t, int root, const float *x, int n,
                     int *leaf)
{
    const tri_trees_node *node = t->node;
    size_t w = (size_t)t->stride;
    int moved = 1;

    for (int i = 0; i < n; i++) {
        leaf[i] = root;
    }
    while (moved) {
        moved = 0;
        for (int i = 0; i < n; i++) {
            const tri_trees_node *k = &node[leaf[i]];
            int next =
                    k->child + (x[(size_t)i * w + (size_t)k->column] > k->at);

            moved |= next ^ leaf[i];
            leaf[i] = next;
        }
    }
}

void tri_trees_walk(const tri_trees *t, int root, const float *x, int n,
                    int *leaf)
{
    int i = 0;

    for (; i + WALK <= n; i += WALK) {
        walk_few(t, root, x + (size_t)i * (size_t)t->stride, WALK, leaf + i);
    }
    walk_few(t, root, x + (size_t)i * (size_t)t->stride, n - i, leaf + i);
}

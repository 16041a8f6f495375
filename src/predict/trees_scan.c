/*
 * Words of trees, by columns and intervals.
 */
#include "src/predict/trees_scan.h"
#include "src/predict/clones.h"
#include "src/predict/runs.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK  TRI_TREES_SCAN_BLOCK
#define ROUNDS TRI_TREES_ROUNDS
#define LEAVES 64
/* Values of a column whose intervals are remembered. */
#define MEMO_BITS 6
#define MEMO      (1 << MEMO_BITS)

/* A member's words of a row, a few together. */
#define WIDE  4
#define WIDES (ROUNDS / WIDE)
typedef uint64_t wide
        __attribute__((vector_size(8 * WIDE), aligned(8), may_alias));
_Static_assert(ROUNDS % WIDE == 0, "a member's words are whole vectors");

typedef struct cut { /* a node: the leaves on its left, of a tree */
    int column, tree;
    float at;
    uint64_t left;
} cut;

typedef struct memo {
    float value;
    int interval; /* -1: none */
} memo;

struct tri_trees_scan {
    const tri_trees *t;
    int width, n_trees;
    int *first; /* of a column's cuts; width + 1 */
    float *at;  /* cuts, ascending in each column */
    /* words: of each member, for each interval of each column, ROUNDS; and in
     * all, what the last column leaves */
    int n_rows; /* intervals of all columns */
    uint64_t *word, *always;
    float *value;    /* n_trees x LEAVES */
    uint8_t *number; /* of nodes that are leaves */
    memo *memo;      /* width x MEMO */
    tri_runs runs;
    /* a block: */
    uint64_t *slow; /* what slow columns leave, BLOCK x n_trees */
    int run[BLOCK]; /* which of them is a row's */
    int *at_row;    /* BLOCK x n_fast: rows of the table; and width more */
};

void tri_trees_scan_destroy(tri_trees_scan *s)
{
    if (s) {
        free(s->first);
        free(s->at);
        free(s->word);
        free(s->number);
        free(s->memo);
        free(s->at_row);
        tri_runs_fini(&s->runs);
        free(s);
    }
}

int tri_trees_scan_number(const tri_trees_scan *s, int node)
{
    return s->number[node];
}

/* ---- building ----------------------------------------------------------- */

/* The node after those of a tree.  The first is its root, and the second is
 * nobody's. */
static int end_of(const tri_trees_scan *s, int tree)
{
    return tree + 1 < s->n_trees ? s->t->root[tree + 1] : s->t->n_nodes;
}

static int is_leaf(const tri_trees *t, int i)
{
    return t->node[i].child == i;
}

/* A node stands before its children.  [out] n and from, of each node: its
 * leaves and the number of the first of them. */
static void number_leaves(const tri_trees_scan *s, int tree, int *n, int *from)
{
    const tri_trees *t = s->t;
    int root = t->root[tree];

    for (int i = end_of(s, tree) - 1; i >= root; i--) {
        int child = t->node[i].child;

        if (i != root + 1) {
            n[i] = is_leaf(t, i) ? 1 : n[child] + n[child + 1];
        }
    }
    from[root] = 0;
    for (int i = root; i < end_of(s, tree); i++) {
        int child = t->node[i].child;

        if (i != root + 1 && !is_leaf(t, i)) {
            from[child] = from[i];
            from[child + 1] = from[i] + n[child];
        }
    }
    assert(n[root] <= LEAVES);
}

/* The nodes of all trees as cuts, and the leaves' values; `scratch`: two
 * numbers a node.  Returns the number of cuts. */
static int list_cuts(tri_trees_scan *s, cut *list, int *scratch)
{
    const tri_trees *t = s->t;
    int *n = scratch;
    int *from = scratch + t->n_nodes;
    int n_cuts = 0;

    for (int tree = 0; tree < s->n_trees; tree++) {
        number_leaves(s, tree, n, from);
        s->always[tree] = ~(uint64_t)0 >> (LEAVES - n[t->root[tree]]);
        for (int i = t->root[tree]; i < end_of(s, tree); i++) {
            const tri_trees_node *k = &t->node[i];

            if (i == t->root[tree] + 1) {
                continue;
            }
            if (is_leaf(t, i)) {
                s->value[tree * LEAVES + from[i]] = k->value;
                s->number[i] = (uint8_t)from[i];
            } else { /* the right child has a leaf: the shift is below 64 */
                uint64_t left = ((uint64_t)1 << n[k->child]) - 1;

                list[n_cuts++] = (cut){k->column, tree, k->at, left << from[i]};
            }
        }
    }
    return n_cuts;
}

static int by_column(const void *a, const void *b)
{
    const cut *p = a, *q = b;

    if (p->column != q->column) {
        return p->column < q->column ? -1 : 1;
    }
    return p->at != q->at ? (p->at > q->at) - (p->at < q->at)
                          : p->tree - q->tree;
}

/* The words of member k in a row of the table. */
static uint64_t *words_of(const tri_trees_scan *s, int k, int row)
{
    return s->word + ((size_t)k * (size_t)s->n_rows + (size_t)row) * ROUNDS;
}

/* Of one member; the rows of the table are the columns' intervals, in order. */
static void fill_words(tri_trees_scan *s, int k, const cut *list)
{
    int row = 0;

    for (int c = 0; c < s->width; c++) {
        memset(words_of(s, k, row++), 0xff, ROUNDS * sizeof *s->word);
        for (int i = s->first[c]; i < s->first[c + 1]; i++) {
            uint64_t *words = words_of(s, k, row++);

            memcpy(words, words - ROUNDS, ROUNDS * sizeof *words);
            if (list[i].tree / ROUNDS == k) {
                words[list[i].tree % ROUNDS] &= ~list[i].left;
            }
        }
    }
}

static void fill(tri_trees_scan *s, const cut *list, int n, float last)
{
    int i = 0;

    for (int c = 0; c < s->width; c++) {
        s->first[c] = i;
        for (; i < n && list[i].column == c; i++) {
            s->at[i] = list[i].at;
        }
    }
    s->first[s->width] = i;
    for (; i < n; i++) {
        if (last > list[i].at) {
            s->always[list[i].tree] &= ~list[i].left;
        }
    }
    for (int k = 0; k < s->t->n_members; k++) {
        fill_words(s, k, list);
    }
}

/* Room for n cuts. */
static int reserve(tri_trees_scan *s, int n)
{
    size_t w = (size_t)s->width;
    size_t trees = (size_t)s->n_trees;
    size_t words;

    s->n_rows = n + s->width;
    words = trees * ((size_t)s->n_rows + 1 + BLOCK);
    s->word = aligned_alloc(64, (words * sizeof *s->word + 63) / 64 * 64);
    s->first = calloc(w + 1, sizeof *s->first);
    s->at = calloc((size_t)n + trees * LEAVES, sizeof *s->at);
    s->number = calloc((size_t)s->t->n_nodes + 1, 1);
    s->memo = malloc((w * MEMO + 1) * sizeof *s->memo);
    s->at_row = malloc(((BLOCK + 1) * w + 1) * sizeof *s->at_row);
    if (!s->word || !s->first || !s->at || !s->number || !s->memo ||
        !s->at_row) {
        return 0;
    }
    s->always = s->word + trees * (size_t)s->n_rows;
    s->slow = s->always + trees;
    s->value = s->at + n;
    for (size_t i = 0; i < w * MEMO; i++) {
        s->memo[i].interval = -1;
    }
    return 1;
}

tri_trees_scan *tri_trees_scan_create(const tri_trees *t, int width,
                                      const float *x, int n, float last)
{
    tri_trees_scan *s = calloc(1, sizeof *s);
    size_t nodes = (size_t)t->n_nodes;
    cut *list = malloc(nodes * sizeof *list);
    int *scratch = malloc(2 * nodes * sizeof *scratch);
    int ok = s && list && scratch;

    if (ok) {
        s->t = t;
        s->width = width;
        s->n_trees = t->n_members * ROUNDS;
        ok = reserve(s, t->n_nodes / 2) && tri_runs_init(&s->runs, x, n, width);
    }
    if (ok) {
        int n_cuts = list_cuts(s, list, scratch);

        qsort(list, (size_t)n_cuts, sizeof *list, by_column);
        fill(s, list, n_cuts, last);
    }
    free(list);
    free(scratch);
    if (!ok) {
        tri_trees_scan_destroy(s);
        return NULL;
    }
    return s;
}

/* ---- rows --------------------------------------------------------------- */

/* How many cuts of a column a value is above. */
static int count_below(const tri_trees_scan *s, int column, float x)
{
    const float *at = s->at + s->first[column];
    int lo = 0;
    int hi = s->first[column + 1] - s->first[column];

    while (lo < hi) {
        int middle = lo + (hi - lo) / 2;

        if (x > at[middle]) {
            lo = middle + 1;
        } else {
            hi = middle;
        }
    }
    return lo;
}

/* The row of the table for a column's value. */
static int look_up(tri_trees_scan *s, int column, float x)
{
    uint32_t key;
    memo *m;

    memcpy(&key, &x, sizeof key);
    key = key * 0x9e3779b1u >> (32 - MEMO_BITS);
    m = &s->memo[(uint32_t)column * MEMO + key];
    if (m->value != x || m->interval < 0) {
        *m = (memo){x, count_below(s, column, x)};
    }
    return s->first[column] + column + m->interval;
}

/* What rows at[n] of the table of a member leave of `words`. */
static inline __attribute__((always_inline)) void take(const uint64_t *table,
                                                       const int *at, int n,
                                                       const uint64_t *words,
                                                       uint64_t *out)
{
    const wide *from = (const wide *)words;
    wide *to = (wide *)out;
    wide v[WIDES];

    for (int q = 0; q < WIDES; q++) {
        v[q] = from[q];
    }
    for (int c = 0; c < n; c++) {
        const wide *more = (const wide *)(table + (size_t)at[c] * ROUNDS);

        for (int q = 0; q < WIDES; q++) {
            v[q] &= more[q];
        }
    }
    for (int q = 0; q < WIDES; q++) {
        to[q] = v[q];
    }
}

/* What the slow columns, which are in rows at[n_slow] of the table, leave of
 * all trees. */
TRI_CLONES static void ask_slow(const tri_trees_scan *s, const int *at,
                                uint64_t *out)
{
    for (int k = 0; k < s->t->n_members; k++) {
        size_t from = (size_t)(k * ROUNDS);

        take(words_of(s, k, 0), at, s->runs.n_slow, s->always + from,
             out + from);
    }
}

/* Where the rows of a block stand in the table. */
static void place(tri_trees_scan *s, const float *x, int n)
{
    const int *fast = s->runs.column + s->runs.n_slow;
    size_t w = (size_t)s->width;
    int *slow = s->at_row + BLOCK * w;
    int runs = 0;

    for (int i = 0; i < n; i++) {
        const float *row = x + (size_t)i * w;

        if (i == 0 || !tri_runs_goes_on(&s->runs, row, row - w)) {
            for (int k = 0; k < s->runs.n_slow; k++) {
                slow[k] = look_up(s, s->runs.column[k], row[s->runs.column[k]]);
            }
            ask_slow(s, slow, s->slow + (size_t)runs++ * (size_t)s->n_trees);
        }
        s->run[i] = runs - 1;
        for (int k = 0; k < s->runs.n_fast; k++) {
            s->at_row[i * s->runs.n_fast + k] =
                    look_up(s, fast[k], row[fast[k]]);
        }
    }
}

/* The words of member k for the rows of a block. */
TRI_CLONES static void find_words(const tri_trees_scan *s, int k, int n,
                                  uint64_t *word)
{
    const uint64_t *table = words_of(s, k, 0);
    int n_fast = s->runs.n_fast;

    for (int i = 0; i < n; i++) {
        const uint64_t *slow = s->slow + (size_t)(s->run[i] * s->n_trees);

        take(table, s->at_row + (size_t)i * (size_t)n_fast, n_fast,
             slow + k * ROUNDS, word + (size_t)(i * ROUNDS));
    }
}

/* What it says of them. */
TRI_CLONES static void add_up(const tri_trees_scan *s, int k, int n,
                              const uint64_t *word, float *sum)
{
    const float *values = s->value + (size_t)(k * ROUNDS * LEAVES);

    for (int i = 0; i < n; i++) {
        float even = 0, odd = 0; /* two that do not wait for each other */

        for (int r = 0; r < ROUNDS; r += 2) {
            const float *two = values + (size_t)(r * LEAVES);

            even += two[__builtin_ctzll(*word++)];
            odd += two[LEAVES + __builtin_ctzll(*word++)];
        }
        sum[i] = even + odd;
    }
}

void tri_trees_scan_rows(tri_trees_scan *s, const float *x, int n, float *sum,
                         uint8_t *leaf)
{
    uint64_t word[BLOCK * ROUNDS] = {0};

    assert(n <= BLOCK);
    place(s, x, n);
    for (int k = 0; k < s->t->n_members; k++) {
        find_words(s, k, n, word);
        add_up(s, k, n, word, sum + (size_t)k * BLOCK);
        for (int i = 0; leaf && i < n * ROUNDS; i++) {
            leaf[i / ROUNDS * s->n_trees + k * ROUNDS + i % ROUNDS] =
                    (uint8_t)__builtin_ctzll(word[i]);
        }
    }
}

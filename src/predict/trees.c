/*
 * A tree ensemble over configurations and resources: the predictor.
 *
 * Ten sequences of twenty extremely randomised trees.  Each leaves out one of
 * five folds of configurations, so that two say of every sample what they make
 * of it unseen: the mean square of their error against that of their
 * disagreement says how much more the members are wrong than they differ, and
 * by so much the spread between members is that of the prediction: between
 * sequences and within them, the two parts of the law of total variance
 * (Hutter, Xu, Hoos and Leyton-Brown, Artificial Intelligence 206, 2014,
 * section 4.3.2).
 *
 * A run that is pending changes no mean and makes the spread smaller where
 * trees put it together with a configuration: the share of trees that do is
 * the ensemble's own kernel.
 */
#include "src/predict/trees.h"
#include "src/predict/folds.h"
#include "src/predict/members.h"
#include "src/predict/samples.h"
#include "src/predict/trees_scan.h"
#include "trireme/predict.h"
#include "trireme/rng.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOLDS   5
#define MEMBERS TRI_MEMBERS
#define ROUNDS  TRI_TREES_ROUNDS
#define TREES   (MEMBERS * ROUNDS)
/* Fewer samples than this are not divided; of a few samples, fewer. */
#define SPLIT_MOST  5
#define SPLIT_LEAST 2
#define SPLIT_EVERY 20
/* Rows at a time, and columns to a vector. */
#define BLOCK TRI_MEMBERS_BLOCK
#define LANES TRI_TREES_LANES
/* Rows that are worth the preparation of a scan. */
#define SCAN_LEAST 16384

struct tri_model {
    tri_trees trees;
    tri_members all; /* what they are together */
    int width;
    int has_resource;
    int room;
    int *pending; /* leaves: TREES of each */
};

static void trees_destroy(tri_model *m)
{
    if (m) {
        tri_trees_fini(&m->trees);
        free(m->pending);
        free(m);
    }
}

/* ---- fit ---------------------------------------------------------------- */

static int stride_of(const tri_model *m)
{
    return (m->width + m->has_resource + LANES) / LANES * LANES;
}

/* A row for the trees: columns, the logarithm of the resource, zeros. */
static void set_row(const tri_model *m, const double *x, double resource,
                    float *row)
{
    memset(row, 0, (size_t)stride_of(m) * sizeof *row);
    for (int j = 0; j < m->width; j++) {
        row[j] = (float)x[j];
    }
    if (m->has_resource) {
        row[m->width] = (float)log(resource);
    }
}

static void standardise(tri_model *m, const double *y, int n)
{
    double square = 0;

    m->all.mean = 0;
    for (int i = 0; i < n; i++) {
        m->all.mean += y[i] / n;
    }
    for (int i = 0; i < n; i++) {
        square += (y[i] - m->all.mean) * (y[i] - m->all.mean) / n;
    }
    m->all.scale = square > 0 ? sqrt(square) : 1;
}

/* [out] sum[n]: what member k predicts of rows x[n][stride]; n <= BLOCK. */
static void ask_member(const tri_model *m, int k, const float *x, int n,
                       double *sum)
{
    int leaf[BLOCK];

    memset(sum, 0, (size_t)n * sizeof *sum);
    for (int i = 0; i < ROUNDS; i++) {
        tri_trees_walk(&m->trees, m->trees.root[k * ROUNDS + i], x, n, leaf);
        for (int r = 0; r < n; r++) {
            sum[r] += (double)m->trees.node[leaf[r]].value;
        }
    }
}

/* Note what the first two members that left rows x[n][stride] out make of
 * them; n <= BLOCK. */
static void note(tri_model *m, int fold, int n_folds, const float *x,
                 const float *y, int n)
{
    double a[BLOCK], b[BLOCK];

    ask_member(m, fold, x, n, a);
    ask_member(m, fold + n_folds, x, n, b);
    for (int i = 0; i < n; i++) {
        double off = (a[i] + b[i]) / 2 - (double)y[i];

        m->all.error += off * off;
        m->all.between += (a[i] - b[i]) * (a[i] - b[i]) / 2;
    }
}

/* How wrong members are about what they left out, and how much they differ:
 * with one sample more, of which nothing is known. */
static void calibrate(tri_model *m, const tri_trees_data *d, const int *fold,
                      int n_folds, float *x)
{
    size_t w = (size_t)d->stride;
    float y[BLOCK];

    m->all.error = m->all.between = 1;
    for (int k = 0; k < n_folds && n_folds > 1; k++) {
        int n = 0;

        for (int i = 0; i < d->n; i++) {
            if (fold[i] == k) {
                memcpy(x + (size_t)n * w, d->x + (size_t)i * w, w * sizeof *x);
                y[n++] = d->y[i];
            }
            if (n == BLOCK || (n > 0 && i == d->n - 1)) {
                note(m, k, n_folds, x, y, n);
                n = 0;
            }
        }
    }
    if (n_folds > 1) {
        m->all.error /= d->n + 1;
        m->all.between /= d->n + 1;
    }
}

static tri_status grow_from(tri_model *m, const tri_trees_data *d,
                            const int *fold, int n_folds, uint64_t seed)
{
    int split = SPLIT_LEAST + d->n / SPLIT_EVERY;
    float *x = malloc(BLOCK * (size_t)d->stride * sizeof *x);
    tri_status st;

    if (!x) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for trees of %d samples", d->n);
    }
    m->trees = (tri_trees){.n_members = MEMBERS,
                           .rounds = ROUNDS,
                           .stride = d->stride,
                           .split = split < SPLIT_MOST ? split : SPLIT_MOST};
    st = tri_trees_grow(&m->trees, d, fold, n_folds, seed);
    if (st == TRI_OK) {
        calibrate(m, d, fold, n_folds, x);
    }
    free(x);
    return st;
}

static tri_status grow(tri_model *m, const tri_samples *s, uint64_t seed)
{
    int w = stride_of(m);
    size_t n = (size_t)s->n;
    float *x = malloc(n * ((size_t)w + 1) * sizeof *x);
    float *y = x ? x + n * (size_t)w : NULL;
    int *fold = malloc(n * sizeof *fold);
    int n_folds;
    tri_status st = TRI_OK;

    if (!x || !fold) {
        st = TRI_FAIL(TRI_ENOMEM, "no memory for trees of %d samples", s->n);
    } else {
        st = tri_folds_deal(s->x, s->n, s->width, FOLDS, s->n, seed, fold,
                            &n_folds);
    }
    if (st == TRI_OK) {
        standardise(m, s->y, s->n);
        for (int i = 0; i < s->n; i++) {
            set_row(m, s->x + (size_t)i * (size_t)m->width,
                    m->has_resource ? s->resource[i] : 1,
                    x + (size_t)i * (size_t)w);
            y[i] = (float)((s->y[i] - m->all.mean) / m->all.scale);
        }
        st = grow_from(m, &(tri_trees_data){s->n, w, x, y, s->cancel}, fold,
                       n_folds, seed);
    }
    free(x);
    free(fold);
    return st;
}

static tri_status trees_fit(const tri_encoding *e, const tri_samples *s,
                            uint64_t seed, const tri_model *before,
                            tri_model **out)
{
    tri_model *m;
    tri_status st;

    (void)e;
    (void)before;
    if (s->n < 1) {
        return TRI_FAIL(TRI_EINVAL, "a model needs a sample");
    }
    m = calloc(1, sizeof *m);
    if (!m) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a model");
    }
    m->all.n = s->n;
    m->width = s->width;
    m->has_resource = tri_resources_differ(s);
    st = grow(m, s, seed);
    if (st != TRI_OK) {
        trees_destroy(m);
        return st;
    }
    *out = m;
    return TRI_OK;
}

/* ---- predict ------------------------------------------------------------ */

typedef struct block { /* of rows to predict */
    tri_members_block all;
    float *x; /* BLOCK x stride */
    int *met; /* n_pending x BLOCK: trees that put both together */
} block;

static int block_init(block *b, const tri_model *m)
{
    b->x = malloc(BLOCK * (size_t)stride_of(m) * sizeof *b->x);
    b->met = malloc((BLOCK * (size_t)m->all.n_pending + 1) * sizeof *b->met);
    return b->x && b->met;
}

static void block_fini(block *b)
{
    free(b->x);
    free(b->met);
}

/* Which trees put rows and pending runs together. */
static void meet(const tri_model *m, block *b, int tree, const int *leaf)
{
    for (int p = 0; p < m->all.n_pending; p++) {
        int *met = b->met + (size_t)p * BLOCK;
        int its = m->pending[p * TREES + tree];

        for (int i = 0; i < b->all.n; i++) {
            met[i] += leaf[i] == its;
        }
    }
}

/* What is left of a variance when the pending runs will be known. */
static double left_of(const tri_model *m, const block *b, int i)
{
    double left = 1;

    for (int p = 0; p < m->all.n_pending; p++) {
        double k = (double)b->met[(size_t)p * BLOCK + (size_t)i] / TREES;

        left *= 1 - k * k;
    }
    return left;
}

static void ask_members(const tri_model *m, block *b)
{
    int leaf[BLOCK];

    memset(b->met, 0, BLOCK * (size_t)m->all.n_pending * sizeof *b->met);
    memset(b->all.member, 0, sizeof b->all.member);
    for (int t = 0; t < TREES; t++) {
        double *sum = b->all.member[t / ROUNDS];

        tri_trees_walk(&m->trees, m->trees.root[t], b->x, b->all.n, leaf);
        for (int i = 0; i < b->all.n; i++) {
            sum[i] += (double)m->trees.node[leaf[i]].value;
        }
        meet(m, b, t, leaf);
    }
}

/* b->x is set. */
static void predict_block(const tri_model *m, block *b)
{
    ask_members(m, b);
    tri_members_agree(&m->all, &b->all);
    for (int i = 0; i < b->all.n; i++) {
        tri_members_leave(&b->all, i, left_of(m, b, i));
    }
}

static void trees_predict(const tri_model *m, const double *x, int n,
                          double resource, double *mean, double *sd)
{
    block b;
    int ok = block_init(&b, m);
    size_t w = (size_t)stride_of(m);

    for (int i = 0; i < n; i += BLOCK) {
        b.all.n = n - i < BLOCK ? n - i : BLOCK;
        for (int k = 0; ok && k < b.all.n; k++) {
            set_row(m, x + (size_t)(i + k) * (size_t)m->width, resource,
                    b.x + (size_t)k * w);
        }
        if (ok) {
            predict_block(m, &b);
        }
        for (int k = 0; k < b.all.n; k++) {
            mean[i + k] = ok ? m->all.mean + m->all.scale * b.all.mean[k]
                             : m->all.mean;
            if (sd) {
                sd[i + k] = m->all.scale * (ok ? sqrt(b.all.variance[k]) : 1);
            }
        }
    }
    block_fini(&b);
}

/* ---- very many rows ------------------------------------------------------ */

typedef struct scan {
    tri_trees_scan *trees;
    tri_members_block all;
    float sum[MEMBERS * BLOCK];
    uint8_t *pending; /* numbers of leaves: TREES of each */
    uint8_t *leaf;    /* BLOCK x TREES: those of rows */
} scan;

/* 0: no memory; to be ended all the same. */
static int scan_init(scan *s, const tri_model *m, const float *x, int n,
                     float last)
{
    int n_pending = m->all.n_pending;

    *s = (scan){.trees = tri_trees_scan_create(&m->trees, m->width, x, n, last),
                .pending = malloc((size_t)(n_pending + BLOCK) * TREES)};
    if (!s->trees || !s->pending) {
        return 0;
    }
    for (int i = 0; i < n_pending * TREES; i++) {
        s->pending[i] = (uint8_t)tri_trees_scan_number(s->trees, m->pending[i]);
    }
    s->leaf = s->pending + (size_t)n_pending * TREES;
    return 1;
}

static void scan_fini(scan *s)
{
    tri_trees_scan_destroy(s->trees);
    free(s->pending);
}

/* As left_of, by numbers of leaves. */
static double left_by_numbers(const scan *s, int n_pending, int i)
{
    const uint8_t *leaf = s->leaf + (size_t)i * TREES;
    double left = 1;

    for (int p = 0; p < n_pending; p++) {
        const uint8_t *its = s->pending + (size_t)p * TREES;
        uint8_t met = 0; /* there are fewer than 256 */
        double k;

        for (int t = 0; t < TREES; t++) {
            met += its[t] == leaf[t];
        }
        k = (double)met / TREES;
        left *= 1 - k * k;
    }
    return left;
}

static void scan_block(scan *s, const tri_model *m, const float *x, int n,
                       float *mean, float *sd)
{
    int n_pending = m->all.n_pending;

    s->all.n = n;
    tri_trees_scan_rows(s->trees, x, n, s->sum, n_pending > 0 ? s->leaf : NULL);
    for (int k = 0; k < MEMBERS; k++) {
        for (int i = 0; i < n; i++) {
            s->all.member[k][i] = (double)s->sum[k * BLOCK + i];
        }
    }
    tri_members_agree(&m->all, &s->all);
    for (int i = 0; i < n; i++) {
        tri_members_leave(&s->all, i, left_by_numbers(s, n_pending, i));
        mean[i] = (float)(m->all.mean + m->all.scale * s->all.mean[i]);
        sd[i] = (float)(m->all.scale * sqrt(s->all.variance[i]));
    }
}

/* Few rows are not worth a scan's preparation. */
static void screen_few(const tri_model *m, const float *x, int n,
                       double resource, float *mean, float *sd)
{
    double row_mean[BLOCK], row_sd[BLOCK];
    size_t w = (size_t)m->width;
    double *rows = malloc((BLOCK * w + 1) * sizeof *rows);

    for (int i = 0; i < n; i += BLOCK) {
        int many = n - i < BLOCK ? n - i : BLOCK;

        for (size_t k = 0; rows && k < (size_t)many * w; k++) {
            rows[k] = (double)x[(size_t)i * w + k];
        }
        trees_predict(m, rows, rows ? many : 0, resource, row_mean, row_sd);
        for (int k = 0; k < many; k++) {
            mean[i + k] = rows ? (float)row_mean[k] : (float)m->all.mean;
            sd[i + k] = rows ? (float)row_sd[k] : (float)m->all.scale;
        }
    }
    free(rows);
}

static void trees_screen(const tri_model *m, const float *x, int n,
                         double resource, float *mean, float *sd)
{
    float last = m->has_resource ? (float)log(resource) : 0;
    scan s = {0};

    if (n >= SCAN_LEAST && scan_init(&s, m, x, n, last)) {
        for (int i = 0; i < n; i += BLOCK) {
            scan_block(&s, m, x + (size_t)i * (size_t)m->width,
                       n - i < BLOCK ? n - i : BLOCK, mean + i, sd + i);
        }
    } else {
        screen_few(m, x, n, resource, mean, sd);
    }
    scan_fini(&s);
}

/* ---- pending ------------------------------------------------------------ */

/* The value does not count: what is believed of a pending run is the mean. */
static tri_status trees_add(tri_model *m, const double *x, double y,
                            double resource)
{
    float *row = malloc((size_t)stride_of(m) * sizeof *row);
    tri_status st = TRI_OK;

    (void)y;
    if (row && m->all.n_pending == m->room) {
        int room = 2 * m->room + 16;
        int *grown = realloc(m->pending, (size_t)room * TREES * sizeof *grown);

        if (grown) {
            m->pending = grown;
            m->room = room;
        }
    }
    if (!row || m->all.n_pending == m->room) {
        st = TRI_FAIL(TRI_ENOMEM, "no memory for a pending run");
    } else {
        set_row(m, x, resource, row);
        for (int t = 0; t < TREES; t++) {
            tri_trees_walk(&m->trees, m->trees.root[t], row, 1,
                           &m->pending[m->all.n_pending * TREES + t]);
        }
        m->all.n_pending++;
    }
    free(row);
    return st;
}

static void trees_truncate(tri_model *m, int n)
{
    tri_members_truncate(&m->all, n);
}

static int trees_size(const tri_model *m)
{
    return tri_members_size(&m->all);
}

/* ---- draw --------------------------------------------------------------- */

static tri_status trees_draw(const tri_model *m, const double *x, int n,
                             double resource, uint64_t seed, double *out)
{
    tri_members_draw d;
    size_t w = (size_t)stride_of(m);
    block b;

    if (!block_init(&b, m)) {
        block_fini(&b);
        return TRI_FAIL(TRI_ENOMEM, "no memory for a draw");
    }
    tri_members_draw_init(&d, &m->all, seed);
    for (int i = 0; i < n; i += BLOCK) {
        b.all.n = n - i < BLOCK ? n - i : BLOCK;
        for (int k = 0; k < b.all.n; k++) {
            set_row(m, x + (size_t)(i + k) * (size_t)m->width, resource,
                    b.x + (size_t)k * w);
        }
        predict_block(m, &b);
        tri_members_draw_block(&d, &b.all, out + i);
    }
    block_fini(&b);
    return TRI_OK;
}

static void trees_describe(const tri_model *m, char *buf, size_t bytes)
{
    snprintf(buf, bytes,
             "members=%d trees=%d split=%d error=%.3g between=%.3g n=%d",
             MEMBERS, TREES, m->trees.split, sqrt(m->all.error),
             sqrt(m->all.between), m->all.n);
}

const tri_predictor_ops tri_predictor_trees = {
        .name = "trees",
        .fit = trees_fit,
        .predict = trees_predict,
        .screen = trees_screen,
        .add = trees_add,
        .truncate = trees_truncate,
        .size = trees_size,
        .draw = trees_draw,
        .describe = trees_describe,
        .destroy = trees_destroy,
};

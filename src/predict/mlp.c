/*
 * An ensemble of small networks over configurations and resources: the
 * predictor of CubicML (Wen et al., 2024), which learns the order of values by
 * a margin-ranking loss; mlp-squared is the same with the squared loss.
 *
 * Each of five folds of configurations is left out by two of ten members.  A
 * ranking score has no unit: each member's is standardised over all samples,
 * and a straight line that never falls, fitted to what members say of the
 * samples that they left out, makes values of it.  Where the scores explain
 * nothing the line is flat: the mean is that of the values and the deviation
 * theirs.  The spread is that between members, enlarged as in trees.c: by how
 * much more the members are wrong about samples left out than they differ.
 */
#include "src/predict/mlp.h"
#include "src/predict/folds.h"
#include "src/predict/members.h"
#include "src/predict/samples.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOLDS   5
#define MEMBERS TRI_MEMBERS
#define H       TRI_NET_H
/* Rows at a time. */
#define BLOCK TRI_MEMBERS_BLOCK
/* A column that hardly varies is not blown up. */
#define LEAST_SCALE 0.05
/* Squared distance, in columns, at which a pending run tells e^-1/2. */
#define REACH 0.125

struct tri_model {
    tri_net_loss loss;
    tri_members all; /* what they are together */
    int width, has_resource;
    float *shift, *by;                      /* of columns */
    float *p;                               /* MEMBERS networks */
    double centre[MEMBERS], level[MEMBERS]; /* of their scores */
    double slope, offset; /* from scores to standardised values */
    int room;
    float *pending; /* rows */
};

static int columns_of(const tri_model *m)
{
    return m->width + m->has_resource;
}

static size_t net_size(const tri_model *m)
{
    return tri_net_size(columns_of(m));
}

static void mlp_destroy(tri_model *m)
{
    if (m) {
        free(m->shift);
        free(m->p);
        free(m->pending);
        free(m);
    }
}

/* ---- rows --------------------------------------------------------------- */

static void set_row(const tri_model *m, const double *x, double resource,
                    float *row)
{
    for (int j = 0; j < m->width; j++) {
        row[j] = ((float)x[j] - m->shift[j]) * m->by[j];
    }
    if (m->has_resource) {
        row[m->width] =
                ((float)log(resource) - m->shift[m->width]) * m->by[m->width];
    }
}

static double column_at(const tri_model *m, const tri_samples *s, int i, int j)
{
    return j < m->width ? s->x[(size_t)i * (size_t)m->width + (size_t)j]
                        : log(s->resource[i]);
}

static void standardise_columns(tri_model *m, const tri_samples *s)
{
    for (int j = 0; j < columns_of(m); j++) {
        double mean = 0;
        double square = 0;

        for (int i = 0; i < s->n; i++) {
            mean += column_at(m, s, i, j) / s->n;
        }
        for (int i = 0; i < s->n; i++) {
            double d = column_at(m, s, i, j) - mean;

            square += d * d / s->n;
        }
        m->shift[j] = (float)mean;
        m->by[j] = (float)(1 / fmax(sqrt(square), LEAST_SCALE));
    }
}

static void standardise_values(tri_model *m, const double *y, int n)
{
    double square = 0;

    for (int i = 0; i < n; i++) {
        m->all.mean += y[i] / n;
    }
    for (int i = 0; i < n; i++) {
        square += (y[i] - m->all.mean) * (y[i] - m->all.mean) / n;
    }
    m->all.flat = !(square > 0);
    m->all.scale = m->all.flat ? 1 : sqrt(square);
}

/* ---- calibration -------------------------------------------------------- */

/* Scores about 0 with deviation 1 over all samples. */
static void standardise_scores(tri_model *m, int k, const float *score, int n)
{
    double square = 0;

    for (int i = 0; i < n; i++) {
        m->centre[k] += (double)score[i] / n;
    }
    for (int i = 0; i < n; i++) {
        double d = (double)score[i] - m->centre[k];

        square += d * d / n;
    }
    m->level[k] = square > 1e-12 ? 1 / sqrt(square) : 0;
}

/* The line from what was said of samples left out, by two members whose mean
 * is `said` and who are `apart`, to their values. */
static void calibrate(tri_model *m, const float *said, const float *apart,
                      const float *y, int n)
{
    double mean = 0;
    double xx = 0;
    double xy = 0;
    double yy = 0;
    double split = 0;

    for (int i = 0; i < n; i++) {
        mean += (double)said[i] / n;
    }
    for (int i = 0; i < n; i++) {
        double d = (double)said[i] - mean;

        xx += d * d / n;
        xy += d * (double)y[i] / n;
        yy += (double)y[i] * (double)y[i] / n;
        split += (double)apart[i] * (double)apart[i] / 2 / n;
    }
    /* one sample more that explains nothing: a few do not make a slope */
    m->slope = fmax(xy, 0) / (xx + 1.0 / n);
    m->offset = -m->slope * mean;
    m->all.error = yy - 2 * m->slope * xy + m->slope * m->slope * xx;
    m->all.error = (fmax(m->all.error, 0) * n + 1) / (n + 1);
    m->all.between = (split * m->slope * m->slope * n + 1) / (n + 1);
}

/* ---- fit ---------------------------------------------------------------- */

typedef struct workspace { /* of a fit */
    float *x, *y;          /* n x columns; n */
    float *score, *said, *apart;
    float *hidden;
    int *fold;
} workspace;

static int workspace_init(workspace *r, const tri_model *m)
{
    size_t n = (size_t)m->all.n;

    r->x = malloc(n * ((size_t)columns_of(m) + 4 + 2 * H) * sizeof *r->x);
    r->fold = malloc(n * sizeof *r->fold);
    if (!r->x || !r->fold) {
        return 0;
    }
    r->y = r->x + n * (size_t)columns_of(m);
    r->score = r->y + n;
    r->said = r->score + n;
    r->apart = r->said + n;
    r->hidden = r->apart + n;
    return 1;
}

static void workspace_fini(workspace *r)
{
    free(r->x);
    free(r->fold);
}

/* What a member, of two, says of the samples that it left out. */
static void note(const tri_model *m, int k, workspace *r, int left_out)
{
    for (int i = 0; i < m->all.n; i++) {
        double z = ((double)r->score[i] - m->centre[k]) * m->level[k];

        if (r->fold[i] == left_out) {
            r->apart[i] = (float)z - r->apart[i];
            r->said[i] += (float)z / 2;
        }
    }
}

static tri_status learn_members(tri_model *m, workspace *r, int n_folds,
                                uint64_t seed, const tri_cancel *cancel)
{
    tri_net_data data = {m->all.n, columns_of(m), r->x, r->y, cancel};

    memset(r->said, 0, (size_t)m->all.n * sizeof *r->said);
    memset(r->apart, 0, (size_t)m->all.n * sizeof *r->apart);
    for (int k = 0; k < MEMBERS; k++) {
        float *p = m->p + (size_t)k * net_size(m);

        TRI_TRY(tri_net_train(&data, r->fold, k % n_folds, m->loss, seed,
                              (uint64_t)k, p));
        tri_net_scores(p, data.d, r->x, m->all.n, r->hidden, r->score);
        standardise_scores(m, k, r->score, m->all.n);
        if (k < 2 * n_folds) {
            note(m, k, r, k % n_folds);
        }
    }
    calibrate(m, r->said, r->apart, r->y, m->all.n);
    return TRI_OK;
}

static tri_status learn(tri_model *m, const tri_samples *s, workspace *r,
                        uint64_t seed)
{
    int n_folds;

    TRI_TRY(tri_folds_deal(s->x, s->n, s->width, FOLDS, s->n, seed, r->fold,
                           &n_folds));
    if (n_folds < 2) { /* one configuration says nothing of others */
        m->all.flat = 1;
        return TRI_OK;
    }
    for (int i = 0; i < s->n; i++) {
        set_row(m, s->x + (size_t)i * (size_t)m->width,
                m->has_resource ? s->resource[i] : 1,
                r->x + (size_t)i * (size_t)columns_of(m));
        r->y[i] = (float)((s->y[i] - m->all.mean) / m->all.scale);
    }
    return learn_members(m, r, n_folds, seed, s->cancel);
}

static tri_status fit_into(tri_model *m, const tri_samples *s, uint64_t seed)
{
    size_t columns = (size_t)columns_of(m) + 1;
    workspace r;
    tri_status st;

    m->shift = calloc(2 * columns, sizeof *m->shift);
    m->p = calloc(MEMBERS * net_size(m), sizeof *m->p);
    if (!m->shift || !m->p) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a model");
    }
    m->by = m->shift + columns;
    standardise_columns(m, s);
    standardise_values(m, s->y, s->n);
    /* about the mean: what the samples are, with one more that is off */
    m->all.error = m->all.flat ? 1 / (s->n + 1.0) : 1;
    m->all.between = 1;
    if (m->all.flat || columns_of(m) == 0) {
        m->all.flat = 1;
        return TRI_OK;
    }
    st = workspace_init(&r, m) ? learn(m, s, &r, seed)
                               : TRI_FAIL(TRI_ENOMEM,
                                          "no memory for networks of "
                                          "%d samples",
                                          s->n);
    workspace_fini(&r);
    return st;
}

static tri_status fit(tri_net_loss loss, const tri_samples *s, uint64_t seed,
                      tri_model **out)
{
    tri_model *m;
    tri_status st;

    if (s->n < 1) {
        return TRI_FAIL(TRI_EINVAL, "a model needs a sample");
    }
    m = calloc(1, sizeof *m);
    if (!m) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a model");
    }
    m->loss = loss;
    m->all.n = s->n;
    m->width = s->width;
    m->has_resource = tri_resources_differ(s);
    st = fit_into(m, s, seed);
    if (st != TRI_OK) {
        mlp_destroy(m);
        return st;
    }
    *out = m;
    return TRI_OK;
}

static tri_status rank_fit(const tri_encoding *e, const tri_samples *s,
                           uint64_t seed, const tri_model *before,
                           tri_model **out)
{
    (void)e;
    (void)before;
    return fit(TRI_NET_RANK, s, seed, out);
}

static tri_status square_fit(const tri_encoding *e, const tri_samples *s,
                             uint64_t seed, const tri_model *before,
                             tri_model **out)
{
    (void)e;
    (void)before;
    return fit(TRI_NET_SQUARE, s, seed, out);
}

/* ---- predict ------------------------------------------------------------ */

typedef struct block { /* of rows to predict */
    tri_members_block all;
    float *x, *hidden, *score; /* BLOCK x columns, x 2 H, x MEMBERS */
} block;

static int block_init(block *b, const tri_model *m)
{
    size_t columns = (size_t)columns_of(m);

    b->x = malloc(BLOCK * (columns + 2 * H + 1) * sizeof *b->x);
    if (!b->x) {
        return 0;
    }
    b->hidden = b->x + BLOCK * columns;
    b->score = b->hidden + (size_t)(BLOCK * 2 * H);
    return 1;
}

/* What is left of a row's variance when the pending runs will be known. */
static double left_of(const tri_model *m, const float *x)
{
    int d = columns_of(m);
    double left = 1;

    for (int p = 0; p < m->all.n_pending; p++) {
        const float *its = m->pending + (size_t)p * (size_t)d;
        float square = 0;
        double k;

        for (int j = 0; j < d; j++) {
            square += (x[j] - its[j]) * (x[j] - its[j]);
        }
        k = exp(-0.5 * (double)square / (REACH * d));
        left *= 1 - k * k;
    }
    return left;
}

static void ask_members(const tri_model *m, block *b)
{
    for (int k = 0; k < MEMBERS; k++) {
        tri_net_scores(m->p + (size_t)k * net_size(m), columns_of(m), b->x,
                       b->all.n, b->hidden, b->score);
        for (int i = 0; i < b->all.n; i++) {
            double z = ((double)b->score[i] - m->centre[k]) * m->level[k];

            b->all.member[k][i] = m->offset + m->slope * z;
        }
    }
}

/* b->x is set. */
static void predict_block(const tri_model *m, block *b)
{
    int d = columns_of(m);

    if (m->all.flat) {
        memset(b->all.member, 0, sizeof b->all.member);
    } else {
        ask_members(m, b);
    }
    tri_members_agree(&m->all, &b->all);
    for (int i = 0; i < b->all.n; i++) {
        tri_members_leave(&b->all, i, left_of(m, b->x + (size_t)i * (size_t)d));
    }
}

/* Where there is no memory, what is known without the networks. */
static void predict_nothing(const tri_model *m, block *b)
{
    for (int i = 0; i < b->all.n; i++) {
        b->all.mean[i] = 0;
        b->all.variance[i] = 1;
    }
    (void)m;
}

static void mlp_predict(const tri_model *m, const double *x, int n,
                        double resource, double *mean, double *sd)
{
    block b;
    int ok = block_init(&b, m);
    size_t d = (size_t)columns_of(m);

    for (int i = 0; i < n; i += BLOCK) {
        b.all.n = n - i < BLOCK ? n - i : BLOCK;
        for (int k = 0; ok && k < b.all.n; k++) {
            set_row(m, x + (size_t)(i + k) * (size_t)m->width, resource,
                    b.x + (size_t)k * d);
        }
        if (ok) {
            predict_block(m, &b);
        } else {
            predict_nothing(m, &b);
        }
        for (int k = 0; k < b.all.n; k++) {
            mean[i + k] = m->all.mean + m->all.scale * b.all.mean[k];
            if (sd) {
                sd[i + k] = m->all.scale * sqrt(b.all.variance[k]);
            }
        }
    }
    free(b.x);
}

/* ---- pending ------------------------------------------------------------ */

/* The value does not count: what is believed of a pending run is the mean. */
static tri_status mlp_add(tri_model *m, const double *x, double y,
                          double resource)
{
    size_t d = (size_t)columns_of(m);

    (void)y;
    if (m->all.n_pending == m->room) {
        int room = 2 * m->room + 16;
        float *grown =
                realloc(m->pending, ((size_t)room * d + 1) * sizeof *grown);

        if (!grown) {
            return TRI_FAIL(TRI_ENOMEM, "no memory for a pending run");
        }
        m->pending = grown;
        m->room = room;
    }
    set_row(m, x, resource, m->pending + (size_t)m->all.n_pending * d);
    m->all.n_pending++;
    return TRI_OK;
}

static void mlp_truncate(tri_model *m, int n)
{
    tri_members_truncate(&m->all, n);
}

static int mlp_size(const tri_model *m)
{
    return tri_members_size(&m->all);
}

/* ---- draw --------------------------------------------------------------- */

static tri_status mlp_draw(const tri_model *m, const double *x, int n,
                           double resource, uint64_t seed, double *out)
{
    tri_members_draw draw;
    size_t d = (size_t)columns_of(m);
    block b;

    if (!block_init(&b, m)) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a draw");
    }
    tri_members_draw_init(&draw, &m->all, seed);
    for (int i = 0; i < n; i += BLOCK) {
        b.all.n = n - i < BLOCK ? n - i : BLOCK;
        for (int k = 0; k < b.all.n; k++) {
            set_row(m, x + (size_t)(i + k) * (size_t)m->width, resource,
                    b.x + (size_t)k * d);
        }
        predict_block(m, &b);
        tri_members_draw_block(&draw, &b.all, out + i);
    }
    free(b.x);
    return TRI_OK;
}

static void mlp_describe(const tri_model *m, char *buf, size_t bytes)
{
    snprintf(buf, bytes,
             "members=%d hidden=%dx2 loss=%s slope=%.3g error=%.3g "
             "between=%.3g n=%d",
             MEMBERS, H, m->loss == TRI_NET_RANK ? "rank" : "square", m->slope,
             sqrt(m->all.error), sqrt(m->all.between), m->all.n);
}

const tri_predictor_ops tri_predictor_mlp = {
        .name = "mlp",
        .fit = rank_fit,
        .predict = mlp_predict,
        .add = mlp_add,
        .truncate = mlp_truncate,
        .size = mlp_size,
        .draw = mlp_draw,
        .describe = mlp_describe,
        .destroy = mlp_destroy,
};

const tri_predictor_ops tri_predictor_mlp_squared = {
        .name = "mlp-squared",
        .fit = square_fit,
        .predict = mlp_predict,
        .add = mlp_add,
        .truncate = mlp_truncate,
        .size = mlp_size,
        .draw = mlp_draw,
        .describe = mlp_describe,
        .destroy = mlp_destroy,
};

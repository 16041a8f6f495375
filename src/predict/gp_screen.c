/*
 * The Gaussian process over very many configurations, in single precision:
 * bounds of what it believes.
 *
 * The mean is a sum over all samples.  Of the deviation what some samples tell
 * is taken off: the one that tells most by itself, or a few together.
 * Knowing more never makes a normal belief wider, so that what is left bounds
 * the deviation from above.  The few are in part the best, near which
 * candidates promise most; the others are those that the few before them tell
 * least of (the pivots of a Cholesky factor; Harbrecht, Peters and Schneider,
 * Applied Numerical Mathematics 62, 2012), which leave little anywhere.
 *
 * Then rounding.  Squared distances are sums of squared differences, so that
 * an entry of the covariance is off by at most about (8 + root(d)) 2^-24 of
 * its variance, with d columns.  Such errors are independent of each other:
 * the mean is off by their weighted root of squares, with what its sum in
 * lanes loses, and SURE times that is allowed for (Higham and Mary, SIAM
 * Journal on Scientific Computing 41, 2019: each stays below with a
 * probability of 1 - 2 exp(-SURE^2 / 2)).  Where a model knows its values
 * almost without noise, weights are large and cancel, and this is far more
 * than happens; then, as for the factor of the best, SURE times what happens
 * to the worst of some rows, in double precision, takes its place.
 */
#include "src/base/ranked.h"
#include "src/predict/clones.h"
#include "src/predict/gp.h"
#include "src/predict/lapack.h"
#include "src/predict/runs.h"

#include <cblas.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Samples that are asked together, and which share of them are the best; of
 * very many rows fewer are asked. */
#define FEW        64
#define FEW_MANY   32
#define BEST_SHARE 2
#define MANY       32768
/* Rows at a time; rows that tell how much rounding does. */
#define BLOCK  64
#define PROBES 32
/* Half a unit in the last place of 1. */
#define ROUNDING 0x1p-24
#define SURE     5.0
/* A mean that is off by less needs no proof. */
#define LITTLE 1e-3f

/* e^-u for u >= 0, to about 2e-7 relative; 0 from 87 on.  The polynomial is
 * that of Cephes' expf (Moshier). */
static inline float exp_minus(float u)
{
    float c = u < 87.0f ? u : 87.0f;
    int32_t n = (int32_t)(c * 1.44269504f + 0.5f);
    float r = (float)n * 0.693359375f - c;
    float p = 1.9875691500e-4f;
    float scale;

    r = r - (float)n * 2.12194440e-4f;
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * r * r + r + 1.0f;
    n = (127 - n) * (1 << 23);
    memcpy(&scale, &n, sizeof scale);
    return p * scale;
}

typedef struct screen { /* the model in single precision */
    int n, d; /* samples, with ones that weigh nothing up to whole STRIPs */
    float *scaled; /* d x n */
    float *alpha;
    float *level;  /* a sample's variance with its noise, inverted */
    float *matern; /* factor of the Matern part, and */
    float *shift;  /* what is added, for the resource asked for */
    float *by;     /* a column's inverse length */
    float *z, *k;  /* a row, and its covariances */
    tri_runs runs; /* of rows, and what the slow columns make of a */
    float *held;   /* row's squared distances, for held_of */
    const float *held_of;
    float variance;
    float mean_off, share_off; /* what rounding may do to a mean, and to what
                                * one sample explains, */
    float few_off;             /* and to what the best do */
    int n_few;
    int few[FEW];    /* the samples that are asked together */
    double *inverse; /* of the factor of their covariance with noise */
    float *factor;   /* the same, rounded */
    float *v;        /* BLOCK x n_few: a block's covariances with them */
} screen;

/* What the largest registers hold, and samples that are done together. */
#define LANES 16
#define STRIP 64
typedef float lanes __attribute__((vector_size(4 * LANES)));

/* Add to the squared distances of the row z to a strip of samples what n
 * columns make of them. */
static inline void measure(const screen *s, const int *column, int n, int from,
                           const float *held, float *out)
{
    const float *x = s->scaled + from;
    lanes sum[STRIP / LANES];

    memcpy(sum, held, sizeof sum);
    for (int k = 0; k < n; k++) {
        size_t at = (size_t)column[k] * (size_t)s->n;

        for (int q = 0; q < STRIP / LANES; q++) {
            lanes v;

            memcpy(&v, x + at + (size_t)(q * LANES), sizeof v);
            v -= s->z[column[k]];
            sum[q] += v * v;
        }
    }
    memcpy(out, sum, sizeof sum);
}

/* What the slow columns make of the row z's squared distances. */
TRI_CLONES static void hold(const screen *s)
{
    memset(s->held, 0, (size_t)s->n * sizeof *s->held);
    for (int from = 0; from < s->n; from += STRIP) {
        measure(s, s->runs.column, s->runs.n_slow, from, s->held + from,
                s->held + from);
    }
}

/* The mean at the row z but for its centre, and the largest share of the
 * variance that one sample explains. */
TRI_CLONES static void ask_row(const screen *s, float *mean, float *most)
{
    const float *restrict matern = s->matern;
    const float *restrict shift = s->shift;
    const float *restrict alpha = s->alpha;
    const float *restrict level = s->level;
    float *restrict row = s->k;
    int n = s->n;
    float sum = 0;
    float best = 0;

    for (int from = 0; from < n; from += STRIP) {
        measure(s, s->runs.column + s->runs.n_slow, s->runs.n_fast, from,
                s->held + from, row + from);
    }
    for (int j = 0; j < n; j++) {
        float u = sqrtf(5.0f * row[j]);

        row[j] = matern[j] * (1.0f + u + u * u * (1.0f / 3)) * exp_minus(u) +
                 shift[j];
    }
    for (int j = 0; j < n; j++) {
        float k = row[j];
        float share = k * k * level[j];

        sum += k * alpha[j];
        best = best > share ? best : share;
    }
    *mean = sum;
    *most = best;
}

static double part(const tri_model *m, tri_gp_part which)
{
    int at = tri_gp_at(&m->form, which);

    return at < 0 ? 0 : exp(2 * m->theta[at]);
}

static int screen_init(screen *s, const tri_model *m)
{
    size_t n = (size_t)(m->n + STRIP - 1) / STRIP * STRIP;
    size_t d = (size_t)m->form.width;
    float *all = calloc(n * d + 6 * n + 2 * d + FEW * FEW + BLOCK * FEW + 1,
                        sizeof *all);

    s->inverse = malloc(sizeof *s->inverse * FEW * FEW);
    s->scaled = all;
    if (!all || !s->inverse) {
        return 0;
    }
    s->n = (int)n;
    s->d = m->form.width;
    s->alpha = s->scaled + n * d;
    s->level = s->alpha + n;
    s->matern = s->level + n;
    s->shift = s->matern + n;
    s->k = s->shift + n;
    s->held = s->k + n;
    s->by = s->held + n;
    s->z = s->by + d;
    s->factor = s->z + d;
    s->v = s->factor + FEW * FEW;
    return 1;
}

static void screen_fini(screen *s)
{
    free(s->scaled);
    free(s->inverse);
    tri_runs_fini(&s->runs);
}

static void fill_rows(screen *s, const tri_model *m)
{
    for (int a = 0; a < m->form.n_axes; a++) {
        const tri_axis *axis = tri_encoding_axis(m->form.encoding, a);

        for (int k = axis->first; k < axis->first + axis->width; k++) {
            s->by[k] = (float)exp(-m->theta[a]);
        }
    }
    for (int j = 0; j < m->n; j++) {
        for (int k = 0; k < s->d; k++) {
            s->scaled[(size_t)k * (size_t)s->n + (size_t)j] =
                    (float)m->x[(size_t)j * (size_t)s->d + (size_t)k] *
                    s->by[k];
        }
    }
}

static void fill_weights(screen *s, const tri_model *m, double resource)
{
    double f = part(m, TRI_GP_F);
    double r = part(m, TRI_GP_R);
    double b = part(m, TRI_GP_B);
    double noise = part(m, TRI_GP_N);
    int has = m->form.has_resource;
    double share = has ? resource / m->top : 1;
    double decay = has ? exp(m->theta[tri_gp_at(&m->form, TRI_GP_DECAY)]) : 1;
    double weights = 0;
    double most = 0;

    for (int j = 0; j < m->n; j++) {
        double along = has ? decay / (share + m->share[j] + decay) : 0;
        double own = has ? decay / (2 * m->share[j] + decay) : 0;
        double entry = f + (r + b) * along;
        double level = 1 / (f + (r + b) * own + noise);

        s->alpha[j] = (float)m->alpha[j];
        s->level[j] = (float)level;
        s->matern[j] = (float)(f + r * along);
        s->shift[j] = (float)(b * along);
        weights += entry * entry * m->alpha[j] * m->alpha[j];
        most = fmax(most, entry * entry * level);
    }
    s->variance =
            (float)(f + (has ? (r + b) * decay / (2 * share + decay) : 0));
    s->mean_off = (float)(SURE * ROUNDING * sqrt(weights) *
                          (8 + sqrt((double)s->d) + sqrt((double)s->n) / 8));
    s->share_off =
            (float)(2 * SURE * ROUNDING * most * (8 + sqrt((double)s->d)));
}

/* ---- a few samples --------------------------------------------------- */

typedef struct pivots { /* what the chosen tell of all samples */
    int n_known;
    double *v;    /* a row of each */
    double *left; /* of the variances; -1: is chosen */
} pivots;

static void choose(screen *s, const tri_model *m, int at, pivots *p)
{
    size_t n = (size_t)m->n;
    double *row = p->v + (size_t)p->n_known * n;
    tri_gp_points all = tri_gp_rows(m, 0, m->n);
    tri_gp_points one = tri_gp_rows(m, at, 1);
    double by = 1 / sqrt(p->left[at] + part(m, TRI_GP_N) + 1e-6);

    tri_gp_cross(&m->form, m->theta, &one, &all, row, m->n);
    if (p->n_known > 0) {
        cblas_dgemv(CblasRowMajor, CblasTrans, p->n_known, m->n, -1, p->v, m->n,
                    p->v + at, m->n, 1, row, 1);
    }
    for (size_t i = 0; i < n; i++) {
        row[i] *= by;
        p->left[i] =
                p->left[i] < 0 ? -1 : fmax(p->left[i] - row[i] * row[i], 0);
    }
    p->left[at] = -1;
    p->n_known++;
    s->few[s->n_few++] = at;
}

/* Of the samples the one of which least is known. */
static int least_known(const pivots *p, int n)
{
    int at = 0;

    for (int i = 1; i < n; i++) {
        at = p->left[at] < p->left[i] ? i : at;
    }
    return at;
}

/* 0: no memory. */
static int choose_few(screen *s, const tri_model *m, int most)
{
    size_t n = (size_t)m->n;
    int few = m->n < most ? m->n : most;
    tri_ranked *list = malloc(n * sizeof *list);
    pivots p = {.v = malloc(((size_t)few + 1) * n * sizeof *p.v)};
    tri_gp_points all = tri_gp_rows(m, 0, m->n);

    s->n_few = 0;
    if (list && p.v) {
        p.left = p.v + (size_t)few * n;
        tri_rank(m->y, m->n, list);
        tri_gp_variances(&m->form, m->theta, &all, p.left);
        for (int i = 0; i < few; i++) {
            choose(s, m,
                   i < few / BEST_SHARE ? list[i].at : least_known(&p, m->n),
                   &p);
        }
    }
    free(list);
    free(p.v);
    return s->n_few > 0;
}

/* Covariances of points with the few, from all samples. */
static int few_points(const screen *s, const tri_model *m, tri_gp_points *p)
{
    size_t d = (size_t)m->form.width;
    size_t few = (size_t)s->n_few;
    double *x = malloc(few * (2 * d + 2) * sizeof *x + 1);
    double *share = x ? x + few * d : NULL;

    for (size_t i = 0; x && i < few; i++) {
        memcpy(x + i * d, m->x + (size_t)s->few[i] * d, d * sizeof *x);
        share[i] = m->share[s->few[i]];
    }
    *p = (tri_gp_points){.n = s->n_few, .x = x, .share = share};
    if (x) {
        p->square = share + few;
        p->scaled = p->square + few;
        tri_gp_scale(&m->form, m->theta, p);
    }
    return x != NULL;
}

/* What the few know together; they know nothing where there is no factor. */
static void factor_few(screen *s, const tri_model *m, int most)
{
    tri_gp_points p = {0};
    int few;
    int ok = choose_few(s, m, most) && few_points(s, m, &p);

    few = s->n_few;
    if (ok) {
        tri_gp_cross(&m->form, m->theta, &p, &p, s->inverse, few);
        for (int i = 0; i < few; i++) { /* with more noise they know less */
            s->inverse[i * few + i] += part(m, TRI_GP_N) + 1e-6;
        }
        ok = tri_cholesky(s->inverse, few, few) &&
             tri_triangle_invert(s->inverse, few, few);
    }
    free((double *)(uintptr_t)p.x);
    if (!ok) {
        s->n_few = few = 0;
    }
    for (int i = 0; i < few * few; i++) {
        s->factor[i] = (float)s->inverse[i];
    }
}

/* [out] most[n]: what the best explain of each row, or one of them more. */
static void explain(const screen *s, int n, float *most)
{
    int few = s->n_few;

    if (few > 0) {
        cblas_strmm(CblasRowMajor, CblasRight, CblasLower, CblasTrans,
                    CblasNonUnit, n, few, 1, s->factor, few, s->v, few);
    }
    for (int i = 0; i < n && few > 0; i++) {
        const float *v = s->v + (size_t)i * (size_t)few;

        most[i] = fmaxf(most[i], cblas_sdot(few, v, 1, v, 1) - s->few_off);
    }
}

/* Bounds of a block of rows. */
static void screen_block(screen *s, double centre, const float *x, int n,
                         float *mean, float *sd)
{
    float most[BLOCK];

    for (int i = 0; i < n; i++) {
        const float *row = x + (size_t)i * (size_t)s->d;
        float sum;

        for (int k = 0; k < s->d; k++) {
            s->z[k] = row[k] * s->by[k];
        }
        if (!s->held_of || !tri_runs_goes_on(&s->runs, row, s->held_of)) {
            hold(s);
        }
        s->held_of = row;
        ask_row(s, &sum, &most[i]);
        mean[i] = (float)centre + sum - s->mean_off;
        most[i] = fmaxf(most[i] - s->share_off, 0);
        for (int j = 0; j < s->n_few; j++) {
            s->v[(size_t)i * (size_t)s->n_few + (size_t)j] = s->k[s->few[j]];
        }
    }
    explain(s, n, most);
    for (int i = 0; i < n; i++) {
        sd[i] = sqrtf(fmaxf((s->variance - most[i]) * 1.00001f, 1e-12f));
    }
}

/* ---- rounding ----------------------------------------------------------- */

typedef struct probe { /* rows in both precisions */
    int n;
    double *x, *k, *mean, *share; /* n x d, n x few, n, n */
    float *row, *low, *sd;        /* n x d, n, n */
} probe;

static int probe_init(probe *p, const screen *s, const float *x, int n)
{
    size_t d = (size_t)s->d;
    size_t rows = (size_t)(n < PROBES ? n : PROBES);

    p->n = (int)rows;
    p->x = malloc(rows * (d + FEW + 2) * sizeof *p->x);
    p->row = malloc(rows * (d + 2) * sizeof *p->row);
    if (!p->x || !p->row) {
        return 0;
    }
    p->k = p->x + rows * d;
    p->mean = p->k + rows * FEW;
    p->share = p->mean + rows;
    p->low = p->row + rows * d;
    p->sd = p->low + rows;
    for (size_t i = 0; i < rows; i++) {
        const float *from = x + i * (size_t)n / rows * d;

        for (size_t k = 0; k < d; k++) {
            p->row[i * d + k] = from[k];
            p->x[i * d + k] = (double)from[k];
        }
    }
    return 1;
}

static void probe_fini(probe *p)
{
    free(p->x);
    free(p->row);
}

/* p->k: covariances of the probes with the best; 0: no memory. */
static int ask_few(const screen *s, const tri_model *m, double resource,
                   probe *p)
{
    size_t d = (size_t)s->d;
    size_t rows = (size_t)p->n;
    double *room = malloc(rows * (d + 2) * sizeof *room + 1);
    tri_gp_points few = {0};
    int ok = room && few_points(s, m, &few);

    if (ok) {
        tri_gp_points mine = {.n = p->n, .x = p->x, .scaled = room};

        mine.square = room + rows * d;
        mine.share = mine.square + rows;
        for (size_t i = 0; i < rows; i++) {
            mine.square[rows + i] =
                    m->form.has_resource ? resource / m->top : 1;
        }
        tri_gp_scale(&m->form, m->theta, &mine);
        tri_gp_cross(&m->form, m->theta, &mine, &few, p->k, s->n_few);
        cblas_dtrmm(CblasRowMajor, CblasRight, CblasLower, CblasTrans,
                    CblasNonUnit, p->n, s->n_few, 1, s->inverse, s->n_few, p->k,
                    s->n_few);
    }
    free(room);
    free((double *)(uintptr_t)few.x);
    return ok;
}

/* What single precision makes of the probes, against double. */
static void compare(screen *s, const tri_model *m, double resource, probe *p)
{
    float bound = s->mean_off;
    double mean_off = 0;
    double few_off = 0;

    s->mean_off = 0;
    screen_block(s, m->mean, p->row, p->n, p->low, p->sd);
    s->held_of = NULL;
    tri_gp_predict(m, p->x, p->n, resource, p->mean, NULL);
    for (int i = 0; i < p->n; i++) {
        const double *k = p->k + (size_t)i * (size_t)s->n_few;
        const float *v = s->v + (size_t)i * (size_t)s->n_few;
        double exact = cblas_ddot(s->n_few, k, 1, k, 1);
        double single = (double)cblas_sdot(s->n_few, v, 1, v, 1);

        few_off = fmax(few_off, fabs(single - exact));
        mean_off = fmax(mean_off, fabs((double)p->low[i] - p->mean[i]));
    }
    s->mean_off = fminf(bound, (float)(SURE * mean_off) + LITTLE);
    s->few_off = (float)(SURE * few_off) + 1e-6f * s->variance;
}

/* Where there is no memory for it, the best are not asked. */
static void allow_for_rounding(screen *s, const tri_model *m, const float *x,
                               int n, double resource)
{
    probe p = {0};

    if (n > 0 && probe_init(&p, s, x, n) && ask_few(s, m, resource, &p)) {
        compare(s, m, resource, &p);
    } else {
        s->n_few = 0;
    }
    probe_fini(&p);
}

void tri_gp_screen(const tri_model *m, const float *x, int n, double resource,
                   float *mean, float *sd)
{
    screen s = {0};

    if (screen_init(&s, m) && tri_runs_init(&s.runs, x, n, s.d)) {
        fill_rows(&s, m);
        fill_weights(&s, m, resource);
        factor_few(&s, m, n > MANY ? FEW_MANY : FEW);
        allow_for_rounding(&s, m, x, n, resource);
        for (int i = 0; i < n; i += BLOCK) {
            screen_block(&s, m->mean, x + (size_t)i * (size_t)s.d,
                         n - i < BLOCK ? n - i : BLOCK, mean + i, sd + i);
        }
    } else { /* as if nothing were known */
        for (int i = 0; i < n; i++) {
            mean[i] = -HUGE_VALF;
            sd[i] = 1;
        }
    }
    screen_fini(&s);
}

/*
 * The Gaussian process over very many configurations: bounds of what it
 * believes.
 *
 * screen: in single precision.  Squared distances are sums of squared
 * differences, so that an entry of the covariance is off by at most about
 * (8 + root(d)) 2^-24 of its variance, with d columns.  Such errors are
 * independent of each other: the mean is off by their weighted root of
 * squares, with what its sum in lanes loses, and SURE times that is allowed
 * for (Higham and Mary, SIAM Journal on Scientific Computing 41, 2019: each
 * stays below with a probability of 1 - 2 exp(-SURE^2 / 2)).  Of the deviation
 * what one sample tells is taken off, the one that tells most: knowing more
 * never makes a normal belief wider.
 *
 * closer: the mean as it is, and the deviation that is left when of the samples
 * only some are known, by the same argument: those that tell most of the rows
 * asked for, each by itself.  With as many samples as FEW it is exact.
 */
#include "src/predict/clones.h"
#include "src/predict/gp.h"
#include "src/predict/lapack.h"

#include <cblas.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Samples of which the closer bound knows. */
#define FEW 256
/* Rows that say which. */
#define ASKED 32
/* Half a unit in the last place of 1. */
#define ROUNDING 0x1p-24
#define SURE     5.0

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
    float variance;
    float mean_off, share_off; /* what rounding may do to a mean, and to a
                                * share of the variance */
} screen;

/* What the largest registers hold, and samples that are done together. */
#define LANES 16
#define STRIP 64
typedef float lanes __attribute__((vector_size(4 * LANES)));

/* Squared distances of the row z to a strip of samples. */
static inline void measure(const screen *s, int from, float *out)
{
    const float *x = s->scaled + from;
    lanes sum[STRIP / LANES] = {0};

    for (int k = 0; k < s->d; k++) {
        for (int q = 0; q < STRIP / LANES; q++) {
            lanes v;

            memcpy(&v, x + (size_t)k * (size_t)s->n + (size_t)(q * LANES),
                   sizeof v);
            v -= s->z[k];
            sum[q] += v * v;
        }
    }
    memcpy(out, sum, sizeof sum);
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
        measure(s, from, row + from);
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
    float *all = calloc(n * d + 5 * n + 2 * d + 1, sizeof *all);

    if (!all) {
        return 0;
    }
    s->n = (int)n;
    s->d = m->form.width;
    s->scaled = all;
    s->alpha = s->scaled + n * d;
    s->level = s->alpha + n;
    s->matern = s->level + n;
    s->shift = s->matern + n;
    s->k = s->shift + n;
    s->by = s->k + n;
    s->z = s->by + d;
    return 1;
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

void tri_gp_screen(const tri_model *m, const float *x, int n, double resource,
                   float *mean, float *sd)
{
    screen s;
    int ok = screen_init(&s, m);

    if (ok) {
        fill_rows(&s, m);
        fill_weights(&s, m, resource);
    }
    for (int i = 0; i < n; i++) {
        float sum = -HUGE_VALF; /* as if nothing were known */
        float most = 0;

        for (int k = 0; ok && k < s.d; k++) {
            s.z[k] = x[(size_t)i * (size_t)s.d + (size_t)k] * s.by[k];
        }
        if (ok) {
            ask_row(&s, &sum, &most);
            sum -= s.mean_off;
            most = fmaxf(most - s.share_off, 0);
        }
        mean[i] = (float)m->mean + sum;
        sd[i] = ok ? sqrtf(fmaxf((s.variance - most) * 1.00001f, 1e-12f)) : 1;
    }
    if (ok) {
        free(s.scaled);
    }
}

/* ---- closer ---------------------------------------------------------------
 */

typedef struct told { /* by a sample */
    double share;
    int at;
} told;

static int by_share(const void *a, const void *b)
{
    const told *p = a, *q = b;

    return p->share != q->share ? (p->share < q->share) - (p->share > q->share)
                                : p->at - q->at;
}

typedef struct closer {
    tri_gp_points rows, few;
    int n;           /* samples */
    double *k;       /* rows x n */
    double *v;       /* rows x few */
    double *inverse; /* few x few */
    double *own;     /* variances without noise, of rows or samples */
    told *told;      /* n */
} closer;

static int closer_init(closer *c, const tri_model *m, const double *x, int n,
                       double resource)
{
    size_t rows = (size_t)n;
    size_t d = (size_t)m->form.width;
    size_t all = (size_t)m->n;
    size_t few = all < FEW ? all : FEW;
    double *p = malloc((rows * (d + 2 + all + few) + few * (2 * d + 2 + few) +
                        rows + all) *
                       sizeof *p);

    c->told = malloc((all + 1) * sizeof *c->told);
    c->k = p;
    if (!p || !c->told) {
        return 0;
    }
    c->n = m->n;
    c->v = c->k + rows * all;
    c->inverse = c->v + rows * few;
    c->own = c->inverse + few * few;
    c->rows = (tri_gp_points){.n = n, .x = x};
    c->rows.scaled = c->own + rows + all;
    c->rows.square = c->rows.scaled + rows * d;
    p = c->rows.square + rows;
    c->rows.share = p;
    for (int i = 0; i < n; i++) {
        p[i] = m->form.has_resource ? resource / m->top : 1;
    }
    p += rows;
    c->few = (tri_gp_points){.n = (int)few, .x = p};
    c->few.scaled = p + few * d;
    c->few.square = c->few.scaled + few * d;
    c->few.share = c->few.square + few;
    return 1;
}

static void closer_fini(closer *c)
{
    free(c->k);
    free(c->told);
}

/* The samples that tell most of the rows: the share of the variance that each
 * explains by itself, over some of the rows. */
static void choose_few(closer *c, const tri_model *m)
{
    size_t d = (size_t)m->form.width;
    int step = c->rows.n / ASKED + 1;
    tri_gp_points mine = {.n = m->n,
                          .x = m->x,
                          .share = m->share,
                          .scaled = m->scaled,
                          .square = m->square};
    double *x = (double *)(uintptr_t)c->few.x; /* ours */
    double *share = (double *)(uintptr_t)c->few.share;

    tri_gp_variances(&m->form, m->theta, &mine, c->own);
    for (int j = 0; j < m->n; j++) {
        c->told[j] = (told){0, j};
    }
    for (int i = 0; i < c->rows.n; i += step) {
        const double *k = c->k + (size_t)i * (size_t)m->n;

        for (int j = 0; j < m->n; j++) {
            c->told[j].share += k[j] * k[j] / c->own[j];
        }
    }
    qsort(c->told, (size_t)m->n, sizeof *c->told, by_share);
    for (int i = 0; i < c->few.n; i++) {
        size_t at = (size_t)c->told[i].at;

        memcpy(x + (size_t)i * d, m->x + at * d, d * sizeof *x);
        share[i] = m->share[at];
    }
}

/* The inverse factor of what the few are; 0 where there is none. */
static int invert_few(closer *c, const tri_model *m)
{
    int few = c->few.n;

    tri_gp_scale(&m->form, m->theta, &c->few);
    tri_gp_cross(&m->form, m->theta, &c->few, &c->few, c->inverse, few);
    for (int i = 0; i < few; i++) { /* a little more noise bounds as well */
        c->inverse[(size_t)i * (size_t)few + (size_t)i] +=
                part(m, TRI_GP_N) + 1e-7;
    }
    return tri_cholesky(c->inverse, few, few) &&
           tri_triangle_invert(c->inverse, few, few);
}

/* c->own: of the rows, without noise; becomes what is left. */
static void explain(closer *c)
{
    int few = c->few.n;

    for (int i = 0; i < c->rows.n; i++) {
        const double *k = c->k + (size_t)i * (size_t)c->n;

        for (int j = 0; j < few; j++) {
            c->v[(size_t)i * (size_t)few + (size_t)j] = k[c->told[j].at];
        }
    }
    cblas_dtrmm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit,
                c->rows.n, few, 1, c->inverse, few, c->v, few);
    for (int i = 0; i < c->rows.n; i++) {
        const double *v = c->v + (size_t)i * (size_t)few;

        c->own[i] -= cblas_ddot(few, v, 1, v, 1);
    }
}

void tri_gp_closer(const tri_model *m, const double *x, int n, double resource,
                   double *mean, double *sd)
{
    tri_gp_points mine = {.n = m->n,
                          .x = m->x,
                          .share = m->share,
                          .scaled = m->scaled,
                          .square = m->square};
    closer c;

    if (!closer_init(&c, m, x, n, resource)) {
        closer_fini(&c);
        tri_gp_predict(m, x, n, resource, mean, sd);
        return;
    }
    tri_gp_scale(&m->form, m->theta, &c.rows);
    tri_gp_cross(&m->form, m->theta, &c.rows, &mine, c.k, m->n);
    cblas_dgemv(CblasRowMajor, CblasNoTrans, n, m->n, 1, c.k, m->n, m->alpha, 1,
                0, mean, 1);
    choose_few(&c, m);
    {
        int ok = invert_few(&c, m);

        tri_gp_variances(&m->form, m->theta, &c.rows, c.own);
        if (ok) {
            explain(&c);
        }
    }
    for (int i = 0; i < n; i++) {
        mean[i] += m->mean;
        sd[i] = sqrt(fmax(c.own[i], 1e-12));
    }
    closer_fini(&c);
}

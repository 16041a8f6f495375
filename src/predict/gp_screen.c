/*
 * The Gaussian process over very many configurations, in single precision: the
 * mean exactly, and of the spread what some samples tell, which bounds it from
 * above: the one that tells most by itself, and the best together.
 */
#include "src/predict/gp.h"
#include "src/predict/lapack.h"

#include <cblas.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Rows at a time: a block of covariances stays in the cache. */
#define BLOCK 128
/* The best samples, near which a candidate is of interest. */
#define FEW 128

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) &&         \
        !defined(__SANITIZE_ADDRESS__)
#define CLONES                                                                 \
    __attribute__((                                                            \
            target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define CLONES
#endif

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
    int n, d;
    float *scaled, *square, *alpha;
    float *level;  /* a sample's variance with its noise, inverted */
    float *matern; /* factor of the Matern part, and */
    float *shift;  /* what is added, for the resource asked for */
    float *by;     /* a column's inverse length */
    float *z, *k;  /* a block's rows and products */
    int n_few;
    int few[FEW];  /* the best samples */
    float *factor; /* of their covariance with noise, FEW wide */
    float *v;      /* a block of their covariances */
    float variance;
} screen;

/* From products to covariances; the mean, and the largest share of the
 * variance that one sample explains. */
CLONES static void finish_row(const screen *s, float square,
                              float *restrict row, float *mean, float *most)
{
    const float *restrict other = s->square;
    const float *restrict matern = s->matern;
    const float *restrict shift = s->shift;
    const float *restrict alpha = s->alpha;
    const float *restrict level = s->level;
    int n = s->n;
    float sum = 0;
    float best = 0;

    for (int j = 0; j < n; j++) {
        float d = square + other[j] + row[j];
        float u = sqrtf(5.0f * (d > 0 ? d : 0));

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
    size_t n = (size_t)m->n;
    size_t d = (size_t)m->form.width;
    float *all =
            malloc((n * d + 5 * n + d + BLOCK * (d + n + FEW) + FEW * FEW + 1) *
                   sizeof *all);

    if (!all) {
        return 0;
    }
    s->n = m->n;
    s->d = m->form.width;
    s->scaled = all;
    s->square = s->scaled + n * d;
    s->alpha = s->square + n;
    s->level = s->alpha + n;
    s->matern = s->level + n;
    s->shift = s->matern + n;
    s->by = s->shift + n;
    s->z = s->by + d;
    s->k = s->z + BLOCK * d;
    s->v = s->k + BLOCK * n;
    s->factor = s->v + BLOCK * FEW;
    return 1;
}

static void screen_fill(screen *s, const tri_model *m, double resource)
{
    double f = part(m, TRI_GP_F);
    double r = part(m, TRI_GP_R);
    double b = part(m, TRI_GP_B);
    double noise = part(m, TRI_GP_N);
    double share = m->form.has_resource ? resource / m->top : 1;
    double decay = m->form.has_resource
                           ? exp(m->theta[tri_gp_at(&m->form, TRI_GP_DECAY)])
                           : 1;
    int has = m->form.has_resource;

    for (int a = 0; a < m->form.n_axes; a++) {
        const tri_axis *axis = tri_encoding_axis(m->form.encoding, a);

        for (int k = axis->first; k < axis->first + axis->width; k++) {
            s->by[k] = (float)exp(-m->theta[a]);
        }
    }
    for (int i = 0; i < m->n * s->d; i++) {
        s->scaled[i] = (float)m->scaled[i];
    }
    for (int j = 0; j < m->n; j++) {
        double along = has ? decay / (share + m->share[j] + decay) : 0;
        double own = has ? decay / (2 * m->share[j] + decay) : 0;

        s->square[j] = (float)m->square[j];
        s->alpha[j] = (float)m->alpha[j];
        s->level[j] = (float)(1 / (f + (r + b) * own + noise));
        s->matern[j] = (float)(f + r * along);
        s->shift[j] = (float)(b * along);
    }
    s->variance =
            (float)(f + (has ? (r + b) * decay / (2 * share + decay) : 0));
}

typedef struct ranked {
    double y;
    int at;
} ranked;

static int by_value(const void *a, const void *b)
{
    const ranked *p = a, *q = b;

    return p->y != q->y ? (p->y > q->y) - (p->y < q->y) : p->at - q->at;
}

/* The best samples, and the factor of what they know together; none where
 * there is no memory for it, or they say the same. */
static void choose_few(screen *s, const tri_model *m)
{
    int d = m->form.width;
    int few = m->n < FEW ? m->n : FEW;
    ranked *list = malloc((size_t)m->n * sizeof *list);
    double *all = malloc((size_t)few * (size_t)(2 * d + 2 + few) * sizeof *all);
    tri_gp_points p = {.n = few};
    double *x = all;
    double *share = all ? x + few * d : NULL;
    double *k = all ? share + few : NULL;

    s->n_few = 0;
    if (list && all) {
        p.x = x;
        p.share = share;
        p.scaled = k + few * few;
        p.square = p.scaled + few * d;
        for (int i = 0; i < m->n; i++) {
            list[i] = (ranked){m->y[i], i};
        }
        qsort(list, (size_t)m->n, sizeof *list, by_value);
        for (int i = 0; i < few; i++) {
            s->few[i] = list[i].at;
            memcpy(x + i * d, m->x + list[i].at * d, (size_t)d * sizeof *x);
            share[i] = m->share[list[i].at];
        }
        tri_gp_scale(&m->form, m->theta, &p);
        tri_gp_cross(&m->form, m->theta, &p, &p, k, few);
        for (int i = 0; i < few; i++) {
            k[i * few + i] += part(m, TRI_GP_N) + 1e-6;
        }
        if (tri_cholesky(k, few, few)) {
            s->n_few = few;
            for (int i = 0; i < few * few; i++) {
                s->factor[i / few * FEW + i % few] = (float)k[i];
            }
        }
    }
    free(list);
    free(all);
}

/* What the best together explain of the variance of each row of a block. */
static void explain(const screen *s, int n, float *most)
{
    for (int i = 0; i < n && s->n_few; i++) {
        const float *row = s->k + (size_t)i * (size_t)s->n;

        for (int j = 0; j < s->n_few; j++) {
            s->v[i * FEW + j] = row[s->few[j]];
        }
    }
    if (s->n_few) {
        cblas_strsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans,
                    CblasNonUnit, n, s->n_few, 1, s->factor, FEW, s->v, FEW);
    }
    for (int i = 0; i < n && s->n_few; i++) {
        const float *v = s->v + i * FEW;

        most[i] = fmaxf(most[i], cblas_sdot(s->n_few, v, 1, v, 1));
    }
}

static void screen_block(const screen *s, double centre, const float *x, int n,
                         float *mean, float *sd)
{
    float square[BLOCK];
    float most[BLOCK];

    for (int i = 0; i < n; i++) {
        square[i] = 0;
        for (int k = 0; k < s->d; k++) {
            float v = x[(size_t)i * (size_t)s->d + (size_t)k] * s->by[k];

            s->z[(size_t)i * (size_t)s->d + (size_t)k] = v;
            square[i] += v * v;
        }
    }
    if (s->d > 0) {
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, n, s->n, s->d, -2,
                    s->z, s->d, s->scaled, s->d, 0, s->k, s->n);
    } else {
        memset(s->k, 0, (size_t)n * (size_t)s->n * sizeof *s->k);
    }
    for (int i = 0; i < n; i++) {
        finish_row(s, square[i], s->k + (size_t)i * (size_t)s->n, &mean[i],
                   &most[i]);
        mean[i] += (float)centre;
    }
    explain(s, n, most);
    for (int i = 0; i < n; i++) {
        sd[i] = sqrtf(fmaxf(s->variance - most[i], 1e-12f));
    }
}

void tri_gp_screen(const tri_model *m, const float *x, int n, double resource,
                   float *mean, float *sd)
{
    screen s;

    if (!screen_init(&s, m)) {
        for (int i = 0; i < n; i++) {
            mean[i] = (float)m->mean;
            sd[i] = 1;
        }
        return;
    }
    screen_fill(&s, m, resource);
    choose_few(&s, m);
    for (int i = 0; i < n; i += BLOCK) {
        screen_block(&s, m->mean, x + (size_t)i * (size_t)s.d,
                     n - i < BLOCK ? n - i : BLOCK, mean + i, sd + i);
    }
    free(s.scaled);
}

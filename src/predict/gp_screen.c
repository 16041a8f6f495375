/*
 * The Gaussian process over very many configurations, in single precision: the
 * mean exactly, and of the spread what the nearest sample alone tells, which
 * bounds it from above.
 */
#include "src/predict/gp.h"

#include <cblas.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Rows at a time: a block of covariances stays in the cache. */
#define BLOCK 128

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
    float variance;
} screen;

/* From products to covariances; the mean, and the largest share of the
 * variance that one sample explains. */
CLONES static void finish_row(const screen *s, float square, float *row,
                              float *mean, float *most)
{
    float sum = 0;
    float best = 0;

    for (int j = 0; j < s->n; j++) {
        float d = square + s->square[j] + row[j];
        float u = sqrtf(5.0f * (d > 0 ? d : 0));
        float k =
                s->matern[j] * (1.0f + u + u * u * (1.0f / 3)) * exp_minus(u) +
                s->shift[j];
        float share = k * k * s->level[j];

        sum += k * s->alpha[j];
        best = share > best ? share : best;
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
            malloc((n * d + 5 * n + d + BLOCK * (d + n) + 1) * sizeof *all);

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

static void screen_block(const screen *s, double centre, const float *x, int n,
                         float *mean, float *sd)
{
    float square[BLOCK];

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
        float most;

        finish_row(s, square[i], s->k + (size_t)i * (size_t)s->n, &mean[i],
                   &most);
        mean[i] += (float)centre;
        sd[i] = sqrtf(fmaxf(s->variance - most, 1e-12f));
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
    for (int i = 0; i < n; i += BLOCK) {
        screen_block(&s, m->mean, x + (size_t)i * (size_t)s.d,
                     n - i < BLOCK ? n - i : BLOCK, mean + i, sd + i);
    }
    free(s.scaled);
}

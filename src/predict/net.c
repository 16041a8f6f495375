/*
 * One network: two hidden layers, and a score without a unit.
 *
 * The activation is x / sqrt(1 + x^2): a sigmoid that needs no exponential.
 * The ranking loss is the mean over pairs of max(0, m - (s_j - s_i)) where i is
 * the better: the margin m is the pair's own difference in value, up to
 * MARGIN, so that near pairs are not torn apart.  Adam (Kingma and Ba, 2015)
 * with decoupled weight decay, a rate that falls to zero, and a number of
 * steps that depends on the number of rows alone.
 */
#include "src/predict/clones.h"
#include "src/predict/mlp.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define H     TRI_NET_H
#define BATCH 48
/* Steps: so many, one more a row up to so many, and one more in ten. */
#define STEPS      60
#define STEPS_ROWS 300
#define STEPS_MOST 1000
#define RATE       0.02f
/* Of the parameters' decay, over the root of the number of rows: what is not
 * needed goes, the sooner the fewer rows ask for it. */
#define DECAY      16.0f
#define DECAY_MOST 1.0f
#define MARGIN     1.0f
/* Times that the rows left out are asked, how many, and the fewest that
 * count. */
#define CHECKS      20
#define CHECK_MOST  256
#define CHECK_LEAST 8

typedef struct net { /* a view of parameters, or of their gradients */
    float *w1, *b1, *w2, *b2, *w3; /* d x H, H, H x H, H, H */
} net;

static net view(float *p, int d)
{
    net v = {.w1 = p};

    v.b1 = v.w1 + (size_t)d * H;
    v.w2 = v.b1 + H;
    v.b2 = v.w2 + (size_t)H * H;
    v.w3 = v.b2 + H;
    return v;
}

typedef struct trainer {
    const tri_net_data *data;
    tri_net_loss loss;
    int n_rows, *row; /* that are learned from, shuffled */
    int next;         /* of them */
    int n_left;       /* rows that are left out and asked */
    float *x_left, *y_left;
    float *p, *g, *first, *second; /* parameters, gradient, its moments */
    float *x, *y;                  /* a batch: BATCH x d */
    float *h, *dh;                 /* CHECK_MOST, BATCH x 2 H */
    float *s, *ds;                 /* scores */
    tri_rng rng;
} trainer;

/* ---- forward ------------------------------------------------------------ */

/* h = f(h + bias) */
TRI_CLONES static void activate(float *restrict h, const float *restrict bias,
                                int n)
{
    for (int i = 0; i < n; i++) {
        float *restrict row = h + (size_t)i * H;

        for (int j = 0; j < H; j++) {
            float a = row[j] + bias[j];

            row[j] = a / sqrtf(1.0f + a * a);
        }
    }
}

/* c[n][m] = a[n][k] b[k][m]; nothing has k = 0 columns in OpenBLAS's eyes. */
static void multiply(int n, int m, int k, const float *a, const float *b,
                     float *c)
{
    if (k == 0) {
        memset(c, 0, (size_t)n * (size_t)m * sizeof *c);
        return;
    }
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, m, k, 1, a, k, b,
                m, 0, c, m);
}

void tri_net_scores(const float *p, int d, const float *x, int n, float *hidden,
                    float *score)
{
    net v = view((float *)(uintptr_t)p, d); /* only read */
    float *h1 = hidden;
    float *h2 = hidden + (size_t)n * H;

    multiply(n, H, d, x, v.w1, h1);
    activate(h1, v.b1, n);
    multiply(n, H, H, h1, v.w2, h2);
    activate(h2, v.b2, n);
    cblas_sgemv(CblasRowMajor, CblasNoTrans, n, H, 1, h2, H, v.w3, 1, 0, score,
                1);
}

/* ---- losses ------------------------------------------------------------- */

static float clip(float v)
{
    v = v < MARGIN ? v : MARGIN;
    return v > -MARGIN ? v : -MARGIN;
}

/* Mean over pairs; [out] ds (may be NULL): its gradient. */
static float rank_loss(const float *s, const float *y, int n, float *ds)
{
    float scale = 1.0f / ((float)n * (float)(n > 1 ? n - 1 : 1));
    float loss = 0;

    for (int i = 0; i < n; i++) {
        float g = 0;
        float sum = 0;

        for (int j = 0; j < n; j++) {
            float want = clip(y[j] - y[i]);
            float lack = want - (s[j] - s[i]);
            float up = want > 0 && lack > 0 ? 1.0f : 0.0f;
            float down = want < 0 && lack < 0 ? 1.0f : 0.0f;

            g += up - down;
            sum += (up - down) * lack;
        }
        loss += scale * sum;
        if (ds) {
            ds[i] = 2 * scale * g;
        }
    }
    return loss;
}

static float square_loss(const float *s, const float *y, int n, float *ds)
{
    float loss = 0;

    for (int i = 0; i < n; i++) {
        float d = s[i] - y[i];

        loss += d * d / (float)n;
        if (ds) {
            ds[i] = 2 * d / (float)n;
        }
    }
    return loss;
}

static float loss_of(const trainer *t, const float *y, int n, float *ds)
{
    return t->loss == TRI_NET_RANK ? rank_loss(t->s, y, n, ds)
                                   : square_loss(t->s, y, n, ds);
}

/* ---- backward ----------------------------------------------------------- */

/* dh *= f'(a), by h = f(a); the sum of each column is the bias's gradient. */
static void deactivate(float *restrict dh, const float *restrict h, int n,
                       float *restrict bias)
{
    memset(bias, 0, H * sizeof *bias);
    for (int i = 0; i < n; i++) {
        float *restrict row = dh + (size_t)i * H;
        const float *restrict at = h + (size_t)i * H;

        for (int j = 0; j < H; j++) {
            float u = 1.0f - at[j] * at[j];

            u = u > 0.0f ? u : 0.0f;
            row[j] *= u * sqrtf(u);
            bias[j] += row[j];
        }
    }
}

/* The gradient of the loss of a batch of n whose ds is known. */
static void backward(trainer *t, int n)
{
    int d = t->data->d;
    net v = view(t->p, d);
    net g = view(t->g, d);
    float *h1 = t->h;
    float *h2 = t->h + (size_t)n * H;
    float *d1 = t->dh;
    float *d2 = t->dh + (size_t)n * H;

    cblas_sgemv(CblasRowMajor, CblasTrans, n, H, 1, h2, H, t->ds, 1, 0, g.w3,
                1);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < H; j++) {
            d2[(size_t)i * H + (size_t)j] = t->ds[i] * v.w3[j];
        }
    }
    deactivate(d2, h2, n, g.b2);
    cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, H, H, n, 1, h1, H, d2,
                H, 0, g.w2, H);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, n, H, H, 1, d2, H,
                v.w2, H, 0, d1, H);
    deactivate(d1, h1, n, g.b1);
    if (d > 0) {
        cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, d, H, n, 1, t->x,
                    d, d1, H, 0, g.w1, H);
    }
}

static void adam(trainer *t, int step, int steps)
{
    size_t n = tri_net_size(t->data->d);
    float rate = RATE * (1.0f - (float)step / (float)steps);
    float decay = fminf(DECAY / sqrtf((float)t->n_rows), DECAY_MOST);
    float fix1 = 1.0f / (1.0f - powf(0.9f, (float)(step + 1)));
    float fix2 = 1.0f / (1.0f - powf(0.999f, (float)(step + 1)));
    float *restrict p = t->p;
    float *restrict m = t->first;
    float *restrict v = t->second;
    const float *restrict g = t->g;

    for (size_t i = 0; i < n; i++) {
        m[i] = 0.9f * m[i] + 0.1f * g[i];
        v[i] = 0.999f * v[i] + 0.001f * g[i] * g[i];
        p[i] -= rate *
                (fix1 * m[i] / (sqrtf(fix2 * v[i]) + 1e-8f) + decay * p[i]);
    }
}

/* ---- training ----------------------------------------------------------- */

static void init(trainer *t, uint64_t seed, uint64_t member)
{
    int d = t->data->d;
    net v = view(t->p, d);
    tri_rng rng = tri_rng_stream(seed, member, TRI_RNG_INIT);
    float inward = 1.0f / sqrtf((float)(d > 0 ? d : 1));
    float across = 1.0f / sqrtf((float)H);

    memset(t->p, 0, tri_net_size(d) * sizeof *t->p);
    for (int i = 0; i < d * H; i++) {
        v.w1[i] = inward * (float)tri_rng_normal(&rng);
    }
    for (int i = 0; i < H; i++) { /* kinks at different places */
        v.b1[i] = (float)tri_rng_normal(&rng);
    }
    for (int i = 0; i < H * H; i++) {
        v.w2[i] = across * (float)tri_rng_normal(&rng);
    }
    for (int i = 0; i < H; i++) {
        v.w3[i] = across * (float)tri_rng_normal(&rng);
    }
}

static void shuffle(trainer *t)
{
    for (int i = t->n_rows - 1; i > 0; i--) {
        int j = (int)tri_rng_below(&t->rng, (uint64_t)i + 1);
        int swap = t->row[i];

        t->row[i] = t->row[j];
        t->row[j] = swap;
    }
    t->next = 0;
}

/* The next few rows; their number. */
static int take_batch(trainer *t)
{
    int n = t->n_rows < BATCH ? t->n_rows : BATCH;
    size_t d = (size_t)t->data->d;

    if (t->next + n > t->n_rows) {
        shuffle(t);
    }
    for (int i = 0; i < n; i++) {
        int r = t->row[t->next + i];

        memcpy(t->x + (size_t)i * d, t->data->x + (size_t)r * d,
               d * sizeof *t->x);
        t->y[i] = t->data->y[r];
    }
    t->next += n;
    return n;
}

/* Learn; [out] best: the parameters to keep. */
static void run(trainer *t, float *best)
{
    size_t bytes = tri_net_size(t->data->d) * sizeof *best;
    int steps = STEPS + t->n_rows / 10;
    float least = INFINITY;

    steps += t->n_rows < STEPS_ROWS ? t->n_rows : STEPS_ROWS;
    steps = steps < STEPS_MOST ? steps : STEPS_MOST;
    shuffle(t);
    for (int step = 0; step < steps && !tri_is_cancelled(t->data->cancel);
         step++) {
        int n = take_batch(t);

        tri_net_scores(t->p, t->data->d, t->x, n, t->h, t->s);
        loss_of(t, t->y, n, t->ds);
        backward(t, n);
        adam(t, step, steps);
        if (t->n_left >= CHECK_LEAST &&
            (step + 1) * CHECKS / steps > step * CHECKS / steps) {
            float loss;

            tri_net_scores(t->p, t->data->d, t->x_left, t->n_left, t->h, t->s);
            loss = loss_of(t, t->y_left, t->n_left, NULL);
            if (loss < least) {
                least = loss;
                memcpy(best, t->p, bytes);
            }
        }
    }
    if (!(least < INFINITY)) {
        memcpy(best, t->p, bytes);
    }
}

/* Which rows are learned from and which are asked. */
static void divide(trainer *t, const int *fold, int left_out)
{
    size_t d = (size_t)t->data->d;

    for (int i = 0; i < t->data->n; i++) {
        if (fold[i] != left_out) {
            t->row[t->n_rows++] = i;
        } else if (t->n_left < CHECK_MOST) {
            memcpy(t->x_left + (size_t)t->n_left * d,
                   t->data->x + (size_t)i * d, d * sizeof *t->x_left);
            t->y_left[t->n_left++] = t->data->y[i];
        }
    }
}

tri_status tri_net_train(const tri_net_data *data, const int *fold,
                         int left_out, tri_net_loss loss, uint64_t seed,
                         uint64_t member, float *p)
{
    trainer t = {.data = data, .loss = loss};
    size_t d = (size_t)data->d;
    size_t size = tri_net_size(data->d);
    size_t rows = CHECK_MOST + BATCH;
    float *all = calloc(4 * size + rows * (d + 1) + 4 * (size_t)rows * H +
                                2 * (size_t)rows,
                        sizeof *all);
    int *row = malloc((size_t)data->n * sizeof *row);

    if (!all || !row) {
        free(all);
        free(row);
        return TRI_FAIL(TRI_ENOMEM, "no memory for a network");
    }
    t.row = row;
    t.p = all;
    t.g = t.p + size;
    t.first = t.g + size;
    t.second = t.first + size;
    t.x = t.second + size;
    t.x_left = t.x + BATCH * d;
    t.y = t.x_left + CHECK_MOST * d;
    t.y_left = t.y + BATCH;
    t.h = t.y_left + CHECK_MOST;
    t.dh = t.h + 2 * rows * H;
    t.s = t.dh + 2 * rows * H;
    t.ds = t.s + rows;
    t.rng = tri_rng_stream(seed, member, TRI_RNG_DATA);
    divide(&t, fold, left_out);
    init(&t, seed, member);
    run(&t, p);
    free(all);
    free(row);
    return TRI_OK;
}

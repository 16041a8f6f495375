/*
 * Members as one belief.
 */
#include "src/predict/members.h"

#include <math.h>

/* A member's disagreements are few: so many more of the mean size. */
#define SHRINK 3
/* Of the values' own deviation: what no predicted one is below. */
#define LEAST_SD 0.01

/* Of members' disagreement about one row: the variance of the prediction. */
static double variance_of(const tri_members *m, double square)
{
    double between =
            (square + SHRINK * m->between) / (TRI_MEMBERS - 1 + SHRINK);

    return m->flat ? m->error : m->error * between / m->between;
}

void tri_members_agree(const tri_members *m, tri_members_block *b)
{
    for (int i = 0; i < b->n; i++) {
        double mean = 0;
        double square = 0;

        for (int k = 0; k < TRI_MEMBERS; k++) {
            mean += b->member[k][i] / TRI_MEMBERS;
        }
        for (int k = 0; k < TRI_MEMBERS; k++) {
            square += (b->member[k][i] - mean) * (b->member[k][i] - mean);
        }
        b->mean[i] = mean;
        b->variance[i] = variance_of(m, square);
    }
}

void tri_members_leave(tri_members_block *b, int i, double left)
{
    b->variance[i] = b->variance[i] * left + LEAST_SD * LEAST_SD;
}

/* ---- draws -------------------------------------------------------------- */

void tri_members_draw_init(tri_members_draw *d, const tri_members *m,
                           uint64_t seed)
{
    d->m = m;
    d->rng = tri_rng_stream(seed, 0, TRI_RNG_EXPLORE);
    for (int k = 0; k < TRI_MEMBERS; k++) {
        d->z[k] = tri_rng_normal(&d->rng);
    }
}

/* The mean, members' deviations from it, and what their mean disagreement adds,
 * of each row by itself. */
void tri_members_draw_block(tri_members_draw *d, const tri_members_block *b,
                            double *out)
{
    const tri_members *m = d->m;
    double many = TRI_MEMBERS - 1 + SHRINK;
    double larger = sqrt(m->error / m->between / many);
    double apart = sqrt(variance_of(m, 0));

    for (int i = 0; i < b->n; i++) {
        double v = b->mean[i] + apart * tri_rng_normal(&d->rng);

        for (int k = 0; k < TRI_MEMBERS; k++) {
            v += larger * d->z[k] * (b->member[k][i] - b->mean[i]);
        }
        out[i] = m->mean + m->scale * v;
    }
}

/* ---- pending runs ------------------------------------------------------- */

void tri_members_truncate(tri_members *m, int n)
{
    if (n < m->n + m->n_pending) {
        m->n_pending = n > m->n ? n - m->n : 0;
    }
}

int tri_members_size(const tri_members *m)
{
    return m->n + m->n_pending;
}

/*
 * Bounds of what all candidates are worth, in single precision.
 */
#include "src/propose/acquire_internal.h"

#include <math.h>
#include <stdlib.h>

/* In a pool of so many the chance to run is screened as well: else what is best
 * but for that it fails hides the best of what runs. */
#define CHANCES_MOST 32768
/* Screened between two looks at whether to end. */
#define CHUNK          65536
#define SLACK_OF_COSTS 0.01F /* for what rounding takes from such numbers */

/* log EI(z) by tangents, which are above as it is concave: its values and
 * slopes at steps from LEAST on. */
#define TANGENTS 1281
#define LEAST    (-30.0f)
#define STEP     (1.0f / 32)
/* What single precision may take from a bound. */
#define SLACK 2e-4f

typedef struct tangents {
    float at[TANGENTS], slope[TANGENTS];
} tangents;

static void draw_tangents(tangents *t)
{
    for (int i = 0; i < TANGENTS; i++) {
        double z = (double)LEAST + (double)STEP * i;
        double h = 1e-3;
        /* by differences a secant, lifted by what the curve bends */
        double up = tri_log_ei(z + h);
        double down = tri_log_ei(z - h);

        t->slope[i] = (float)((up - down) / (2 * h));
        t->at[i] = (float)(tri_log_ei(z) + 1e-5);
    }
}

/* Not less than what a candidate is worth whose mean is at least `mean` and
 * deviation at most `sd`. */
static float worth_most(const tri_acq_job *j, const tangents *t, float mean,
                        float sd)
{
    float s = sd > (float)TRI_ACQ_LEAST_SD ? sd : (float)TRI_ACQ_LEAST_SD;
    float z, at;
    int i;

    if (j->how == TRI_ACQ_UCB) {
        return (float)TRI_ACQ_UCB_BETA * s - mean +
               SLACK * (1 + fabsf(mean) + s);
    }
    z = ((float)j->known - mean) / s;
    z += SLACK * (1 + fabsf(z)) * 1e-2f;
    at = (z - LEAST) / STEP;
    i = at < 0 ? 0 : at < TANGENTS - 1 ? (int)(at + 0.5f) : TANGENTS - 1;
    return logf(s) + t->at[i] + t->slope[i] * (z - (LEAST + STEP * (float)i)) +
           SLACK * (1 + fabsf(z) * 1e-2f);
}

/* Lower the bounds of rows [from, from + n) by what their chance to run is at
 * most. */
static void lower_by_chance(tri_acq_job *j, int64_t from, int n)
{
    float p[TRI_ACQ_BATCH];
    const float *x = j->pool->x + (size_t)from * (size_t)j->pool->width;

    for (int i = 0; i < n; i += TRI_ACQ_BATCH) {
        int many = n - i < TRI_ACQ_BATCH ? n - i : TRI_ACQ_BATCH;

        tri_feasibility_screen(j->m->feasible,
                               x + (size_t)i * (size_t)j->pool->width, many, p);
        for (int k = 0; k < many; k++) {
            j->bound[from + i + k] +=
                    (float)tri_acq_chance(j, (double)p[k]) + SLACK_OF_COSTS;
        }
    }
}

/* Bounds of rows [from, from + n); without a fast way what they are worth. */
static tri_status screen_some(tri_acq_job *j, const tangents *t, int64_t from,
                              int n, float *mean)
{
    const tri_pool *p = j->pool;

    if (j->m->ops->screen) {
        j->m->ops->screen(j->m->model, p->x + (size_t)from * (size_t)p->width,
                          n, j->m->resource, mean, j->sd + from);
    }
    for (int i = 0; !j->m->ops->screen && i < n; i += TRI_ACQ_BATCH) {
        int many = n - i < TRI_ACQ_BATCH ? n - i : TRI_ACQ_BATCH;

        for (int k = 0; k < many; k++) {
            tri_pool_row(p, from + i + k, j->x + (size_t)k * (size_t)p->width);
        }
        j->m->ops->predict(j->m->model, j->x, many, j->m->resource, j->mu,
                           j->s);
        for (int k = 0; k < many; k++) {
            mean[i + k] = (float)j->mu[k];
            j->sd[from + i + k] = (float)j->s[k];
        }
    }
    for (int i = 0; i < n; i++) {
        j->bound[from + i] =
                p->taken[from + i] ? -INFINITY
                                   : worth_most(j, t, mean[i], j->sd[from + i]);
    }
    if (j->m->feasible && p->n <= CHANCES_MOST) {
        lower_by_chance(j, from, n);
    }
    return TRI_OK;
}

/* Once cancelled, what was not screened is as if it were taken. */
tri_status tri_acq_screen(tri_acq_job *j)
{
    int64_t n = j->pool->n;
    float *mean = malloc(CHUNK * sizeof *mean);
    tangents *t = malloc(sizeof *t);
    tri_status st = TRI_OK;

    if (!mean || !t) {
        st = TRI_FAIL(TRI_ENOMEM, "no memory to look at candidates");
    } else {
        draw_tangents(t);
    }
    for (int64_t i = 0; st == TRI_OK && i < n; i += CHUNK) {
        int many = n - i < CHUNK ? (int)(n - i) : CHUNK;

        if (tri_is_cancelled(j->cancel)) {
            many = (int)(n - i < CHUNK ? n - i : CHUNK);
            for (int k = 0; k < many; k++) {
                j->bound[i + k] = -INFINITY;
            }
        } else {
            st = screen_some(j, t, i, many, mean);
        }
    }
    free(mean);
    free(t);
    return st;
}

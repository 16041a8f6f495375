/*
 * Thompson: joint draws of the model over the best by expected improvement.
 */
#include "src/propose/acquire_internal.h"

#include <stdlib.h>

/* A joint draw is over the best so many. */
#define THOMPSON_MOST 512

/* The best by expected improvement, of whom draws are compared. */
tri_status tri_acq_draw(tri_acq_job *j, int wanted, uint64_t seed,
                        tri_choice *out, int *n)
{
    tri_choice *few = malloc(THOMPSON_MOST * sizeof *few);
    size_t w = (size_t)j->pool->width;
    double *x = malloc(THOMPSON_MOST * (w + 1) * sizeof *x);
    double *value = x ? x + THOMPSON_MOST * w : NULL;
    int size = j->m->ops->size(j->m->model);
    int m = 0;
    tri_status st =
            few && x ? TRI_OK : TRI_FAIL(TRI_ENOMEM, "no memory for a draw");

    while (st == TRI_OK && m < THOMPSON_MOST && j->n > 0 &&
           !tri_is_cancelled(j->cancel)) {
        tri_acq_entry e;

        st = tri_acq_look_for_best(j);
        if (st != TRI_OK) {
            break;
        }
        e = tri_acq_pop(j);
        j->best_version = -1; /* as when one is settled */
        few[m] = (tri_choice){.at = e.at,
                              .p = j->looks[e.look].p,
                              .bytes = j->looks[e.look].bytes};
        tri_acq_fill(j);
        tri_pool_row(j->pool, e.at, x + (size_t)m * w);
        m++;
    }
    for (int k = 0;
         st == TRI_OK && k < wanted && k < m && !tri_is_cancelled(j->cancel);
         k++) {
        int best = -1;

        st = j->m->ops->draw(j->m->model, x, m, j->m->resource,
                             seed + (uint64_t)k, value);
        for (int i = 0; st == TRI_OK && i < m; i++) {
            value[i] -= tri_acq_chance(j, few[i].p);
            if (!j->pool->taken[few[i].at] &&
                (best < 0 || value[i] < value[best])) {
                best = i;
            }
        }
        if (best >= 0) {
            out[*n] = few[best];
            j->m->ops->predict(j->m->model, x + (size_t)best * w, 1,
                               j->m->resource, &out[*n].mean, &out[*n].sd);
            j->pool->taken[few[best].at] = 1;
            ++*n;
        }
    }
    if (j->m->ops->truncate) {
        j->m->ops->truncate(j->m->model, size);
    }
    free(few);
    free(x);
    return st;
}

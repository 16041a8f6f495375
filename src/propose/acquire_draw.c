/*
 * Thompson: joint draws of the model over the best by expected improvement.
 */
#include "src/propose/acquire_internal.h"

#include <stdlib.h>

/* A joint draw is over the best so many. */
#define FEW_MOST 512

typedef struct few { /* the best by expected improvement */
    int n;
    tri_choice *of; /* FEW_MOST */
    double *x;      /* n x width */
    double *value;  /* draws: many x n */
} few;

static void few_fini(few *f)
{
    free(f->of);
    free(f->x);
    free(f->value);
}

static tri_status few_init(few *f, const tri_acq_job *j, int many)
{
    size_t w = (size_t)j->pool->width;

    f->n = 0;
    f->of = malloc(FEW_MOST * sizeof *f->of);
    f->x = malloc(FEW_MOST * (w + 1) * sizeof *f->x);
    f->value = calloc(FEW_MOST * ((size_t)many + 1), sizeof *f->value);
    if (!f->of || !f->x || !f->value) {
        few_fini(f);
        return TRI_FAIL(TRI_ENOMEM, "no memory for a draw");
    }
    return TRI_OK;
}

static tri_status gather(tri_acq_job *j, few *f)
{
    while (f->n < FEW_MOST && j->n > 0 && !tri_is_cancelled(j->cancel)) {
        tri_acq_entry e;

        TRI_TRY(tri_acq_look_for_best(j));
        e = tri_acq_pop(j);
        j->best_version = -1; /* as when one is settled */
        f->of[f->n] = (tri_choice){.at = e.at,
                                   .p = j->looks[e.look].p,
                                   .bytes = j->looks[e.look].bytes};
        tri_acq_fill(j);
        tri_pool_row(j->pool, e.at,
                     f->x + (size_t)f->n * (size_t)j->pool->width);
        f->n++;
    }
    return TRI_OK;
}

static tri_status draw(const tri_acq_job *j, few *f, int many, uint64_t seed)
{
    const tri_predictor_ops *ops = j->m->ops;

    if (ops->draws) {
        return ops->draws(j->m->model, f->x, f->n, j->m->resource, seed, many,
                          f->value);
    }
    for (int k = 0; k < many && !tri_is_cancelled(j->cancel); k++) {
        TRI_TRY(ops->draw(j->m->model, f->x, f->n, j->m->resource,
                          seed + (uint64_t)k,
                          f->value + (size_t)k * (size_t)f->n));
    }
    return TRI_OK;
}

/* The best by one draw of those that no draw before has taken; -1. */
static int best_by(const tri_acq_job *j, const few *f, const double *value)
{
    double least = 0;
    int best = -1;

    for (int i = 0; i < f->n; i++) {
        double v = value[i] - tri_acq_chance(j, f->of[i].p);

        if (!j->pool->taken[f->of[i].at] && (best < 0 || v < least)) {
            best = i;
            least = v;
        }
    }
    return best;
}

static void take(tri_acq_job *j, const few *f, int many, tri_choice *out,
                 int *n)
{
    for (int k = 0; k < many; k++) {
        int i = best_by(j, f, f->value + (size_t)k * (size_t)f->n);

        if (i < 0) {
            return;
        }
        out[*n] = f->of[i];
        j->m->ops->predict(j->m->model,
                           f->x + (size_t)i * (size_t)j->pool->width, 1,
                           j->m->resource, &out[*n].mean, &out[*n].sd);
        j->pool->taken[f->of[i].at] = 1;
        ++*n;
    }
}

tri_status tri_acq_draw(tri_acq_job *j, int wanted, uint64_t seed,
                        tri_choice *out, int *n)
{
    few f;
    tri_status st;
    int many;

    TRI_TRY(few_init(&f, j, wanted));
    st = gather(j, &f);
    many = wanted < f.n ? wanted : f.n;
    if (st == TRI_OK && many > 0) {
        st = draw(j, &f, many, seed);
    }
    if (st == TRI_OK && many > 0 && !tri_is_cancelled(j->cancel)) {
        take(j, &f, many, out, n);
    }
    few_fini(&f);
    return st;
}

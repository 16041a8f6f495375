/*
 * The best of the pool by a model.
 *
 * A heap holds candidates by an upper bound of their score
 * (acquire_internal.h). Believing in a choice leaves all means as they are,
 * makes no deviation larger and the best no worse, and no probability to run
 * exceeds one: a score computed at any time bounds all later ones.  So the top
 * of the heap whose score is up to date is the best of all.
 *
 * The work for one choice is bounded all the same.  A score in double precision
 * costs a Gaussian process of n samples about n^2 steps: WORK of them are
 * spent, on ROWS_LEAST scores at least, and then the best of those looked at is
 * taken.  Up to a hundred samples that is more than what is drawn of a space
 * that cannot be enumerated, so that the best is found whatever the bounds are
 * worth; beyond that it is where the bounds leave no more to look at.
 */
#include "src/propose/acquire_internal.h"

#include <math.h>
#include <stdlib.h>

/* Candidates whose scores are brought up to date together: first few, then
 * more. */
#define BATCH_LEAST 16
#define WORK        1e8
#define ROWS_LEAST  112
#define ROWS_MOST   16384
/* How often TRI_ACQ_MEANS are asked for one choice: single precision may have
 * taken much from it. */
#define MEANS_TIMES 2

/* ---- exact scores ------------------------------------------------------- */

static void rows_of(tri_acq_job *j, const tri_acq_entry *e, int n)
{
    for (int k = 0; k < n; k++) {
        tri_pool_row(j->pool, e[k].at,
                     j->x + (size_t)k * (size_t)j->pool->width);
    }
}

static tri_status reserve_looks(tri_acq_job *j, int n)
{
    if (j->n_looks + n > j->room) {
        int room = 2 * j->room + TRI_ACQ_BATCH;
        tri_acq_look *grown = realloc(j->looks, (size_t)room * sizeof *grown);

        if (!grown) {
            return TRI_FAIL(TRI_ENOMEM, "no memory to look at candidates");
        }
        j->looks = grown;
        j->room = room;
    }
    return TRI_OK;
}

/* The chance to run of a batch, of whom it is not known. */
static tri_status ask_chances(tri_acq_job *j, tri_acq_entry *e, int n)
{
    double p[TRI_ACQ_BATCH], bytes[TRI_ACQ_BATCH];
    int is_new = 0;

    for (int k = 0; k < n; k++) {
        is_new |= e[k].look < 0;
    }
    if (!is_new) {
        return TRI_OK;
    }
    TRI_TRY(reserve_looks(j, n));
    if (j->m->feasible) {
        tri_feasibility_predict(j->m->feasible, j->x, n, p, bytes);
    }
    for (int k = 0; k < n; k++) {
        if (e[k].look < 0) {
            e[k].look = j->n_looks++;
            j->looks[e[k].look] = j->m->feasible
                                          ? (tri_acq_look){p[k], bytes[k]}
                                          : (tri_acq_look){1, NAN};
        }
    }
    return TRI_OK;
}

/* The means of the best that were only screened. */
static void centre(tri_acq_job *j)
{
    tri_acq_entry batch[TRI_ACQ_MEANS];
    int n = 0;

    while (n < TRI_ACQ_MEANS && j->n > 0) {
        batch[n++] = tri_acq_pop(j);
    }
    rows_of(j, batch, n);
    j->m->ops->predict(j->m->model, j->x, n, j->m->resource, j->mu, NULL);
    for (int k = 0; k < n; k++) {
        if (batch[k].version == TRI_ACQ_SCREENED) {
            double sd = (double)j->sd[batch[k].at] * (1 + 1e-6);

            batch[k].bound =
                    fmin(batch[k].bound, tri_acq_worth(j, j->mu[k], sd));
            batch[k].version = TRI_ACQ_CENTRED;
        }
        tri_acq_push(j, batch[k]);
    }
}

/* Bring the best `most` of the heap up to date, at most TRI_ACQ_BATCH. */
static tri_status refine(tri_acq_job *j, int most)
{
    tri_acq_entry batch[TRI_ACQ_BATCH];
    int n = 0;

    while (n < most && j->n > 0) {
        batch[n++] = tri_acq_pop(j);
    }
    rows_of(j, batch, n);
    j->m->ops->predict(j->m->model, j->x, n, j->m->resource, j->mu, j->s);
    TRI_TRY(ask_chances(j, batch, n));
    for (int k = 0; k < n; k++) {
        batch[k].bound = tri_acq_worth(j, j->mu[k], j->s[k]) +
                         tri_acq_chance(j, j->looks[batch[k].look].p);
        batch[k].version = j->version;
        tri_acq_push(j, batch[k]);
        if (j->best_version != j->version || batch[k].bound > j->best) {
            j->best = batch[k].bound;
            j->best_at = batch[k].at;
            j->best_version = j->version;
        }
    }
    return TRI_OK;
}

/* Take the top of the heap as chosen, and believe in it. */
static tri_status settle(tri_acq_job *j, tri_choice *out)
{
    tri_acq_entry e = tri_acq_pop(j);

    rows_of(j, &e, 1);
    j->m->ops->predict(j->m->model, j->x, 1, j->m->resource, j->mu, j->s);
    *out = (tri_choice){.at = e.at,
                        .mean = j->mu[0],
                        .sd = j->s[0],
                        .p = j->looks[e.look].p,
                        .bytes = j->looks[e.look].bytes};
    j->pool->taken[e.at] = 1;
    j->best_version = -1; /* it is not in the heap any more */
    j->known = fmin(j->known, j->mu[0]);
    if (j->m->ops->add) {
        TRI_TRY(j->m->ops->add(j->m->model, j->x, j->mu[0], j->m->resource));
        j->version++;
    }
    return TRI_OK;
}

/* Lift the best whose score is up to date to the top. */
static void lift_best(tri_acq_job *j)
{
    for (int64_t i = 0; i < j->n; i++) {
        if (j->heap[i].at == j->best_at) {
            j->heap[i].bound = nextafter(j->heap[0].bound, INFINITY);
            tri_acq_lift(j, i);
            return;
        }
    }
}

/* Scores for one choice. */
static int rows_most(const tri_acq_job *j)
{
    double size = j->m->ops->size(j->m->model);
    double rows = WORK / (1 + size * size);

    return (int)fmax(ROWS_LEAST, fmin(rows, ROWS_MOST));
}

/* Look until the top is up to date: the best, or the best of many. */
tri_status tri_acq_look_for_best(tri_acq_job *j)
{
    int most = BATCH_LEAST;
    int left = rows_most(j);
    int centres = j->m->ops->screen ? 0 : MEANS_TIMES;

    while (j->n > 0 && j->heap[0].version != j->version) {
        if (j->heap[0].version == TRI_ACQ_SCREENED && centres < MEANS_TIMES) {
            centre(j);
            centres++;
        } else if (left <= 0 && j->best_version == j->version) {
            lift_best(j);
        } else {
            TRI_TRY(refine(j, most));
            left -= most;
            most = 2 * most < TRI_ACQ_BATCH ? 2 * most : TRI_ACQ_BATCH;
        }
        tri_acq_fill(j);
    }
    return TRI_OK;
}

static tri_status choose(tri_acq_job *j, int wanted, tri_choice *out, int *n)
{
    while (*n < wanted && j->n > 0 && !tri_is_cancelled(j->cancel)) {
        TRI_TRY(tri_acq_look_for_best(j));
        TRI_TRY(settle(j, &out[*n]));
        ++*n;
        tri_acq_fill(j);
    }
    return TRI_OK;
}

/* ---- the whole ---- */

static tri_status job_init(tri_acq_job *j)
{
    size_t n = (size_t)j->pool->n + 1;
    size_t w = (size_t)j->pool->width;

    j->heap = malloc(n * sizeof *j->heap);
    j->bound = calloc(2 * n, sizeof *j->bound);
    j->x = malloc((TRI_ACQ_MEANS * (w + 2) + 1) * sizeof *j->x);
    if (!j->heap || !j->bound || !j->x) {
        return TRI_FAIL(TRI_ENOMEM, "no memory to choose from %lld candidates",
                        (long long)j->pool->n);
    }
    j->sd = j->bound + n;
    j->mu = j->x + TRI_ACQ_MEANS * w;
    j->s = j->mu + TRI_ACQ_MEANS;
    j->floor = INFINITY;
    TRI_TRY(tri_acq_screen(j));
    tri_acq_fill(j);
    return TRI_OK;
}

static void job_fini(tri_acq_job *j)
{
    free(j->heap);
    free(j->bound);
    free(j->x);
    free(j->looks);
}

tri_status tri_acquire(tri_pool *p, const tri_belief_model *m,
                       tri_acquisition how, int wanted, uint64_t seed,
                       const tri_cancel *cancel, tri_choice *out, int *n)
{
    tri_acq_job j = {.pool = p,
                     .m = m,
                     .known = m->best,
                     .how = how,
                     .cancel = cancel,
                     .best_version = -1};
    int size = m->ops->size(m->model);
    tri_status st;

    *n = 0;
    st = job_init(&j);
    if (st == TRI_OK && how == TRI_ACQ_THOMPSON && m->ops->draw) {
        st = tri_acq_draw(&j, wanted, seed, out, n);
    } else if (st == TRI_OK) {
        st = choose(&j, wanted, out, n);
    }
    if (m->ops->truncate) {
        m->ops->truncate(m->model, size);
    }
    job_fini(&j);
    return st;
}

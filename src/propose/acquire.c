/*
 * The best of the pool by a model.
 *
 * A heap holds candidates by an upper bound of their score.  A score falls
 * with the mean and grows with the deviation, so that bounds of both bound it:
 * those of screening first, of all candidates; where one of these comes to the
 * top the score itself takes its place.
 * Believing in a choice leaves all means as they are, makes no deviation larger
 * and the best no worse, and no probability to run exceeds one: a score
 * computed at any time bounds all later ones.  So the top of the heap whose
 * score is up to date is the best of all.  Of very many candidates only those
 * above a floor are in the heap; it is lowered when the top comes down to it.
 *
 * The work for one choice is bounded all the same: after LOOKS batches the best
 * of those looked at is taken.
 */
#include "src/propose/think_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Candidates whose scores are brought up to date together: first few, then
 * more. */
#define BATCH_LEAST 16
#define BATCH       64
/* In a pool of so many the chance to run is screened as well: else what is best
 * but for that it fails hides the best of what runs. */
#define CHANCES_MOST 32768
/* Screened between two looks at whether to end. */
#define CHUNK 65536
/* Candidates that the floor is chosen by, and about so many above it. */
#define SAMPLE 4096
#define HEAPED 8192
/* Deviations below the mean that UCB looks at. */
#define UCB_BETA 2.0
/* A joint draw is over the best so many. */
#define THOMPSON_MOST 512
/* The probability to run counts by its logarithm times this; what is too likely
 * to fail comes after all others, the likelier the later. */
#define FEASIBLE_POWER 3.0
#define UNLIKELY_COSTS 1e4
#define SLACK_OF_COSTS 0.01F /* for what rounding takes from such numbers */
#define LEAST_SD       1e-9
/* Batches that are looked at for one choice: the work is bounded. */
#define LOOKS 4
/* Candidates that are asked for their mean together, and how often for one
 * choice: single precision may have taken much from it. */
#define MEANS       512
#define MEANS_TIMES 2
/* What is known of a candidate if not the score by some version of the model:
 * bounds by screening, or the mean and a bound of the deviation. */
#define SCREENED (-2)
#define CENTRED  (-1)

typedef struct entry {
    double bound;
    int64_t at;
    int version; /* of the model that the bound is exact for, or less */
    int look;    /* its number among those looked at; -1 */
} entry;

typedef struct look { /* at a candidate: the chance to run, and the peak */
    double p, bytes;
} look;

typedef struct job {
    tri_pool *pool;
    const tri_belief_model *m;
    double known; /* the lowest value, of the chosen too */
    tri_acquisition how;
    const tri_cancel *cancel;
    entry *heap;
    int64_t n;
    float *bound; /* of the whole pool, by screening, */
    float *sd;    /* and of the deviations */
    float floor;  /* of the heap: what is below is not in it */
    look *looks;
    int n_looks, room;
    int version;
    double best; /* of the scores that are up to date for best_version */
    int64_t best_at;
    int best_version;
    double *x, *mu, *s; /* of a batch */
} job;

/* ---- scores ------------------------------------------------------------- */

double tri_log_ei(double z)
{
    const double log_root = 0.91893853320467274; /* log sqrt(2 pi) */
    double phi, tail, ratio;

    if (z > -5) {
        phi = exp(-0.5 * z * z - log_root);
        return log(phi + z * 0.5 * erfc(-z / sqrt(2.0)));
    }
    /* phi(z) (1 + z Phi(z)/phi(z)); Mills' ratio by its series */
    tail = 1 / (z * z);
    ratio = tail * (1 - 3 * tail * (1 - 5 * tail * (1 - 7 * tail)));
    return -0.5 * z * z - log_root + log(ratio);
}

/* The logarithm of what a candidate is worth, before its chance to run. */
static double worth(const job *j, double mean, double sd)
{
    double s = fmax(sd, LEAST_SD);

    if (j->how == TRI_ACQ_UCB) {
        return -(mean - UCB_BETA * s);
    }
    return log(s) + tri_log_ei((j->known - mean) / s);
}

static double chance(const job *j, double p)
{
    double over = 1 - p - j->m->risk;

    return FEASIBLE_POWER * log(fmax(p, 1e-12)) -
           (over > 0 ? UNLIKELY_COSTS * (1 + over) : 0);
}

/* ---- heap --------------------------------------------------------------- */

static int before(const entry *a, const entry *b)
{
    return a->bound != b->bound ? a->bound > b->bound : a->at < b->at;
}

static void sink(job *j, int64_t i)
{
    entry e = j->heap[i];

    for (;;) {
        int64_t child = 2 * i + 1;

        if (child >= j->n) {
            break;
        }
        if (child + 1 < j->n && before(&j->heap[child + 1], &j->heap[child])) {
            child++;
        }
        if (!before(&j->heap[child], &e)) {
            break;
        }
        j->heap[i] = j->heap[child];
        i = child;
    }
    j->heap[i] = e;
}

static entry pop(job *j)
{
    entry top = j->heap[0];

    j->heap[0] = j->heap[--j->n];
    if (j->n > 0) {
        sink(j, 0);
    }
    return top;
}

/* Move the entry at i up to where it belongs. */
static void lift(job *j, int64_t i)
{
    entry e = j->heap[i];

    while (i > 0 && before(&e, &j->heap[(i - 1) / 2])) {
        j->heap[i] = j->heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    j->heap[i] = e;
}

static void push(job *j, entry e)
{
    j->heap[j->n++] = e;
    lift(j, j->n - 1);
}

/* ---- screening ---------------------------------------------------------- */

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
static float worth_most(const job *j, const tangents *t, float mean, float sd)
{
    float s = sd > (float)LEAST_SD ? sd : (float)LEAST_SD;
    float z, at;
    int i;

    if (j->how == TRI_ACQ_UCB) {
        return (float)UCB_BETA * s - mean + SLACK * (1 + fabsf(mean) + s);
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
static void lower_by_chance(job *j, int64_t from, int n)
{
    float p[BATCH];
    const float *x = j->pool->x + (size_t)from * (size_t)j->pool->width;

    for (int i = 0; i < n; i += BATCH) {
        int many = n - i < BATCH ? n - i : BATCH;

        tri_feasibility_screen(j->m->feasible,
                               x + (size_t)i * (size_t)j->pool->width, many, p);
        for (int k = 0; k < many; k++) {
            j->bound[from + i + k] +=
                    (float)chance(j, (double)p[k]) + SLACK_OF_COSTS;
        }
    }
}

/* Bounds of rows [from, from + n); without a fast way what they are worth. */
static tri_status screen_some(job *j, const tangents *t, int64_t from, int n,
                              float *mean)
{
    const tri_pool *p = j->pool;

    if (j->m->ops->screen) {
        j->m->ops->screen(j->m->model, p->x + (size_t)from * (size_t)p->width,
                          n, j->m->resource, mean, j->sd + from);
    }
    for (int i = 0; !j->m->ops->screen && i < n; i += BATCH) {
        int many = n - i < BATCH ? n - i : BATCH;

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
static tri_status screen(job *j)
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

static int by_size(const void *a, const void *b)
{
    const float *p = a, *q = b;

    return (*p < *q) - (*p > *q);
}

/* A floor with about `many` above, by a sample. */
static float floor_for(const job *j, int64_t many)
{
    float few[SAMPLE];
    int64_t n = j->pool->n;
    int64_t at = many * SAMPLE / n;

    if (at >= SAMPLE) {
        return -INFINITY;
    }
    for (int i = 0; i < SAMPLE; i++) {
        few[i] = j->bound[(int64_t)i * n / SAMPLE];
    }
    qsort(few, SAMPLE, sizeof *few, by_size);
    return few[at];
}

/* Heap what is between the floor and a new, lower one. */
static void lower_floor(job *j, int64_t many)
{
    float floor = floor_for(j, many);
    float before = j->floor;

    for (int64_t i = 0; i < j->pool->n; i++) {
        float bound = j->bound[i];

        if (bound < before && (bound >= floor || !(floor > -INFINITY)) &&
            bound > -INFINITY) {
            push(j, (entry){(double)bound, i, SCREENED, -1});
        }
    }
    j->floor = floor;
}

/* The heap's top is the top of all, if there is one. */
static void fill_heap(job *j)
{
    for (int64_t many = HEAPED;
         j->floor > -INFINITY &&
         (j->n == 0 || j->heap[0].bound <= (double)j->floor);
         many *= 8) {
        lower_floor(j, many);
    }
}

static tri_status job_init(job *j)
{
    size_t n = (size_t)j->pool->n + 1;
    size_t w = (size_t)j->pool->width;

    j->heap = malloc(n * sizeof *j->heap);
    j->bound = calloc(2 * n, sizeof *j->bound);
    j->x = malloc((MEANS * (w + 2) + 1) * sizeof *j->x);
    if (!j->heap || !j->bound || !j->x) {
        return TRI_FAIL(TRI_ENOMEM, "no memory to choose from %lld candidates",
                        (long long)j->pool->n);
    }
    j->sd = j->bound + n;
    j->mu = j->x + MEANS * w;
    j->s = j->mu + MEANS;
    j->floor = INFINITY;
    TRI_TRY(screen(j));
    fill_heap(j);
    return TRI_OK;
}

static void job_fini(job *j)
{
    free(j->heap);
    free(j->bound);
    free(j->x);
    free(j->looks);
}

/* ---- exact scores ------------------------------------------------------- */

static void rows_of(job *j, const entry *e, int n)
{
    for (int k = 0; k < n; k++) {
        tri_pool_row(j->pool, e[k].at,
                     j->x + (size_t)k * (size_t)j->pool->width);
    }
}

static tri_status reserve_looks(job *j, int n)
{
    if (j->n_looks + n > j->room) {
        int room = 2 * j->room + BATCH;
        look *grown = realloc(j->looks, (size_t)room * sizeof *grown);

        if (!grown) {
            return TRI_FAIL(TRI_ENOMEM, "no memory to look at candidates");
        }
        j->looks = grown;
        j->room = room;
    }
    return TRI_OK;
}

/* The chance to run of a batch, of whom it is not known. */
static tri_status ask_chances(job *j, entry *e, int n)
{
    double p[BATCH], bytes[BATCH];
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
            j->looks[e[k].look] =
                    j->m->feasible ? (look){p[k], bytes[k]} : (look){1, NAN};
        }
    }
    return TRI_OK;
}

/* The means of the best that were only screened. */
static void centre(job *j)
{
    entry batch[MEANS];
    int n = 0;

    while (n < MEANS && j->n > 0) {
        batch[n++] = pop(j);
    }
    rows_of(j, batch, n);
    j->m->ops->predict(j->m->model, j->x, n, j->m->resource, j->mu, NULL);
    for (int k = 0; k < n; k++) {
        if (batch[k].version == SCREENED) {
            double sd = (double)j->sd[batch[k].at] * (1 + 1e-6);

            batch[k].bound = fmin(batch[k].bound, worth(j, j->mu[k], sd));
            batch[k].version = CENTRED;
        }
        push(j, batch[k]);
    }
}

/* Bring the best `most` of the heap up to date, at most BATCH. */
static tri_status refine(job *j, int most)
{
    entry batch[BATCH];
    int n = 0;

    while (n < most && j->n > 0) {
        batch[n++] = pop(j);
    }
    rows_of(j, batch, n);
    j->m->ops->predict(j->m->model, j->x, n, j->m->resource, j->mu, j->s);
    TRI_TRY(ask_chances(j, batch, n));
    for (int k = 0; k < n; k++) {
        batch[k].bound = worth(j, j->mu[k], j->s[k]) +
                         chance(j, j->looks[batch[k].look].p);
        batch[k].version = j->version;
        push(j, batch[k]);
        if (j->best_version != j->version || batch[k].bound > j->best) {
            j->best = batch[k].bound;
            j->best_at = batch[k].at;
            j->best_version = j->version;
        }
    }
    return TRI_OK;
}

/* Take the top of the heap as chosen, and believe in it. */
static tri_status settle(job *j, tri_choice *out)
{
    entry e = pop(j);

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
static void lift_best(job *j)
{
    for (int64_t i = 0; i < j->n; i++) {
        if (j->heap[i].at == j->best_at) {
            j->heap[i].bound = nextafter(j->heap[0].bound, INFINITY);
            lift(j, i);
            return;
        }
    }
}

/* Look until the top is up to date: the best, or the best of many. */
static tri_status look_for_best(job *j)
{
    int most = BATCH_LEAST;
    int looks = 0;
    int centres = j->m->ops->screen ? 0 : MEANS_TIMES;

    while (j->n > 0 && j->heap[0].version != j->version) {
        if (j->heap[0].version == SCREENED && centres < MEANS_TIMES) {
            centre(j);
            centres++;
        } else if (looks >= LOOKS && j->best_version == j->version) {
            lift_best(j);
        } else {
            TRI_TRY(refine(j, most));
            most = 2 * most < BATCH ? 2 * most : BATCH;
            looks++;
        }
        fill_heap(j);
    }
    return TRI_OK;
}

static tri_status choose(job *j, int wanted, tri_choice *out, int *n)
{
    while (*n < wanted && j->n > 0 && !tri_is_cancelled(j->cancel)) {
        TRI_TRY(look_for_best(j));
        TRI_TRY(settle(j, &out[*n]));
        ++*n;
        fill_heap(j);
    }
    return TRI_OK;
}

/* ---- Thompson ----------------------------------------------------------- */

/* The best by expected improvement, of whom draws are compared. */
static tri_status draw_best(job *j, int wanted, uint64_t seed, tri_choice *out,
                            int *n)
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
        entry e;

        st = look_for_best(j);
        if (st != TRI_OK) {
            break;
        }
        e = pop(j);
        j->best_version = -1; /* as when one is settled */
        few[m] = (tri_choice){.at = e.at,
                              .p = j->looks[e.look].p,
                              .bytes = j->looks[e.look].bytes};
        fill_heap(j);
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
            value[i] -= chance(j, few[i].p);
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

tri_status tri_acquire(tri_pool *p, const tri_belief_model *m,
                       tri_acquisition how, int wanted, uint64_t seed,
                       const tri_cancel *cancel, tri_choice *out, int *n)
{
    job j = {.pool = p,
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
        st = draw_best(&j, wanted, seed, out, n);
    } else if (st == TRI_OK) {
        st = choose(&j, wanted, out, n);
    }
    if (m->ops->truncate) {
        m->ops->truncate(m->model, size);
    }
    job_fini(&j);
    return st;
}

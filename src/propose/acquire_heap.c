/*
 * Candidates by the bound of their score.  Of very many only those above a
 * floor are in the heap; it is lowered when the top comes down to it.
 */
#include "src/propose/acquire_internal.h"

#include <math.h>
#include <stdlib.h>

/* Candidates that the floor is chosen by, and about so many above it. */
#define SAMPLE 4096
#define HEAPED 8192

static int before(const tri_acq_entry *a, const tri_acq_entry *b)
{
    return a->bound != b->bound ? a->bound > b->bound : a->at < b->at;
}

static void sink(tri_acq_job *j, int64_t i)
{
    tri_acq_entry e = j->heap[i];

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

tri_acq_entry tri_acq_pop(tri_acq_job *j)
{
    tri_acq_entry top = j->heap[0];

    j->heap[0] = j->heap[--j->n];
    if (j->n > 0) {
        sink(j, 0);
    }
    return top;
}

/* Move the entry at i up to where it belongs. */
void tri_acq_lift(tri_acq_job *j, int64_t i)
{
    tri_acq_entry e = j->heap[i];

    while (i > 0 && before(&e, &j->heap[(i - 1) / 2])) {
        j->heap[i] = j->heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    j->heap[i] = e;
}

void tri_acq_push(tri_acq_job *j, tri_acq_entry e)
{
    j->heap[j->n++] = e;
    tri_acq_lift(j, j->n - 1);
}

/* ---- floor ---- */

static int by_size(const void *a, const void *b)
{
    const float *p = a, *q = b;

    return (*p < *q) - (*p > *q);
}

/* A floor with about `many` above, by a sample. */
static float floor_for(const tri_acq_job *j, int64_t many)
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
static void lower_floor(tri_acq_job *j, int64_t many)
{
    float floor = floor_for(j, many);
    float before = j->floor;

    for (int64_t i = 0; i < j->pool->n; i++) {
        float bound = j->bound[i];

        if (bound < before && (bound >= floor || !(floor > -INFINITY)) &&
            bound > -INFINITY) {
            tri_acq_push(
                    j, (tri_acq_entry){(double)bound, i, TRI_ACQ_SCREENED, -1});
        }
    }
    j->floor = floor;
}

/* The heap's top is the top of all, if there is one. */
void tri_acq_fill(tri_acq_job *j)
{
    for (int64_t many = HEAPED;
         j->floor > -INFINITY &&
         (j->n == 0 || j->heap[0].bound <= (double)j->floor);
         many *= 8) {
        lower_floor(j, many);
    }
}

/*
 * A running median by two heaps that meet in the middle.  The median of a
 * multitude does not depend on the order in which it came, so what was added
 * waits in a list until somebody asks.
 */
#include "src/ctl/median.h"

#include "src/base/grow.h"

#include <math.h>
#include <stdlib.h>

struct tri_median_halves {
    double *low;   /* heap, largest first: the lower half, one more if odd */
    double *high;  /* heap, smallest first */
    double *fresh; /* not in a heap yet */
    size_t n_low, n_high, n_fresh;
    size_t room; /* values; of a heap as many, as it may hold one too many */
};

/* Both are heaps with the smallest first; `low` holds negated values. */
static void push(double *heap, size_t *n, double x)
{
    size_t at = (*n)++;

    while (at && x < heap[(at - 1) / 2]) {
        heap[at] = heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    heap[at] = x;
}

static double pop(double *heap, size_t *n)
{
    double top = heap[0];
    double x = heap[--*n];
    size_t at = 0;

    for (;;) {
        size_t child = 2 * at + 1;

        if (child >= *n) {
            break;
        }
        child += child + 1 < *n && heap[child + 1] < heap[child];
        if (x <= heap[child]) {
            break;
        }
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = x;
    return top;
}

static int grow_one(double **list, size_t n, size_t room)
{
    double *grown =
            tri_rows_grow(*list, n * sizeof *grown, room * sizeof *grown);

    if (!grown) {
        return 0;
    }
    *list = grown;
    return 1;
}

/* Room for all values in each of the three; what is not written to costs
 * nothing. */
static tri_status grow(tri_median_halves *h)
{
    size_t room = h->room ? 2 * h->room : 64;

    if (!grow_one(&h->low, h->n_low, room) ||
        !grow_one(&h->high, h->n_high, room) ||
        !grow_one(&h->fresh, h->n_fresh, room)) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for %zu durations", room);
    }
    h->room = room;
    return TRI_OK;
}

tri_status tri_running_median_add(tri_running_median *m, double x)
{
    tri_median_halves *h = m->halves;

    if (!h) {
        h = m->halves = calloc(1, sizeof *h);
    }
    if (!h) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a duration");
    }
    if (h->n_low + h->n_high + h->n_fresh + 2 >= h->room) {
        TRI_TRY(grow(h));
    }
    h->fresh[h->n_fresh++] = x;
    return TRI_OK;
}

static void sort_in(tri_median_halves *h, double x)
{
    if (h->n_low && x > -h->low[0]) {
        push(h->high, &h->n_high, x);
    } else {
        push(h->low, &h->n_low, -x);
    }
    if (h->n_high > h->n_low) {
        push(h->low, &h->n_low, -pop(h->high, &h->n_high));
    } else if (h->n_low > h->n_high + 1) {
        push(h->high, &h->n_high, -pop(h->low, &h->n_low));
    }
}

double tri_running_median_value(const tri_running_median *m)
{
    tri_median_halves *h = m->halves;

    if (!h) {
        return NAN;
    }
    for (size_t i = 0; i < h->n_fresh; i++) {
        sort_in(h, h->fresh[i]);
    }
    h->n_fresh = 0;
    return h->n_low > h->n_high ? -h->low[0] : (h->high[0] - h->low[0]) / 2;
}

void tri_running_median_fini(tri_running_median *m)
{
    if (m->halves) {
        free(m->halves->low);
        free(m->halves->high);
        free(m->halves->fresh);
        free(m->halves);
    }
    *m = (tri_running_median){NULL};
}

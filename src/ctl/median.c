/*
 * A running median by two heaps that meet in the middle.
 */
#include "src/ctl/median.h"

#include "src/base/grow.h"

#include <math.h>
#include <stdlib.h>

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

static tri_status grow(tri_running_median *m)
{
    size_t room = m->room ? 2 * m->room : 64;
    double *low =
            tri_rows_grow(m->low, m->n_low * sizeof *low, room * sizeof *low);
    double *high;

    if (!low) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for %zu durations", room);
    }
    m->low = low;
    high = tri_rows_grow(m->high, m->n_high * sizeof *high,
                         room * sizeof *high);
    if (!high) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for %zu durations", room);
    }
    m->high = high;
    m->room = room;
    return TRI_OK;
}

tri_status tri_running_median_add(tri_running_median *m, double x)
{
    if (m->n_low + 1 >= m->room) {
        TRI_TRY(grow(m));
    }
    if (m->n_low && x > -m->low[0]) {
        push(m->high, &m->n_high, x);
    } else {
        push(m->low, &m->n_low, -x);
    }
    if (m->n_high > m->n_low) {
        push(m->low, &m->n_low, -pop(m->high, &m->n_high));
    } else if (m->n_low > m->n_high + 1) {
        push(m->high, &m->n_high, -pop(m->low, &m->n_low));
    }
    return TRI_OK;
}

double tri_running_median_value(const tri_running_median *m)
{
    if (!m->n_low) {
        return NAN;
    }
    return m->n_low > m->n_high ? -m->low[0] : (m->high[0] - m->low[0]) / 2;
}

void tri_running_median_fini(tri_running_median *m)
{
    free(m->low);
    free(m->high);
    *m = (tri_running_median){0};
}

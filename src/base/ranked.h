/*
 * Numbers in their order, with the places that they come from.
 */
#ifndef TRI_BASE_RANKED_H
#define TRI_BASE_RANKED_H

#include <stdlib.h>

typedef struct tri_ranked {
    double value;
    int at;
} tri_ranked;

/* For qsort: the lower first, equal ones by their places. */
static inline int tri_ranked_compare(const void *a, const void *b)
{
    const tri_ranked *p = (const tri_ranked *)a, *q = (const tri_ranked *)b;

    return p->value != q->value ? (p->value > q->value) - (p->value < q->value)
                                : (p->at > q->at) - (p->at < q->at);
}

static inline void tri_ranked_sort(tri_ranked *list, int n)
{
    if (n > 1) {
        qsort(list, (size_t)n, sizeof *list, tri_ranked_compare);
    }
}

/* [out] list[n]: n numbers in order. */
static inline void tri_rank(const double *value, int n, tri_ranked *list)
{
    for (int i = 0; i < n; i++) {
        list[i] = (tri_ranked){value[i], i};
    }
    tri_ranked_sort(list, n);
}

#endif

/*
 * Which samples a Gaussian process is given, where there are too many.
 */
#include "src/predict/gp.h"

#include <stdint.h>
#include <stdlib.h>

/* Of a subset so much is for the best. */
#define BEST_SHARE 4

int tri_gp_choice_init(tri_gp_choice *c, int n)
{
    c->list = malloc(((size_t)n + 1) * sizeof *c->list);
    c->which = malloc(((size_t)n + 1) * sizeof *c->which);
    return c->list && c->which;
}

void tri_gp_choice_fini(tri_gp_choice *c)
{
    free(c->list);
    free(c->which);
}

static int by_place(const void *a, const void *b)
{
    const int *p = a, *q = b;

    return (*p > *q) - (*p < *q);
}

int tri_gp_choose(tri_gp_choice *c, const double *y, int n, int most)
{
    tri_ranked *list = c->list;
    int best = most / BEST_SHARE;

    if (n <= most) {
        for (int i = 0; i < n; i++) {
            c->which[i] = i;
        }
        return n;
    }
    tri_rank(y, n, list);
    for (int i = 0; i < best; i++) {
        c->which[i] = list[i].at;
    }
    for (int i = best; i < n; i++) { /* the rest in the order of samples */
        list[i].value = 0;
    }
    tri_ranked_sort(list + best, n - best);
    for (int i = best; i < most; i++) {
        int64_t step = (int64_t)(i - best) * (n - best) / (most - best);

        c->which[i] = list[best + (int)step].at;
    }
    qsort(c->which, (size_t)most, sizeof *c->which, by_place);
    return most;
}

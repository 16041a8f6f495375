/*
 * Which columns change seldom.
 */
#include "src/predict/runs.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Pairs of neighbours that are looked at, and of so many may one differ in a
 * slow column. */
#define PAIRS  1024
#define SELDOM 4

int tri_runs_init(tri_runs *r, const float *x, int n, int d)
{
    int pairs = n - 1 < PAIRS ? n - 1 : PAIRS;
    int fast = d;

    *r = (tri_runs){.column = malloc(((size_t)d + 1) * sizeof *r->column)};
    for (int k = 0; r->column && k < d; k++) {
        int changes = 0;

        for (int i = 0; i < pairs; i++) {
            const float *a =
                    x + (size_t)((int64_t)i * (n - 1) / pairs) * (size_t)d;

            changes += a[k] != a[d + k];
        }
        if (pairs > 0 && SELDOM * changes <= pairs) {
            r->column[r->n_slow++] = k;
        } else {
            r->column[--fast] = k;
        }
    }
    r->n_fast = d - r->n_slow;
    return r->column != NULL;
}

void tri_runs_fini(tri_runs *r)
{
    free(r->column);
    r->column = NULL;
}

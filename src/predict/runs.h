/*
 * Very many rows in an order in which most columns stay the same for a while,
 * as those of an enumerated space: what the slow columns say of a row is
 * worked out when one of them changes, and kept.
 */
#ifndef TRI_SRC_PREDICT_RUNS_H
#define TRI_SRC_PREDICT_RUNS_H

typedef struct tri_runs {
    int n_slow, n_fast;
    int *column; /* the slow ones, then the others; n_slow + n_fast, owned */
} tri_runs;

/* Divide the d columns of x[n][d] by how often they change from row to row;
 * 0: no memory. */
int tri_runs_init(tri_runs *r, const float *x, int n, int d);
void tri_runs_fini(tri_runs *r);
/* Whether rows a and b are the same in the slow columns. */
static inline int tri_runs_goes_on(const tri_runs *r, const float *a,
                                   const float *b)
{
    for (int i = 0; i < r->n_slow; i++) {
        if (a[r->column[i]] != b[r->column[i]]) {
            return 0;
        }
    }
    return 1;
}

#endif

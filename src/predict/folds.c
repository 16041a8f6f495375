/*
 * Samples in folds of whole configurations.
 */
#include "src/predict/folds.h"
#include "trireme/predict.h"
#include "trireme/rng.h"

#include <stdlib.h>
#include <string.h>

typedef struct item { /* a row, or a configuration by its first row */
    uint64_t key;
    const double *x;
    int at, width;
} item;

/* Equal rows stand together, in their order. */
static int by_content(const void *a, const void *b)
{
    const item *p = a, *q = b;

    if (p->key != q->key) {
        return p->key < q->key ? -1 : 1;
    }
    for (int j = 0; j < p->width; j++) {
        if (p->x[j] != q->x[j]) {
            return p->x[j] < q->x[j] ? -1 : 1;
        }
    }
    return (p->at > q->at) - (p->at < q->at);
}

static int same(const item *p, const item *q)
{
    for (int j = 0; j < p->width; j++) {
        if (p->x[j] != q->x[j]) {
            return 0;
        }
    }
    return p->key == q->key;
}

static uint64_t key_of(const double *x, int width)
{
    return width > 0 ? tri_rng_hash(x, (size_t)width * sizeof *x) : 0;
}

static void shuffle(int *order, int n, uint64_t seed)
{
    tri_rng rng = tri_rng_stream(seed, 0, TRI_RNG_DATA);

    for (int i = 0; i < n; i++) {
        order[i] = i;
    }
    for (int i = n - 1; i > 0; i--) {
        int j = (int)tri_rng_below(&rng, (uint64_t)i + 1);
        int swap = order[i];

        order[i] = order[j];
        order[j] = swap;
    }
}

/* first[c]: where configuration c starts in the sorted rows; their number. */
static int find_configurations(const item *rows, int n, int *first)
{
    int n_configs = 0;

    for (int i = 0; i < n; i++) {
        if (i == 0 || !same(&rows[i], &rows[i - 1])) {
            first[n_configs++] = i;
        }
    }
    first[n_configs] = n;
    return n_configs;
}

tri_status tri_folds_deal(const double *x, int n, int width, int most_folds,
                          int most_rows, uint64_t seed, int *fold, int *n_folds)
{
    item *rows = malloc((size_t)n * sizeof *rows);
    int *first = malloc((2 * (size_t)n + 1) * sizeof *first);
    int *order = first ? first + n + 1 : NULL;
    int used = 0;
    int n_configs, most;

    if (!rows || !first) {
        free(rows);
        free(first);
        return TRI_FAIL(TRI_ENOMEM, "no memory to divide %d samples", n);
    }
    for (int i = 0; i < n; i++) {
        const double *row = x + (size_t)i * (size_t)width;

        rows[i] = (item){key_of(row, width), row, i, width};
        fold[i] = -1;
    }
    qsort(rows, (size_t)n, sizeof *rows, by_content);
    n_configs = find_configurations(rows, n, first);
    most = n_configs < most_folds ? n_configs : most_folds;
    shuffle(order, n_configs, seed);
    for (int c = 0; c < n_configs && used < most_rows; c++) {
        for (int i = first[order[c]];
             i < first[order[c] + 1] && used < most_rows; i++) {
            fold[rows[i].at] = c % most;
            used++;
        }
    }
    *n_folds = most;
    free(rows);
    free(first);
    return TRI_OK;
}

tri_samples tri_samples_without(const tri_samples *s, const int *fold,
                                int left_out, double *room)
{
    size_t w = (size_t)s->width;
    double *y = room + (size_t)s->n * w;
    double *resource = y + s->n;
    tri_samples rest = *s;

    rest.n = 0;
    for (int i = 0; i < s->n; i++) {
        if (fold[i] != left_out) {
            memcpy(room + (size_t)rest.n * w, s->x + (size_t)i * w,
                   w * sizeof *room);
            y[rest.n] = s->y[i];
            resource[rest.n++] = s->resource ? s->resource[i] : 1;
        }
    }
    rest.x = room;
    rest.y = y;
    rest.resource = s->resource ? resource : NULL;
    return rest;
}

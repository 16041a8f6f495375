/*
 * Predictions beyond the numbers of ranks that were measured; extrapolate.py
 * has the tables, the peers, the units and the report.
 *
 *   bench_search_extrapolate STUDY N
 *
 * STUDY is a study of kind table with `ranks` and without curves.  Each
 * predictor learns from the rows of at most N ranks, as the thinker does: the
 * space's encoding (ranks, features and products are inputs), warped costs.
 * Prints a line for each row of more ranks: its number in the table (distinct
 * configurations in their order), ranks, the objective, and what each predictor
 * says.  The first line names the columns.
 */
#include "src/predict/mlp.h"
#include "trireme/predict.h"
#include "trireme/study.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const tri_predictor_ops *const all[] = {
        &tri_predictor_gp, &tri_predictor_trees, &tri_predictor_mlp,
        &tri_predictor_mlp_squared, &tri_predictor_trend};

#define N_ALL (sizeof all / sizeof all[0])

typedef struct world {
    tri_study *study;
    tri_encoding *e;
    int n, width; /* rows of the table */
    double *x, *y;
    int *ranks;
    tri_warp warp;
    tri_samples known;
} world;

static void die(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, tri_error_last()->sentence);
    exit(1);
}

static char *slurp(const char *path, size_t *bytes)
{
    FILE *f = fopen(path, "rb");
    char *data = NULL;
    long n = -1;

    if (f && fseek(f, 0, SEEK_END) == 0) {
        n = ftell(f);
        rewind(f);
        data = malloc((size_t)n + 1);
    }
    if (!data || fread(data, 1, (size_t)n, f) != (size_t)n) {
        perror(path);
        exit(1);
    }
    data[n] = 0;
    *bytes = (size_t)n;
    fclose(f);
    return data;
}

static tri_status read_file(void *ctx, const char *path, char **data,
                            size_t *bytes)
{
    (void)ctx;
    *data = slurp(path, bytes);
    return TRI_OK;
}

static void load(world *w, const char *path)
{
    size_t bytes;
    char *text = slurp(path, &bytes);
    const tri_table *table;
    tri_config *c;

    if (tri_study_parse(text, bytes, path, read_file, NULL, &w->study) !=
                TRI_OK ||
        tri_encoding_create(w->study->space, &w->e) != TRI_OK) {
        die(path);
    }
    free(text);
    table = tri_study_table(w->study);
    w->n = (int)table->n_rows;
    w->width = tri_encoding_width(w->e);
    w->x = calloc((size_t)w->n * (size_t)w->width + 1, sizeof *w->x);
    w->y = calloc((size_t)w->n + 1, sizeof *w->y);
    w->ranks = calloc((size_t)w->n + 1, sizeof *w->ranks);
    c = calloc((size_t)tri_space_n_params(w->study->space) + 1, sizeof *c);
    for (int i = 0; i < w->n; i++) {
        if (tri_space_at(w->study->space, i, c) != TRI_OK ||
            tri_space_ranks(w->study->space, c, &w->ranks[i]) != TRI_OK) {
            die("row");
        }
        w->y[i] = table->failed[i] ? NAN : table->objective[i];
        tri_encode(w->e, c, w->x + (size_t)i * (size_t)w->width);
    }
    free(c);
}

/* Rows of at most `most` ranks that ran. */
static void learn_from(world *w, int most)
{
    size_t d = (size_t)w->width;
    double *x = calloc((size_t)w->n * d + 1, sizeof *x);
    double *y = calloc((size_t)w->n + 1, sizeof *y);
    double sign = w->study->objective.maximize ? -1 : 1;
    int n = 0;

    for (int i = 0; i < w->n; i++) {
        if (w->ranks[i] <= most && isfinite(w->y[i])) {
            memcpy(x + (size_t)n * d, w->x + (size_t)i * d, d * sizeof *x);
            y[n++] = sign * w->y[i];
        }
    }
    if (n < 5) {
        fprintf(stderr, "%d rows of at most %d ranks ran: too few\n", n, most);
        exit(1);
    }
    tri_warp_fit(&w->warp, y, n);
    for (int i = 0; i < n; i++) {
        y[i] = tri_warp_apply(&w->warp, y[i]);
    }
    w->known = (tri_samples){.n = n, .width = w->width, .x = x, .y = y};
}

int main(int argc, char **argv)
{
    world w = {0};
    tri_model *model[N_ALL];
    double sign;
    int most;

    if (argc != 3) {
        fprintf(stderr, "usage: bench_search_extrapolate STUDY N\n");
        return 1;
    }
    most = atoi(argv[2]);
    load(&w, argv[1]);
    learn_from(&w, most);
    sign = w.study->objective.maximize ? -1 : 1;
    printf("row,ranks,objective");
    for (size_t k = 0; k < N_ALL; k++) {
        if (all[k]->fit(w.e, &w.known, 1, NULL, &model[k]) != TRI_OK) {
            die(all[k]->name);
        }
        printf(",%s", all[k]->name);
    }
    printf("\n");
    for (int i = 0; i < w.n; i++) {
        if (w.ranks[i] <= most || !isfinite(w.y[i])) {
            continue;
        }
        printf("%d,%d,%.17g", i, w.ranks[i], w.y[i]);
        for (size_t k = 0; k < N_ALL; k++) {
            double mean;

            all[k]->predict(model[k], w.x + (size_t)i * (size_t)w.width, 1, 1,
                            &mean, NULL);
            printf(",%.17g", sign * tri_warp_invert(&w.warp, mean));
        }
        printf("\n");
    }
    for (size_t k = 0; k < N_ALL; k++) {
        all[k]->destroy(model[k]);
    }
    free((void *)w.known.x);
    free((void *)w.known.y);
    free(w.x);
    free(w.y);
    free(w.ranks);
    tri_encoding_destroy(w.e);
    tri_study_destroy(w.study);
    return 0;
}

/*
 * Times a predictor on rows that predictors.py made, and says what it
 * predicted; predictors.py has the peers, the units and the table.
 *
 *   bench_search_predictors NAME FILE REPEATS
 *
 * FILE holds doubles: n, m, width, n x width columns in [0, 1], n values, m x
 * width columns.  Prints a JSON object: fit_s and predict_s are seconds of this
 * thread's processor time, the least of REPEATS (the work is the same every
 * time: what is more is the machine's), then the means and deviations of the m
 * rows.
 */
#include "trireme/predict.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef struct rows {
    int n, m, width;
    double *x, *y, *asked; /* one allocation, from x */
} rows;

static double cpu_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* 0: not such a file. */
static int read_rows(const char *path, rows *r)
{
    FILE *f = fopen(path, "rb");
    double head[3];
    size_t total = 0;
    int ok = f && fread(head, sizeof *head, 3, f) == 3;

    if (ok) {
        *r = (rows){(int)head[0], (int)head[1], (int)head[2], NULL, NULL, NULL};
        total = (size_t)(r->n + r->m) * (size_t)r->width + (size_t)r->n;
        r->x = malloc(total * sizeof *r->x);
        ok = r->x && fread(r->x, sizeof *r->x, total, f) == total;
        r->y = r->x + (size_t)r->n * (size_t)r->width;
        r->asked = r->y + r->n;
    }
    if (f) {
        fclose(f);
    }
    return ok;
}

/* A space of as many numbers in [0, 1], whose encoding they are. */
static tri_status make_space(int width, tri_space **out)
{
    tri_space_builder *b;
    tri_domain d = {.kind = TRI_DOMAIN_FLOAT, .flo = 0, .fhi = 1};
    tri_status st = TRI_OK;

    TRI_TRY(tri_space_builder_create(&b));
    for (int j = 0; st == TRI_OK && j < width; j++) {
        char name[16];

        snprintf(name, sizeof name, "x%d", j);
        st = tri_space_add_param(b, name, &d, NULL, 0, 0);
    }
    if (st == TRI_OK) {
        st = tri_space_create(b, out);
    }
    tri_space_builder_destroy(b);
    return st;
}

/* [out] x: n rows encoded. */
static void encode(const tri_encoding *e, const double *from, int n, int width,
                   tri_config *c, double *x)
{
    int w = tri_encoding_width(e);

    for (int i = 0; i < n; i++) {
        for (int j = 0; j < width; j++) {
            c[j].type = TRI_REAL;
            c[j].u.d = from[(size_t)i * (size_t)width + (size_t)j];
        }
        tri_encode(e, c, x + (size_t)i * (size_t)w);
    }
}

static void print_series(const char *name, const double *v, int n)
{
    printf(", \"%s\": [", name);
    for (int i = 0; i < n; i++) {
        printf("%s%.6g", i ? ", " : "", v[i]);
    }
    printf("]");
}

static tri_status time_it(const tri_predictor_ops *ops, const tri_encoding *e,
                          const tri_samples *s, const double *x, int m,
                          int repeats)
{
    double fit_s = 1e30;
    double predict_s = 1e30;
    double *out = malloc(2 * (size_t)m * sizeof *out);
    char hyper[512] = "";

    if (!out) {
        return TRI_FAIL(TRI_ENOMEM, "no memory");
    }
    for (int k = 0; k < repeats; k++) {
        tri_model *model;
        double start = cpu_s();
        double fitted;

        tri_status st = ops->fit(e, s, 1, NULL, &model);

        if (st != TRI_OK) {
            free(out);
            return st;
        }
        fitted = cpu_s();
        ops->predict(model, x, m, 1, out, out + m);
        predict_s = cpu_s() - fitted < predict_s ? cpu_s() - fitted : predict_s;
        fit_s = fitted - start < fit_s ? fitted - start : fit_s;
        ops->describe(model, hyper, sizeof hyper);
        ops->destroy(model);
    }
    printf("{\"name\": \"%s\", \"fit_s\": %.6f, \"predict_s\": %.6f, "
           "\"model\": \"%s\"",
           ops->name, fit_s, predict_s, hyper);
    print_series("mean", out, m);
    print_series("sd", out + m, m);
    printf("}\n");
    free(out);
    return TRI_OK;
}

static tri_status bench(const tri_predictor_ops *ops, const rows *r,
                        int repeats)
{
    tri_space *space;
    tri_encoding *e;
    size_t w;
    double *x;
    tri_config *c;
    tri_status st;

    TRI_TRY(make_space(r->width, &space));
    TRI_TRY(tri_encoding_create(space, &e));
    w = (size_t)tri_encoding_width(e);
    c = calloc((size_t)r->width, sizeof *c);
    x = malloc((size_t)(r->n + r->m) * w * sizeof *x);
    if (!c || !x) {
        free(c);
        free(x);
        return TRI_FAIL(TRI_ENOMEM, "no memory");
    }
    encode(e, r->x, r->n, r->width, c, x);
    encode(e, r->asked, r->m, r->width, c, x + (size_t)r->n * w);
    st = time_it(ops, e,
                 &(tri_samples){.n = r->n, .width = (int)w, .x = x, .y = r->y},
                 x + (size_t)r->n * w, r->m, repeats);
    free(x);
    free(c);
    tri_encoding_destroy(e);
    tri_space_destroy(space);
    return st;
}

int main(int argc, char **argv)
{
    const tri_predictor_ops *ops =
            argc == 4 ? tri_predictor_find(argv[1]) : NULL;
    int repeats = argc == 4 ? (int)strtol(argv[3], NULL, 10) : 0;
    rows r = {0};
    tri_status st;

    if (!ops || repeats < 1 || !read_rows(argv[2], &r)) {
        fprintf(stderr, "usage: bench_search_predictors gp|trees|mlp FILE "
                        "REPEATS (FILE as predictors.py writes it)\n");
        return 1;
    }
    st = bench(ops, &r, repeats);
    free(r.x);
    return st == TRI_OK ? 0 : 4;
}

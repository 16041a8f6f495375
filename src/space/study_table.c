/*
 * Tables of recorded results: a CSV text to distinct rows, each with the
 * median of its finite objectives.  The file itself is the caller's matter.
 */
#include "src/space/study_priv.h"

#include "src/space/csv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct column_map {
    int *parameters;
    int objective, failed;
    int *points; /* columns of the curve, in order */
    int n_points;
} column_map;

static tri_status no_memory(void)
{
    return TRI_FAIL(TRI_ENOMEM, "no memory for the table");
}

/* ---- columns ---- */

static tri_status find_column(const tri_csv *t, const tri_yaml *at,
                              const char *name, int *out)
{
    int i = tri_csv_find(t, name);

    if (i < 0) {
        return tri_reader_place(at, tri_csv_no_column(t, name));
    }
    *out = i;
    return TRI_OK;
}

static tri_status find_points(const tri_csv *t, const tri_yaml *at,
                              const char *prefix, column_map *m)
{
    char first[200];

    m->n_points = tri_csv_series(t, prefix, m->points);
    if (m->n_points == 0) {
        snprintf(first, sizeof first, "%.150s0", prefix);
        return tri_reader_place(at, tri_csv_no_column(t, first));
    }
    return TRI_OK;
}

static tri_status map_columns(tri_reader *r, const tri_csv *t, column_map *m)
{
    const tri_table_spec *spec = &r->study->model.u.table;
    const tri_yaml *model = tri_yaml_get(r->root, "model");
    const tri_yaml *p = tri_yaml_get(model, "parameters"), *item = p->first;
    int i;

    for (i = 0; i < spec->n_parameters; i++) {
        TRI_TRY(find_column(t, item ? item : p, spec->parameters[i],
                            &m->parameters[i]));
        item = item ? item->next : NULL;
    }
    TRI_TRY(find_column(t, tri_yaml_get(model, "objective"), spec->objective,
                        &m->objective));
    m->failed = -1;
    if (spec->failed) {
        TRI_TRY(find_column(t, tri_yaml_get(model, "failed"), spec->failed,
                            &m->failed));
    }
    if (spec->curve) {
        return find_points(t, tri_yaml_get(model, "curve"), spec->curve, m);
    }
    m->points[0] = m->objective;
    m->n_points = 1;
    return TRI_OK;
}

/* ---- rows ---- */

/* The cell as a value that lives as long as the study. */
static tri_value cell_value(tri_reader *r, const char *text)
{
    tri_value v = tri_reader_cell(text);

    if (v.type == TRI_WORD) {
        v.u.word = tri_pile_text(r->pile, text, strlen(text));
    }
    return v;
}

/* A row's place among its like: by parameters, then as in the file. */
typedef struct row_ref {
    const tri_value *values;
    int n;
    int64_t row;
} row_ref;

static int compare_values(const tri_value *a, const tri_value *b)
{
    double x, y;

    if (a->type == TRI_WORD || b->type == TRI_WORD) {
        return a->type != b->type ? (a->type == TRI_WORD ? 1 : -1)
                                  : strcmp(a->u.word, b->u.word);
    }
    x = a->type == TRI_REAL ? a->u.d : (double)a->u.i;
    y = b->type == TRI_REAL ? b->u.d : (double)b->u.i;
    return (x > y) - (x < y);
}

static int compare_params(const row_ref *x, const row_ref *y)
{
    int i, order = 0;

    for (i = 0; i < x->n && order == 0; i++) {
        order = compare_values(&x->values[i], &y->values[i]);
    }
    return order;
}

static int by_params(const void *a, const void *b)
{
    const row_ref *x = a, *y = b;
    int order = compare_params(x, y);

    return order ? order : (x->row > y->row) - (x->row < y->row);
}

static int by_number(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The median of the finite among `x`, NaN if there is none. */
static double median(double *x, int64_t n)
{
    int64_t i, k = 0;

    for (i = 0; i < n; i++) {
        if (isfinite(x[i])) {
            x[k++] = x[i];
        }
    }
    if (k == 0) {
        return NAN;
    }
    qsort(x, (size_t)k, sizeof *x, by_number);
    return k % 2 ? x[k / 2] : (x[k / 2 - 1] + x[k / 2]) / 2;
}

/* Merge the rows refs[0..n) of one configuration into row `to`. */
static tri_status merge(tri_reader *r, const tri_csv *t, const column_map *m,
                        const row_ref *refs, int64_t n, int64_t to)
{
    struct tri_study_private *p = r->study->priv;
    double *x = malloc((size_t)n * sizeof *x);
    int all_failed = 1, k;
    int64_t i;

    if (!x) {
        return no_memory();
    }
    for (i = 0; i < n; i++) {
        char **row = tri_csv_row(t, refs[i].row);
        all_failed &= m->failed < 0 || tri_csv_truth(row[m->failed]);
    }
    for (k = 0; k < m->n_points; k++) {
        for (i = 0; i < n; i++) {
            char **row = tri_csv_row(t, refs[i].row);
            int failed = m->failed >= 0 && tri_csv_truth(row[m->failed]);
            x[i] = failed ? NAN : tri_csv_number(row[m->points[k]]);
        }
        p->row_objective[to * m->n_points + k] = median(x, n);
        /* no such column: failed is what has no value anywhere */
        all_failed &=
                m->failed >= 0 || isnan(p->row_objective[to * m->n_points + k]);
    }
    p->row_failed[to] = (unsigned char)all_failed;
    memcpy(p->rows + to * refs[0].n, refs[0].values,
           (size_t)refs[0].n * sizeof *p->rows);
    free(x);
    return TRI_OK;
}

static tri_status alloc_rows(tri_reader *r, const tri_csv *t,
                             const column_map *m)
{
    struct tri_study_private *p = r->study->priv;
    size_t n = (size_t)t->n_rows + 1;
    size_t n_params = (size_t)r->study->model.u.table.n_parameters;

    p->n_points = m->n_points;
    p->columns = r->study->model.u.table.parameters;
    p->rows = tri_pile_alloc(r->pile, n * n_params * sizeof *p->rows);
    p->row_objective =
            tri_pile_alloc(r->pile, n * (size_t)m->n_points * sizeof(double));
    p->row_failed = tri_pile_alloc(r->pile, n);
    p->cells = tri_pile_alloc(r->pile, n * n_params * sizeof *p->cells);
    return p->rows && p->row_objective && p->row_failed && p->cells
                   ? TRI_OK
                   : no_memory();
}

static tri_status collect(tri_reader *r, const tri_csv *t, const column_map *m)
{
    struct tri_study_private *p = r->study->priv;
    int n_params = r->study->model.u.table.n_parameters, k;
    row_ref *refs = malloc((size_t)(t->n_rows + 1) * sizeof *refs);
    int64_t i, end;
    tri_status st;

    if (!refs) {
        return no_memory();
    }
    TRI_TRY_GOTO(st, alloc_rows(r, t, m), done);
    for (i = 0; i < t->n_rows; i++) {
        tri_value *v = p->cells + i * n_params;
        for (k = 0; k < n_params; k++) {
            v[k] = cell_value(r, tri_csv_row(t, i)[m->parameters[k]]);
            if (v[k].type == TRI_WORD && !v[k].u.word) {
                st = no_memory();
                goto done;
            }
        }
        refs[i].values = v;
        refs[i].n = n_params;
        refs[i].row = i;
    }
    qsort(refs, (size_t)t->n_rows, sizeof *refs, by_params);
    for (i = 0; i < t->n_rows; i = end) {
        for (end = i;
             end < t->n_rows && compare_params(&refs[i], &refs[end]) == 0;
             end++) {
        }
        TRI_TRY_GOTO(st, merge(r, t, m, &refs[i], end - i, p->n_rows), done);
        p->n_rows++;
    }
done:
    free(refs);
    return st;
}

/* ---- the whole ---- */

/* Cutting changes the text: what an open event attaches is kept apart. */
static tri_status keep_file(struct tri_study_private *p, const char *path,
                            const char *text, size_t bytes)
{
    p->file_path = tri_pile_text(&p->pile, path, strlen(path));
    p->file_text = tri_pile_text(&p->pile, text, bytes);
    p->file_bytes = bytes;
    return p->file_path && p->file_text ? TRI_OK : no_memory();
}

int tri_study_n_files(const tri_study *study)
{
    return study->priv->file_text != NULL;
}

const char *tri_study_file(const tri_study *study, int i, const char **path,
                           size_t *bytes)
{
    const struct tri_study_private *p = study->priv;

    if (i != 0 || !p->file_text) {
        return NULL;
    }
    *path = p->file_path;
    *bytes = p->file_bytes;
    return p->file_text;
}

static tri_status load_csv(tri_reader *r, tri_csv *t)
{
    const tri_yaml *at = tri_yaml_get(tri_yaml_get(r->root, "model"), "file");
    char path[4096];
    size_t bytes;
    tri_status st;

    if (!r->read) {
        return tri_reader_place(at, TRI_FAIL(TRI_EIO,
                                             "the table \"%.200s\" "
                                             "cannot be read here",
                                             at->text));
    }
    tri_study_resolve(r->study, at->text, path, sizeof path);
    st = r->read(r->ctx, path, &t->text, &bytes);
    if (st != TRI_OK) {
        return tri_reader_place(at, st);
    }
    st = keep_file(r->study->priv, path, t->text, bytes);
    if (st == TRI_OK) {
        st = tri_csv_cut(t);
    }
    if (st != TRI_OK) {
        tri_error_place(path, 1, 1);
    }
    return st;
}

tri_status tri_study_read_table(tri_reader *r)
{
    tri_csv t = {0};
    column_map m = {NULL, -1, -1, NULL, 0};
    tri_status st;

    if (r->study->model.kind != TRI_MODEL_TABLE) {
        return TRI_OK;
    }
    m.parameters = calloc((size_t)r->study->model.u.table.n_parameters + 1,
                          sizeof *m.parameters);
    m.points = calloc(TRI_CSV_MAX_COLUMNS + 1, sizeof *m.points);
    if (!m.parameters || !m.points) {
        st = no_memory();
        goto done;
    }
    TRI_TRY_GOTO(st, load_csv(r, &t), done);
    TRI_TRY_GOTO(st, map_columns(r, &t, &m), done);
    st = collect(r, &t, &m);
done:
    free(m.parameters);
    free(m.points);
    tri_csv_fini(&t);
    return st;
}

static int better(const tri_study *s, double a, double b)
{
    return !isnan(a) && (isnan(b) || (s->objective.maximize ? a > b : a < b));
}

/* Put the rows in the order of the space's numbers. */
tri_status tri_study_finish_table(tri_reader *r)
{
    struct tri_study_private *p = r->study->priv;
    const tri_space *s = r->study->space;
    size_t n = (size_t)tri_space_count(s) + 1, points = (size_t)p->n_points;
    tri_table *t;
    double *objective;
    unsigned char *failed;
    int64_t i, at;

    if (r->study->model.kind != TRI_MODEL_TABLE) {
        return TRI_OK;
    }
    t = tri_pile_alloc(r->pile, sizeof *t);
    objective = tri_pile_alloc(r->pile, n * points * sizeof *objective);
    failed = tri_pile_alloc(r->pile, n);
    if (!t || !objective || !failed) {
        return no_memory();
    }
    t->optimum = NAN;
    for (i = 0; i < p->n_rows; i++) {
        const double *row = p->row_objective + (size_t)i * points;
        if (tri_space_index(s, p->rows + i * tri_space_n_params(s), &at) !=
            TRI_OK) {
            continue; /* a constraint refuses it */
        }
        memcpy(objective + (size_t)at * points, row, points * sizeof *row);
        failed[at] = p->row_failed[i];
        if (!failed[at] && better(r->study, row[points - 1], t->optimum)) {
            t->optimum = row[points - 1];
        }
    }
    t->n_rows = tri_space_count(s);
    t->n_points = p->n_points;
    t->objective = objective;
    t->failed = failed;
    p->table = t;
    return TRI_OK;
}

const tri_table *tri_study_table(const tri_study *study)
{
    return study->priv->table;
}

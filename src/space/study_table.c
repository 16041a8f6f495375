/*
 * Tables of recorded results: CSV texts to distinct rows, each with the median
 * of its finite objectives.  The files themselves are the caller's matter.
 */
#include "src/space/study_priv.h"

#include "src/space/csv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One file of the table, and which of its columns are what. */
typedef struct part {
    tri_csv csv;
    const tri_table_file *file;
    const tri_yaml *at; /* where the study names it */
    int *parameters;    /* -1: `by`, the file's own value */
    int objective, failed;
    int *points; /* columns of the curve, in order */
    int n_points;
} part;

typedef struct table {
    part parts[TRI_STUDY_MAX_FILES];
    int n_parts;
    int64_t n_rows; /* of all of them */
} table;

static tri_status no_memory(void)
{
    return TRI_FAIL(TRI_ENOMEM, "no memory for the table");
}

/* ---- columns ---- */

/* Say which of several files an error is about, at its place in the study. */
static tri_status blame(const part *p, const tri_yaml *at, int n_parts,
                        tri_status st)
{
    tri_error e = *tri_error_last();

    if (n_parts > 1) {
        tri_error_set(e.code, e.src_file, e.src_line, "%.200s: %.250s",
                      p->file->path, e.sentence);
    }
    return tri_reader_place(at, st);
}

static tri_status find_column(const tri_reader *r, const part *p,
                              const tri_yaml *at, const char *name, int *out)
{
    int i = tri_csv_find(&p->csv, name);

    if (i < 0) {
        return blame(p, at, r->study->model.u.table.n_files,
                     tri_csv_no_column(&p->csv, name));
    }
    *out = i;
    return TRI_OK;
}

static tri_status find_points(const tri_reader *r, part *p, const tri_yaml *at)
{
    const tri_table_spec *spec = &r->study->model.u.table;
    char first[200];

    if (!spec->curve) {
        p->points[0] = p->objective;
        p->n_points = 1;
        return TRI_OK;
    }
    p->n_points = tri_csv_series(&p->csv, spec->curve, p->points);
    if (p->n_points == 0) {
        snprintf(first, sizeof first, "%.150s0", spec->curve);
        return blame(p, at, spec->n_files, tri_csv_no_column(&p->csv, first));
    }
    return TRI_OK;
}

/* Column `by` is not in the file: it is the file. */
static tri_status find_parameter(const tri_reader *r, part *p, int i,
                                 const tri_yaml *at)
{
    const tri_table_spec *spec = &r->study->model.u.table;
    const char *name = spec->parameters[i];

    p->parameters[i] = -1;
    if (!spec->by || strcmp(name, spec->by) != 0) {
        return find_column(r, p, at, name, &p->parameters[i]);
    }
    if (tri_csv_find(&p->csv, name) >= 0) {
        return tri_reader_place(
                p->at, TRI_FAIL(TRI_EEXIST,
                                "model.file: %.200s has a column \"%.60s\" of "
                                "its own",
                                p->file->path, name));
    }
    return TRI_OK;
}

static tri_status map_columns(const tri_reader *r, part *p)
{
    const tri_table_spec *spec = &r->study->model.u.table;
    const tri_yaml *model = tri_yaml_get(r->root, "model");
    const tri_yaml *list = tri_yaml_get(model, "parameters");
    const tri_yaml *item = list->first;
    int i;

    for (i = 0; i < spec->n_parameters; i++) {
        TRI_TRY(find_parameter(r, p, i, item ? item : list));
        item = item ? item->next : NULL;
    }
    TRI_TRY(find_column(r, p, tri_yaml_get(model, "objective"), spec->objective,
                        &p->objective));
    p->failed = -1;
    if (spec->failed) {
        TRI_TRY(find_column(r, p, tri_yaml_get(model, "failed"), spec->failed,
                            &p->failed));
    }
    return find_points(r, p, tri_yaml_get(model, "curve"));
}

/* ---- rows ---- */

/* A cell as a value that lives as long as the study. */
static tri_status keep_value(tri_reader *r, tri_value v, tri_value *out)
{
    if (v.type == TRI_WORD) {
        v.u.word = tri_pile_text(r->pile, v.u.word, strlen(v.u.word));
        if (!v.u.word) {
            return no_memory();
        }
    }
    *out = v;
    return TRI_OK;
}

/* What a file's rows have in the column `by`: "1B" is no number of bytes. */
static tri_value file_value(const part *p)
{
    const char *text = p->file->value;
    tri_value word = {TRI_WORD, {.word = text}};

    return isnan(tri_csv_number(text)) ? word : tri_reader_cell(text);
}

/* A row's place among its like: by parameters, then as in the files. */
typedef struct row_ref {
    const tri_value *values;
    int n;
    int64_t order;
    const part *part;
    char **cells;
} row_ref;

int tri_value_compare(const tri_value *a, const tri_value *b)
{
    double x, y;

    if (a->type == TRI_WORD || b->type == TRI_WORD) {
        return a->type != b->type ? (a->type == TRI_WORD ? 1 : -1)
                                  : strcmp(a->u.word, b->u.word);
    }
    x = tri_value_number(*a);
    y = tri_value_number(*b);
    return (x > y) - (x < y);
}

static int compare_params(const row_ref *x, const row_ref *y)
{
    int i, order = 0;

    for (i = 0; i < x->n && order == 0; i++) {
        order = tri_value_compare(&x->values[i], &y->values[i]);
    }
    return order;
}

static int by_params(const void *a, const void *b)
{
    const row_ref *x = a, *y = b;
    int order = compare_params(x, y);

    return order ? order : (x->order > y->order) - (x->order < y->order);
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

static int has_failed(const row_ref *ref)
{
    int failed = 0;

    return ref->part->failed >= 0 &&
           tri_csv_truth(ref->cells[ref->part->failed], &failed) && failed;
}

/* Every row says whether it failed: another word must not pass for no. */
static tri_status check_failed(const part *p, char **row, const char *name,
                               int *failed)
{
    *failed = 0;
    if (p->failed < 0 || tri_csv_truth(row[p->failed], failed)) {
        return TRI_OK;
    }
    return tri_csv_no_truth(name, row[p->failed]);
}

/* A row that did not fail has results, or says that it has none: "4ms" must
 * not pass for a failure. */
static tri_status check_row(const part *p, char **row,
                            const tri_table_spec *spec)
{
    double x;
    int failed;

    for (int k = 0; k < spec->n_parameters; k++) {
        if (p->parameters[k] >= 0) {
            TRI_TRY(tri_csv_exact(spec->parameters[k], row[p->parameters[k]]));
        }
    }
    TRI_TRY(check_failed(p, row, spec->failed, &failed));
    for (int k = 0; k < p->n_points && !failed; k++) {
        int column = p->points[k];

        if (!tri_csv_result(row[column], &x)) {
            return tri_csv_no_result(p->csv.names[column], row[column]);
        }
    }
    return TRI_OK;
}

static tri_status check_rows(const tri_reader *r, const part *p)
{
    char path[4096];

    for (int64_t i = 0; i < p->csv.n_rows; i++) {
        tri_status st =
                check_row(p, tri_csv_row(&p->csv, i), &r->study->model.u.table);

        if (st != TRI_OK) {
            tri_study_resolve(r->study, p->file->path, path, sizeof path);
            tri_error_place(path, p->csv.lines[i], 1);
            return st;
        }
    }
    return TRI_OK;
}

/* Merge the rows refs[0..n) of one configuration into row `to`. */
static tri_status merge(tri_reader *r, const row_ref *refs, int64_t n,
                        int64_t to)
{
    struct tri_study_private *p = r->study->priv;
    int says_failed = r->study->model.u.table.failed != NULL;
    double *x = malloc((size_t)n * sizeof *x);
    int all_failed = 1, k;
    int64_t i;

    if (!x) {
        return no_memory();
    }
    for (i = 0; says_failed && i < n; i++) {
        all_failed &= has_failed(&refs[i]);
    }
    for (k = 0; k < p->n_points; k++) {
        for (i = 0; i < n; i++) {
            x[i] = has_failed(&refs[i])
                           ? NAN
                           : tri_csv_number(
                                     refs[i].cells[refs[i].part->points[k]]);
        }
        p->row_objective[to * p->n_points + k] = median(x, n);
        /* no such column: failed is what has no value anywhere */
        all_failed &=
                says_failed || isnan(p->row_objective[to * p->n_points + k]);
    }
    p->row_failed[to] = (unsigned char)all_failed;
    memcpy(p->rows + to * refs[0].n, refs[0].values,
           (size_t)refs[0].n * sizeof *p->rows);
    free(x);
    return TRI_OK;
}

static tri_status alloc_rows(tri_reader *r, const table *t)
{
    struct tri_study_private *p = r->study->priv;
    size_t n = (size_t)t->n_rows + 1;
    size_t n_params = (size_t)r->study->model.u.table.n_parameters;

    p->n_points = t->parts[0].n_points;
    p->columns = r->study->model.u.table.parameters;
    p->rows = tri_pile_alloc(r->pile, n * n_params * sizeof *p->rows);
    p->row_objective =
            tri_pile_alloc(r->pile, n * (size_t)p->n_points * sizeof(double));
    p->row_failed = tri_pile_alloc(r->pile, n);
    p->cells = tri_pile_alloc(r->pile, n * n_params * sizeof *p->cells);
    return p->rows && p->row_objective && p->row_failed && p->cells
                   ? TRI_OK
                   : no_memory();
}

/* The values of one row of a file, at p->cells. */
static tri_status refer(tri_reader *r, const part *p, int64_t row, row_ref *ref)
{
    int n = r->study->model.u.table.n_parameters, k;
    tri_value *v = r->study->priv->cells + ref->order * n;

    ref->values = v;
    ref->n = n;
    ref->part = p;
    ref->cells = tri_csv_row(&p->csv, row);
    for (k = 0; k < n; k++) {
        int column = p->parameters[k];

        TRI_TRY(keep_value(r,
                           column < 0 ? file_value(p)
                                      : tri_reader_cell(ref->cells[column]),
                           &v[k]));
    }
    return TRI_OK;
}

static tri_status refer_all(tri_reader *r, const table *t, row_ref *refs)
{
    int64_t order = 0, row;
    int i;

    TRI_TRY(alloc_rows(r, t));
    for (i = 0; i < t->n_parts; i++) {
        for (row = 0; row < t->parts[i].csv.n_rows; row++, order++) {
            refs[order].order = order;
            TRI_TRY(refer(r, &t->parts[i], row, &refs[order]));
        }
    }
    return TRI_OK;
}

static tri_status collect(tri_reader *r, const table *t)
{
    struct tri_study_private *p = r->study->priv;
    row_ref *refs = malloc((size_t)(t->n_rows + 1) * sizeof *refs);
    int64_t i, end;
    tri_status st;

    if (!refs) {
        return no_memory();
    }
    TRI_TRY_GOTO(st, refer_all(r, t, refs), done);
    qsort(refs, (size_t)t->n_rows, sizeof *refs, by_params);
    for (i = 0; i < t->n_rows; i = end) {
        for (end = i;
             end < t->n_rows && compare_params(&refs[i], &refs[end]) == 0;
             end++) {
        }
        TRI_TRY_GOTO(st, merge(r, &refs[i], end - i, p->n_rows), done);
        p->n_rows++;
    }
done:
    free(refs);
    return st;
}

/* ---- files ---- */

/* Cutting changes the text: what an open event attaches is kept apart. */
static tri_status keep_file(struct tri_study_private *p, const char *path,
                            const char *text, size_t bytes)
{
    int n = p->n_files;

    p->files[n].path = tri_pile_text(&p->pile, path, strlen(path));
    p->files[n].text = tri_pile_text(&p->pile, text, bytes);
    p->files[n].bytes = bytes;
    if (!p->files[n].path || !p->files[n].text) {
        return no_memory();
    }
    p->n_files++;
    return TRI_OK;
}

int tri_study_n_files(const tri_study *study)
{
    return study->priv->n_files;
}

const char *tri_study_file(const tri_study *study, int i, const char **path,
                           size_t *bytes)
{
    const struct tri_study_private *p = study->priv;

    if (i < 0 || i >= p->n_files) {
        return NULL;
    }
    *path = p->files[i].path;
    *bytes = p->files[i].bytes;
    return p->files[i].text;
}

static tri_status load_csv(tri_reader *r, part *p)
{
    char path[4096];
    size_t bytes;
    tri_status st;

    if (!r->read) {
        return tri_reader_place(p->at, TRI_FAIL(TRI_EIO,
                                                "the table \"%.200s\" "
                                                "cannot be read here",
                                                p->file->path));
    }
    tri_study_resolve(r->study, p->file->path, path, sizeof path);
    st = r->read(r->ctx, path, &p->csv.text, &bytes);
    if (st != TRI_OK) {
        return tri_reader_place(p->at, st);
    }
    st = keep_file(r->study->priv, path, p->csv.text, bytes);
    if (st == TRI_OK) {
        st = tri_csv_cut(&p->csv);
    }
    if (st != TRI_OK) {
        tri_error_place(path, 1, 1);
    }
    return st;
}

static tri_status read_part(tri_reader *r, table *t, part *p)
{
    size_t n_params = (size_t)r->study->model.u.table.n_parameters;

    p->parameters =
            tri_pile_alloc(r->pile, (n_params + 1) * sizeof *p->parameters);
    TRI_TRY(load_csv(r, p));
    p->points = tri_pile_alloc(r->pile, ((size_t)p->csv.n_columns + 1) *
                                                sizeof *p->points);
    if (!p->parameters || !p->points) {
        return no_memory();
    }
    TRI_TRY(map_columns(r, p));
    TRI_TRY(check_rows(r, p));
    if (p->n_points != t->parts[0].n_points) {
        return tri_reader_place(
                p->at, TRI_FAIL(TRI_ERANGE,
                                "model.file: curves of %.200s have %d points, "
                                "those of %.200s have %d",
                                p->file->path, p->n_points,
                                t->parts[0].file->path, t->parts[0].n_points));
    }
    t->n_rows += p->csv.n_rows;
    return TRI_OK;
}

/* Where the study names each of its files. */
static const tri_yaml *first_file(const tri_reader *r)
{
    const tri_yaml *at = tri_yaml_get(tri_yaml_get(r->root, "model"), "file");

    at = at->kind == TRI_YAML_MAP ? at->first : at;
    return at->kind == TRI_YAML_SCALAR ? at : at->first;
}

tri_status tri_study_read_table(tri_reader *r)
{
    const tri_table_spec *spec = &r->study->model.u.table;
    const tri_yaml *at;
    table t = {.n_parts = 0};
    tri_status st = TRI_OK;

    if (r->study->model.kind != TRI_MODEL_TABLE) {
        return TRI_OK;
    }
    at = first_file(r);
    for (; t.n_parts < spec->n_files; at = at->next) {
        part *p = &t.parts[t.n_parts];

        p->file = &spec->files[t.n_parts++];
        p->at = at;
        TRI_TRY_GOTO(st, read_part(r, &t, p), done);
    }
    st = collect(r, &t);
done:
    while (t.n_parts > 0) {
        tri_csv_fini(&t.parts[--t.n_parts].csv);
    }
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

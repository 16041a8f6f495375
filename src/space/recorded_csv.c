/*
 * Recorded results from a CSV text.  The file itself is the caller's matter.
 */
#include "trireme/recorded.h"

#include "src/space/csv.h"
#include "src/space/reader.h"
#include "src/space/space_priv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CURVE "step_"

typedef struct columns {
    int *params; /* by parameter of the space, -1: none */
    int *points; /* in order */
    int n_points;
    int failed; /* -1: none */
} columns;

/* ---- columns ---------------------------------------------------------- */

static tri_status find_params(const tri_csv *t, const tri_space *s, columns *c)
{
    for (int i = 0; i < tri_space_n_params(s); i++) {
        const char *name = tri_space_param(s, i)->name;

        c->params[i] = tri_csv_find(t, name);
        if (c->params[i] < 0 && tri_space_varies(s, i)) {
            return tri_csv_no_column(t, name);
        }
    }
    return TRI_OK;
}

static tri_status find_objective(const tri_csv *t, const tri_study *study,
                                 columns *c)
{
    const char *name = study->objective.name;
    const char *near;

    c->n_points = tri_csv_series(t, CURVE, c->points);
    if (c->n_points > 0) {
        return TRI_OK;
    }
    c->points[0] = tri_csv_find(t, name);
    c->n_points = 1;
    if (c->points[0] >= 0) {
        return TRI_OK;
    }
    near = tri_closest(name, (const char *const *)t->names, t->n_columns);
    return TRI_FAIL(TRI_EUNKNOWN,
                    "the table has neither a column \"%.60s\" nor \"" CURVE
                    "0\"%s%.60s%s",
                    name, near ? "; did you mean \"" : "", near ? near : "",
                    near ? "\"?" : "");
}

static tri_status find_columns(const tri_csv *t, const tri_study *study,
                               columns *c)
{
    TRI_TRY(find_params(t, study->space, c));
    TRI_TRY(find_objective(t, study, c));
    c->failed = tri_space_find(study->space, "failed") < 0
                        ? tri_csv_find(t, "failed")
                        : -1;
    return TRI_OK;
}

/* ---- cells ------------------------------------------------------------ */

static tri_status read_number(const char *column, const char *cell, double *out)
{
    return tri_csv_result(cell, out) ? TRI_OK : tri_csv_no_result(column, cell);
}

static tri_status read_truth(const char *column, const char *cell, int *out)
{
    return tri_csv_truth(cell, out) ? TRI_OK : tri_csv_no_truth(column, cell);
}

/* Print "name=value " as the study file would have it.  Returns the length
 * needed. */
static size_t print_cell(const tri_param *p, const char *cell, char *buf,
                         size_t bytes)
{
    int inactive = !*cell || strcmp(cell, "inactive") == 0;
    size_t n = (size_t)snprintf(buf, bytes, "%s=", p->name);

    if (inactive || n >= bytes) {
        return n + (size_t)snprintf(n < bytes ? buf + n : NULL,
                                    n < bytes ? bytes - n : 0, "inactive");
    }
    return n + tri_value_print(tri_reader_cell(cell), buf + n, bytes - n);
}

static tri_status print_config(const tri_space *s, char **row, const columns *c,
                               char *text, size_t bytes)
{
    size_t n = 0;

    text[0] = '\0';
    for (int i = 0; i < tri_space_n_params(s); i++) {
        const tri_param *p = tri_space_param(s, i);
        const char *cell = c->params[i] < 0 ? NULL : row[c->params[i]];

        if (!cell) {
            continue;
        }
        if (!*cell && !p->when) {
            return TRI_FAIL(TRI_EPARSE, "\"%.60s\" has no value", p->name);
        }
        TRI_TRY(tri_csv_exact(p->name, cell));
        n += print_cell(p, cell, text + n, bytes - n);
        if (n + 2 > bytes) {
            return TRI_FAIL(TRI_ERANGE, "the row's values are too long");
        }
        strcpy(text + n++, " ");
    }
    return TRI_OK;
}

/* ---- rows ------------------------------------------------------------- */

static tri_status add_config(tri_recorded *r, char **row, const columns *c,
                             int *used)
{
    char text[8192];

    TRI_TRY(print_config(r->study->space, row, c, text, sizeof text));
    return tri_recorded_add_row(r, text, used);
}

static tri_status read_points(const tri_csv *t, char **row, const columns *c,
                              double *values, int *failed)
{
    int any = 0;

    for (int k = 0; k < c->n_points; k++) {
        int column = c->points[k];

        TRI_TRY(read_number(t->names[column], row[column], &values[k]));
        any |= !isnan(values[k]);
    }
    *failed = !any;
    return c->failed < 0
                   ? TRI_OK
                   : read_truth(t->names[c->failed], row[c->failed], failed);
}

static tri_status add_row(tri_recorded *r, const tri_csv *t, int64_t i,
                          const columns *c, double *values)
{
    char **row = tri_csv_row(t, i);
    int failed;
    int used;

    TRI_TRY(read_points(t, row, c, values, &failed));
    TRI_TRY(add_config(r, row, c, &used));
    for (int k = 0; used && k < c->n_points; k++) {
        TRI_TRY(tri_recorded_add(r, k + 1, values[k], failed));
    }
    return TRI_OK;
}

static tri_status add_rows(tri_recorded *r, const tri_csv *t, const columns *c)
{
    double *values = calloc((size_t)c->n_points, sizeof *values);
    tri_status st = TRI_OK;

    if (!values) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a row");
    }
    for (int64_t i = 0; i < t->n_rows && st == TRI_OK; i++) {
        st = add_row(r, t, i, c, values);
        if (st != TRI_OK) {
            tri_error_place(NULL, t->lines[i], 1);
        }
    }
    free(values);
    return st;
}

/* ---- the whole -------------------------------------------------------- */

static tri_status copy_text(const char *text, size_t bytes, tri_csv *t)
{
    if (memchr(text, '\0', bytes)) {
        return TRI_FAIL(TRI_EPARSE, "this is no table in CSV");
    }
    t->text = malloc(bytes + 1);
    if (!t->text) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for the table");
    }
    memcpy(t->text, text, bytes);
    t->text[bytes] = '\0';
    return TRI_OK;
}

static tri_status read_csv(tri_recorded *r, tri_csv *t, columns *c)
{
    c->params = calloc((size_t)r->n_params + 1, sizeof *c->params);
    c->points = calloc(TRI_CSV_MAX_COLUMNS + 1, sizeof *c->points);
    if (!c->params || !c->points) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for the table");
    }
    TRI_TRY(tri_csv_cut(t));
    TRI_TRY(find_columns(t, r->study, c));
    return add_rows(r, t, c);
}

tri_status tri_recorded_read(tri_recorded *r, const char *text, size_t bytes,
                             const char *path)
{
    tri_csv t = {0};
    columns c = {NULL, NULL, 0, -1};
    tri_status st;

    TRI_TRY_GOTO(st, copy_text(text, bytes, &t), done);
    TRI_TRY_GOTO(st, read_csv(r, &t, &c), done);
done:
    if (st != TRI_OK) {
        tri_error_place(path, 1, 1);
    }
    free(c.params);
    free(c.points);
    tri_csv_fini(&t);
    return st == TRI_OK ? tri_recorded_not_empty(r, path) : st;
}

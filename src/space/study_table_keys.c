/*
 * The keys of model kind `table`.  What the files hold is study_table.c's.
 */
#include "src/space/study_priv.h"

#include <string.h>

/* ---- files ------------------------------------------------------------- */

static tri_status wrong_files(const tri_yaml *at)
{
    return tri_reader_wrong(at, "model.file",
                            "a CSV, a list of them, or {COLUMN: {VALUE: CSV, "
                            "...}}");
}

/* The nodes that name files: `at` itself, or what it holds. */
static tri_status read_files(tri_reader *r, const tri_yaml *at,
                             tri_table_spec *t)
{
    int many = at->kind != TRI_YAML_SCALAR, n = many ? at->n : 1;
    const tri_yaml *e = many ? at->first : at;
    tri_table_file *files;

    if (n < 1 || n > TRI_STUDY_MAX_FILES) {
        return tri_reader_place(at,
                                TRI_FAIL(TRI_ERANGE,
                                         "model.file: found %d files, expected "
                                         "from 1 to %d",
                                         n, TRI_STUDY_MAX_FILES));
    }
    files = tri_pile_alloc(r->pile, (size_t)n * sizeof *files);
    if (!files) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for the study");
    }
    for (; t->n_files < n; e = e->next) {
        if (e->kind != TRI_YAML_SCALAR || !*e->text) {
            return wrong_files(e);
        }
        files[t->n_files].path = e->text;
        files[t->n_files++].value = t->by ? e->key : NULL;
    }
    t->files = files;
    return TRI_OK;
}

static tri_status read_file(tri_reader *r, const tri_yaml *at,
                            tri_table_spec *t)
{
    if (at->kind == TRI_YAML_MAP) {
        if (at->n != 1 || at->first->kind != TRI_YAML_MAP) {
            return wrong_files(at);
        }
        t->by = at->first->key;
        at = at->first;
    }
    return read_files(r, at, t);
}

/* A column that says which file a row is of is a parameter, or of no use. */
static tri_status check_by(const tri_yaml *file, const tri_table_spec *t)
{
    int i = 0;

    while (t->by && i < t->n_parameters &&
           strcmp(t->by, t->parameters[i]) != 0) {
        i++;
    }
    if (!t->by || i < t->n_parameters) {
        return TRI_OK;
    }
    return tri_reader_place(file->first,
                            TRI_FAIL(TRI_EUNKNOWN,
                                     "model.file: \"%.60s\" tells the files "
                                     "apart and is not among the parameters",
                                     t->by));
}

/* ---- the whole --------------------------------------------------------- */

/* A time, which may be 0. */
static tri_status read_second(const tri_yaml *at, double *out)
{
    if (tri_reader_is(at, "0")) {
        *out = 0;
        return TRI_OK;
    }
    return tri_reader_time(at, "model.second", out);
}

tri_status tri_study_read_table_keys(tri_reader *r, const tri_yaml *m)
{
    static const char *const keys[] = {"kind",      "file",   "parameters",
                                       "objective", "failed", "curve",
                                       "second"};
    tri_table_spec t = {.second_s = 0.01};
    const tri_yaml *file = tri_yaml_get(m, "file");
    const tri_yaml *p = tri_yaml_get(m, "parameters");

    TRI_TRY(tri_reader_keys(m, "model", keys, TRI_COUNT_OF(keys)));
    if (!file || !p || !tri_yaml_get(m, "objective")) {
        return tri_reader_wrong(m, "model",
                                "file, parameters and objective of the table");
    }
    TRI_TRY(read_file(r, file, &t));
    TRI_TRY(tri_reader_texts(r, p, "model.parameters", &t.parameters,
                             &t.n_parameters));
    if (t.n_parameters == 0) {
        return tri_reader_wrong(p, "model.parameters", "at least one column");
    }
    TRI_TRY(check_by(file, &t));
    TRI_TRY(tri_reader_text(tri_yaml_get(m, "objective"), "model.objective",
                            &t.objective));
    TRI_TRY(tri_reader_text(tri_yaml_get(m, "failed"), "model.failed",
                            &t.failed));
    TRI_TRY(tri_reader_text(tri_yaml_get(m, "curve"), "model.curve", &t.curve));
    TRI_TRY(read_second(tri_yaml_get(m, "second"), &t.second_s));
    r->study->model.u.table = t;
    return TRI_OK;
}

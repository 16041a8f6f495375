/*
 * The space of a table: its columns' values, and its rows alone are valid.
 */
#include "src/space/study_priv.h"

#include <stdlib.h>
#include <string.h>

static int by_value(const void *a, const void *b)
{
    return tri_value_compare(a, b);
}

/* The distinct values of column p of the table, in order. */
static tri_status add_column(const struct tri_study_private *priv,
                             tri_space_builder *b, int p, int n_params)
{
    const char *name = priv->columns[p];
    size_t n = (size_t)priv->n_rows, i, k = 0;
    tri_value *all = malloc((n + 1) * sizeof *all);
    tri_domain d;
    tri_status st;

    if (!all) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for the table");
    }
    for (i = 0; i < n; i++) {
        all[i] = priv->rows[i * (size_t)n_params + (size_t)p];
    }
    qsort(all, n, sizeof *all, by_value);
    for (i = 0; i < n; i++) {
        if (k == 0 || !tri_value_equal(all[k - 1], all[i])) {
            all[k++] = all[i];
        }
    }
    memset(&d, 0, sizeof d);
    d.kind = TRI_DOMAIN_CHOICE;
    d.values = all;
    d.n_values = (int)k;
    st = tri_space_add_param(b, name, &d, NULL, 0, 0);
    free(all);
    return st;
}

tri_status tri_study_add_table(tri_reader *r, tri_space_builder *b,
                               const tri_yaml *at)
{
    struct tri_study_private *priv = r->study->priv;
    int i, n = r->study->model.u.table.n_parameters;

    if (r->study->model.kind != TRI_MODEL_TABLE) {
        return tri_reader_wrong(at, "space",
                                "a map of parameters (space: table goes with "
                                "model kind table)");
    }
    for (i = 0; i < n; i++) {
        TRI_TRY(tri_study_check_name(
                tri_yaml_get(tri_yaml_get(r->root, "model"), "parameters"),
                priv->columns[i], "space", "parameter"));
        TRI_TRY(add_column(priv, b, i, n));
    }
    return tri_space_set_rows(b, priv->rows, priv->n_rows);
}

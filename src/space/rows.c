/*
 * The rows of a table as a space: one diagram over all parameters, made of the
 * sorted rows that the constraints allow.
 */
#include "src/space/space_priv.h"

#include <stdlib.h>
#include <string.h>

static tri_status no_memory(void)
{
    return TRI_FAIL(TRI_ENOMEM, "no memory for solving the space");
}

/* ---- rows of a table -------------------------------------------------- */

typedef struct row_set {
    tri_space *s;
    int32_t *rows; /* value indices, n rows of n_params, sorted */
    int64_t n;
    const int *vary; /* parameters that vary */
    int n_vary;
    tri_dd *dd;
} row_set;

static _Thread_local int row_width; /* for qsort's comparison */

static int by_row(const void *a, const void *b)
{
    const int32_t *x = a, *y = b;
    int i;

    for (i = 0; i < row_width; i++) {
        if (x[i] != y[i]) {
            return x[i] < y[i] ? -1 : 1;
        }
    }
    return 0;
}

/* The node for rows [lo, hi), which agree up to `level`. */
static tri_status row_node(row_set *r, int level, int64_t lo, int64_t hi,
                           int32_t *out)
{
    tri_dd_arc *arcs;
    int64_t at = lo, end;
    uint32_t n = 0;
    tri_status st = TRI_OK;

    if (level == r->n_vary) {
        return tri_dd_end(r->dd, 0, out);
    }
    arcs = calloc((size_t)(hi - lo), sizeof *arcs);
    if (!arcs) {
        return no_memory();
    }
    while (at < hi && st == TRI_OK) {
        int p = r->vary[level];
        int32_t v = r->rows[at * r->s->n_params + p];
        for (end = at; end < hi && r->rows[end * r->s->n_params + p] == v;) {
            end++;
        }
        arcs[n].value = v;
        st = row_node(r, level + 1, at, end, &arcs[n].child);
        n++;
        at = end;
    }
    if (st == TRI_OK) {
        st = tri_dd_node_of(r->dd, arcs, n, 1, out);
    }
    free(arcs);
    return st;
}

static int row_allowed(tri_space *s, const tri_value *row)
{
    tri_value v;
    int i;

    for (i = 0; i < s->n_rules; i++) {
        if (tri_space_eval(s, s->rules[i].expr, row, &v) != TRI_OK || !v.u.i) {
            return 0;
        }
    }
    return 1;
}

static tri_status index_rows(row_set *r, const tri_value *rows, int64_t n)
{
    int n_params = r->s->n_params, p;
    int64_t i;

    for (i = 0; i < n; i++) {
        const tri_value *row = rows + i * n_params;
        int32_t *to = r->rows + r->n * n_params;
        for (p = 0; p < n_params; p++) {
            to[p] = (int32_t)tri_domain_index(&r->s->params[p].domain, row[p]);
            if (to[p] < 0) {
                return TRI_FAIL(TRI_ERANGE,
                                "a row has a value of \"%s\" that "
                                "is not one of its domain",
                                r->s->params[p].name);
            }
        }
        r->n += row_allowed(r->s, row);
    }
    row_width = n_params;
    qsort(r->rows, (size_t)r->n, (size_t)n_params * sizeof *r->rows, by_row);
    return TRI_OK;
}

tri_status tri_space_solve_rows(tri_space *s, const tri_value *rows, int64_t n)
{
    row_set r = {s, NULL, 0, NULL, 0, &s->comps[0].dd};
    size_t cells = (size_t)n * (size_t)s->n_params + 1;
    int *vary = calloc((size_t)s->n_params + 1, sizeof *vary), i;
    tri_status st = TRI_OK;

    s->has_rows = s->n_comps = 1;
    s->comps[0].kind = TRI_COMP_DIAGRAM;
    tri_dd_init(&s->comps[0].dd);
    r.rows = malloc(cells * sizeof *r.rows);
    if (!r.rows || !vary) {
        st = no_memory();
        goto done;
    }
    for (i = 0; i < s->n_params; i++) {
        s->comp_of[i] = tri_space_varies(s, i) ? 0 : -1;
        if (tri_space_varies(s, i)) {
            vary[r.n_vary++] = i;
        }
    }
    r.vary = vary;
    TRI_TRY_GOTO(st, index_rows(&r, rows, n), done);
    if (r.n > 0) {
        st = row_node(&r, 0, 0, r.n, &s->comps[0].dd.root);
    }
    s->n_rows = n;
done:
    tri_dd_freeze(&s->comps[0].dd);
    free(r.rows);
    free(vary);
    return st;
}

/*
 * Facts of a space, and judging one configuration by evaluation (the diagram
 * is not asked, so this is also its reference in tests).
 */
#include "src/space/space_priv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ON_STACK 64

int tri_space_n_params(const tri_space *s)
{
    return s->n_params;
}

const tri_param *tri_space_param(const tri_space *s, int i)
{
    return &s->params[i];
}

int tri_space_find(const tri_space *s, const char *name)
{
    int i;

    for (i = 0; i < s->n_params; i++) {
        if (strcmp(s->params[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

int64_t tri_space_count(const tri_space *s)
{
    return s->count;
}

double tri_space_raw(const tri_space *s)
{
    return s->raw;
}

void tri_space_rank_range(const tri_space *s, int *lo, int *hi)
{
    *lo = s->rank_lo;
    *hi = s->rank_hi;
}

int tri_space_n_rules(const tri_space *s)
{
    return s->n_rules;
}

const char *tri_space_rule(const tri_space *s, int i)
{
    return s->rules[i].name;
}

int tri_space_rule_line(const tri_space *s, int i)
{
    return s->rules[i].built_in ? 0 : s->rules[i].line;
}

int tri_space_n_features(const tri_space *s)
{
    return s->n_features;
}

const char *tri_space_feature_name(const tri_space *s, int i)
{
    return s->features[i].name;
}

/* ---- evaluation ------------------------------------------------------- */

void tri_space_bind(const tri_space *s, const tri_config *c, tri_value *out)
{
    if (s->n_params > 0) {
        memcpy(out, c, (size_t)s->n_params * sizeof *out);
    }
    memcpy(out + s->n_params, s->fixed + s->n_params,
           (size_t)(s->n_vars - s->n_params) * sizeof *out);
}

tri_status tri_space_eval(const tri_space *s, const tri_expr *expr,
                          const tri_config *c, tri_value *out)
{
    tri_value few[ON_STACK], *values = few;
    tri_status st;

    if (s->n_vars > ON_STACK) {
        values = malloc((size_t)s->n_vars * sizeof *values);
        if (!values) {
            return TRI_FAIL(TRI_ENOMEM, "no memory to evaluate \"%.100s\"",
                            expr->text);
        }
    }
    tri_space_bind(s, c, values);
    st = tri_expr_eval(expr, values, out);
    if (values != few) {
        free(values);
    }
    return st;
}

static int is_true(const tri_space *s, const tri_expr *e, const tri_config *c)
{
    tri_value v;

    return tri_space_eval(s, e, c, &v) == TRI_OK && v.type == TRI_BOOL && v.u.i;
}

int tri_space_settle(const tri_space *s, int comp, tri_config *c)
{
    tri_value v;
    int i;

    for (i = 0; i < s->n_params; i++) {
        int p = s->when_order[i];
        if (!s->whens[p] || (comp >= 0 && s->comp_of[p] != comp)) {
            continue;
        }
        if (tri_space_eval(s, s->whens[p], c, &v) != TRI_OK) {
            return 0;
        }
        if (!v.u.i) {
            c[p].type = TRI_INACTIVE;
            c[p].u.i = 0;
        }
    }
    return 1;
}

static int in_domain(const tri_space *s, const tri_config *c, int p)
{
    if (c[p].type == TRI_INACTIVE) {
        return s->whens[p] && !is_true(s, s->whens[p], c);
    }
    return tri_domain_index(&s->params[p].domain, c[p]) >= 0 &&
           (!s->whens[p] || is_true(s, s->whens[p], c));
}

static int in_rows(const tri_space *s, const tri_config *c)
{
    const tri_dd *dd = &s->comps[0].dd;
    int32_t node = dd->root;
    const tri_dd_arc *arc;
    int i;

    for (i = 0; i < s->n_params && node != TRI_DD_NONE; i++) {
        if (s->comp_of[i] < 0) {
            continue;
        }
        arc = tri_dd_find(
                dd, node,
                (int32_t)tri_domain_index(&s->params[i].domain, c[i]));
        node = arc ? arc->child : TRI_DD_NONE;
    }
    return node != TRI_DD_NONE;
}

int tri_space_valid(const tri_space *s, const tri_config *c, int *rule)
{
    int i, refused = -2;

    for (i = 0; i < s->n_params && refused == -2; i++) {
        if (!in_domain(s, c, i)) {
            refused = -1;
        }
    }
    for (i = 0; i < s->n_rules && refused == -2; i++) {
        if (!is_true(s, s->rules[i].expr, c)) {
            refused = i;
        }
    }
    if (refused == -2 && s->has_rows && !in_rows(s, c)) {
        refused = -1;
    }
    if (rule && refused != -2) {
        *rule = refused;
    }
    return refused == -2;
}

tri_status tri_space_ranks(const tri_space *s, const tri_config *c, int *out)
{
    tri_value v;

    if (!s->ranks) {
        *out = 1;
        return TRI_OK;
    }
    TRI_TRY(tri_space_eval(s, s->ranks, c, &v));
    if (v.type != TRI_INT || v.u.i < 1 || v.u.i > INT32_MAX) {
        return TRI_FAIL(TRI_ERANGE, "\"%.100s\" is not a number of ranks",
                        s->ranks->text);
    }
    *out = (int)v.u.i;
    return TRI_OK;
}

tri_status tri_space_feature(const tri_space *s, const tri_config *c, int i,
                             double *out)
{
    tri_value v;

    TRI_TRY(tri_space_eval(s, s->features[i].expr, c, &v));
    if (v.type != TRI_INT && v.type != TRI_REAL) {
        return TRI_FAIL(TRI_ETYPE, "the feature \"%.60s\" is not a number",
                        s->features[i].name);
    }
    *out = v.type == TRI_INT ? (double)v.u.i : v.u.d;
    return TRI_OK;
}

tri_status tri_space_lookup(const tri_space *s, const tri_config *c,
                            const char *name, tri_value *out)
{
    int i;

    for (i = 0; i < s->n_vars; i++) {
        if (strcmp(s->vars[i].name, name) == 0) {
            *out = i < s->n_params ? c[i] : s->fixed[i];
            return TRI_OK;
        }
    }
    return TRI_FAIL(TRI_ENOTFOUND, "no parameter is named \"%.60s\"", name);
}

/* ---- what single rules refuse ----------------------------------------- */

static int has_float(const tri_space *s, const unsigned char *set)
{
    int i;

    for (i = 0; i < s->n_params; i++) {
        if (set[i] && s->n_values[i] < 0) {
            return 1;
        }
    }
    return 0;
}

double tri_space_rule_refused(const tri_space *s, int rule)
{
    unsigned char *set = calloc((size_t)s->n_params + 1, 1);
    tri_subset sub = {set, rule, rule, NULL, NULL, 1, 1, 0};
    double in = 1, out = 1, refused = -1;
    tri_dd dd;
    int i, blame;

    if (!set || s->has_rows) {
        free(set);
        return -1; /* a table's rows were filtered, not solved */
    }
    tri_space_mark(s, s->rules[rule].expr, s->rules[rule].expr->root, set);
    tri_space_close(s, set);
    for (i = 0; i < s->n_params; i++) {
        *(set[i] ? &in : &out) *=
                s->n_values[i] < 0 ? HUGE_VAL : (double)s->n_values[i];
    }
    if (!has_float(s, set) && isfinite(out) &&
        tri_space_subsolve(s, &sub, &dd, &blame) == TRI_OK) {
        refused = (in - (double)tri_dd_count(&dd, dd.root)) * out;
        tri_dd_fini(&dd);
    }
    free(set);
    return refused;
}

/*
 * The keys `space`, `constraints`, `features` and `ranks`: from YAML to a
 * space builder, with what the model brings of its own.
 */
#include "src/space/study_priv.h"

#include <stdio.h>
#include <string.h>

typedef struct maker {
    tri_reader *r;
    tri_space_builder *b;
    const tri_yaml *space; /* NULL: a table's rows */
} maker;

static const char *const columns[] = {
        "trial", "created_s",  "origin",         "state",
        "ranks", "predicted",  "predicted_lo",   "predicted_hi",
        "rule",  "p_feasible", "predicted_bytes"};
static const char *const reserved[] = {
        "min", "max", "abs", "ceil", "floor", "log2",  "sqrt",    "if",
        "and", "or",  "not", "in",   "true",  "false", "inactive"};

static int among(const char *name, const char *const *names, int n)
{
    int i;

    for (i = 0; i < n; i++) {
        if (strcmp(name, names[i]) == 0) {
            return 1;
        }
    }
    return 0;
}

tri_status tri_study_check_name(const tri_yaml *e, const char *name,
                                const char *group, const char *thing)
{
    const char *rest = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
                       "0123456789";
    tri_status st = TRI_OK;

    if (among(name, columns, TRI_COUNT_OF(columns))) {
        st = TRI_FAIL(TRI_EINVAL,
                      "%s.%.60s: a %s cannot have this name: it is a column of "
                      "/trials",
                      group, name, thing);
    } else if (among(name, reserved, TRI_COUNT_OF(reserved))) {
        st = TRI_FAIL(TRI_EINVAL,
                      "%s.%.60s: a %s cannot have this name: expressions use "
                      "it",
                      group, name, thing);
    } else if (!*name || strspn(name, rest) != strlen(name) ||
               (*name >= '0' && *name <= '9') || strlen(name) > 60) {
        st = TRI_FAIL(TRI_EINVAL,
                      "%s: \"%.60s\" cannot be a %s's name: expected letters, "
                      "digits and _, at most 60",
                      group, name, thing);
    }
    if (st != TRI_OK) {
        tri_error_place(NULL, e->key ? e->key_line : e->line,
                        e->key ? e->key_column : e->column);
    }
    return st;
}

static char capital(char c)
{
    return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

/* Whether two names are one in capitals. */
static int same_in_capitals(const char *a, const char *b)
{
    while (*a && capital(*a) == capital(*b)) {
        a++;
        b++;
    }
    return capital(*a) == capital(*b);
}

/* A process is told each parameter in a variable TRIREME_NAME. */
static tri_status check_variable(const tri_yaml *space, const tri_yaml *e)
{
    for (const tri_yaml *o = space->first; o && o != e; o = o->next) {
        if (same_in_capitals(o->key, e->key)) {
            TRI_FAIL(TRI_EEXIST,
                     "space.%.60s: a process would be told it and \"%.60s\" "
                     "in one variable, in capitals; expected names that "
                     "differ in more",
                     e->key, o->key);
            tri_error_place(NULL, e->key_line, e->key_column);
            return TRI_EEXIST;
        }
    }
    return TRI_OK;
}

/* A process is told the run's facts under these names. */
static tri_status check_process_name(const tri_reader *r, const tri_yaml *e)
{
    if (r->study->model.kind != TRI_MODEL_PROCESS) {
        return TRI_OK;
    }
    if (!tri_study_is_fact(e->key)) {
        return check_variable(tri_yaml_get(r->root, "space"), e);
    }
    TRI_FAIL(TRI_EINVAL,
             "space.%.60s: a parameter of a process cannot have this name: "
             "templates and TRIREME_ variables mean the run's own by it",
             e->key);
    tri_error_place(NULL, e->key_line, e->key_column);
    return TRI_EINVAL;
}

/* ---- domains ---- */

static tri_status two_ends(const tri_yaml *at, const char *key,
                           const tri_yaml **lo, const tri_yaml **hi)
{
    if (at->kind != TRI_YAML_LIST || at->n != 2) {
        return tri_reader_wrong(at, key, "[low, high]");
    }
    *lo = at->first;
    *hi = at->first->next;
    return TRI_OK;
}

static tri_status read_int(const tri_yaml *e, const char *key, tri_domain *d)
{
    const tri_yaml *lo = NULL, *hi = NULL, *step = tri_yaml_get(e, "step");

    d->kind = TRI_DOMAIN_INT;
    d->step = 1;
    TRI_TRY(two_ends(tri_yaml_get(e, "int"), key, &lo, &hi));
    TRI_TRY(tri_reader_int(lo, key, INT64_MIN, INT64_MAX, &d->lo));
    TRI_TRY(tri_reader_int(hi, key, INT64_MIN, INT64_MAX, &d->hi));
    TRI_TRY(tri_reader_int(step, key, 1, INT64_MAX, &d->step));
    TRI_TRY(tri_reader_bool(tri_yaml_get(e, "log"), key, &d->log));
    TRI_TRY(tri_reader_bool(tri_yaml_get(e, "log2"), key, &d->log2));
    if (d->log2 && step) {
        return tri_reader_wrong(step, key, "no step beside log2");
    }
    d->log |= d->log2;
    return TRI_OK;
}

static tri_status read_float(const tri_yaml *e, const char *key, tri_domain *d)
{
    const tri_yaml *lo = NULL, *hi = NULL;

    d->kind = TRI_DOMAIN_FLOAT;
    TRI_TRY(two_ends(tri_yaml_get(e, "float"), key, &lo, &hi));
    TRI_TRY(tri_reader_real(lo, key, -1e300, 1e300, 0, &d->flo));
    TRI_TRY(tri_reader_real(hi, key, -1e300, 1e300, 0, &d->fhi));
    return tri_reader_bool(tri_yaml_get(e, "log"), key, &d->log);
}

static tri_status read_choice(tri_reader *r, const tri_yaml *list,
                              const char *key, tri_domain *d)
{
    const tri_yaml *item;
    tri_value *values;
    int n = 0;

    d->kind = TRI_DOMAIN_CHOICE;
    if (list->kind != TRI_YAML_LIST || list->n == 0) {
        return tri_reader_wrong(list, key, "a list of values");
    }
    values = tri_pile_alloc(r->pile, (size_t)list->n * sizeof *values);
    if (!values) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for the study");
    }
    for (item = list->first; item; item = item->next) {
        if (item->kind != TRI_YAML_SCALAR) {
            return tri_reader_wrong(item, key, "a number, word or boolean");
        }
        values[n++] = tri_reader_value(item);
    }
    d->values = values;
    d->n_values = n;
    return TRI_OK;
}

static tri_status read_constant(tri_reader *r, const tri_yaml *e,
                                const char *key, tri_domain *d)
{
    tri_value *v = tri_pile_alloc(r->pile, sizeof *v);

    if (!v) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for the study");
    }
    if (*e->text == '\0' && e->plain) {
        return tri_reader_wrong(e, key, "a value or a domain");
    }
    d->kind = TRI_DOMAIN_CONST;
    *v = tri_reader_value(e);
    d->values = v;
    d->n_values = 1;
    return TRI_OK;
}

static tri_status read_domain(tri_reader *r, const tri_yaml *e, const char *key,
                              tri_domain *d)
{
    static const char *const ints[] = {"int", "step", "log", "log2", "when"};
    static const char *const choices[] = {"choice", "log", "when"};
    static const char *const floats[] = {"float", "log", "when"};
    static const char *const any[] = {"int",  "choice", "float", "when",
                                      "step", "log",    "log2"};

    memset(d, 0, sizeof *d);
    if (e->kind == TRI_YAML_SCALAR) {
        return read_constant(r, e, key, d);
    }
    if (e->kind == TRI_YAML_LIST) {
        return tri_reader_wrong(e, key, "{choice: [..]} around a list");
    }
    if (tri_yaml_get(e, "int")) {
        TRI_TRY(tri_reader_keys(e, key, ints, TRI_COUNT_OF(ints)));
        return read_int(e, key, d);
    }
    if (tri_yaml_get(e, "choice")) {
        TRI_TRY(tri_reader_keys(e, key, choices, TRI_COUNT_OF(choices)));
        TRI_TRY(tri_reader_bool(tri_yaml_get(e, "log"), key, &d->log));
        return read_choice(r, tri_yaml_get(e, "choice"), key, d);
    }
    if (tri_yaml_get(e, "float")) {
        TRI_TRY(tri_reader_keys(e, key, floats, TRI_COUNT_OF(floats)));
        return read_float(e, key, d);
    }
    TRI_TRY(tri_reader_keys(e, key, any, TRI_COUNT_OF(any)));
    return tri_reader_wrong(e, key, "one of int, choice and float");
}

/* A built-in model's parameter must have values that the engine knows. */
static tri_status check_engine(const maker *m, const tri_yaml *e,
                               const char *key, const tri_domain *d)
{
    const tri_engine_param *p = tri_engine_find(e->key);
    char expected[120], found[80];
    tri_value ends[2];
    const tri_value *v = d->values;
    int n = d->n_values, i;

    if (!p || !tri_engine_is_for(p, &m->r->study->model)) {
        return TRI_OK;
    }
    if (d->kind == TRI_DOMAIN_FLOAT) {
        ends[0].type = TRI_REAL;
        ends[0].u.d = d->flo;
        v = ends;
        n = 1;
    } else if (d->kind == TRI_DOMAIN_INT) {
        ends[0] = tri_value_of_int(d->lo);
        ends[1] = tri_value_of_int(d->hi);
        v = ends;
        n = 2;
    }
    for (i = 0; i < n; i++) {
        if (!tri_engine_accepts(p, v[i], expected, sizeof expected)) {
            tri_value_print(v[i], found, sizeof found);
            return tri_reader_place(e, TRI_FAIL(TRI_ERANGE,
                                                "%s: found %s, expected %s",
                                                key, found, expected));
        }
    }
    return TRI_OK;
}

/* Sizes are the model's: what the engine would not follow is not read. */
static tri_status check_size(const tri_yaml *e, const char *key)
{
    static const char *const sizes[] = {"layers",   "hidden", "heads",
                                        "sequence", "vocab",  "ffn",
                                        "inputs",   "outputs"};
    tri_status st;

    if (!among(e->key, sizes, TRI_COUNT_OF(sizes))) {
        return TRI_OK;
    }
    st = TRI_FAIL(TRI_EINVAL,
                  "%s: a built-in model's sizes stand under \"model\" and do "
                  "not vary",
                  key);
    tri_error_place(NULL, e->key_line, e->key_column);
    return st;
}

static tri_status add_param(maker *m, const tri_yaml *e)
{
    const tri_yaml *when = tri_yaml_get(e, "when");
    const tri_yaml *at = when ? when : e;
    char key[80];
    tri_domain d;
    tri_status st;

    TRI_TRY(tri_study_check_name(e, e->key, "space", "parameter"));
    TRI_TRY(check_process_name(m->r, e));
    snprintf(key, sizeof key, "space.%s", e->key);
    TRI_TRY(read_domain(m->r, e, key, &d));
    if (when && when->kind != TRI_YAML_SCALAR) {
        return tri_reader_wrong(when, key, "a condition after \"when\"");
    }
    if (tri_model_is_built_in(m->r->study->model.kind)) {
        TRI_TRY(check_engine(m, e, key, &d));
        TRI_TRY(check_size(e, key));
    }
    st = tri_space_add_param(m->b, e->key, &d, when ? when->text : NULL,
                             at->line, at->column);
    return st;
}

/* ---- what the model brings ---- */

static int name_known(void *ctx, const char *name)
{
    const maker *m = ctx;
    const tri_engine_param *p = tri_engine_find(name);

    return tri_yaml_get(m->space, name) ||
           (p && p->preset.type != TRI_INACTIVE);
}

static int name_may_be_inactive(void *ctx, const char *name)
{
    const maker *m = ctx;

    return tri_yaml_get(tri_yaml_get(m->space, name), "when") != NULL;
}

static tri_status add_defaults(maker *m)
{
    int i;

    TRI_TRY(tri_engine_add_sizes(m->b, &m->r->study->model));
    for (i = 0; i < tri_n_engine_params; i++) {
        const tri_engine_param *p = &tri_engine_params[i];
        if (p->preset.type != TRI_INACTIVE &&
            tri_engine_is_for(p, &m->r->study->model) &&
            !tri_yaml_get(m->space, p->name)) {
            TRI_TRY(tri_space_add_constant(m->b, p->name, p->preset));
        }
    }
    return TRI_OK;
}

static int has_unbuilt_value(const tri_yaml *e, const char *name)
{
    static const struct {
        const char *name, *built;
    } rows[] = {{"threads", "1"}, {"gemm", "blas"}};
    const tri_yaml *list = tri_yaml_get(e, "choice"), *item;
    int i;

    if (!e) {
        return 0;
    }
    for (i = 0; i < TRI_COUNT_OF(rows); i++) {
        if (strcmp(rows[i].name, name) != 0) {
            continue;
        }
        for (item = list ? list->first : NULL; item; item = item->next) {
            if (!tri_reader_is(item, rows[i].built)) {
                return 1;
            }
        }
        return !list && !tri_reader_is(e, rows[i].built);
    }
    return 0;
}

/* A rule about values that are not built yet is only brought where the study
 * names such a value. */
static tri_status add_rule(void *ctx, const char *name, const char *text)
{
    maker *m = ctx;
    const char *param =
            strncmp(name, "not built yet: ", 15) == 0 ? name + 15 : NULL;

    if (param && !has_unbuilt_value(tri_yaml_get(m->space, param), param)) {
        return TRI_OK;
    }
    return tri_space_add_constraint(m->b, text, name, 1, 0, 0);
}

static tri_status add_notes(maker *m)
{
    const tri_yaml *e;

    for (e = m->space->first; e; e = e->next) {
        const tri_engine_param *p = tri_engine_find(e->key);

        if (!p || !tri_engine_is_for(p, &m->r->study->model)) {
            TRI_TRY(tri_reader_note(m->r, 0,
                                    "space.%s is no parameter of the engine: "
                                    "it takes part in expressions only",
                                    e->key));
        } else if (has_unbuilt_value(e, e->key)) {
            TRI_TRY(tri_reader_note(m->r, 0,
                                    "space.%s has values that are read, but "
                                    "not built yet; they are refused",
                                    e->key));
        }
    }
    return TRI_OK;
}

static tri_status add_model(maker *m)
{
    tri_rule_names names = {m, name_known, name_may_be_inactive};

    if (!m->space || !tri_model_is_built_in(m->r->study->model.kind)) {
        return TRI_OK;
    }
    TRI_TRY(add_defaults(m));
    TRI_TRY(tri_engine_add_rules(m->r->study->model.kind, &names, add_rule, m));
    return add_notes(m);
}

/* ---- the other keys ---- */

static tri_status add_constraints(maker *m)
{
    const tri_yaml *list = tri_yaml_get(m->r->root, "constraints"), *item;

    if (!list) {
        return TRI_OK;
    }
    if (list->kind == TRI_YAML_MAP) {
        return tri_reader_wrong(list, "constraints", "a list of conditions");
    }
    if (list->kind == TRI_YAML_SCALAR) {
        return tri_space_add_constraint(m->b, list->text, NULL, 0, list->line,
                                        list->column);
    }
    for (item = list->first; item; item = item->next) {
        if (item->kind != TRI_YAML_SCALAR) {
            return tri_reader_wrong(item, "constraints", "a condition");
        }
        TRI_TRY(tri_space_add_constraint(m->b, item->text, NULL, 0, item->line,
                                         item->column + !item->plain));
    }
    return TRI_OK;
}

static tri_status add_features(maker *m)
{
    const tri_yaml *map = tri_yaml_get(m->r->root, "features"), *e;

    if (!map) {
        return TRI_OK;
    }
    if (map->kind != TRI_YAML_MAP) {
        return tri_reader_wrong(map, "features", "a map of names and formulas");
    }
    for (e = map->first; e; e = e->next) {
        if (e->kind != TRI_YAML_SCALAR) {
            return tri_reader_wrong(e, "features", "a formula");
        }
        TRI_TRY(tri_study_check_name(e, e->key, "features", "feature"));
        TRI_TRY(tri_space_add_feature(m->b, e->key, e->text, e->line,
                                      e->column + !e->plain));
    }
    return TRI_OK;
}

static tri_status add_ranks(maker *m)
{
    const tri_yaml *at = tri_yaml_get(m->r->root, "ranks");
    int built_in = m->space && tri_model_is_built_in(m->r->study->model.kind);
    tri_rule_names names = {m, name_known, name_may_be_inactive};
    char product[256] = "", text[2048];

    if (at && at->kind != TRI_YAML_SCALAR) {
        return tri_reader_wrong(at, "ranks", "a formula");
    }
    if (at) {
        TRI_TRY(tri_space_set_ranks(m->b, at->text, at->line,
                                    at->column + !at->plain));
    }
    if (!built_in || (at && strcmp(at->text, "dp * tp * pp") == 0)) {
        return TRI_OK;
    }
    if (!tri_engine_guard("dp * tp * pp", &names, product, sizeof product)) {
        return TRI_FAIL(TRI_EINTERNAL, "the engine's mesh has no name");
    }
    if (!at) {
        return tri_space_set_ranks(m->b, product, 0, 0);
    }
    if (strlen(at->text) + strlen(product) + 8 > sizeof text) {
        return tri_reader_wrong(at, "ranks", "a shorter formula");
    }
    snprintf(text, sizeof text, "(%.1700s) == %s", at->text, product);
    return tri_space_add_constraint(m->b, text, "ranks = dp * tp * pp", 1,
                                    at->line, at->column);
}

/* ---- the whole ---- */

static tri_status add_all(maker *m)
{
    const tri_yaml *at = tri_yaml_get(m->r->root, "space"), *e;

    if (tri_reader_is(at, "table")) {
        TRI_TRY(tri_study_add_table(m->r, m->b, at));
    } else if (m->r->study->model.kind == TRI_MODEL_TABLE) {
        return tri_reader_wrong(at, "space", "table, with model kind table");
    } else if (at->kind != TRI_YAML_MAP || at->n == 0) {
        return tri_reader_wrong(at, "space", "a map of parameters, or table");
    } else {
        m->space = at;
        for (e = at->first; e; e = e->next) {
            TRI_TRY(add_param(m, e));
        }
    }
    TRI_TRY(add_constraints(m)); /* first: a refusal names a line of the file */
    TRI_TRY(add_model(m));
    TRI_TRY(add_features(m));
    return add_ranks(m);
}

tri_status tri_study_read_space(tri_reader *r)
{
    maker m = {r, NULL, NULL};
    tri_status st;

    TRI_TRY(tri_space_builder_create(&m.b));
    st = add_all(&m);
    if (st == TRI_OK) {
        st = tri_space_create(m.b, &r->study->space);
    }
    tri_space_builder_destroy(m.b);
    return st;
}

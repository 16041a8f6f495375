/*
 * Collecting a space: parameters, constants, constraints; then names are
 * resolved, expressions parsed and checked, and the parts handed to the
 * solver.
 */
#include "src/space/space_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct item { /* a text that becomes an expression, with its place */
    const char *name;
    const char *text;
    int built_in, line, column;
} item;

typedef struct param_item {
    tri_param param;
    const char *when;
    int line, column;
} param_item;

typedef struct constant_item {
    const char *name;
    tri_value value;
} constant_item;

struct tri_space_builder {
    tri_arena arena;
    param_item *params;
    size_t n_params, cap_params;
    constant_item *constants;
    size_t n_constants, cap_constants;
    item *rules;
    size_t n_rules, cap_rules;
    item *features;
    size_t n_features, cap_features;
    item ranks;
    const char **words;
    size_t n_words, cap_words;
    tri_value *rows;
    int64_t n_rows;
};

static tri_status no_memory(void)
{
    return TRI_FAIL(TRI_ENOMEM, "no memory for the space");
}

tri_status tri_space_builder_create(tri_space_builder **out)
{
    tri_space_builder *b = calloc(1, sizeof *b);

    if (!b) {
        return no_memory();
    }
    *out = b;
    return TRI_OK;
}

void tri_space_builder_destroy(tri_space_builder *b)
{
    if (b) {
        free(b->params);
        free(b->constants);
        free(b->rules);
        free(b->features);
        free(b->words);
        free(b->rows);
        tri_arena_fini(&b->arena);
        free(b);
    }
}

void tri_space_blame(int line, int column)
{
    tri_error e = *tri_error_last();

    if (line > 0) {
        tri_error_set(e.code, e.src_file, e.src_line, "%s", e.sentence);
        tri_error_place(
                e.file[0] ? e.file : NULL, line,
                column + (e.line == 1 && e.column > 0 ? e.column - 1 : 0));
    }
}

/* ---- words ------------------------------------------------------------ */

static const char *intern(tri_space_builder *b, const char *word)
{
    const char **grown;
    size_t i;

    for (i = 0; i < b->n_words; i++) {
        if (strcmp(b->words[i], word) == 0) {
            return b->words[i];
        }
    }
    grown = tri_grow(b->words, b->n_words, &b->cap_words, sizeof *grown);
    if (!grown) {
        return NULL;
    }
    b->words = grown;
    word = tri_arena_text(&b->arena, word, strlen(word));
    if (word) {
        b->words[b->n_words++] = word;
    }
    return word;
}

static tri_status intern_value(tri_space_builder *b, tri_value *v)
{
    if (v->type == TRI_WORD) {
        v->u.word = intern(b, v->u.word);
        if (!v->u.word) {
            return no_memory();
        }
    }
    return TRI_OK;
}

/* ---- adding ----------------------------------------------------------- */

static int find_param(const tri_space_builder *b, const char *name)
{
    size_t i;

    for (i = 0; i < b->n_params; i++) {
        if (strcmp(b->params[i].param.name, name) == 0) {
            return (int)i;
        }
    }
    return -1;
}

static tri_status check_numbers(const char *name, const tri_domain *d)
{
    if (d->kind == TRI_DOMAIN_INT) {
        if (d->lo > d->hi) {
            return TRI_FAIL(TRI_ERANGE,
                            "\"%s\": the range [%lld, %lld] is "
                            "empty",
                            name, (long long)d->lo, (long long)d->hi);
        }
        if (d->step < 1) {
            return TRI_FAIL(TRI_ERANGE,
                            "\"%s\": a step of %lld; expected at "
                            "least 1",
                            name, (long long)d->step);
        }
        if ((uint64_t)d->hi - (uint64_t)d->lo >= (uint64_t)INT64_MAX) {
            return TRI_FAIL(TRI_ERANGE, "\"%s\": a range too wide to count",
                            name);
        }
        if ((d->log2 || d->log) && d->lo < 1) {
            return TRI_FAIL(TRI_ERANGE,
                            "\"%s\": a logarithmic range starts "
                            "at 1 or above, not at %lld",
                            name, (long long)d->lo);
        }
        if (d->log2 && tri_domain_count(d) == 0) {
            return TRI_FAIL(TRI_ERANGE,
                            "\"%s\": no power of two in [%lld, "
                            "%lld]",
                            name, (long long)d->lo, (long long)d->hi);
        }
    }
    if (d->kind == TRI_DOMAIN_FLOAT) {
        if (!(d->flo < d->fhi) || !(d->fhi - d->flo < 1e308)) {
            return TRI_FAIL(TRI_ERANGE,
                            "\"%s\": the range [%g, %g] is not "
                            "one of low and high",
                            name, d->flo, d->fhi);
        }
        if (d->log && !(d->flo > 0)) {
            return TRI_FAIL(TRI_ERANGE,
                            "\"%s\": a logarithmic range starts "
                            "above 0, not at %g",
                            name, d->flo);
        }
    }
    return TRI_OK;
}

static tri_status check_values(const char *name, const tri_domain *d)
{
    char text[80];
    int i, j;

    if (d->n_values < 1) {
        return TRI_FAIL(TRI_ERANGE, "\"%s\": a choice of nothing", name);
    }
    for (i = 0; i < d->n_values; i++) {
        if (d->values[i].type == TRI_WORD &&
            strcmp(d->values[i].u.word, "inactive") == 0) {
            return TRI_FAIL(TRI_EINVAL,
                            "\"%s\": \"inactive\" is no value of "
                            "a parameter",
                            name);
        }
        /* Long lists are checked against their neighbours only. */
        for (j = i > 1000 ? i - 1000 : 0; j < i; j++) {
            if (tri_value_equal(d->values[i], d->values[j])) {
                tri_value_print(d->values[i], text, sizeof text);
                return TRI_FAIL(TRI_EEXIST,
                                "\"%s\": the value %s stands "
                                "twice",
                                name, text);
            }
        }
    }
    return TRI_OK;
}

static tri_status copy_values(tri_space_builder *b, const tri_domain *from,
                              tri_domain *to)
{
    size_t n = (size_t)from->n_values;
    tri_value *copy = tri_arena_alloc(&b->arena, n * sizeof *copy);
    size_t i;

    if (!copy) {
        return no_memory();
    }
    for (i = 0; i < n; i++) {
        copy[i] = from->values[i];
        TRI_TRY(intern_value(b, &copy[i]));
    }
    to->values = copy;
    return TRI_OK;
}

static tri_status list_ints(tri_space_builder *b, tri_domain *d)
{
    int64_t n, i;
    tri_value *list;

    d->values = NULL;
    n = tri_domain_count(d);
    d->n_values = n > INT32_MAX ? INT32_MAX : (int)n;
    if (n > TRI_SPACE_LISTED) {
        return TRI_OK;
    }
    list = tri_arena_alloc(&b->arena, (size_t)n * sizeof *list);
    if (!list) {
        return no_memory();
    }
    for (i = 0; i < n; i++) {
        list[i] = tri_domain_at(d, i);
    }
    d->values = list;
    return TRI_OK;
}

static tri_status add_param(tri_space_builder *b, const char *name,
                            const tri_domain *domain, const char *when,
                            int line, int column)
{
    param_item p = {
            {NULL, *domain, NULL, (int)b->n_params}, NULL, line, column};
    param_item *grown;

    if (find_param(b, name) >= 0) {
        return TRI_FAIL(TRI_EEXIST, "the parameter \"%.60s\" stands twice",
                        name);
    }
    if (strcmp(name, "inactive") == 0 || strcmp(name, "true") == 0 ||
        strcmp(name, "false") == 0) {
        return TRI_FAIL(TRI_EINVAL, "\"%s\" cannot be a parameter's name",
                        name);
    }
    if (domain->kind == TRI_DOMAIN_CHOICE || domain->kind == TRI_DOMAIN_CONST) {
        TRI_TRY(check_values(name, domain));
        TRI_TRY(copy_values(b, domain, &p.param.domain));
    } else {
        TRI_TRY(check_numbers(name, domain));
    }
    if (domain->kind == TRI_DOMAIN_INT) {
        TRI_TRY(list_ints(b, &p.param.domain));
    }
    p.param.name = tri_arena_text(&b->arena, name, strlen(name));
    p.when = when ? tri_arena_text(&b->arena, when, strlen(when)) : NULL;
    grown = tri_grow(b->params, b->n_params, &b->cap_params, sizeof p);
    if (!grown || !p.param.name || (when && !p.when)) {
        return no_memory();
    }
    b->params = grown;
    b->params[b->n_params++] = p;
    return TRI_OK;
}

tri_status tri_space_add_param(tri_space_builder *b, const char *name,
                               const tri_domain *domain, const char *when,
                               int line, int column)
{
    tri_status st = add_param(b, name, domain, when, line, column);

    if (st != TRI_OK) {
        tri_space_blame(line, column);
    }
    return st;
}

tri_status tri_space_add_constant(tri_space_builder *b, const char *name,
                                  tri_value value)
{
    constant_item c = {tri_arena_text(&b->arena, name, strlen(name)), value};
    constant_item *grown =
            tri_grow(b->constants, b->n_constants, &b->cap_constants, sizeof c);

    if (!grown || !c.name) {
        return no_memory();
    }
    b->constants = grown;
    TRI_TRY(intern_value(b, &c.value));
    b->constants[b->n_constants++] = c;
    return TRI_OK;
}

tri_status tri_space_add_word(tri_space_builder *b, const char *word)
{
    return intern(b, word) ? TRI_OK : no_memory();
}

static tri_status make_item(tri_space_builder *b, const char *name,
                            const char *text, int line, int column, item *out)
{
    item it = {NULL, NULL, 0, line, column};

    it.text = tri_arena_text(&b->arena, text, strlen(text));
    it.name = name ? tri_arena_text(&b->arena, name, strlen(name)) : it.text;
    if (!it.text || !it.name) {
        return no_memory();
    }
    *out = it;
    return TRI_OK;
}

tri_status tri_space_add_constraint(tri_space_builder *b, const char *text,
                                    const char *rule, int built_in, int line,
                                    int column)
{
    item it, *grown;

    TRI_TRY(make_item(b, rule, text, line, column, &it));
    it.built_in = built_in;
    grown = tri_grow(b->rules, b->n_rules, &b->cap_rules, sizeof it);
    if (!grown) {
        return no_memory();
    }
    b->rules = grown;
    b->rules[b->n_rules++] = it;
    return TRI_OK;
}

tri_status tri_space_add_feature(tri_space_builder *b, const char *name,
                                 const char *text, int line, int column)
{
    item it, *grown;

    TRI_TRY(make_item(b, name, text, line, column, &it));
    grown = tri_grow(b->features, b->n_features, &b->cap_features, sizeof it);
    if (!grown) {
        return no_memory();
    }
    b->features = grown;
    b->features[b->n_features++] = it;
    return TRI_OK;
}

tri_status tri_space_set_ranks(tri_space_builder *b, const char *text, int line,
                               int column)
{
    return make_item(b, "ranks", text, line, column, &b->ranks);
}

tri_status tri_space_set_rows(tri_space_builder *b, const tri_value *rows,
                              int64_t n_rows)
{
    size_t n = (size_t)n_rows * b->n_params, i;
    tri_value *copy = malloc((n + 1) * sizeof *copy);

    if (!copy) {
        return no_memory();
    }
    for (i = 0; i < n; i++) {
        copy[i] = rows[i];
    }
    free(b->rows);
    b->rows = copy;
    b->n_rows = n_rows;
    return TRI_OK;
}

/* ---- making the space ------------------------------------------------- */

static unsigned types_of(const tri_domain *d)
{
    unsigned types = 0;
    int i;

    if (d->kind == TRI_DOMAIN_FLOAT) {
        return TRI_BIT(TRI_REAL);
    }
    if (d->kind == TRI_DOMAIN_INT) {
        return TRI_BIT(TRI_INT);
    }
    for (i = 0; i < d->n_values; i++) {
        types |= TRI_BIT(d->values[i].type);
    }
    return types;
}

static tri_status alloc_arrays(tri_space *s, const tri_space_builder *b)
{
    size_t n = b->n_params + b->n_constants + 1;

    s->params = tri_arena_alloc(&s->arena, n * sizeof *s->params);
    s->n_values = tri_arena_alloc(&s->arena, n * sizeof *s->n_values);
    s->vars = tri_arena_alloc(&s->arena, n * sizeof *s->vars);
    s->fixed = tri_arena_alloc(&s->arena, n * sizeof *s->fixed);
    s->whens = tri_arena_alloc(&s->arena, n * sizeof *s->whens);
    s->when_order = tri_arena_alloc(&s->arena, n * sizeof *s->when_order);
    s->comp_of = tri_arena_alloc(&s->arena, n * sizeof *s->comp_of);
    s->comps = tri_arena_alloc(&s->arena, n * sizeof *s->comps);
    s->rules = tri_arena_alloc(&s->arena, (b->n_rules + 1) * sizeof *s->rules);
    s->features = tri_arena_alloc(&s->arena,
                                  (b->n_features + 1) * sizeof *s->features);
    return s->params && s->n_values && s->vars && s->fixed && s->whens &&
                           s->when_order && s->comp_of && s->comps &&
                           s->rules && s->features
                   ? TRI_OK
                   : no_memory();
}

static void declare_params(tri_space *s, const tri_space_builder *b)
{
    size_t i;

    s->n_params = (int)b->n_params;
    for (i = 0; i < b->n_params; i++) {
        const tri_domain *d = &b->params[i].param.domain;
        tri_var var = {b->params[i].param.name, types_of(d),
                       b->params[i].when != NULL, NULL};
        s->params[i] = b->params[i].param;
        s->n_values[i] = tri_domain_count(d);
        s->vars[i] = var;
        s->fixed[i].type = TRI_VALUE_ERROR;
        if (s->n_values[i] == 1 && !b->params[i].when) {
            s->fixed[i] = tri_domain_at(d, 0);
        }
    }
    s->n_vars = s->n_params;
}

static void declare_constants(tri_space *s, const tri_space_builder *b)
{
    size_t i;

    for (i = 0; i < b->n_constants; i++) {
        const constant_item *c = &b->constants[i];
        tri_var var = {c->name, TRI_BIT(c->value.type), 0, NULL};
        if (find_param(b, c->name) < 0) {
            s->vars[s->n_vars] = var;
            s->fixed[s->n_vars++] = c->value;
        }
    }
}

static tri_status parse_item(tri_space *s, const item *it, tri_type want,
                             tri_expr **out)
{
    tri_status st = tri_expr_parse(it->text, s->vars, s->n_vars, s->words,
                                   s->n_words, want, out);

    if (st != TRI_OK) {
        tri_space_blame(it->line, it->column);
    }
    return st;
}

static tri_status parse_whens(tri_space *s, const tri_space_builder *b)
{
    tri_status st;
    int i;

    for (i = 0; i < s->n_params; i++) {
        const param_item *p = &b->params[i];
        if (!p->when) {
            continue;
        }
        st = tri_expr_read(p->when, s->vars, s->n_vars, s->words, s->n_words,
                           &s->whens[i]);
        if (st != TRI_OK) {
            tri_space_blame(p->line, p->column);
            return st;
        }
        s->params[i].when = s->vars[i].when = s->whens[i];
    }
    for (i = 0; i < s->n_params; i++) {
        if (s->whens[i]) {
            st = tri_expr_check(s->whens[i], s->vars, TRI_BOOL);
            if (st != TRI_OK) {
                tri_space_blame(b->params[i].line, b->params[i].column);
                return st;
            }
        }
    }
    return TRI_OK;
}

/* Put i behind all that its `when` names.  state: 0 new, 1 under way, 2 in. */
static tri_status order_when(tri_space *s, const tri_space_builder *b, int i,
                             unsigned char *state, int *n)
{
    int j;

    if (state[i] == 2) {
        return TRI_OK;
    }
    if (state[i] == 1) {
        tri_status st =
                TRI_FAIL(TRI_EINVAL, "the `when` of \"%s\" depends on itself",
                         s->params[i].name);
        tri_space_blame(b->params[i].line, b->params[i].column);
        return st;
    }
    state[i] = 1;
    for (j = 0; s->whens[i] && j < s->n_params; j++) {
        if (tri_expr_uses(s->whens[i], j)) {
            TRI_TRY(order_when(s, b, j, state, n));
        }
    }
    state[i] = 2;
    s->when_order[(*n)++] = i;
    return TRI_OK;
}

static tri_status order_whens(tri_space *s, const tri_space_builder *b)
{
    unsigned char *state = tri_arena_alloc(&s->arena, b->n_params + 1);
    int i, n = 0;

    if (!state) {
        return no_memory();
    }
    for (i = 0; i < s->n_params; i++) {
        TRI_TRY(order_when(s, b, i, state, &n));
    }
    return TRI_OK;
}

static void split_goal(tri_space *s, const tri_expr *e, int at, int rule)
{
    const tri_node *n = &e->nodes[at];
    tri_goal g = {e, at, rule, -1};

    if (n->op == TRI_OP_AND) {
        split_goal(s, e, n->a, rule);
        split_goal(s, e, n->b, rule);
        return;
    }
    s->goals[s->n_goals++] = g;
}

static tri_status parse_rules(tri_space *s, const tri_space_builder *b)
{
    size_t i, n_nodes = 1;

    for (i = 0; i < b->n_rules; i++) {
        const item *it = &b->rules[i];
        tri_rule r = {it->name, NULL, it->line, it->column, it->built_in};
        TRI_TRY(parse_item(s, it, TRI_BOOL, &r.expr));
        s->rules[s->n_rules++] = r;
        n_nodes += (size_t)r.expr->n_nodes;
    }
    s->goals = tri_arena_alloc(&s->arena, n_nodes * sizeof *s->goals);
    s->goal_comp = tri_arena_alloc(&s->arena, n_nodes * sizeof *s->goal_comp);
    if (!s->goals || !s->goal_comp) {
        return no_memory();
    }
    for (i = 0; i < b->n_rules; i++) {
        split_goal(s, s->rules[i].expr, s->rules[i].expr->root, (int)i);
    }
    return TRI_OK;
}

static tri_status parse_features(tri_space *s, const tri_space_builder *b)
{
    size_t i;

    for (i = 0; i < b->n_features; i++) {
        tri_named_expr f = {b->features[i].name, NULL};
        TRI_TRY(parse_item(s, &b->features[i], TRI_REAL, &f.expr));
        s->features[s->n_features++] = f;
    }
    if (b->ranks.text) {
        TRI_TRY(parse_item(s, &b->ranks, TRI_INT, &s->ranks));
    }
    return TRI_OK;
}

static tri_status build(tri_space *s, tri_space_builder *b)
{
    size_t i;

    TRI_TRY(alloc_arrays(s, b));
    declare_params(s, b);
    declare_constants(s, b);
    s->words = tri_arena_alloc(&s->arena, (b->n_words + 1) * sizeof *s->words);
    if (!s->words) {
        return no_memory();
    }
    for (i = 0; i < b->n_words; i++) {
        s->words[s->n_words++] = b->words[i];
    }
    TRI_TRY(parse_whens(s, b));
    TRI_TRY(order_whens(s, b));
    TRI_TRY(parse_rules(s, b));
    TRI_TRY(parse_features(s, b));
    return tri_space_solve(s, b->rows, b->rows ? b->n_rows : -1);
}

tri_status tri_space_create(tri_space_builder *b, tri_space **out)
{
    tri_space *s = calloc(1, sizeof *s);
    tri_arena none = {NULL, 0};
    tri_status st;

    if (!s) {
        return no_memory();
    }
    s->arena = b->arena; /* names, words and domains move over */
    b->arena = none;
    st = build(s, b);
    if (st != TRI_OK) {
        tri_space_destroy(s);
        return st;
    }
    *out = s;
    return TRI_OK;
}

void tri_space_destroy(tri_space *s)
{
    int i;

    if (!s) {
        return;
    }
    for (i = 0; i < s->n_comps; i++) {
        tri_dd_fini(&s->comps[i].dd);
    }
    for (i = 0; i < s->n_params; i++) {
        tri_expr_destroy(s->whens[i]);
    }
    for (i = 0; i < s->n_rules; i++) {
        tri_expr_destroy(s->rules[i].expr);
    }
    for (i = 0; i < s->n_features; i++) {
        tri_expr_destroy(s->features[i].expr);
    }
    tri_expr_destroy(s->ranks);
    tri_arena_fini(&s->arena);
    free(s);
}

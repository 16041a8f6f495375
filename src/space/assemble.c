/*
 * Making a space of what was collected: names are resolved, expressions parsed
 * and checked, constraints split, and all of it handed to the solver.
 */
#include "src/space/builder.h"

#include <stdlib.h>
#include <string.h>

static tri_status no_memory(void)
{
    return TRI_FAIL(TRI_ENOMEM, "no memory for the space");
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

    s->params = tri_pile_alloc(&s->pile, n * sizeof *s->params);
    s->name_hashes = tri_pile_alloc(&s->pile, n * sizeof *s->name_hashes);
    s->n_values = tri_pile_alloc(&s->pile, n * sizeof *s->n_values);
    s->vars = tri_pile_alloc(&s->pile, n * sizeof *s->vars);
    s->fixed = tri_pile_alloc(&s->pile, n * sizeof *s->fixed);
    s->whens = tri_pile_alloc(&s->pile, n * sizeof *s->whens);
    s->when_lines = tri_pile_alloc(&s->pile, n * sizeof *s->when_lines);
    s->when_order = tri_pile_alloc(&s->pile, n * sizeof *s->when_order);
    s->comp_of = tri_pile_alloc(&s->pile, n * sizeof *s->comp_of);
    s->comps = tri_pile_alloc(&s->pile, n * sizeof *s->comps);
    s->rules = tri_pile_alloc(&s->pile, (b->n_rules + 1) * sizeof *s->rules);
    s->features =
            tri_pile_alloc(&s->pile, (b->n_features + 1) * sizeof *s->features);
    return s->params && s->name_hashes && s->n_values && s->vars && s->fixed &&
                           s->whens && s->when_lines && s->when_order &&
                           s->comp_of && s->comps && s->rules && s->features
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
        s->name_hashes[i] = tri_space_hash_name(s->params[i].name);
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
        const tri_built_constant *c = &b->constants[i];
        tri_var var = {c->name, TRI_BIT(c->value.type), 0, NULL};
        if (tri_space_builder_find(b, c->name) < 0) {
            s->vars[s->n_vars] = var;
            s->fixed[s->n_vars++] = c->value;
        }
    }
}

static tri_status parse_item(tri_space *s, const tri_built_item *it,
                             tri_type want, tri_expr **out)
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
        const tri_built_param *p = &b->params[i];
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
        s->when_lines[i] = p->line;
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
    unsigned char *state = tri_pile_alloc(&s->pile, b->n_params + 1);
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
        const tri_built_item *it = &b->rules[i];
        tri_rule r = {it->name, NULL, it->line, it->column, it->built_in};
        TRI_TRY(parse_item(s, it, TRI_BOOL, &r.expr));
        s->rules[s->n_rules++] = r;
        n_nodes += (size_t)r.expr->n_nodes;
    }
    s->goals = tri_pile_alloc(&s->pile, n_nodes * sizeof *s->goals);
    s->goal_comp = tri_pile_alloc(&s->pile, n_nodes * sizeof *s->goal_comp);
    if (!s->goals || !s->goal_comp) {
        return no_memory();
    }
    for (i = 0; i < b->n_rules; i++) {
        split_goal(s, s->rules[i].expr, s->rules[i].expr->root, (int)i);
    }
    return TRI_OK;
}

/* A feature must not be named like anything that expressions can name. */
static tri_status check_feature_name(const tri_space *s,
                                     const tri_built_item *it)
{
    int i, taken = 0;

    for (i = 0; i < s->n_vars; i++) {
        taken |= strcmp(s->vars[i].name, it->name) == 0;
    }
    if (!taken) {
        return TRI_OK;
    }
    TRI_FAIL(TRI_EEXIST,
             "features.%.60s: a feature cannot have this name: it is that of "
             "%s",
             it->name,
             tri_space_find(s, it->name) < 0 ? "a constant" : "a parameter");
    tri_space_blame(it->line, it->column);
    return TRI_EEXIST;
}

static tri_status parse_features(tri_space *s, const tri_space_builder *b)
{
    size_t i;

    for (i = 0; i < b->n_features; i++) {
        const tri_built_item *it = &b->features[i];
        tri_named_expr f = {it->name, NULL, it->line, it->column};
        TRI_TRY(check_feature_name(s, it));
        TRI_TRY(parse_item(s, &b->features[i], TRI_REAL, &f.expr));
        s->features[s->n_features++] = f;
    }
    if (b->ranks.text) {
        TRI_TRY(parse_item(s, &b->ranks, TRI_INT, &s->ranks));
        s->ranks_line = b->ranks.line;
        s->ranks_column = b->ranks.column;
    }
    return TRI_OK;
}

static tri_status build(tri_space *s, tri_space_builder *b)
{
    size_t i;

    TRI_TRY(alloc_arrays(s, b));
    declare_params(s, b);
    declare_constants(s, b);
    s->words = tri_pile_alloc(&s->pile, (b->n_words + 1) * sizeof *s->words);
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
    tri_pile none = {NULL, 0};
    tri_status st;

    if (!s) {
        return no_memory();
    }
    s->pile = b->pile; /* names, words and domains move over */
    b->pile = none;
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
    tri_pile_fini(&s->pile);
    free(s);
}

/*
 * Solving a space: components by the constraints that join parameters, a
 * diagram for each, and counts.
 */
#include "src/space/space_priv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static tri_status no_memory(void)
{
    return TRI_FAIL(TRI_ENOMEM, "no memory for solving the space");
}

/* ---- components ------------------------------------------------------- */

static int find(int *parent, int i)
{
    while (parent[i] != i) {
        i = parent[i] = parent[parent[i]];
    }
    return i;
}

/* Join all that is marked, and `with` unless it is -1. */
static void join(const tri_space *s, int *parent, const unsigned char *named,
                 int with)
{
    int i;

    for (i = 0; i < s->n_params; i++) {
        if (named[i]) {
            if (with >= 0) {
                int a = find(parent, i), b = find(parent, with);
                parent[a > b ? a : b] = a > b ? b : a;
            }
            with = i;
        }
    }
}

/* [out] in_goal: parameters that some constraint or `when` names. */
static void join_all(const tri_space *s, int *parent, unsigned char *named,
                     unsigned char *in_goal)
{
    int i, j;

    for (i = 0; i < s->n_goals + s->n_params; i++) {
        const tri_expr *e =
                i < s->n_goals ? s->goals[i].expr : s->whens[i - s->n_goals];
        if (!e) {
            continue;
        }
        memset(named, 0, (size_t)s->n_params);
        tri_space_mark(s, e, i < s->n_goals ? s->goals[i].node : e->root,
                       named);
        join(s, parent, named, i < s->n_goals ? -1 : i - s->n_goals);
        for (j = 0; j < s->n_params; j++) {
            in_goal[j] |= named[j];
        }
    }
}

static void make_components(tri_space *s, int *parent,
                            const unsigned char *in_goal)
{
    int i;

    for (i = 0; i < s->n_params; i++) {
        tri_component *c;
        int top = find(parent, i);
        s->comp_of[i] = -1;
        if (!tri_space_varies(s, i)) {
            continue;
        }
        if (top == i) {
            c = &s->comps[s->n_comps];
            s->comp_of[i] = s->n_comps++;
            c->kind = TRI_COMP_FREE;
            c->first = i;
            tri_dd_init(&c->dd);
        } else {
            s->comp_of[i] = s->comp_of[top];
            c = &s->comps[s->comp_of[i]];
        }
        c->has_float |= s->n_values[i] < 0;
        if (s->n_values[i] < 0 && in_goal[i]) {
            c->kind = TRI_COMP_REJECT;
        } else if (c->kind == TRI_COMP_FREE &&
                   (in_goal[i] || s->whens[i] || top != i)) {
            c->kind = TRI_COMP_DIAGRAM;
        }
    }
}

/* Which component each goal belongs to. */
static void place_goals(tri_space *s, unsigned char *named)
{
    int i, j;

    for (i = 0; i < s->n_goals; i++) {
        memset(named, 0, (size_t)s->n_params);
        tri_space_mark(s, s->goals[i].expr, s->goals[i].node, named);
        s->goal_comp[i] = -1;
        for (j = 0; j < s->n_params; j++) {
            if (named[j]) {
                s->goal_comp[i] = s->comp_of[j];
            }
        }
    }
}

static tri_status split(tri_space *s)
{
    size_t n = (size_t)s->n_params + 1;
    int *parent = malloc(n * sizeof *parent), i;
    unsigned char *named = calloc(n, 1), *in_goal = calloc(n, 1);
    tri_status st = parent && named && in_goal ? TRI_OK : no_memory();

    if (st == TRI_OK) {
        for (i = 0; i < s->n_params; i++) {
            parent[i] = i;
        }
        join_all(s, parent, named, in_goal);
        make_components(s, parent, in_goal);
        place_goals(s, named);
    }
    free(parent);
    free(named);
    free(in_goal);
    return st;
}

static tri_status blame_rule(const tri_space *s, int rule, tri_status st)
{
    if (rule >= 0) {
        tri_space_blame(s->rules[rule].line, s->rules[rule].column);
    }
    return st;
}

static tri_status solve_component(tri_space *s, int k, unsigned char *set)
{
    tri_subset sub = {set, 0, s->n_rules, NULL, NULL, 0, 0, 0};
    int i, rule = -1;
    tri_status st;

    for (i = 0; i < s->n_params; i++) {
        set[i] = s->comp_of[i] == k;
    }
    st = tri_space_subsolve(s, &sub, &s->comps[k].dd, &rule);
    return st == TRI_OK ? st : blame_rule(s, rule, st);
}
/* ---- the whole -------------------------------------------------------- */

/* Constraints that name nothing that varies: 0 if one is false. */
static tri_status constant_goals(tri_space *s, unsigned char *set, int *hold)
{
    tri_subset sub = {set, 0, s->n_rules, NULL, NULL, 0, 0, 0};
    tri_dd dd;
    int rule = -1;
    tri_status st;

    memset(set, 0, (size_t)s->n_params);
    st = tri_space_subsolve(s, &sub, &dd, &rule);
    if (st != TRI_OK) {
        return blame_rule(s, rule, st);
    }
    *hold = dd.root != TRI_DD_NONE;
    tri_dd_fini(&dd);
    return TRI_OK;
}

static void count(tri_space *s, int hold)
{
    int i, infinite = 0, empty = !hold, over = 0;
    int64_t n = 1;

    s->raw = 1;
    for (i = 0; i < s->n_params; i++) {
        s->raw *= s->n_values[i] < 0 ? HUGE_VAL : (double)s->n_values[i];
    }
    for (i = 0; i < s->n_comps; i++) {
        const tri_component *c = &s->comps[i];
        int64_t each = c->kind == TRI_COMP_FREE
                               ? s->n_values[c->first]
                               : tri_dd_count(&c->dd, c->dd.root);
        infinite |= c->has_float;
        if (c->kind != TRI_COMP_REJECT) {
            empty |= each == 0;
            over |= each > 0 && __builtin_mul_overflow(n, each, &n);
        }
    }
    s->count = empty ? 0 : infinite || over ? -1 : n;
    if (s->has_rows) {
        s->raw = (double)s->n_rows;
    }
}

tri_abstract tri_space_enclose(const tri_space *s, const tri_expr *e, int at)
{
    const tri_node *n = &e->nodes[at];
    tri_abstract a, b;

    if (n->op == TRI_OP_CONST) {
        return tri_abstract_of(n->value);
    }
    if (n->op == TRI_OP_VAR) {
        return n->a >= s->n_params || !tri_space_varies(s, n->a)
                       ? tri_abstract_of(s->fixed[n->a])
                       : tri_abstract_domain(&s->params[n->a].domain,
                                             s->n_values[n->a], 0);
    }
    if (n->op == TRI_OP_IF) {
        a = tri_space_enclose(s, e, n->b);
        b = tri_space_enclose(s, e, n->c);
        return tri_abstract_join(&a, &b);
    }
    a = tri_space_enclose(s, e, n->a);
    if (n->b < 0) {
        return tri_abstract_op(n->op, &a, NULL);
    }
    b = tri_space_enclose(s, e, n->b);
    return tri_abstract_op(n->op, &a, &b);
}

tri_status tri_space_solve(tri_space *s, const tri_value *rows, int64_t n_rows)
{
    unsigned char *set = calloc((size_t)s->n_params + 1, 1);
    tri_status st;
    int i, hold = 1;

    if (!set) {
        return no_memory();
    }
    if (n_rows >= 0) {
        TRI_TRY_GOTO(st, tri_space_solve_rows(s, rows, n_rows), done);
    } else {
        TRI_TRY_GOTO(st, constant_goals(s, set, &hold), done);
        TRI_TRY_GOTO(st, split(s), done);
        for (i = 0; i < s->n_comps; i++) {
            if (s->comps[i].kind == TRI_COMP_DIAGRAM) {
                TRI_TRY_GOTO(st, solve_component(s, i, set), done);
            }
        }
    }
    count(s, hold);
    TRI_TRY_GOTO(st, tri_space_find_empty(s), done);
    s->rank_lo = s->rank_hi = s->count != 0;
    if (s->ranks && s->count != 0) {
        st = tri_space_find_ranks(s, set);
        if (st != TRI_OK) {
            tri_space_blame(s->ranks_line, s->ranks_column);
            goto done;
        }
    }
    st = tri_space_verify_features(s);
done:
    free(set);
    return st;
}

/*
 * Compilation of expressions to forests.
 */
#include "src/space/forest.h"

#include <stdlib.h>
#include <string.h>

#define IS_INT(n) ((n)->types == TRI_BIT(TRI_INT))

static tri_status no_memory(void)
{
    return TRI_FAIL(TRI_ENOMEM, "no memory for the constraints");
}

static int max3(int a, int b, int c)
{
    int m = a > b ? a : b;

    return m > c ? m : c;
}

static tri_status push(tri_forest *f, tri_cnode node, tri_value v, int *out)
{
    tri_cnode *nodes = tri_grow(f->nodes, f->n, &f->cap, sizeof node);
    tri_value *values;

    if (!nodes) {
        return no_memory();
    }
    f->nodes = nodes;
    values = tri_grow(f->value, f->n, &f->cap_value, sizeof v);
    if (!values) {
        return no_memory();
    }
    f->value = values;
    f->nodes[f->n] = node;
    f->value[f->n] = v;
    *out = (int)f->n++;
    return TRI_OK;
}

tri_status tri_forest_init(tri_forest *f, int n_levels)
{
    tri_value none = {TRI_INACTIVE, {0}};
    int i, id;

    memset(f, 0, sizeof *f);
    for (i = 0; i < n_levels; i++) {
        tri_cnode var = {TRI_OP_VAR, i, -1, -1, i, 0};
        TRI_TRY(push(f, var, none, &id));
    }
    return TRI_OK;
}

void tri_forest_fini(tri_forest *f)
{
    free(f->nodes);
    free(f->value);
    memset(f, 0, sizeof *f);
}

tri_status tri_forest_const(tri_forest *f, tri_value v, int *out)
{
    tri_cnode node = {TRI_OP_CONST, -1, -1, -1, -1, TRI_BIT(v.type)};

    return push(f, node, v, out);
}

static int level_of(const tri_forest *f, int id)
{
    return id < 0 ? -1 : f->nodes[id].level;
}

static tri_value apply_in(const tri_forest *f, const tri_cnode *n)
{
    tri_value r = {TRI_BOOL, {0}};
    const tri_value *x = &f->value[n->a];
    int at;

    if (x->type == TRI_VALUE_ERROR) {
        return *x;
    }
    for (at = n->b; at >= 0; at = f->nodes[at].b) {
        const tri_value *item = &f->value[f->nodes[at].a];
        if (item->type == TRI_VALUE_ERROR) {
            r = *item;
        } else if (tri_value_equal(*x, *item)) {
            r.type = TRI_BOOL;
            r.u.i = 1;
            return r;
        }
    }
    return r;
}

tri_value tri_forest_apply(const tri_forest *f, int at)
{
    const tri_cnode *n = &f->nodes[at];

    if (n->op == TRI_OP_IN) {
        return apply_in(f, n);
    }
    if (n->op == TRI_OP_LIST) {
        return f->value[n->a];
    }
    return tri_op_apply(n->op, &f->value[n->a],
                        n->b < 0 ? NULL : &f->value[n->b],
                        n->c < 0 ? NULL : &f->value[n->c]);
}

tri_status tri_forest_op(tri_forest *f, tri_op op, int a, int b, int c,
                         unsigned types, int *out)
{
    tri_cnode node = {op, a, b, c, -1, types};
    tri_value none = {TRI_INACTIVE, {0}};

    node.level = max3(level_of(f, a), level_of(f, b), level_of(f, c));
    TRI_TRY(push(f, node, none, out));
    if (node.level < 0) { /* its value is known for good */
        f->value[*out] = tri_forest_apply(f, *out);
        if (op != TRI_OP_LIST) {
            f->nodes[*out].op = TRI_OP_CONST;
        }
    }
    return TRI_OK;
}

/* ---- chains ---------------------------------------------------------- */

typedef struct term {
    int id;
    int negative;
    int level;
    int order; /* to keep the sort stable */
} term;

typedef struct chain {
    tri_op op; /* ADD (with SUB and NEG), MUL, MIN or MAX */
    term *terms;
    size_t n, cap;
} chain;

static tri_status flatten(tri_forest *f, const tri_binding *bind,
                          const tri_expr *e, int at, int negative, chain *ch)
{
    const tri_node *n = &e->nodes[at];
    term t = {0, negative, 0, (int)ch->n}, *grown;

    if (IS_INT(n) && ch->op == TRI_OP_ADD && n->op == TRI_OP_NEG) {
        return flatten(f, bind, e, n->a, !negative, ch);
    }
    if (IS_INT(n) &&
        (n->op == ch->op || (ch->op == TRI_OP_ADD && n->op == TRI_OP_SUB))) {
        TRI_TRY(flatten(f, bind, e, n->a, negative, ch));
        return flatten(f, bind, e, n->b, negative ^ (n->op == TRI_OP_SUB), ch);
    }
    TRI_TRY(tri_forest_add(f, bind, e, at, &t.id));
    t.level = f->nodes[t.id].level;
    grown = tri_grow(ch->terms, ch->n, &ch->cap, sizeof t);
    if (!grown) {
        return no_memory();
    }
    ch->terms = grown;
    ch->terms[ch->n++] = t;
    return TRI_OK;
}

static int by_level(const void *a, const void *b)
{
    const term *x = a, *y = b;

    if (x->level != y->level) {
        return x->level < y->level ? -1 : 1;
    }
    return (x->order > y->order) - (x->order < y->order);
}

static tri_status add_chain(tri_forest *f, const tri_binding *bind,
                            const tri_expr *e, int at, int *out)
{
    const unsigned types = TRI_BIT(TRI_INT);
    tri_op op = e->nodes[at].op;
    chain ch = {op == TRI_OP_SUB ? TRI_OP_ADD : op, NULL, 0, 0};
    tri_status st;
    size_t i;
    int acc = -1;

    TRI_TRY_GOTO(st, flatten(f, bind, e, at, 0, &ch), done);
    qsort(ch.terms, ch.n, sizeof *ch.terms, by_level);
    acc = ch.terms[0].id;
    if (ch.terms[0].negative) {
        TRI_TRY_GOTO(st, tri_forest_op(f, TRI_OP_NEG, acc, -1, -1, types, &acc),
                     done);
    }
    for (i = 1; i < ch.n; i++) {
        tri_op each = ch.terms[i].negative ? TRI_OP_SUB : ch.op;
        TRI_TRY_GOTO(
                st,
                tri_forest_op(f, each, acc, ch.terms[i].id, -1, types, &acc),
                done);
    }
    *out = acc;
done:
    free(ch.terms);
    return st;
}

/* ---- trees ----------------------------------------------------------- */

static int is_chain(const tri_node *n)
{
    return IS_INT(n) &&
           (n->op == TRI_OP_ADD || n->op == TRI_OP_SUB || n->op == TRI_OP_MUL ||
            n->op == TRI_OP_MIN || n->op == TRI_OP_MAX);
}

/* The items of `in`, in a loop since lists may be long. */
static tri_status add_list(tri_forest *f, const tri_binding *bind,
                           const tri_expr *e, int at, int *out)
{
    int list = -1, item;

    for (; at >= 0; at = e->nodes[at].b) {
        TRI_TRY(tri_forest_add(f, bind, e, e->nodes[at].a, &item));
        TRI_TRY(tri_forest_op(f, TRI_OP_LIST, item, list, -1, 0, &list));
    }
    *out = list;
    return TRI_OK;
}

static tri_status add_tree(tri_forest *f, const tri_binding *bind,
                           const tri_expr *e, const tri_node *n, int *out)
{
    int a, b = -1, c = -1;

    TRI_TRY(tri_forest_add(f, bind, e, n->a, &a));
    if (n->op == TRI_OP_IN) {
        TRI_TRY(add_list(f, bind, e, n->b, &b));
    } else if (n->b >= 0) {
        TRI_TRY(tri_forest_add(f, bind, e, n->b, &b));
    }
    if (n->c >= 0) {
        TRI_TRY(tri_forest_add(f, bind, e, n->c, &c));
    }
    return tri_forest_op(f, n->op, a, b, c, n->types, out);
}

tri_status tri_forest_add(tri_forest *f, const tri_binding *bind,
                          const tri_expr *e, int at, int *out)
{
    const tri_node *n = &e->nodes[at];

    if (n->op == TRI_OP_CONST) {
        return tri_forest_const(f, n->value, out);
    }
    if (n->op == TRI_OP_VAR) {
        if (bind->level_of[n->a] < 0) {
            return tri_forest_const(f, bind->fixed[n->a], out);
        }
        *out = bind->level_of[n->a]; /* variables are the first nodes */
        return TRI_OK;
    }
    if (is_chain(n)) {
        return add_chain(f, bind, e, at, out);
    }
    return add_tree(f, bind, e, n, out);
}

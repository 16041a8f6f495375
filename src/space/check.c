/*
 * Types of an expression, and guards: a parameter that may be inactive can
 * stand in arithmetic only where something that must be true before it is
 * looked at implies that it is active.  What is known at a place of the tree
 * is a stack of facts (a node and its truth); `implied` holds the implications
 * that are understood.
 */
#include "src/space/node.h"

#include <string.h>

#define MAX_FACTS 64

typedef struct fact {
    const tri_expr *expr;
    int node;
    int truth;
} fact;

typedef struct checker {
    tri_expr *expr;
    const tri_var *vars;
    fact facts[MAX_FACTS];
    int n_facts;
    int when_depth;
} checker;

static const char *const type_names[] = {"inactive", "an integer", "a real",
                                         "a boolean", "a word"};

static const char *name_of(unsigned types)
{
    int t;

    types &= ~TRI_BIT(TRI_INACTIVE);
    if (types == TRI_BITS_NUM) {
        return "a number";
    }
    for (t = TRI_INT; t <= TRI_WORD; t++) {
        if (types == TRI_BIT(t)) {
            return type_names[t];
        }
    }
    return types ? "a value of several types" : type_names[0];
}

static tri_status fail(const checker *c, int at, const char *expected)
{
    const tri_node *n = &c->expr->nodes[at];
    tri_status st = TRI_FAIL(TRI_ETYPE, "expected %s, found %s in \"%.200s\"",
                             expected, name_of(n->types), c->expr->text);

    tri_error_place(NULL, 1, n->column);
    return st;
}

/* ---- what facts imply ------------------------------------------------ */

static int same_tree(const tri_expr *x, int a, const tri_expr *y, int b)
{
    const tri_node *n, *m;

    if (a < 0 || b < 0) {
        return a == b;
    }
    n = &x->nodes[a];
    m = &y->nodes[b];
    if (n->op != m->op) {
        return 0;
    }
    if (n->op == TRI_OP_CONST) {
        return n->value.type == m->value.type &&
               tri_value_equal(n->value, m->value);
    }
    if (n->op == TRI_OP_VAR) {
        return n->a == m->a;
    }
    return same_tree(x, n->a, y, m->a) && same_tree(x, n->b, y, m->b) &&
           same_tree(x, n->c, y, m->c);
}

/* `variable op constant`, with the negation of the truth folded in. */
typedef struct bound {
    int var;
    tri_op op;
    tri_value value;
} bound;

static tri_op mirror(tri_op op)
{
    switch (op) {
    case TRI_OP_LT:
        return TRI_OP_GT;
    case TRI_OP_LE:
        return TRI_OP_GE;
    case TRI_OP_GT:
        return TRI_OP_LT;
    case TRI_OP_GE:
        return TRI_OP_LE;
    default:
        return op;
    }
}

static tri_op opposite(tri_op op)
{
    switch (op) {
    case TRI_OP_LT:
        return TRI_OP_GE;
    case TRI_OP_LE:
        return TRI_OP_GT;
    case TRI_OP_GT:
        return TRI_OP_LE;
    case TRI_OP_GE:
        return TRI_OP_LT;
    case TRI_OP_EQ:
        return TRI_OP_NE;
    default:
        return TRI_OP_EQ;
    }
}

static int is_bound(const tri_expr *e, int at, int truth, bound *out)
{
    const tri_node *n = &e->nodes[at], *a, *b;

    if (n->op < TRI_OP_EQ || n->op > TRI_OP_GE) {
        return 0;
    }
    a = &e->nodes[n->a];
    b = &e->nodes[n->b];
    out->op = truth ? n->op : opposite(n->op);
    if (a->op == TRI_OP_CONST && b->op == TRI_OP_VAR) {
        const tri_node *swap = a;
        a = b;
        b = swap;
        out->op = mirror(out->op);
    }
    if (a->op != TRI_OP_VAR || b->op != TRI_OP_CONST) {
        return 0;
    }
    out->var = a->a;
    out->value = b->value;
    return 1;
}

static int holds(tri_op op, tri_value a, tri_value b)
{
    return tri_op_apply(op, &a, &b, NULL).u.i == 1;
}

static int is_num(tri_value v)
{
    return v.type == TRI_INT || v.type == TRI_REAL;
}

/* The same bound on whole numbers in its strict form: x >= 2 is x > 1. */
static bound strict(bound g)
{
    if (g.op == TRI_OP_GE && g.value.u.i > INT64_MIN) {
        g.op = TRI_OP_GT;
        g.value.u.i--;
    } else if (g.op == TRI_OP_LE && g.value.u.i < INT64_MAX) {
        g.op = TRI_OP_LT;
        g.value.u.i++;
    }
    return g;
}

/* Whether `x op c` follows from `x fop f` for every number x. */
static int bound_implies(const bound *f, const bound *w, int whole)
{
    bound g = *f;

    if (f->op == TRI_OP_EQ) {
        return (w->op == TRI_OP_EQ || w->op == TRI_OP_NE ||
                (is_num(f->value) && is_num(w->value))) &&
               holds(w->op, f->value, w->value);
    }
    if (f->op == w->op && tri_value_equal(f->value, w->value)) {
        return 1;
    }
    if (!is_num(f->value) || !is_num(w->value)) {
        return 0;
    }
    if (whole && g.value.type == TRI_INT && w->value.type == TRI_INT) {
        g = strict(g);
    }
    switch (w->op) {
    case TRI_OP_GT:
        return (g.op == TRI_OP_GT && holds(TRI_OP_GE, g.value, w->value)) ||
               (g.op == TRI_OP_GE && holds(TRI_OP_GT, g.value, w->value));
    case TRI_OP_GE:
        return (g.op == TRI_OP_GT || g.op == TRI_OP_GE) &&
               holds(TRI_OP_GE, f->value, w->value);
    case TRI_OP_LT:
        return (g.op == TRI_OP_LT && holds(TRI_OP_LE, g.value, w->value)) ||
               (g.op == TRI_OP_LE && holds(TRI_OP_LT, g.value, w->value));
    case TRI_OP_LE:
        return (g.op == TRI_OP_LT || g.op == TRI_OP_LE) &&
               holds(TRI_OP_LE, f->value, w->value);
    case TRI_OP_NE:
        return (g.op == TRI_OP_GT && holds(TRI_OP_GE, g.value, w->value)) ||
               (g.op == TRI_OP_LT && holds(TRI_OP_LE, g.value, w->value));
    default:
        return 0;
    }
}

/* Whether each item of the list of `x in [..]` would make w true. */
static int list_implies(const tri_expr *e, const tri_node *in, const bound *w)
{
    bound f = {w->var, TRI_OP_EQ, {TRI_INACTIVE, {0}}};
    int at;

    if (e->nodes[in->a].op != TRI_OP_VAR || e->nodes[in->a].a != w->var) {
        return 0;
    }
    for (at = in->b; at >= 0; at = e->nodes[at].b) {
        const tri_node *item = &e->nodes[e->nodes[at].a];
        if (item->op != TRI_OP_CONST) {
            return 0;
        }
        f.value = item->value;
        if (!bound_implies(&f, w, 1)) {
            return 0;
        }
    }
    return 1;
}

static int fact_implies(const checker *c, const fact *f, const tri_expr *e,
                        int at, int truth)
{
    bound w, g;
    const tri_node *n = &f->expr->nodes[f->node];

    if (f->truth == truth && same_tree(f->expr, f->node, e, at)) {
        return 1;
    }
    if (!is_bound(e, at, truth, &w)) {
        return 0;
    }
    if (n->op == TRI_OP_IN && f->truth) {
        return list_implies(f->expr, n, &w);
    }
    return is_bound(f->expr, f->node, f->truth, &g) && g.var == w.var &&
           bound_implies(&g, &w, !(c->vars[w.var].types & TRI_BIT(TRI_REAL)));
}

/*
 * Whether the facts imply that node `at` of `e` has this truth: by being the
 * same tree, by its parts (and, or, not), or by bounds on one variable.
 */
static int implied(const checker *c, const tri_expr *e, int at, int truth)
{
    const tri_node *n = &e->nodes[at];
    int i;

    if (n->op == TRI_OP_NOT) {
        return implied(c, e, n->a, !truth);
    }
    for (i = 0; i < c->n_facts; i++) {
        if (fact_implies(c, &c->facts[i], e, at, truth)) {
            return 1;
        }
    }
    if (n->op == TRI_OP_AND || n->op == TRI_OP_OR) {
        if ((n->op == TRI_OP_AND) == (truth != 0)) {
            return implied(c, e, n->a, truth) && implied(c, e, n->b, truth);
        }
        return implied(c, e, n->a, truth) || implied(c, e, n->b, truth);
    }
    return 0;
}

/* Whether a fact says of itself that `var` is active: it equals something
 * that is not inactive, or differs from `inactive`. */
static int fact_activates(const fact *f, int var)
{
    const tri_expr *e = f->expr;
    const tri_node *n = &e->nodes[f->node];
    bound b;
    int at;

    if (n->op == TRI_OP_IN && f->truth && e->nodes[n->a].op == TRI_OP_VAR &&
        e->nodes[n->a].a == var) {
        for (at = n->b; at >= 0; at = e->nodes[at].b) {
            const tri_node *item = &e->nodes[e->nodes[at].a];
            if (item->op != TRI_OP_CONST || item->value.type == TRI_INACTIVE) {
                return 0;
            }
        }
        return 1;
    }
    if (!is_bound(e, f->node, f->truth, &b) || b.var != var) {
        return 0;
    }
    return b.op == TRI_OP_NE ? b.value.type == TRI_INACTIVE
                             : b.value.type != TRI_INACTIVE;
}

static int is_active(const checker *c, int var)
{
    const tri_var *v = &c->vars[var];
    int i;

    if (!v->may_be_inactive) {
        return 1;
    }
    for (i = 0; i < c->n_facts; i++) {
        if (fact_activates(&c->facts[i], var)) {
            return 1;
        }
    }
    return v->when && implied(c, v->when, v->when->root, 1);
}

/* Note that node `at` has this truth, and what follows from its parts; a
 * variable that it makes active brings its own `when`. */
static void assume(checker *c, const tri_expr *e, int at, int truth)
{
    const tri_node *n = &e->nodes[at];
    fact f = {e, at, truth};
    int var = -1;

    if (n->op == TRI_OP_NOT) {
        assume(c, e, n->a, !truth);
        return;
    }
    if ((n->op == TRI_OP_AND && truth) || (n->op == TRI_OP_OR && !truth)) {
        assume(c, e, n->a, truth);
        assume(c, e, n->b, truth);
        return;
    }
    if (c->n_facts == MAX_FACTS) {
        return; /* knowing less is safe */
    }
    c->facts[c->n_facts++] = f;
    if (n->op >= TRI_OP_EQ && n->op <= TRI_OP_GE) {
        const tri_node *a = &e->nodes[n->a], *b = &e->nodes[n->b];
        var = a->op == TRI_OP_VAR ? a->a : b->op == TRI_OP_VAR ? b->a : -1;
    } else if (n->op == TRI_OP_IN && e->nodes[n->a].op == TRI_OP_VAR) {
        var = e->nodes[n->a].a;
    }
    if (var >= 0 && c->vars[var].when && fact_activates(&f, var) &&
        c->when_depth < 8) {
        c->when_depth++;
        assume(c, c->vars[var].when, c->vars[var].when->root, 1);
        c->when_depth--;
    }
}

/* ---- types ----------------------------------------------------------- */

static tri_status check(checker *c, int at);

static tri_status inactive_used(const checker *c, int at)
{
    const tri_node *n = &c->expr->nodes[at];
    const tri_var *v = n->op == TRI_OP_VAR ? &c->vars[n->a] : NULL;
    tri_status st;

    if (!v) {
        st = TRI_FAIL(TRI_ETYPE,
                      "a value that may be inactive is used in "
                      "\"%.200s\"",
                      c->expr->text);
    } else {
        st = TRI_FAIL(TRI_ETYPE,
                      "\"%s\" may be inactive and is used in \"%.200s\" "
                      "without a guard%s%.100s%s",
                      v->name, c->expr->text, v->when ? ", such as if(" : "",
                      v->when ? v->when->text : "", v->when ? ", .., ..)" : "");
    }
    tri_error_place(NULL, 1, n->column);
    return st;
}

/* The operand `at` must be able to have one of `types`, and be active. */
static tri_status need(checker *c, int at, unsigned types, const char *what)
{
    TRI_TRY(check(c, at));
    if (!(c->expr->nodes[at].types & types)) {
        return fail(c, at, what);
    }
    if (c->expr->nodes[at].types & TRI_BIT(TRI_INACTIVE)) {
        return inactive_used(c, at);
    }
    return TRI_OK;
}

static tri_status check_equal(checker *c, tri_node *n, int b)
{
    unsigned ta, tb;

    TRI_TRY(check(c, n->a));
    TRI_TRY(check(c, b));
    ta = c->expr->nodes[n->a].types;
    tb = c->expr->nodes[b].types;
    if (ta == TRI_BIT(TRI_INACTIVE) || tb == TRI_BIT(TRI_INACTIVE)) {
        return TRI_OK;
    }
    ta |= ta & TRI_BITS_NUM ? TRI_BITS_NUM : 0;
    tb |= tb & TRI_BITS_NUM ? TRI_BITS_NUM : 0;
    if (!(ta & tb & ~TRI_BIT(TRI_INACTIVE))) {
        return fail(c, b, name_of(ta));
    }
    return TRI_OK;
}

static tri_status check_logic(checker *c, tri_node *n)
{
    int mark = c->n_facts;
    tri_status st;

    TRI_TRY(need(c, n->a, TRI_BIT(TRI_BOOL), "a condition"));
    assume(c, c->expr, n->a, n->op == TRI_OP_AND);
    st = need(c, n->b, TRI_BIT(TRI_BOOL), "a condition");
    c->n_facts = mark;
    n->types = TRI_BIT(TRI_BOOL);
    return st;
}

static tri_status check_if(checker *c, tri_node *n)
{
    int mark = c->n_facts;
    tri_status st;

    TRI_TRY(need(c, n->a, TRI_BIT(TRI_BOOL), "a condition"));
    assume(c, c->expr, n->a, 1);
    st = check(c, n->b);
    c->n_facts = mark;
    TRI_TRY(st);
    assume(c, c->expr, n->a, 0);
    st = check(c, n->c);
    c->n_facts = mark;
    TRI_TRY(st);
    n->types = c->expr->nodes[n->b].types | c->expr->nodes[n->c].types;
    if (c->expr->nodes[n->b].types == TRI_BIT(TRI_BOOL) &&
        !(c->expr->nodes[n->c].types & TRI_BIT(TRI_BOOL))) {
        return fail(c, n->c, "a condition, as in the other branch");
    }
    if (c->expr->nodes[n->c].types == TRI_BIT(TRI_BOOL) &&
        !(c->expr->nodes[n->b].types & TRI_BIT(TRI_BOOL))) {
        return fail(c, n->b, "a condition, as in the other branch");
    }
    return TRI_OK;
}

static tri_status check_in(checker *c, tri_node *n)
{
    int at;

    n->types = TRI_BIT(TRI_BOOL);
    TRI_TRY(check(c, n->a));
    for (at = n->b; at >= 0; at = c->expr->nodes[at].b) {
        TRI_TRY(check_equal(c, n, c->expr->nodes[at].a));
    }
    return TRI_OK;
}

static tri_status check_unary(checker *c, tri_node *n)
{
    if (n->op == TRI_OP_NOT) {
        n->types = TRI_BIT(TRI_BOOL);
        return need(c, n->a, TRI_BIT(TRI_BOOL), "a condition");
    }
    TRI_TRY(need(c, n->a, TRI_BITS_NUM, "a number"));
    n->types = c->expr->nodes[n->a].types & TRI_BITS_NUM;
    if (n->op == TRI_OP_CEIL || n->op == TRI_OP_FLOOR) {
        n->types = TRI_BIT(TRI_INT);
    } else if (n->op == TRI_OP_LOG2 || n->op == TRI_OP_SQRT) {
        n->types = TRI_BIT(TRI_REAL);
    }
    return TRI_OK;
}

static tri_status check_binary(checker *c, tri_node *n)
{
    unsigned ta, tb;
    const tri_node *b;

    TRI_TRY(need(c, n->a, TRI_BITS_NUM, "a number"));
    TRI_TRY(need(c, n->b, TRI_BITS_NUM, "a number"));
    if (n->op >= TRI_OP_LT) {
        n->types = TRI_BIT(TRI_BOOL);
        return TRI_OK;
    }
    ta = c->expr->nodes[n->a].types & TRI_BITS_NUM;
    b = &c->expr->nodes[n->b];
    tb = b->types & TRI_BITS_NUM;
    if (n->op == TRI_OP_DIV) {
        n->types = TRI_BIT(TRI_REAL);
    } else if (n->op == TRI_OP_MIN || n->op == TRI_OP_MAX) {
        n->types = ta | tb;
    } else {
        n->types = (ta | tb) & TRI_BIT(TRI_REAL);
        if (ta & tb & TRI_BIT(TRI_INT)) {
            n->types |= TRI_BIT(TRI_INT);
        }
    }
    if (n->op == TRI_OP_POW && ta == TRI_BIT(TRI_INT) &&
        b->op == TRI_OP_CONST && b->value.type == TRI_INT && b->value.u.i < 0) {
        return fail(c, n->b, "an exponent of at least 0 (write 2.0 ** -1)");
    }
    return TRI_OK;
}

static tri_status check(checker *c, int at)
{
    tri_node *n = &c->expr->nodes[at];

    switch (n->op) {
    case TRI_OP_CONST:
        n->types = TRI_BIT(n->value.type);
        return TRI_OK;
    case TRI_OP_VAR:
        n->types = c->vars[n->a].types & ~TRI_BIT(TRI_INACTIVE);
        if (!is_active(c, n->a)) {
            n->types |= TRI_BIT(TRI_INACTIVE);
        }
        return TRI_OK;
    case TRI_OP_AND:
    case TRI_OP_OR:
        return check_logic(c, n);
    case TRI_OP_IF:
        return check_if(c, n);
    case TRI_OP_IN:
        return check_in(c, n);
    case TRI_OP_EQ:
    case TRI_OP_NE:
        n->types = TRI_BIT(TRI_BOOL);
        return check_equal(c, n, n->b);
    default:
        return n->op <= TRI_OP_SQRT ? check_unary(c, n) : check_binary(c, n);
    }
}

tri_status tri_expr_check(tri_expr *expr, const tri_var *vars, tri_type want)
{
    checker c = {expr, vars, {{NULL, 0, 0}}, 0, 0};
    unsigned types;

    expr->wanted = want == TRI_BOOL  ? TRI_BIT(TRI_BOOL)
                   : want == TRI_INT ? TRI_BIT(TRI_INT)
                                     : TRI_BITS_NUM;
    switch (want) {
    case TRI_BOOL:
        return need(&c, expr->root, TRI_BIT(TRI_BOOL), "a condition");
    case TRI_REAL:
        return need(&c, expr->root, TRI_BITS_NUM, "a number");
    case TRI_INT:
        TRI_TRY(need(&c, expr->root, TRI_BITS_NUM, "an integer"));
        types = expr->nodes[expr->root].types;
        if (types & TRI_BIT(TRI_REAL)) {
            return fail(&c, expr->root, "an integer");
        }
        return TRI_OK;
    default:
        return TRI_FAIL(TRI_EINVAL, "a type that no expression is asked for");
    }
}

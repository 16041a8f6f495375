/*
 * Text of an expression to an untyped tree: recursive descent with bounded
 * depth, Python's precedences.  Comparisons do not chain.
 */
#include "src/space/lex.h"
#include "src/space/node.h"

#include <stdlib.h>
#include <string.h>

typedef struct parser {
    tri_lexer lexer;
    tri_token tok; /* the one not yet consumed */
    const tri_var *vars;
    int n_vars;
    const char *const *words;
    int n_words;
    tri_expr *expr;
    size_t cap;
    int nesting;
} parser;

static tri_status parse_or(parser *p, int *out);

static tri_status fail(const parser *p, tri_status st, const char *expected)
{
    const tri_token *t = &p->tok;

    if (t->kind == TRI_TOK_END) {
        st = TRI_FAIL(st, "expected %s, found the end of \"%.60s\"", expected,
                      p->lexer.text);
    } else {
        st = TRI_FAIL(st, "expected %s, found \"%.*s\"", expected,
                      (int)(t->n < 40 ? t->n : 40), t->at);
    }
    tri_error_place(NULL, 1, t->column);
    return st;
}

static tri_status next(parser *p)
{
    return tri_lex(&p->lexer, &p->tok);
}

static int is(const parser *p, const char *text)
{
    return (p->tok.kind == TRI_TOK_PUNCT || p->tok.kind == TRI_TOK_NAME) &&
           strlen(text) == p->tok.n && memcmp(p->tok.at, text, p->tok.n) == 0;
}

static tri_status expect(parser *p, const char *text, const char *described)
{
    if (!is(p, text)) {
        return fail(p, TRI_EPARSE, described);
    }
    return next(p);
}

static int depth_of(const parser *p, int i)
{
    return i < 0 ? 0 : p->expr->nodes[i].depth;
}

static int max3(int a, int b, int c)
{
    int m = a > b ? a : b;

    return m > c ? m : c;
}

/* Add a node.  Children of OP_VAR are no nodes. */
static tri_status add(parser *p, tri_node node, int *out)
{
    tri_expr *e = p->expr;
    tri_node *grown =
            tri_grow(e->nodes, (size_t)e->n_nodes, &p->cap, sizeof node);

    if (!grown) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for an expression");
    }
    e->nodes = grown;
    node.depth = 1;
    if (node.op == TRI_OP_LIST) {
        node.depth = 1 + depth_of(p, node.a);
        if (node.b >= 0 && depth_of(p, node.b) > node.depth) {
            node.depth = depth_of(p, node.b); /* lists are walked in a loop */
        }
    } else if (node.op != TRI_OP_CONST && node.op != TRI_OP_VAR) {
        node.depth += max3(depth_of(p, node.a), depth_of(p, node.b),
                           depth_of(p, node.c));
    }
    if (node.depth > TRI_EXPR_DEPTH || e->n_nodes >= TRI_EXPR_NODES) {
        tri_status st = TRI_FAIL(TRI_ERANGE, "the expression is too long or "
                                             "too deeply nested");
        tri_error_place(NULL, 1, node.column);
        return st;
    }
    e->nodes[e->n_nodes] = node;
    *out = e->n_nodes++;
    return TRI_OK;
}

static tri_status add_op(parser *p, tri_op op, int a, int b, int c, int column,
                         int *out)
{
    tri_node node = {op, 0, a, b, c, 0, column, {TRI_INACTIVE, {0}}};

    return add(p, node, out);
}

static tri_status add_const(parser *p, tri_value v, int column, int *out)
{
    tri_node node = {TRI_OP_CONST, 0, -1, -1, -1, 0, column, {0}};

    node.value = v;
    return add(p, node, out);
}

static tri_status add_word(parser *p, const tri_token *t, int *out)
{
    tri_value v = {TRI_WORD, {0}};

    v.u.word = tri_pile_text(&p->expr->pile, t->at, t->n);
    if (!v.u.word) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for an expression");
    }
    return add_const(p, v, t->column, out);
}

/* ---- names ---------------------------------------------------------- */

static int same(const tri_token *t, const char *text)
{
    return strlen(text) == t->n && memcmp(t->at, text, t->n) == 0;
}

static tri_status unknown_name(const parser *p, const tri_token *t)
{
    const char *names[512], *near;
    char name[64];
    size_t n = t->n < sizeof name - 1 ? t->n : sizeof name - 1;
    int i, count = 0;
    tri_status st;

    memcpy(name, t->at, n);
    name[n] = '\0';
    for (i = 0; i < p->n_vars && count < 512; i++) {
        names[count++] = p->vars[i].name;
    }
    for (i = 0; i < p->n_words && count < 512; i++) {
        names[count++] = p->words[i];
    }
    near = tri_closest(name, names, count);
    if (near) {
        st = TRI_FAIL(TRI_EUNKNOWN,
                      "\"%s\" is neither a parameter nor a value of one; did "
                      "you mean \"%s\"?",
                      name, near);
    } else {
        st = TRI_FAIL(TRI_EUNKNOWN,
                      "\"%s\" is neither a parameter nor a value of one", name);
    }
    tri_error_place(NULL, 1, t->column);
    return st;
}

static tri_status parse_name(parser *p, int *out)
{
    tri_token t = p->tok;
    tri_value v = {TRI_BOOL, {0}};
    int i;

    TRI_TRY(next(p));
    for (i = 0; i < p->n_vars; i++) {
        if (same(&t, p->vars[i].name)) {
            p->expr->used[i] = 1;
            return add_op(p, TRI_OP_VAR, i, -1, -1, t.column, out);
        }
    }
    if (same(&t, "true") || same(&t, "false")) {
        v.u.i = t.n == 4;
        return add_const(p, v, t.column, out);
    }
    if (same(&t, "inactive")) {
        v.type = TRI_INACTIVE;
        return add_const(p, v, t.column, out);
    }
    for (i = 0; i < p->n_words; i++) {
        if (same(&t, p->words[i])) {
            return add_word(p, &t, out);
        }
    }
    return unknown_name(p, &t);
}

/* ---- calls ---------------------------------------------------------- */

typedef struct function_row {
    const char *name;
    tri_op op;
    int min, max; /* arguments */
} function_row;

static const function_row functions[] = {
        {"min", TRI_OP_MIN, 1, 1000},  {"max", TRI_OP_MAX, 1, 1000},
        {"abs", TRI_OP_ABS, 1, 1},     {"ceil", TRI_OP_CEIL, 1, 1},
        {"floor", TRI_OP_FLOOR, 1, 1}, {"log2", TRI_OP_LOG2, 1, 1},
        {"sqrt", TRI_OP_SQRT, 1, 1},   {"if", TRI_OP_IF, 3, 3},
};

/* The function at the present token, if a parenthesis follows it. */
static const function_row *function_here(const parser *p)
{
    const char *after = p->lexer.at + strspn(p->lexer.at, " \t\r\n");
    size_t i;

    if (p->tok.kind != TRI_TOK_NAME || *after != '(') {
        return NULL;
    }
    for (i = 0; i < sizeof functions / sizeof *functions; i++) {
        if (same(&p->tok, functions[i].name)) {
            return &functions[i];
        }
    }
    return NULL;
}

static tri_status wrong_count(const function_row *f, int column)
{
    tri_status st = TRI_FAIL(TRI_EPARSE, "%s takes %s", f->name,
                             f->max == 1   ? "one argument"
                             : f->max == 3 ? "three arguments: if(condition, "
                                             "then, else)"
                                           : "one or more arguments");
    tri_error_place(NULL, 1, column);
    return st;
}

static tri_status parse_call(parser *p, const function_row *f, int *out)
{
    int column = p->tok.column, args[3] = {-1, -1, -1}, n = 0, arg, acc = -1;

    TRI_TRY(next(p));
    TRI_TRY(next(p)); /* the parenthesis */
    while (!is(p, ")")) {
        if (n > 0 && p->tok.kind == TRI_TOK_END) {
            /* In YAML [min(a, b) < 3] is two texts. */
            return fail(p, TRI_EPARSE,
                        "a closing parenthesis (a text with commas inside "
                        "[ ] must be quoted)");
        }
        if (n > 0) {
            TRI_TRY(expect(p, ",", "a comma or a closing parenthesis"));
        }
        TRI_TRY(parse_or(p, &arg));
        if (n < 3) {
            args[n] = arg;
        }
        n++;
        if (f->max > 3 && n > 1) {
            TRI_TRY(add_op(p, f->op, acc, arg, -1, column, &arg));
        }
        acc = arg;
    }
    TRI_TRY(next(p));
    if (n < f->min || n > f->max) {
        return wrong_count(f, column);
    }
    if (f->max > 3) {
        *out = acc;
        return TRI_OK;
    }
    return add_op(p, f->op, args[0], args[1], args[2], column, out);
}

/* ---- operators, from the tightest ----------------------------------- */

static tri_status parse_atom(parser *p, int *out)
{
    const function_row *f = function_here(p);
    tri_token t = p->tok;

    if (f) {
        return parse_call(p, f, out);
    }
    if (is(p, "(")) {
        TRI_TRY(next(p));
        TRI_TRY(parse_or(p, out));
        return expect(p, ")", "a closing parenthesis");
    }
    switch (t.kind) {
    case TRI_TOK_NUMBER:
        TRI_TRY(next(p));
        return add_const(p, t.value, t.column, out);
    case TRI_TOK_STRING:
        TRI_TRY(next(p));
        return add_word(p, &t, out);
    case TRI_TOK_NAME:
        if (!is(p, "and") && !is(p, "or") && !is(p, "not") && !is(p, "in")) {
            return parse_name(p, out);
        }
        return fail(p, TRI_EPARSE, "a value");
    default:
        return fail(p, TRI_EPARSE, "a value");
    }
}

static tri_status enter(parser *p)
{
    if (++p->nesting > TRI_EXPR_DEPTH) {
        tri_status st = TRI_FAIL(TRI_ERANGE, "the expression is too deeply "
                                             "nested");
        tri_error_place(NULL, 1, p->tok.column);
        return st;
    }
    return TRI_OK;
}

static tri_status parse_unary(parser *p, int *out);

static tri_status parse_power(parser *p, int *out)
{
    int a = -1, b = -1;
    int column;

    TRI_TRY(parse_atom(p, &a));
    if (!is(p, "**")) {
        *out = a;
        return TRI_OK;
    }
    column = p->tok.column;
    TRI_TRY(next(p));
    TRI_TRY(parse_unary(p, &b)); /* right to left, and -1 may follow */
    return add_op(p, TRI_OP_POW, a, b, -1, column, out);
}

static int is_literal(const tri_node *n)
{
    return n->op == TRI_OP_CONST &&
           (n->value.type == TRI_INT || n->value.type == TRI_REAL);
}

static tri_status parse_unary(parser *p, int *out)
{
    int a, column = p->tok.column;
    tri_status st;

    TRI_TRY(enter(p));
    if (is(p, "-")) {
        TRI_TRY(next(p));
        TRI_TRY(parse_unary(p, &a));
        if (is_literal(&p->expr->nodes[a])) {
            tri_value *v = &p->expr->nodes[a].value;
            *v = tri_op_apply(TRI_OP_NEG, v, NULL, NULL);
            *out = a;
            st = TRI_OK;
        } else {
            st = add_op(p, TRI_OP_NEG, a, -1, -1, column, out);
        }
    } else {
        st = parse_power(p, out);
    }
    p->nesting--;
    return st;
}

typedef struct operator_row {
    const char *text;
    tri_op op;
} operator_row;

static const operator_row products[] = {{"*", TRI_OP_MUL},
                                        {"/", TRI_OP_DIV},
                                        {"//", TRI_OP_FDIV},
                                        {"%", TRI_OP_MOD},
                                        {NULL, TRI_OP_CONST}};
static const operator_row sums[] = {
        {"+", TRI_OP_ADD}, {"-", TRI_OP_SUB}, {NULL, TRI_OP_CONST}};
static const operator_row compares[] = {{"==", TRI_OP_EQ},   {"!=", TRI_OP_NE},
                                        {"<", TRI_OP_LT},    {"<=", TRI_OP_LE},
                                        {">", TRI_OP_GT},    {">=", TRI_OP_GE},
                                        {NULL, TRI_OP_CONST}};
static const operator_row ands[] = {{"and", TRI_OP_AND}, {NULL, TRI_OP_CONST}};
static const operator_row ors[] = {{"or", TRI_OP_OR}, {NULL, TRI_OP_CONST}};

static const operator_row *operator_here(const parser *p,
                                         const operator_row *rows)
{
    for (; rows->text; rows++) {
        if (is(p, rows->text)) {
            return rows;
        }
    }
    return NULL;
}

/* A chain, left to right, of operators of one precedence. */
static tri_status parse_chain(parser *p, const operator_row *rows,
                              tri_status (*operand)(parser *, int *), int *out)
{
    const operator_row *row;
    int a, b, column;

    TRI_TRY(operand(p, &a));
    while ((row = operator_here(p, rows)) != NULL) {
        column = p->tok.column;
        TRI_TRY(next(p));
        TRI_TRY(operand(p, &b));
        TRI_TRY(add_op(p, row->op, a, b, -1, column, &a));
    }
    *out = a;
    return TRI_OK;
}

static tri_status parse_product(parser *p, int *out)
{
    return parse_chain(p, products, parse_unary, out);
}

static tri_status parse_sum(parser *p, int *out)
{
    return parse_chain(p, sums, parse_product, out);
}

/* The list of `in`: items are chained backwards, which keeps children before
 * parents. */
static tri_status parse_list(parser *p, int *out)
{
    int list = -1, item;

    TRI_TRY(expect(p, "[", "a list in brackets after \"in\""));
    while (!is(p, "]")) {
        if (list >= 0) {
            TRI_TRY(expect(p, ",", "a comma or a closing bracket"));
        }
        TRI_TRY(parse_or(p, &item));
        TRI_TRY(add_op(p, TRI_OP_LIST, item, list, -1, p->tok.column, &list));
    }
    TRI_TRY(next(p));
    *out = list;
    return TRI_OK;
}

static tri_status parse_in(parser *p, int a, int *out)
{
    int negated = is(p, "not"), list, column = p->tok.column;

    TRI_TRY(next(p));
    if (negated) {
        TRI_TRY(expect(p, "in", "\"in\" after \"not\""));
    }
    TRI_TRY(parse_list(p, &list));
    TRI_TRY(add_op(p, TRI_OP_IN, a, list, -1, column, out));
    if (negated) {
        return add_op(p, TRI_OP_NOT, *out, -1, -1, column, out);
    }
    return TRI_OK;
}

static tri_status parse_compare(parser *p, int *out)
{
    const operator_row *row;
    int a, b, column;

    TRI_TRY(parse_sum(p, &a));
    row = operator_here(p, compares);
    if (row) {
        column = p->tok.column;
        TRI_TRY(next(p));
        TRI_TRY(parse_sum(p, &b));
        TRI_TRY(add_op(p, row->op, a, b, -1, column, out));
    } else if (is(p, "in") || is(p, "not")) {
        TRI_TRY(parse_in(p, a, out));
    } else {
        *out = a;
        return TRI_OK;
    }
    if (operator_here(p, compares) || is(p, "in")) {
        return fail(p, TRI_EPARSE,
                    "\"and\" or the end (comparisons do not chain)");
    }
    return TRI_OK;
}

static tri_status parse_not(parser *p, int *out)
{
    int a, column = p->tok.column;

    if (!is(p, "not")) {
        return parse_compare(p, out);
    }
    TRI_TRY(enter(p));
    TRI_TRY(next(p));
    TRI_TRY(parse_not(p, &a));
    p->nesting--;
    return add_op(p, TRI_OP_NOT, a, -1, -1, column, out);
}

static tri_status parse_and(parser *p, int *out)
{
    return parse_chain(p, ands, parse_not, out);
}

static tri_status parse_or(parser *p, int *out)
{
    tri_status st;

    TRI_TRY(enter(p));
    st = parse_chain(p, ors, parse_and, out);
    p->nesting--;
    return st;
}

/* ---- the whole ------------------------------------------------------ */

static tri_status new_expr(const char *text, int n_vars, tri_expr **out)
{
    tri_expr *e = calloc(1, sizeof *e);

    if (!e) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for an expression");
    }
    e->n_vars = n_vars;
    e->wanted = ~0u; /* until it is checked */
    e->text = tri_pile_text(&e->pile, text, strlen(text));
    e->used = tri_pile_alloc(&e->pile, (size_t)n_vars + 1);
    if (!e->text || !e->used) {
        tri_expr_destroy(e);
        return TRI_FAIL(TRI_ENOMEM, "no memory for an expression");
    }
    *out = e;
    return TRI_OK;
}

tri_status tri_expr_read(const char *text, const tri_var *vars, int n_vars,
                         const char *const *words, int n_words, tri_expr **out)
{
    parser p = {{text, text, words, n_words},
                {0},
                vars,
                n_vars,
                words,
                n_words,
                NULL,
                0,
                0};
    tri_status st;

    if (strlen(text) > TRI_EXPR_BYTES) {
        return TRI_FAIL(TRI_ERANGE,
                        "an expression of %zu bytes; at most %d "
                        "are read",
                        strlen(text), TRI_EXPR_BYTES);
    }
    TRI_TRY(new_expr(text, n_vars, &p.expr));
    p.lexer.text = p.lexer.at = p.expr->text;
    TRI_TRY_GOTO(st, next(&p), destroy);
    TRI_TRY_GOTO(st, parse_or(&p, &p.expr->root), destroy);
    if (p.tok.kind != TRI_TOK_END) {
        st = fail(&p, TRI_EPARSE, "an operator or the end");
        goto destroy;
    }
    *out = p.expr;
    return TRI_OK;
destroy:
    tri_expr_destroy(p.expr);
    return st;
}

tri_status tri_expr_parse(const char *text, const tri_var *vars, int n_vars,
                          const char *const *words, int n_words, tri_type want,
                          tri_expr **out)
{
    tri_expr *expr;
    tri_status st;

    TRI_TRY(tri_expr_read(text, vars, n_vars, words, n_words, &expr));
    st = tri_expr_check(expr, vars, want);
    if (st != TRI_OK) {
        tri_expr_destroy(expr);
        return st;
    }
    *out = expr;
    return TRI_OK;
}

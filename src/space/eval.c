/*
 * What a tree is worth: what each operator does to values.  An error travels as
 * a value, so that the solver can meet it in a branch that is never taken;
 * tri_expr_eval turns it into a status.
 */
#include "src/space/node.h"
#include "trireme/num.h"

#include <math.h>
#include <stdlib.h>

static tri_value of_int(int64_t i)
{
    tri_value v = {TRI_INT, {0}};

    v.u.i = i;
    return v;
}

static tri_value of_bool(int truth)
{
    tri_value v = {TRI_BOOL, {0}};

    v.u.i = truth != 0;
    return v;
}

static tri_value of_error(tri_status st)
{
    tri_value v = {TRI_VALUE_ERROR, {0}};

    v.u.i = st;
    return v;
}

static tri_value of_real(double d)
{
    tri_value v = {TRI_REAL, {0}};

    if (!isfinite(d)) {
        return of_error(TRI_EOVERFLOW);
    }
    v.u.d = d;
    return v;
}

static int is_number(const tri_value *v)
{
    return v->type == TRI_INT || v->type == TRI_REAL;
}

static double real(const tri_value *v)
{
    return v->type == TRI_INT ? (double)v->u.i : v->u.d;
}

/* Floor division and remainder with the divisor's sign; b is neither 0 nor
 * (a = INT64_MIN, b = -1). */
static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static int64_t floor_mod(int64_t a, int64_t b)
{
    int64_t r = a % b;

    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

static tri_value int_power(int64_t a, int64_t b)
{
    int64_t r = 1;

    if (b < 0) {
        return of_error(TRI_ERANGE);
    }
    while (b > 0) {
        if ((b & 1) && __builtin_mul_overflow(r, a, &r)) {
            return of_error(TRI_EOVERFLOW);
        }
        b >>= 1;
        if (b > 0 && __builtin_mul_overflow(a, a, &a)) {
            return of_error(TRI_EOVERFLOW);
        }
    }
    return of_int(r);
}

static tri_value int_op(tri_op op, int64_t a, int64_t b)
{
    int64_t r = 0;
    int over = 0;

    switch (op) {
    case TRI_OP_ADD:
        over = __builtin_add_overflow(a, b, &r);
        break;
    case TRI_OP_SUB:
        over = __builtin_sub_overflow(a, b, &r);
        break;
    case TRI_OP_MUL:
        over = __builtin_mul_overflow(a, b, &r);
        break;
    case TRI_OP_FDIV:
    case TRI_OP_MOD:
        if (b == 0) {
            return of_error(TRI_EDIVZERO);
        }
        if (b == -1) { /* INT64_MIN // -1 */
            over = op == TRI_OP_FDIV && a == INT64_MIN;
            r = op == TRI_OP_MOD || over ? 0 : -a;
        } else {
            r = op == TRI_OP_MOD ? floor_mod(a, b) : floor_div(a, b);
        }
        break;
    case TRI_OP_MIN:
        r = a < b ? a : b;
        break;
    case TRI_OP_MAX:
        r = a > b ? a : b;
        break;
    default: /* TRI_OP_POW */
        return int_power(a, b);
    }
    return over ? of_error(TRI_EOVERFLOW) : of_int(r);
}

/* The exact remainder by repeated subtraction of scaled divisors would be
 * fmod; this one is a - b*floor(a/b), brought into [0, b). */
static double real_mod(double a, double b)
{
    double r = a - b * floor(a / b);

    if (r != 0 && (r < 0) != (b < 0)) {
        r += b;
    }
    return fabs(r) >= fabs(b) ? 0 : r;
}

static tri_value real_power(double a, double b)
{
    if (a >= 0) {
        if (a == 0 && b < 0) {
            return of_error(TRI_EDIVZERO);
        }
        return of_real(tri_pow(a, b));
    }
    if (b != floor(b)) {
        return of_error(TRI_ERANGE);
    }
    a = tri_pow(-a, b);
    return of_real(floor(b / 2) * 2 != b ? -a : a);
}

static tri_value real_op(tri_op op, double a, double b)
{
    if ((op == TRI_OP_DIV || op == TRI_OP_FDIV || op == TRI_OP_MOD) && b == 0) {
        return of_error(TRI_EDIVZERO);
    }
    switch (op) {
    case TRI_OP_ADD:
        return of_real(a + b);
    case TRI_OP_SUB:
        return of_real(a - b);
    case TRI_OP_MUL:
        return of_real(a * b);
    case TRI_OP_DIV:
        return of_real(a / b);
    case TRI_OP_FDIV:
        return of_real(floor(a / b));
    case TRI_OP_MOD:
        return of_real(real_mod(a, b));
    case TRI_OP_MIN:
        return of_real(a < b ? a : b);
    case TRI_OP_MAX:
        return of_real(a > b ? a : b);
    default: /* TRI_OP_POW */
        return real_power(a, b);
    }
}

static tri_value arithmetic(tri_op op, const tri_value *a, const tri_value *b)
{
    if (!is_number(a) || !is_number(b)) {
        return of_error(TRI_ETYPE);
    }
    if (a->type == TRI_INT && b->type == TRI_INT && op != TRI_OP_DIV) {
        return int_op(op, a->u.i, b->u.i);
    }
    return real_op(op, real(a), real(b));
}

static tri_value to_whole(double d)
{
    if (!(d >= -9223372036854775808.0 && d < 9223372036854775808.0)) {
        return of_error(TRI_EOVERFLOW);
    }
    return of_int((int64_t)d);
}

static tri_value negate(const tri_value *a)
{
    if (a->type == TRI_REAL) {
        return of_real(-a->u.d);
    }
    return a->u.i == INT64_MIN ? of_error(TRI_EOVERFLOW) : of_int(-a->u.i);
}

static tri_value unary(tri_op op, const tri_value *a)
{
    if (op == TRI_OP_NOT) {
        return a->type == TRI_BOOL ? of_bool(!a->u.i) : of_error(TRI_ETYPE);
    }
    if (!is_number(a)) {
        return of_error(TRI_ETYPE);
    }
    switch (op) {
    case TRI_OP_NEG:
        return negate(a);
    case TRI_OP_ABS:
        return real(a) < 0 ? negate(a) : *a;
    case TRI_OP_CEIL:
        return a->type == TRI_INT ? *a : to_whole(ceil(a->u.d));
    case TRI_OP_FLOOR:
        return a->type == TRI_INT ? *a : to_whole(floor(a->u.d));
    case TRI_OP_LOG2:
        return real(a) > 0 ? of_real(tri_log2(real(a))) : of_error(TRI_ERANGE);
    default: /* TRI_OP_SQRT */
        return real(a) >= 0 ? of_real(sqrt(real(a))) : of_error(TRI_ERANGE);
    }
}

static int order_of(const tri_value *a, const tri_value *b)
{
    if (a->type == TRI_INT && b->type == TRI_INT) {
        return (a->u.i > b->u.i) - (a->u.i < b->u.i);
    }
    return (real(a) > real(b)) - (real(a) < real(b));
}

static tri_value compare(tri_op op, const tri_value *a, const tri_value *b)
{
    int order;

    if (op == TRI_OP_EQ || op == TRI_OP_NE) {
        return of_bool(tri_value_equal(*a, *b) == (op == TRI_OP_EQ));
    }
    if (!is_number(a) || !is_number(b)) {
        return of_error(TRI_ETYPE);
    }
    order = order_of(a, b);
    switch (op) {
    case TRI_OP_LT:
        return of_bool(order < 0);
    case TRI_OP_LE:
        return of_bool(order <= 0);
    case TRI_OP_GT:
        return of_bool(order > 0);
    default:
        return of_bool(order >= 0);
    }
}

static tri_value logic(tri_op op, const tri_value *a, const tri_value *b,
                       const tri_value *c)
{
    if (a->type != TRI_BOOL) {
        return of_error(TRI_ETYPE);
    }
    if (op == TRI_OP_IF) {
        return a->u.i ? *b : *c;
    }
    if ((op == TRI_OP_AND) != (a->u.i != 0)) {
        return *a; /* decided */
    }
    return b->type == TRI_BOOL || b->type == TRI_VALUE_ERROR
                   ? *b
                   : of_error(TRI_ETYPE);
}

tri_value tri_op_apply(tri_op op, const tri_value *a, const tri_value *b,
                       const tri_value *c)
{
    if (a->type == TRI_VALUE_ERROR) {
        return *a;
    }
    if (op >= TRI_OP_AND) {
        return logic(op, a, b, c);
    }
    if (op <= TRI_OP_SQRT || !b) {
        return unary(op, a);
    }
    if (b->type == TRI_VALUE_ERROR) {
        return *b;
    }
    return op >= TRI_OP_EQ ? compare(op, a, b) : arithmetic(op, a, b);
}

static tri_value eval(const tri_expr *e, const tri_value *values, int at);

/* Equal to any item; items are chained last first, so an error of an earlier
 * item is found after a match, which then counts. */
static tri_value eval_in(const tri_expr *e, const tri_value *values,
                         const tri_node *n)
{
    tri_value x = eval(e, values, n->a), item, error = of_bool(0);
    int at;

    if (x.type == TRI_VALUE_ERROR) {
        return x;
    }
    for (at = n->b; at >= 0; at = e->nodes[at].b) {
        item = eval(e, values, e->nodes[at].a);
        if (item.type == TRI_VALUE_ERROR) {
            error = item;
        } else if (tri_value_equal(x, item)) {
            return of_bool(1);
        }
    }
    return error;
}

static tri_value eval(const tri_expr *e, const tri_value *values, int at)
{
    const tri_node *n = &e->nodes[at];
    tri_value a, b;

    switch (n->op) {
    case TRI_OP_CONST:
        return n->value;
    case TRI_OP_VAR:
        return values[n->a];
    case TRI_OP_IN:
        return eval_in(e, values, n);
    case TRI_OP_IF:
        a = eval(e, values, n->a);
        if (a.type != TRI_BOOL) {
            return a.type == TRI_VALUE_ERROR ? a : of_error(TRI_ETYPE);
        }
        return eval(e, values, a.u.i ? n->b : n->c);
    case TRI_OP_AND:
    case TRI_OP_OR:
        a = eval(e, values, n->a);
        if (a.type == TRI_BOOL && (n->op == TRI_OP_OR) == (a.u.i != 0)) {
            return a;
        }
        break;
    default:
        a = eval(e, values, n->a);
        break;
    }
    if (n->b < 0) {
        return tri_op_apply(n->op, &a, NULL, NULL);
    }
    b = eval(e, values, n->b);
    return tri_op_apply(n->op, &a, &b, NULL);
}

tri_value tri_expr_value(const tri_expr *expr, int at, const tri_value *values)
{
    return eval(expr, values, at);
}

tri_status tri_value_fail(tri_value error, const char *text)
{
    switch ((tri_status)error.u.i) {
    case TRI_EOVERFLOW:
        return TRI_FAIL(TRI_EOVERFLOW, "overflow in \"%.200s\"", text);
    case TRI_EDIVZERO:
        return TRI_FAIL(TRI_EDIVZERO, "division by zero in \"%.200s\"", text);
    case TRI_ERANGE:
        return TRI_FAIL(TRI_ERANGE,
                        "a root, logarithm or power that has no value in "
                        "\"%.200s\"",
                        text);
    default:
        return TRI_FAIL(TRI_ETYPE,
                        "a value that is inactive, or of a wrong type, in "
                        "\"%.200s\"",
                        text);
    }
}

tri_status tri_expr_eval(const tri_expr *expr, const tri_value *values,
                         tri_value *out)
{
    tri_value v = eval(expr, values, expr->root);

    if (v.type != TRI_VALUE_ERROR && !(TRI_BIT(v.type) & expr->wanted)) {
        v = of_error(TRI_ETYPE); /* a mixed choice gave the wrong one */
    }
    if (v.type == TRI_VALUE_ERROR) {
        return tri_value_fail(v, expr->text);
    }
    *out = v;
    return TRI_OK;
}

void tri_expr_destroy(tri_expr *expr)
{
    if (expr) {
        free(expr->nodes);
        tri_pile_fini(&expr->pile);
        free(expr);
    }
}

int tri_expr_uses(const tri_expr *expr, int var)
{
    return var >= 0 && var < expr->n_vars && expr->used[var];
}

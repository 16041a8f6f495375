/*
 * Interval and divisibility arithmetic: what is known of an expression while
 * some of its variables are still free.  Every bound encloses what tri_op_apply
 * can give; rounding is monotone, so the same operation at the ends of a real
 * interval gives its ends.
 */
#include "src/space/forest.h"
#include "trireme/num.h"

#include <math.h>

#define INF HUGE_VAL

static int64_t gcd(int64_t a, int64_t b)
{
    while (b != 0) {
        int64_t r = a % b;
        a = b;
        b = r;
    }
    return a < 0 ? -a : a;
}

static int is_int(const tri_abstract *a)
{
    return (a->types & TRI_BITS_NUM) == TRI_BIT(TRI_INT);
}

static tri_abstract nothing_known(unsigned types)
{
    tri_abstract r = {types,     0,         0, {TRI_INACTIVE, {0}},
                      INT64_MIN, INT64_MAX, 1, -INF,
                      INF};
    return r;
}

static double widen(int64_t i)
{
    return i == INT64_MIN ? -INF : i == INT64_MAX ? INF : (double)i;
}

static void set_known(tri_abstract *r, tri_value v)
{
    r->known = 1;
    r->value = v;
}

/* From lo, hi and multiple of an integer: the real ends, and whether only one
 * value is left. */
static void finish_int(tri_abstract *r)
{
    tri_value v = {TRI_INT, {0}};

    r->dlo = widen(r->lo);
    r->dhi = widen(r->hi);
    if (r->types == TRI_BIT(TRI_INT) && r->lo == r->hi) {
        v.u.i = r->lo;
        set_known(r, v);
    }
}

tri_abstract tri_abstract_of(tri_value v)
{
    tri_abstract r = nothing_known(TRI_BIT(v.type));

    if (v.type == TRI_VALUE_ERROR) {
        r.types = 0;
        r.may_fail = 1;
        return r;
    }
    set_known(&r, v);
    if (v.type == TRI_INT) {
        r.lo = r.hi = v.u.i;
        r.multiple = v.u.i == INT64_MIN ? 1 : v.u.i < 0 ? -v.u.i : v.u.i;
        r.dlo = r.dhi = (double)v.u.i;
    } else if (v.type == TRI_REAL) {
        r.dlo = r.dhi = v.u.d;
    }
    return r;
}

tri_abstract tri_abstract_join(const tri_abstract *a, const tri_abstract *b)
{
    tri_abstract r = nothing_known(a->types | b->types);

    r.may_fail = a->may_fail || b->may_fail;
    if (!(a->types & TRI_BITS_NUM) || !(b->types & TRI_BITS_NUM)) {
        const tri_abstract *n = a->types & TRI_BITS_NUM ? a : b;
        r.lo = n->lo;
        r.hi = n->hi;
        r.multiple = n->multiple;
        r.dlo = n->dlo;
        r.dhi = n->dhi;
    } else {
        r.dlo = a->dlo < b->dlo ? a->dlo : b->dlo;
        r.dhi = a->dhi > b->dhi ? a->dhi : b->dhi;
        if (is_int(&r)) {
            r.lo = a->lo < b->lo ? a->lo : b->lo;
            r.hi = a->hi > b->hi ? a->hi : b->hi;
            r.multiple = gcd(a->multiple, b->multiple);
        }
    }
    if (a->known && b->known && a->value.type == b->value.type &&
        tri_value_equal(a->value, b->value)) {
        set_known(&r, a->value);
    }
    return r;
}

tri_abstract tri_abstract_domain(const tri_domain *d, int64_t n,
                                 int may_inactive)
{
    tri_value inactive = {TRI_INACTIVE, {0}};
    tri_abstract r = tri_abstract_of(inactive), each;
    int64_t i;

    r.known = 0;
    r.types = may_inactive ? TRI_BIT(TRI_INACTIVE) : 0;
    if (d->kind == TRI_DOMAIN_FLOAT) {
        r.types |= TRI_BIT(TRI_REAL);
        r.dlo = d->flo;
        r.dhi = d->fhi;
        return r;
    }
    if (d->kind == TRI_DOMAIN_INT && !d->log2) {
        r.types |= TRI_BIT(TRI_INT);
        r.lo = d->lo;
        r.hi = d->lo + (n - 1) * d->step;
        r.multiple = gcd(d->lo, d->step);
        finish_int(&r);
        return r;
    }
    for (i = 0; i < n; i++) {
        each = tri_abstract_of(tri_domain_at(d, i));
        r = i == 0 && !may_inactive ? each : tri_abstract_join(&r, &each);
    }
    return r;
}

/* ---- integers -------------------------------------------------------- */

static int64_t sat_add(int64_t a, int64_t b, int *over)
{
    int64_t r;

    if (__builtin_add_overflow(a, b, &r)) {
        *over = 1;
        return a < 0 ? INT64_MIN : INT64_MAX;
    }
    return r;
}

static int64_t sat_mul(int64_t a, int64_t b, int *over)
{
    int64_t r;

    if (__builtin_mul_overflow(a, b, &r)) {
        *over = 1;
        return (a < 0) != (b < 0) ? INT64_MIN : INT64_MAX;
    }
    return r;
}

static int64_t sat_neg(int64_t a, int *over)
{
    *over |= a == INT64_MIN;
    return a == INT64_MIN ? INT64_MAX : -a;
}

static int64_t low(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t high(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static void int_mul(tri_abstract *r, const tri_abstract *a,
                    const tri_abstract *b)
{
    int64_t p = sat_mul(a->lo, b->lo, &r->may_fail);
    int64_t q = sat_mul(a->lo, b->hi, &r->may_fail);
    int64_t s = sat_mul(a->hi, b->lo, &r->may_fail);
    int64_t t = sat_mul(a->hi, b->hi, &r->may_fail);

    r->lo = low(low(p, q), low(s, t));
    r->hi = high(high(p, q), high(s, t));
    if (__builtin_mul_overflow(a->multiple, b->multiple, &r->multiple)) {
        r->multiple = a->multiple;
    }
}

/* a % b: between 0 and b, and a multiple of what divides both.  A divisor
 * that is a multiple of m, where m does not divide a, leaves a remainder. */
static void int_mod(tri_abstract *r, const tri_abstract *a,
                    const tri_abstract *b)
{
    r->may_fail |= b->lo <= 0 && b->hi >= 0;
    r->multiple = gcd(a->multiple, b->multiple);
    r->lo = b->lo < 0 ? sat_add(b->lo, 1, &(int){0}) : 0;
    r->hi = b->hi > 0 ? b->hi - 1 : 0;
    if (b->lo > 0) {
        if (a->lo >= 0) {
            r->hi = low(r->hi, a->hi);
        }
        if (a->known && a->value.type == TRI_INT && b->multiple > 1 &&
            a->value.u.i % b->multiple != 0) {
            r->lo = 1;
        }
        if (b->lo == b->hi && a->multiple % b->lo == 0) {
            r->hi = 0;
        }
    }
    if (r->lo > r->hi) {
        r->hi = r->lo; /* cannot be, unless it fails */
    }
}

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static void int_fdiv(tri_abstract *r, const tri_abstract *a,
                     const tri_abstract *b)
{
    r->may_fail |= b->lo <= 0;
    if (b->lo > 0) {
        r->lo = low(floor_div(a->lo, b->lo), floor_div(a->lo, b->hi));
        r->hi = high(floor_div(a->hi, b->lo), floor_div(a->hi, b->hi));
    }
}

static void int_pow(tri_abstract *r, const tri_abstract *a,
                    const tri_abstract *b)
{
    tri_value x = {TRI_INT, {0}}, y = {TRI_INT, {0}}, v;

    r->may_fail = 1;
    if (a->lo < 1 || b->lo < 0) {
        return;
    }
    x.u.i = a->lo;
    y.u.i = b->lo;
    v = tri_op_apply(TRI_OP_POW, &x, &y, NULL);
    r->lo = v.type == TRI_INT ? v.u.i : 1;
    x.u.i = a->hi;
    y.u.i = b->hi;
    v = tri_op_apply(TRI_OP_POW, &x, &y, NULL);
    if (v.type == TRI_INT) {
        r->hi = v.u.i;
        r->may_fail = 0;
    }
}

static tri_abstract int_op(tri_op op, const tri_abstract *a,
                           const tri_abstract *b)
{
    tri_abstract r = nothing_known(TRI_BIT(TRI_INT));

    switch (op) {
    case TRI_OP_ADD:
        r.lo = sat_add(a->lo, b->lo, &r.may_fail);
        r.hi = sat_add(a->hi, b->hi, &r.may_fail);
        r.multiple = gcd(a->multiple, b->multiple);
        break;
    case TRI_OP_SUB:
        r.lo = sat_add(a->lo, sat_neg(b->hi, &r.may_fail), &r.may_fail);
        r.hi = sat_add(a->hi, sat_neg(b->lo, &r.may_fail), &r.may_fail);
        r.multiple = gcd(a->multiple, b->multiple);
        break;
    case TRI_OP_MUL:
        int_mul(&r, a, b);
        break;
    case TRI_OP_MOD:
        int_mod(&r, a, b);
        break;
    case TRI_OP_FDIV:
        int_fdiv(&r, a, b);
        break;
    case TRI_OP_MIN:
        r.lo = low(a->lo, b->lo);
        r.hi = low(a->hi, b->hi);
        r.multiple = gcd(a->multiple, b->multiple);
        break;
    case TRI_OP_MAX:
        r.lo = high(a->lo, b->lo);
        r.hi = high(a->hi, b->hi);
        r.multiple = gcd(a->multiple, b->multiple);
        break;
    default:
        int_pow(&r, a, b);
        break;
    }
    finish_int(&r);
    return r;
}

/* ---- reals ----------------------------------------------------------- */

static double least(double a, double b)
{
    return a < b ? a : b;
}

static double most(double a, double b)
{
    return a > b ? a : b;
}

static void four_ends(tri_abstract *r, double p, double q, double s, double t)
{
    if (isnan(p) || isnan(q) || isnan(s) || isnan(t)) {
        return;
    }
    r->dlo = least(least(p, q), least(s, t));
    r->dhi = most(most(p, q), most(s, t));
}

static tri_abstract real_op(tri_op op, const tri_abstract *a,
                            const tri_abstract *b)
{
    tri_abstract r = nothing_known(TRI_BIT(TRI_REAL));

    if (op == TRI_OP_MIN || op == TRI_OP_MAX || op != TRI_OP_DIV) {
        r.types |= a->types & b->types & TRI_BIT(TRI_INT);
    }
    r.may_fail = 1; /* too large, or a division by zero */
    switch (op) {
    case TRI_OP_ADD:
        four_ends(&r, a->dlo + b->dlo, a->dhi + b->dhi, a->dlo + b->dlo,
                  a->dhi + b->dhi);
        break;
    case TRI_OP_SUB:
        four_ends(&r, a->dlo - b->dhi, a->dhi - b->dlo, a->dlo - b->dhi,
                  a->dhi - b->dlo);
        break;
    case TRI_OP_MUL:
        four_ends(&r, a->dlo * b->dlo, a->dlo * b->dhi, a->dhi * b->dlo,
                  a->dhi * b->dhi);
        break;
    case TRI_OP_DIV:
        if (b->dlo > 0 || b->dhi < 0) {
            four_ends(&r, a->dlo / b->dlo, a->dlo / b->dhi, a->dhi / b->dlo,
                      a->dhi / b->dhi);
        }
        break;
    case TRI_OP_MIN:
        r.dlo = least(a->dlo, b->dlo);
        r.dhi = least(a->dhi, b->dhi);
        break;
    case TRI_OP_MAX:
        r.dlo = most(a->dlo, b->dlo);
        r.dhi = most(a->dhi, b->dhi);
        break;
    default:
        break;
    }
    if (isfinite(r.dlo) && isfinite(r.dhi) &&
        (op == TRI_OP_DIV || op <= TRI_OP_MUL || op >= TRI_OP_MIN)) {
        r.may_fail = 0;
    }
    return r;
}

static int64_t to_int(double d)
{
    return d >= 9.2e18 ? INT64_MAX : d <= -9.2e18 ? INT64_MIN : (int64_t)d;
}

static tri_abstract rounded(tri_op op, const tri_abstract *a)
{
    tri_abstract r = nothing_known(TRI_BIT(TRI_INT));

    if (is_int(a)) {
        r = *a;
        r.types = TRI_BIT(TRI_INT);
        return r;
    }
    r.lo = to_int(op == TRI_OP_CEIL ? ceil(a->dlo) : floor(a->dlo));
    r.hi = to_int(op == TRI_OP_CEIL ? ceil(a->dhi) : floor(a->dhi));
    r.may_fail = r.lo == INT64_MIN || r.hi == INT64_MAX;
    finish_int(&r);
    return r;
}

/* Root and logarithm: monotone, with a margin for their last bits. */
static tri_abstract monotone(tri_op op, const tri_abstract *a)
{
    tri_abstract r = nothing_known(TRI_BIT(TRI_REAL));
    const double slack = 1e-14;

    r.may_fail = op == TRI_OP_SQRT ? a->dlo < 0 : a->dlo <= 0;
    if (a->dlo > 0) {
        r.dlo = op == TRI_OP_SQRT ? sqrt(a->dlo) : tri_log2(a->dlo);
        r.dlo -= slack * (1 + fabs(r.dlo));
    }
    if (a->dhi > 0 && isfinite(a->dhi)) {
        r.dhi = op == TRI_OP_SQRT ? sqrt(a->dhi) : tri_log2(a->dhi);
        r.dhi += slack * (1 + fabs(r.dhi));
    }
    return r;
}

static tri_abstract negated(const tri_abstract *a)
{
    tri_abstract r = *a;

    r.types = a->types & TRI_BITS_NUM;
    r.known = 0;
    r.may_fail = 0;
    r.lo = sat_neg(a->hi, &r.may_fail);
    r.hi = sat_neg(a->lo, &r.may_fail);
    r.dlo = -a->dhi;
    r.dhi = -a->dlo;
    if (is_int(&r)) {
        finish_int(&r);
    } else {
        r.may_fail = 0;
    }
    return r;
}

static tri_abstract absolute(const tri_abstract *a)
{
    tri_abstract r = negated(a);

    r.known = 0;
    if (is_int(a)) {
        r.lo = a->lo > 0 ? a->lo : r.lo > 0 ? r.lo : 0;
        r.hi = high(a->hi, r.hi);
        finish_int(&r);
    } else {
        r.dhi = most(a->dhi, r.dhi);
        r.dlo = a->dlo > 0 ? a->dlo : r.dlo > 0 ? r.dlo : 0;
    }
    return r;
}

/* ---- comparisons ----------------------------------------------------- */

static tri_abstract truth(int value)
{
    tri_value v = {TRI_BOOL, {0}};

    v.u.i = value;
    return tri_abstract_of(v);
}

int tri_abstract_meet(const tri_abstract *a, const tri_abstract *b)
{
    unsigned both = a->types & b->types & ~TRI_BITS_NUM;

    if (a->known && b->known) {
        return tri_value_equal(a->value, b->value);
    }
    if (both) {
        return 1;
    }
    if (!(a->types & TRI_BITS_NUM) || !(b->types & TRI_BITS_NUM)) {
        return 0;
    }
    if (!is_int(a) || !is_int(b)) {
        return a->dlo <= b->dhi && b->dlo <= a->dhi;
    }
    if (a->lo > b->hi || b->lo > a->hi) {
        return 0;
    }
    if (a->lo == a->hi && b->multiple > 1 && a->lo % b->multiple != 0) {
        return 0;
    }
    return !(b->lo == b->hi && a->multiple > 1 && b->lo % a->multiple != 0);
}

static tri_abstract equal(tri_op op, const tri_abstract *a,
                          const tri_abstract *b)
{
    if (a->types && b->types && !tri_abstract_meet(a, b)) {
        return truth(op == TRI_OP_NE);
    }
    if (a->known && b->known) {
        return truth(op == TRI_OP_EQ);
    }
    return nothing_known(TRI_BIT(TRI_BOOL));
}

static int less(const tri_abstract *a, const tri_abstract *b)
{
    return is_int(a) && is_int(b) ? a->hi < b->lo : a->dhi < b->dlo;
}

static int less_equal(const tri_abstract *a, const tri_abstract *b)
{
    return is_int(a) && is_int(b) ? a->hi <= b->lo : a->dhi <= b->dlo;
}

static tri_abstract ordered(tri_op op, const tri_abstract *a,
                            const tri_abstract *b)
{
    if (op == TRI_OP_GT || op == TRI_OP_GE) {
        const tri_abstract *swap = a;
        a = b;
        b = swap;
        op = op == TRI_OP_GT ? TRI_OP_LT : TRI_OP_LE;
    }
    if (op == TRI_OP_LT ? less(a, b) : less_equal(a, b)) {
        return truth(1);
    }
    if (op == TRI_OP_LT ? less_equal(b, a) : less(b, a)) {
        return truth(0);
    }
    return nothing_known(TRI_BIT(TRI_BOOL));
}

/* ---- all ------------------------------------------------------------- */

static tri_abstract unary(tri_op op, const tri_abstract *a)
{
    switch (op) {
    case TRI_OP_NOT:
        return a->known && a->value.type == TRI_BOOL
                       ? truth(!a->value.u.i)
                       : nothing_known(TRI_BIT(TRI_BOOL));
    case TRI_OP_NEG:
        return negated(a);
    case TRI_OP_ABS:
        return absolute(a);
    case TRI_OP_CEIL:
    case TRI_OP_FLOOR:
        return rounded(op, a);
    default:
        return monotone(op, a);
    }
}

static int not_numbers(tri_op op, const tri_abstract *a)
{
    return op != TRI_OP_NOT && op != TRI_OP_EQ && op != TRI_OP_NE &&
           (a->types & ~TRI_BITS_NUM);
}

tri_abstract tri_abstract_op(tri_op op, const tri_abstract *a,
                             const tri_abstract *b)
{
    tri_abstract r;

    if (!b) {
        r = unary(op, a);
    } else if (op == TRI_OP_EQ || op == TRI_OP_NE) {
        r = equal(op, a, b);
    } else if (op >= TRI_OP_LT) {
        r = ordered(op, a, b);
    } else if (is_int(a) && is_int(b) && op != TRI_OP_DIV) {
        r = int_op(op, a, b);
    } else {
        r = real_op(op, a, b);
    }
    r.may_fail |= a->may_fail | not_numbers(op, a);
    if (b) {
        r.may_fail |= b->may_fail | not_numbers(op, b);
    }
    return r;
}

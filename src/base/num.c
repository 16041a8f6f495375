/*
 * Logarithm, exponential and power from + - * / alone.  Each reduces its
 * argument by powers of two and sums a Taylor series whose tail is below half
 * a unit in the last place; pow carries the logarithm as an unevaluated sum of
 * two doubles.  Quantiles of distributions stand in quantile.c.
 */
#include "trireme/num.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

/* ln 2 in two parts; the first has 33 bits, so a whole exponent times it is
 * exact. */
#define LN2_HI  6.93147180369123816490e-01
#define LN2_LO  1.90821492927058770002e-10
#define INV_LN2 1.44269504088896338700e+00

/* An unevaluated sum hi + lo with |lo| below half a unit of hi. */
typedef struct twofold {
    double hi;
    double lo;
} twofold;

static uint64_t bits_of(double x)
{
    uint64_t b;

    memcpy(&b, &x, sizeof b);
    return b;
}

static double of_bits(uint64_t b)
{
    double x;

    memcpy(&x, &b, sizeof x);
    return x;
}

/* 2^k for a normal result. */
static double power_of_two(int k)
{
    assert(k >= -1022 && k <= 1023);
    return of_bits((uint64_t)(k + 1023) << 52);
}

/* x = 2^k * m with m in [sqrt(1/2), sqrt(2)); x positive and finite. */
static int split(double x, double *m)
{
    uint64_t b;
    int k = 0;

    if (x < 0x1p-1022) {
        x *= 0x1p54;
        k = -54;
    }
    b = bits_of(x);
    k += (int)(b >> 52) - 1023;
    *m = of_bits((b & 0xFFFFFFFFFFFFFu) | (uint64_t)1023 << 52);
    if (*m >= 1.41421356237309504880) {
        *m /= 2;
        k++;
    }
    return k;
}

/* sum of z^i * 2 / (2 i + 1) over i = first.., for z = s^2 <= 0.0295. */
static double atanh_tail(double z, int first)
{
    static const double terms[] = {2.0 / 1,  2.0 / 3,  2.0 / 5,  2.0 / 7,
                                   2.0 / 9,  2.0 / 11, 2.0 / 13, 2.0 / 15,
                                   2.0 / 17, 2.0 / 19, 2.0 / 21, 2.0 / 23,
                                   2.0 / 25};
    double sum = 0;

    for (int i = 12; i >= first; i--) {
        sum = sum * z + terms[i];
    }
    return sum;
}

/* log(1 + f) - (f - f^2 / 2), by log(1 + f) = 2 atanh(s), s = f / (2 + f). */
static double log1p_rest(double f)
{
    double s = f / (2 + f);
    double z = s * s;

    return s * (f * f / 2 + z * atanh_tail(z, 1));
}

static int is_special(double x)
{
    return !(x > 0) || x > 0x1.fffffffffffffp1023;
}

/* The logarithm where it is no number: outside (0, inf). */
static double special_log(double x)
{
    if (x == 0) {
        return -INFINITY;
    }
    return x > 0 ? x : NAN;
}

double tri_log(double x)
{
    double m;
    double f;
    int k;

    if (is_special(x)) {
        return special_log(x);
    }
    k = split(x, &m);
    f = m - 1;
    return k * LN2_HI + (f - (f * f / 2 - (log1p_rest(f) + k * LN2_LO)));
}

double tri_log2(double x)
{
    double m;
    double f;
    int k;

    if (is_special(x)) {
        return special_log(x);
    }
    k = split(x, &m);
    f = m - 1;
    return k + (f - (f * f / 2 - log1p_rest(f))) * INV_LN2;
}

/* e^r for |r| <= 0.35 is 1 + r + r^2 times this series. */
static double exp_tail(double r)
{
    static const double inv_factorial[] = {
            1.0 / 2,       1.0 / 6,        1.0 / 24,        1.0 / 120,
            1.0 / 720,     1.0 / 5040,     1.0 / 40320,     1.0 / 362880,
            1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800.0};
    double sum = 0;

    for (int i = 11; i >= 0; i--) {
        sum = sum * r + inv_factorial[i];
    }
    return sum;
}

double tri_exp(double x)
{
    double k;
    double hi;
    double r;
    double y;
    int half;

    if (!(x <= 709.782712893383973096)) {
        return x > 0 ? INFINITY : x;
    }
    if (x < -745.2) {
        return 0;
    }
    k = floor(x * INV_LN2 + 0.5);
    hi = x - k * LN2_HI;
    r = hi - k * LN2_LO;
    /* what rounding took from r is given back at the end */
    y = 1 + (r + (r * r * exp_tail(r) + ((hi - r) - k * LN2_LO)));
    half = (int)k / 2;
    return y * power_of_two(half) * power_of_two((int)k - half);
}

static twofold two_sum(double a, double b)
{
    double s = a + b;
    double t = s - a;

    return (twofold){s, (a - (s - t)) + (b - t)};
}

/* a * b exactly (Dekker 1971), where nothing over- or underflows. */
static twofold two_product(double a, double b)
{
    double p = a * b;
    double ca = a * 134217729.0; /* 2^27 + 1 */
    double cb = b * 134217729.0;
    double ah = ca - (ca - a);
    double bh = cb - (cb - b);
    double al = a - ah;
    double bl = b - bh;

    return (twofold){p, ((ah * bh - p) + ah * bl + al * bh) + al * bl};
}

static twofold twofold_product(twofold a, twofold b)
{
    twofold p = two_product(a.hi, b.hi);

    return two_sum(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}

static twofold twofold_sum(twofold a, twofold b)
{
    twofold s = two_sum(a.hi, b.hi);

    return two_sum(s.hi, s.lo + (a.lo + b.lo));
}

/* f / (2 + f), |f| < 0.42. */
static twofold atanh_argument(double f)
{
    twofold d = two_sum(2, f);
    double q = f / d.hi;
    twofold back = two_product(q, d.hi);

    return two_sum(q, (((f - back.hi) - back.lo) - q * d.lo) / d.hi);
}

/* The logarithm with an error below 2^-64 of its size. */
static twofold wide_log(double x)
{
    static const twofold two_thirds = {2.0 / 3, 3.70074341541718826e-17};
    double m;
    int k = split(x, &m);
    twofold s = atanh_argument(m - 1);
    twofold z = twofold_product(s, s);
    twofold c =
            twofold_sum(two_thirds, (twofold){z.hi * atanh_tail(z.hi, 2), 0});
    twofold log_m = twofold_sum((twofold){2 * s.hi, 2 * s.lo},
                                twofold_product(s, twofold_product(z, c)));

    return twofold_sum(two_sum(k * LN2_HI, k * LN2_LO), log_m);
}

/* x^n, where every product on the way is exact; else 0. */
static double exact_power(double x, int n)
{
    double y = 1;

    for (int i = 0; i < n; i++) {
        twofold p = two_product(y, x);

        if (p.lo != 0 || !(p.hi < 0x1p100)) {
            return 0;
        }
        y = p.hi;
    }
    return y;
}

static double wide_power(twofold l, double y)
{
    double coarse = y * l.hi;
    twofold p;

    if (!(coarse > -746 && coarse < 710)) {
        return coarse > 0 ? INFINITY : 0;
    }
    p = two_product(y, l.hi);
    p = two_sum(p.hi, p.lo + y * l.lo);
    coarse = tri_exp(p.hi);
    return coarse < INFINITY ? coarse + coarse * p.lo : coarse;
}

tri_power_base tri_power_base_of(double x)
{
    twofold l = is_special(x) ? (twofold){NAN, NAN} : wide_log(x);

    return (tri_power_base){x, l.hi, l.lo};
}

double tri_power(const tri_power_base *base, double y)
{
    double x = base->x;
    double exact;

    if (y == 0 || x == 1) {
        return 1;
    }
    if (!(x >= 0) || y != y) {
        return NAN;
    }
    if (x == 0 || x > 0x1.fffffffffffffp1023) {
        return (x == 0) == (y > 0) ? 0 : INFINITY;
    }
    if (floor(y) == y && fabs(y) <= 64 && x > 0x1p-16 && x < 0x1p100) {
        exact = exact_power(x, (int)fabs(y));
        if (exact > 0) {
            return y > 0 ? exact : 1 / exact;
        }
    }
    return wide_power((twofold){base->log_hi, base->log_lo}, y);
}

double tri_pow(double x, double y)
{
    tri_power_base base = tri_power_base_of(x);

    return tri_power(&base, y);
}

/*
 * Quantiles of the normal and of Student's distribution.
 */
#include "trireme/num.h"

#include <assert.h>
#include <math.h>

/* Ratio of two polynomials of degree 7, lowest coefficient first. */
static double ratio7(const double num[8], const double den[8], double x)
{
    double a = num[7];
    double b = den[7];

    for (int i = 6; i >= 0; i--) {
        a = a * x + num[i];
        b = b * x + den[i];
    }
    return a / b;
}

double tri_normal_quantile(double p)
{
    static const double mid_num[8] = {
            3.3871328727963666080e0,  1.3314166789178437745e+2,
            1.9715909503065514427e+3, 1.3731693765509461125e+4,
            4.5921953931549871457e+4, 6.7265770927008700853e+4,
            3.3430575583588128105e+4, 2.5090809287301226727e+3};
    static const double mid_den[8] = {1.0,
                                      4.2313330701600911252e+1,
                                      6.8718700749205790830e+2,
                                      5.3941960214247511077e+3,
                                      2.1213794301586595867e+4,
                                      3.9307895800092710610e+4,
                                      2.8729085735721942674e+4,
                                      5.2264952788528545610e+3};
    static const double tail_num[8] = {
            1.42343711074968357734e0,  4.63033784615654529590e0,
            5.76949722146069140550e0,  3.64784832476320460504e0,
            1.27045825245236838258e0,  2.41780725177450611770e-1,
            2.27238449892691845833e-2, 7.74545014278341407640e-4};
    static const double tail_den[8] = {1.0,
                                       2.05319162663775882187e0,
                                       1.67638483018380384940e0,
                                       6.89767334985100004550e-1,
                                       1.48103976427480074590e-1,
                                       1.51986665636164571966e-2,
                                       5.47593808499534494600e-4,
                                       1.05075007164441684324e-9};
    static const double far_num[8] = {
            6.65790464350110377720e0,  5.46378491116411436990e0,
            1.78482653991729133580e0,  2.96560571828504891230e-1,
            2.65321895265761230930e-2, 1.24266094738807843860e-3,
            2.71155556874348757815e-5, 2.01033439929228813265e-7};
    static const double far_den[8] = {1.0,
                                      5.99832206555887937690e-1,
                                      1.36929880922735805310e-1,
                                      1.48753612908506148525e-2,
                                      7.86869131145613259100e-4,
                                      1.84631831751005468180e-5,
                                      1.42151175831644588870e-7,
                                      2.04426310338993978564e-15};
    double q = p - 0.5;
    double r;

    assert(p > 0 && p < 1);
    if (fabs(q) <= 0.425) {
        return q * ratio7(mid_num, mid_den, 0.180625 - q * q);
    }
    r = sqrt(-tri_log(q < 0 ? p : 1 - p));
    r = r <= 5 ? ratio7(tail_num, tail_den, r - 1.6)
               : ratio7(far_num, far_den, r - 5);
    return q < 0 ? -r : r;
}

/* Logarithm of the gamma function, x > 0: Stirling's series at x + 8. */
static double log_gamma(double x)
{
    double shift = 1;
    double z;

    for (int i = 0; i < 8; i++) {
        shift *= x + i;
    }
    x += 8;
    z = 1 / (x * x);
    return (x - 0.5) * tri_log(x) - x + 0.918938533204672742 +
           (1.0 / 12 - z * (1.0 / 360 - z * (1.0 / 1260 - z / 1680))) / x -
           tri_log(shift);
}

/* Continued fraction of the incomplete beta function, by Lentz's method; good
 * for x < (a + 1) / (a + b + 2).  Abramowitz and Stegun, 26.5.8. */
static double beta_fraction(double a, double b, double x)
{
    double c = 1;
    double d = 1 / (1 - (a + b) * x / (a + 1));
    double h = d;

    for (int m = 1; m < 500; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd =
                -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        double step;

        d = 1 / (1 + even * d);
        c = 1 + even / c;
        h *= d * c;
        d = 1 / (1 + odd * d);
        c = 1 + odd / c;
        step = d * c;
        h *= step;
        if (fabs(step - 1) < 1e-14) {
            break;
        }
    }
    return h;
}

/* Regularised incomplete beta function I_x(a, b). */
static double beta_share(double a, double b, double x)
{
    double front;

    if (x <= 0 || x >= 1) {
        return x <= 0 ? 0 : 1;
    }
    front = tri_exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) +
                    a * tri_log(x) + b * tri_log(1 - x));
    if (x < (a + 1) / (a + b + 2)) {
        return front * beta_fraction(a, b, x) / a;
    }
    return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double tri_student_quantile(double level, double dof)
{
    double lo = 0;
    double hi = 1;

    assert(level > 0 && level < 1 && dof >= 1);
    if (dof > 1e6) {
        return tri_normal_quantile(0.5 + level / 2);
    }
    /* P(|T| > t) = I_x(dof / 2, 1 / 2) with x = dof / (dof + t^2). */
    for (int i = 0; i < 60; i++) {
        double x = (lo + hi) / 2;

        if (beta_share(dof / 2, 0.5, x) < 1 - level) {
            lo = x;
        } else {
            hi = x;
        }
    }
    return sqrt(dof * (1 - hi) / hi);
}

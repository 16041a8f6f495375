/*
 * The Matern correlation, many at a time: an exponential that the compiler can
 * do in vectors.
 */
#include "src/predict/matern.h"
#include "src/predict/clones.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* Added to a number, this rounds it to an integer, which the low bits show. */
#define ROUNDS 0x1.8p52

/* e^-u for u >= 0, to about 4e-16 relative; about 1e-304 from 700 on.
 * Powers of two by the exponent's bits, the rest by Taylor's series, whose
 * remainder is below (log(2) / 2)^13 / 13!. */
static inline double exp_minus(double u)
{
    double c = u < 700.0 ? u : 700.0;
    double t = ROUNDS - c * 1.4426950408889634;
    double k = t - ROUNDS;
    double r = -c - k * 0x1.62e42feep-1 - k * 0x1.a39ef35793c76p-33;
    double p = 1.0 / 479001600;
    double scale;
    uint64_t bits;

    p = p * r + 1.0 / 39916800;
    p = p * r + 1.0 / 3628800;
    p = p * r + 1.0 / 362880;
    p = p * r + 1.0 / 40320;
    p = p * r + 1.0 / 5040;
    p = p * r + 1.0 / 720;
    p = p * r + 1.0 / 120;
    p = p * r + 1.0 / 24;
    p = p * r + 1.0 / 6;
    p = p * r + 0.5;
    p = p * r + 1.0;
    p = p * r + 1.0;
    memcpy(&bits, &t, sizeof bits);
    bits = (bits + 1023) << 52;
    memcpy(&scale, &bits, sizeof scale);
    return p * scale;
}

TRI_CLONES void tri_matern(int n, double square, const double *restrict other,
                           double *restrict row)
{
    for (int j = 0; j < n; j++) {
        double d = square + other[j] + row[j];
        double u = sqrt(5.0 * (d > 0 ? d : 0));

        row[j] = (1.0 + u + u * u * (1.0 / 3)) * exp_minus(u);
    }
}

TRI_CLONES void tri_matern_slopes(int n, double square,
                                  const double *restrict other,
                                  double *restrict row, double *restrict slope)
{
    for (int j = 0; j < n; j++) {
        double d = square + other[j] + row[j];
        double u = sqrt(5.0 * (d > 0 ? d : 0));
        double e = exp_minus(u);

        row[j] = (1.0 + u + u * u * (1.0 / 3)) * e;
        slope[j] = (5.0 / 3) * (1.0 + u) * e;
    }
}

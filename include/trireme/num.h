/*
 * Real functions with the same bits on every processor, for pure code: built
 * of + - * / sqrt and bit moves only (compiled with -ffp-contract=off).
 * Accurate to about two units in the last place; exact where noted.
 */
#ifndef TRIREME_NUM_H
#define TRIREME_NUM_H

#include "trireme/status.h"

/* Natural logarithm; -inf at 0, NaN below. */
TRI_API double tri_log(double x);
/* Base-2 logarithm; exact for powers of two. */
TRI_API double tri_log2(double x);
/* e to the x; 0 and inf where it under- or overflows. */
TRI_API double tri_exp(double x);
/* x to the y for x >= 0, by exp and log; exact where y is whole, |y| <= 64 and
 * every power on the way is exact. */
TRI_API double tri_pow(double x, double y);
/* For many powers of one base: x, and its logarithm in two parts. */
typedef struct tri_power_base {
    double x, log_hi, log_lo;
} tri_power_base;
TRI_API tri_power_base tri_power_base_of(double x);
/* tri_pow(x, y), the same bits. */
TRI_API double tri_power(const tri_power_base *base, double y);
/* Inverse of the standard normal distribution function, 0 < p < 1 (Wichura,
 * AS 241, PPND16). */
TRI_API double tri_normal_quantile(double p);
/* Two-sided Student t quantile: P(|T| <= result) = `level`, 0 < level < 1,
 * `dof` >= 1 degrees of freedom, whole or not; to 1e-9, by bisection of the
 * incomplete beta function (Abramowitz and Stegun, 26.5.8 and 26.5.27). */
TRI_API double tri_student_quantile(double level, double dof);

#endif

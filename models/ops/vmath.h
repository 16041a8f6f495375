/*
 * exp for kernels, in a form that a compiler turns into vector code: no
 * branch, no call.  In the double build it is the C library's.
 */
#ifndef TRI_MODELS_VMATH_H
#define TRI_MODELS_VMATH_H

#include "trireme/model.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#if defined(__GNUC__)
#define TRI_INLINE static inline __attribute__((always_inline))
#else
#define TRI_INLINE static inline
#endif

#ifdef TRI_REAL_DOUBLE
TRI_INLINE tri_real tri_vexp(tri_real x)
{
    return exp(x);
}
#else
/* e^x = 2^n e^r with |r| <= ln2 / 2; the polynomial is that of Cephes' expf
 * (Moshier), to about 1 ulp.  Made as 2 2^(n - 1), which reaches the largest
 * number.  What would be below 2^-125 is 0; NaN stays NaN. */
TRI_INLINE tri_real tri_vexp(tri_real x)
{
    float z = x < 89.0f ? x : 89.0f; /* a NaN has no integer */
    float r, p;
    int32_t n;

    z = z > -88.0f ? z : -88.0f;
    n = (int32_t)(z * 1.44269504f + 16384.5f) - 16384;
    r = z - (float)n * 0.693359375f;
    r = r - (float)n * -2.12194440e-4f;
    p = 1.9875691500e-4f;
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * r * r + r + 1.0f;
    n = (n + 126) * (1 << 23);
    memcpy(&z, &n, sizeof z);
    p = p * z * 2.0f;
    p = x < -86.5f ? 0.0f : p;
    p = x > 88.7228f ? HUGE_VALF : p;
    return x == x ? p : x; /* NOLINT(misc-redundant-expression) */
}
#endif

#endif

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

#ifdef TRI_REAL_DOUBLE
static inline tri_real tri_vexp(tri_real x)
{
    return exp(x);
}
#else
/* e^x = 2^n e^r with |r| <= ln2 / 2; the polynomial is that of Cephes' expf
 * (Moshier), to about 1 ulp.  NaN stays NaN. */
static inline tri_real tri_vexp(tri_real x)
{
    float c = x > 88.0f ? 88.0f : x;
    float z, r, p;
    int32_t n;

    c = c < -87.0f ? -87.0f : c;
    z = c >= -87.0f ? c : 0.0f; /* a NaN has no integer */
    n = (int32_t)(z * 1.44269504f + 16384.5f) - 16384;
    r = c - (float)n * 0.693359375f;
    r = r - (float)n * -2.12194440e-4f;
    p = 1.9875691500e-4f;
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * r * r + r + 1.0f;
    n = (n + 127) * (1 << 23);
    memcpy(&z, &n, sizeof z);
    return p * z;
}
#endif

#endif

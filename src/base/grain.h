/*
 * Times without the noise of a clock's last digits.  What lies below a grain
 * is no knowledge, and in a record a third of what each report takes: such
 * digits do not compress.
 */
#ifndef TRI_BASE_GRAIN_H
#define TRI_BASE_GRAIN_H

#include <math.h>

/* Of an event's time, about a microsecond; of a step's, a nanosecond. */
#define TRI_GRAIN_EVENT 1048576.0    /* a second: 2^20 */
#define TRI_GRAIN_STEP  1073741824.0 /* 2^30 */

/* The last whole grain at or before `s`; exact, NaN stays. */
static inline double tri_grain(double s, double a_second)
{
    return floor(s * a_second) / a_second;
}

#endif

/*
 * The values of parameters and expressions, and configurations.
 *
 * A word is interned by the space (or study) that it belongs to: words of one
 * space compare by pointer or by text alike, and live as long as the space.
 */
#ifndef TRIREME_VALUE_H
#define TRIREME_VALUE_H

#include "trireme/status.h"

#include <stdint.h>

typedef enum tri_type {
    TRI_INACTIVE, /* a parameter whose `when` is false */
    TRI_INT,
    TRI_REAL,
    TRI_BOOL, /* in `i`: 0 or 1 */
    TRI_WORD
} tri_type;

typedef struct tri_value {
    tri_type type;
    union {
        int64_t i;
        double d;
        const char *word; /* borrowed from the space */
    } u;
} tri_value;

/* One value a parameter, in the order of the space's parameters; inactive
 * ones are TRI_INACTIVE.  A plain array, owned by whoever declares it. */
typedef tri_value tri_config;

/* An int or a real, and what it is then. */
static inline int tri_value_is_number(tri_value v)
{
    return v.type == TRI_INT || v.type == TRI_REAL;
}

static inline double tri_value_number(tri_value v)
{
    return v.type == TRI_REAL ? v.u.d : (double)v.u.i;
}

/* Equality of identity: same type and value; inactive equals only inactive;
 * an int equals a real of the same value. */
TRI_API int tri_value_equal(tri_value a, tri_value b);
/* Text of a value as a study file would write it, into buf (`bytes` long),
 * always terminated; returns the length it would need.  Reals in the shortest
 * form that reads back exactly. */
TRI_API size_t tri_value_print(tri_value v, char *buf, size_t bytes);

#endif

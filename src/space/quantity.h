/*
 * What the lexer of expressions and the study reader share about numbers and
 * units.
 */
#ifndef TRI_SPACE_QUANTITY_H
#define TRI_SPACE_QUANTITY_H

#include "trireme/expr.h"

/* Find the unit name[0..n).  Returns 0 if there is none. */
int tri_unit_find(const char *name, size_t n, double *factor, char *kind);
/* x in the unit's base: bytes, seconds, a share of one. */
double tri_unit_apply(double x, double factor);
/* The length of the unsigned decimal number at the start of `s`, 0 if none. */
size_t tri_number_span(const char *s);

#endif

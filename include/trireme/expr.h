/*
 * The expression language of study files: constraints, `when`, features,
 * ranks, subject_to.
 *
 * A text is parsed to a typed tree that knows its variables.  Types are
 * checked against the declared variables before anything is evaluated; what
 * can only be known with values (overflow, division by zero) is an error of
 * evaluation.  Integers stay integers except under `/`, sqrt, log2 and where
 * a real takes part; `%` has the divisor's sign; `//` floors.
 *
 * Pure.  A parsed tree is immutable: any number of threads may evaluate it.
 */
#ifndef TRIREME_EXPR_H
#define TRIREME_EXPR_H

#include "trireme/value.h"

typedef struct tri_expr tri_expr;

/* A variable that an expression may name. */
typedef struct tri_var {
    const char *name; /* borrowed until the tree is destroyed */
    unsigned types;   /* bit set of (1u << tri_type) it can have */
    int may_be_inactive;
    const tri_expr *when; /* its `when` over the same variables, for guards;
                           * NULL where there is none or it is not known */
} tri_var;

/*
 * Parse `text` (UTF-8) over the variables vars[0..n_vars); a name that is
 * none of them is a word if it is in words[0..n_words) and an error naming
 * the closest variable otherwise.  `want` is the type required of the result
 * (TRI_BOOL, TRI_INT, TRI_REAL for any number), checked here.  Units ("2
 * GiB", "1 %" directly after a number) are read.
 * [out] `out`: returned owned.  TRI_EPARSE, TRI_ETYPE, TRI_EUNKNOWN with the
 * column within `text` in the thread's error (line 1).
 */
TRI_API tri_status tri_expr_parse(const char *text, const tri_var *vars,
                                  int n_vars, const char *const *words,
                                  int n_words, tri_type want, tri_expr **out);
TRI_API void tri_expr_destroy(tri_expr *expr);
/* Whether variable number `var` occurs. */
TRI_API int tri_expr_uses(const tri_expr *expr, int var);
/*
 * Evaluate with values[i] for variable i.  [out] `out`.  TRI_EOVERFLOW,
 * TRI_EDIVZERO, TRI_ETYPE (an inactive value in arithmetic).
 */
TRI_API tri_status tri_expr_eval(const tri_expr *expr, const tri_value *values,
                                 tri_value *out);

/* The closest of names[0..n) to `name` by edit distance, or NULL if none is
 * near enough to be a likely slip.  For "did you mean". */
TRI_API const char *tri_closest(const char *name, const char *const *names,
                                int n);
/*
 * Read a number with an optional unit: bytes (B, KiB, MiB, GiB, TiB, kB, MB,
 * GB, TB), time (ms, s, min, h, d), share (%).  [out] `out`, and `kind`: 'b',
 * 't', '%' or 0 for none.  TRI_EPARSE.
 */
TRI_API tri_status tri_quantity_parse(const char *text, double *out,
                                      char *kind);

#endif

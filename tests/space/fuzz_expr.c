/*
 * Fuzz target of expressions: any text over a few variables.  What parses must
 * evaluate to a value or an error, and have the type that was asked for.
 */
#include "trireme/expr.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

/* An assertion that release builds keep. */
static void must(int truth)
{
    if (!truth) {
        __builtin_trap();
    }
}

static const char *const words[] = {"red", "1f1b", "none"};

static void try_type(const char *text, const tri_var *vars, tri_type want)
{
    tri_value values[5] = {{TRI_INT, {.i = -3}},
                           {TRI_INT, {.i = 7}},
                           {TRI_REAL, {.d = 0.25}},
                           {TRI_BOOL, {.i = 1}},
                           {TRI_INACTIVE, {0}}};
    tri_expr *e;
    tri_value v;

    if (tri_expr_parse(text, vars, 5, words, 3, want, &e) != TRI_OK) {
        return;
    }
    if (tri_expr_eval(e, values, &v) == TRI_OK) {
        must(want == TRI_BOOL  ? v.type == TRI_BOOL
             : want == TRI_INT ? v.type == TRI_INT
                               : v.type == TRI_INT || v.type == TRI_REAL);
    }
    tri_expr_destroy(e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static const tri_var vars[5] = {{"dp", 1u << TRI_INT, 0, NULL},
                                    {"pp", 1u << TRI_INT, 0, NULL},
                                    {"lr", 1u << TRI_REAL, 0, NULL},
                                    {"flag", 1u << TRI_BOOL, 0, NULL},
                                    {"sched", 1u << TRI_WORD, 1, NULL}};
    char *text = malloc(bytes + 1);

    if (!text) {
        return 0;
    }
    memcpy(text, data, bytes);
    text[bytes] = '\0';
    try_type(text, vars, TRI_BOOL);
    try_type(text, vars, TRI_INT);
    try_type(text, vars, TRI_REAL);
    free(text);
    return 0;
}

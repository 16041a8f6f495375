/*
 * The typed tree behind tri_expr, shared by the parser, the type checker, the
 * evaluator and the solver.  Nodes stand in one array, children before their
 * parents.
 */
#ifndef TRI_SPACE_NODE_H
#define TRI_SPACE_NODE_H

#include "src/space/pile.h"
#include "trireme/expr.h"

typedef enum tri_op {
    TRI_OP_CONST,
    TRI_OP_VAR, /* a: number of the variable */
    TRI_OP_NEG,
    TRI_OP_NOT,
    TRI_OP_ABS,
    TRI_OP_CEIL,
    TRI_OP_FLOOR,
    TRI_OP_LOG2,
    TRI_OP_SQRT,
    TRI_OP_ADD,
    TRI_OP_SUB,
    TRI_OP_MUL,
    TRI_OP_DIV,
    TRI_OP_FDIV,
    TRI_OP_MOD,
    TRI_OP_POW,
    TRI_OP_MIN,
    TRI_OP_MAX,
    TRI_OP_EQ,
    TRI_OP_NE,
    TRI_OP_LT,
    TRI_OP_LE,
    TRI_OP_GT,
    TRI_OP_GE,
    TRI_OP_AND,
    TRI_OP_OR,
    TRI_OP_IF,  /* a ? b : c */
    TRI_OP_IN,  /* a in the list that starts at b */
    TRI_OP_LIST /* a: an item, b: the next OP_LIST or -1 */
} tri_op;

#define TRI_BIT(type)  (1u << (type))
#define TRI_BITS_NUM   (TRI_BIT(TRI_INT) | TRI_BIT(TRI_REAL))
#define TRI_EXPR_DEPTH 300 /* deepest tree */
#define TRI_EXPR_NODES 8000
#define TRI_EXPR_BYTES 16384 /* longest text */

typedef struct tri_node {
    tri_op op;
    unsigned types; /* the types that it can have, set by the checker */
    int a, b, c;
    int depth;
    int column;      /* of its operator or first character, from 1 */
    tri_value value; /* OP_CONST */
} tri_node;

struct tri_expr {
    tri_pile pile; /* words and text */
    char *text;
    tri_node *nodes;
    int n_nodes;
    int root;
    int n_vars;
    unsigned char *used; /* by variable */
    unsigned wanted;     /* types that its value may have */
};

/* Read the text to a tree, without types.  As tri_expr_parse otherwise. */
tri_status tri_expr_read(const char *text, const tri_var *vars, int n_vars,
                         const char *const *words, int n_words, tri_expr **out);
/* Check the tree's types; fills node types. */
tri_status tri_expr_check(tri_expr *expr, const tri_var *vars, tri_type want);

/* An error in place of a value: u.i is the tri_status. */
#define TRI_VALUE_ERROR ((tri_type)5)
/* The node's value from its operands' (b and c may be NULL): never fails, an
 * error is a TRI_VALUE_ERROR.  Short-circuit operators look at operands from
 * left to right.  Not for CONST, VAR, IN, LIST. */
tri_value tri_op_apply(tri_op op, const tri_value *a, const tri_value *b,
                       const tri_value *c);
/* The value of node `at`, an error as a TRI_VALUE_ERROR. */
tri_value tri_expr_value(const tri_expr *expr, int at, const tri_value *values);
/* Describe an evaluation error and return its status. */
tri_status tri_value_fail(tri_value error, const char *text);

#endif

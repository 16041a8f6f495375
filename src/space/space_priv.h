/*
 * The insides of a space, shared by the files that build it and that walk it.
 */
#ifndef TRI_SPACE_SPACE_PRIV_H
#define TRI_SPACE_SPACE_PRIV_H

#include "src/space/solve.h"
#include "trireme/space.h"

/* Integer domains of up to this many values are kept as arrays. */
#define TRI_SPACE_LISTED (1 << 20)
/* The largest space that is solved. */
#define TRI_SPACE_PARAMS 1000
#define TRI_SPACE_RULES  1000
/* Draws before a constrained continuous component counts as empty. */
#define TRI_SPACE_DRAWS 100000
/* Draws that tell which rule is the tightest. */
#define TRI_SPACE_SHARES 20000

typedef struct tri_rule {
    const char *name; /* what refusals say */
    tri_expr *expr;
    int line, column;
    int built_in;
} tri_rule;

typedef struct tri_named_expr {
    const char *name;
    tri_expr *expr;
    int line, column;
} tri_named_expr;

typedef enum tri_comp_kind {
    TRI_COMP_FREE,    /* one parameter that nothing refers to */
    TRI_COMP_DIAGRAM, /* finite, or with floats in no constraint */
    TRI_COMP_REJECT   /* floats in constraints: drawn and tested */
} tri_comp_kind;

typedef struct tri_component {
    tri_comp_kind kind;
    int first; /* its first parameter */
    int has_float;
    tri_dd dd;
} tri_component;

/* What a parameter's name adds to the identity of a configuration. */
uint64_t tri_space_hash_name(const char *name);

struct tri_space {
    tri_pile pile;
    int n_params, n_vars; /* variables: parameters, then constants */
    tri_param *params;
    uint64_t *name_hashes; /* by parameter */
    int64_t *n_values;     /* by parameter; -1: float */
    tri_var *vars;
    tri_value *fixed; /* by variable; of those that can vary: an error */
    tri_expr **whens; /* by parameter, NULL: none */
    int *when_lines;  /* their places in the study file */
    int *when_order;  /* parameters, each after those its `when` names */
    const char **words;
    int n_words;
    tri_rule *rules;
    int n_rules;
    tri_goal *goals; /* rules split at their outermost `and` */
    int n_goals;
    int *goal_comp; /* by goal; -1: names nothing that varies */
    tri_named_expr *features;
    int n_features;
    tri_expr *ranks; /* NULL: 1 */
    int ranks_line, ranks_column;
    int *comp_of; /* by parameter; -1: fixed */
    tri_component *comps;
    int n_comps;
    int has_rows; /* the set is a table's rows: one diagram over everything */
    int64_t n_rows;
    int64_t count; /* -1: infinite or too many to number */
    double raw;
    int not_found;      /* empty, for all that draws could tell */
    double drawn_share; /* the least share of valid draws of a component */
    int rank_lo, rank_hi;
};

/* What tri_space_subsolve solves: the parameters marked in `set` under the
 * goals of rules first..last that name none outside it. */
typedef struct tri_subset {
    const unsigned char *set;
    int first_rule, last_rule;
    const tri_value *pinned; /* by parameter, an error: free; NULL: all free */
    const tri_expr *objective;
    int weighted, errors_refuse;
    int64_t max_work; /* 0: by the number of points */
} tri_subset;

/* [out] `out` as tri_solve; [out] `rule` to blame. */
tri_status tri_space_subsolve(const tri_space *s, const tri_subset *subset,
                              tri_dd *out, int *rule);
/* Whether parameter i is one of those that vary. */
int tri_space_varies(const tri_space *s, int i);
/* Add to `set` the varying parameters that node `at` of `expr` names. */
void tri_space_mark(const tri_space *s, const tri_expr *expr, int at,
                    unsigned char *set);
/* Add what the `when` of marked parameters name, and so on. */
void tri_space_close(const tri_space *s, unsigned char *set);
/* Make inactive what its `when` says is, in component `comp` (-1: in all);
 * active parameters must have values.  Returns 0 where a `when` cannot be
 * evaluated. */
int tri_space_settle(const tri_space *s, int comp, tri_config *c);
/* All variables' values: c, then the constants. `out` holds n_vars. */
void tri_space_bind(const tri_space *s, const tri_config *c, tri_value *out);
/* Evaluate `expr` for `c`. */
tri_status tri_space_eval(const tri_space *s, const tri_expr *expr,
                          const tri_config *c, tri_value *out);
/* Give the thread's error the place line:column of the study file, where
 * `column` is that of the expression's first character. */
void tri_space_blame(int line, int column);
/* The value at `u` in [0, 1] of a float's range. */
tri_value tri_space_real(const tri_domain *d, double u);
/* Draw all parameters, whatever is valid; `when` is not looked at. */
void tri_space_draw_raw(const tri_space *s, tri_rng *rng, tri_config *out);
/* Draw component `comp` until `wanted` draws were valid, TRI_SPACE_DRAWS times
 * at most.  [out] how many were drawn, and found. */
tri_status tri_space_probe(const tri_space *s, int comp, tri_rng *rng,
                           int wanted, int *drawn, int *found);
/* Set the count to 0 where a component with constrained floats is empty. */
tri_status tri_space_find_empty(tri_space *s);
/* Find the range of ranks and check that all are numbers of ranks; `set` is
 * room for n_params. */
tri_status tri_space_find_ranks(tri_space *s, unsigned char *set);
/* Whether the formula can be computed, and ranks is one, for every valid
 * configuration, as far as can be told: TRI_EDIVZERO, TRI_EOVERFLOW,
 * TRI_ETYPE, TRI_ERANGE naming one for which it cannot. */
tri_status tri_space_verify_ranks(const tri_space *s);
tri_status tri_space_verify_features(const tri_space *s);
/* Solve components, count, find the range of ranks, verify formulas. */
tri_status tri_space_solve(tri_space *s, const tri_value *rows, int64_t n_rows);
/* Solve the rows of a table instead. */
tri_status tri_space_solve_rows(tri_space *s, const tri_value *rows, int64_t n);
/* The smallest and largest value that `expr` could have by intervals. */
tri_abstract tri_space_enclose(const tri_space *s, const tri_expr *expr,
                               int at);

#endif

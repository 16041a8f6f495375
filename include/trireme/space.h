/*
 * The space: parameters, constraints, and the exact engine over the valid
 * configurations.
 *
 * The valid set is solved by propagation at creation, not filtered: variables
 * are split into independent components by the constraints that join them;
 * each component becomes a decision diagram whose equal sub-problems are
 * shared and whose nodes hold exact counts.  Counting is then a product,
 * index <-> configuration and uniform sampling walk one path, O(depth x
 * log values).
 *
 * A continuous (float) parameter makes the set infinite: counts are then -1
 * and indices do not exist, but sampling, neighbours and --why work.  Floats
 * that no constraint names leave the rest exact; components with constrained
 * floats are drawn and tested, up to 100,000 times; where so many draws find
 * nothing at creation, the set counts as empty.  A set of more than
 * INT64_MAX configurations counts as -1 too, and is drawn from exactly.
 *
 * Components of at most 10^8 raw points are always solved; larger ones as long
 * as propagation keeps the work within 3 x 10^7 steps.  At most 1,000
 * parameters and 1,000 constraints.
 *
 * Pure; immutable after creation and safe to share between threads.  All
 * configurations are arrays of tri_space_n_params values.
 */
#ifndef TRIREME_SPACE_H
#define TRIREME_SPACE_H

#include "trireme/expr.h"
#include "trireme/rng.h"
#include "trireme/value.h"

typedef struct tri_space tri_space;
typedef struct tri_space_builder tri_space_builder;

typedef enum tri_domain_kind {
    TRI_DOMAIN_INT,    /* lo, lo + step, ... <= hi; or powers with log2 */
    TRI_DOMAIN_CHOICE, /* a list of numbers, words, booleans */
    TRI_DOMAIN_FLOAT,  /* continuous [lo, hi] */
    TRI_DOMAIN_CONST   /* a plain value */
} tri_domain_kind;

typedef struct tri_domain {
    tri_domain_kind kind;
    int64_t lo, hi, step;    /* int */
    int log2;                /* int: powers of two only */
    int log;                 /* int, float: distances are logarithmic */
    double flo, fhi;         /* float */
    const tri_value *values; /* choice (all) and const (one); after creation
                              * also the finite int values, up to 2^20 of
                              * them (else NULL) */
    int n_values;            /* at most INT32_MAX */
} tri_domain;

typedef struct tri_param {
    const char *name;
    tri_domain domain;
    const tri_expr *when; /* NULL: always active; may name earlier or later
                           * parameters, without cycles */
    int column;           /* its place in configurations */
} tri_param;

/* ---- building ------------------------------------------------------- */

TRI_API tri_status tri_space_builder_create(tri_space_builder **out);
TRI_API void tri_space_builder_destroy(tri_space_builder *b);
/* Add a parameter.  `domain` and its words are copied; `when` may be NULL and
 * is parsed at tri_space_create.  `line`, `column`: place in the study file
 * for errors, 0 if none.  TRI_EEXIST, TRI_EINVAL. */
TRI_API tri_status tri_space_add_param(tri_space_builder *b, const char *name,
                                       const tri_domain *domain,
                                       const char *when, int line, int column);
/* A name that expressions may use but that is no parameter (a model size, an
 * engine default); a later parameter of the same name takes its place. */
TRI_API tri_status tri_space_add_constant(tri_space_builder *b,
                                          const char *name, tri_value value);
/* A word that expressions may name although no parameter has it. */
TRI_API tri_status tri_space_add_word(tri_space_builder *b, const char *word);
/* A constraint; `rule` is the name that refusals give (NULL: its text);
 * `built_in` rules come from a model. */
TRI_API tri_status tri_space_add_constraint(tri_space_builder *b,
                                            const char *text, const char *rule,
                                            int built_in, int line, int column);
/* A named number computed of each configuration, for the predictor. */
TRI_API tri_status tri_space_add_feature(tri_space_builder *b, const char *name,
                                         const char *text, int line,
                                         int column);
/* The number of ranks of a configuration; default 1. */
TRI_API tri_status tri_space_set_ranks(tri_space_builder *b, const char *text,
                                       int line, int column);
/* Restrict the set to the distinct rows of a table: rows[n_rows][n_params],
 * copied.  Constraints apply too. */
TRI_API tri_status tri_space_set_rows(tri_space_builder *b,
                                      const tri_value *rows, int64_t n_rows);
/*
 * Solve.  The builder is used up whether or not it succeeds (destroy it).
 * An empty set is not an error here (count 0).  [out] `out`: returned owned.
 * TRI_EPARSE, TRI_ETYPE, TRI_EUNKNOWN with place; TRI_ETOOLARGE naming the
 * constraint that joins too many points; TRI_EOVERFLOW, TRI_EDIVZERO where a
 * constraint fails to evaluate for a reachable point, or ranks or a feature
 * for a valid configuration; TRI_ERANGE where ranks is not one there (all are
 * tried, or a sample where there are too many); TRI_EEXIST for a feature named
 * like a parameter, a constant or another feature.
 */
TRI_API tri_status tri_space_create(tri_space_builder *b, tri_space **out);
TRI_API void tri_space_destroy(tri_space *space);

/* ---- facts ---------------------------------------------------------- */

TRI_API int tri_space_n_params(const tri_space *s);
TRI_API const tri_param *tri_space_param(const tri_space *s, int i);
/* Index of a parameter by name, -1 if there is none. */
TRI_API int tri_space_find(const tri_space *s, const char *name);
/* Number of valid configurations; -1 if infinite, or over INT64_MAX. */
TRI_API int64_t tri_space_count(const tri_space *s);
/* TRI_EEMPTY, with a sentence that names the tightest rule and its place,
 * where nothing is valid. */
TRI_API tri_status tri_space_not_empty(const tri_space *s);
/* Number of valid configurations that need at most `max_ranks`, exactly; -1
 * where it is infinite or cannot be told in short time.  Solved anew at each
 * call. */
TRI_API int64_t tri_space_count_within(const tri_space *s, int max_ranks);
/* Number of points before constraints and `when`; inf if infinite. */
TRI_API double tri_space_raw(const tri_space *s);
/* Smallest and largest number of ranks over valid configurations; 0 and 0 of
 * an empty set.  For infinite sets an enclosure. */
TRI_API void tri_space_rank_range(const tri_space *s, int *lo, int *hi);
/* The constraints: number, rule name, and how many raw points that rule alone
 * refuses (-1: not counted: over the exact engine's limit, or floats are
 * involved, or the set is a table's rows).  Solved anew at each call. */
TRI_API int tri_space_n_rules(const tri_space *s);
TRI_API const char *tri_space_rule(const tri_space *s, int i);
TRI_API double tri_space_rule_refused(const tri_space *s, int i);
/* Place of rule i in the study file; 0 for built-in rules. */
TRI_API int tri_space_rule_line(const tri_space *s, int i);
/* The features: number, and names. */
TRI_API int tri_space_n_features(const tri_space *s);
TRI_API const char *tri_space_feature_name(const tri_space *s, int i);

/* ---- configurations ------------------------------------------------- */

/* Configuration number `index` in lexicographic order of the parameters'
 * values as declared; inactive comes before any value.  TRI_ERANGE. */
TRI_API tri_status tri_space_at(const tri_space *s, int64_t index,
                                tri_config *out);
/* The index of a valid configuration; TRI_ENOTFOUND if it is not valid. */
TRI_API tri_status tri_space_index(const tri_space *s, const tri_config *c,
                                   int64_t *out);
/* Whether `c` is valid; *rule (may be NULL): the first refusing rule, -1 for
 * a value outside its domain. */
TRI_API int tri_space_valid(const tri_space *s, const tri_config *c, int *rule);
/* A valid configuration, each equally likely (finite sets); TRI_EEMPTY. */
TRI_API tri_status tri_space_sample(const tri_space *s, tri_rng *rng,
                                    tri_config *out);
/* The valid configuration that u[0..n_params), each in [0,1), picks by
 * conditional inversion: u uniform gives uniform configurations, a
 * low-discrepancy u an evenly spread set (Rosenblatt transform). */
TRI_API tri_status tri_space_from_unit(const tri_space *s, const double *u,
                                       tri_config *out);
/*
 * Valid neighbours of `c`: all valid configurations that differ in one
 * active parameter (ordered domains: any value; parameters activated or
 * deactivated by the change take every valid value, up to the limit), then
 * pairs joined by a constraint where a single change has none.
 * [out] out[max][n_params]; returns the number, at most `max`.
 */
TRI_API int tri_space_neighbours(const tri_space *s, const tri_config *c,
                                 tri_config *out, int max);
/* ---- walking -------------------------------------------------------- */

/*
 * A configuration made one parameter after the other, in their order, without
 * dead ends: offered is what valid configurations have there after the choices
 * so far, each value with its share of them.  A number's value goes by its
 * index in the domain; a float takes its place in the range, 0 to 1 (by its
 * logarithm where the domain is logarithmic).
 *
 * In a component with constrained floats every value is offered with an equal
 * share, active or not, and whether it all fits is seen at the end.  Parameters
 * that never vary have no turn.  One thread at a time; borrows the space.
 */
typedef struct tri_walk tri_walk;

#define TRI_WALK_INACTIVE (-1)

/* [out] owned, at its beginning.  TRI_EEMPTY, TRI_ENOMEM. */
TRI_API tri_status tri_walk_create(const tri_space *s, tri_walk **out);
TRI_API void tri_walk_destroy(tri_walk *w);
TRI_API void tri_walk_begin(tri_walk *w);
/* The parameter whose turn it is; -1 at the end. */
TRI_API int tri_walk_param(const tri_walk *w);
/* Its values: their number, -1 for a float. */
TRI_API int64_t tri_walk_n(const tri_walk *w);
/* The share of completions where it is inactive; and where its value has an
 * index in [lo, hi) (of a float: any value, whatever lo and hi). */
TRI_API double tri_walk_inactive(const tri_walk *w);
TRI_API double tri_walk_share(const tri_walk *w, int64_t lo, int64_t hi);
/* The index in [lo, hi) that u in [0, 1) picks, by shares; the share must not
 * be 0. */
TRI_API int64_t tri_walk_pick(const tri_walk *w, int64_t lo, int64_t hi,
                              double u);
/* Take a value that has a share, and go on to the next parameter. */
TRI_API void tri_walk_take(tri_walk *w, int64_t index);
TRI_API void tri_walk_take_real(tri_walk *w, double place);
/* Index of `v` for the parameter whose turn it is, TRI_WALK_INACTIVE for
 * inactive, where it has a share; else -2.  [out] place: of a float. */
TRI_API int64_t tri_walk_find(const tri_walk *w, tri_value v, double *place);
/* At the end: [out] what was made.  TRI_ENOTFOUND where constrained floats do
 * not fit. */
TRI_API tri_status tri_walk_end(tri_walk *w, tri_config *out);

/* ---- of one configuration ------------------------------------------- */

/* Ranks of a valid configuration. */
TRI_API tri_status tri_space_ranks(const tri_space *s, const tri_config *c,
                                   int *out);
/* Feature i of `c`. */
TRI_API tri_status tri_space_feature(const tri_space *s, const tri_config *c,
                                     int i, double *out);
/* The value that `name` has in `c`: a parameter's, or a constant's.
 * TRI_ENOTFOUND. */
TRI_API tri_status tri_space_lookup(const tri_space *s, const tri_config *c,
                                    const char *name, tri_value *out);
/* Identity of a configuration: equal configurations have equal hashes, by
 * names and values of active parameters, whatever the ranges. */
TRI_API uint64_t tri_space_hash(const tri_space *s, const tri_config *c);
TRI_API int tri_space_equal(const tri_space *s, const tri_config *a,
                            const tri_config *b);
/*
 * Canonical text "dp=2 tp=1 schedule=1f1b" (active, non-constant parameters;
 * a word that needs it is quoted).  Returns the length needed, terminated.
 */
TRI_API size_t tri_space_print(const tri_space *s, const tri_config *c,
                               char *buf, size_t bytes);
/*
 * Read assignments "dp=2,tp=2" or "dp=2 tp=2"; constants are filled in,
 * missing parameters that have a single possible value or are inactive too;
 * any other missing one is an error.  Names that are no parameter, values
 * outside a domain: TRI_EUNKNOWN, TRI_ERANGE.  Validity is not checked.
 */
TRI_API tri_status tri_space_parse(const tri_space *s, const char *text,
                                   tri_config *out);

typedef struct tri_why {
    int valid;
    const char *rule; /* the first refusing rule, borrowed; NULL if valid */
    int line;         /* its place in the study file, 0 if built in */
    char values[256]; /* "dp=2 micro_batch=32": the rule's variables;
                       * of a `when` its parameter before them */
} tri_why;
/* Why an assignment (may be partial: then whether it can be completed) is or
 * is not valid.  Errors as tri_space_parse. */
TRI_API tri_status tri_space_why(const tri_space *s, const char *text,
                                 tri_why *out);

#endif

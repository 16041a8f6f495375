/*
 * The insides of a study, shared by the files that read it.
 */
#ifndef TRI_SPACE_STUDY_PRIV_H
#define TRI_SPACE_STUDY_PRIV_H

#include "src/space/reader.h"

#define TRI_COUNT_OF(a) ((int)(sizeof(a) / sizeof *(a)))

typedef struct tri_condition { /* of subject_to */
    const char *text;
    tri_expr *expr;
    int needs_config;
} tri_condition;

struct tri_study_private {
    tri_pile pile;
    const tri_yaml *root;
    tri_condition *conditions; /* n_subject_to */
    tri_var *vars; /* of conditions: metrics, then the space's variables */
    int n_vars;
    tri_table *table;
    tri_value *rows; /* of a table: distinct, n_rows x n_params */
    int64_t n_rows;
    const char *const *columns; /* parameters of the table */
    double *row_objective;      /* in the order of `rows`, x n_points */
    unsigned char *row_failed;
    int n_points;
    tri_value *cells; /* scratch while a table is read */
    struct {          /* tables as they were read */
        const char *path, *text;
        size_t bytes;
    } files[TRI_STUDY_MAX_FILES];
    int n_files;
};

/* An engine parameter: what the built-in models run on. */
typedef struct tri_engine_param {
    const char *name;
    tri_type type;
    int64_t lo, hi;           /* integers */
    const char *const *words; /* words, NULL-terminated */
    tri_value preset;         /* its default; inactive: none */
    const char *unbuilt;      /* condition under which it is built, or NULL */
} tri_engine_param;

/* At most. */
#define TRI_ENGINE_MOST 64

extern const tri_engine_param tri_engine_params[];
extern const int tri_n_engine_params;
/* The engine parameter of that name, NULL if there is none. */
const tri_engine_param *tri_engine_find(const char *name);
/* Whether a model has parameter `p`: placements and the planner are dlrm's, and
 * of those as many as it has tables. */
int tri_engine_is_for(const tri_engine_param *p, const tri_model_spec *model);
/* Whether the engine could run with this value; else `expected` says what. */
int tri_engine_accepts(const tri_engine_param *p, tri_value v, char *expected,
                       size_t bytes);
/* Which engine parameters a space has, and which of them may be inactive (then
 * their defaults stand in). */
typedef struct tri_rule_names {
    void *ctx;
    int (*known)(void *ctx, const char *name);
    int (*may_be_inactive)(void *ctx, const char *name);
} tri_rule_names;
/* Copy `text` with each engine parameter that may be inactive guarded.
 * Returns 0 where a name is not known, or the text does not fit. */
int tri_engine_guard(const char *text, const tri_rule_names *names, char *out,
                     size_t bytes);
/* Hand the model's rules to `add`, one by one. */
tri_status tri_engine_add_rules(tri_model_kind kind,
                                const tri_rule_names *names,
                                tri_status (*add)(void *ctx, const char *name,
                                                  const char *text),
                                void *ctx);
/* The sizes of a built-in model as constants, and the engine's words. */
tri_status tri_engine_add_sizes(tri_space_builder *b,
                                const tri_model_spec *model);
/* The keys of model kind process, and (with a space) what its templates name:
 * TRI_EUNKNOWN with place. */
tri_status tri_study_read_process(tri_reader *r, const tri_yaml *m);
tri_status tri_study_read_process_keys(tri_reader *r, const tri_yaml *m,
                                       tri_process_spec *p);
tri_status tri_study_read_metrics(tri_reader *r, const tri_yaml *m,
                                  tri_process_spec *p);
tri_status tri_study_check_templates(tri_reader *r);
/* With an objective and a resource: whether something uses each of a process's
 * patterns; what they do not give is noted. */
tri_status tri_study_check_patterns(tri_reader *r);
/* The keys of model kind table. */
tri_status tri_study_read_table_keys(tri_reader *r, const tri_yaml *m);
/* Its space: `at` is the key `space`. */
tri_status tri_study_add_table(tri_reader *r, tri_space_builder *b,
                               const tri_yaml *at);
/* An order of the values of a column: numbers, then words. */
int tri_value_compare(const tri_value *a, const tri_value *b);
/* Whether a parameter or a feature may have this name.  `group` and `thing`:
 * "space" and "parameter", "features" and "feature". */
tri_status tri_study_check_name(const tri_yaml *e, const char *name,
                                const char *group, const char *thing);
/* The key `emit`, once there is a space. */
tri_status tri_study_read_emit(tri_reader *r);
/* Whether a parameter of a process study cannot have this name: templates and
 * TRIREME_NAME mean something else by it. */
int tri_study_is_fact(const char *name);
int tri_model_is_built_in(tri_model_kind kind);
tri_value tri_value_of_int(int64_t i);

#endif

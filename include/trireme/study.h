/*
 * The study file: every key of it, read and checked.
 *
 * Reading is pure: the text is given, and what the text refers to (a table)
 * is asked of a callback.  An error carries file, line and column, what was
 * found, what was expected and the closest known key.  Features that are read
 * but not built yet are listed as notes; they are errors only where ignoring
 * them would change what is measured.
 */
#ifndef TRIREME_STUDY_H
#define TRIREME_STUDY_H

#include "trireme/space.h"

typedef enum tri_model_kind {
    TRI_MODEL_GPT,
    TRI_MODEL_DLRM,
    TRI_MODEL_MLP,
    TRI_MODEL_PROCESS,
    TRI_MODEL_PLUGIN,
    TRI_MODEL_SYNTHETIC,
    TRI_MODEL_TABLE
} tri_model_kind;

typedef struct tri_gpt_spec {
    int layers, hidden, heads, sequence, vocab;
    int ffn;          /* default 4 * hidden */
    int tied;         /* head shares the embedding; default 1 */
    const char *data; /* "builtin" or a path, relative to the study file */
    int rms;          /* norm: rms, else layer */
    int swiglu;       /* mlp: swiglu, else gelu */
    int rope;         /* positions: rope, else learned */
    int no_bias;      /* bias: false */
    double dropout;   /* 0 to 0.9 */
} tri_gpt_spec;

typedef struct tri_mlp_spec {
    int inputs, hidden, layers, outputs;
} tri_mlp_spec;

#define TRI_MAX_TABLES     32
#define TRI_MAX_MLP_LAYERS 8

typedef struct tri_dlrm_spec {
    int tables, dim; /* embedding tables, and the width of all of them */
    int rows[TRI_MAX_TABLES];
    int pooling;                              /* ids of a table in a sample */
    int dense;                                /* dense features */
    int bottom[TRI_MAX_MLP_LAYERS], n_bottom; /* hidden layers */
    int top[TRI_MAX_MLP_LAYERS], n_top;
    double zipf;      /* exponent of the ids of synthetic samples */
    double lr;        /* of the tables (row-wise Adagrad) */
    const char *data; /* "synthetic" or a path, relative to the study file */
} tri_dlrm_spec;

typedef struct tri_pair { /* a key and its text, in file order */
    const char *key;
    const char *value;
} tri_pair;

typedef struct tri_process_spec {
    const char *const *argv; /* templates: {param}, {rank}, {run}, ... */
    int n_argv;
    const int *argv_group; /* elements of one number are left out together
                            * where a parameter that one of them names is
                            * inactive; NULL with `shell` */
    int shell;             /* argv[0] is given to sh -c */
    int leader;            /* launch: leader, else one process a rank */
    struct {               /* run once a rank; what it leaves in the
                            * environment is what every process starts with */
        const char *const *shell; /* command line of the shell that reads
                                   * `text` from -c; "bash" by default */
        int n_shell;
        const char *text; /* NULL: none */
    } setup;
    const char *cwd, *scratch; /* templates; NULL if absent */
    struct {                   /* a file TRIAL.RUN.ATTEMPT.RANK.log a process:
                                * all that it wrote, both streams */
        const char *dir;       /* NULL: none */
        int keep;              /* logs of so many runs stay, the latest; 0: all;
                                * those of failed runs count apart */
        uint64_t max_bytes;    /* a file; then only its beginning and end */
    } log;
    const tri_pair *env; /* templates */
    int n_env;
    const char *const *keep_env;
    int n_keep_env;
    struct { /* which devices a rank shows its process */
        enum {
            TRI_DEVICES_AUTO,
            TRI_DEVICES_NONE,
            TRI_DEVICES_MAP
        } how;
        const char *const *map; /* of the i-th worker of a host: "2", "4,5" */
        int n_map;
        const char *variable; /* NULL: the one that is inherited; with a map
                               * CUDA_VISIBLE_DEVICES */
    } devices;
    struct {
        const char *trainer; /* name of ready patterns (megatron-lm, deepspeed,
                              * nanotron, torchtitan, huggingface); NULL */
        const tri_pair *patterns; /* metric, regex with one group; they go
                                   * before ready ones of the same metric */
        int n_patterns;
    } metrics;
    int resume; /* 1: resume: checkpoint */
} tri_process_spec;

typedef struct tri_plugin_spec {
    const char *library;     /* relative to the study file */
    const tri_pair *options; /* values as texts, numbers in plain digits */
    int n_options;
} tri_plugin_spec;

typedef struct tri_synthetic_spec {
    const char *curve; /* name; "bowl" by default (see curve.h) */
    double noise;      /* relative standard deviation of a result */
    double straggle;   /* S: duration times 1 + |N(0,S)| */
    double fail;       /* probability that a run fails */
    double cost_s;     /* seconds a unit of resource; NaN: the driver's */
} tri_synthetic_spec;

/* Files that a study may refer to. */
#define TRI_STUDY_MAX_FILES 16

typedef struct tri_table_file {
    const char *path;  /* relative to the study file */
    const char *value; /* that its rows have in the column `by` */
} tri_table_file;

typedef struct tri_table_spec {
    const tri_table_file *files; /* the rows of all of them, in order */
    int n_files;
    const char *by; /* a column that says which file a row is of, NULL: none */
    const char *const *parameters; /* columns */
    int n_parameters;
    const char *objective; /* column */
    const char *failed;    /* column, NULL if none */
    const char *curve;     /* prefix, NULL if none */
    double second_s; /* real seconds that a virtual one lasts under MPI; 0: no
                      * time passes at all; 0.01 by default */
} tri_table_spec;

typedef struct tri_model_spec {
    tri_model_kind kind;
    union {
        tri_gpt_spec gpt;
        tri_mlp_spec mlp;
        tri_dlrm_spec dlrm;
        tri_process_spec process;
        tri_plugin_spec plugin;
        tri_synthetic_spec synthetic;
        tri_table_spec table;
    } u;
} tri_model_spec;

typedef enum tri_metric {
    TRI_METRIC_TOKENS_PER_S,
    TRI_METRIC_SAMPLES_PER_S,
    TRI_METRIC_STEP_S,
    TRI_METRIC_LOSS,
    TRI_METRIC_OWN /* a metric of the trial's own, by name */
} tri_metric;

typedef enum tri_unit {
    TRI_UNIT_STEPS,
    TRI_UNIT_SAMPLES,
    TRI_UNIT_TOKENS,
    TRI_UNIT_SECONDS,
    TRI_UNIT_EPOCHS
} tri_unit;

typedef enum tri_sched_kind {
    TRI_SCHED_ASHA,
    TRI_SCHED_ASHA_STOP,
    TRI_SCHED_ASHA_DELAYED,
    TRI_SCHED_SHA,
    TRI_SCHED_HYPERBAND,
    TRI_SCHED_ASYNC_HYPERBAND,
    TRI_SCHED_PASHA,
    TRI_SCHED_NONE
} tri_sched_kind;

#define TRI_UNLIMITED (-1)

typedef struct tri_study {
    const char *name;
    uint64_t seed;    /* 0 by default */
    const char *path; /* of the study file, as given */
    const char *text; /* the whole file */
    tri_model_spec model;
    tri_space *space; /* owned by the study */

    struct {
        tri_metric metric;
        const char *name; /* "tokens_per_s" */
        int maximize;
        int learned;      /* loss or own metric: depends on training so far */
        int per_rank;     /* compare: per_rank */
        int n_subject_to; /* see tri_study_subject_to */
    } objective;

    int has_baseline;
    const tri_config *baseline; /* n_params values */
    const tri_config *start;    /* n_start x n_params */
    int n_start;

    struct {
        tri_unit unit;
        int64_t min;
        int64_t max; /* 0: unbounded */
        int eta;
    } resource;

    struct {
        tri_sched_kind kind;
        int bracket, brackets; /* brackets 0 of sha and hyperband: any number */
        int64_t n;             /* sha: configurations of a bracket; 0: auto */
    } scheduler;

    struct {
        const char *proposer;    /* auto, random, quasi, acquisition, ... */
        const char *predictor;   /* auto, gp, trees, mlp, mlp-squared */
        const char *acquisition; /* ei, ucb, thompson */
        double random_share;
    } search;

    struct {
        int64_t trials, runs; /* TRI_UNLIMITED */
        double time_s;        /* TRI_UNLIMITED */
    } budget;

    struct {
        int top; /* 0: no finals */
        int repeats;
    } finals;

    struct {
        double precision; /* 0.01 = 1 % */
        int min_steps;
    } measure;

    uint64_t memory_bytes; /* a rank; 0: auto */
    const char *exclusive; /* none, node, numa */

    struct {
        double startup_s, progress_s /* 0: auto */, grace_s;
    } timeouts;

    struct {
        const char *policy; /* auto, always, never */
        const char *dir;
        int shared;
        uint64_t max_bytes;
    } checkpoints;

    struct {
        int max_attempts;
    } failures;

    struct {
        double lr, weight_decay, clip, beta1, beta2;
    } optimizer;

    struct {                   /* emit: how `best --emit` names parameters */
        const char *format;    /* torchrun, megatron, deepspeed, slurm */
        const tri_pair *names; /* a parameter, or "parameter=value" for that
                                * value of it, and what it is called there; ""
                                * leaves it out */
        int n_names;
    } emit[4];
    int n_emit;

    const char *const *notes; /* features that come later, a sentence each */
    int n_notes;
    struct tri_study_private *priv;
    const char *const *unbuilt; /* those notes that keep the study from being
                                 * run: TRI_EUNBUILT with the first */
    int n_unbuilt;
} tri_study;

/* Gives the bytes of `path` (already resolved against the study file's
 * folder).  [out] `data`, malloc'd, taken by the reader, NUL-terminated.
 * Returns TRI_EIO with a sentence naming the path where it cannot. */
typedef tri_status (*tri_read_fn)(void *ctx, const char *path, char **data,
                                  size_t *bytes);

/*
 * Read a study.  `path` is used in errors and to resolve relative paths; the
 * text need not be terminated.  `read` may be NULL where the study refers to
 * no table.  [out] `out`: returned owned.
 */
TRI_API tri_status tri_study_parse(const char *text, size_t bytes,
                                   const char *path, tri_read_fn read,
                                   void *ctx, tri_study **out);
TRI_API void tri_study_destroy(tri_study *study);
/* The name in a study's text, whatever else stands there, cut to fit into buf.
 * Errors as above. */
TRI_API tri_status tri_study_name(const char *text, size_t bytes,
                                  const char *path, char *buf,
                                  size_t buf_bytes);

/* The files that the text refers to and `read` gave (tables): what an open
 * event must attach, TRI_STUDY_MAX_FILES at most, in the order in which `read`
 * was asked.  File `i` of tri_study_n_files: returns its bytes as they were
 * given; *path as `read` was asked, *bytes; all borrowed. */
TRI_API int tri_study_n_files(const tri_study *study);
TRI_API const char *tri_study_file(const tri_study *study, int i,
                                   const char **path, size_t *bytes);

/* The path of `name` resolved against the study file's folder, into buf. */
TRI_API void tri_study_resolve(const tri_study *study, const char *name,
                               char *buf, size_t bytes);

/* What a finished run measured, for `subject_to` and the score. */
typedef struct tri_measured {
    double tokens_per_s, samples_per_s, step_s, loss, own; /* NaN: none */
    double peak_bytes, rss_bytes;
} tri_measured;

/* The objective of a run on `ranks` ranks as the study compares it (per rank
 * where it says so), NaN if it was not measured. */
TRI_API double tri_study_objective(const tri_study *study,
                                   const tri_measured *m, int ranks);
/* Whether `m` meets every subject_to; *text (may be NULL): the first that it
 * does not, borrowed. */
TRI_API int tri_study_subject_to(const tri_study *study, const tri_measured *m,
                                 const char **text);
/* As tri_study_subject_to, where conditions name parameters too; `c` may be
 * NULL: conditions that need it are then passed over. */
TRI_API int tri_study_admits(const tri_study *study, const tri_config *c,
                             const tri_measured *m, const char **text);
/* Why condition `text`, as tri_study_admits gives it, is not met: "subject_to
 * "loss <= 0.4" is not met; loss was 0.52", cut to fit into buf. */
TRI_API void tri_study_say_refused(const tri_study *study,
                                   const tri_measured *m, const char *text,
                                   char *buf, size_t bytes);
/*
 * Which keys differ between two readings of a study.  Returns the first key
 * that may not change at a resume ("model.layers"), borrowed from `now` or
 * static, or NULL; [out] `changed`: whether anything differs at all, `emit`
 * aside, of which nothing depends that is measured.
 */
TRI_API const char *tri_study_frozen_difference(const tri_study *before,
                                                const tri_study *now,
                                                int *changed);

/*
 * The layout that a configuration asks of the engine: its engine parameters,
 * or their defaults.
 */
typedef struct tri_layout {
    int dp, tp, pp, virtual_stages;
    int micro_batch, global_batch;
    int zero;
    int schedule;  /* 0 gpipe, 1 1f1b, 2 interleaved */
    int recompute; /* 0 none, 1 selective, 2 full */
    int sequence_parallel;
    int split;   /* of layers over stages: 0 even, 1 cost */
    int overlap; /* 0 none, 1 poke, 2 shm */
    uint64_t bucket_bytes;
    int placing[TRI_MAX_TABLES]; /* of each table: 0 planned, 1 table, 2 row,
                                  * 3 column, 4 data */
    int planner;                 /* 0 greedy, 1 size, 2 cost */
    int threads;
    char gemm[16];
} tri_layout;

/* [out] `out`.  Without a global_batch it is the smallest that the layout
 * allows, dp * micro_batch.  TRI_ETYPE where an engine parameter has an
 * unusable value. */
TRI_API tri_status tri_study_layout(const tri_study *study, const tri_config *c,
                                    tri_layout *out);
/*
 * Read engine assignments for `trireme train --set`: as tri_space_parse, but
 * any engine parameter may be named, in the space or not, and what is left
 * out has the engine's default.  The built-in
 * rules are checked; TRI_EINFEASIBLE names the rule.
 */
TRI_API tri_status tri_study_layout_parse(const tri_study *study,
                                          const char *text, tri_layout *out);

/* What templates of a process may name beside parameters ("rank", "run", ...),
 * NULL-terminated.  Static storage. */
TRI_API const char *const *tri_study_facts(void);

/* Names of enum values as study files write them.  Static storage. */
TRI_API const char *tri_unit_name(tri_unit unit);
TRI_API const char *tri_sched_name(tri_sched_kind kind);
TRI_API const char *tri_model_name(tri_model_kind kind);

/* A table of recorded results (model kind table), NULL for other kinds. */
typedef struct tri_table {
    int64_t n_rows;              /* distinct configurations = space indices */
    int n_points;                /* length of the curves; 1 without `curve` */
    const double *objective;     /* n_rows x n_points; NaN: not measured */
    const unsigned char *failed; /* n_rows: final at once */
    double optimum;              /* best finite objective in the last column */
} tri_table;
TRI_API const tri_table *tri_study_table(const tri_study *study);

#endif

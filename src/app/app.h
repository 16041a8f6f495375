/*
 * What the subcommands of the program share: options that all of them have,
 * errors and exit statuses, the log, files, JSON and plain text.  Private to
 * src/app.  The one module that may end the process, print, and read files by
 * stdio; it decides nothing about studies.
 */
#ifndef TRI_APP_APP_H
#define TRI_APP_APP_H

#include "trireme/ctl.h"
#include "trireme/log.h"
#include "trireme/recorded.h"
#include "trireme/store.h"
#include "trireme/study.h"

#include "src/app/searched.h"

#include <jansson.h>

#include <argp.h>
#include <stdio.h>

/* Exit statuses. */
enum {
    TRI_EXIT_DONE = 0,
    TRI_EXIT_USAGE = 1,
    TRI_EXIT_INFEASIBLE = 2,
    TRI_EXIT_INTERRUPTED = 3,
    TRI_EXIT_FAULT = 4
};

/* ---- subcommands ----------------------------------------------------- */

/* Each gets the arguments after the program's name (argv[0] is the command)
 * and returns the exit status. */
typedef int (*tri_app_fn)(int argc, char **argv);

int tri_app_tune(int argc, char **argv);
int tri_app_check(int argc, char **argv);
int tri_app_train(int argc, char **argv);
int tri_app_sim(int argc, char **argv);
int tri_app_replay(int argc, char **argv);
int tri_app_status(int argc, char **argv);
int tri_app_best(int argc, char **argv);
int tri_app_export(int argc, char **argv);
int tri_app_recover(int argc, char **argv);
int tri_app_report(int argc, char **argv);
int tri_app_explain(int argc, char **argv);
int tri_app_predict(int argc, char **argv);
int tri_app_guard(int argc, char **argv);

/* ---- options --------------------------------------------------------- */

/* Options of every command.  The first member of each command's own struct,
 * so that the shared parser finds it. */
typedef struct tri_app_common {
    int json, quiet, verbose, help;
    const char *file; /* the one positional argument, NULL if missing */
} tri_app_common;

/* Parse `argv` by `argp`, whose input is `common` or a struct that begins
 * with it, and set up the log and the style of errors.  Returns -1 to go on,
 * or the exit status: help was printed (0), or the usage is wrong (1, said).
 * `needs` names the positional argument for the sentence. */
int tri_app_parse(const struct argp *argp, int argc, char **argv,
                  tri_app_common *common, const char *needs);
/* A child for a command's argp: the common options. */
extern const struct argp_child tri_app_common_child[];
/* For parsers: take positional arguments and pass on the rest. */
error_t tri_app_parse_other(int key, char *arg, struct argp_state *state);
/* Numbers for options: EINVAL with a sentence set where `text` is none. */
error_t tri_app_int(const char *option, const char *text, int64_t lo,
                    int64_t hi, int64_t *out);
error_t tri_app_u64(const char *option, const char *text, uint64_t *out);
error_t tri_app_real(const char *option, const char *text, double lo, double hi,
                     double *out);
/* A duration with a unit, or plain seconds. */
error_t tri_app_seconds(const char *option, const char *text, double *out);

/* ---- errors, log ----------------------------------------------------- */

/* Print the thread's last error (one line on standard error, or an object on
 * standard output with --json) and return the exit status for it. */
int tri_app_fail(void);
/* Style of errors: JSON or not; silent on ranks other than 0. */
void tri_app_errors(int json, int silent);
/* The last error as {error, file, line, column, code}.  Owned. */
json_t *tri_app_error_json(void);

/* Install the log on standard error. */
void tri_app_log_setup(int quiet, int verbose, int rank);
/* Text written before each log line while a live line stands there. */
void tri_app_log_clear(const char *text);
/* The rank that the launcher gave this process, before MPI_Init; 0 if there
 * is no launcher. */
int tri_app_launch_rank(void);

/* ---- files ----------------------------------------------------------- */

/* A tri_read_fn by stdio. */
tri_status tri_app_read(void *ctx, const char *path, char **data,
                        size_t *bytes);
/* Read and parse the study at `path`.  [out] owned. */
tri_status tri_app_study(const char *path, tri_study **out);
/*
 * The same, its tables read from `table` (of the option --table): a CSV, or the
 * folder that holds files of the names that the study gives; NULL: where the
 * study says.  Where a `record` is given and exists, tables are those that it
 * was begun with: they need not be there again, and one that is and differs is
 * TRI_EINVAL.
 */
tri_status tri_app_study_with(const char *path, const char *table,
                              const char *record, tri_study **out);
/* The name of the study at `path`, whatever else stands in it, into buf. */
tri_status tri_app_study_name(const char *path, char *buf, size_t bytes);
/* The row of that option for a command's list. */
#define TRI_APP_TABLE_OPTION(key)                                              \
    {                                                                          \
        "table", key, "PATH", 0,                                               \
                "The CSV of a recorded table, or the folder that holds it, "   \
                "instead of "                                                  \
                "the place where model.file says",                             \
                0                                                              \
    }
/* TRI_EEMPTY naming the tightest rule where the valid set is empty. */
tri_status tri_app_study_not_empty(const tri_study *study);
/* TRI_EUNBUILT where its scheduler or proposer is read but not built. */
tri_status tri_app_study_built(const tri_study *study);
/* What can be known before a training starts: data that is there and long
 * enough, commands whose templates name what exists. */
tri_status tri_app_study_ready(const tri_study *study);
/* Read the events of the record at `path`, at least one.  [out] owned. */
tri_status tri_app_history(const char *path, tri_history **out);
/* Fold the record at `path` into a controller, noting how it was searched
 * (NULL: never mind).  [out] *ctl owned. */
tri_status tri_app_fold(const char *path, tri_ctl **ctl,
                        tri_app_searched *searched);
/* The same of a history that was read. */
tri_status tri_app_fold_history(const tri_history *history, tri_ctl **ctl,
                                tri_app_searched *searched);
/* Read the results that `path` records for configurations of `study`: a study
 * file where its name ends in .h5, else a CSV.  [out] freed with
 * tri_recorded_fini. */
tri_status tri_app_recorded(const char *path, const tri_study *study,
                            tri_recorded *out);

/* ---- JSON ------------------------------------------------------------ */

/* A number; NaN and infinities are null. */
json_t *tri_app_json_real(double v);
/* A count held in a real: a whole number where it is one; below 0: null. */
json_t *tri_app_json_count(double v);
/* Text that may be NULL, or not UTF-8 (then repaired). */
json_t *tri_app_json_text(const char *text);
json_t *tri_app_json_value(tri_value v);
/* {"dp": 2, ...}: active parameters, constants included. */
json_t *tri_app_json_config(const tri_space *space, const tri_config *c);
/* One line on standard output; takes `object`. */
void tri_app_json_print(json_t *object);

/* ---- plain text ------------------------------------------------------ */

/* "-" for NaN, else four or five figures, never an exponent where a plain
 * number reads better.  Each returns buf. */
char *tri_app_number(double v, char *buf, size_t bytes);
/* "85 ms", "12.5 s", "3 min 05 s", "2 h 10 min". */
char *tri_app_duration(double s, char *buf, size_t bytes);
/* An amount of the study's resource: "1 step", "27 steps". */
char *tri_app_amount(const tri_study *study, int64_t n, char *buf,
                     size_t bytes);
/* "[lo, hi]", or "" if either is unknown. */
char *tri_app_interval(double lo, double hi, char *buf, size_t bytes);
/* "1.5 GiB". */
char *tri_app_bytes(double v, char *buf, size_t bytes);
/* An objective with its unit and interval: "13120 tokens/s [12980, 13300]",
 * "loss 1.47". */
char *tri_app_objective(const tri_study *study, double v, double lo, double hi,
                        char *buf, size_t bytes);
/* The unit in which an objective reads, "tokens/s". */
const char *tri_app_objective_unit(const tri_study *study);
/* A trial's configuration in canonical text, into buf. */
char *tri_app_config_text(const tri_ctl *ctl, int64_t trial, char *buf,
                          size_t bytes);

/* The same with six figures a number, to be read and not to be run. */
char *tri_app_config_brief(const tri_ctl *ctl, int64_t trial, char *buf,
                           size_t bytes);

/* A table of text with a heading, columns aligned, numbers to the right. */
typedef struct tri_app_table tri_app_table;
/* `spec`: one letter a column, l or r.  [out] owned; NULL: no memory. */
tri_app_table *tri_app_table_create(const char *spec);
void tri_app_table_destroy(tri_app_table *t);
/* The next cell, row by row; copied. */
void tri_app_table_cell(tri_app_table *t, const char *text);
void tri_app_table_number(tri_app_table *t, double v);
void tri_app_table_int(tri_app_table *t, int64_t v);
void tri_app_table_print(const tri_app_table *t, FILE *out);

/* One field of CSV by RFC 4180. */
void tri_app_csv_field(FILE *out, const char *text);

/* ---- what check shows ------------------------------------------------ */

/* {study, model, valid, raw, rules, ranks, plan, notes}.  Owned. */
json_t *tri_app_study_json(const tri_study *study);
void tri_app_study_print(const tri_study *study);

/* What speaks against the folder of checkpoints, into buf; returns 0 where
 * nothing does, or the study keeps none. */
int tri_app_checkpoints_note(const tri_study *study, char *buf, size_t bytes);
/* The same of the command of processes: a program, script or folder that is
 * not there on this host. */
int tri_app_command_note(const tri_study *study, char *buf, size_t bytes);
/* The program that a bare name in the command stands for here, into buf;
 * returns 0 where it is no bare name, or not known. */
int tri_app_program(const tri_study *study, char *buf, size_t bytes);

/* ---- the answer, shared by tune and best ----------------------------- */

/* best's object: winner, baseline, speedup, front, top.  Owned. */
json_t *tri_app_answer_json(const tri_ctl *ctl, int top);
/* The same for people: the best table, finals, verdict. */
void tri_app_answer_print(const tri_ctl *ctl, int top, FILE *out);
/* Runs that finished on hosts with more ranks than cores; and a line on them,
 * where there are any. */
int64_t tri_app_oversubscribed(const tri_ctl *ctl);
void tri_app_oversubscribed_print(const tri_ctl *ctl, FILE *out);
/* The best on exactly `ranks` ranks (0: any) as a table, and as the list
 * `top`.  Owned. */
void tri_app_top_print(const tri_ctl *ctl, int ranks, int top, FILE *out);
json_t *tri_app_top_json(const tri_ctl *ctl, int ranks, int top);
/* One standing: trial, configuration, objective, ranks ...  Owned. */
json_t *tri_app_standing_one_json(const tri_ctl *ctl, const tri_standing *s);

/*
 * The front of the objective against ranks: of each number of ranks the best
 * result, and of these the ones that are better than all on fewer ranks.  In
 * front.c.
 */
/* [{ranks, trial, objective ..., gain, sure}]: gain is the ratio to the one
 * before, sure whether their intervals are apart; null for the first.
 * Owned. */
json_t *tri_app_front_json(const tri_ctl *ctl);
/* The same for people, where results are on more than one number of ranks. */
void tri_app_front_print(const tri_ctl *ctl, FILE *out);
/* "1, 2 and 8": the numbers of ranks that there are results on; returns buf. */
char *tri_app_front_counts(const tri_ctl *ctl, char *buf, size_t bytes);

/* ---- what failed ----------------------------------------------------- */

/* What has been told of failures while a study runs; zeroed at first. */
typedef struct tri_app_told {
    int64_t seen; /* runs before it have ended and were looked at */
    uint8_t classes[TRI_REASON_COUNT];
} tri_app_told;
/* Warn of the first failure of each class in this opening, once. */
void tri_app_failures_warn(const tri_ctl *ctl, tri_app_told *told);
/* Failures by class: their commonest sentences, and the last line that one of
 * each wrote to its standard error. */
void tri_app_failures_print(const tri_ctl *ctl, FILE *out);
/* {class: count}, classes that occurred.  Owned. */
json_t *tri_app_failures_json(const tri_progress *p);
/* Where the baseline or everything failed: the last lines of standard error
 * of the first run that did. */
void tri_app_failures_explain(const tri_ctl *ctl, FILE *out);
/* Whether there is a baseline and its trial failed. */
int tri_app_baseline_failed(const tri_ctl *ctl);
/* Why nothing is compared with the baseline, "the baseline (trial 0) failed:
 * bad-exit"; returns buf. */
char *tri_app_baseline_fate(const tri_ctl *ctl, char *buf, size_t bytes);

#endif

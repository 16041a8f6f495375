/*
 * A study's winner as what launches or configures it elsewhere: a torchrun
 * line, Megatron-LM arguments, a DeepSpeed configuration, a Slurm script.
 *
 * What a parameter is called there is the study's to say (key `emit`), else it
 * goes by a list of the field's usual names (emit_names.c).  What has no name
 * is left out with a note, never guessed.  Commands are the study's own
 * templates, filled in for the winner; facts that only a running rank knows
 * become the shell's variables.  Reads studies and configurations; runs
 * nothing.  Private to src/app.
 */
#ifndef TRI_APP_EMIT_H
#define TRI_APP_EMIT_H

#include "src/app/app.h"

typedef enum tri_emit_format {
    TRI_EMIT_TORCHRUN,
    TRI_EMIT_MEGATRON,
    TRI_EMIT_DEEPSPEED,
    TRI_EMIT_SLURM
} tri_emit_format;

/* Its number.  TRI_EINVAL with the closest name. */
tri_status tri_emit_format_of(const char *name, tri_emit_format *out);
const char *tri_emit_format_name(tri_emit_format format);

/* What is to be emitted.  All borrowed. */
typedef struct tri_emit_job {
    const tri_study *study;   /* of the record */
    const tri_study *names;   /* whose `emit` counts: the same, or another
                               * reading of it */
    const tri_config *config; /* of the winner */
    int64_t trial, run, resource;
    int rung, epoch;
    int ranks;         /* nodes * per_node */
    int nodes;         /* hosts to use */
    int per_node;      /* ranks on each */
    int devices;       /* a device was seen on each rank */
    char assumed[240]; /* a sentence on where those numbers are from */
} tri_emit_job;

/* The winner of a study so far, named by `naming`.  TRI_EEMPTY where there is
 * none yet. */
tri_status tri_emit_job_of(const tri_ctl *ctl, const tri_study *naming,
                           tri_emit_job *out);
/* The best on exactly `ranks` ranks instead; 0: the winner. */
tri_status tri_emit_job_on(const tri_ctl *ctl, const tri_study *naming,
                           int ranks, tri_emit_job *out);
/* Fill in nodes, per_node and assumed from what was measured: `counts` ranks on
 * each of n_hosts hosts, `most` workers on one host of the job. */
void tri_emit_place(tri_emit_job *job, const int *counts, int n_hosts,
                    int most);

/* What comes of it. */
typedef struct tri_emitted {
    char *text;        /* as printed, owned */
    json_t *arguments; /* megatron: a list of texts; else NULL */
    json_t *settings;  /* deepspeed: the configuration; else NULL */
    json_t *notes;     /* sentences on what was left out or assumed */
} tri_emitted;

/* [out] `out`: tri_emitted_fini frees what is in it.  TRI_EINVAL where names
 * contradict each other; TRI_ENOMEM. */
tri_status tri_emit(const tri_emit_job *job, tri_emit_format format,
                    tri_emitted *out);
void tri_emitted_fini(tri_emitted *e);

/* ---- inside: names ------------------------------------------------------- */

typedef struct tri_emit_name {
    const char *text; /* words; "": left out */
    int whole;        /* says all: the value does not follow */
} tri_emit_name;

/* What a parameter with a value is called in a format; 0 where nobody knows. */
int tri_emit_find_name(const tri_emit_job *job, tri_emit_format format,
                       const char *param, tri_value value, tri_emit_name *out);
/* Whether the study itself names it for the format. */
int tri_emit_is_named(const tri_emit_job *job, tri_emit_format format,
                      const char *param);
/* Whether the winner has an active parameter that stands for `name`, the first
 * of its spellings. */
int tri_emit_has(const tri_emit_job *job, const char *name);
/* A value as text, words bare: v.u.word, or buf. */
const char *tri_emit_plain(tri_value v, char *buf, size_t bytes);
/* Write word text[0..n) with each {parameter} filled in. */
void tri_emit_fill(const tri_emit_job *job, const char *text, size_t n,
                   FILE *out);
/* Walks the words of a text that blanks part: returns the next one, its length
 * in *n, NULL at the end. */
const char *tri_emit_next_word(const char **text, size_t *n);
/* Add a note. */
void tri_emit_note(json_t *notes, const char *fmt, ...) TRI_PRINTF(2, 3);
void tri_emit_note_unnamed(json_t *notes, tri_emit_format format,
                           const char *param, tri_value value);

/* ---- inside: shell words ------------------------------------------------- */

/* `text` as one word of a POSIX shell. */
void tri_emit_quote(const char *text, FILE *out);
/* `text` on a line of a comment: control characters become '?'. */
void tri_emit_comment(const char *text, FILE *out);

typedef struct tri_emit_word {
    char *shell;   /* ready for a shell; facts of a rank are "$RANK" ... */
    char *literal; /* the same without a shell; NULL where it names such */
} tri_emit_word;

typedef struct tri_emit_command { /* a process as the study starts it */
    tri_emit_word *words;
    int n_words;
    tri_pair *env; /* name, shell word */
    int n_env;
    char *cwd;     /* shell word, NULL: where the study was started */
    int enters;    /* cwd is another one for each rank */
    int scratch;   /* TRIREME_SCRATCH in env names a folder to be made */
    int moves;     /* words name the study's folder behind a change of it, as
                    * "$STUDY_DIR" */
    int per_rank;  /* words or env name facts of a rank */
    int hosts;     /* they name hosts, host_slots or host_file */
    int is_leader; /* it starts the ranks itself */
    const char *stands_for; /* a sentence where the command is none of the
                             * study's */
} tri_emit_command;

/* Whether {name} is a fact of a run, and no parameter. */
int tri_emit_is_fact(const char *name);
/* The folder of a study file, as a path that does not end in a slash. */
void tri_emit_folder(const char *path, char *buf, size_t bytes);
/* Fill in a template of the command.  [out] `out`, owned; of a script (nothing
 * is quoted) `shell` is the text.  *inactive (may be NULL) is set where a
 * placeholder is. */
tri_status tri_emit_expand(const tri_emit_job *job, tri_emit_command *command,
                           const char *template, int is_script,
                           tri_emit_word *out, int *inactive);
/* The command: that of a study of processes, or a stand-in with the parameters
 * as flags; those that the study names for `format` follow.
 * tri_emit_command_fini frees. */
tri_status tri_emit_command_of(const tri_emit_job *job, tri_emit_format format,
                               tri_emit_command *out);
void tri_emit_command_fini(tri_emit_command *c);
/* Whether trials of this kind are run by trireme alone. */
int tri_emit_is_own(const tri_emit_job *job);

/* ---- inside: lines of a shell -------------------------------------------- */

/* The first line of a script for bash, with the option that the study's setup
 * has for it (-l). */
void tri_emit_shebang(const tri_emit_job *job, FILE *out);
/* Comments: which trial, on which ranks. */
void tri_emit_heading(const tri_emit_job *job, FILE *out);
/* What comes before the command: the study's setup, folders.  `strict`: the
 * script stops at unset variables, which a setup may have. */
void tri_emit_before(const tri_emit_job *job, const tri_emit_command *c,
                     int strict, FILE *out);
/* The words from `first` on, blanks between. */
void tri_emit_words(const tri_emit_command *c, int first, FILE *out);
/* "export NAME=value" lines, and folders that are there after them. */
void tri_emit_exports(const tri_emit_command *c, FILE *out);
/* The end of a script that each rank runs: it becomes the command, which stands
 * there where ranks fill it in, else in the script's arguments. */
void tri_emit_rank_words(const tri_emit_command *c, FILE *out);
/* Put `script` into the variable each_rank, as it stands. */
void tri_emit_each_rank(const char *script, FILE *out);
/* What the leader of a study with launch: leader has of a rank and of hosts,
 * given the array `hosts` of the script. */
void tri_emit_leader(const tri_emit_job *job, const tri_emit_command *c,
                     FILE *out);
/* "trireme train STUDY --set ... --steps N". */
void tri_emit_train(const tri_emit_job *job, FILE *out);

/* ---- inside: one writer a format ----------------------------------------- */

tri_status tri_emit_megatron(const tri_emit_job *job, FILE *out,
                             tri_emitted *e);
tri_status tri_emit_deepspeed(const tri_emit_job *job, FILE *out,
                              tri_emitted *e);
tri_status tri_emit_torchrun(const tri_emit_job *job, FILE *out);
tri_status tri_emit_slurm(const tri_emit_job *job, FILE *out);
/* The parameters as flags: an array of texts, one a word.  `all`: those that
 * have no name too, as --NAME VALUE; else they are notes (may be NULL). */
json_t *tri_emit_flags(const tri_emit_job *job, tri_emit_format format, int all,
                       json_t *notes);

#endif

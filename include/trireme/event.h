/*
 * Events and commands: what goes into the controller and what comes out.
 * Plain structs that own nothing: every pointer is borrowed, from the driver
 * for events, from the controller for commands.
 *
 * The wire module packs, unpacks and prints them from one list of fields
 * (src/wire/protocol.def); a field added here is added there.
 *
 * Times are study time: seconds since the first opening of the study, summed
 * over the openings, never running backwards.
 */
#ifndef TRIREME_EVENT_H
#define TRIREME_EVENT_H

#include "trireme/status.h"

#include <stdint.h>

/* Bytes with a length; not terminated. */
typedef struct tri_blob {
    const char *data;
    uint64_t bytes;
} tri_blob;

/* clang-format off */
#define TRI_EVENT_MAP(X)             \
    X(OPEN,        "open")           \
    X(POOL,        "pool")           \
    X(PROPOSALS,   "proposals")      \
    X(FORMED,      "formed")         \
    X(REPORT,      "report")         \
    X(FINISHED,    "finished")       \
    X(PAUSED,      "paused")         \
    X(FAILED,      "failed")         \
    X(LOST,        "lost")           \
    X(INTERRUPTED, "interrupted")    \
    X(CLOCK,       "clock")          \
    X(EDITED,      "edited")         \
    X(DRAIN,       "drain")

#define TRI_COMMAND_MAP(X)                     \
    X(ASSIGN,          "assign")               \
    X(GO,              "go")                   \
    X(VERDICT,         "verdict")              \
    X(THINK,           "think")                \
    X(DROP_CHECKPOINT, "drop_checkpoint")      \
    X(STRIKE,          "strike")               \
    X(LEAVE,           "leave")                \
    X(END,             "end")

/* How a run ended other than well: name, and the rule that it falls under.
 * COUNTED: final, a result ranked last.  FINAL: final, no result.  RETRY:
 * final after one retry.  LOST: requeued. */
#define TRI_REASON_MAP(X)                      \
    X(NONE,         "",             FINAL)     \
    X(DIVERGED,     "diverged",     COUNTED)   \
    X(NAN,          "nan",          COUNTED)   \
    X(OOM,          "oom",          FINAL)     \
    X(INFEASIBLE,   "infeasible",   FINAL)     \
    X(IMPORT_ERROR, "import-error", FINAL)     \
    X(OOM_DEVICE,   "oom-device",   RETRY)     \
    X(OOM_HOST,     "oom-host",     RETRY)     \
    X(BAD_EXIT,     "bad-exit",     RETRY)     \
    X(RENDEZVOUS,   "rendezvous",   RETRY)     \
    X(HUNG,         "hung",         RETRY)     \
    X(KILLED,       "killed",       FINAL)     \
    X(RANK_LOST,    "rank-lost",    LOST)      \
    X(NODE_LOST,    "node-lost",    LOST)      \
    X(JOB_LOST,     "job-lost",     LOST)      \
    X(LATE_VERDICT, "late-verdict", LOST)      \
    X(DRAINED,      "drained",      LOST)      \
    X(BUDGET,       "budget",       FINAL)
/* clang-format on */

typedef enum tri_event_kind {
    TRI_EV_NONE,
#define X(code, name) TRI_EV_##code,
    TRI_EVENT_MAP(X)
#undef X
    TRI_EV_COUNT
} tri_event_kind;

typedef enum tri_command_kind {
    TRI_CMD_NONE,
#define X(code, name) TRI_CMD_##code,
    TRI_COMMAND_MAP(X)
#undef X
    TRI_CMD_COUNT
} tri_command_kind;

typedef enum tri_reason {
#define X(code, name, rule) TRI_REASON_##code,
    TRI_REASON_MAP(X)
#undef X
    TRI_REASON_COUNT
} tri_reason;

typedef enum tri_reason_rule {
    TRI_RULE_COUNTED,
    TRI_RULE_FINAL,
    TRI_RULE_RETRY,
    TRI_RULE_LOST
} tri_reason_rule;

/* Names as in the study file's tables; NULL for an unknown number.  In
 * src/ctl/event.c. */
TRI_API const char *tri_event_name(tri_event_kind kind);
TRI_API const char *tri_command_name(tri_command_kind kind);
TRI_API const char *tri_reason_name(tri_reason reason);
TRI_API tri_reason_rule tri_reason_rule_of(tri_reason reason);

/* ---- events --------------------------------------------------------- */

typedef struct tri_attachment { /* a file that the study refers to */
    const char *path;
    tri_blob text;
} tri_attachment;

/* A result of an earlier study, or of this one on another machine class. */
typedef struct tri_warm_row {
    const char *config; /* canonical text in this study's space */
    int64_t resource;
    double objective;  /* as this study compares it; NaN: failed */
    double peak_bytes; /* NaN */
    int32_t failed;    /* tri_reason */
    const char *machine_class;
    const char *source; /* the file that it comes from */
} tri_warm_row;

/* Rules of the controller that an opening is played by.  1: the ranks of a
 * group are in the order of its mesh (trireme/place.h), and slow ranks are
 * looked for (trireme/slow.h).  2: a search whose time passed before any run
 * finished or failed is no empty one, and a resume begins its time again.  3: a
 * host of which no run was compared has one measured again, and of two runs
 * the repeated one may be the slow one.  4: a study that was done goes on where
 * a resume has the ranks that some configurations wanted; a time in which the
 * driver stood still is nobody's, and no budget's. */
#define TRI_RULES 4

/* The study is opened for writing: the first event ever, and the first of
 * each later opening. */
typedef struct tri_ev_open {
    tri_blob study_text;
    const char *study_path;
    const tri_attachment *attachments;
    int n_attachments;
    uint64_t seed;
    const char *build; /* version of the program */
    int32_t epoch;     /* from 1 */
    double started_s;  /* wall clock, seconds since 1970 */
    double max_time_s; /* --max-time of this opening; NaN: none */
    double deadline_s; /* study time at which the job ends; NaN: none */
    const char *deadline_source;
    const char *level; /* survival level: resume, heartbeat, ulfm */
    const char *pml;
    const char *machine_class;
    const char *command_line;
    uint8_t may_think;   /* a thinker stands ready */
    uint8_t no_timeouts; /* virtual time: startup and progress of runs, beats
                          * and verdicts are not judged; budgets and deadlines
                          * are */
    const tri_warm_row *warm;
    int n_warm;
    int32_t rules; /* TRI_RULES; 0 in journals of former versions, which the
                    * rules that came later do not change */
    /* The machine, for the record alone; "" and 0: not known. */
    const char *mpi_library; /* "Open MPI v4.1.4" */
    const char *machine;     /* rank 0's host: processor, packages, cores */
    uint64_t memory_bytes;   /* what a rank may use, `auto` resolved */
} tri_ev_open;

typedef enum tri_rank_state {
    TRI_RANK_UP,
    TRI_RANK_DOWN,
    TRI_RANK_BENCHED
} tri_rank_state;

typedef struct tri_ev_pool {
    int32_t rank;  /* world rank, from 1 */
    int32_t state; /* tri_rank_state */
    const char *host;
    int32_t cores;
    const char *device;
    uint8_t oversubscribed; /* more ranks than cores on its host */
    /* Where it sits (trireme/place.h): numbers on its host from 1, 0: within
     * no single one, or not known. */
    int32_t package, numa, cache, core;
    const char *binding; /* inherited, applied, none; "": not known */
    const char *cpus;    /* that it may use, as a list: "0-3,8"; "" */
} tri_ev_pool;

typedef struct tri_proposal {
    const char *config; /* canonical text */
    double predicted, lo, hi, predicted_bytes, p_feasible;
    const char *rule;
} tri_proposal;

typedef struct tri_ev_proposals {
    int64_t snapshot;
    const char *model;
    const char *hyper; /* hyper-parameters, text */
    int64_t n_records;
    double tau, fit_s;
    const tri_proposal *list;
    int n_list;
} tri_ev_proposals;

typedef struct tri_ev_formed { /* every member has answered assign */
    int64_t run;
    int32_t attempt;
} tri_ev_formed;

typedef struct tri_ev_report {
    int64_t run;
    int32_t attempt, seq;
    int64_t step;
    double step_s;
    int64_t tokens, samples; /* of the steps since the last report */
    double loss;
    int64_t bytes; /* high water of the largest rank */
} tri_ev_report;

/* finished, paused, failed, lost, interrupted.  Unmeasured numbers are NaN,
 * unknown counts -1. */
typedef struct tri_ev_outcome {
    int64_t run;
    int32_t attempt;
    int32_t reason;       /* tri_reason */
    const char *sentence; /* what happened, for people */
    uint8_t witness;      /* lost: an infrastructure witness exists */
    int32_t lost_rank;    /* lost: the rank that vanished; -1: unknown */
    int64_t steps_done, warmup_steps;
    double objective; /* the trial's own metric, if that is the objective */
    double lo, hi;    /* 95 % interval of the objective */
    double loss, tokens_per_s, samples_per_s, step_s;
    int64_t peak_bytes, rss_bytes;
    double checkpoint_s;
    int64_t checkpoint_bytes;
    const char *checkpoint; /* name of a complete one to go on from, or "" */
    int64_t checkpoint_step;
    uint8_t flaky;
    tri_blob stderr_tail;
} tri_ev_outcome;

typedef struct tri_ev_clock {
    double gap_s; /* how long the driver's loop itself stood still; 0 */
} tri_ev_clock;

typedef struct tri_ev_edited {
    tri_blob study_text;
} tri_ev_edited;

typedef enum tri_drain_why {
    TRI_DRAIN_DEADLINE,
    TRI_DRAIN_SIGNAL, /* USR1: take the time that a checkpoint needs */
    TRI_DRAIN_USER,
    TRI_DRAIN_NOW /* TERM, INT: half a second */
} tri_drain_why;

typedef struct tri_ev_drain {
    int32_t why;
} tri_ev_drain;

typedef struct tri_event {
    tri_event_kind kind;
    double time_s;
    union {
        tri_ev_open open;
        tri_ev_pool pool;
        tri_ev_proposals proposals;
        tri_ev_formed formed;
        tri_ev_report report;
        tri_ev_outcome outcome;
        tri_ev_clock clock;
        tri_ev_edited edited;
        tri_ev_drain drain;
    } u;
} tri_event;

/* ---- commands ------------------------------------------------------- */

typedef enum tri_phase {
    TRI_PHASE_SEARCH,
    TRI_PHASE_FINALS
} tri_phase;

/* Whether a run is to keep a checkpoint ready to be written. */
enum {
    TRI_SAVE_NOTHING,
    TRI_SAVE_RELEASE, /* where it is released at its rung's end, or drained */
    TRI_SAVE_DRAIN    /* where it is drained: nothing follows its rung */
};

/* Form a group; sent to every rank of it. */
typedef struct tri_cmd_assign {
    int64_t run, trial;
    int32_t rung, bracket, attempt, phase, epoch;
    const int32_t *ranks; /* world ranks in the order of the mesh, neighbours
                           * side by side (trireme/place.h); ranks[0] leads */
    int32_t n_ranks;
    int64_t resource;       /* in the study's unit, absolute */
    const char *config;     /* canonical text */
    uint64_t config_hash;   /* members confirm that they read the same */
    const char *checkpoint; /* "" : from scratch */
    int64_t checkpoint_step;
    uint8_t save;            /* TRI_SAVE_... */
    uint8_t until_precision; /* may end early once measured well enough */
} tri_cmd_assign;

/* Every member has answered: create the communicator and run. */
typedef struct tri_cmd_go {
    int64_t run;
    int32_t attempt;
    const int32_t *ranks;
    int32_t n_ranks;
} tri_cmd_go;

typedef enum tri_verdict {
    TRI_VERDICT_CONTINUE, /* go on in place, as run `next_run` */
    TRI_VERDICT_RELEASE,  /* checkpoint if `save`, then the ranks are free */
    TRI_VERDICT_STOP      /* leave at the next step boundary */
} tri_verdict;

/* To the leader of a run. */
typedef struct tri_cmd_verdict {
    int64_t run;
    int32_t attempt;
    int32_t verdict;
    uint8_t save;     /* release: now, or not; continue: of the next run */
    int64_t next_run; /* continue */
    int32_t next_rung;
    int64_t resource; /* continue: the new target, absolute */
    int32_t rank;     /* the leader's world rank */
    uint8_t drain;    /* stop: answer `interrupted` */
} tri_cmd_verdict;

typedef struct tri_cmd_think {
    int64_t snapshot;
    int32_t wanted;
} tri_cmd_think;

typedef struct tri_cmd_drop_checkpoint {
    int64_t trial;
    const char *checkpoint;
} tri_cmd_drop_checkpoint;

typedef struct tri_cmd_strike {
    int32_t rank;
} tri_cmd_strike;

typedef struct tri_cmd_end {
    int32_t status; /* exit status of the program: 0 to 4 */
    uint8_t resumable;
    const char *why;
} tri_cmd_end;

typedef struct tri_command { /* leave: to all ranks, no fields */
    tri_command_kind kind;
    union {
        tri_cmd_assign assign;
        tri_cmd_go go;
        tri_cmd_verdict verdict;
        tri_cmd_think think;
        tri_cmd_drop_checkpoint drop_checkpoint;
        tri_cmd_strike strike;
        tri_cmd_end end;
    } u;
} tri_command;

typedef struct tri_commands {
    const tri_command *list;
    int n;
} tri_commands;

#endif

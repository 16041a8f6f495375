/*
 * Status codes, the thread's last error, and how far an error reaches.
 *
 * Every fallible function returns a tri_status; zero is success.  The function
 * that decides that something is an error describes it once, with TRI_FAIL,
 * which fills the calling thread's tri_error; callers pass it on unchanged
 * with TRI_TRY.  Outputs are written on success only.
 *
 * Codes are grouped by scope, the largest thing that they break: a call (the
 * caller decides), a trial (this configuration failed, others go on), a group
 * (these ranks failed) or the run of the program (nothing can go on).
 * Containment code switches on tri_status_scope and never on single codes.
 *
 * Thread safety: the error is thread-local; everything else is constant.
 */
#ifndef TRIREME_STATUS_H
#define TRIREME_STATUS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Visible to users of the library; everything else is hidden. */
#define TRI_API               __attribute__((visibility("default")))
#define TRI_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))

typedef enum tri_scope {
    TRI_SCOPE_NONE,  /* success */
    TRI_SCOPE_CALL,  /* the caller decides */
    TRI_SCOPE_TRIAL, /* this configuration failed; the group is usable */
    TRI_SCOPE_GROUP, /* the ranks of this group are in an unknown state */
    TRI_SCOPE_RUN    /* the program cannot go on */
} tri_scope;

/* clang-format off */
/* code, name, scope, sentence */
#define TRI_STATUS_MAP(X)                                                        \
    X(OK,          "ok",          NONE,  "success")                              \
    X(EINVAL,      "invalid",     CALL,  "an argument is not allowed")           \
    X(ENOMEM,      "no-memory",   CALL,  "memory could not be had")              \
    X(ENOTFOUND,   "not-found",   CALL,  "no such thing")                        \
    X(EEXIST,      "exists",      CALL,  "it exists already")                    \
    X(EPARSE,      "parse",       CALL,  "the text cannot be read")              \
    X(ETYPE,       "type",        CALL,  "a value has the wrong type")           \
    X(EUNKNOWN,    "unknown-key", CALL,  "an unknown name")                      \
    X(ERANGE,      "range",       CALL,  "a value is out of range")              \
    X(EOVERFLOW,   "overflow",    CALL,  "a number is too large")                \
    X(EDIVZERO,    "div-zero",    CALL,  "division by zero")                     \
    X(EEMPTY,      "empty",       CALL,  "no configuration is valid")            \
    X(ETOOLARGE,   "too-large",   CALL,  "the space is too large to be solved")  \
    X(EUNBUILT,    "not-built",   CALL,  "a feature that is not built yet")      \
    X(EMALFORMED,  "malformed",   CALL,  "a message or record is malformed")     \
    X(EVERSION,    "version",     CALL,  "a version that is not understood")     \
    X(EIO,         "io",          CALL,  "the system refused an operation")      \
    X(ENOSPACE,    "no-space",    CALL,  "the disk is full")                     \
    X(EOTHER,      "other-study", CALL,  "the file belongs to another study")    \
    X(EOOM,        "oom",         TRIAL, "the trial is over its memory quota")   \
    X(ENAN,        "nan",         TRIAL, "the loss is not a number")             \
    X(EDIVERGED,   "diverged",    TRIAL, "the loss grew beyond all bounds")      \
    X(EINFEASIBLE, "infeasible",  TRIAL, "the configuration cannot be run")      \
    X(EDATA,       "data",        TRIAL, "the training data cannot be used")     \
    X(ETRIAL,      "trial",       TRIAL, "the trial failed")                     \
    X(EPEER,       "peer",        GROUP, "a peer of the group was lost")         \
    X(ETIMEOUT,    "timeout",     GROUP, "a deadline of the group passed")       \
    X(ECOMM,       "comm",        GROUP, "a communication call failed")          \
    X(EJOURNAL,    "journal",     RUN,   "the journal cannot be written")        \
    X(EFENCED,     "fenced",      RUN,   "another opening holds the study")      \
    X(EINTERNAL,   "internal",    RUN,   "an invariant of the program is broken")
/* clang-format on */

typedef enum tri_status {
#define X(code, name, scope, sentence) TRI_##code,
    TRI_STATUS_MAP(X)
#undef X
    TRI_STATUS_COUNT
} tri_status;

/* The largest sentence that an error can hold, with its final NUL. */
#define TRI_ERROR_BYTES 512

/*
 * The last error of the calling thread.  `file`, `line` and `column` place it
 * in the user's input (a study file, a table) and are empty or 0 where it has
 * no such place; the detector's own place is kept for the log.
 */
typedef struct tri_error {
    tri_status code;
    char sentence[TRI_ERROR_BYTES];
    char file[256];
    int line;
    int column;
    const char *src_file;
    int src_line;
} tri_error;

/* The short name of `st` ("oom"), or "unknown".  Static storage. */
TRI_API const char *tri_status_name(tri_status st);
/* The general sentence for `st`.  Static storage. */
TRI_API const char *tri_status_sentence(tri_status st);
/* How far `st` reaches. */
TRI_API tri_scope tri_status_scope(tri_status st);

/* What `st` is to the shell: 0 done, 1 bad usage or input, 2 nothing feasible,
 * 4 a fault (3, interrupted, is no error). */
TRI_API int tri_status_exit(tri_status st);

/* The thread's last error; never NULL; borrowed until the thread ends. */
TRI_API const tri_error *tri_error_last(void);
/* Forget the thread's last error. */
TRI_API void tri_error_clear(void);

/*
 * Describe an error and return `st`.  Used through TRI_FAIL, which adds the
 * detector's place.  `fmt` gives the whole sentence, with the offending value.
 */
TRI_API tri_status tri_error_set(tri_status st, const char *src_file,
                                 int src_line, const char *fmt, ...)
        TRI_PRINTF(4, 5);

/*
 * Say where in the user's input the last error lies; called by the detector
 * after TRI_FAIL's tri_error_set, or by a reader that knows the place of the
 * text it handed down.  An existing place is kept unless it has no file.
 * `file` may be NULL (unknown), `line` and `column` count from 1.
 */
TRI_API void tri_error_place(const char *file, int line, int column);

/* The value of TRI_FAIL is `st` itself, in sight of the compiler, so that a
 * static analyser knows that it is no success. */
static inline tri_status tri_status_same(tri_status st, tri_status set)
{
    (void)set;
    return st;
}

#define TRI_FAIL(st, ...)                                                      \
    tri_status_same((st), tri_error_set((st), __FILE__, __LINE__, __VA_ARGS__))

#define TRI_TRY(call)                                                          \
    do {                                                                       \
        tri_status tri_try_st_ = (call);                                       \
        if (tri_try_st_ != TRI_OK) {                                           \
            return tri_try_st_;                                                \
        }                                                                      \
    } while (0)

/* As TRI_TRY, but jumps to `label` with the status in `var`. */
#define TRI_TRY_GOTO(var, call, label)                                         \
    do {                                                                       \
        (var) = (call);                                                        \
        if ((var) != TRI_OK) {                                                 \
            goto label;                                                        \
        }                                                                      \
    } while (0)

#ifdef __cplusplus
}
#endif
#endif

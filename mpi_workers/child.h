/*
 * One process of the user's, under a guard of its own (guard.h): started with
 * posix_spawn, heard through three pipes, ended by TERM, then KILL of all that
 * descends from it.  Holds no zombie and no descriptor once destroyed, and
 * leaves nobody behind when this process is killed.
 *
 * It has descriptors 0 (empty), 1, 2 and 3 (TRI_CHILD_FD, for metrics) and no
 * others.  Output of any size holds nobody up and takes no memory: of what
 * nobody asked for, only the end of standard error and the log are kept.
 */
#ifndef TRI_MPI_WORKERS_CHILD_H
#define TRI_MPI_WORKERS_CHILD_H

#include "trireme/status.h"

#include <stdint.h>
#include <sys/types.h>

#define TRI_STDERR_BYTES 8192
/* The descriptor that TRIREME_FD names.  The inode of its pipe is added to the
 * environment, as TRIREME_FD_INODE. */
#define TRI_CHILD_FD 3

typedef struct tri_child tri_child;

typedef struct tri_child_spec { /* borrowed until spawn returns */
    char *const *argv;
    char *const *env;
    const char *cwd;  /* NULL: the worker's */
    const char *log;  /* file that standard output and standard error are
                       * copied to; NULL: none; one that cannot be written is
                       * warned of, no error */
    uint64_t log_max; /* its bytes: the beginning, and behind a line that says
                       * what was left out, the end; 0: no limit */
} tri_child_spec;

typedef enum tri_stream {
    TRI_STREAM_OUT, /* standard output */
    TRI_STREAM_ERR, /* standard error */
    TRI_STREAM_FD   /* TRI_CHILD_FD */
} tri_stream;

typedef void (*tri_output_fn)(void *ctx, tri_stream stream, const char *bytes,
                              size_t n);

/* What is known of how a process ended, for its class of failure. */
typedef struct tri_child_end {
    int wait_status;     /* as of waitpid, of the command itself */
    uint64_t oom_kills;  /* by the kernel in its control group (where that does
                          * not say, on the host) while it ran */
    int oom_kills_known; /* whether that counter could be read */
    uint64_t rss; /* largest resident size of it or a descendant, bytes */
    uint64_t memory_limit; /* of the control group, or the host's memory */
} tri_child_end;

/* Start it.  [out] owned.  TRI_EINFEASIBLE where the command cannot be run or
 * its folder not entered (the sentence names it), TRI_EIO, TRI_ENOMEM. */
tri_status tri_child_spawn(const tri_child_spec *spec, tri_child **out);

/*
 * Hear it for at most `wait_s` seconds: what it writes goes to `each`, and the
 * last TRI_STDERR_BYTES of standard error are kept.  Returns 1 as soon as
 * there was output, or the process has ended and everything was heard.
 */
int tri_child_hear(tri_child *c, double wait_s, tri_output_fn each, void *ctx);
/* Whether it has ended; then *end (may be NULL) tells how. */
int tri_child_ended(const tri_child *c, tri_child_end *end);
/* Largest resident size seen so far, of it or a descendant. */
uint64_t tri_child_rss(tri_child *c);
const char *tri_child_stderr(tri_child *c, size_t *bytes);
/* A signal to its group. */
void tri_child_signal(tri_child *c, int signo);
void tri_child_term(tri_child *c);
/* End whatever is left of it: TERM, KILL after `grace_s`; reap, free. */
void tri_child_destroy(tri_child *c, double grace_s);

/* KILL this process's children and all that descends from them, at once; for
 * signal handlers (async-signal-safe). */
void tri_child_kill_all(void);

#endif

/*
 * One process of the user's, under a guard of its own (guard.h): started with
 * posix_spawn, heard through three pipes, ended by TERM, then KILL of all that
 * descends from it.  Holds no zombie and no descriptor once destroyed, and
 * leaves nobody behind when this process is killed.
 */
#ifndef TRI_MPI_WORKERS_CHILD_H
#define TRI_MPI_WORKERS_CHILD_H

#include "trireme/status.h"

#include <stdint.h>
#include <sys/types.h>

#define TRI_STDERR_BYTES 8192

typedef struct tri_child tri_child;

typedef struct tri_child_spec { /* borrowed until spawn returns */
    char *const *argv;
    char *const *env;
    const char *cwd;  /* NULL: the worker's */
    const char *log;  /* file that both streams are copied to; NULL: none */
    uint64_t log_max; /* its bytes: the beginning, and behind a line that says
                       * what was left out, the end; 0: no limit */
} tri_child_spec;

typedef enum tri_stream {
    TRI_STREAM_OUT, /* standard output */
    TRI_STREAM_ERR, /* standard error */
    TRI_STREAM_FD   /* the descriptor that TRIREME_FD names, 3 */
} tri_stream;

typedef void (*tri_output_fn)(void *ctx, tri_stream stream, const char *bytes,
                              size_t n);

/* What is known of how a process ended, for its class of failure. */
typedef struct tri_child_end {
    int wait_status;     /* as of waitpid, of the command itself */
    uint64_t oom_kills;  /* by the kernel in its control group, while it ran */
    int oom_kills_known; /* whether that counter could be read */
    uint64_t rss;        /* largest resident size seen, bytes */
    uint64_t memory_limit; /* of the control group, or the host's memory */
} tri_child_end;

/* Start it.  [out] owned.  TRI_EINFEASIBLE where the command cannot be run
 * (the sentence names it), TRI_EIO, TRI_ENOMEM. */
tri_status tri_child_spawn(const tri_child_spec *spec, tri_child **out);

/*
 * Hear it for at most `wait_s` seconds: what it writes goes to `each`, and the
 * last TRI_STDERR_BYTES of standard error are kept.  Returns 1 as soon as
 * there was output, or the process has ended and everything was heard.
 */
int tri_child_hear(tri_child *c, double wait_s, tri_output_fn each, void *ctx);
/* Whether it has ended; then *end (may be NULL) tells how. */
int tri_child_ended(const tri_child *c, tri_child_end *end);
/* Largest resident size seen so far. */
uint64_t tri_child_rss(tri_child *c);
const char *tri_child_stderr(tri_child *c, size_t *bytes);
/* TERM its group. */
void tri_child_term(tri_child *c);
/* End what is left of its group: TERM, KILL after `grace_s`; reap, free. */
void tri_child_destroy(tri_child *c, double grace_s);

/* KILL the groups of this process's children, and whoever left them, at once;
 * for signal handlers (async-signal-safe). */
void tri_child_kill_all(void);

#endif

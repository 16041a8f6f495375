/*
 * One process of the user's, in a process group of its own: started with
 * posix_spawn, heard through two pipes, ended by TERM, then KILL of the whole
 * group.  Holds no zombie and no descriptor once destroyed.
 *
 * Descendants that leave the process group are killed and reaped when the last
 * process that runs has ended (orphans.h).
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
    const char *cwd; /* NULL: the worker's */
} tri_child_spec;

typedef void (*tri_output_fn)(void *ctx, const char *bytes, size_t n);

/* Start it.  [out] owned.  TRI_EINFEASIBLE where the command cannot be run
 * (the sentence names it), TRI_EIO, TRI_ENOMEM. */
tri_status tri_child_spawn(const tri_child_spec *spec, tri_child **out);

/*
 * Hear it for at most `wait_s` seconds: standard output goes to `each`, the
 * last TRI_STDERR_BYTES of standard error are kept.  Returns 1 as soon as
 * there was output, or the process has ended and everything was heard.
 */
int tri_child_hear(tri_child *c, double wait_s, tri_output_fn each, void *ctx);
/* Whether it has ended; *status as of waitpid. */
int tri_child_ended(const tri_child *c, int *status);
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

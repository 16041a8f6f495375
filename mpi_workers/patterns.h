/*
 * Finds metrics in a line of text by the study's patterns: the user's own, and
 * behind them the ready ones of a trainer.  Bounded in time whatever the line
 * is.  No MPI, no files, no clock.
 */
#ifndef TRI_MPI_WORKERS_PATTERNS_H
#define TRI_MPI_WORKERS_PATTERNS_H

#include "mpi_workers/metric_line.h"

typedef struct tri_patterns tri_patterns;

/* `own` and `ranks` as tri_key_find takes them.  [out] owned; NULL where the
 * study has no patterns.  TRI_EPARSE, TRI_ENOMEM. */
tri_status tri_patterns_create(const tri_process_spec *spec, const char *own,
                               int ranks, tri_patterns **out);
void tri_patterns_destroy(tri_patterns *p);

/*
 * Read a line.  Escape sequences (colours) are taken out of it, so it is
 * written over.  A line without a step `belongs` to the step before it once a
 * step was found in any.  Returns 1 where something was found.
 */
int tri_patterns_read(tri_patterns *p, char *line, size_t n,
                      tri_metric_names *names, tri_metric_line *out);
/* Lines in which matching was given up since it took too long. */
int64_t tri_patterns_slow(const tri_patterns *p);

/*
 * A value as people print it: "1,234.5", "45.6K", "1.2 GiB", "3.1%" (a share:
 * 0.031), "12 ms" (seconds), "nan".  K M B G T are powers of 1000, with "iB"
 * of 1024; `is_bytes`: B alone is a byte, else a thousand million.  Returns 0
 * if it is none.
 */
int tri_value_read(const char *text, size_t n, int is_bytes, double *out);

#endif

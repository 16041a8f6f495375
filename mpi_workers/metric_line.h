/*
 * One line of output to what it says: what the readers of JSON lines and of
 * patterns share.
 */
#ifndef TRI_MPI_WORKERS_METRIC_LINE_H
#define TRI_MPI_WORKERS_METRIC_LINE_H

#include "mpi_workers/metrics.h"
#include "trireme/pattern.h"

/* Says nothing. */
void tri_metric_line_clear(tri_metric_line *line);
/* `key` has the value.  Returns 0 where that cannot be: a step that is no
 * whole number from 0 to 2^53. */
int tri_metric_line_set(tri_metric_line *line, tri_key key, double value);
/* Whether it says anything of a step (a checkpoint or a failure is not). */
int tri_metric_line_is_metric(const tri_metric_line *line);

/* Names that lines had: the first ones, as they may stand in a sentence. */
#define TRI_METRIC_NAMES      8
#define TRI_METRIC_NAME_BYTES 32
typedef struct tri_metric_names {
    int n;
    char at[TRI_METRIC_NAMES][TRI_METRIC_NAME_BYTES];
} tri_metric_names;
void tri_metric_names_add(tri_metric_names *names, const char *name);
/* `from` without control characters, cut to fit. */
void tri_metric_clean(const char *from, char *out, size_t bytes);

/*
 * A line that starts with a brace.  The text is written over.  Returns 1 where
 * it says something, 0 where it is an object that does not, -1 where it is no
 * object or its step cannot be.
 */
int tri_metric_json(char *text, size_t n, const char *own, int ranks,
                    tri_metric_names *names, tri_metric_line *out);

#endif

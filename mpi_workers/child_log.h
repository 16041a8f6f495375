/*
 * A file that a process's output is copied to, of bounded size: the beginning
 * goes to the file as it comes; of what does not fit the end is kept in memory
 * and written at close, behind a line that says how much was left out between
 * the two.  What cannot be written is given up, and warned of once for all logs
 * until one can.  Knows nothing of processes.
 */
#ifndef TRI_MPI_WORKERS_CHILD_LOG_H
#define TRI_MPI_WORKERS_CHILD_LOG_H

#include <stddef.h>
#include <stdint.h>

/* The end that is kept is at most this, and at most half of the file. */
#define TRI_LOG_END_BYTES 262144

typedef struct tri_child_log tri_child_log;

/* Start the file anew; `max`: its bytes, the line between not counted; 0: no
 * limit.  NULL where it cannot be had. */
tri_child_log *tri_child_log_open(const char *path, uint64_t max);
/* Of a NULL log: nothing. */
void tri_child_log_write(tri_child_log *log, const char *bytes, size_t n);
void tri_child_log_close(tri_child_log *log);

#endif

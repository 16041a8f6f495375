/*
 * Leveled logging for every layer, pure code included: a line is formatted
 * here and handed to a sink, which the program installs (standard error in
 * trireme, a buffer in tests, nothing by default).  This file opens nothing
 * and reads no clock.
 *
 * Two forms: TRI_LOG says something for this rank; TRI_LOG_JOB says something
 * once for the whole job and is silent on all ranks but 0.
 *
 * Style: lower case, no final stop, the cause rather than a guess.
 */
#ifndef TRIREME_LOG_H
#define TRIREME_LOG_H

#include "trireme/status.h"

typedef enum tri_log_level {
    TRI_LOG_ERROR,
    TRI_LOG_WARN,
    TRI_LOG_INFO,
    TRI_LOG_DEBUG,
    TRI_LOG_TRACE
} tri_log_level;

/*
 * Receives each line that passes the level: no final newline, borrowed until
 * return.  `rank` is the world rank, or -1 where there is none.  May be called
 * from several threads.
 */
typedef void (*tri_log_sink)(void *ctx, tri_log_level level, int rank,
                             const char *line);

/* Install `sink` (NULL: none), the highest level shown and this rank (-1:
 * no MPI; only rank 0 and -1 pass TRI_LOG_JOB lines).  Not thread-safe: call
 * before threads start. */
TRI_API void tri_log_setup(tri_log_sink sink, void *ctx, tri_log_level level,
                           int rank);
/* The name of `level` as users write it, or NULL. */
TRI_API const char *tri_log_level_name(tri_log_level level);
/* Find a level by name.  [out] `out`.  TRI_ENOTFOUND for an unknown name. */
TRI_API tri_status tri_log_level_parse(const char *name, tri_log_level *out);
/* Whether a line of `level` would reach the sink. */
TRI_API int tri_log_enabled(tri_log_level level);

/* Format a line and hand it to the sink; `job`: once for the whole job.  Used
 * through the macros below, which format nothing that is not shown. */
TRI_API void tri_log_line(tri_log_level level, int job, const char *fmt, ...)
        TRI_PRINTF(3, 4);

#define TRI_LOG(level, ...)                                                    \
    do {                                                                       \
        if (tri_log_enabled(level)) {                                          \
            tri_log_line((level), 0, __VA_ARGS__);                             \
        }                                                                      \
    } while (0)
#define TRI_LOG_JOB(level, ...)                                                \
    do {                                                                       \
        if (tri_log_enabled(level)) {                                          \
            tri_log_line((level), 1, __VA_ARGS__);                             \
        }                                                                      \
    } while (0)

#endif

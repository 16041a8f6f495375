/*
 * Formats log lines and hands them to the installed sink.
 */
#include "trireme/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static struct {
    tri_log_sink sink;
    void *ctx;
    tri_log_level level;
    int rank;
} setup = {NULL, NULL, TRI_LOG_INFO, -1};

static const char *const names[] = {"error", "warn", "info", "debug", "trace"};

void tri_log_setup(tri_log_sink sink, void *ctx, tri_log_level level, int rank)
{
    setup.sink = sink;
    setup.ctx = ctx;
    setup.level = level;
    setup.rank = rank;
}

const char *tri_log_level_name(tri_log_level level)
{
    return (int)level >= 0 && level <= TRI_LOG_TRACE ? names[level] : NULL;
}

tri_status tri_log_level_parse(const char *name, tri_log_level *out)
{
    for (int i = 0; i <= TRI_LOG_TRACE; i++) {
        if (strcmp(name, names[i]) == 0) {
            *out = (tri_log_level)i;
            return TRI_OK;
        }
    }
    return TRI_FAIL(TRI_ENOTFOUND,
                    "unknown log level '%s'; use error, warn, info, debug or "
                    "trace",
                    name);
}

int tri_log_enabled(tri_log_level level)
{
    return setup.sink && level <= setup.level;
}

void tri_log_line(tri_log_level level, int job, const char *fmt, ...)
{
    char line[1024];
    va_list args;

    if (!tri_log_enabled(level) || (job && setup.rank > 0)) {
        return;
    }
    va_start(args, fmt);
    vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    setup.sink(setup.ctx, level, setup.rank, line);
}

/*
 * The status table, what a code means to the shell, and the thread's last
 * error.  Knows nothing of logging, and ends nothing.
 */
#include "trireme/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct status_row {
    const char *name;
    const char *sentence;
    tri_scope scope;
} status_row;

static const status_row rows[TRI_STATUS_COUNT] = {
#define X(code, name, scope, sentence)                                         \
    [TRI_##code] = {name, sentence, TRI_SCOPE_##scope},
        TRI_STATUS_MAP(X)
#undef X
};

static _Thread_local tri_error last;

static int is_known(tri_status st)
{
    return (int)st >= 0 && st < TRI_STATUS_COUNT;
}

const char *tri_status_name(tri_status st)
{
    return is_known(st) ? rows[st].name : "unknown";
}

const char *tri_status_sentence(tri_status st)
{
    return is_known(st) ? rows[st].sentence : "unknown status";
}

tri_scope tri_status_scope(tri_status st)
{
    return is_known(st) ? rows[st].scope : TRI_SCOPE_RUN;
}

int tri_status_exit(tri_status st)
{
    switch (st) {
    case TRI_OK:
        return 0;
    case TRI_EEMPTY:
    case TRI_EOOM:
        return 2;
    case TRI_ENOMEM:
    case TRI_ENOSPACE:
        return 4;
    default:
        break;
    }
    switch (tri_status_scope(st)) {
    case TRI_SCOPE_CALL:
    case TRI_SCOPE_TRIAL:
        return 1;
    default:
        return 4;
    }
}

const tri_error *tri_error_last(void)
{
    return &last;
}

void tri_error_clear(void)
{
    memset(&last, 0, sizeof last);
}

tri_status tri_error_set(tri_status st, const char *src_file, int src_line,
                         const char *fmt, ...)
{
    va_list args;

    tri_error_clear();
    last.code = st;
    last.src_file = src_file;
    last.src_line = src_line;
    va_start(args, fmt);
    vsnprintf(last.sentence, sizeof last.sentence, fmt, args);
    va_end(args);
    return st;
}

void tri_error_place(const char *file, int line, int column)
{
    if (last.line == 0 && line > 0) {
        last.line = line;
        last.column = column;
    }
    if (file && last.file[0] == '\0') {
        snprintf(last.file, sizeof last.file, "%s", file);
    }
}

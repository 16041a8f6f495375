/*
 * What the parts share: values as JSON (jansson), and small questions about
 * runs.
 */
#include "src/report/part.h"

#include "src/base/utf8.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

json_t *tri_report_real(double v)
{
    return isfinite(v) ? json_real(v) : json_null();
}

json_t *tri_report_count(double v)
{
    return isfinite(v) && v >= 0 && v < 9.0e15 ? json_integer((json_int_t)v)
                                               : json_null();
}

/* Control characters but for line ends and tabs would show as boxes. */
static int is_control(unsigned char c)
{
    return (c < ' ' && c != '\n' && c != '\t') || c == 127;
}

json_t *tri_report_text(const char *text, size_t bytes)
{
    char *copy = text ? malloc(bytes + 1) : NULL;
    size_t at = 0;
    json_t *s;

    if (!copy) {
        return json_null();
    }
    /* the end of a longer text may begin within a character */
    for (int i = 0; i < 3 && bytes > 0 && tri_utf8_is_inner(*text); i++) {
        text++;
        bytes--;
    }
    while (at < bytes) {
        size_t n = tri_utf8_length(text + at, bytes - at);

        if (n == 0 || is_control((unsigned char)text[at])) {
            copy[at++] = '?';
        } else {
            memcpy(copy + at, text + at, n);
            at += n;
        }
    }
    s = json_stringn(copy, bytes);
    free(copy);
    return s ? s : json_null();
}

json_t *tri_report_string(const char *text)
{
    return tri_report_text(text, text ? strlen(text) : 0);
}

json_t *tri_report_configuration(const tri_ctl *ctl, int64_t trial)
{
    char text[4096];

    tri_space_print(tri_ctl_study(ctl)->space, tri_ctl_config(ctl, trial), text,
                    sizeof text);
    return tri_report_string(text);
}

json_t *tri_report_because(const tri_report_part *p, const char *section,
                           const char *format, ...)
{
    char text[512];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    json_object_set_new(p->why, section, tri_report_string(text));
    return json_null();
}

double tri_report_rank_seconds(const tri_run_view *run)
{
    double s = run->end_s - run->start_s;

    return isfinite(s) && s > 0 ? s * run->n_ranks : 0;
}

int tri_report_is_result(const tri_run_view *run)
{
    return run->state == TRI_RUN_ENDED && run->status == TRI_RUN_FINISHED &&
           run->phase == TRI_PHASE_SEARCH && isfinite(run->objective);
}

int tri_report_better(const tri_study *study, double a, double b)
{
    if (isnan(a) || isnan(b)) {
        return !isnan(a) && isnan(b);
    }
    return study->objective.maximize ? a > b : a < b;
}

/*
 * Numbers, durations and tables for people, and CSV fields.  Pure but for the
 * stream that it is given.
 */
#include "src/app/app.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

char *tri_app_number(double v, char *buf, size_t bytes)
{
    double size = fabs(v);

    if (isnan(v)) {
        snprintf(buf, bytes, "-");
    } else if (size >= 1e4 && size < 1e15) {
        snprintf(buf, bytes, "%.0f", v);
    } else {
        snprintf(buf, bytes, "%.4g", v);
    }
    return buf;
}

char *tri_app_duration(double s, char *buf, size_t bytes)
{
    int64_t whole;

    if (!isfinite(s) || s < 0) {
        snprintf(buf, bytes, "-");
    } else if (s < 0.0095) {
        snprintf(buf, bytes, "%.2g ms", s * 1e3);
    } else if (s < 0.9995) {
        snprintf(buf, bytes, "%.0f ms", s * 1e3);
    } else if (s < 59.95) {
        snprintf(buf, bytes, "%.1f s", s);
    } else if (s < 3599.5) {
        whole = (int64_t)(s + 0.5);
        snprintf(buf, bytes, "%" PRId64 " min %02d s", whole / 60,
                 (int)(whole % 60));
    } else {
        whole = (int64_t)(s / 60 + 0.5);
        snprintf(buf, bytes, "%" PRId64 " h %02d min", whole / 60,
                 (int)(whole % 60));
    }
    return buf;
}

char *tri_app_amount(const tri_study *study, int64_t n, char *buf, size_t bytes)
{
    const char *unit = tri_unit_name(study->resource.unit);
    size_t length = strlen(unit);

    length -= n == 1 && length > 0 && unit[length - 1] == 's';
    snprintf(buf, bytes, "%" PRId64 " %.*s", n, (int)length, unit);
    return buf;
}

char *tri_app_interval(double lo, double hi, char *buf, size_t bytes)
{
    char a[32];
    char b[32];

    if (isnan(lo) || isnan(hi)) {
        snprintf(buf, bytes, "%s", "");
    } else {
        snprintf(buf, bytes, "[%s, %s]", tri_app_number(lo, a, sizeof a),
                 tri_app_number(hi, b, sizeof b));
    }
    return buf;
}

char *tri_app_bytes(double v, char *buf, size_t bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    int u = 0;

    if (!isfinite(v) || v < 0) {
        snprintf(buf, bytes, "-");
        return buf;
    }
    while (v >= 1024 && u < 4) {
        v /= 1024;
        u++;
    }
    snprintf(buf, bytes, u == 0 || v >= 100 ? "%.0f %s" : "%.1f %s", v,
             units[u]);
    return buf;
}

const char *tri_app_objective_unit(const tri_study *study)
{
    int per_rank = study->objective.per_rank;

    switch (study->objective.metric) {
    case TRI_METRIC_TOKENS_PER_S:
        return per_rank ? "tokens/s a rank" : "tokens/s";
    case TRI_METRIC_SAMPLES_PER_S:
        return per_rank ? "samples/s a rank" : "samples/s";
    case TRI_METRIC_STEP_S:
        return "s a step";
    case TRI_METRIC_LOSS:
        return "loss";
    default:
        return study->objective.name ? study->objective.name : "objective";
    }
}

static int is_rate(const tri_study *study)
{
    return study->objective.metric == TRI_METRIC_TOKENS_PER_S ||
           study->objective.metric == TRI_METRIC_SAMPLES_PER_S ||
           study->objective.metric == TRI_METRIC_STEP_S;
}

char *tri_app_objective(const tri_study *study, double v, double lo, double hi,
                        char *buf, size_t bytes)
{
    const char *unit = tri_app_objective_unit(study);
    char value[32];
    char interval[80];

    tri_app_number(v, value, sizeof value);
    tri_app_interval(lo, hi, interval, sizeof interval);
    snprintf(buf, bytes, "%s %s%s%s", is_rate(study) ? value : unit,
             is_rate(study) ? unit : value, interval[0] ? " " : "", interval);
    return buf;
}

/* ---- tables ---------------------------------------------------------- */

struct tri_app_table {
    char spec[32];
    int n_columns;
    char **cells;
    size_t n, room;
};

tri_app_table *tri_app_table_create(const char *spec)
{
    tri_app_table *t = calloc(1, sizeof *t);

    if (t) {
        snprintf(t->spec, sizeof t->spec, "%s", spec);
        t->n_columns = (int)strlen(t->spec);
    }
    return t;
}

void tri_app_table_destroy(tri_app_table *t)
{
    if (!t) {
        return;
    }
    for (size_t i = 0; i < t->n; i++) {
        free(t->cells[i]);
    }
    free(t->cells);
    free(t);
}

void tri_app_table_cell(tri_app_table *t, const char *text)
{
    char *copy;

    if (t->n == t->room) {
        size_t room = t->room ? 2 * t->room : 64;
        char **cells = realloc(t->cells, room * sizeof *cells);

        if (!cells) {
            return;
        }
        t->cells = cells;
        t->room = room;
    }
    copy = strdup(text ? text : "");
    if (copy) {
        t->cells[t->n++] = copy;
    }
}

void tri_app_table_number(tri_app_table *t, double v)
{
    char buf[32];

    tri_app_table_cell(t, tri_app_number(v, buf, sizeof buf));
}

void tri_app_table_int(tri_app_table *t, int64_t v)
{
    char buf[32];

    snprintf(buf, sizeof buf, "%" PRId64, v);
    tri_app_table_cell(t, buf);
}

static size_t column_width(const tri_app_table *t, int column)
{
    size_t width = 0;

    for (size_t i = (size_t)column; i < t->n; i += (size_t)t->n_columns) {
        size_t len = strlen(t->cells[i]);

        width = len > width ? len : width;
    }
    return width;
}

void tri_app_table_print(const tri_app_table *t, FILE *out)
{
    int width[sizeof t->spec] = {0};

    for (int c = 0; c < t->n_columns; c++) {
        width[c] = (int)column_width(t, c);
    }
    for (size_t i = 0; i < t->n; i++) {
        int c = (int)(i % (size_t)t->n_columns);
        int last = c == t->n_columns - 1 || i + 1 == t->n;
        const char *gap = c ? "  " : "";

        if (t->spec[c] == 'r') {
            fprintf(out, "%s%*s", gap, width[c], t->cells[i]);
        } else {
            fprintf(out, "%s%-*s", gap, last ? 0 : width[c], t->cells[i]);
        }
        if (last) {
            fputc('\n', out);
        }
    }
}

/* ---- CSV ------------------------------------------------------------- */

void tri_app_csv_field(FILE *out, const char *text)
{
    if (!strpbrk(text, ",\"\r\n")) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"') {
            fputc('"', out);
        }
        fputc(*text, out);
    }
    fputc('"', out);
}

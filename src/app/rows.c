/*
 * Writes packed rows as text.  Knows kinds of columns and no table.
 */
#include "src/app/rows.h"

#include "src/app/app.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* A JSON string of `text`, quotes included. */
static void put_json_text(FILE *out, const char *text)
{
    json_t *s = tri_app_json_text(text);

    json_dumpf(s, out, JSON_ENCODE_ANY);
    json_decref(s);
}

static void put_missing(FILE *out, tri_app_format format)
{
    if (format == TRI_APP_JSON) {
        fputs("null", out);
    }
}

static void put_int(FILE *out, tri_app_format format, int64_t v)
{
    if (v == INT64_MIN) { /* an inactive parameter */
        put_missing(out, format);
    } else {
        fprintf(out, "%" PRId64, v);
    }
}

static void put_real(FILE *out, tri_app_format format, double v)
{
    tri_value value = {.type = TRI_REAL, .u.d = v};
    char buf[64];

    if (!isfinite(v)) {
        put_missing(out, format);
        return;
    }
    tri_value_print(value, buf, sizeof buf);
    fputs(buf, out);
}

/* Strings are fixed and padded with NUL. */
static void put_text(FILE *out, tri_app_format format,
                     const unsigned char *data, int bytes)
{
    char text[4097];
    size_t n = (size_t)bytes < sizeof text ? (size_t)bytes : sizeof text - 1;

    memcpy(text, data, n);
    text[n] = '\0';
    if (format == TRI_APP_JSON) {
        put_json_text(out, text);
    } else {
        tri_app_csv_field(out, text);
    }
}

static void put_cell(FILE *out, tri_app_format format, const tri_column *c,
                     const unsigned char *data)
{
    int32_t i32;
    int64_t i64;
    uint64_t u64;
    double f64;

    switch (c->kind) {
    case TRI_COLUMN_U8:
        fprintf(out, "%u", (unsigned)*data);
        break;
    case TRI_COLUMN_I32:
        memcpy(&i32, data, sizeof i32);
        put_int(out, format, i32);
        break;
    case TRI_COLUMN_I64:
        memcpy(&i64, data, sizeof i64);
        put_int(out, format, i64);
        break;
    case TRI_COLUMN_U64:
        memcpy(&u64, data, sizeof u64);
        fprintf(out, "%" PRIu64, u64);
        break;
    case TRI_COLUMN_F64:
        memcpy(&f64, data, sizeof f64);
        put_real(out, format, f64);
        break;
    case TRI_COLUMN_STRING:
        put_text(out, format, data, c->bytes);
        break;
    }
}

void tri_app_rows_heading(FILE *out, tri_app_format format,
                          const tri_columns *columns)
{
    if (format == TRI_APP_JSON) {
        return;
    }
    for (int i = 0; i < columns->n; i++) {
        if (i > 0) {
            fputc(',', out);
        }
        tri_app_csv_field(out, columns->list[i].name);
    }
    fputc('\n', out);
}

static void print_row(FILE *out, tri_app_format format,
                      const tri_columns *columns, const unsigned char *row)
{
    int json = format == TRI_APP_JSON;

    for (int i = 0; i < columns->n; i++) {
        const tri_column *c = &columns->list[i];

        fputs(i > 0 ? "," : json ? "{" : "", out);
        if (json) {
            put_json_text(out, c->name);
            fputc(':', out);
        }
        put_cell(out, format, c, row + c->offset);
    }
    fputs(json ? "}\n" : "\n", out);
}

void tri_app_rows_print(FILE *out, tri_app_format format,
                        const tri_columns *columns, const unsigned char *rows,
                        size_t bytes)
{
    for (size_t at = 0; at + columns->row_bytes <= bytes;
         at += columns->row_bytes) {
        print_row(out, format, columns, rows + at);
    }
}

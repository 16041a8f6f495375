/*
 * Writes rows as CSV or JSON lines.  Knows no table.
 */
#include "src/app/rows.h"

#include "src/app/app.h"

#include <inttypes.h>
#include <math.h>

void tri_rows_init(tri_rows *r, FILE *out, tri_rows_format format)
{
    *r = (tri_rows){.out = out, .format = format};
}

void tri_rows_heading(tri_rows *r)
{
    r->heading = 1;
}

/* A JSON string of `text`, quotes included. */
static void put_json_text(FILE *out, const char *text)
{
    json_t *s = tri_app_json_text(text);

    json_dumpf(s, out, JSON_ENCODE_ANY);
    json_decref(s);
}

/* What comes before a value; returns whether a value is to follow. */
static int begin(tri_rows *r, const char *name)
{
    int first = r->n++ == 0;

    if (r->format == TRI_ROWS_CSV) {
        if (!first) {
            fputc(',', r->out);
        }
        if (r->heading) {
            tri_app_csv_field(r->out, name);
        }
    } else if (!r->heading) {
        fputs(first ? "{" : ",", r->out);
        put_json_text(r->out, name);
        fputc(':', r->out);
    }
    return !r->heading;
}

static void missing(tri_rows *r)
{
    if (r->format == TRI_ROWS_JSON) {
        fputs("null", r->out);
    }
}

void tri_rows_int(tri_rows *r, const char *name, int64_t v)
{
    if (begin(r, name)) {
        fprintf(r->out, "%" PRId64, v);
    }
}

void tri_rows_hex(tri_rows *r, const char *name, uint64_t v)
{
    if (begin(r, name)) {
        const char *quote = r->format == TRI_ROWS_JSON ? "\"" : "";

        fprintf(r->out, "%s%016" PRIx64 "%s", quote, v, quote);
    }
}

static void put_real(tri_rows *r, double v)
{
    tri_value value = {.type = TRI_REAL, .u.d = v};
    char buf[64];

    if (!isfinite(v)) {
        missing(r);
        return;
    }
    tri_value_print(value, buf, sizeof buf);
    fputs(buf, r->out);
}

void tri_rows_real(tri_rows *r, const char *name, double v)
{
    if (begin(r, name)) {
        put_real(r, v);
    }
}

static void put_text(tri_rows *r, const char *v)
{
    if (r->format == TRI_ROWS_JSON) {
        put_json_text(r->out, v ? v : "");
    } else {
        tri_app_csv_field(r->out, v ? v : "");
    }
}

void tri_rows_text(tri_rows *r, const char *name, const char *v)
{
    if (begin(r, name)) {
        put_text(r, v);
    }
}

void tri_rows_value(tri_rows *r, const char *name, tri_value v)
{
    if (!begin(r, name)) {
        return;
    }
    switch (v.type) {
    case TRI_INT:
        fprintf(r->out, "%" PRId64, v.u.i);
        break;
    case TRI_REAL:
        put_real(r, v.u.d);
        break;
    case TRI_BOOL:
        fputs(v.u.i ? "true" : "false", r->out);
        break;
    case TRI_WORD:
        put_text(r, v.u.word);
        break;
    default:
        missing(r);
    }
}

void tri_rows_end(tri_rows *r)
{
    if (r->format == TRI_ROWS_JSON && !r->heading) {
        fputs("}\n", r->out);
    } else if (r->format == TRI_ROWS_CSV) {
        fputc('\n', r->out);
    }
    r->heading = 0;
    r->n = 0;
}

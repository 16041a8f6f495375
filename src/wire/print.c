/*
 * Printing a struct by its description, on one line: for logs, `export` and
 * people who debug.  Not read back by anything.
 */
#include "src/wire/codec.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void tri_line_add(tri_line *line, const char *fmt, ...)
{
    size_t left = line->need < line->size ? line->size - line->need : 0;
    va_list args;
    int n;

    va_start(args, fmt);
    n = vsnprintf(left ? line->buf + line->need : NULL, left, fmt, args);
    va_end(args);
    line->need += n > 0 ? (size_t)n : 0;
}

/* A text in quotes, with what is not printable in it escaped. */
static void add_text(tri_line *line, const char *s)
{
    tri_line_add(line, "\"");
    for (; s && *s; ++s) {
        if (*s == '"' || *s == '\\') {
            tri_line_add(line, "\\%c", *s);
        } else if ((unsigned char)*s < ' ' || *s == 127) {
            tri_line_add(line, "\\x%02x", (unsigned)(unsigned char)*s);
        } else {
            tri_line_add(line, "%c", *s);
        }
    }
    tri_line_add(line, "\"");
}

static void add_ints(tri_line *line, const int32_t *list, int32_t n)
{
    int32_t i;

    tri_line_add(line, "[");
    for (i = 0; i < n; ++i) {
        tri_line_add(line, i ? " %" PRId32 : "%" PRId32, list[i]);
    }
    tri_line_add(line, "]");
}

static void add_array(tri_line *line, const tri_struct_desc *of,
                      const char *list, int32_t n)
{
    int32_t i;

    tri_line_add(line, "[");
    for (i = 0; i < n; ++i) {
        tri_line_add(line, i ? ", {" : "{");
        tri_desc_print(of, list + (size_t)i * of->bytes, line);
        tri_line_add(line, " }");
    }
    tri_line_add(line, "]");
}

static void add_value(tri_line *line, const tri_field_desc *field,
                      const char *base)
{
    const void *at = base + field->offset;
    const int32_t *count = (const void *)(base + field->count_offset);

    switch (field->kind) {
    case TRI_FIELD_U8:
        tri_line_add(line, "%d", *(const uint8_t *)at);
        break;
    case TRI_FIELD_I32:
    case TRI_FIELD_ENUM:
        tri_line_add(line, "%" PRId32, *(const int32_t *)at);
        break;
    case TRI_FIELD_I64:
        tri_line_add(line, "%" PRId64, *(const int64_t *)at);
        break;
    case TRI_FIELD_U64:
        tri_line_add(line, "%" PRIu64, *(const uint64_t *)at);
        break;
    case TRI_FIELD_F64:
        tri_line_add(line, "%.9g", *(const double *)at);
        break;
    case TRI_FIELD_STR:
        add_text(line, *(const char *const *)at);
        break;
    case TRI_FIELD_BLOB:
        tri_line_add(line, "<%" PRIu64 " bytes>",
                     ((const tri_blob *)at)->bytes);
        break;
    case TRI_FIELD_INTS:
        add_ints(line, *(const int32_t *const *)at, *count);
        break;
    case TRI_FIELD_ARRAY:
        add_array(line, field->of, *(const char *const *)at, *count);
        break;
    case TRI_FIELD_INLINE:
        tri_line_add(line, "{");
        tri_desc_print(field->of, at, line);
        tri_line_add(line, " }");
        break;
    }
}

void tri_desc_print(const tri_struct_desc *desc, const void *base,
                    tri_line *line)
{
    int i;

    for (i = 0; i < desc->n_fields; ++i) {
        tri_line_add(line, " %s ", desc->fields[i].name);
        add_value(line, &desc->fields[i], base);
    }
}

/*
 * The page around the data.  Texts of a study reach it inside the JSON alone,
 * where every '<' is written \u003c: no name can end the script element that
 * holds it.
 */
#include "src/report/report.h"

#include "src/report/assets.h"

#include <stdlib.h>
#include <string.h>

/* Digits of a number: as many as `best` prints. */
#define DIGITS 6

const char *tri_report_library(void)
{
    const char *begin = tri_asset_library;
    const char *end = tri_asset_library_end;

    return end > begin ? TRI_ECHARTS_NAME : NULL;
}

static void put(const char *from, const char *end, FILE *out)
{
    fwrite(from, 1, (size_t)(end - from), out);
}

static void put_data(const char *text, FILE *out)
{
    size_t n;

    for (; *text; text += n) {
        n = strcspn(text, "<");
        fwrite(text, 1, n, out);
        if (text[n] == '<') {
            fputs("\\u003c", out);
            n++;
        }
    }
}

static void put_library(FILE *out)
{
    if (!tri_report_library()) {
        return;
    }
    fputs("<!--\n" TRI_ECHARTS_NAME ", Apache License 2.0:\n", out);
    put(tri_asset_notice, tri_asset_notice_end, out);
    fputs("\n-->\n<script>", out);
    put(tri_asset_library, tri_asset_library_end, out);
    fputs("</script>\n", out);
}

/* What stands at a mark "<!--NAME-->" of page.html. */
static void put_part(const char *name, const char *data, FILE *out)
{
    if (strncmp(name, "STYLE", 5) == 0) {
        fputs("<style>\n", out);
        put(tri_asset_style, tri_asset_style_end, out);
        fputs("</style>\n", out);
    } else if (strncmp(name, "DATA", 4) == 0) {
        fputs("<script type=\"application/json\" id=\"data\">", out);
        put_data(data, out);
        fputs("</script>\n", out);
    } else if (strncmp(name, "LIBRARY", 7) == 0) {
        put_library(out);
    } else if (strncmp(name, "SCRIPT", 6) == 0) {
        fputs("<script>\n", out);
        put(tri_asset_tables, tri_asset_tables_end, out);
        put(tri_asset_charts, tri_asset_charts_end, out);
        put(tri_asset_draw, tri_asset_draw_end, out);
        fputs("</script>\n", out);
    }
}

static void put_page(const char *data, FILE *out)
{
    const char *at = tri_asset_page;
    const char *mark;

    while ((mark = memmem(at, (size_t)(tri_asset_page_end - at), "<!--@", 5))) {
        put(at, mark, out);
        put_part(mark + 5, data, out);
        at = (const char *)memmem(mark, (size_t)(tri_asset_page_end - mark),
                                  "-->", 3) +
             3;
    }
    put(at, tri_asset_page_end, out);
}

tri_status tri_report_write(const json_t *data, FILE *out)
{
    char *text = json_dumps(data, JSON_COMPACT | JSON_REAL_PRECISION(DIGITS));

    if (!text) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a report");
    }
    put_page(text, out);
    free(text);
    if (fflush(out) != 0 || ferror(out)) {
        return TRI_FAIL(TRI_EIO, "the report cannot be written");
    }
    return TRI_OK;
}

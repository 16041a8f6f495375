/*
 * Writes into a grid of cells; see the header.
 */
#include "src/app/canvas.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int tri_canvas_init(tri_canvas *c, int rows, int columns, int utf8)
{
    size_t n;

    rows = rows > 0 ? rows : 1;
    columns = columns > 0 ? columns : 1;
    n = (size_t)rows * (size_t)columns;
    *c = (tri_canvas){.rows = rows, .columns = columns, .utf8 = utf8};
    c->cells = malloc(n * sizeof *c->cells);
    if (!c->cells) {
        return -1;
    }
    for (size_t i = 0; i < n; i++) {
        c->cells[i] = (tri_cell){L' ', TRI_STYLE_PLAIN};
    }
    return 0;
}

void tri_canvas_fini(tri_canvas *c)
{
    free(c->cells);
    c->cells = NULL;
}

static tri_cell *cell(tri_canvas *c, int row, int column)
{
    return &c->cells[(size_t)row * (size_t)c->columns + (size_t)column];
}

/* ---- UTF-8 ----------------------------------------------------------- */

/* The character at *at, which moves on; '?' for what is none. */
static uint32_t next_character(const char **at)
{
    const unsigned char *s = (const unsigned char *)*at;
    int more = s[0] < 0x80             ? 0
               : (s[0] & 0xe0) == 0xc0 ? 1
               : (s[0] & 0xf0) == 0xe0 ? 2
               : (s[0] & 0xf8) == 0xf0 ? 3
                                       : -1;
    uint32_t ch = more > 0 ? s[0] & (0x3fU >> more) : s[0];

    for (int i = 1; i <= more; i++) {
        if ((s[i] & 0xc0) != 0x80) {
            more = -1;
            break;
        }
        ch = ch << 6 | (s[i] & 0x3f);
    }
    *at += more > 0 ? more + 1 : 1;
    return more < 0 ? '?' : ch;
}

/* Bytes of a character written to buf[4]. */
static size_t put_character(uint32_t ch, char *buf)
{
    static const unsigned char heads[] = {0, 0, 0xc0, 0xe0, 0xf0};
    size_t n = ch < 0x80 ? 1 : ch < 0x800 ? 2 : ch < 0x10000 ? 3 : 4;

    for (size_t i = n; n > 1 && i-- > 1; ch >>= 6) {
        buf[i] = (char)(0x80 | (ch & 0x3f));
    }
    buf[0] = (char)(n > 1 ? heads[n] | ch : ch);
    return n;
}

/* The cells that a character takes; [in,out] *ch: another where it cannot be
 * shown. */
static int width_of(const tri_canvas *c, uint32_t *ch)
{
    int width = 1;

    if (*ch < 0x20 || *ch == 0x7f || (*ch > 0x7e && !c->utf8)) {
        *ch = '?';
    } else if (*ch > 0x7e) {
        width = wcwidth((wchar_t)*ch);
        if (width < 0) {
            *ch = '?';
            width = 1;
        }
    }
    return width;
}

/* ---- writing --------------------------------------------------------- */

static int put(tri_canvas *c, int row, int column, tri_style style, uint32_t ch)
{
    int width = width_of(c, &ch);

    if (row >= 0 && row < c->rows && column >= 0 && width > 0 &&
        column + width <= c->columns) {
        *cell(c, row, column) = (tri_cell){(wchar_t)ch, (unsigned char)style};
        if (width == 2) {
            *cell(c, row, column + 1) = (tri_cell){0, (unsigned char)style};
        }
    }
    return column + width;
}

int tri_canvas_text(tri_canvas *c, int row, int column, tri_style style,
                    const char *text)
{
    while (*text) {
        column = put(c, row, column, style, next_character(&text));
    }
    return column;
}

int tri_canvas_print(tri_canvas *c, int row, int column, tri_style style,
                     const char *fmt, ...)
{
    char text[1024];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    return tri_canvas_text(c, row, column, style, text);
}

int tri_canvas_right(tri_canvas *c, int row, int column, tri_style style,
                     const char *text)
{
    const char *at = text;
    int width = 0;

    while (*at) {
        uint32_t ch = next_character(&at);

        width += width_of(c, &ch);
    }
    tri_canvas_text(c, row, column - width, style, text);
    return column - width;
}

void tri_canvas_paint(tri_canvas *c, int row, tri_style style)
{
    for (int i = 0; row >= 0 && row < c->rows && i < c->columns; i++) {
        cell(c, row, i)->style = (unsigned char)style;
    }
}

/* ---- charts ---------------------------------------------------------- */

int tri_canvas_bar(tri_canvas *c, int row, int column, int width, double share,
                   tri_style style)
{
    static const uint32_t eighths[] = {' ',    0x258f, 0x258e, 0x258d, 0x258c,
                                       0x258b, 0x258a, 0x2589, 0x2588};
    double full = fmax(0, fmin(share, 1)) * width;

    for (int i = 0; i < width; i++) {
        double part = fmax(0, fmin(full - i, 1));
        int eighth = (int)floor(8 * part + 0.5);
        int empty = eighth == 0;
        uint32_t ch = c->utf8       ? empty ? 0x2591 : eighths[eighth]
                            : part >= 0.5 ? '#'
                                    : '.';

        column = put(c, row, column, empty ? TRI_STYLE_DIM : style, ch);
    }
    return column;
}

int tri_canvas_spark(tri_canvas *c, int row, int column, const double *values,
                     int n, tri_style style)
{
    static const char plain[] = "_.-=+*%#";
    double lo = INFINITY;
    double hi = -INFINITY;

    for (int i = 0; i < n; i++) {
        lo = isfinite(values[i]) ? fmin(lo, values[i]) : lo;
        hi = isfinite(values[i]) ? fmax(hi, values[i]) : hi;
    }
    for (int i = 0; i < n; i++) {
        int level = hi > lo ? (int)floor(7 * (values[i] - lo) / (hi - lo) + 0.5)
                            : 3;
        uint32_t ch = !isfinite(values[i]) ? ' '
                      : c->utf8            ? 0x2581 + (uint32_t)level
                                           : (uint32_t)plain[level];

        column = put(c, row, column, style, ch);
    }
    return column;
}

char *tri_canvas_row(const tri_canvas *c, int row, char *buf, size_t bytes)
{
    const tri_cell *cells = &c->cells[(size_t)row * (size_t)c->columns];
    size_t used = 0;
    int n = c->columns;

    while (n > 0 && cells[n - 1].ch == L' ') {
        n--;
    }
    for (int i = 0; i < n && used + 5 < bytes; i++) {
        if (cells[i].ch) {
            used += put_character((uint32_t)cells[i].ch, buf + used);
        }
    }
    buf[used] = '\0';
    return buf;
}

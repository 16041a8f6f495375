/*
 * A page of text as a grid of cells with a style each: what is drawn is known
 * without a terminal, so that pages are tested as text.  Knows no terminal and
 * no study.
 *
 * Rows and columns count from 0; what lies outside is clipped.  Text is UTF-8;
 * where the page has plain characters only (`utf8` 0), others become '?', and
 * bars and lines are drawn with what ASCII has.  Widths are wcwidth's, so
 * LC_CTYPE is set by the program.
 */
#ifndef TRI_APP_CANVAS_H
#define TRI_APP_CANVAS_H

#include <stddef.h>
#include <wchar.h>

typedef enum tri_style {
    TRI_STYLE_PLAIN,
    TRI_STYLE_DIM,
    TRI_STYLE_BOLD,
    TRI_STYLE_TITLE,  /* the bars at the top and at the bottom */
    TRI_STYLE_CHOSEN, /* in such a bar */
    TRI_STYLE_GOOD,
    TRI_STYLE_WARN,
    TRI_STYLE_BAD,
    TRI_STYLE_CHART,
    TRI_STYLE_COUNT
} tri_style;

typedef struct tri_cell {
    wchar_t ch; /* 0: the right half of a wide one before it */
    unsigned char style;
} tri_cell;

typedef struct tri_canvas {
    int rows, columns;
    int utf8;
    tri_cell *cells; /* rows x columns */
} tri_canvas;

/* [out] *c, blank, to be ended with tri_canvas_fini.  Returns -1: no memory. */
int tri_canvas_init(tri_canvas *c, int rows, int columns, int utf8);
void tri_canvas_fini(tri_canvas *c);

/* Write `text` from (row, column) on; each returns the column after it. */
int tri_canvas_text(tri_canvas *c, int row, int column, tri_style style,
                    const char *text);
int tri_canvas_print(tri_canvas *c, int row, int column, tri_style style,
                     const char *fmt, ...)
        __attribute__((format(printf, 5, 6)));
/* The same so that it ends before `column`; returns where it begins. */
int tri_canvas_right(tri_canvas *c, int row, int column, tri_style style,
                     const char *text);
/* Give the whole row a style. */
void tri_canvas_paint(tri_canvas *c, int row, tri_style style);
/* A bar of `width` cells of which `share` (0 to 1) is full. */
int tri_canvas_bar(tri_canvas *c, int row, int column, int width, double share,
                   tri_style style);
/* A line of `n` values, a cell each, from the lowest to the highest of them;
 * NaN: none. */
int tri_canvas_spark(tri_canvas *c, int row, int column, const double *values,
                     int n, tri_style style);

/* A row as UTF-8 without blanks at its end, into buf. */
char *tri_canvas_row(const tri_canvas *c, int row, char *buf, size_t bytes);

#endif

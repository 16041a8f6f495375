/*
 * CSV texts cut into cells in place, and what a cell may mean.  Knows neither
 * files nor studies.
 */
#include "src/space/csv.h"

#include "trireme/expr.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where in the text, and on which line. */
typedef struct cursor {
    char *at;
    int line;
} cursor;

static tri_status no_memory(void)
{
    return TRI_FAIL(TRI_ENOMEM, "no memory for the table");
}

/* ---- cutting ---------------------------------------------------------- */

static tri_status at_line(int line, tri_status st)
{
    tri_error_place(NULL, line, 1);
    return st;
}

/* A cell in quotes, from the first one to behind the last, at `*to`. */
static tri_status cut_quoted(cursor *c, char **to)
{
    int opened = c->line;
    char *s = c->at + 1;

    for (; *s && (*s != '"' || s[1] == '"'); s++) {
        s += *s == '"';
        c->line += *s == '\n';
        *(*to)++ = *s;
    }
    if (!*s) {
        return at_line(opened, TRI_FAIL(TRI_EPARSE,
                                        "a cell's quote (\") is not closed"));
    }
    c->at = s + 1;
    s += 1 + strspn(s + 1, " \r");
    if (*s && *s != ',' && *s != '\n') {
        return at_line(c->line,
                       TRI_FAIL(TRI_EPARSE,
                                "found \"%.20s\" behind a cell's closing "
                                "quote, expected a comma or the line's end",
                                s));
    }
    c->at = s;
    return TRI_OK;
}

/* Cut one cell off, quotes removed; [out] *end: its terminator. */
static tri_status cut_cell(cursor *c, char **cell, char *end)
{
    char *to = c->at;

    *cell = c->at;
    if (*c->at == '"') {
        TRI_TRY(cut_quoted(c, &to));
    } else {
        c->at += strcspn(c->at, ",\n");
        to = c->at;
    }
    *end = *c->at;
    c->line += *end == '\n';
    c->at += *end != '\0';
    while (to > *cell && (to[-1] == '\r' || to[-1] == ' ')) {
        to--;
    }
    *to = '\0';
    return TRI_OK;
}

/* The last name is none that stands already: which column would count? */
static tri_status check_new(const tri_csv *t)
{
    const char *name = t->names[t->n_columns - 1];

    for (int i = 0; *name && i < t->n_columns - 1; i++) {
        if (strcmp(t->names[i], name) == 0) {
            return TRI_FAIL(TRI_EEXIST,
                            "the table has the column \"%.100s\" twice", name);
        }
    }
    return TRI_OK;
}

static tri_status cut_header(tri_csv *t, cursor *c)
{
    char end;

    t->names = calloc(TRI_CSV_MAX_COLUMNS, sizeof *t->names);
    if (!t->names) {
        return no_memory();
    }
    do {
        if (t->n_columns == TRI_CSV_MAX_COLUMNS) {
            return TRI_FAIL(TRI_ERANGE, "the table has more than %d columns",
                            TRI_CSV_MAX_COLUMNS);
        }
        TRI_TRY(cut_cell(c, &t->names[t->n_columns++], &end));
        TRI_TRY(check_new(t));
    } while (end == ',');
    return TRI_OK;
}

static tri_status cut_row(tri_csv *t, cursor *c)
{
    char **row = tri_csv_row(t, t->n_rows);
    char *extra;
    int line = c->line;
    int i = 0;
    char end;

    do {
        TRI_TRY(cut_cell(c, i < t->n_columns ? &row[i] : &extra, &end));
        i++;
    } while (end == ',');
    if (i == 1 && *row[0] == '\0') {
        return TRI_OK; /* an empty line */
    }
    if (i != t->n_columns) {
        return at_line(line, TRI_FAIL(TRI_EPARSE,
                                      "a row of %d cells where the header has "
                                      "%d",
                                      i, t->n_columns));
    }
    t->lines[t->n_rows++] = line;
    return TRI_OK;
}

static size_t count_lines(const char *text)
{
    size_t lines = 1;

    for (const char *s = text; *s; s++) {
        lines += *s == '\n';
    }
    return lines;
}

tri_status tri_csv_cut(tri_csv *t)
{
    size_t lines = count_lines(t->text);
    cursor c = {t->text, 1};

    if (lines > TRI_CSV_MAX_ROWS) {
        return TRI_FAIL(TRI_ERANGE, "the table has more than %d rows",
                        TRI_CSV_MAX_ROWS);
    }
    if (strncmp(c.at, "\xef\xbb\xbf", 3) == 0) {
        c.at += 3; /* the mark that spreadsheets put before UTF-8 */
    }
    TRI_TRY(cut_header(t, &c));
    t->cells = calloc(lines * (size_t)t->n_columns + 1, sizeof *t->cells);
    t->lines = calloc(lines, sizeof *t->lines);
    if (!t->cells || !t->lines) {
        return no_memory();
    }
    while (*c.at) {
        TRI_TRY(cut_row(t, &c));
    }
    if (t->n_rows == 0) {
        return TRI_FAIL(TRI_EPARSE, "the table has no rows");
    }
    return TRI_OK;
}

void tri_csv_fini(tri_csv *t)
{
    free(t->text);
    free(t->names);
    free(t->cells);
    free(t->lines);
    *t = (tri_csv){0};
}

/* ---- columns ---------------------------------------------------------- */

char **tri_csv_row(const tri_csv *t, int64_t row)
{
    return t->cells + row * t->n_columns;
}

int tri_csv_find(const tri_csv *t, const char *name)
{
    int i = 0;

    while (i < t->n_columns && strcmp(t->names[i], name) != 0) {
        i++;
    }
    return i < t->n_columns ? i : -1;
}

tri_status tri_csv_no_column(const tri_csv *t, const char *name)
{
    const char *near =
            tri_closest(name, (const char *const *)t->names, t->n_columns);

    return TRI_FAIL(TRI_EUNKNOWN, "the table has no column \"%.60s\"%s%.60s%s",
                    name, near ? "; did you mean \"" : "", near ? near : "",
                    near ? "\"?" : "");
}

int tri_csv_series(const tri_csv *t, const char *prefix, int *out)
{
    char name[200];
    int n = 0;

    for (; n < t->n_columns; n++) {
        snprintf(name, sizeof name, "%.150s%d", prefix, n);
        out[n] = tri_csv_find(t, name);
        if (out[n] < 0) {
            break;
        }
    }
    return n;
}

/* ---- cells ------------------------------------------------------------ */

double tri_csv_number(const char *cell)
{
    char *end;
    double d = strtod(cell, &end);

    return end == cell || *end || !isfinite(d) ? NAN : d;
}

int tri_csv_result(const char *cell, double *out)
{
    static const char *const none[] = {"", "NA", "None", "none", "null"};
    char *end;

    *out = tri_csv_number(cell);
    strtod(cell, &end); /* reads nan and inf too */
    if (end != cell && *end == '\0') {
        return 1;
    }
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        if (strcmp(cell, none[i]) == 0) {
            return 1;
        }
    }
    return 0;
}

tri_status tri_csv_no_result(const char *column, const char *cell)
{
    return TRI_FAIL(TRI_ETYPE,
                    "column \"%.60s\": found \"%.60s\", expected a number, or "
                    "nan or nothing where there is no result",
                    column, cell);
}

tri_status tri_csv_exact(const char *column, const char *cell)
{
    const char *digits = cell + (*cell == '-' || *cell == '+');
    size_t n = strspn(digits, "0123456789");

    if (n == 0 || digits[n] || strtod(digits, NULL) < 9007199254740992.0) {
        return TRI_OK;
    }
    return TRI_FAIL(TRI_ERANGE,
                    "column \"%.60s\": found %.60s, expected an integer below "
                    "2^53 (9007199254740992): larger ones are not told apart",
                    column, cell);
}

/* Without regard to capitals; `word` has none. */
static int is_word(const char *cell, const char *word)
{
    for (; *cell && *word; cell++, word++) {
        char c = *cell >= 'A' && *cell <= 'Z' ? (char)(*cell - 'A' + 'a')
                                              : *cell;

        if (c != *word) {
            return 0;
        }
    }
    return *cell == *word;
}

int tri_csv_truth(const char *cell, int *out)
{
    static const char *const yes[] = {"true", "yes"};
    static const char *const no[] = {"false", "no", ""};
    double d = tri_csv_number(cell);

    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++) {
        if (is_word(cell, yes[i])) {
            *out = 1;
            return 1;
        }
    }
    for (size_t i = 0; i < sizeof no / sizeof *no; i++) {
        if (is_word(cell, no[i])) {
            *out = 0;
            return 1;
        }
    }
    if (!isnan(d)) {
        *out = d != 0;
    }
    return !isnan(d);
}

tri_status tri_csv_no_truth(const char *column, const char *cell)
{
    return TRI_FAIL(TRI_ETYPE,
                    "column \"%.60s\": found \"%.60s\", expected true or "
                    "false, yes or no, a number, or nothing for false",
                    column, cell);
}

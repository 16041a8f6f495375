/*
 * CSV texts cut into cells in place: one header line, then rows of as many
 * cells, each with its line for errors.  Knows neither files nor studies.
 */
#ifndef TRI_SPACE_CSV_H
#define TRI_SPACE_CSV_H

#include "trireme/status.h"

#include <stdint.h>

#define TRI_CSV_MAX_COLUMNS 4096
#define TRI_CSV_MAX_ROWS    200000

typedef struct tri_csv {
    char *text; /* cut into cells in place */
    char **names;
    int n_columns;
    char **cells; /* n_rows x n_columns */
    int *lines;   /* of the rows in the file, from 1; n_rows of them */
    int64_t n_rows;
} tri_csv;

/* Cut t->text, malloc'd and terminated, the rest of `t` zero.  A cell in quotes
 * ends with its quote, and every quote that opens is closed.  TRI_EPARSE with
 * line and column, also without rows; TRI_ERANGE beyond the bounds.
 * tri_csv_fini frees what is there, the text too, in any case. */
tri_status tri_csv_cut(tri_csv *t);
void tri_csv_fini(tri_csv *t);

char **tri_csv_row(const tri_csv *t, int64_t row);
/* The number of the column of that name, -1 if there is none. */
int tri_csv_find(const tri_csv *t, const char *name);
/* TRI_EUNKNOWN: there is no column `name`; names the closest one. */
tri_status tri_csv_no_column(const tri_csv *t, const char *name);
/* The columns prefix0, prefix1, ... as far as they go, into `out` (room for
 * all columns).  Returns their number. */
int tri_csv_series(const tri_csv *t, const char *prefix, int *out);

/* A cell as a finite number; NaN where it is anything else. */
double tri_csv_number(const char *cell);
/* A cell as a result: a number, or NaN where it says in one of the usual ways
 * that there is none (nothing, nan, inf, NA, none, null).  Returns 0 where it
 * says anything else. */
int tri_csv_result(const char *cell, double *out);
/* TRI_ETYPE: a cell that is no result. */
tri_status tri_csv_no_result(const char *column, const char *cell);
/* TRI_ERANGE: a cell of digits of 2^53 or more, where doubles, and with them
 * everything that compares and predicts, no longer tell integers apart. */
tri_status tri_csv_exact(const char *column, const char *cell);
/* Whether a cell says true or false: a word for it in any capitals, a number
 * (0: false), or nothing (false).  Returns 0 where it says neither. */
int tri_csv_truth(const char *cell, int *out);
/* TRI_ETYPE: a cell that says neither. */
tri_status tri_csv_no_truth(const char *column, const char *cell);

#endif

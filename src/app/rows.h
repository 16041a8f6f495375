/*
 * Rows of a table as CSV or JSON: columns are named as they are given, in
 * their order, so that a table is written down once.
 */
#ifndef TRI_APP_ROWS_H
#define TRI_APP_ROWS_H

#include "trireme/value.h"

#include <stdint.h>
#include <stdio.h>

typedef enum tri_rows_format {
    TRI_ROWS_CSV, /* one header line, RFC 4180; what is missing is empty */
    TRI_ROWS_JSON /* an object a line; what is missing is null */
} tri_rows_format;

typedef struct tri_rows {
    FILE *out; /* borrowed */
    tri_rows_format format;
    int heading; /* this row gives names only */
    int n;       /* cells of this row so far */
} tri_rows;

void tri_rows_init(tri_rows *r, FILE *out, tri_rows_format format);
/* Begin a row that only names the columns; the first row of a table. */
void tri_rows_heading(tri_rows *r);
void tri_rows_int(tri_rows *r, const char *name, int64_t v);
/* 64 bits as hexadecimal text in CSV and JSON alike. */
void tri_rows_hex(tri_rows *r, const char *name, uint64_t v);
void tri_rows_real(tri_rows *r, const char *name, double v);
void tri_rows_text(tri_rows *r, const char *name, const char *v);
/* Inactive: missing. */
void tri_rows_value(tri_rows *r, const char *name, tri_value v);
void tri_rows_end(tri_rows *r);

#endif

/*
 * Rows of the record's tables as CSV or JSON lines: the columns, and what is
 * in them, are the store's, so that a table is written down once.
 */
#ifndef TRI_APP_ROWS_H
#define TRI_APP_ROWS_H

#include "src/store/schema.h"

#include <stdio.h>

typedef enum tri_app_format {
    TRI_APP_CSV, /* one header line, RFC 4180; what is missing is empty */
    TRI_APP_JSON /* an object a line; what is missing is null */
} tri_app_format;

/* The header line of CSV; nothing in JSON. */
void tri_app_rows_heading(FILE *out, tri_app_format format,
                          const tri_columns *columns);
/* `bytes` bytes of whole rows as the store packs them. */
void tri_app_rows_print(FILE *out, tri_app_format format,
                        const tri_columns *columns, const unsigned char *rows,
                        size_t bytes);

#endif

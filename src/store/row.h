/*
 * One row being filled, column by column, in the batch's memory.
 */
#ifndef TRI_STORE_ROW_H
#define TRI_STORE_ROW_H

#include "src/store/rows.h"

#include <math.h>

#define TRI_ROW_NAN ((double)NAN)

typedef struct tri_row {
    unsigned char *data;
    const tri_column *column, *end; /* the next to fill */
    tri_buffer *rows;
    size_t bytes;
} tri_row;

/* Begin the row at `place` of a table.  TRI_ENOMEM. */
tri_status tri_row_begin(tri_row *row, tri_batch *b, const tri_schema *schema,
                         tri_table_id table, int64_t place);
/* The next column; its kind must fit (an invariant of this module). */
void tri_row_int(tri_row *row, int64_t v);
void tri_row_u64(tri_row *row, uint64_t v);
void tri_row_real(tri_row *row, double v);
/* NULL is ''.  Longer than the column: cut between characters. */
void tri_row_text(tri_row *row, const char *s);
/* A parameter's value, by the column's kind. */
void tri_row_value(tri_row *row, tri_value v);
/* The row is whole. */
tri_status tri_row_end(tri_row *row);

#endif

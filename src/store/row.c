/*
 * Filling one row, and the batches that rows are in.
 */
#include "src/store/row.h"

#include "src/store/bytes.h"

#include <assert.h>
#include <string.h>

void tri_batch_init(tri_batch *b)
{
    memset(b, 0, sizeof *b);
}

void tri_batch_fini(tri_batch *b)
{
    int i;

    for (i = 0; i < TRI_TABLE_COUNT; ++i) {
        tri_buffer_fini(&b->rows[i]);
        tri_buffer_fini(&b->places[i]);
    }
}

void tri_batch_clear(tri_batch *b)
{
    int i;

    for (i = 0; i < TRI_TABLE_COUNT; ++i) {
        tri_buffer_clear(&b->rows[i]);
        tri_buffer_clear(&b->places[i]);
    }
}

size_t tri_batch_bytes(const tri_batch *b)
{
    size_t sum = 0;
    int i;

    for (i = 0; i < TRI_TABLE_COUNT; ++i) {
        sum += b->rows[i].bytes + b->places[i].bytes;
    }
    return sum;
}

tri_status tri_row_begin(tri_row *row, tri_batch *b, const tri_schema *schema,
                         tri_table_id table, int64_t place)
{
    const tri_columns *columns = &schema->tables[table];

    TRI_TRY(tri_bytes_grow(&b->rows[table], columns->row_bytes));
    TRI_TRY(tri_bytes_add(&b->places[table], &place, sizeof place));
    row->rows = &b->rows[table];
    row->data = row->rows->data + row->rows->bytes;
    row->bytes = columns->row_bytes;
    row->column = columns->list;
    row->end = columns->list + columns->n;
    memset(row->data, 0, row->bytes);
    return TRI_OK;
}

static void put(tri_row *row, const void *from)
{
    memcpy(row->data + row->column->offset, from, (size_t)row->column->bytes);
    ++row->column;
}

void tri_row_int(tri_row *row, int64_t v)
{
    int32_t word = (int32_t)v;
    uint8_t byte = (uint8_t)v;

    assert(row->column < row->end);
    switch (row->column->kind) {
    case TRI_COLUMN_U8:
        put(row, &byte);
        break;
    case TRI_COLUMN_I32:
        put(row, &word);
        break;
    default:
        assert(row->column->kind == TRI_COLUMN_I64);
        put(row, &v);
        break;
    }
}

void tri_row_u64(tri_row *row, uint64_t v)
{
    assert(row->column < row->end && row->column->kind == TRI_COLUMN_U64);
    put(row, &v);
}

void tri_row_real(tri_row *row, double v)
{
    assert(row->column < row->end && row->column->kind == TRI_COLUMN_F64);
    put(row, &v);
}

/* The longest part of `s` within `limit` bytes that ends between characters. */
static size_t fitting(const char *s, size_t limit)
{
    size_t n = strlen(s);

    if (n <= limit) {
        return n;
    }
    for (n = limit; n > 0 && ((unsigned char)s[n] & 0xc0u) == 0x80u; --n) {
    }
    return n;
}

void tri_row_text(tri_row *row, const char *s)
{
    assert(row->column < row->end && row->column->kind == TRI_COLUMN_STRING);
    if (s) {
        memcpy(row->data + row->column->offset, s,
               fitting(s, (size_t)row->column->bytes));
    }
    ++row->column;
}

static double real_of(tri_value v)
{
    if (v.type == TRI_REAL) {
        return v.u.d;
    }
    return v.type == TRI_INACTIVE ? TRI_ROW_NAN : (double)v.u.i;
}

static int64_t int_of(tri_value v)
{
    if (v.type == TRI_REAL) {
        return (int64_t)v.u.d;
    }
    return v.type == TRI_INACTIVE ? INT64_MIN : v.u.i;
}

void tri_row_value(tri_row *row, tri_value v)
{
    char text[TRI_ROW_TEXT_BYTES];

    if (row->column->kind == TRI_COLUMN_F64) {
        tri_row_real(row, real_of(v));
    } else if (row->column->kind == TRI_COLUMN_I64) {
        tri_row_int(row, int_of(v));
    } else if (v.type == TRI_INACTIVE) {
        tri_row_text(row, "");
    } else {
        tri_column_print(v, text, sizeof text);
        tri_row_text(row, text);
    }
}

tri_status tri_row_end(tri_row *row)
{
    if (row->column != row->end) {
        return TRI_FAIL(TRI_EINTERNAL, "a row without its column %s",
                        row->column->name);
    }
    row->rows->bytes += row->bytes;
    return TRI_OK;
}

/*
 * The tables of a study file: which columns, of which type, in which unit.
 * Strings are fixed; the widths fit a study.  Knows nothing of HDF5.
 */
#ifndef TRI_STORE_SCHEMA_H
#define TRI_STORE_SCHEMA_H

#include "trireme/ctl.h"

typedef enum tri_table_id {
    TRI_TABLE_TRIALS,
    TRI_TABLE_RUNS,
    TRI_TABLE_REPORTS,
    TRI_TABLE_EVENTS,
    TRI_TABLE_MODELS,
    TRI_TABLE_POOL,
    TRI_TABLE_EPOCHS,
    TRI_TABLE_BLOBS, /* plain bytes */
    TRI_TABLE_COUNT
} tri_table_id;

typedef enum tri_column_kind {
    TRI_COLUMN_U8,
    TRI_COLUMN_I32,
    TRI_COLUMN_I64,
    TRI_COLUMN_U64,
    TRI_COLUMN_F64,
    TRI_COLUMN_STRING
} tri_column_kind;

typedef struct tri_column {
    const char *name;
    const char *unit;
    tri_column_kind kind;
    int bytes;
    size_t offset; /* in a row */
} tri_column;

typedef struct tri_columns {
    const char *name; /* of the dataset */
    tri_column *list;
    int n;
    size_t row_bytes;
} tri_columns;

/* How wide the texts are that have no natural width. */
typedef struct tri_widths {
    int rank_set, hosts, rule, host, device, model, hyper, version,
            command_line;
} tri_widths;

typedef struct tri_schema {
    tri_columns tables[TRI_TABLE_COUNT];
    int first_param; /* column of /trials; names from here on are owned */
} tri_schema;

/* Widths that leave room for what a live study may bring. */
extern const tri_widths tri_widths_live;

/* A parameter's value as a column of texts holds it: as expressions print it,
 * but for words, which stand as they are.  Returns its bytes. */
size_t tri_column_print(tri_value v, char *buf, size_t bytes);

/* The schema for the study of `ctl` and the values of its trials so far.
 * [out] `out`, to be given to tri_schema_fini.  TRI_ENOMEM. */
tri_status tri_schema_init(tri_schema *out, const tri_ctl *ctl,
                           const tri_widths *widths);
void tri_schema_fini(tri_schema *s);
/* Whether rows of one fit the other. */
int tri_schema_equal(const tri_schema *a, const tri_schema *b);

#endif

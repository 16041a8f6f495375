/*
 * The protocol as data: one row per field, made from protocol.def.  The codec
 * walks these rows and knows no message by name; the tests walk them to make
 * random messages and to prove that no field is missing.  Private to the wire.
 */
#ifndef TRI_WIRE_FIELDS_H
#define TRI_WIRE_FIELDS_H

#include "trireme/wire.h"

typedef enum tri_field_kind {
    TRI_FIELD_U8,
    TRI_FIELD_I32,
    TRI_FIELD_I64,
    TRI_FIELD_U64,
    TRI_FIELD_F64,
    TRI_FIELD_STR,
    TRI_FIELD_BLOB,
    TRI_FIELD_ENUM,
    TRI_FIELD_INTS,
    TRI_FIELD_ARRAY,
    TRI_FIELD_INLINE
} tri_field_kind;

struct tri_struct_desc;

typedef struct tri_field_desc {
    const char *name;
    tri_field_kind kind;
    size_t offset;
    const char *count_name; /* INTS, ARRAY: the member with the count */
    size_t count_offset;
    int32_t limit;                    /* ENUM */
    const struct tri_struct_desc *of; /* ARRAY, INLINE */
    int since;                        /* version that has it first; 0: all */
} tri_field_desc;

typedef struct tri_struct_desc {
    const char *name; /* of the C type */
    size_t bytes;     /* sizeof */
    const tri_field_desc *fields;
    int n_fields;
} tri_struct_desc;

/* What has a body by its kind. */
typedef enum tri_body_set {
    TRI_BODY_EVENT,
    TRI_BODY_COMMAND,
    TRI_BODY_MESSAGE
} tri_body_set;

/* The struct that a kind carries (without fields for an empty one), NULL where
 * the kind is unknown. */
const tri_struct_desc *tri_body_desc(tri_body_set set, int kind);
/* The kind's name, NULL where it is unknown. */
const char *tri_body_name(tri_body_set set, int kind);

/* Every struct of the protocol, for the tests. */
extern const tri_struct_desc *const tri_all_structs[];
extern const int tri_n_structs;

/* The fewest bytes that a packed struct takes. */
size_t tri_desc_min_bytes(const tri_struct_desc *desc);

#endif

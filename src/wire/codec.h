/*
 * Walking a struct by its description: the half of the wire that knows no
 * message.  Private to the wire.
 */
#ifndef TRI_WIRE_CODEC_H
#define TRI_WIRE_CODEC_H

#include "src/wire/fields.h"

/* Where packed bytes go: a buffer, a digest, or just a count. */
typedef struct tri_sink {
    void (*put)(void *ctx, const void *data, size_t bytes);
    void *ctx;
} tri_sink;

/* Pack the body at `base` into `sink`. */
void tri_desc_pack(const tri_struct_desc *desc, const void *base,
                   const tri_sink *sink);
/* Whether the body may be packed (enums in range, counts not negative, texts
 * under the limit): what tri_desc_unpack would refuse is refused here. */
tri_status tri_desc_check(const tri_struct_desc *desc, const void *base);

/* Bytes not read yet. */
typedef struct tri_source {
    const unsigned char *at, *end;
    int version; /* of what they hold */
} tri_source;

/* Read one body into the zeroed struct at `base`; pointers go into `arena`.
 * TRI_EMALFORMED, TRI_ENOMEM; then *base is of no use. */
tri_status tri_desc_unpack(const tri_struct_desc *desc, tri_source *source,
                           tri_arena *arena, void *base);

/* A line that is being written: `need` grows past `size`. */
typedef struct tri_line {
    char *buf;
    size_t size, need;
} tri_line;
void tri_line_add(tri_line *line, const char *fmt, ...) TRI_PRINTF(2, 3);
/* " name value" for each field. */
void tri_desc_print(const tri_struct_desc *desc, const void *base,
                    tri_line *line);

#endif

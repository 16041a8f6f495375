/*
 * Unpacking a struct by its description.  The bytes are a stranger's: every
 * length and count is checked against what is left before it is used, so a
 * message of n bytes never makes more than a small multiple of n of memory.
 */
#include "src/base/little.h"
#include "src/wire/buffer.h"
#include "src/wire/codec.h"

#include <string.h>

static tri_status malformed(const tri_field_desc *field, const char *what)
{
    return TRI_FAIL(TRI_EMALFORMED, "%s: %s", field->name, what);
}

static tri_status take(tri_source *source, const tri_field_desc *field,
                       size_t bytes, const unsigned char **out)
{
    if ((size_t)(source->end - source->at) < bytes) {
        return malformed(field, "the message is too short");
    }
    *out = source->at;
    source->at += bytes;
    return TRI_OK;
}

static tri_status take_number(tri_source *source, const tri_field_desc *field,
                              int bytes, uint64_t *out)
{
    const unsigned char *at;

    TRI_TRY(take(source, field, (size_t)bytes, &at));
    *out = tri_get_le(at, bytes);
    return TRI_OK;
}

static tri_status get_u32(tri_source *source, const tri_field_desc *field,
                          unsigned char *to)
{
    uint64_t v;
    uint32_t word;

    TRI_TRY(take_number(source, field, 4, &v));
    if (field->kind == TRI_FIELD_ENUM && v >= (uint64_t)field->limit) {
        return malformed(field, "an unknown value");
    }
    word = (uint32_t)v;
    memcpy(to, &word, sizeof word);
    return TRI_OK;
}

static tri_status get_u64(tri_source *source, const tri_field_desc *field,
                          unsigned char *to)
{
    uint64_t v;

    TRI_TRY(take_number(source, field, 8, &v));
    memcpy(to, &v, sizeof v);
    return TRI_OK;
}

/* A length and that many bytes, copied and terminated. */
static tri_status get_text(tri_source *source, const tri_field_desc *field,
                           tri_arena *arena, tri_blob *out)
{
    const unsigned char *at;
    uint64_t n;
    char *copy;

    TRI_TRY(take_number(source, field, 4, &n));
    TRI_TRY(take(source, field, (size_t)n, &at));
    copy = tri_arena_take(arena, (size_t)n + 1);
    if (!copy) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for %s", field->name);
    }
    memcpy(copy, at, (size_t)n);
    out->data = copy;
    out->bytes = n;
    return TRI_OK;
}

static tri_status get_string(tri_source *source, const tri_field_desc *field,
                             tri_arena *arena, unsigned char *to)
{
    tri_blob blob;

    TRI_TRY(get_text(source, field, arena, &blob));
    if (memchr(blob.data, 0, (size_t)blob.bytes)) {
        return malformed(field, "a zero byte in a text");
    }
    memcpy(to, &blob.data, sizeof blob.data);
    return TRI_OK;
}

static tri_status get_blob(tri_source *source, const tri_field_desc *field,
                           tri_arena *arena, unsigned char *to)
{
    tri_blob blob;

    TRI_TRY(get_text(source, field, arena, &blob));
    memcpy(to, &blob, sizeof blob);
    return TRI_OK;
}

/* The count of an array whose elements take at least `least` bytes, and memory
 * for it (NULL for none). */
static tri_status get_list(tri_source *source, const tri_field_desc *field,
                           tri_arena *arena, size_t least, size_t element,
                           int32_t *count, unsigned char **list)
{
    uint64_t n;

    TRI_TRY(take_number(source, field, 4, &n));
    if (n > INT32_MAX || n > (size_t)(source->end - source->at) / least) {
        return malformed(field, "a count that is too large");
    }
    *list = NULL;
    *count = (int32_t)n;
    if (n > 0) {
        *list = tri_arena_take(arena, (size_t)n * element);
        if (!*list) {
            return TRI_FAIL(TRI_ENOMEM, "no memory for %s", field->name);
        }
    }
    return TRI_OK;
}

static tri_status get_ints(tri_source *source, const tri_field_desc *field,
                           tri_arena *arena, unsigned char *base)
{
    unsigned char *list;
    int32_t i, n;

    TRI_TRY(get_list(source, field, arena, 4, 4, &n, &list));
    for (i = 0; i < n; ++i) {
        TRI_TRY(get_u32(source, field, list + 4 * (size_t)i));
    }
    memcpy(base + field->offset, &list, sizeof list);
    memcpy(base + field->count_offset, &n, sizeof n);
    return TRI_OK;
}

static tri_status get_array(tri_source *source, const tri_field_desc *field,
                            tri_arena *arena, unsigned char *base)
{
    const tri_struct_desc *of = field->of;
    unsigned char *list;
    int32_t i, n;

    TRI_TRY(get_list(source, field, arena, tri_desc_min_bytes(of), of->bytes,
                     &n, &list));
    for (i = 0; i < n; ++i) {
        TRI_TRY(tri_desc_unpack(of, source, arena,
                                list + (size_t)i * of->bytes));
    }
    memcpy(base + field->offset, &list, sizeof list);
    memcpy(base + field->count_offset, &n, sizeof n);
    return TRI_OK;
}

static tri_status get_u8(tri_source *source, const tri_field_desc *field,
                         unsigned char *to)
{
    uint64_t v;

    TRI_TRY(take_number(source, field, 1, &v));
    *to = (unsigned char)v;
    return TRI_OK;
}

static tri_status unpack_field(const tri_field_desc *field, tri_source *source,
                               tri_arena *arena, unsigned char *base)
{
    unsigned char *at = base + field->offset;

    switch (field->kind) {
    case TRI_FIELD_U8:
        return get_u8(source, field, at);
    case TRI_FIELD_I32:
    case TRI_FIELD_ENUM:
        return get_u32(source, field, at);
    case TRI_FIELD_I64:
    case TRI_FIELD_U64:
    case TRI_FIELD_F64:
        return get_u64(source, field, at);
    case TRI_FIELD_STR:
        return get_string(source, field, arena, at);
    case TRI_FIELD_BLOB:
        return get_blob(source, field, arena, at);
    case TRI_FIELD_INTS:
        return get_ints(source, field, arena, base);
    case TRI_FIELD_ARRAY:
        return get_array(source, field, arena, base);
    case TRI_FIELD_INLINE:
        return tri_desc_unpack(field->of, source, arena, at);
    }
    return malformed(field, "a field of no kind");
}

/* What a former version did not tell. */
static void leave_out(const tri_field_desc *field, unsigned char *base)
{
    static const char *const nothing = "";

    if (field->kind == TRI_FIELD_STR) {
        memcpy(base + field->offset, &nothing, sizeof nothing);
    }
}

tri_status tri_desc_unpack(const tri_struct_desc *desc, tri_source *source,
                           tri_arena *arena, void *base)
{
    int i;

    for (i = 0; i < desc->n_fields; ++i) {
        if (desc->fields[i].since > source->version) {
            leave_out(&desc->fields[i], base);
        } else {
            TRI_TRY(unpack_field(&desc->fields[i], source, arena, base));
        }
    }
    return TRI_OK;
}

/*
 * Packing a struct by its description.  Cannot fail: what may be packed is
 * checked before, and the sink has room or does not need any.
 */
#include "src/base/little.h"
#include "src/wire/codec.h"

#include <string.h>

static void put_number(const tri_sink *sink, uint64_t v, int bytes)
{
    unsigned char le[8];

    tri_put_le(le, v, bytes);
    sink->put(sink->ctx, le, (size_t)bytes);
}

static uint64_t load_u64(const void *at)
{
    uint64_t v;

    memcpy(&v, at, sizeof v);
    return v;
}

static uint32_t load_u32(const void *at)
{
    uint32_t v;

    memcpy(&v, at, sizeof v);
    return v;
}

static const void *load_pointer(const void *at)
{
    const void *p;

    memcpy(&p, at, sizeof p);
    return p;
}

static void put_bytes(const tri_sink *sink, const void *data, uint64_t n)
{
    put_number(sink, n, 4);
    if (n > 0) {
        sink->put(sink->ctx, data, (size_t)n);
    }
}

static void put_string(const tri_sink *sink, const char *s)
{
    put_bytes(sink, s, s ? strlen(s) : 0);
}

static void put_ints(const tri_sink *sink, const unsigned char *list,
                     uint32_t n)
{
    uint32_t i;

    put_number(sink, n, 4);
    for (i = 0; i < n; ++i) {
        put_number(sink, load_u32(list + 4 * (size_t)i), 4);
    }
}

static void put_array(const tri_sink *sink, const tri_struct_desc *of,
                      const unsigned char *list, uint32_t n)
{
    uint32_t i;

    put_number(sink, n, 4);
    for (i = 0; i < n; ++i) {
        tri_desc_pack(of, list + i * of->bytes, sink);
    }
}

static void pack_field(const tri_field_desc *field, const unsigned char *base,
                       const tri_sink *sink)
{
    const unsigned char *at = base + field->offset;
    const unsigned char *count = base + field->count_offset;
    tri_blob blob;

    switch (field->kind) {
    case TRI_FIELD_U8:
        put_number(sink, *at, 1);
        break;
    case TRI_FIELD_I32:
    case TRI_FIELD_ENUM:
        put_number(sink, load_u32(at), 4);
        break;
    case TRI_FIELD_I64:
    case TRI_FIELD_U64:
    case TRI_FIELD_F64:
        put_number(sink, load_u64(at), 8);
        break;
    case TRI_FIELD_STR:
        put_string(sink, load_pointer(at));
        break;
    case TRI_FIELD_BLOB:
        memcpy(&blob, at, sizeof blob);
        put_bytes(sink, blob.data, blob.bytes);
        break;
    case TRI_FIELD_INTS:
        put_ints(sink, load_pointer(at), load_u32(count));
        break;
    case TRI_FIELD_ARRAY:
        put_array(sink, field->of, load_pointer(at), load_u32(count));
        break;
    case TRI_FIELD_INLINE:
        tri_desc_pack(field->of, at, sink);
        break;
    }
}

void tri_desc_pack(const tri_struct_desc *desc, const void *base,
                   const tri_sink *sink)
{
    int i;

    for (i = 0; i < desc->n_fields; ++i) {
        pack_field(&desc->fields[i], base, sink);
    }
}

static tri_status check_count(const tri_field_desc *field,
                              const unsigned char *base, int32_t *out)
{
    int32_t n = (int32_t)load_u32(base + field->count_offset);

    if (n < 0 || (n > 0 && !load_pointer(base + field->offset))) {
        return TRI_FAIL(TRI_EINVAL, "%s is %d", field->count_name, n);
    }
    *out = n;
    return TRI_OK;
}

static tri_status check_array(const tri_field_desc *field,
                              const unsigned char *base)
{
    const unsigned char *list = load_pointer(base + field->offset);
    int32_t i, n;

    TRI_TRY(check_count(field, base, &n));
    for (i = 0; i < n; ++i) {
        TRI_TRY(tri_desc_check(field->of, list + (size_t)i * field->of->bytes));
    }
    return TRI_OK;
}

static tri_status check_blob(const tri_field_desc *field,
                             const unsigned char *base)
{
    tri_blob blob;

    memcpy(&blob, base + field->offset, sizeof blob);
    if (blob.bytes > TRI_WIRE_MAX_BYTES || (blob.bytes > 0 && !blob.data)) {
        return TRI_FAIL(TRI_ERANGE, "%s has %llu bytes", field->name,
                        (unsigned long long)blob.bytes);
    }
    return TRI_OK;
}

static tri_status check_enum(const tri_field_desc *field,
                             const unsigned char *base)
{
    int32_t v = (int32_t)load_u32(base + field->offset);

    if (v < 0 || v >= field->limit) {
        return TRI_FAIL(TRI_EINVAL, "%s is %d", field->name, v);
    }
    return TRI_OK;
}

tri_status tri_desc_check(const tri_struct_desc *desc, const void *base)
{
    int32_t n;
    int i;

    for (i = 0; i < desc->n_fields; ++i) {
        const tri_field_desc *field = &desc->fields[i];

        if (field->kind == TRI_FIELD_ENUM) {
            TRI_TRY(check_enum(field, base));
        } else if (field->kind == TRI_FIELD_BLOB) {
            TRI_TRY(check_blob(field, base));
        } else if (field->kind == TRI_FIELD_INTS) {
            TRI_TRY(check_count(field, base, &n));
        } else if (field->kind == TRI_FIELD_ARRAY) {
            TRI_TRY(check_array(field, base));
        } else if (field->kind == TRI_FIELD_INLINE) {
            TRI_TRY(tri_desc_check(field->of,
                                   (const char *)base + field->offset));
        }
    }
    return TRI_OK;
}

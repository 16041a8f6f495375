/*
 * Random structs of the protocol; see the header.  Knows no message by name.
 */
#include "tests/wire/random_struct.h"

#include <stdlib.h>
#include <string.h>

void pool_drop(pool *p)
{
    while (p->n > 0) {
        free(p->blocks[--p->n]);
    }
}

static void *pool_take(pool *p, size_t bytes)
{
    void *block = calloc(1, bytes + 1);

    if (!block || p->n == (int)(sizeof p->blocks / sizeof p->blocks[0])) {
        abort();
    }
    p->blocks[p->n++] = block;
    return block;
}

static uint64_t random_bits(tri_rng *rng)
{
    static const uint64_t edges[] = {0,
                                     1,
                                     UINT64_MAX,
                                     (uint64_t)INT64_MAX,
                                     1ull << 63,
                                     UINT32_MAX,
                                     0x7ff8000000000001ull /* a NaN */,
                                     0xfff0000000000000ull /* -inf */};

    return tri_rng_below(rng, 3) == 0 ? edges[tri_rng_below(rng, 8)]
                                      : tri_rng_u64(rng);
}

static tri_blob random_text(tri_rng *rng, pool *p, int lowest)
{
    uint64_t i, n = tri_rng_below(rng, 4) == 0 ? 0 : tri_rng_below(rng, 40);
    char *s = pool_take(p, (size_t)n);

    for (i = 0; i < n; ++i) {
        s[i] = (char)((uint64_t)lowest +
                      tri_rng_below(rng, (uint64_t)(256 - lowest)));
    }
    return (tri_blob){s, n};
}

static void random_list(const tri_field_desc *field, char *base, tri_rng *rng,
                        pool *p)
{
    int32_t i, n = (int32_t)tri_rng_below(rng, 5);
    int is_ints = field->kind == TRI_FIELD_INTS;
    size_t each = is_ints ? sizeof(int32_t) : field->of->bytes;
    char *list = n > 0 ? pool_take(p, (size_t)n * each) : NULL;

    for (i = 0; i < n; ++i) {
        if (is_ints) {
            ((int32_t *)(void *)list)[i] = (int32_t)random_bits(rng);
        } else {
            random_struct(field->of, list + (size_t)i * each, rng, p);
        }
    }
    memcpy(base + field->offset, &list, sizeof list);
    memcpy(base + field->count_offset, &n, sizeof n);
}

static void random_field(const tri_field_desc *field, char *base, tri_rng *rng,
                         pool *p)
{
    char *at = base + field->offset;
    uint64_t bits = random_bits(rng);
    tri_blob text;
    int32_t word;

    switch (field->kind) {
    case TRI_FIELD_U8:
        *at = (char)bits;
        break;
    case TRI_FIELD_I32:
        memcpy(at, &bits, 4);
        break;
    case TRI_FIELD_I64:
    case TRI_FIELD_U64:
    case TRI_FIELD_F64:
        memcpy(at, &bits, 8);
        break;
    case TRI_FIELD_STR:
        text = random_text(rng, p, 1);
        memcpy(at, &text.data, sizeof text.data);
        break;
    case TRI_FIELD_BLOB:
        text = random_text(rng, p, 0);
        memcpy(at, &text, sizeof text);
        break;
    case TRI_FIELD_ENUM:
        word = (int32_t)tri_rng_below(rng, (uint64_t)field->limit);
        memcpy(at, &word, sizeof word);
        break;
    case TRI_FIELD_INTS:
    case TRI_FIELD_ARRAY:
        random_list(field, base, rng, p);
        break;
    case TRI_FIELD_INLINE:
        random_struct(field->of, at, rng, p);
        break;
    }
}

void random_struct(const tri_struct_desc *desc, void *base, tri_rng *rng,
                   pool *p)
{
    int i;

    for (i = 0; i < desc->n_fields; ++i) {
        random_field(&desc->fields[i], base, rng, p);
    }
}

static int same_list(const tri_field_desc *field, const char *a, const char *b,
                     const char **where)
{
    const char *la = *(const char *const *)(const void *)(a + field->offset);
    const char *lb = *(const char *const *)(const void *)(b + field->offset);
    int32_t i, n = *(const int32_t *)(const void *)(a + field->count_offset);

    if (n != *(const int32_t *)(const void *)(b + field->count_offset)) {
        return 0;
    }
    if (field->kind == TRI_FIELD_INTS) {
        return n == 0 || memcmp(la, lb, (size_t)n * sizeof(int32_t)) == 0;
    }
    for (i = 0; i < n; ++i) {
        size_t at = (size_t)i * field->of->bytes;

        if (!same_struct(field->of, la + at, lb + at, where)) {
            return 0;
        }
    }
    return 1;
}

static int same_field(const tri_field_desc *field, const char *a, const char *b,
                      const char **where)
{
    const void *x = a + field->offset;
    const void *y = b + field->offset;

    switch (field->kind) {
    case TRI_FIELD_U8:
        return memcmp(x, y, 1) == 0;
    case TRI_FIELD_I32:
    case TRI_FIELD_ENUM:
        return memcmp(x, y, 4) == 0;
    case TRI_FIELD_I64:
    case TRI_FIELD_U64:
    case TRI_FIELD_F64:
        return memcmp(x, y, 8) == 0;
    case TRI_FIELD_STR:
        return strcmp(*(const char *const *)x, *(const char *const *)y) == 0;
    case TRI_FIELD_BLOB: {
        const tri_blob *p = x, *q = y;

        return p->bytes == q->bytes && memcmp(p->data, q->data, p->bytes) == 0;
    }
    case TRI_FIELD_INTS:
    case TRI_FIELD_ARRAY:
        return same_list(field, a, b, where);
    case TRI_FIELD_INLINE:
        return same_struct(field->of, x, y, where);
    }
    return 0;
}

int same_struct(const tri_struct_desc *desc, const void *a, const void *b,
                const char **where)
{
    int i;

    for (i = 0; i < desc->n_fields; ++i) {
        *where = desc->fields[i].name;
        if (!same_field(&desc->fields[i], a, b, where)) {
            return 0;
        }
    }
    return 1;
}

tri_event random_event(int kind, tri_rng *rng, pool *p)
{
    tri_event event;

    memset(&event, 0, sizeof event);
    event.kind = (tri_event_kind)kind;
    event.time_s = tri_rng_unit(rng) * 1e6;
    random_struct(tri_body_desc(TRI_BODY_EVENT, kind), &event.u, rng, p);
    return event;
}

tri_command random_command(int kind, tri_rng *rng, pool *p)
{
    tri_command command;

    memset(&command, 0, sizeof command);
    command.kind = (tri_command_kind)kind;
    random_struct(tri_body_desc(TRI_BODY_COMMAND, kind), &command.u, rng, p);
    return command;
}

tri_message random_message(int kind, tri_rng *rng, pool *p)
{
    tri_message m;

    memset(&m, 0, sizeof m);
    m.kind = (tri_message_kind)kind;
    m.epoch = (uint32_t)tri_rng_u64(rng);
    if (m.kind == TRI_MSG_COMMAND) {
        m.u.command = random_command(
                1 + (int)tri_rng_below(rng, TRI_CMD_COUNT - 1), rng, p);
    } else {
        random_struct(tri_body_desc(TRI_BODY_MESSAGE, kind), &m.u, rng, p);
    }
    return m;
}

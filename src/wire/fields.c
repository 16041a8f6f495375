/*
 * The rows of fields.h, expanded from protocol.def.  The type of each member
 * is checked against its field kind at compile time.
 */
#include "src/wire/fields.h"

/* clang-format off */
#define C_TYPE_U8   uint8_t
#define C_TYPE_I32  int32_t
#define C_TYPE_I64  int64_t
#define C_TYPE_U64  uint64_t
#define C_TYPE_F64  double
#define C_TYPE_STR  const char *
#define C_TYPE_BLOB tri_blob

#define MEMBER(type, member) (((type *)0)->member)
/* 1, or a compile-time error where the member has another type. */
#define IS(type, member, c_type) _Generic(&MEMBER(type, member), c_type *: 1)

#define STRUCT(type) static const tri_field_desc fields_of_##type[] = {
#define FIELD(type, k, member)                                                 \
    {#member, TRI_FIELD_##k, offsetof(type, member) *                          \
             IS(type, member, C_TYPE_##k), NULL, 0, 0, NULL, 0},
#define SINCE(version, type, k, member)                                        \
    {#member, TRI_FIELD_##k, offsetof(type, member) *                          \
             IS(type, member, C_TYPE_##k), NULL, 0, 0, NULL, version},
#define ENUM(type, member, limit_)                                             \
    {#member, TRI_FIELD_ENUM, offsetof(type, member) *                         \
             IS(type, member, int32_t), NULL, 0, limit_, NULL, 0},
#define INTS(type, member, count)                                              \
    {#member, TRI_FIELD_INTS, offsetof(type, member) *                         \
             IS(type, member, const int32_t *), #count,                        \
     offsetof(type, count) * IS(type, count, int32_t), 0, NULL, 0},
#define ARRAY(type, member, count, of_)                                        \
    {#member, TRI_FIELD_ARRAY, offsetof(type, member) *                        \
             IS(type, member, const of_ *), #count,                            \
     offsetof(type, count) * IS(type, count, int32_t), 0, &desc_of_##of_, 0},
#define INLINE(type, member, of_)                                              \
    {#member, TRI_FIELD_INLINE, offsetof(type, member) *                       \
             IS(type, member, of_), NULL, 0, 0, &desc_of_##of_, 0},
#define END(type)                                                              \
    };                                                                         \
    static const tri_struct_desc desc_of_##type = {                            \
        #type, sizeof(type), fields_of_##type,                                 \
        (int)(sizeof fields_of_##type / sizeof fields_of_##type[0])};
#define EVENT(code, member, type)                                              \
    _Static_assert(IS(tri_event, u.member, type), "body of " #code);
#define COMMAND(code, member, type)                                            \
    _Static_assert(IS(tri_command, u.member, type), "body of " #code);
#define MESSAGE(code, member, type)                                            \
    _Static_assert(IS(tri_message, u.member, type), "body of " #code);
#define EMPTY_COMMAND(code)
#define EMPTY_MESSAGE(code)
#include "src/wire/protocol.def"

#define STRUCT(type) &desc_of_##type,
const tri_struct_desc *const tri_all_structs[] = {
#include "src/wire/protocol.def"
};
const int tri_n_structs = sizeof tri_all_structs / sizeof tri_all_structs[0];

static const tri_struct_desc nothing = {"nothing", 0, NULL, 0};

#define EVENT(code, member, type) [TRI_EV_##code] = &desc_of_##type,
static const tri_struct_desc *const events[TRI_EV_COUNT] = {
#include "src/wire/protocol.def"
};

#define COMMAND(code, member, type) [TRI_CMD_##code] = &desc_of_##type,
#define EMPTY_COMMAND(code) [TRI_CMD_##code] = &nothing,
static const tri_struct_desc *const commands[TRI_CMD_COUNT] = {
#include "src/wire/protocol.def"
};

#define MESSAGE(code, member, type) [TRI_MSG_##code] = &desc_of_##type,
#define EMPTY_MESSAGE(code) [TRI_MSG_##code] = &nothing,
static const tri_struct_desc *const messages[TRI_MSG_COUNT] = {
#include "src/wire/protocol.def"
};

#define X(code, name) [TRI_EV_##code] = name,
static const char *const event_names[] = {TRI_EVENT_MAP(X)};
#undef X
#define X(code, name) [TRI_CMD_##code] = name,
static const char *const command_names[] = {TRI_COMMAND_MAP(X)};
#undef X
#define X(code, name) [TRI_MSG_##code] = name,
static const char *const message_names[] = {TRI_MESSAGE_MAP(X)};
#undef X
/* clang-format on */

static const struct {
    const tri_struct_desc *const *descs;
    const char *const *names;
    int n;
} sets[] = {
        [TRI_BODY_EVENT] = {events, event_names, TRI_EV_COUNT},
        [TRI_BODY_COMMAND] = {commands, command_names, TRI_CMD_COUNT},
        [TRI_BODY_MESSAGE] = {messages, message_names, TRI_MSG_COUNT},
};

const tri_struct_desc *tri_body_desc(tri_body_set set, int kind)
{
    return kind >= 0 && kind < sets[set].n ? sets[set].descs[kind] : NULL;
}

const char *tri_body_name(tri_body_set set, int kind)
{
    return kind >= 0 && kind < sets[set].n ? sets[set].names[kind] : NULL;
}

const char *tri_message_name(tri_message_kind kind)
{
    return tri_body_name(TRI_BODY_MESSAGE, (int)kind);
}

static size_t min_field_bytes(const tri_field_desc *field)
{
    switch (field->kind) {
    case TRI_FIELD_U8:
        return 1;
    case TRI_FIELD_I64:
    case TRI_FIELD_U64:
    case TRI_FIELD_F64:
        return 8;
    case TRI_FIELD_INLINE:
        return tri_desc_min_bytes(field->of);
    default: /* an i32, a length or a count */
        return 4;
    }
}

size_t tri_desc_min_bytes(const tri_struct_desc *desc)
{
    size_t sum = 0;
    int i;

    for (i = 0; i < desc->n_fields; ++i) {
        if (desc->fields[i].since == 0) {
            sum += min_field_bytes(&desc->fields[i]);
        }
    }
    return sum;
}

/*
 * Events, commands and messages as packed bytes: the header, and which body a
 * kind has.  The fields themselves are walked by pack.c, unpack.c, print.c.
 */
#include "trireme/wire.h"

#include "src/base/little.h"
#include "src/wire/buffer.h"
#include "src/wire/codec.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <string.h>

/* magic: the set of kinds that follows. */
#define MAGIC_EVENT   0x4554u /* "TE" */
#define MAGIC_COMMAND 0x4354u /* "TC" */
#define MAGIC_MESSAGE 0x4d54u /* "TM" */

static const uint16_t magics[] = {
        [TRI_BODY_EVENT] = MAGIC_EVENT,
        [TRI_BODY_COMMAND] = MAGIC_COMMAND,
        [TRI_BODY_MESSAGE] = MAGIC_MESSAGE,
};

static const int versions[] = {
        [TRI_BODY_EVENT] = TRI_WIRE_VERSION,
        [TRI_BODY_COMMAND] = 1,
        [TRI_BODY_MESSAGE] = TRI_WIRE_VERSION,
};

/* A thing to be packed: its set, kind and body, and what stands before it. */
typedef struct parcel {
    tri_body_set set;
    int kind;
    uint32_t epoch;
    const double *time_s; /* events: before the body */
    const tri_struct_desc *desc;
    const void *body;
    const tri_command *command; /* a message that holds a command */
} parcel;

static void count_bytes(void *ctx, const void *data, size_t bytes)
{
    *(size_t *)ctx += bytes;
}

static void append_bytes(void *ctx, const void *data, size_t bytes)
{
    tri_buffer *b = ctx;

    memcpy(b->data + b->bytes, data, bytes);
    b->bytes += bytes;
}

static void digest_bytes(void *ctx, const void *data, size_t bytes)
{
    XXH64_update(ctx, data, bytes);
}

static parcel event_parcel(const tri_event *event)
{
    return (parcel){TRI_BODY_EVENT,
                    (int)event->kind,
                    0,
                    &event->time_s,
                    tri_body_desc(TRI_BODY_EVENT, (int)event->kind),
                    &event->u,
                    NULL};
}

static parcel command_parcel(const tri_command *command)
{
    return (parcel){TRI_BODY_COMMAND,
                    (int)command->kind,
                    0,
                    NULL,
                    tri_body_desc(TRI_BODY_COMMAND, (int)command->kind),
                    &command->u,
                    NULL};
}

static void put_parcel(const parcel *p, const tri_sink *sink);

static void put_body(const parcel *p, const tri_sink *sink)
{
    unsigned char le[8];
    uint64_t bits;

    if (p->time_s) {
        memcpy(&bits, p->time_s, sizeof bits);
        tri_put_le(le, bits, 8);
        sink->put(sink->ctx, le, 8);
    }
    if (p->command) {
        parcel inner = command_parcel(p->command);

        put_parcel(&inner, sink);
    }
    tri_desc_pack(p->desc, p->body, sink);
}

static size_t body_bytes(const parcel *p)
{
    size_t n = 0;
    tri_sink counter = {count_bytes, &n};

    put_body(p, &counter);
    return n;
}

static void put_parcel(const parcel *p, const tri_sink *sink)
{
    unsigned char header[TRI_WIRE_HEADER_BYTES];

    tri_put_le(header, magics[p->set], 2);
    header[2] = (unsigned char)versions[p->set];
    header[3] = (unsigned char)p->kind;
    tri_put_le(header + 4, body_bytes(p), 4);
    tri_put_le(header + 8, p->epoch, 4);
    sink->put(sink->ctx, header, sizeof header);
    put_body(p, sink);
}

static tri_status check_parcel(const parcel *p)
{
    if (!p->desc) {
        return TRI_FAIL(TRI_EINVAL, "kind %d cannot be packed", p->kind);
    }
    if (p->command) {
        parcel inner = command_parcel(p->command);

        TRI_TRY(check_parcel(&inner));
    }
    return tri_desc_check(p->desc, p->body);
}

static tri_status pack(const parcel *p, tri_buffer *out)
{
    tri_sink sink = {append_bytes, out};
    size_t bytes;

    TRI_TRY(check_parcel(p));
    bytes = TRI_WIRE_HEADER_BYTES + body_bytes(p);
    if (bytes > TRI_WIRE_MAX_BYTES) {
        return TRI_FAIL(TRI_ERANGE, "%s of %zu bytes is over the limit",
                        tri_body_name(p->set, p->kind), bytes);
    }
    TRI_TRY(tri_buffer_reserve(out, bytes));
    put_parcel(p, &sink);
    return TRI_OK;
}

/* ---- unpacking ------------------------------------------------------ */

/* Check the header at the front; [out] kind and epoch, and the body's
 * description and bytes in *source. */
static tri_status open_parcel(tri_body_set set, tri_source *source, int *kind,
                              uint32_t *epoch, const tri_struct_desc **desc)
{
    const unsigned char *h = source->at;
    size_t bytes = (size_t)(source->end - source->at);

    if (bytes < TRI_WIRE_HEADER_BYTES || bytes > TRI_WIRE_MAX_BYTES) {
        return TRI_FAIL(TRI_EMALFORMED, "a message of %zu bytes", bytes);
    }
    if (tri_get_le(h, 2) != magics[set]) {
        return TRI_FAIL(TRI_EMALFORMED, "a message of another kind");
    }
    source->version = h[2];
    if (h[2] != versions[set] &&
        (set != TRI_BODY_EVENT || h[2] < 1 || h[2] > versions[set])) {
        return TRI_FAIL(TRI_EVERSION, "message version %d, not %d", h[2],
                        versions[set]);
    }
    *kind = h[3];
    *desc = tri_body_desc(set, *kind);
    if (!*desc) {
        return TRI_FAIL(TRI_EMALFORMED, "unknown message kind %d", *kind);
    }
    if (tri_get_le(h + 4, 4) != bytes - TRI_WIRE_HEADER_BYTES) {
        return TRI_FAIL(TRI_EMALFORMED, "a %s of the wrong length",
                        tri_body_name(set, *kind));
    }
    *epoch = (uint32_t)tri_get_le(h + 8, 4);
    source->at += TRI_WIRE_HEADER_BYTES;
    return TRI_OK;
}

static tri_status close_parcel(const tri_source *source)
{
    if (source->at != source->end) {
        return TRI_FAIL(TRI_EMALFORMED, "%zu bytes left over",
                        (size_t)(source->end - source->at));
    }
    return TRI_OK;
}

static tri_source source_of(const void *data, size_t bytes)
{
    const unsigned char *at = data;

    return (tri_source){at, at + bytes, 0};
}

static tri_status unpack_command(tri_source *source, tri_arena *arena,
                                 tri_command *out)
{
    const tri_struct_desc *desc;
    uint32_t epoch;
    int kind;

    memset(out, 0, sizeof *out);
    TRI_TRY(open_parcel(TRI_BODY_COMMAND, source, &kind, &epoch, &desc));
    out->kind = (tri_command_kind)kind;
    TRI_TRY(tri_desc_unpack(desc, source, arena, &out->u));
    return close_parcel(source);
}

/* ---- public --------------------------------------------------------- */

tri_status tri_event_pack(const tri_event *event, tri_buffer *out)
{
    parcel p = event_parcel(event);

    return pack(&p, out);
}

tri_status tri_command_pack(const tri_command *command, tri_buffer *out)
{
    parcel p = command_parcel(command);

    return pack(&p, out);
}

tri_status tri_message_pack(const tri_message *m, tri_buffer *out)
{
    parcel p = {TRI_BODY_MESSAGE,
                (int)m->kind,
                m->epoch,
                NULL,
                tri_body_desc(TRI_BODY_MESSAGE, (int)m->kind),
                &m->u,
                m->kind == TRI_MSG_COMMAND ? &m->u.command : NULL};

    return pack(&p, out);
}

tri_status tri_event_unpack(const void *data, size_t bytes, tri_arena *arena,
                            tri_event *out)
{
    tri_source source = source_of(data, bytes);
    const tri_struct_desc *desc;
    tri_event event;
    uint32_t epoch;
    uint64_t bits;
    int kind;

    memset(&event, 0, sizeof event);
    tri_arena_reset(arena);
    TRI_TRY(open_parcel(TRI_BODY_EVENT, &source, &kind, &epoch, &desc));
    if (source.end - source.at < 8) {
        return TRI_FAIL(TRI_EMALFORMED, "an event without a time");
    }
    bits = tri_get_le(source.at, 8);
    source.at += 8;
    memcpy(&event.time_s, &bits, sizeof bits);
    event.kind = (tri_event_kind)kind;
    TRI_TRY(tri_desc_unpack(desc, &source, arena, &event.u));
    TRI_TRY(close_parcel(&source));
    *out = event;
    return TRI_OK;
}

tri_status tri_command_unpack(const void *data, size_t bytes, tri_arena *arena,
                              tri_command *out)
{
    tri_source source = source_of(data, bytes);
    tri_command command;

    tri_arena_reset(arena);
    TRI_TRY(unpack_command(&source, arena, &command));
    *out = command;
    return TRI_OK;
}

tri_status tri_message_unpack(const void *data, size_t bytes, tri_arena *arena,
                              tri_message *out)
{
    tri_source source = source_of(data, bytes);
    const tri_struct_desc *desc;
    tri_message m;
    int kind;

    memset(&m, 0, sizeof m);
    tri_arena_reset(arena);
    TRI_TRY(open_parcel(TRI_BODY_MESSAGE, &source, &kind, &m.epoch, &desc));
    m.kind = (tri_message_kind)kind;
    if (m.kind == TRI_MSG_COMMAND) {
        TRI_TRY(unpack_command(&source, arena, &m.u.command));
    } else {
        TRI_TRY(tri_desc_unpack(desc, &source, arena, &m.u));
    }
    TRI_TRY(close_parcel(&source));
    *out = m;
    return TRI_OK;
}

uint64_t tri_commands_digest(const tri_commands *commands)
{
    XXH64_state_t state;
    tri_sink sink = {digest_bytes, &state};
    int i;

    XXH64_reset(&state, 0);
    for (i = 0; i < commands->n; ++i) {
        parcel p = command_parcel(&commands->list[i]);

        if (p.desc) {
            put_parcel(&p, &sink);
        }
    }
    return XXH64_digest(&state);
}

static size_t print(tri_body_set set, int kind, const void *body, char *buf,
                    size_t n, const double *time_s)
{
    const tri_struct_desc *desc = tri_body_desc(set, kind);
    tri_line line = {buf, n, 0};

    if (n > 0) {
        buf[0] = '\0';
    }
    if (!desc) {
        tri_line_add(&line, "unknown kind %d", kind);
        return line.need;
    }
    tri_line_add(&line, "%s", tri_body_name(set, kind));
    tri_desc_print(desc, body, &line);
    if (time_s) {
        tri_line_add(&line, " time_s %.9g", *time_s);
    }
    return line.need;
}

size_t tri_event_print(const tri_event *event, char *buf, size_t n)
{
    return print(TRI_BODY_EVENT, (int)event->kind, &event->u, buf, n,
                 &event->time_s);
}

size_t tri_command_print(const tri_command *command, char *buf, size_t n)
{
    return print(TRI_BODY_COMMAND, (int)command->kind, &command->u, buf, n,
                 NULL);
}

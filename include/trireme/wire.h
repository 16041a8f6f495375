/*
 * The wire: packs, unpacks and prints events, commands and the messages
 * between ranks, all from one list (src/wire/protocol.def).
 *
 * Encoding: explicit little-endian; a header {magic u16, version u8, kind u8,
 * body bytes u32, epoch u32}; fields in the order of the list; strings and
 * blobs are u32 length + bytes; arrays u32 count + elements.  Decoding checks
 * every length before use; what is unknown, too long, short or has bytes left
 * over is refused with TRI_EMALFORMED (TRI_EVERSION for another version).
 * Pure; no state.
 */
#ifndef TRIREME_WIRE_H
#define TRIREME_WIRE_H

#include "trireme/event.h"

#include <stdint.h>

/* Of events and messages; commands, whose digests stand in journals, are as
 * they were in version 1.  Events of former versions are read, fields that came
 * later being 0 and ""; messages are not: all ranks run one program. */
#define TRI_WIRE_VERSION      3
#define TRI_WIRE_HEADER_BYTES 12
#define TRI_WIRE_MAX_BYTES    (64u << 20)

/* A growing byte buffer, owned by whoever inits it. */
typedef struct tri_buffer {
    unsigned char *data;
    size_t bytes, capacity;
} tri_buffer;
TRI_API void tri_buffer_init(tri_buffer *b);
TRI_API void tri_buffer_fini(tri_buffer *b);
TRI_API void tri_buffer_clear(tri_buffer *b); /* keeps the memory */

/* What an unpacked struct's pointers point into; reused by the next unpack. */
typedef struct tri_arena tri_arena;
TRI_API tri_status tri_arena_create(tri_arena **out);
TRI_API void tri_arena_destroy(tri_arena *a);

/* Append the packed form to `out`.  TRI_ENOMEM, TRI_ERANGE (over
 * TRI_WIRE_MAX_BYTES). */
TRI_API tri_status tri_event_pack(const tri_event *event, tri_buffer *out);
TRI_API tri_status tri_command_pack(const tri_command *command,
                                    tri_buffer *out);
/* Decode exactly `bytes` bytes.  Pointers of *out point into `arena` (valid
 * until its next unpack), texts NUL-terminated. */
TRI_API tri_status tri_event_unpack(const void *data, size_t bytes,
                                    tri_arena *arena, tri_event *out);
TRI_API tri_status tri_command_unpack(const void *data, size_t bytes,
                                      tri_arena *arena, tri_command *out);
/* One line of text, "report run 3 attempt 0 ...", terminated, into buf;
 * returns the length it would need. */
TRI_API size_t tri_event_print(const tri_event *event, char *buf, size_t n);
TRI_API size_t tri_command_print(const tri_command *command, char *buf,
                                 size_t n);
/* Digest of a list of commands: XXH64 of their packed forms in order. */
TRI_API uint64_t tri_commands_digest(const tri_commands *commands);

/* ---- messages between ranks ------------------------------------------ */

/* clang-format off */
/* To rank 0 (UP) and from it (DOWN); tag = 1 + kind. */
#define TRI_MESSAGE_MAP(X)                                                     \
    X(HELLO,    "hello")    /* up: host, cores, pid: the rank is ready */      \
    X(BEAT,     "beat")     /* both: still here */                             \
    X(READY,    "ready")    /* up: assign understood (or why not) */           \
    X(REPORT,   "report")   /* up, leader: tri_ev_report */                    \
    X(OUTCOME,  "outcome")  /* up, leader: an event kind + tri_ev_outcome */   \
    X(COMMAND,  "command")  /* down: assign, go, verdict, leave */             \
    X(DRAIN,    "drain")    /* up: this rank got a drain signal */
/* clang-format on */

typedef enum tri_message_kind {
    TRI_MSG_NONE,
#define X(code, name) TRI_MSG_##code,
    TRI_MESSAGE_MAP(X)
#undef X
    TRI_MSG_COUNT
} tri_message_kind;

typedef struct tri_msg_hello {
    int32_t rank;
    const char *host;
    int32_t cores;      /* in this rank's binding */
    int32_t host_cores; /* on the host, as far as this job may use them */
    int64_t pid;
    const char *device;  /* that its processes are shown; "" */
    const char *trouble; /* why it can run no trial of this study; "" */
    const char *remark;  /* about its host, from one rank of it; "" */
    uint64_t study_hash; /* of the study as this rank read it */
    uint64_t memory_bytes;
    uint8_t blind; /* rank 0's checkpoints.dir is not seen here */
    int32_t package, numa, cache, core; /* as in tri_ev_pool */
    const char *binding, *cpus;
} tri_msg_hello;

typedef struct tri_msg_ready {
    int32_t rank;
    int64_t run;
    int32_t attempt;
    int32_t status; /* tri_status; not TRI_OK: it cannot take part */
    const char *sentence;
} tri_msg_ready;

typedef struct tri_msg_outcome {
    int32_t event; /* tri_event_kind: finished, paused, failed, interrupted */
    tri_ev_outcome outcome;
} tri_msg_outcome;

typedef struct tri_message {
    tri_message_kind kind;
    uint32_t epoch;
    union {
        tri_msg_hello hello;
        tri_msg_ready ready;
        tri_ev_report report;
        tri_msg_outcome outcome;
        tri_command command;
    } u;
} tri_message;

TRI_API const char *tri_message_name(tri_message_kind kind);
TRI_API tri_status tri_message_pack(const tri_message *m, tri_buffer *out);
TRI_API tri_status tri_message_unpack(const void *data, size_t bytes,
                                      tri_arena *arena, tri_message *out);

#endif

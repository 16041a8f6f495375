/*
 * Fuzz target of the wire: any bytes, read as event, command and message;
 * what is accepted must pack again to as many bytes, or, an event of a former
 * version, to more of them, which are read again.
 */
#include "trireme/wire.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void check(int holds)
{
    if (!holds) {
        abort();
    }
}

static void try_event(const uint8_t *data, size_t bytes, tri_arena *arena,
                      tri_buffer *buffer)
{
    tri_event event;
    char line[64];

    if (tri_event_unpack(data, bytes, arena, &event) == TRI_OK) {
        tri_buffer_clear(buffer);
        check(tri_event_pack(&event, buffer) == TRI_OK);
        check(data[2] == TRI_WIRE_VERSION ? buffer->bytes == bytes
                                          : buffer->bytes >= bytes);
        tri_event_print(&event, line, sizeof line);
        check(tri_event_unpack(buffer->data, buffer->bytes, arena, &event) ==
              TRI_OK);
    }
}

static void try_command(const uint8_t *data, size_t bytes, tri_arena *arena,
                        tri_buffer *buffer)
{
    tri_command command;
    char line[64];

    if (tri_command_unpack(data, bytes, arena, &command) == TRI_OK) {
        tri_buffer_clear(buffer);
        check(tri_command_pack(&command, buffer) == TRI_OK);
        check(buffer->bytes == bytes);
        tri_command_print(&command, line, sizeof line);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    tri_arena *arena;
    tri_buffer buffer;
    tri_message m;

    check(tri_arena_create(&arena) == TRI_OK);
    tri_buffer_init(&buffer);
    try_event(data, bytes, arena, &buffer);
    try_command(data, bytes, arena, &buffer);
    if (tri_message_unpack(data, bytes, arena, &m) == TRI_OK) {
        check(tri_message_pack(&m, &buffer) == TRI_OK);
    }
    tri_buffer_fini(&buffer);
    tri_arena_destroy(arena);
    return 0;
}

/*
 * What is packed comes back: random events, commands and messages of every
 * kind; what is cut or changed is refused; the digest sees every command.
 */
#include "tests/tri_cmocka.h"

#include "src/base/little.h"
#include "tests/wire/random_struct.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 40
#define SEED   20261130u

typedef struct fixture {
    tri_rng rng;
    tri_buffer buffer;
    tri_arena *arena;
    pool memory;
} fixture;

static int set_up(void **state)
{
    fixture *f = calloc(1, sizeof *f);

    assert_non_null(f);
    printf("seed %u\n", SEED);
    f->rng = tri_rng_stream(SEED, 0, TRI_RNG_TEST);
    tri_buffer_init(&f->buffer);
    assert_int_equal(tri_arena_create(&f->arena), TRI_OK);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;

    pool_drop(&f->memory);
    tri_buffer_fini(&f->buffer);
    tri_arena_destroy(f->arena);
    free(f);
    return 0;
}

static void events_come_back(void **state)
{
    fixture *f = *state;
    const char *where = "";
    tri_event in, out;
    int kind, i;

    for (i = 0; i < ROUNDS; ++i) {
        for (kind = 1; kind < TRI_EV_COUNT; ++kind) {
            tri_buffer_clear(&f->buffer);
            in = random_event(kind, &f->rng, &f->memory);
            assert_int_equal(tri_event_pack(&in, &f->buffer), TRI_OK);
            assert_int_equal(tri_event_unpack(f->buffer.data, f->buffer.bytes,
                                              f->arena, &out),
                             TRI_OK);
            assert_int_equal(out.kind, kind);
            assert_true(out.time_s == in.time_s);
            if (!same_struct(tri_body_desc(TRI_BODY_EVENT, kind), &in.u, &out.u,
                             &where)) {
                fail_msg("event %d: %s differs", kind, where);
            }
            pool_drop(&f->memory);
        }
    }
}

static void commands_come_back(void **state)
{
    fixture *f = *state;
    const char *where = "";
    tri_command in, out;
    int kind, i;

    for (i = 0; i < ROUNDS; ++i) {
        for (kind = 1; kind < TRI_CMD_COUNT; ++kind) {
            tri_buffer_clear(&f->buffer);
            in = random_command(kind, &f->rng, &f->memory);
            assert_int_equal(tri_command_pack(&in, &f->buffer), TRI_OK);
            assert_int_equal(tri_command_unpack(f->buffer.data, f->buffer.bytes,
                                                f->arena, &out),
                             TRI_OK);
            assert_int_equal(out.kind, kind);
            if (!same_struct(tri_body_desc(TRI_BODY_COMMAND, kind), &in.u,
                             &out.u, &where)) {
                fail_msg("command %d: %s differs", kind, where);
            }
            pool_drop(&f->memory);
        }
    }
}

static void messages_come_back(void **state)
{
    fixture *f = *state;
    tri_buffer again;
    tri_message in, out;
    int kind, i;

    tri_buffer_init(&again);
    for (i = 0; i < ROUNDS; ++i) {
        for (kind = 1; kind < TRI_MSG_COUNT; ++kind) {
            tri_buffer_clear(&f->buffer);
            tri_buffer_clear(&again);
            in = random_message(kind, &f->rng, &f->memory);
            assert_int_equal(tri_message_pack(&in, &f->buffer), TRI_OK);
            assert_int_equal(tri_message_unpack(f->buffer.data, f->buffer.bytes,
                                                f->arena, &out),
                             TRI_OK);
            assert_int_equal(out.kind, kind);
            assert_int_equal(out.epoch, in.epoch);
            assert_int_equal(tri_message_pack(&out, &again), TRI_OK);
            assert_int_equal(again.bytes, f->buffer.bytes);
            assert_memory_equal(again.data, f->buffer.data, again.bytes);
            pool_drop(&f->memory);
        }
    }
    tri_buffer_fini(&again);
}

/* A copy of exactly `bytes` bytes, so that reading past it is seen. */
static unsigned char *exact_copy(const void *data, size_t bytes)
{
    unsigned char *copy = malloc(bytes ? bytes : 1);

    assert_non_null(copy);
    memcpy(copy, data, bytes);
    return copy;
}

static void every_cut_is_refused(void **state)
{
    fixture *f = *state;
    tri_message in, out;
    size_t cut;
    int kind;

    for (kind = 1; kind < TRI_MSG_COUNT; ++kind) {
        tri_buffer_clear(&f->buffer);
        in = random_message(kind, &f->rng, &f->memory);
        assert_int_equal(tri_message_pack(&in, &f->buffer), TRI_OK);
        for (cut = 0; cut < f->buffer.bytes; ++cut) {
            unsigned char *copy = exact_copy(f->buffer.data, cut);

            if (cut >= TRI_WIRE_HEADER_BYTES) {
                uint32_t body = (uint32_t)(cut - TRI_WIRE_HEADER_BYTES);

                assert_int_equal(tri_message_unpack(copy, cut, f->arena, &out),
                                 TRI_EMALFORMED);
                memcpy(copy + 4, &body, 4); /* the header agrees: still cut */
            }
            assert_int_equal(tri_message_unpack(copy, cut, f->arena, &out),
                             TRI_EMALFORMED);
            free(copy);
        }
    }
}

static void bytes_left_over_are_refused(void **state)
{
    fixture *f = *state;
    tri_event in = random_event(TRI_EV_REPORT, &f->rng, &f->memory);
    tri_event out;
    uint32_t body;
    unsigned char *copy;

    tri_buffer_clear(&f->buffer);
    assert_int_equal(tri_event_pack(&in, &f->buffer), TRI_OK);
    copy = malloc(f->buffer.bytes + 1);
    assert_non_null(copy);
    memcpy(copy, f->buffer.data, f->buffer.bytes);
    copy[f->buffer.bytes] = 0;
    body = (uint32_t)(f->buffer.bytes + 1 - TRI_WIRE_HEADER_BYTES);
    memcpy(copy + 4, &body, 4);
    assert_int_equal(
            tri_event_unpack(copy, f->buffer.bytes + 1, f->arena, &out),
            TRI_EMALFORMED);
    free(copy);
}

/* Any byte changed: refused or read as something that packs to those bytes. */
static void changed_bytes_never_crash(void **state)
{
    fixture *f = *state;
    tri_event in, out;
    int i, kind;

    for (i = 0; i < 4000; ++i) {
        unsigned char *copy;

        kind = 1 + i % (TRI_EV_COUNT - 1);
        tri_buffer_clear(&f->buffer);
        in = random_event(kind, &f->rng, &f->memory);
        assert_int_equal(tri_event_pack(&in, &f->buffer), TRI_OK);
        copy = exact_copy(f->buffer.data, f->buffer.bytes);
        copy[tri_rng_below(&f->rng, f->buffer.bytes)] ^=
                (unsigned char)(1 + tri_rng_below(&f->rng, 255));
        if (tri_event_unpack(copy, f->buffer.bytes, f->arena, &out) == TRI_OK) {
            size_t n = f->buffer.bytes;

            tri_buffer_clear(&f->buffer);
            assert_int_equal(tri_event_pack(&out, &f->buffer), TRI_OK);
            assert_int_equal(f->buffer.bytes, n);
            copy[8] = copy[9] = copy[10] = copy[11] = 0; /* events: no epoch */
            assert_memory_equal(f->buffer.data, copy, n);
        }
        free(copy);
        pool_drop(&f->memory);
    }
}

static void other_versions_and_kinds_are_refused(void **state)
{
    fixture *f = *state;
    tri_command in = {TRI_CMD_STRIKE, {.strike = {3}}};
    tri_command out;
    tri_event event;

    tri_buffer_clear(&f->buffer);
    assert_int_equal(tri_command_pack(&in, &f->buffer), TRI_OK);
    assert_int_equal(
            tri_event_unpack(f->buffer.data, f->buffer.bytes, f->arena, &event),
            TRI_EMALFORMED);
    f->buffer.data[2] = 2; /* there is no such version of commands */
    assert_int_equal(
            tri_command_unpack(f->buffer.data, f->buffer.bytes, f->arena, &out),
            TRI_EVERSION);
    f->buffer.data[2] = 1;
    f->buffer.data[3] = 200;
    assert_int_equal(
            tri_command_unpack(f->buffer.data, f->buffer.bytes, f->arena, &out),
            TRI_EMALFORMED);
}

/* As a former version packed it: without what came later. */
static void make_old(tri_buffer *b, unsigned char version, size_t bytes_less)
{
    b->bytes -= bytes_less;
    b->data[2] = version;
    tri_put_le(b->data + 4, b->bytes - TRI_WIRE_HEADER_BYTES, 4);
}

/* What version 3 added to an opening: two empty texts and a number. */
#define OPEN_3 (4 + 4 + 8)

static void events_of_version_2_are_read(void **state)
{
    fixture *f = *state;
    tri_event open = {TRI_EV_OPEN,
                      0,
                      {.open = {.rules = TRI_RULES,
                                .mpi_library = "",
                                .machine = "",
                                .memory_bytes = 7}}};
    tri_event out;

    tri_buffer_clear(&f->buffer);
    assert_int_equal(tri_event_pack(&open, &f->buffer), TRI_OK);
    make_old(&f->buffer, 2, OPEN_3);
    assert_int_equal(
            tri_event_unpack(f->buffer.data, f->buffer.bytes, f->arena, &out),
            TRI_OK);
    assert_int_equal(out.u.open.rules, TRI_RULES);
    assert_string_equal(out.u.open.mpi_library, "");
    assert_string_equal(out.u.open.machine, "");
    assert_int_equal(out.u.open.memory_bytes, 0);
}

static void events_of_the_former_version_are_read(void **state)
{
    fixture *f = *state;
    tri_event rank = {TRI_EV_POOL,
                      2,
                      {.pool = {3, TRI_RANK_UP, "h", 4, "d", 1, 5, 6, 7, 8,
                                "none", "0-3"}}};
    tri_event open = {TRI_EV_OPEN, 0, {.open = {.rules = TRI_RULES}}};
    tri_event out;

    tri_buffer_clear(&f->buffer);
    assert_int_equal(tri_event_pack(&rank, &f->buffer), TRI_OK);
    make_old(&f->buffer, 1, 4 * 4 + 4 + strlen("none") + 4 + strlen("0-3"));
    assert_int_equal(
            tri_event_unpack(f->buffer.data, f->buffer.bytes, f->arena, &out),
            TRI_OK);
    assert_string_equal(out.u.pool.host, "h");
    assert_int_equal(out.u.pool.oversubscribed, 1);
    assert_int_equal(out.u.pool.package, 0);
    assert_int_equal(out.u.pool.core, 0);
    assert_string_equal(out.u.pool.binding, "");
    assert_string_equal(out.u.pool.cpus, "");
    tri_buffer_clear(&f->buffer);
    assert_int_equal(tri_event_pack(&open, &f->buffer), TRI_OK);
    make_old(&f->buffer, 1, 4 + OPEN_3);
    assert_int_equal(
            tri_event_unpack(f->buffer.data, f->buffer.bytes, f->arena, &out),
            TRI_OK);
    assert_int_equal(out.u.open.rules, 0);
    f->buffer.data[2] = TRI_WIRE_VERSION + 1;
    assert_int_equal(
            tri_event_unpack(f->buffer.data, f->buffer.bytes, f->arena, &out),
            TRI_EVERSION);
}

static void what_could_not_be_read_is_not_packed(void **state)
{
    fixture *f = *state;
    tri_event event = {TRI_EV_DRAIN, 0, {.drain = {99}}};
    tri_command go = {TRI_CMD_GO, {.go = {1, 0, NULL, -1}}};
    tri_event none = {TRI_EV_NONE, 0, {.drain = {0}}};

    tri_buffer_clear(&f->buffer);
    assert_int_equal(tri_event_pack(&event, &f->buffer), TRI_EINVAL);
    assert_int_equal(tri_event_pack(&none, &f->buffer), TRI_EINVAL);
    assert_int_equal(tri_command_pack(&go, &f->buffer), TRI_EINVAL);
    assert_int_equal(f->buffer.bytes, 0);
}

/* The bytes of one event, by hand: the layout is a contract. */
static void the_bytes_are_as_written(void **state)
{
    static const unsigned char want[] = {
            'T',  'E',  3,    TRI_EV_FORMED,
            20,   0,    0,    0,
            0,    0,    0,    0, /* header */
            0,    0,    0,    0,
            0,    0,    0xf0, 0x3f, /* time 1.0 */
            2,    1,    0,    0,
            0,    0,    0,    0,     /* run 258 */
            0xff, 0xff, 0xff, 0xff}; /* attempt -1 */
    fixture *f = *state;
    tri_event event = {TRI_EV_FORMED, 1.0, {.formed = {258, -1}}};

    tri_buffer_clear(&f->buffer);
    assert_int_equal(tri_event_pack(&event, &f->buffer), TRI_OK);
    assert_int_equal(f->buffer.bytes, sizeof want);
    assert_memory_equal(f->buffer.data, want, sizeof want);
}

static void the_digest_sees_order_and_content(void **state)
{
    tri_command a[2] = {{TRI_CMD_STRIKE, {.strike = {3}}},
                        {TRI_CMD_LEAVE, {.strike = {0}}}};
    tri_command b[2] = {a[1], a[0]};
    tri_commands none = {NULL, 0}, one = {a, 1}, two = {a, 2}, swapped = {b, 2};
    uint64_t d = tri_commands_digest(&two);

    assert_true(tri_commands_digest(&none) == 0xef46db3751d8e999ull);
    assert_true(d == tri_commands_digest(&two));
    assert_true(d != tri_commands_digest(&swapped));
    assert_true(d != tri_commands_digest(&one));
    a[0].u.strike.rank = 4;
    assert_true(d != tri_commands_digest(&two));
}

static void printing_is_one_line_and_never_too_long(void **state)
{
    fixture *f = *state;
    char small[16], big[4096];
    tri_event event = {TRI_EV_FORMED, 1.5, {.formed = {3, 0}}};
    int kind;
    size_t n;

    n = tri_event_print(&event, big, sizeof big);
    assert_int_equal(n, strlen(big));
    assert_string_equal(big, "formed run 3 attempt 0 time_s 1.5");
    for (kind = 1; kind < TRI_EV_COUNT; ++kind) {
        event = random_event(kind, &f->rng, &f->memory);
        n = tri_event_print(&event, big, sizeof big);
        assert_int_equal(n, strlen(big));
        assert_null(strchr(big, '\n'));
        assert_int_equal(tri_event_print(&event, small, sizeof small), n);
        assert_int_equal(strlen(small), sizeof small - 1);
        assert_int_equal(tri_event_print(&event, NULL, 0), n);
    }
    for (kind = 1; kind < TRI_CMD_COUNT; ++kind) {
        tri_command command = random_command(kind, &f->rng, &f->memory);

        n = tri_command_print(&command, big, sizeof big);
        assert_int_equal(n, strlen(big));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test_setup_teardown(events_come_back, set_up,
                                            tear_down),
            cmocka_unit_test_setup_teardown(commands_come_back, set_up,
                                            tear_down),
            cmocka_unit_test_setup_teardown(messages_come_back, set_up,
                                            tear_down),
            cmocka_unit_test_setup_teardown(every_cut_is_refused, set_up,
                                            tear_down),
            cmocka_unit_test_setup_teardown(bytes_left_over_are_refused, set_up,
                                            tear_down),
            cmocka_unit_test_setup_teardown(changed_bytes_never_crash, set_up,
                                            tear_down),
            cmocka_unit_test_setup_teardown(
                    other_versions_and_kinds_are_refused, set_up, tear_down),
            cmocka_unit_test_setup_teardown(
                    events_of_the_former_version_are_read, set_up, tear_down),
            cmocka_unit_test_setup_teardown(events_of_version_2_are_read,
                                            set_up, tear_down),
            cmocka_unit_test_setup_teardown(
                    what_could_not_be_read_is_not_packed, set_up, tear_down),
            cmocka_unit_test_setup_teardown(the_bytes_are_as_written, set_up,
                                            tear_down),
            cmocka_unit_test(the_digest_sees_order_and_content),
            cmocka_unit_test_setup_teardown(
                    printing_is_one_line_and_never_too_long, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

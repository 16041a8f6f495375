/*
 * The control channel: what is malformed, of another epoch or under another
 * tag is refused and counted, and what comes after it still arrives.
 */
#include "mpi_workers/channel.h"

#include "mpi_workers/pause.h"
#include "tests/tri_cmocka.h"
#include "trireme/rng.h"

#include <string.h>

#define SEED  61u
#define EPOCH 3

static MPI_Comm comm;
static int me;

static tri_channel *fresh(void)
{
    tri_channel *ch;

    assert_int_equal(tri_channel_create(comm, &ch), TRI_OK);
    tri_channel_set_epoch(ch, EPOCH);
    return ch;
}

static tri_message ready(int64_t run)
{
    tri_message m;

    memset(&m, 0, sizeof m);
    m.kind = TRI_MSG_READY;
    m.u.ready = (tri_msg_ready){me, run, 1, 0, "fine"};
    return m;
}

/* Wait for a message, a minute at most. */
static int receive(tri_channel *ch, tri_message *m)
{
    double end = tri_now() + 60;
    int from;

    while (tri_now() < end) {
        if (tri_channel_receive(ch, m, &from)) {
            assert_int_equal(from, 1);
            return 1;
        }
        tri_sleep(1e-3);
    }
    return 0;
}

static void finish(tri_channel *ch)
{
    assert_int_equal(tri_channel_flush(ch, 60), 0);
    MPI_Barrier(comm);
    tri_channel_destroy(ch);
}

static void messages_arrive_in_order(void **state)
{
    tri_channel *ch = fresh();
    tri_message m;

    (void)state;
    for (int64_t run = 0; run < 1000; run++) {
        if (me == 1) {
            m = ready(run);
            assert_int_equal(tri_channel_send(ch, 0, &m), TRI_OK);
        } else {
            assert_true(receive(ch, &m));
            assert_int_equal(m.kind, TRI_MSG_READY);
            assert_int_equal(m.u.ready.run, run);
            assert_string_equal(m.u.ready.sentence, "fine");
        }
    }
    assert_int_equal(tri_channel_refused(ch), 0);
    finish(ch);
}

static void send_raw(const void *data, size_t bytes, int tag)
{
    MPI_Send(data, (int)bytes, MPI_BYTE, 0, tag, comm);
}

/* Noise, a truncated message, one under another tag, one of another epoch. */
static int send_bad(void)
{
    tri_rng rng = tri_rng_stream(SEED, 1, TRI_RNG_TEST);
    unsigned char noise[256];
    tri_message m = ready(5);
    tri_buffer packed;
    int n = 0;

    for (int i = 0; i < 500; i++) {
        size_t bytes = tri_rng_below(&rng, sizeof noise);

        for (size_t j = 0; j < bytes; j++) {
            noise[j] = (unsigned char)tri_rng_u64(&rng);
        }
        send_raw(noise, bytes, 1 + (int)tri_rng_below(&rng, TRI_MSG_COUNT));
        n++;
    }
    tri_buffer_init(&packed);
    m.epoch = EPOCH;
    assert_int_equal(tri_message_pack(&m, &packed), TRI_OK);
    for (size_t cut = 0; cut < packed.bytes; cut++, n++) {
        send_raw(packed.data, cut, 1 + TRI_MSG_READY);
    }
    send_raw(packed.data, packed.bytes, 1 + TRI_MSG_BEAT);
    send_raw(packed.data, packed.bytes, 30000);
    tri_buffer_clear(&packed);
    m.epoch = EPOCH - 1;
    assert_int_equal(tri_message_pack(&m, &packed), TRI_OK);
    send_raw(packed.data, packed.bytes, 1 + TRI_MSG_READY);
    tri_buffer_fini(&packed);
    return n + 3;
}

static void bad_messages_are_refused(void **state)
{
    tri_channel *ch = fresh();
    tri_message m;
    int n = 0;

    (void)state;
    if (me == 1) {
        n = send_bad();
        m = ready(77);
        assert_int_equal(tri_channel_send(ch, 0, &m), TRI_OK);
        MPI_Send(&n, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    } else {
        assert_true(receive(ch, &m));
        assert_int_equal(m.u.ready.run, 77);
        MPI_Recv(&n, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        assert_int_equal(tri_channel_refused(ch), n);
    }
    finish(ch);
}

static void what_is_put_aside_comes_again(void **state)
{
    tri_channel *ch = fresh();
    tri_message m;

    (void)state;
    for (int64_t run = 0; run < 4; run++) {
        if (me == 1) {
            m = ready(run);
            assert_int_equal(tri_channel_send(ch, 0, &m), TRI_OK);
        } else {
            assert_true(receive(ch, &m));
            if (run < 3) {
                assert_int_equal(tri_channel_keep(ch), TRI_OK);
            }
        }
    }
    tri_channel_replay(ch);
    for (int64_t run = 0; me == 0 && run < 3; run++) {
        assert_true(receive(ch, &m));
        assert_int_equal(m.u.ready.run, run);
    }
    finish(ch);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(messages_arrive_in_order),
            cmocka_unit_test(bad_messages_are_refused),
            cmocka_unit_test(what_is_put_aside_comes_again),
    };
    int failed;

    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm, &me);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (failed) {
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Finalize();
    return failed;
}

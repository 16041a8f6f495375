/*
 * Non-blocking packed messages over one communicator.
 */
#include "mpi_workers/channel.h"

#include "mpi_workers/pause.h"
#include "trireme/log.h"

#include <stdlib.h>
#include <string.h>

/* Everything but study texts is small; those are broadcast. */
#define LARGEST_BYTES (16 << 20)
/* From a message's first part to its last; its sender may have died. */
#define ARRIVE_S 5.0

typedef struct parcel { /* a message on its way, or put aside */
    struct parcel *next;
    MPI_Request request;
    int from;
    tri_buffer bytes;
} parcel;

struct tri_channel {
    MPI_Comm comm;
    int from; /* whom it hears */
    uint32_t epoch;
    tri_bell *bell;
    parcel *out; /* on their way, any order */
    int n_out;
    parcel *kept, **kept_end; /* put aside, in order */
    int replay;               /* give kept ones first */
    tri_arena *arena;
    tri_buffer in; /* the message last received */
    int in_from;
    int64_t refused;
};

tri_status tri_channel_create(MPI_Comm comm, tri_channel **out)
{
    tri_channel *ch = calloc(1, sizeof *ch);
    tri_status st;

    if (!ch) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for the control channel");
    }
    st = tri_arena_create(&ch->arena);
    if (st != TRI_OK) {
        free(ch);
        return st;
    }
    ch->comm = comm;
    MPI_Comm_rank(comm, &ch->from);
    ch->from = ch->from == 0 ? MPI_ANY_SOURCE : 0;
    ch->kept_end = &ch->kept;
    tri_buffer_init(&ch->in);
    *out = ch;
    return TRI_OK;
}

static void free_parcel(parcel *p)
{
    tri_buffer_fini(&p->bytes);
    free(p);
}

void tri_channel_destroy(tri_channel *ch)
{
    if (!ch) {
        return;
    }
    tri_channel_reap(ch);
    while (ch->kept) {
        parcel *p = ch->kept;

        ch->kept = p->next;
        free_parcel(p);
    }
    tri_buffer_fini(&ch->in);
    tri_arena_destroy(ch->arena);
    free(ch);
}

void tri_channel_set_epoch(tri_channel *ch, uint32_t epoch)
{
    ch->epoch = epoch;
}

void tri_channel_set_bell(tri_channel *ch, tri_bell *bell)
{
    ch->bell = bell;
}

int64_t tri_channel_refused(const tri_channel *ch)
{
    return ch->refused;
}

tri_status tri_channel_send(tri_channel *ch, int to, const tri_message *m)
{
    tri_message copy = *m;
    parcel *p = calloc(1, sizeof *p);
    tri_status st;

    if (!p) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a message");
    }
    copy.epoch = ch->epoch;
    tri_buffer_init(&p->bytes);
    st = tri_message_pack(&copy, &p->bytes);
    if (st != TRI_OK) {
        free_parcel(p);
        return st;
    }
    if (MPI_Isend(p->bytes.data, (int)p->bytes.bytes, MPI_BYTE, to,
                  1 + (int)m->kind, ch->comm, &p->request) != MPI_SUCCESS) {
        free_parcel(p);
        return TRI_FAIL(TRI_ECOMM, "message %s to rank %d cannot be sent",
                        tri_message_name(m->kind), to);
    }
    p->next = ch->out;
    ch->out = p;
    ch->n_out++;
    tri_bell_ring(ch->bell, to);
    return TRI_OK;
}

int tri_channel_reap(tri_channel *ch)
{
    parcel **at = &ch->out;

    while (*at) {
        parcel *p = *at;
        int done = 0;

        if (MPI_Test(&p->request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) {
            done = 1; /* it will not go any more */
        }
        if (done) {
            *at = p->next;
            free_parcel(p);
            ch->n_out--;
        } else {
            at = &p->next;
        }
    }
    return ch->n_out;
}

int tri_channel_flush(tri_channel *ch, double limit_s)
{
    double end = tri_now() + limit_s;
    tri_pause pause = {0};

    while (tri_channel_reap(ch) > 0 && tri_now() < end) {
        tri_pause_sleep(&pause);
    }
    return ch->n_out;
}

static void refuse(tri_channel *ch, int tag, const char *why)
{
    ch->refused++;
    TRI_LOG(TRI_LOG_WARN, "message refused: tag %d, %zu bytes from rank %d: %s",
            tag, ch->in.bytes, ch->in_from, why);
}

/* Receive the message that was matched into ch->in; 0 where the rest of it
 * does not come: the memory is then left to MPI. */
static int arrive(tri_channel *ch, int bytes, MPI_Message *matched)
{
    double end = tri_now() + ARRIVE_S;
    tri_pause pause = {0};
    MPI_Request request;
    int done = 0;

    if (MPI_Imrecv(ch->in.data, bytes, MPI_BYTE, matched, &request) !=
        MPI_SUCCESS) {
        return 0;
    }
    while (MPI_Test(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS &&
           !done) {
        if (tri_now() > end) {
            tri_buffer_init(&ch->in);
            return 0;
        }
        tri_pause_sleep(&pause);
    }
    ch->in.bytes = (size_t)bytes;
    return 1;
}

/* Take one message off the communicator into ch->in; 0 if there is none. */
static int take(tri_channel *ch, int *tag)
{
    MPI_Status status;
    MPI_Message matched;
    unsigned char *grown;
    int found = 0;
    int bytes = 0;

    if (MPI_Improbe(ch->from, MPI_ANY_TAG, ch->comm, &found, &matched,
                    &status) != MPI_SUCCESS ||
        !found) {
        return 0;
    }
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    ch->in_from = status.MPI_SOURCE;
    *tag = status.MPI_TAG;
    tri_buffer_clear(&ch->in);
    if (bytes > LARGEST_BYTES) {
        bytes = 0; /* truncates: what is left is dropped by MPI */
    }
    if ((size_t)bytes > ch->in.capacity) {
        grown = realloc(ch->in.data, (size_t)bytes);
        if (grown) {
            ch->in.data = grown;
            ch->in.capacity = (size_t)bytes;
        } else {
            bytes = 0;
        }
    }
    if (!arrive(ch, bytes, &matched)) {
        refuse(ch, *tag, "it did not arrive whole");
        return 0;
    }
    return 1;
}

/* Unpack ch->in; 0 where it is refused. */
static int accept(tri_channel *ch, int tag, tri_message *out)
{
    if (tri_message_unpack(ch->in.data, ch->in.bytes, ch->arena, out) !=
        TRI_OK) {
        refuse(ch, tag, tri_error_last()->sentence);
        return 0;
    }
    if (tag != 1 + (int)out->kind) {
        refuse(ch, tag, "its tag is not its kind's");
        return 0;
    }
    if (out->epoch != ch->epoch) {
        refuse(ch, tag, "it is of another epoch");
        return 0;
    }
    return 1;
}

/* The first message that was put aside, into ch->in. */
static int take_kept(tri_channel *ch)
{
    parcel *p = ch->kept;

    if (!ch->replay || !p) {
        ch->replay = 0;
        return 0;
    }
    ch->kept = p->next;
    if (!ch->kept) {
        ch->kept_end = &ch->kept;
    }
    tri_buffer_fini(&ch->in);
    ch->in = p->bytes;
    ch->in_from = p->from;
    free(p);
    return 1;
}

int tri_channel_receive(tri_channel *ch, tri_message *out, int *from)
{
    int tag = 0;

    if (take_kept(ch)) {
        *from = ch->in_from;
        return tri_message_unpack(ch->in.data, ch->in.bytes, ch->arena, out) ==
               TRI_OK;
    }
    while (take(ch, &tag)) {
        if (accept(ch, tag, out)) {
            *from = ch->in_from;
            return 1;
        }
    }
    return 0;
}

tri_status tri_channel_keep(tri_channel *ch)
{
    parcel *p = calloc(1, sizeof *p);

    if (!p) {
        return TRI_FAIL(TRI_ENOMEM, "no memory to put a message aside");
    }
    p->bytes = ch->in;
    p->from = ch->in_from;
    tri_buffer_init(&ch->in);
    *ch->kept_end = p;
    ch->kept_end = &p->next;
    return TRI_OK;
}

void tri_channel_replay(tri_channel *ch)
{
    ch->replay = 1;
}

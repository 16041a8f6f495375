/*
 * Communicators, seats and the announcement of a study.
 */
#include "mpi_workers/world.h"

#include "mpi_workers/pause.h"
#include "mpi_workers/roll.h"
#include "mpi_workers/wait.h"
#include "mpi_workers/watchdog.h"
#include "trireme/rng.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

double tri_world_start_s = 600;
double tri_world_come_s = 60;

static int is_set_to(const char *name, int value)
{
    const char *text = getenv(name);

    return text && atoi(text) == value;
}

int tri_world_outlives(void)
{
    /* what ranks see where mpirun was told to outlive a rank's death */
    return is_set_to("OMPI_MCA_orte_enable_recovery", 1) &&
           is_set_to("OMPI_MCA_orte_abort_on_non_zero_status", 0);
}

/* Wait for what was started, `rc`, without spinning: rank 0 may be reading a
 * long history. */
static tri_status wait_patiently(int rc, MPI_Request *request, double limit_s)
{
    double end = tri_now() + limit_s;
    tri_pause pause = {0};
    int done = 0;

    if (rc != MPI_SUCCESS) {
        return TRI_FAIL(TRI_ECOMM, "the ranks cannot be reached");
    }
    for (;;) {
        if (MPI_Test(request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) {
            return TRI_FAIL(TRI_ECOMM, "the ranks cannot be reached");
        }
        if (done) {
            return TRI_OK;
        }
        if (tri_now() > end) {
            return TRI_FAIL(TRI_ETIMEOUT,
                            "a rank of the job said nothing for %.0f s",
                            limit_s);
        }
        tri_pause_sleep(&pause);
    }
}

/* The running kernel, the name of its host and the space of its process
 * numbers.  Virtual hosts may have the kernel in common. */
static uint64_t kernel_here(const char *host)
{
    char text[256] = "";
    char space[64] = "";
    FILE *f = fopen("/proc/sys/kernel/random/boot_id", "r");
    size_t n = 0;

    if (f) {
        n = fread(text, 1, 64, f);
        fclose(f);
    }
    if (n == 0 || readlink("/proc/self/ns/pid", space, sizeof space - 1) <= 0) {
        return 0;
    }
    snprintf(text + n, sizeof text - n, "%s %s", space, host);
    return tri_rng_hash(text, strlen(text)) | 1;
}

/* Whose processes this rank can look at: while it waits it sees that one has
 * ended. */
static tri_status note_pids(tri_world *w)
{
    const tri_seat *mine = &w->seats[w->rank];

    w->pids = calloc((size_t)w->size, sizeof *w->pids);
    if (!w->pids) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for %d seats", w->size);
    }
    for (int i = 0; i < w->size; i++) {
        if (i != w->rank && mine->kernel != 0 &&
            w->seats[i].kernel == mine->kernel) {
            w->pids[i] = (pid_t)w->seats[i].pid;
        }
    }
    tri_wait_know(w->pids, w->size);
    if (w->rank > 0) {
        w->bell =
                tri_bell_join(w->size, w->rank, w->pids[0], &w->seats[0].bell);
    }
    return TRI_OK;
}

/* Hosts together, and on them who may use the same. */
static int by_place(const void *a, const void *b)
{
    const tri_seat *p = *(tri_seat *const *)a;
    const tri_seat *q = *(tri_seat *const *)b;
    int order = strcmp(p->host, q->host);

    return order ? order : strcmp(p->cpus, q->cpus);
}

/* Where the seats of order[from]'s host end, or, with `cpus`, of those that may
 * use the same there. */
static int end_of(tri_seat *const *order, int from, int n, int cpus)
{
    int to = from + 1;

    while (to < n && strcmp(order[to]->host, order[from]->host) == 0 &&
           (!cpus || strcmp(order[to]->cpus, order[from]->cpus) == 0)) {
        to++;
    }
    return to;
}

static void count_alike(const tri_world *w, tri_seat **order, int from, int to)
{
    int n = to - from;

    for (int i = from; i < to; i++) {
        n -= order[i] == &w->seats[0]; /* it does not train */
    }
    for (int i = from; i < to; i++) {
        order[i]->n_alike = n;
    }
}

tri_status tri_world_count(tri_world *w)
{
    tri_seat **order = calloc((size_t)w->size, sizeof(tri_seat *));

    if (!order) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for %d seats", w->size);
    }
    for (int i = 0; i < w->size; i++) {
        order[i] = &w->seats[i];
    }
    qsort(order, (size_t)w->size, sizeof(tri_seat *), by_place);
    for (int i = 0, to; i < w->size; i = to) {
        to = end_of(order, i, w->size, 0);
        for (int k = i; k < to; k++) { /* those that did not come: nowhere */
            order[k]->host_ranks = order[k]->host[0] ? to - i : 0;
        }
    }
    for (int i = 0, to; i < w->size; i = to) {
        to = end_of(order, i, w->size, 1);
        count_alike(w, order, i, to);
    }
    free(order);
    return TRI_OK;
}

/* Rank 0 offers a bell with it. */
static tri_seat my_seat(tri_world *w)
{
    tri_seat mine;

    memset(&mine, 0, sizeof mine);
    memcpy(mine.host, w->place.host, sizeof mine.host);
    memcpy(mine.node, w->place.node, sizeof mine.node);
    mine.cores = w->place.cores;
    mine.host_cores = w->place.host_cores;
    mine.memory_bytes = w->place.memory_bytes;
    memcpy(mine.cpus, w->place.cpus, sizeof mine.cpus);
    mine.is_whole = w->place.is_whole;
    mine.kernel = kernel_here(mine.host);
    mine.pid = getpid();
    mine.bell.fd = -1;
    if (w->rank == 0) {
        w->bell = tri_bell_make(w->size, &mine.bell);
    }
    return mine;
}

static tri_status share_seats(tri_world *w)
{
    tri_seat *seats = calloc((size_t)w->size, sizeof *seats);
    tri_seat mine = my_seat(w);
    MPI_Request request;
    int rc;

    if (!seats) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for %d seats", w->size);
    }
    rc = MPI_Iallgather(&mine, (int)sizeof mine, MPI_BYTE, seats,
                        (int)sizeof mine, MPI_BYTE, w->control, &request);
    /* where this fails the seats are left to MPI */
    TRI_TRY(wait_patiently(rc, &request, tri_world_start_s));
    w->seats = seats;
    return tri_world_count(w);
}

/* Two communicators of all ranks; dup is no request. */
static tri_status duplicate(tri_world *w)
{
    double before = tri_watchdog_begin(tri_world_start_s);
    int failed = MPI_Comm_dup(MPI_COMM_WORLD, &w->control) != MPI_SUCCESS ||
                 MPI_Comm_dup(MPI_COMM_WORLD, &w->peers) != MPI_SUCCESS;

    tri_watchdog_end(before);
    if (failed) {
        return TRI_FAIL(TRI_ECOMM, "the world cannot be duplicated");
    }
    MPI_Comm_set_errhandler(w->control, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(w->peers, MPI_ERRORS_RETURN);
    return TRI_OK;
}

tri_status tri_world_open(tri_world *out)
{
    tri_world w;
    tri_status st;

    memset(&w, 0, sizeof w);
    TRI_TRY(duplicate(&w));
    MPI_Comm_rank(w.control, &w.rank);
    MPI_Comm_size(w.control, &w.size);
    tri_place_read(&w.place);
    st = share_seats(&w);
    if (st == TRI_OK) {
        st = note_pids(&w);
    }
    if (st != TRI_OK) {
        tri_bell_close(w.bell);
        return st;
    }
    *out = w;
    return TRI_OK;
}

/* The world as it is, for nothing that all take part in may come before the
 * roll call: what goes between rank 0 and others, and what among others, is
 * told apart by who sent it. */
static tri_status meet(tri_world *w)
{
    tri_seat mine;

    w->control = w->peers = MPI_COMM_WORLD;
    w->is_loose = 1;
    MPI_Comm_rank(w->control, &w->rank);
    MPI_Comm_size(w->control, &w->size);
    tri_place_read(&w->place);
    mine = my_seat(w);
    w->seats = calloc((size_t)w->size, sizeof *w->seats);
    if (!w->seats) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for %d seats", w->size);
    }
    TRI_TRY(tri_roll_call(w->control, &mine, w->seats, tri_world_come_s,
                          tri_world_start_s, &w->roll));
    TRI_TRY(tri_world_count(w));
    return note_pids(w);
}

tri_status tri_world_meet(tri_world *out)
{
    tri_world w;

    if (!tri_world_outlives()) {
        return tri_world_open(out);
    }
    memset(&w, 0, sizeof w);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (meet(&w) != TRI_OK) {
        tri_bell_close(w.bell);
        free(w.seats);
        tri_roll_end(w.roll);
        return tri_error_last()->code;
    }
    *out = w;
    return TRI_OK;
}

/* What was sent and never asked for would be found by the next communicator
 * that MPI gives the same place: take it off, once everybody has stopped. */
#define EMPTY_S 5.0 /* rank 0 may still be busy with the record */

static void empty(MPI_Comm comm)
{
    MPI_Message matched;
    MPI_Request request;
    MPI_Status status;
    int found = 1;
    int rc = MPI_Ibarrier(comm, &request);

    if (wait_patiently(rc, &request, EMPTY_S) != TRI_OK) {
        return;
    }
    while (MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &found, &matched,
                       &status) == MPI_SUCCESS &&
           found) {
        /* none of its bytes are wanted: MPI drops what does not fit */
        MPI_Mrecv(NULL, 0, MPI_BYTE, &matched, MPI_STATUS_IGNORE);
    }
}

void tri_world_close(tri_world *w, int frees)
{
    if (frees) {
        empty(w->control);
    }
    if (frees && !w->is_loose) {
        MPI_Comm_free(&w->control);
        MPI_Comm_free(&w->peers);
    }
    tri_roll_end(w->roll);
    w->roll = NULL;
    tri_wait_know(NULL, 0);
    tri_bell_close(w->bell);
    w->bell = NULL;
    free(w->pids);
    free(w->seats);
    w->pids = NULL;
    w->seats = NULL;
}

/* Broadcast `bytes` bytes in parts that an int can count. */
static tri_status broadcast(tri_world *w, void *data, uint64_t bytes)
{
    for (uint64_t at = 0; at < bytes;) {
        uint64_t part = bytes - at < 1u << 30 ? bytes - at : 1u << 30;
        MPI_Request request;
        int rc = MPI_Ibcast((char *)data + at, (int)part, MPI_BYTE, 0,
                            w->control, &request);

        TRI_TRY(wait_patiently(rc, &request, tri_world_start_s));
        at += part;
    }
    return TRI_OK;
}

static tri_status hear(tri_world *w, uint64_t bytes, tri_arena *arena,
                       tri_event *heard)
{
    char *data = malloc(bytes + 1);
    tri_status st;

    if (!data) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a study of %llu bytes",
                        (unsigned long long)bytes);
    }
    TRI_TRY(broadcast(w, data, bytes)); /* else left to MPI */
    st = tri_event_unpack(data, bytes, arena, heard);
    free(data);
    return st;
}

/* The same where nothing is broadcast: no bytes dismiss. */
static tri_status announce_loosely(tri_world *w, const tri_buffer *packed,
                                   tri_arena *arena, tri_event *heard)
{
    void *data;
    size_t bytes;
    tri_status st = TRI_OK;

    if (w->rank == 0) {
        return tri_roll_tell(w->control, packed->data, packed->bytes, &w->roll);
    }
    TRI_TRY(tri_roll_hear(w->control, tri_world_start_s, &data, &bytes));
    memset(heard, 0, sizeof *heard);
    if (bytes > 0) {
        st = tri_event_unpack(data, bytes, arena, heard);
    }
    free(data);
    return st;
}

tri_status tri_world_announce(tri_world *w, const tri_event *open,
                              tri_arena *arena, tri_event *heard)
{
    tri_buffer packed;
    tri_status packing = TRI_OK;
    tri_status st;

    tri_buffer_init(&packed);
    if (open) {
        packing = tri_event_pack(open, &packed);
    }
    if (packing != TRI_OK) {
        tri_buffer_clear(&packed);
    }
    if (w->is_loose) {
        st = announce_loosely(w, &packed, arena, heard);
        tri_buffer_fini(&packed);
        return packing == TRI_OK ? st : packing;
    }
    w->announced = packed.bytes;
    TRI_TRY(broadcast(w, &w->announced, sizeof w->announced));
    if (w->rank == 0) {
        TRI_TRY(broadcast(w, packed.data, w->announced));
        st = packing;
    } else if (w->announced == 0) {
        memset(heard, 0, sizeof *heard);
        st = TRI_OK;
    } else {
        st = hear(w, w->announced, arena, heard);
    }
    tri_buffer_fini(&packed);
    return st;
}

void tri_world_bind(tri_world *w)
{
    const tri_seat *s = &w->seats[w->rank];
    int n_ranks = s->host_ranks - (strcmp(s->host, w->seats[0].host) == 0);
    int index = 0;

    for (int i = 1; i < w->rank; i++) {
        index += strcmp(w->seats[i].host, s->host) == 0;
    }
    if (w->rank > 0) {
        tri_place_bind(&w->place, index, n_ranks, s->n_alike);
    }
}

uint64_t tri_world_quota(const tri_world *w, int rank)
{
    const tri_seat *s = &w->seats[rank];

    return s->memory_bytes / (uint64_t)(s->host_ranks > 0 ? s->host_ranks : 1);
}

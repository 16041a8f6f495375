/*
 * Communicators, seats and the announcement of a study.
 */
#include "mpi_workers/world.h"

#include "mpi_workers/pause.h"
#include "mpi_workers/wait.h"
#include "mpi_workers/watchdog.h"
#include "trireme/rng.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

double tri_world_start_s = 600;

/* Wait without spinning: rank 0 may be reading a long history. */
static tri_status wait_patiently(MPI_Request *request, double limit_s)
{
    double end = tri_now() + limit_s;
    tri_pause pause = {0};
    int done = 0;

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
    return TRI_OK;
}

static tri_status share_seats(tri_world *w)
{
    tri_seat *seats = calloc((size_t)w->size, sizeof *seats);
    tri_seat mine;
    MPI_Request request;

    if (!seats) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for %d seats", w->size);
    }
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
    MPI_Iallgather(&mine, (int)sizeof mine, MPI_BYTE, seats, (int)sizeof mine,
                   MPI_BYTE, w->control, &request);
    /* where this fails the seats are left to MPI */
    TRI_TRY(wait_patiently(&request, tri_world_start_s));
    w->seats = seats;
    for (int i = 0; i < w->size; i++) {
        for (int j = 0; j < w->size; j++) {
            seats[i].host_ranks += strcmp(seats[i].host, seats[j].host) == 0;
        }
    }
    return TRI_OK;
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

    memset(&w, 0, sizeof w);
    TRI_TRY(duplicate(&w));
    MPI_Comm_rank(w.control, &w.rank);
    MPI_Comm_size(w.control, &w.size);
    tri_place_read(&w.place);
    TRI_TRY(share_seats(&w));
    TRI_TRY(note_pids(&w));
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

    if (MPI_Ibarrier(comm, &request) != MPI_SUCCESS ||
        wait_patiently(&request, EMPTY_S) != TRI_OK) {
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
        MPI_Comm_free(&w->control);
        MPI_Comm_free(&w->peers);
    }
    tri_wait_know(NULL, 0);
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

        MPI_Ibcast((char *)data + at, (int)part, MPI_BYTE, 0, w->control,
                   &request);
        TRI_TRY(wait_patiently(&request, tri_world_start_s));
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
    w->announced = packing == TRI_OK ? packed.bytes : 0;
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

int tri_world_n_alike(const tri_world *w, int rank, int *n_ranks, int *index)
{
    const tri_seat *s = &w->seats[rank];
    int n = 0;

    *n_ranks = *index = 0;
    for (int i = 1; i < w->size; i++) {
        if (strcmp(w->seats[i].host, s->host) == 0) {
            *index += i < rank;
            ++*n_ranks;
            n += strcmp(w->seats[i].cpus, s->cpus) == 0;
        }
    }
    return n;
}

void tri_world_bind(tri_world *w)
{
    int n_ranks;
    int index;
    int n_alike = tri_world_n_alike(w, w->rank, &n_ranks, &index);

    if (w->rank > 0) {
        tri_place_bind(&w->place, index, n_ranks, n_alike);
    }
}

uint64_t tri_world_quota(const tri_world *w, int rank)
{
    const tri_seat *s = &w->seats[rank];

    return s->memory_bytes / (uint64_t)(s->host_ranks > 0 ? s->host_ranks : 1);
}

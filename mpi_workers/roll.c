/*
 * Messages between rank 0 and each of the others.
 */
#include "mpi_workers/roll.h"

#include "mpi_workers/kin.h"
#include "mpi_workers/wait.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* None of the control channel's, which has one for each kind of message. */
enum {
    TAG_SEAT = 1001, /* to rank 0 */
    TAG_TOLD = 1002  /* from it, in order */
};

struct tri_roll { /* one thing that was told */
    tri_roll *next;
    MPI_Request *requests;
    int n;
    void *bytes;
};

static void free_roll(tri_roll *r)
{
    free(r->requests);
    free(r->bytes);
    free(r);
}

void tri_roll_end(tri_roll *roll)
{
    while (roll) {
        tri_roll *next = roll->next;
        int all = 0;

        if (MPI_Testall(roll->n, roll->requests, &all, MPI_STATUSES_IGNORE) ==
                    MPI_SUCCESS &&
            all) {
            free_roll(roll);
        }
        roll = next;
    }
}

/* Tell ranks to[0..n) the same. */
static tri_status tell(MPI_Comm comm, const void *data, size_t bytes,
                       const int *to, int n, tri_roll **roll)
{
    tri_roll *r;

    if (bytes > INT_MAX) {
        return TRI_FAIL(TRI_ERANGE, "a study of %zu bytes cannot be told",
                        bytes);
    }
    r = calloc(1, sizeof *r);
    if (r) {
        r->bytes = malloc(bytes + 1);
        r->requests = malloc((size_t)(n + 1) * sizeof(MPI_Request));
    }
    if (!r || !r->bytes || !r->requests) {
        if (r) {
            free_roll(r);
        }
        return TRI_FAIL(TRI_ENOMEM, "no memory to tell %d ranks", n);
    }
    if (bytes > 0) {
        memcpy(r->bytes, data, bytes);
    }
    for (int i = 0; i < n; i++) { /* who cannot be reached is found silent */
        r->n += MPI_Isend(r->bytes, (int)bytes, MPI_BYTE, to[i], TAG_TOLD, comm,
                          &r->requests[r->n]) == MPI_SUCCESS;
    }
    r->next = *roll;
    *roll = r;
    return TRI_OK;
}

tri_status tri_roll_tell(MPI_Comm comm, const void *data, size_t bytes,
                         tri_roll **roll)
{
    tri_status st = TRI_ENOMEM;
    int size;
    int *all;

    MPI_Comm_size(comm, &size);
    all = malloc((size_t)size * sizeof *all);
    if (!all) {
        return TRI_FAIL(st, "no memory to tell %d ranks", size);
    }
    for (int i = 1; i < size; i++) {
        all[i - 1] = i;
    }
    st = tell(comm, data, bytes, all, size - 1, roll);
    free(all);
    return st;
}

/* ---- the others -----------------------------------------------------------
 */

/* The next thing that rank 0 tells, as it comes in; `end_s` by tri_now(). */
static tri_status find(MPI_Comm comm, double end_s, MPI_Message *matched,
                       int *bytes)
{
    MPI_Status status;
    tri_wait wait;
    int found = 0;
    tri_status st;

    tri_wait_begin(&wait, comm, 0, end_s);
    wait.sleeps = 1; /* rank 0 may be reading a long history */
    for (;;) {
        if (MPI_Improbe(0, TAG_TOLD, comm, &found, matched, &status) !=
            MPI_SUCCESS) {
            return TRI_FAIL(TRI_ECOMM, "rank 0 cannot be reached");
        }
        if (found) {
            MPI_Get_count(&status, MPI_BYTE, bytes);
            return TRI_OK;
        }
        st = tri_wait_pause(&wait);
        if (st == TRI_EPEER) {
            return TRI_FAIL(st, "rank 0's process has ended");
        }
        if (st != TRI_OK) {
            return TRI_FAIL(st, tri_wait_abandoned ? "a signal"
                                                   : "rank 0 said nothing");
        }
    }
}

tri_status tri_roll_hear(MPI_Comm comm, double limit_s, void **data,
                         size_t *bytes)
{
    double end_s = tri_now() + limit_s;
    MPI_Message matched;
    MPI_Request request;
    int n = 0;
    char *room;

    TRI_TRY(find(comm, end_s, &matched, &n));
    room = malloc((size_t)n + 1);
    if (!room) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a study of %d bytes", n);
    }
    if (MPI_Imrecv(room, n, MPI_BYTE, &matched, &request) != MPI_SUCCESS) {
        free(room);
        return TRI_FAIL(TRI_ECOMM, "rank 0 cannot be reached");
    }
    TRI_TRY(tri_wait_until(&request, comm, 0, end_s)); /* else left to MPI */
    *data = room;
    *bytes = (size_t)n;
    return TRI_OK;
}

/* ---- who is there ---------------------------------------------------------
 */

/* One seat, if one has come; TRI_ECOMM. */
static tri_status take_seat(MPI_Comm comm, tri_seat *seats, int *n)
{
    MPI_Message matched;
    MPI_Status status;
    tri_seat seat;
    int found = 0;
    int bytes = 0;

    *n = 0;
    if (MPI_Improbe(MPI_ANY_SOURCE, TAG_SEAT, comm, &found, &matched,
                    &status) != MPI_SUCCESS) {
        return TRI_FAIL(TRI_ECOMM, "the ranks cannot be reached");
    }
    if (!found) {
        return TRI_OK;
    }
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    if (MPI_Mrecv(&seat, (int)sizeof seat, MPI_BYTE, &matched,
                  MPI_STATUS_IGNORE) == MPI_SUCCESS &&
        bytes == (int)sizeof seat) {
        seats[status.MPI_SOURCE] = seat;
        *n = 1;
    }
    return TRI_OK;
}

/* Between two looks at who of this host is alive. */
#define LOOK_S 0.5

/* How many ranks of this host will never come, as their processes have ended:
 * fewer are alive than have not come. */
static int n_dead_here(const tri_seat *seats, int size)
{
    pid_t *known = calloc((size_t)size, sizeof *known);
    int missing = tri_kin_expected();
    int come = 0;
    int others;

    for (int i = 0; known && i < size; i++) {
        if (seats[i].pid > 0 && seats[0].kernel != 0 &&
            seats[i].kernel == seats[0].kernel) {
            known[come++] = (pid_t)seats[i].pid;
        }
    }
    missing -= come;
    /* where no other has come, nothing shows whose children ranks are */
    others = come > 1 && missing > 0 ? tri_kin_others(known, come) : -1;
    free(known);
    return others >= 0 && others < missing ? missing - others : 0;
}

static tri_status await_seats(MPI_Comm comm, tri_seat *seats, int size,
                              double limit_s)
{
    double end_s = tri_now() + limit_s;
    double look_s = tri_now() + LOOK_S;
    int n_missing = size - 1;
    int n_dead = 0;
    tri_pause pause = {0};

    while (n_missing > n_dead) {
        int n;

        TRI_TRY(take_seat(comm, seats, &n));
        n_missing -= n;
        if (n > 0) {
            n_dead = 0; /* it may be one of them */
            tri_pause_reset(&pause);
        } else if (tri_now() > end_s || tri_wait_abandoned) {
            break;
        } else {
            if (tri_now() > look_s) { /* what it has sent is taken before */
                n_dead = n_dead_here(seats, size);
                look_s = tri_now() + LOOK_S;
            }
            tri_pause_sleep(&pause);
        }
    }
    return TRI_OK;
}

typedef struct told { /* a seat, as rank 0 tells it */
    int32_t rank;
    tri_seat seat;
} told;

static int is_same_place(const tri_seat *a, const tri_seat *b)
{
    return strcmp(a->host, b->host) == 0 && strcmp(a->node, b->node) == 0;
}

/* Whether who has the one is to know of the other. */
static int is_near(const tri_seat *a, const tri_seat *b)
{
    return a->host[0] && b->host[0] &&
           (strcmp(a->host, b->host) == 0 || strcmp(a->node, b->node) == 0);
}

/* Tell the ranks of the place of `first`, from it on, of rank 0 and of those
 * near them; `list` and `to` have room for all.  Those told are marked. */
static tri_status tell_place(MPI_Comm comm, const tri_seat *seats, int size,
                             int first, told *list, int *to,
                             unsigned char *is_told, tri_roll **roll)
{
    size_t n = 1;
    int n_to = 0;

    list[0] = (told){.rank = 0, .seat = seats[0]};
    for (int i = 1; i < size; i++) {
        if (is_near(&seats[i], &seats[first])) {
            list[n++] = (told){.rank = i, .seat = seats[i]};
        }
        if (i >= first && is_same_place(&seats[i], &seats[first])) {
            to[n_to++] = i;
            is_told[i] = 1;
        }
    }
    return tell(comm, list, n * sizeof *list, to, n_to, roll);
}

/* What a rank is told grows with its host, not with the job. */
static tri_status tell_seats(MPI_Comm comm, const tri_seat *seats, int size,
                             tri_roll **roll)
{
    told *list = calloc((size_t)size, sizeof *list);
    int *to = malloc((size_t)size * sizeof *to);
    unsigned char *is_told = calloc((size_t)size, 1);
    tri_status st = TRI_OK;

    if (!list || !to || !is_told) {
        st = TRI_FAIL(TRI_ENOMEM, "no memory for %d seats", size);
    }
    for (int i = 1; i < size && st == TRI_OK; i++) {
        if (!is_told[i]) {
            st = tell_place(comm, seats, size, i, list, to, is_told, roll);
        }
    }
    free(is_told);
    free(to);
    free(list);
    return st;
}

/* Into the seats, which are empty. */
static tri_status take_told(const void *data, size_t bytes, int size,
                            tri_seat *seats)
{
    for (size_t at = 0; at < bytes; at += sizeof(told)) {
        told one;

        if (bytes - at < sizeof one) {
            return TRI_FAIL(TRI_EMALFORMED, "rank 0 is of another build");
        }
        memcpy(&one, (const char *)data + at, sizeof one);
        if (one.rank < 0 || one.rank >= size) {
            return TRI_FAIL(TRI_EMALFORMED, "rank 0 is of another job");
        }
        seats[one.rank] = one.seat;
    }
    return TRI_OK;
}

/* Say where this rank is and hear of the others. */
static tri_status answer(MPI_Comm comm, const tri_seat *mine, int rank,
                         int size, tri_seat *seats, double start_s)
{
    void *data;
    size_t bytes;
    tri_status st;

    if (MPI_Send(mine, (int)sizeof *mine, MPI_BYTE, 0, TAG_SEAT, comm) !=
        MPI_SUCCESS) {
        return TRI_FAIL(TRI_ECOMM, "rank 0 cannot be reached");
    }
    TRI_TRY(tri_roll_hear(comm, start_s, &data, &bytes));
    st = take_told(data, bytes, size, seats);
    free(data);
    TRI_TRY(st);
    if (!seats[rank].host[0]) {
        return TRI_FAIL(TRI_EPEER,
                        "this rank came when the others had begun without it");
    }
    return TRI_OK;
}

tri_status tri_roll_call(MPI_Comm comm, const tri_seat *mine, tri_seat *seats,
                         double limit_s, double start_s, tri_roll **roll)
{
    int rank;
    int size;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    memset(seats, 0, (size_t)size * sizeof *seats);
    if (rank > 0) {
        return answer(comm, mine, rank, size, seats, start_s);
    }
    seats[0] = *mine;
    TRI_TRY(await_seats(comm, seats, size, limit_s));
    return tell_seats(comm, seats, size, roll);
}

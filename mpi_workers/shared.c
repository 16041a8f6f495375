/*
 * A memory file, attached by all or none, and a barrier of counters.
 */
#include "mpi_workers/shared.h"

#include "mpi_workers/p2p.h"
#include "mpi_workers/wait.h"
#include "mpi_workers/words.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

enum {
    LINE = 128, /* two cache lines: they are fetched in pairs */
    TAG_OFFER = 31900,
    TAG_TAKEN,
    TAG_ALL
};

typedef struct line { /* of a rank: how many barriers it has reached */
    _Alignas(LINE) atomic_uint_fast64_t reached;
} line;

typedef struct head {
    uint64_t nonce;           /* that it is this one */
    atomic_uint_fast64_t bad; /* who did not come, and why: see loss */
    line lines[];
} head;

struct tri_shared {
    MPI_Comm comm;
    int *ranks;     /* of the members in comm; NULL: all of it */
    int rank, size; /* among the members */
    head *head;
    uint64_t bytes, at; /* of all; where the users' part begins */
    uint64_t reached;
};

/* What the first rank tells. */
typedef struct offer {
    uint64_t nonce, bytes;
    int32_t pid, fd; /* fd < 0: it could not make one */
    char host[64];
} offer;

static int n_alive;

int tri_shared_alive(void)
{
    return n_alive;
}

void tri_shared_host(char *host, size_t bytes)
{
    const char *given = getenv("TRIREME_HOST_NAME");

    memset(host, 0, bytes);
    if (given && *given) {
        memccpy(host, given, 0, bytes - 1);
    } else if (gethostname(host, bytes - 1) != 0) {
        host[0] = 0;
    }
}

/* Which rank of comm a member is. */
static int rank_of(const tri_shared *s, int member)
{
    return s->ranks ? s->ranks[member] : member;
}

static void detach(tri_shared *s)
{
    if (s->head) {
        munmap(s->head, s->bytes);
        s->head = NULL;
    }
}

static int attach(tri_shared *s, int fd)
{
    void *at = mmap(NULL, s->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    if (at == MAP_FAILED) {
        return 0;
    }
    s->head = at;
    return 1;
}

/* The first rank makes it; where that fails the offer says so. */
static void make(tri_shared *s, offer *o)
{
    o->pid = (int32_t)getpid();
    o->bytes = s->bytes;
    tri_shared_host(o->host, sizeof o->host);
    o->fd = memfd_create("trireme", MFD_CLOEXEC);
    if (o->fd < 0) {
        return;
    }
    if (getrandom(&o->nonce, sizeof o->nonce, 0) != (ssize_t)sizeof o->nonce ||
        ftruncate(o->fd, (off_t)s->bytes) != 0 || !attach(s, o->fd)) {
        close(o->fd);
        o->fd = -1;
        return;
    }
    s->head->nonce = o->nonce;
}

/* Whether it could be attached; what is at that place may be another's. */
static int take(tri_shared *s, const offer *o)
{
    char host[sizeof o->host];
    char path[64];
    int fd;

    tri_shared_host(host, sizeof host);
    if (o->fd < 0 || o->bytes != s->bytes || strcmp(host, o->host) != 0) {
        return 0;
    }
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)o->pid, (int)o->fd);
    fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0) {
        return 0;
    }
    if (lseek(fd, 0, SEEK_END) == (off_t)s->bytes && attach(s, fd) &&
        s->head->nonce != o->nonce) {
        detach(s);
    }
    close(fd);
    return s->head != NULL;
}

/* The two messages of it. */
typedef struct talk {
    offer offer;
    int32_t mine, all;
} talk;
_Static_assert(sizeof(talk) <= TRI_WORDS_BYTES, "words of an offer");

static talk *talk_in(tri_words *memory)
{
    return (talk *)(void *)memory->at.bytes;
}

static tri_status agree(tri_shared *s, int able, tri_words *memory)
{
    static const char aim[] = "agree on shared memory";
    talk *t = talk_in(memory);
    MPI_Request request;
    int rc;

    if (s->rank == 0 && able) {
        make(s, &t->offer);
    }
    rc = MPI_Ibcast(&t->offer, (int)sizeof t->offer, MPI_BYTE, 0, s->comm,
                    &request);
    TRI_TRY(tri_words_wait(memory, rc, &request, s->comm, s->rank == 0 ? -1 : 0,
                           aim));
    t->mine = s->rank == 0 ? t->offer.fd >= 0 : able && take(s, &t->offer);
    rc = MPI_Iallreduce(&t->mine, &t->all, 1, MPI_INT32_T, MPI_MIN, s->comm,
                        &request);
    return tri_words_wait(memory, rc, &request, s->comm, -1, aim);
}

/* ---- some of a communicator: by messages to and from the first ---------- */

static tri_status send_to(const tri_shared *s, int member, int tag,
                          const void *data, int bytes)
{
    return tri_p2p_send(s->comm, rank_of(s, member), tag, data, bytes,
                        TRI_NO_DEADLINE);
}

static tri_status hear_from(const tri_shared *s, int member, int tag,
                            void *data, int bytes)
{
    return tri_p2p_receive(s->comm, rank_of(s, member), tag, data, bytes,
                           TRI_NO_DEADLINE);
}

static tri_status ask_all(tri_shared *s, talk *t)
{
    int32_t theirs = 0;

    t->all = t->offer.fd >= 0;
    for (int i = 1; i < s->size; i++) {
        TRI_TRY(send_to(s, i, TAG_OFFER, &t->offer, (int)sizeof t->offer));
    }
    for (int i = 1; i < s->size; i++) {
        TRI_TRY(hear_from(s, i, TAG_TAKEN, &theirs, (int)sizeof theirs));
        t->all = t->all && theirs;
    }
    for (int i = 1; i < s->size; i++) {
        TRI_TRY(send_to(s, i, TAG_ALL, &t->all, (int)sizeof t->all));
    }
    return TRI_OK;
}

static tri_status answer(tri_shared *s, int able, talk *t)
{
    TRI_TRY(hear_from(s, 0, TAG_OFFER, &t->offer, (int)sizeof t->offer));
    t->mine = able && take(s, &t->offer);
    TRI_TRY(send_to(s, 0, TAG_TAKEN, &t->mine, (int)sizeof t->mine));
    return hear_from(s, 0, TAG_ALL, &t->all, (int)sizeof t->all);
}

static tri_status agree_among(tri_shared *s, int able, tri_words *memory)
{
    talk *t = talk_in(memory);

    if (s->rank > 0) {
        t->offer.fd = -1; /* not ours to close */
        TRI_TRY(answer(s, able, t));
        return TRI_OK;
    }
    if (able) {
        make(s, &t->offer);
    }
    return ask_all(s, t);
}

/* `able`: 0 where this rank will not share, and only says so. */
static tri_status come_together(tri_shared *s, int able, int *shares)
{
    tri_words *memory = tri_words_take();
    talk *t;
    tri_status st;

    if (!memory) {
        return TRI_ECOMM;
    }
    t = talk_in(memory);
    t->offer.fd = -1;
    st = s->ranks ? agree_among(s, able, memory) : agree(s, able, memory);
    if (s->rank == 0 && t->offer.fd >= 0) {
        close(t->offer.fd);
    }
    *shares = st == TRI_OK && t->all;
    tri_words_give(memory);
    return st;
}

/* `here` comes together in any case. */
static tri_status open_here(tri_shared here, uint64_t bytes, tri_shared **out)
{
    tri_shared *s = malloc(sizeof *s);
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    int shares = 0;
    tri_status st;

    here.at = sizeof(head) + (uint64_t)here.size * sizeof(line);
    here.bytes = (here.at + bytes + page - 1) / page * page;
    st = come_together(&here, s != NULL, &shares);
    if (s && shares) {
        *s = here;
        n_alive++;
    } else {
        detach(&here);
        free(here.ranks);
        free(s);
        s = NULL;
    }
    if (st == TRI_OK) {
        *out = s;
    }
    return st;
}

tri_status tri_shared_open(MPI_Comm comm, uint64_t bytes, tri_shared **out)
{
    tri_shared here = {.comm = comm};

    MPI_Comm_rank(comm, &here.rank);
    MPI_Comm_size(comm, &here.size);
    return open_here(here, bytes, out);
}

tri_status tri_shared_open_among(MPI_Comm comm, const int *ranks, int n,
                                 uint64_t bytes, tri_shared **out)
{
    tri_shared here = {.comm = comm, .size = n};
    size_t size = (size_t)n * sizeof *ranks;
    int rank;

    here.ranks = malloc(size);
    if (!here.ranks) { /* the others are told by silence: it is not likely */
        return TRI_FAIL(TRI_ECOMM, "no memory for %d ranks of a host", n);
    }
    memcpy(here.ranks, ranks, size);
    MPI_Comm_rank(comm, &rank);
    while (here.rank < n - 1 && ranks[here.rank] != rank) {
        here.rank++;
    }
    return open_here(here, bytes, out);
}

void tri_shared_close(tri_shared *s)
{
    if (s) {
        detach(s);
        free(s->ranks);
        free(s);
        n_alive--;
    }
}

void *tri_shared_at(tri_shared *s)
{
    return (char *)s->head + s->at;
}

/* ---- the barrier -------------------------------------------------------- */

/* What is kept of it in the head: the first loss that anybody has found. */
static uint64_t loss(int rank, tri_status st)
{
    return (uint64_t)st << 32 | (uint32_t)(rank + 1);
}

/* Say the loss that is kept, which is the same to all: its status too, so that
 * a rank that was late is not taken for a dead one, by others or by itself. */
static tri_status give_up(tri_shared *s)
{
    uint64_t bad = atomic_load(&s->head->bad);
    tri_status st = (tri_status)(bad >> 32);
    int rank = (int)(uint32_t)bad - 1;

    tri_wait_blame(s->comm, rank);
    return st == TRI_EPEER
                   ? TRI_FAIL(st, "the process of rank %d of the group is gone",
                              rank)
                   : TRI_FAIL(st, "rank %d of the group did not come in time",
                              rank);
}

static void note_loss(tri_shared *s, int rank, tri_status st)
{
    uint_fast64_t none = 0;

    atomic_compare_exchange_strong(&s->head->bad, &none, loss(rank, st));
}

tri_status tri_shared_give_up(tri_shared *s, int rank, tri_status st)
{
    note_loss(s, rank, st);
    return give_up(s);
}

static int is_given_up(const tri_shared *s)
{
    return atomic_load_explicit(&s->head->bad, memory_order_relaxed) != 0;
}

static int has_come(const tri_shared *s, int rank)
{
    return atomic_load_explicit(&s->head->lines[rank].reached,
                                memory_order_acquire) >= s->reached;
}

static tri_status await(tri_shared *s, tri_wait *w, int rank)
{
    while (!has_come(s, rank)) {
        tri_status st = tri_wait_pause(w);

        if (st != TRI_OK) {
            note_loss(s, rank_of(s, rank), st);
        }
        if (is_given_up(s)) {
            return give_up(s);
        }
    }
    return TRI_OK;
}

tri_status tri_shared_barrier(tri_shared *s)
{
    int waits = 0;
    tri_wait w;

    if (is_given_up(s)) {
        return give_up(s);
    }
    s->reached++;
    atomic_store_explicit(&s->head->lines[s->rank].reached, s->reached,
                          memory_order_release);
    for (int i = 1; i < s->size; i++) { /* the next one first */
        int rank = (s->rank + i) % s->size;

        if (has_come(s, rank)) {
            continue;
        }
        if (!waits) {
            tri_wait_begin(&w, s->comm, rank_of(s, rank), TRI_NO_DEADLINE);
            waits = 1;
        }
        tri_wait_for(&w, rank_of(s, rank));
        TRI_TRY(await(s, &w, rank));
    }
    return TRI_OK;
}
